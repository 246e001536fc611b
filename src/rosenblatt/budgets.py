"""A support of limited size: which row goes, or is not taken in, when there is no more room.

Each binary problem keeps at most ``max_support`` rows, so memory stays the same on an endless stream:

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
from rosenblatt.expansions import KernelLearner
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.kernels import Kernel
from rosenblatt.learning import Readout

NAMES = ("forget", "project", "random")


class KeptRows:
    """The support of one problem, oldest first: places in the store, coefficients, and what the budget needs."""

    def __init__(self, budget: str, max_support: int, *, average: bool) -> None:
        self.max_support, self.size = max_support, 0
        self.columns: NDArray[np.int32] = np.zeros(0, np.int32)
        self.coefficients: FloatArray = np.zeros(0)
        self.late: FloatArray | None = np.zeros(0) if average else None  # behind the average (kernels.cpp, update)
        # forget: the kernel values among the rows; project: the inverse of that matrix. `slots` are its rows.
        self.slots: IntArray | None = None if budget == "random" else np.zeros(0, np.int64)
        self.gram: FloatArray | None = None if budget == "random" else np.zeros((0, 0))
        self.state: FloatArray = np.zeros(3)  # forget: Q, the number of mistakes, the largest K(x, x) of a mistake

    def reserve(self, more: int) -> None:
        """Make room for so many rows more, as far as the budget allows, and for one that comes before another goes."""
        old, wanted = len(self.columns), min(self.size + more, self.max_support) + 1
        if wanted <= old:
            return
        room = min(max(wanted, 2 * old), self.max_support + 1)
        self.columns, self.coefficients = _longer(self.columns, room), _longer(self.coefficients, room)
        self.late = None if self.late is None else _longer(self.late, room)
        if self.slots is not None and self.gram is not None:
            self.slots = np.concatenate([self.slots, np.arange(old, room)])
            gram = np.zeros((room, room))
            gram[:old, :old] = self.gram
            self.gram = gram

    @property
    def ordered_gram(self) -> FloatArray:
        """The matrix in the order of the rows."""
        if self.gram is None or self.slots is None:
            return np.empty((0, 0))
        used = self.slots[: self.size]
        return self.gram[np.ix_(used, used)]


def _longer(array: NDArray[Any], room: int) -> NDArray[Any]:
    longer = np.zeros(room, array.dtype)
    longer[: len(array)] = array
    return longer


class BudgetLearner(KernelLearner):
    """A kernel perceptron with a support of at most `max_support` rows for each binary problem."""

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
        average = readout == "average"
        self.kept = [KeptRows(budget, max_support, average=average) for _ in range(self.n_problems)]

    def settle(
        self, problem: int, values: NDArray[Any], own: NDArray[np.int32], labels: tuple[Any, ...], rule: _engine.Rule
    ) -> dict[str, Any]:
        """Visit the rows of a block; see the engine's `settle_within_budget`."""
        kept = self.kept[problem]
        kept.reserve(len(own))
        log = _engine.settle_within_budget(
            values,
            *labels,
            positive=self.positive(problem),
            rule=rule,
            own_columns=own,
            budget=_engine.Budget[self.budget],
            max_support=kept.max_support,
            size=kept.size,
            columns=kept.columns,
            coefficients=kept.coefficients,
            late=kept.late,
            slots=kept.slots,
            gram=kept.gram,
            state=kept.state,
            seed=self.seed,
            visits=int(self.visits[problem]),
            updates=int(self.updates[problem]),
        )
        kept.size = log["size"]
        return log

    def kept_columns(self) -> IntArray:
        """The places of all rows that some problem keeps."""
        return np.unique(np.concatenate([kept.columns[: kept.size] for kept in self.kept])).astype(np.int64)

    def rename(self, columns: IntArray) -> None:
        """Row j of the store has become row columns[j]."""
        for kept in self.kept:
            kept.columns[: kept.size] = columns[kept.columns[: kept.size]]

    def tidy(self) -> IntArray:
        """Forget the rows of the store that no problem keeps; where each row is now, or −1."""
        used = self.kept_columns()
        columns = np.full(len(self.support_ids), -1, np.int64)
        columns[used] = np.arange(len(used))
        self.rename(columns)
        self.keep_support(used)
        return columns

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """The coefficient of each support row (columns) in each vector, and what to divide scores by."""
        coefficients = np.zeros((self.n_vectors, len(self.support_ids)))
        divisors = np.ones(self.n_vectors)
        for k, kept in enumerate(self.kept):
            mine, visits = kept.coefficients[: kept.size], int(self.visits[k])
            if kept.late is not None and visits:
                mine, divisors[k] = visits * mine - kept.late[: kept.size], visits
            coefficients[k, kept.columns[: kept.size]] = mine
        return coefficients, divisors

    def terms(self) -> list[tuple[slice, NDArray[np.int32], FloatArray, dict[str, Any]]]:
        """What to add up, the oldest row first, as learning does."""
        sums, _ = self.coefficients()
        rows = [kept.columns[: kept.size] for kept in self.kept]
        return [(slice(k, k + 1), mine, sums[k, mine], {}) for k, mine in enumerate(rows)]

    # Going back, and plain arrays ------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """A copy of everything: rows may go at any time."""
        return {name: array.copy() for name, array in self.to_arrays().items()}

    def restore(self, best: list[dict[str, Any]]) -> None:
        """Take back a snapshot."""
        self.take_arrays(best[0])

    def _mistakes_to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {
            "kept_of_problem": np.asarray([kept.size for kept in self.kept], np.int64),
            "kept_row": np.concatenate([kept.columns[: kept.size] for kept in self.kept]),
            "kept_coefficient": np.concatenate([kept.coefficients[: kept.size] for kept in self.kept]),
            "kept_state": np.stack([kept.state for kept in self.kept]),
            "kept_gram": np.concatenate([kept.ordered_gram.reshape(-1) for kept in self.kept]),
            "seed": np.asarray([self.seed], np.int64),
        }
        if self.readout == "average":
            late = [kept.late[: kept.size] for kept in self.kept if kept.late is not None]
            arrays["kept_late"] = np.concatenate(late)
        return arrays

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as arrays with names."""
        self.tidy()
        return super().to_arrays()

    def _take_mistakes(self, arrays: dict[str, NDArray[Any]]) -> None:
        self.seed = int(arrays["seed"][0])
        first = entry = 0
        for k, size in enumerate(arrays["kept_of_problem"].tolist()):
            kept = KeptRows(self.budget, self.max_support or 0, average=self.readout == "average")
            kept.reserve(size)
            self.kept[k], kept.size, mine = kept, size, slice(first, first + size)
            kept.columns[:size], kept.coefficients[:size] = arrays["kept_row"][mine], arrays["kept_coefficient"][mine]
            kept.state[:] = arrays["kept_state"][k]
            if kept.late is not None:
                kept.late[:size] = arrays["kept_late"][mine]
            if kept.gram is not None:
                kept.gram[:size, :size] = arrays["kept_gram"][entry : entry + size * size].reshape(size, size)
                entry += size * size
            first += size
