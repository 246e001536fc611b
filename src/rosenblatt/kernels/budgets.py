"""A support of limited size: which row goes, or is not taken in, when there is no more room.

All classes share at most ``max_support`` rows, so memory stays the same on an endless stream:

- ``forget``: the oldest row goes, after all coefficients have shrunk so far that little is lost (the Forgetron: Dekel,
  Shalev-Shwartz and Singer, 2008);
- ``project``: no row goes; a mistake that finds no room moves the coefficients of its projection onto the rows that are
  there (the Projectron: Orabona, Keshet and Caputo, 2009);
- ``random``: a row drawn by lot goes (Cavallanti, Cesa-Bianchi and Gentile, 2007).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.kernels.expansions import KernelLearner
from rosenblatt.kernels.functions import Kernel
from rosenblatt.learner import Readout

NAMES = ("forget", "project", "random")


class KeptRows:
    """The rows that all problems share, oldest first: places in the store, coefficients, and what the budget needs."""

    def __init__(self, budget: str, max_support: int, n_problems: int, *, average: bool) -> None:
        self.max_support, self.size, self.mistaken = max_support, 0, 0  # mistaken: rows that some problem learned from
        self.columns: NDArray[np.int32] = np.zeros(0, np.int32)
        self.coefficients: FloatArray = np.zeros((n_problems, 0))
        self.late: FloatArray | None = np.zeros((n_problems, 0)) if average else None  # behind the average
        # forget: the kernel values among the rows; project: the inverse of that matrix. `slots` are its rows.
        self.slots: IntArray | None = None if budget == "random" else np.zeros(0, np.int64)
        self.gram: FloatArray | None = None if budget == "random" else np.zeros((0, 0))
        self.state: FloatArray = np.zeros(1 + n_problems)  # forget: the largest K(x, x) of a mistake, Q of each problem

    def reserve(self, more: int) -> None:
        """Make room for so many rows more, as far as the budget allows, and for one that comes before another goes."""
        old, wanted = len(self.columns), min(self.size + more, self.max_support) + 1
        if wanted <= old:
            return
        room = min(max(wanted, 2 * old), self.max_support + 1)
        added = (0, room - old)
        self.columns = np.pad(self.columns, added)
        self.coefficients = np.pad(self.coefficients, ((0, 0), added))
        self.late = None if self.late is None else np.pad(self.late, ((0, 0), added))
        if self.slots is not None and self.gram is not None:
            self.slots = np.concatenate([self.slots, np.arange(old, room)])
            self.gram = np.pad(self.gram, (added, added))

    @property
    def ordered_gram(self) -> FloatArray:
        """The matrix in the order of the rows."""
        if self.gram is None or self.slots is None:
            return np.empty((0, 0))
        used = self.slots[: self.size]
        return self.gram[np.ix_(used, used)]


class BudgetLearner(KernelLearner):
    """A kernel perceptron with at most `max_support` support rows, which its binary problems share."""

    def __init__(
        self,
        n_classes: int,
        n_features: int,
        *,
        kernel: Kernel,
        readout: Readout,
        budget: str,
        max_support: int,
        seed: int = 0,
    ) -> None:
        super().__init__(n_classes, n_features, kernel=kernel, joint=False, readout=readout)
        self.budget, self.max_support, self.seed = budget, max_support, seed
        self.kept = KeptRows(budget, max_support, self.n_problems, average=readout == "average")

    def settle(
        self,
        values: NDArray[Any],
        own: NDArray[np.int32],
        labels: tuple[Any, ...],
        rule: _engine.Rule,
        active: NDArray[np.bool_],
    ) -> list[dict[str, Any]]:
        """Visit the rows of a block; see the engine's `settle_within_budget`. A log for each problem."""
        kept = self.kept
        kept.reserve(len(own))
        logs, kept.size, kept.mistaken = _engine.settle_within_budget(
            values,
            *labels,
            positives=np.asarray([self.positive(k) for k in range(self.n_problems)]),
            active=active,
            rule=rule,
            own_columns=own,
            budget=_engine.Budget[self.budget],
            max_support=kept.max_support,
            size=kept.size,
            mistaken=kept.mistaken,
            columns=kept.columns,
            coefficients=kept.coefficients,
            late=kept.late,
            slots=kept.slots,
            gram=kept.gram,
            state=kept.state,
            seed=self.seed,
            visits=self.visits,
            updates=self.updates,
        )
        return logs

    @property
    def kept_columns(self) -> IntArray:
        """The places of the rows that are kept, oldest first."""
        return self.kept.columns[: self.kept.size].astype(np.int64)

    def rename(self, columns: IntArray) -> None:
        """Row j of the store has become row columns[j]."""
        self.kept.columns[: self.kept.size] = columns[self.kept_columns]

    def tidy(self) -> IntArray:
        """Forget the rows of the store that are not kept; where each row is now, or −1."""
        used = np.sort(self.kept_columns)
        columns = np.full(len(self.support_ids), -1, np.int64)
        columns[used] = np.arange(len(used))
        self.rename(columns)
        self.keep_support(used)
        return columns

    def _sums_of_rows(self) -> tuple[FloatArray, FloatArray]:
        """The coefficients of the kept rows, oldest first, and what to divide scores by."""
        kept, visits = self.kept, self.visits.astype(np.float64)
        mine = kept.coefficients[:, : kept.size]
        if kept.late is None or not visits.all():
            return mine, np.ones(self.n_vectors)
        return visits[:, np.newaxis] * mine - kept.late[:, : kept.size], visits

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """The coefficient of each support row (columns) in each vector, and what to divide scores by."""
        sums, divisors = self._sums_of_rows()
        coefficients = np.zeros((self.n_vectors, len(self.support_ids)))
        coefficients[:, self.kept_columns] = sums
        return coefficients, divisors

    def terms(self) -> list[tuple[slice, NDArray[np.int32], FloatArray, dict[str, Any]]]:
        """What to add up, the oldest row first, as learning does."""
        sums, rows = self._sums_of_rows()[0], self.kept.columns[: self.kept.size]
        return [(slice(k, k + 1), rows, np.ascontiguousarray(mine), {}) for k, mine in enumerate(sums)]

    # Going back, and plain arrays ------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """A copy of everything: rows may go at any time."""
        return {name: array.copy() for name, array in self.to_arrays().items()}

    def restore(self, best: list[dict[str, Any]]) -> None:
        """Take back a snapshot."""
        self.take_arrays(best[0])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as arrays with names."""
        self.tidy()
        return super().to_arrays()

    def _mistakes_to_arrays(self) -> dict[str, NDArray[Any]]:
        kept = self.kept
        arrays: dict[str, NDArray[Any]] = {
            "kept_row": kept.columns[: kept.size],
            "kept_coefficient": kept.coefficients[:, : kept.size],
            "kept_state": kept.state,
            "kept_gram": kept.ordered_gram,
            "kept_mistaken": np.asarray([kept.mistaken], np.int64),
            "seed": np.asarray([self.seed], np.int64),
        }
        return arrays if kept.late is None else arrays | {"kept_late": kept.late[:, : kept.size]}

    def _take_mistakes(self, arrays: dict[str, NDArray[Any]]) -> None:
        size = len(arrays["kept_row"])
        average = self.readout == "average"
        kept = self.kept = KeptRows(self.budget, self.max_support or 0, self.n_problems, average=average)
        kept.reserve(size)
        kept.size, kept.mistaken, self.seed = size, int(arrays["kept_mistaken"][0]), int(arrays["seed"][0])
        kept.columns[:size], kept.coefficients[:, :size] = arrays["kept_row"], arrays["kept_coefficient"]
        kept.state[:] = arrays["kept_state"]
        if kept.late is not None:
            kept.late[:, :size] = arrays["kept_late"]
        if kept.gram is not None:
            kept.gram[:size, :size] = arrays["kept_gram"]
