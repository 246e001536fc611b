"""What is learned: the weights of a run, their counts, and what is behind an average or a vote. Plain arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.voting import Votes

Readout = Literal["last", "average", "vote"]
_LANES = 8  # the engine reads weights in groups of eight columns, or of eight vectors
_MANY = 3  # vectors, or threads with vectors of their own, that are as fast as one that scores eight side by side
_TURNED = 1 << 12  # columns turned at once: as many as stay in a cache
_MOST_COPIED = 1 << 26  # bytes


class Learner:
    """The weights of a run: plain arrays. Two classes are one binary problem; more are a problem each, or one jointly.

    ``weights`` has a row for each vector, padded with zeros to a multiple of eight columns; ``late_weights`` are the
    sums behind the average (kernels.cpp, `update`); ``votes`` keeps the mistakes for the vote.
    """

    def __init__(self, n_classes: int, n_features: int, *, joint: bool, readout: Readout) -> None:
        self.n_classes, self.n_features, self.readout = n_classes, n_features, readout
        self.joint = joint and n_classes > 2
        self.n_vectors = 1 if n_classes == 2 else n_classes
        self.n_problems = 1 if self.joint else self.n_vectors
        padded = -(-n_features // _LANES) * _LANES
        self.weights = aligned_zeros((self.n_vectors, padded))
        self.intercepts: FloatArray = np.zeros(self.n_vectors)
        self.visits: IntArray = np.zeros(self.n_problems, np.int64)
        self.updates: IntArray = np.zeros(self.n_problems, np.int64)
        self.converged: NDArray[np.bool_] = np.zeros(self.n_problems, np.bool_)
        self.late_weights = aligned_zeros(self.weights.shape) if readout == "average" else None
        self.late_intercepts = np.zeros_like(self.intercepts) if readout == "average" else None
        self.votes = Votes(self.n_problems) if readout == "vote" else None
        self.first_weights = self.weights.copy() if readout == "vote" else None
        self.first_intercepts = self.intercepts.copy() if readout == "vote" else None
        self.at_zero = True  # nothing was learned, and there was no first guess

    def start_from(self, coef: FloatArray, intercept: FloatArray) -> None:
        """Take a first guess (note 003)."""
        self.weights[:, : self.n_features] = coef
        self.intercepts[:] = intercept
        self.at_zero = not (coef.any() or intercept.any())
        if self.readout == "vote":
            self.first_weights, self.first_intercepts = self.weights.copy(), self.intercepts.copy()

    @property
    def coef(self) -> FloatArray:
        """The vectors that predict: the last ones or their averages. A vote has no such vector; it gives the last."""
        vectors, _, divisors = self.predictors()
        return vectors / divisors[:, np.newaxis]

    def vector(self, k: int) -> FloatArray:
        """One of them."""
        last, visits = self.weights[k, : self.n_features], int(self.visits[0 if self.joint else k])
        if self.late_weights is None or not visits:
            return last
        return np.asarray((visits * last - self.late_weights[k, : self.n_features]) / visits)

    @property
    def intercept(self) -> FloatArray:
        """The intercepts that predict."""
        _, offsets, divisors = self.predictors()
        return offsets / divisors

    def predictors(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Vectors, offsets, and what to divide their scores by.

        An average is kept as its sums, which are exact on integers, so that its rounding cannot turn a tie into a side.
        """
        last, offset = self.weights[:, : self.n_features], self.intercepts
        if self.late_weights is None or self.late_intercepts is None or not self.visits.any():
            return last, offset, np.ones(self.n_vectors)
        visits = np.broadcast_to(np.maximum(self.visits, 1), self.n_vectors).astype(np.float64)
        late = self.late_weights[:, : self.n_features]
        return visits[:, np.newaxis] * last - late, visits * offset - self.late_intercepts, visits

    def is_finite(self) -> bool:
        """Whether the weights, and what predicts, are within the range of float64."""
        last = [_engine.sizes(part) for part in (self.weights, self.intercepts)]
        late = [_engine.sizes(part) for part in (self.late_weights, self.late_intercepts) if part is not None]
        if not all(finite for finite, _, _ in (*last, *late)):
            return False
        most, largest = int(self.visits.max()), max(size for _, size, _ in (*last, *late))
        if not late or largest < np.finfo(np.float64).max / (2 * (most + 1)):  # no average can be beyond the range
            return True
        with np.errstate(over="ignore", invalid="ignore"):
            return all(bool(np.isfinite(part).all()) for part in self.predictors())

    def scores_faster_beside(self, threads: int, n_vectors: int | None = None) -> bool:
        """Whether sparse rows are scored faster by a copy of so many vectors (all) that stand side by side."""
        n = self.n_vectors if n_vectors is None else n_vectors
        return n >= _MANY and (self.joint or threads <= _MANY * -(-n // _LANES))

    def side_by_side(self, columns: int = 0, vectors: int = 0) -> FloatArray | None:
        """A copy of the weights in which all vectors' numbers at a feature stand side by side, for sparse rows.

        There is room for so many columns and vectors. The engine learns in both if it is given both (`engine_weights`).
        None if it takes too much memory.
        """
        width = self.weights.shape[1]
        shape = max(width, columns), -(-max(self.n_vectors, vectors) // _LANES) * _LANES
        if 8 * shape[0] * shape[1] > _MOST_COPIED:
            return None
        copy = aligned_zeros(shape)
        if self.visits.any() or not self.at_zero:
            for first in range(0, width, _TURNED):
                part = slice(first, min(first + _TURNED, width))
                copy[part, : self.n_vectors] = self.weights[:, part].T
        return copy

    def engine_weights(self, active: NDArray[np.bool_], beside: FloatArray | None = None) -> _engine.Weights:
        """The arrays that the engine changes in place."""
        return _engine.Weights(
            self.weights,
            self.intercepts,
            visits=self.visits,
            updates=self.updates,
            active=active,
            w_late=self.late_weights,
            b_late=self.late_intercepts,
            beside=beside,
        )

    def scores(self, rows: Rows, tie: str, fit_intercept: bool) -> FloatArray:
        """A score for each row and vector; for a vote, the votes as a share of all, from −1 to 1 (joint: 0 to 1)."""
        out = np.empty((len(rows), self.n_vectors))
        if self.votes is None:
            vectors, offsets, divisors = self.predictors()
            for block, product in rows.products(vectors):
                out[block] = (product + offsets) / divisors
            return out
        for block, votes in self.vote_blocks(rows, tie, fit_intercept):
            out[block] = votes / np.maximum(self.visits, 1)
        return out

    def vote_blocks(self, rows: Rows, tie: str, fit_intercept: bool) -> Iterator[tuple[slice, IntArray]]:
        """The votes for each vector (columns), a block of rows at a time."""
        assert self.votes is not None and self.first_weights is not None and self.first_intercepts is not None
        rule, visits = _engine.Tie[tie], self.visits.tolist()
        for block, products in self.votes.products(rows, fit_intercept):
            guess = np.asarray(
                rows.block(block).astype(np.float64, copy=False) @ self.first_weights[:, : self.n_features].T
            )
            scores = np.ascontiguousarray((guess + self.first_intercepts).T)
            if self.joint:
                votes = self.votes.joint(visits[0], products, scores, rule)
            else:
                problems = range(self.n_problems)
                votes = np.stack([self.votes.binary(k, visits[k], products, scores[k], rule) for k in problems])
            yield block, votes.T

    def snapshot(self) -> dict[str, Any]:
        """A copy of what `restore` needs."""
        arrays = {name: getattr(self, name) for name in self._ARRAYS}
        kept: dict[str, Any] = {name: array.copy() for name, array in arrays.items() if array is not None}
        return kept | {"lengths": self.votes.lengths() if self.votes else None}

    _ARRAYS = ("weights", "intercepts", "visits", "updates", "converged", "late_weights", "late_intercepts")

    def restore(self, best: list[dict[str, Any]]) -> None:
        """Take back each problem's own snapshot."""
        for problem, kept in enumerate(best):
            vectors = slice(None) if self.joint else problem
            for name in self._ARRAYS:
                if name in kept:
                    where = problem if name in ("visits", "updates", "converged") else vectors
                    getattr(self, name)[where] = kept[name][where]
        if self.votes is not None:
            self.votes.truncate([kept["lengths"][problem] for problem, kept in enumerate(best)])

    # As plain arrays, for the estimator and for a model file ---------------------------------------------------------

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The whole state, as arrays with names."""
        names = (*self._ARRAYS, "first_weights", "first_intercepts")
        arrays = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return arrays | (self.votes.to_arrays() if self.votes else {})

    @classmethod
    def from_arrays(
        cls, arrays: dict[str, NDArray[Any]], n_classes: int, n_features: int, *, readout: Readout
    ) -> Learner:
        """The reverse of `to_arrays`."""
        joint = n_classes > 2 and len(arrays["visits"]) == 1
        learner = cls(n_classes, n_features, joint=joint, readout=readout)
        learner.at_zero = False
        for name in (*cls._ARRAYS, "first_weights", "first_intercepts"):
            if getattr(learner, name) is not None:
                getattr(learner, name)[...] = arrays[name]
        if readout == "vote":
            learner.votes = Votes.from_arrays(arrays, n_features)
        return learner


def aligned_zeros(shape: tuple[int, int]) -> FloatArray:
    """Zeros that begin at a cache line: weights that straddle two of them slow every row."""
    room = np.zeros(shape[0] * shape[1] + _LANES)
    first = -room.ctypes.data % 64 // 8
    return room[first : first + shape[0] * shape[1]].reshape(shape)
