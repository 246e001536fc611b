"""A kernel perceptron, rebuilt from its mistakes: f(x) = Σ step K(z, x) has coefficients of support rows, no vector.

It stands where `trace_replay.Replay` does. Coefficients are summed as `dual_coef_` sums them and scores as learning
does, mistake after mistake, so the bits agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.kernels.expansions import KernelLearner
from rosenblatt.tracing.replay import Scores

_BLOCK = 256  # visits scored together


class ExpansionReplay:
    """One problem of a kernel perceptron, at any of its mistakes."""

    def __init__(self, rows: Rows, learner: KernelLearner, mistakes: dict[str, NDArray[Any]], problem: int) -> None:
        self._rows, self._learner, self._mistakes = learner.kernel.ready(rows), learner, mistakes
        own = learner.vectors(problem)
        self._vectors = own.stop - own.start
        self._order = np.argsort(learner.support_ids, kind="stable")
        self.support: IntArray = learner.support_ids[self._order]
        self._places = np.searchsorted(self.support, mistakes["row"])  # of each mistake among the sorted support

    def __len__(self) -> int:
        return len(self._mistakes["row"])

    @property
    def width(self) -> int:
        """How many numbers a vector of coefficients has."""
        return len(self.support)

    def at(self, k: int) -> tuple[FloatArray, FloatArray]:
        """The coefficients after k mistakes, and zeros for the intercepts, of which there are none."""
        return self._summed(self._mistakes["step"][:k], k), np.zeros(self._vectors)

    def _summed(self, steps: FloatArray, k: int) -> FloatArray:
        coefficients = np.zeros((self._vectors, self.width))
        places, log = self._places[:k], self._mistakes
        if "up" in log:
            np.add.at(coefficients, (log["up"][:k], places), steps)
            np.subtract.at(coefficients, (log["down"][:k], places), steps)
        else:
            coefficients[0] = np.bincount(places, steps, minlength=self.width)
        return coefficients

    def advance(self, w: FloatArray, b: FloatArray, first: int, end: int) -> None:
        """Go on from the coefficients after `first` mistakes to those after `end`, in place."""
        w[:] = self.at(end)[0]

    def path(self, first: int, end: int) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """The coefficients after first, first + 1, ..., end mistakes."""
        for k in range(first, end + 1):
            w, b = self.at(k)
            yield slice(k, k + 1), w[np.newaxis], b[np.newaxis]

    def average(self, k: int, visits: int) -> tuple[FloatArray, FloatArray]:
        """The mean of the coefficients after k mistakes and so many visits."""
        if visits == 0:
            return self.at(k)
        steps = self._mistakes["step"][:k] * (visits + 1 - self._mistakes["visit"][:k])
        return self._summed(steps, k) / visits, np.zeros(self._vectors)

    def scores(self) -> Iterator[tuple[slice, Scores]]:
        """What each mistake scored, before and after learning from it, in blocks."""
        return self._scores(self._mistakes["row"], np.arange(1, len(self) + 1))

    def visit_scores(self, rows: IntArray) -> Iterator[tuple[slice, Scores]]:
        """The same for every visit, given the rows of all of them."""
        return self._scores(rows, self._mistakes["visit"])

    def _scores(self, rows: IntArray, learned_at: IntArray) -> Iterator[tuple[slice, Scores]]:
        """`learned_at`: at which of these visits each mistake was learned from, counted from 1."""
        log, kernel = self._mistakes, self._learner.kernel
        places = self._order[self._places].astype(np.int32)  # as the learner stores its support
        everybody = np.arange(self.width)
        for start in range(0, len(rows), _BLOCK):
            block = slice(start, min(start + _BLOCK, len(rows)))
            ids = np.ascontiguousarray(rows[block])
            values = kernel.values(self._learner.support, everybody, self._rows, ids)
            first, end = np.searchsorted(learned_at, [block.start + 1, block.stop + 1]).tolist()
            now = np.zeros((self._vectors, len(ids)))
            moves: dict[str, Any] = {name: column[:first] for name, column in log.items() if name in ("up", "down")}
            if first:
                _engine.accumulate(values, places[:first], log["step"][:first], now, **moves)
            seen = Scores(np.empty((len(ids), self._vectors)), np.empty((len(ids), self._vectors)), np.empty(len(ids)))
            done = 0
            for m in range(first, end):
                t = int(learned_at[m]) - 1 - block.start
                seen.before[done : t + 1] = now[:, done : t + 1].T
                seen.after[done:t] = now[:, done:t].T
                self._learn(m, values[places[m], : len(ids)], now)
                seen.after[t] = now[:, t]
                done = t + 1
            seen.before[done:] = seen.after[done:] = now[:, done:].T
            seen.squares[:] = np.diagonal(kernel.own_values(self._rows, ids)[:, : len(ids)])
            yield block, seen

    def _learn(self, m: int, values: NDArray[Any], scores: FloatArray) -> None:
        """Add a mistake to the scores of a block."""
        more = self._mistakes["step"][m] * values.astype(np.float64)
        if "up" in self._mistakes:
            scores[self._mistakes["up"][m]] += more
            scores[self._mistakes["down"][m]] -= more
        else:
            scores[0] += more
