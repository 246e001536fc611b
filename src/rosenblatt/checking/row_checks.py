"""Claims about every row, checked as blocks of rows go by: on its side and far enough, within the radius.

Every comparison is settled in one of three ways, all rigorous: by float64 with a bound on its rounding errors (the
γₙ bounds of Higham's *Accuracy and Stability of Numerical Algorithms*, chapter 3), by float64 where whole numbers make
it exact, or by integers of any size. A row that one cannot settle goes to the next. No tolerance is used, so a
margin stated one ulp too large is refused, and a true one is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.checking import rounding
from rosenblatt.checking.canonical import Block, Signs
from rosenblatt.inputs import FloatArray, IntArray

Plane: TypeAlias = tuple[Sequence[Fraction] | FloatArray, Fraction]  # w and b

UNIT = 2.0**-53  # of rounding
TINY = 2.0**-1074  # more than a product can lose by underflow
_MEMO = 1 << 14  # rows remembered, so that data with few different rows needs few exact sums


class PlaneCheck:
    """y(w·x + b) >= L ‖w‖ for every row (of the augmented space: L √(‖w‖² + b²)), and > 0 if strict.

    With w and b scaled by a power of two so that none is above 1, and rounded to ŵ and b̂, a float score s differs
    from w·x + b by at most g (‖x‖ ‖ŵ‖ + |b̂|) + (1 + ‖x‖) d 2⁻¹⁰⁷⁴, with g = 1.02 (d + 8) 2⁻⁵³: d products, d
    additions in any order or fused, the rounding of ŵ and b̂, and that of the comparison itself; the last term is
    for underflow. The factor 1.02 pays for the rounding of the bound.
    """

    def __init__(
        self, plane: Plane, lower: Fraction, square: Fraction, name: str, *, augmented: bool, strict: bool
    ) -> None:
        """Take w and b, the bound L (for its sign) and its square, and how to call the claim."""
        self.name, self.strict, self.weak = name, strict, False
        self.failure: str | None = None
        self.positive_seen = False
        w, b = plane
        whole, w_unit = rounding.integers(w)
        unit = Fraction(math.gcd(w_unit.numerator, b.numerator) or 1, math.lcm(w_unit.denominator, b.denominator))
        factor = int(w_unit / unit)
        self.W, self.B = [v * factor for v in whole], int(b / unit)
        common = math.gcd(self.B, *self.W) or 1
        self.W, self.B = [v // common for v in self.W], self.B // common
        norm2 = sum(v * v for v in self.W)
        if norm2 == 0:
            self.failure = f"{name}: w is zero, so there is no hyperplane"
        self.threshold2 = square * (norm2 + (self.B**2 if augmented else 0))  # in units of W
        self.below_zero = lower < 0
        bits = max(abs(self.B), *map(abs, self.W)).bit_length()
        scale = 1 << bits
        self.w = np.asarray([v / scale for v in self.W])
        self.b = self.B / scale
        self.w_norm = float(np.sqrt(np.sum(self.w * self.w) + len(self.w) * TINY)) * (1 + 2 * (len(self.w) + 8) * UNIT)
        self.threshold = self._threshold(self.threshold2 / scale**2)
        self.small = bits <= 53
        self.used = np.asarray([v != 0 for v in self.W])
        self.memo: dict[bytes, bool] = {}

    def _threshold(self, square: Fraction) -> float:
        return -rounding.root_down(square) if self.below_zero else rounding.root_up(square)

    def look_at(self, block: Block, sides: Signs, scores: FloatArray, norms: FloatArray, first: int) -> None:
        """Check some rows, given their scores ŵ·x and upper bounds of their norms; stop at the first that fails."""
        d = block.shape[1]
        error = 1.02 * (d + 8) * UNIT * (norms * self.w_norm + abs(self.b)) + (1 + norms) * (d * TINY)
        safe = sides * (scores + self.b) - error
        settled = (safe >= self.threshold) & ((safe > 0) | (not self.strict and not self.weak)) | (sides == 0)
        if self.weak:
            self.positive_seen |= bool(((safe > 0) & (sides != 0)).any())
        if settled.all():
            return
        rows = np.flatnonzero(~settled)
        rows = self._settle_whole_numbers(block, sides, rows, first)
        for i in rows.tolist():
            columns, values = block.row(i)
            if not self._holds(columns, values, int(sides[i])):
                self._fail(first + i)
                return

    def _settle_whole_numbers(self, block: Block, sides: Signs, rows: IntArray, first: int) -> IntArray:
        """Of some rows those that are left: where all is whole and below 2⁵³, float64 makes no error."""
        if not self.small or self.failure is not None:
            return rows
        W = np.asarray([float(v) for v in self.W])
        sizes = block.products(np.abs(W), rows, absolute=True) * (1 + 2 * len(W) * UNIT) + abs(self.B)
        exact = (sizes < 2.0**52) & are_whole(block, rows, self.used)
        chosen = rows[exact]
        if len(chosen) == 0:
            return rows
        agreements = sides[chosen] * (block.products(W, chosen) + self.B)
        good = (agreements >= self._threshold(self.threshold2)) & ((agreements > 0) | (not self.strict))
        self.positive_seen |= bool((agreements > 0).any())
        if not good.all():
            self._fail(first + int(chosen[np.argmin(good)]))
            return rows[:0]
        return rows[~exact]

    def _holds(self, columns: IntArray, values: FloatArray, side: int) -> bool:
        used = self.used[columns]
        columns, values = columns[used], values[used]
        key = columns.tobytes() + values.tobytes() + bytes([side + 1])
        known = self.memo.get(key)
        if known is not None:
            return known
        whole, unit = rounding.integers(values)
        W = self.W
        agreement = side * (sum(W[j] * x for j, x in zip(columns.tolist(), whole, strict=True)) * unit + self.B)
        return self._remember(key, self._far_enough(agreement))

    def _far_enough(self, agreement: Fraction) -> bool:
        if agreement > 0:
            self.positive_seen = True
            return self.below_zero or agreement**2 >= self.threshold2
        return not self.strict and (
            agreement**2 <= self.threshold2 if self.below_zero else agreement == 0 == self.threshold2
        )

    def _remember(self, key: bytes, holds: bool) -> bool:
        if len(self.memo) >= _MEMO:
            self.memo.clear()
        self.memo[key] = holds
        return holds

    def complaints(self) -> list[str]:
        """Return what is wrong, if anything is."""
        if self.failure is None and self.weak and not self.positive_seen:
            return [f"every row lies on {self.name}, which separates nothing"]
        return [] if self.failure is None else [self.failure]

    def _fail(self, row: int) -> None:
        if self.weak:
            self.failure = f"row {row} is on the wrong side of {self.name}"
        else:
            self.failure = f"row {row} is on the wrong side of its hyperplane, or nearer to it than {self.name} says"


def are_whole(block: Block, rows: IntArray, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have whole numbers wherever w is not zero."""
    if block.sparse is None:
        values = block.dense[rows][:, used]
        return np.asarray((values == np.rint(values)).all(axis=1))
    parts = (v[used[columns]] for columns, v in map(block.row, rows.tolist()))
    return np.asarray([bool((v == np.rint(v)).all()) for v in parts], dtype=np.bool_)


