"""What a kernel perceptron has learned: f(x) = Σ step K(z, x) over its mistakes z, in sequence.

A run is kept as (support row, visit, step) of every mistake; each support row is stored once, however often it was
mistaken. The last vector, the average and the vote of all are three ways to read it. A score is the running sum of the
mistakes in their sequence, so it depends neither on blocks nor on batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import Codes, FloatArray, IntArray, Rows
from rosenblatt.kernels.functions import Kernel
from rosenblatt.learner import Readout

Reader = Callable[[NDArray[Any], int], FloatArray]
_FIELDS = {"row": np.int32, "visit": np.int64, "step": np.float64, "up": np.int32, "down": np.int32}
_VALUES = 1 << 22  # kernel values in a block: 16 MB in float32
_BLOCK = 256  # points in a block: whole panels of the engine, few enough for its caches


def points_at_once(n_support: int) -> int:
    """How many points make a block of bounded memory. What is computed does not depend on it."""
    return max(1, min(_BLOCK, _VALUES // max(1, n_support)))


class Log:
    """The mistakes of one problem, in sequence; the arrays have room for more."""

    def __init__(self, columns: dict[str, NDArray[Any]] | None = None) -> None:
        given = columns or {name: np.empty(0, dtype) for name, dtype in _FIELDS.items()}
        self._columns, self.n = dict(given), len(given["row"])

    def extend(self, rows: NDArray[Any], more: dict[str, NDArray[Any]]) -> None:
        """Add mistakes, made on these support rows."""
        n = self.n + len(rows)
        for name, column in self._columns.items():
            if n > len(column):
                grown = np.empty(max(n, 2 * len(column)), column.dtype)
                grown[: self.n] = column[: self.n]
                self._columns[name] = grown
            self._columns[name][self.n : n] = rows if name == "row" else more[name]
        self.n = n

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self.n]

    def truncate(self, n: int) -> None:
        """Forget all but the first mistakes."""
        self.n = n

    def rename(self, places: IntArray) -> None:
        """Support row j has become row places[j]."""
        self["row"][:] = places[self["row"]]

    def survival(self, visits: int) -> IntArray:
        """For the first guess and for the vector after each mistake: after how many visits it was current."""
        return np.diff(np.concatenate([[1], self["visit"], [visits + 1]])).astype(np.int64)


class KernelLearner:
    """The state of a run: the support rows, and the mistakes of each problem. Stands where `Learner` does."""

    max_support: int | None = None

    def __init__(self, n_classes: int, n_features: int, *, kernel: Kernel, joint: bool, readout: Readout) -> None:
        self.n_classes, self.n_features, self.kernel, self.readout = n_classes, n_features, kernel, readout
        self.joint = joint and n_classes > 2
        self.n_vectors = 1 if n_classes == 2 else n_classes
        self.n_problems = 1 if self.joint else self.n_vectors
        self.threads = 1
        self.gamma = 1.0  # of the kernel, kept for whoever reads the arrays
        self.visits: IntArray = np.zeros(self.n_problems, np.int64)
        self.updates: IntArray = np.zeros(self.n_problems, np.int64)
        self.converged: NDArray[np.bool_] = np.zeros(self.n_problems, np.bool_)
        self.support = kernel.support()
        self.support_ids: IntArray = np.empty(0, np.int64)  # the number of each row in its fit, or in the stream
        self.support_codes: Codes = np.empty(0, np.int16)
        self.rows_seen = 0  # of a stream
        self.logs = [Log() for _ in range(self.n_problems)]

    def positive(self, problem: int) -> int:
        """The class that counts as +1; −1 for the joint problem."""
        return -1 if self.joint else 1 if self.n_classes == 2 else problem

    def vectors(self, problem: int) -> slice:
        """The rows of scores that belong to a problem."""
        return slice(0, self.n_vectors) if self.joint else slice(problem, problem + 1)

    def add_support(self, rows: Rows, ids: IntArray, codes: Codes) -> IntArray:
        """Store some rows, and say where."""
        first = len(self.support_ids)
        self.support.append(rows, ids)
        self.support_ids = np.concatenate([self.support_ids, ids + self.rows_seen])
        self.support_codes = np.concatenate([self.support_codes, codes])
        return np.arange(first, first + len(ids))

    def keep_support(self, which: IntArray) -> None:
        """Forget the other support rows."""
        self.support.keep(which)
        self.support_ids, self.support_codes = self.support_ids[which], self.support_codes[which]

    # Scores ---------------------------------------------------------------------------------------------------------

    def coefficients(self) -> tuple[FloatArray, FloatArray]:
        """Σ step of each support row (columns) in each vector, and what to divide scores by.

        For an average they are the sums behind it, exact on whole numbers: a step at visit v is part of the vectors of
        the T − v + 1 visits from v on.
        """
        n = len(self.support_ids)
        coefficients, divisors = np.zeros((self.n_vectors, n)), np.ones(self.n_vectors)
        for problem, log in enumerate(self.logs):
            steps, visits = log["step"], int(self.visits[problem])
            if self.readout == "average" and visits:
                steps, divisors[self.vectors(problem)] = steps * (visits + 1 - log["visit"]), visits
            if self.joint:
                np.add.at(coefficients, (log["up"], log["row"]), steps)
                np.subtract.at(coefficients, (log["down"], log["row"]), steps)
            else:
                coefficients[problem] = np.bincount(log["row"], steps, minlength=n)
        return coefficients, divisors

    def scores(self, rows: Rows, tie: str, fit_intercept: bool = False) -> FloatArray:
        """A score for each row and vector; for a vote, the votes as a share of all, from −1 to 1 (joint: 0 to 1)."""
        out = np.empty((len(rows), self.n_vectors))
        for block, scores in self.score_blocks(rows, tie):
            out[block] = scores
        return out

    def score_blocks(self, rows: Rows, tie: str) -> Iterator[tuple[slice, FloatArray]]:
        """The same, a block of rows at a time; a small block first, for those who may stop there."""
        rows = self.kernel.ready(rows)
        which = np.arange(len(self.support_ids))
        most = points_at_once(len(which))
        read = self.reader(tie)
        first, step = 0, min(64, most)
        while first < len(rows):
            block = slice(first, min(first + step, len(rows)))
            values = self.kernel.values(self.support, which, rows, np.arange(block.start, block.stop), self.threads)
            yield block, read(values, block.stop - block.start).T
            first, step = block.stop, most

    def reader(self, tie: str) -> Reader:
        """A function of kernel values (all support rows × points) and the number of points: a row of scores each."""
        return self._votes(tie) if self.readout == "vote" else self._sums()

    def _sums(self) -> Reader:
        terms, divisors = self.terms(), self.coefficients()[1]

        def read(values: NDArray[Any], count: int) -> FloatArray:
            scores = np.zeros((self.n_vectors, count))
            for vectors, rows, steps, moved in terms:
                _engine.accumulate(values, rows, steps, scores[vectors], threads=self.threads, **moved)
            return np.asarray(scores / divisors[:, np.newaxis])

        return read

    def terms(self) -> list[tuple[slice, NDArray[np.int32], FloatArray, dict[str, Any]]]:
        """What to add up: the vectors concerned, support rows, steps, and for joint mistakes the classes moved.

        The last vector adds its mistakes in sequence, as learning did, so that both have the same scores to the bit.
        """
        if self.readout == "average":
            places = [(vector, np.flatnonzero(vector)) for vector in self.coefficients()[0]]
            return [(slice(k, k + 1), p.astype(np.int32), v[p], {}) for k, (v, p) in enumerate(places)]
        return [
            (self.vectors(k), log["row"], log["step"], {"up": log["up"], "down": log["down"]} if self.joint else {})
            for k, log in enumerate(self.logs)
        ]

    def _votes(self, tie: str) -> Reader:
        survival = [log.survival(int(v)) for log, v in zip(self.logs, self.visits, strict=True)]

        def read(values: NDArray[Any], count: int) -> FloatArray:
            scores, votes = np.zeros((2, self.n_vectors, count))
            for k, log in enumerate(self.logs):
                mine = self.vectors(k)
                moved = {"up": log["up"], "down": log["down"]} if self.joint else {}
                _engine.expansion_vote(
                    values,
                    log["row"],
                    log["step"],
                    survival[k],
                    _engine.Tie[tie],
                    scores[mine],
                    votes[mine],
                    threads=self.threads,
                    **moved,
                )
            return np.asarray(votes / np.maximum(self.visits, 1)[:, np.newaxis])

        return read

    # Going back -----------------------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """What `restore` needs."""
        counts = {name: getattr(self, name).copy() for name in ("visits", "updates", "converged")}
        return counts | {"lengths": [log.n for log in self.logs]}

    def restore(self, best: list[dict[str, Any]]) -> None:
        """Take back each problem's own snapshot, and forget the rows that only later mistakes were made on."""
        for problem, kept in enumerate(best):
            for name in ("visits", "updates", "converged"):
                getattr(self, name)[problem] = kept[name][problem]
            self.logs[problem].truncate(kept["lengths"][problem])
        used = np.unique(np.concatenate([log["row"] for log in self.logs])).astype(np.int64)
        places = np.zeros(len(self.support_ids), np.int64)
        places[used] = np.arange(len(used))
        for log in self.logs:
            log.rename(places)
        self.keep_support(used)

    # As plain arrays, for the estimator and for a model file ---------------------------------------------------------

    _ARRAYS = ("visits", "updates", "converged", "support_codes")

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as arrays with names."""
        arrays = {name: getattr(self, name) for name in self._ARRAYS} | self.support.to_arrays()
        arrays |= {"support_numbers": self.support_ids, "rows_seen": np.asarray([self.rows_seen])}
        arrays |= {"gamma": np.asarray([self.gamma])}
        return arrays | self._mistakes_to_arrays()

    def _mistakes_to_arrays(self) -> dict[str, NDArray[Any]]:
        mistakes = {f"mistake_{name}": np.concatenate([log[name] for log in self.logs]) for name in _FIELDS}
        return mistakes | {"mistakes_of_problem": np.asarray([log.n for log in self.logs], np.int64)}

    def take_arrays(self, arrays: dict[str, NDArray[Any]]) -> None:
        """The reverse of `to_arrays`. Whoever reads a file checks the arrays first (checks.py)."""
        for name in self._ARRAYS:
            setattr(self, name, arrays[name].copy())
        self.support = self.kernel.support_of(arrays)
        self.support_ids, self.rows_seen = arrays["support_numbers"].copy(), int(arrays["rows_seen"][0])
        self.gamma = float(arrays["gamma"][0])
        self._take_mistakes(arrays)

    def _take_mistakes(self, arrays: dict[str, NDArray[Any]]) -> None:
        ends = np.cumsum(arrays["mistakes_of_problem"])
        for k, (end, length) in enumerate(zip(ends, arrays["mistakes_of_problem"], strict=True)):
            self.logs[k] = Log({name: arrays[f"mistake_{name}"][end - length : end].copy() for name in _FIELDS})
