"""The vectors of a run, rebuilt from its mistakes: the engine adds the same rows in the same order, so the bits agree.

A few vectors on the way are kept as snapshots, made when they are first passed, so that going to any mistake replays at
most the stretch behind the last of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows

_SNAPSHOT_BYTES = 1 << 24
_BLOCK_NUMBERS = 1 << 19  # in a block of vectors or scores: 4 MB

Moves: TypeAlias = dict[str, NDArray[Any]]  # "up" and "down", of a joint problem; else nothing


@dataclass(frozen=True)
class Scores:
    """Of some visits: the score of every vector before and after, and ‖x‖²."""

    before: FloatArray  # visits x vectors
    after: FloatArray
    squares: FloatArray


class Replay:
    """One problem, at any of its mistakes. `w` and `b` are the first guess, padded as the engine needs it."""

    def __init__(
        self, rows: Rows, w: FloatArray, b: FloatArray, mistakes: dict[str, NDArray[Any]], *, fit_intercept: bool
    ) -> None:
        self._rows, self._mistakes, self._fit_intercept = rows, mistakes, fit_intercept
        self._snapshots = [(w, b)]
        self._cursor = 0, w, b  # where `at` was last, so that going on from there is one step
        count = max(1, min(math.isqrt(len(self)) + 1, _SNAPSHOT_BYTES // w.nbytes))
        self._spacing = max(1, -(-len(self) // count))

    def __len__(self) -> int:
        return len(self._mistakes["row"])

    @property
    def width(self) -> int:
        """How many numbers a vector has, apart from the padding."""
        return self._rows.shape[1]

    def at(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Copies of w (padded) and b after k mistakes."""
        place = min(k // self._spacing, len(self._snapshots) - 1)
        now, (w, b) = place * self._spacing, self._snapshots[place]
        if now < self._cursor[0] <= k:
            now, w, b = self._cursor
        w, b = w.copy(), b.copy()
        while now < k:
            until = min(now - now % self._spacing + self._spacing, k)
            self.advance(w, b, now, until)
            now = until
            if now == len(self._snapshots) * self._spacing:
                self._snapshots.append((w.copy(), b.copy()))
        self._cursor = k, w.copy(), b.copy()
        return w, b

    def advance(self, w: FloatArray, b: FloatArray, first: int, end: int, **seen: FloatArray) -> None:
        """Learn from the mistakes first .. end once more, changing w and b in place."""
        log = self._mistakes
        some = {name: column[first:end] for name, column in log.items()}
        self._visit(some["row"], some["step"], w, b, _moves(some), seen)

    def _visit(
        self,
        rows: IntArray,
        steps: FloatArray,
        w: FloatArray,
        b: FloatArray,
        joint: Moves,
        seen: dict[str, Any],
    ) -> None:
        _engine.replay(self._rows.view, rows, steps, w, b, fit_intercept=self._fit_intercept, **joint, **seen)

    def path(self, first: int, end: int) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """The vectors after first, first + 1, ..., end mistakes, in blocks: places, w (vectors x features), b."""
        w, b = self.at(first)
        vectors, d = len(w), self._rows.shape[1]
        yield slice(first, first + 1), w[np.newaxis, :, :d].copy(), b[np.newaxis].copy()
        step = max(1, _BLOCK_NUMBERS // w.size)
        for start in range(first, end, step):
            stop = min(start + step, end)
            path_w, path_b = np.empty((stop - start, w.size)), np.empty((stop - start, vectors))
            self.advance(w, b, start, stop, path_w=path_w, path_b=path_b)
            yield slice(start + 1, stop + 1), path_w.reshape(stop - start, *w.shape)[:, :, :d], path_b

    def scores(self) -> Iterator[tuple[slice, Scores]]:
        """What each mistake scored, before and after learning from it, in blocks."""
        log = self._mistakes
        return self._scores(log["row"], log["step"], _moves(log))

    def visit_scores(self, rows: IntArray) -> Iterator[tuple[slice, Scores]]:
        """The same for every visit, given the rows of all of them."""
        places = self._mistakes["visit"] - 1
        steps = np.zeros(len(rows))
        steps[places] = self._mistakes["step"]
        joint: Moves = {}
        for name, column in _moves(self._mistakes).items():
            joint[name] = np.zeros(len(rows), np.int32)
            joint[name][places] = column
        return self._scores(rows, steps, joint)

    def _scores(self, rows: IntArray, steps: FloatArray, joint: Moves) -> Iterator[tuple[slice, Scores]]:
        w, b = (part.copy() for part in self._snapshots[0])
        step = max(1, _BLOCK_NUMBERS // (8 * len(w)))
        for start in range(0, len(rows), step):
            block = slice(start, min(start + step, len(rows)))
            size = block.stop - block.start
            seen = Scores(np.empty((size, len(w))), np.empty((size, len(w))), np.empty(size))
            own = {name: column[block] for name, column in joint.items()}
            self._visit(rows[block], steps[block], w, b, own, vars(seen))
            yield block, seen

    def average(self, k: int, visits: int) -> tuple[FloatArray, FloatArray]:
        """The mean of all vectors after k mistakes and so many visits, from sums as the engine keeps them."""
        w, b = self.at(k)
        if visits == 0:
            return w, b
        late_w, late_b = np.zeros_like(w), np.zeros_like(b)
        log = {name: column[:k] for name, column in self._mistakes.items()}
        late = (log["visit"] - 1).astype(np.float64) * log["step"]
        self._visit(log["row"], late, late_w, late_b, _moves(log), {})
        return (visits * w - late_w) / visits, (visits * b - late_b) / visits


def _moves(log: dict[str, NDArray[Any]]) -> Moves:
    return {name: column for name, column in log.items() if name in ("up", "down")}