class RadiusCheck:
    """‖x‖ <= R, or ‖x - c‖ <= R, for every row."""

    def __init__(self, radius: float, centre: FloatArray | None) -> None:
        """Take R, and c if it is not the origin."""
        self.radius, self.centre = radius, centre
        self.failure: str | None = None
        self.square = Fraction(radius) ** 2
        self.limit = rounding.down(self.square)
        self.memo: dict[bytes, bool] = {}
        if centre is not None:
            self.centre_square = float(np.sum(centre * centre))
            self.centre_exact = rounding.squared_norm(centre)

    def look_at(self, block: Block, squares: FloatArray, active: NDArray[np.bool_], first: int) -> None:
        """Check some rows, given their squared norms as float64 rounds them."""
        d = block.shape[1]
        relative = 1.02 * (d + 8) * UNIT
        if self.centre is None:
            above = squares * (1 + relative) + d * TINY
        elif block.sparse is None:
            shifted = block.dense - self.centre
            above = np.einsum("ij,ij->i", shifted, shifted) * (1 + 2 * relative) + d * TINY
        else:
            # ‖x‖² - 2 x·c + ‖c‖² cancels: its error is relative to the sum of the sizes, at most 2 (‖x‖² + ‖c‖²).
            sizes = squares + self.centre_square
            above = sizes - 2 * block.products(self.centre) + 4 * relative * sizes + 4 * d * TINY
        for i in np.flatnonzero(~(above <= self.limit) & active).tolist():
            columns, values = block.row(i)
            key = columns.tobytes() + values.tobytes()
            if key not in self.memo:
                if len(self.memo) >= _MEMO:
                    self.memo.clear()
                self.memo[key] = self._square(columns, values) <= self.square
            if not self.memo[key]:
                what = "the origin" if self.centre is None else "the centre"
                self.failure = f"row {first + i} is farther from {what} than the radius {self.radius!r}"
                return

    def complaints(self) -> list[str]:
        """Return what is wrong, if anything is."""
        return [] if self.failure is None else [self.failure]

    def _square(self, columns: IntArray, values: FloatArray) -> Fraction:
        own = rounding.squared_norm(values)
        if self.centre is None:
            return own
        return own - 2 * rounding.dot(values, self.centre[columns]) + self.centre_exact
