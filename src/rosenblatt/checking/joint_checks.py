"""The claim that every row has a higher score for its own class than for any rival, checked as blocks of rows go by."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rosenblatt.checking import rounding
from rosenblatt.checking.canonical import Block
from rosenblatt.checking.row_checks import TINY, UNIT, PlaneCheck, are_whole
from rosenblatt.inputs import FloatArray, IntArray

_SCORES = 1 << 20  # computed at a time: with many classes there are more scores than values


class RivalCheck(PlaneCheck):
    """s_c(x) - s_r(x) >= L ‖W‖ for every row of class c and every rival r, and > 0 if strict; s_k(x) = w_k·x + b_k.

    W is the vector of all w_k, and b_k if there are intercepts: the normal of a plane through the origin among the
    vectors that have +x in block c and -x in block r. A float score is as wrong as `PlaneCheck` says of one; of a
    difference of two both errors are, and two roundings more.
    """

    def __init__(
        self,
        W: rounding.Exact,
        n_features: int,
        lower: Fraction,
        square: Fraction,
        name: str,
        *,
        intercept: bool,
        strict: bool,
    ) -> None:
        """Take W, the bound L (for its sign) and its square, and how to call the claim."""
        super().__init__((W, Fraction(0)), lower, square, name, augmented=False, strict=strict)
        d, width = n_features, n_features + int(intercept)
        self.rows_of_W = [self.W[first : first + width] for first in range(0, len(self.W), width)]
        self.weights = self.w.reshape(-1, width)[:, :d]
        self.offsets = self.w.reshape(-1, width)[:, d] if intercept else np.zeros(len(self.rows_of_W))
        self.used = np.asarray(self.used.reshape(-1, width)[:, :d].any(axis=0))

    def look_at_rows(self, block: Block, sides: NDArray[np.int16], norms: FloatArray, first: int) -> None:
        """Check some rows, given upper bounds of their norms; sides are class numbers from 1, 0 for no class."""
        d, step = block.shape[1], max(1, _SCORES // len(self.weights))
        lead = np.empty(len(block))
        for start in range(0, len(block), step):
            part = np.arange(start, min(start + step, len(block)))
            scores = block.products(self.weights, None if len(part) == len(block) else part)
            lead[part] = _lead(scores + self.offsets, sides[part])
        reach = norms * self.w_norm + float(np.abs(self.offsets).max())
        safe = lead - (2.04 * (d + 10) * UNIT * reach + 2 * (1 + norms) * (d * TINY))
        settled = (safe >= self.threshold) & ((safe > 0) | (not self.strict)) | (sides == 0)
        rows = self._settle_whole(block, sides, np.flatnonzero(~settled), first)
        for i in rows.tolist():
            columns, values = block.row(i)
            if not self._beats_rivals(columns, values, int(sides[i]) - 1):
                self._fail(first + i)
                return

    def _settle_whole(self, block: Block, sides: NDArray[np.int16], rows: IntArray, first: int) -> IntArray:
        """Of some rows those that are left: where all is whole and below 2⁵², float64 makes no error."""
        if not self.small or self.failure is not None or len(rows) == 0:
            return rows
        W = np.asarray([[float(v) for v in row] for row in self.rows_of_W])
        d = block.shape[1]
        offsets = W[:, d] if W.shape[1] > d else np.zeros(len(W))
        W = W[:, :d]
        sizes = block.products(np.abs(W).max(axis=0), rows, absolute=True) * (1 + 2 * d * UNIT)
        exact = (sizes + np.abs(offsets).max() < 2.0**51) & are_whole(block, rows, self.used)
        chosen: IntArray = rows[exact]
        if len(chosen) == 0:
            return rows
        lead = _lead(block.products(W, chosen) + offsets, sides[chosen])
        good = (lead >= self._threshold(self.threshold2)) & ((lead > 0) | (not self.strict))
        if not good.all():
            self._fail(first + int(chosen[np.argmin(good)]))
            return rows[:0]
        return np.asarray(rows[~exact])

    def _beats_rivals(self, columns: IntArray, values: FloatArray, own: int) -> bool:
        key = columns.tobytes() + values.tobytes() + own.to_bytes(2, "little")
        known = self.memo.get(key)
        if known is not None:
            return known
        whole, unit = rounding.integers(values)
        terms, d = list(zip(columns.tolist(), whole, strict=True)), len(self.used)
        scores = [sum(W[j] * x for j, x in terms) * unit + (W[d] if len(W) > d else 0) for W in self.rows_of_W]
        lead = scores[own] - max(score for k, score in enumerate(scores) if k != own)
        return self._remember(key, self._far_enough(lead))

    def _fail(self, row: int) -> None:
        self.failure = f"row {row} has a rival class whose score is as high as its own, or nearer than {self.name} says"


def _lead(scores: FloatArray, sides: NDArray[np.int16]) -> FloatArray:
    """The score of the own class minus the highest of the others; the scores are used up."""
    places, own = np.arange(len(scores)), np.maximum(sides, 1) - 1
    scores_own = scores[places, own]
    scores[places, own] = -np.inf
    return np.asarray(scores_own - scores.max(axis=1))
