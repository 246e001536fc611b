"""What is said of all rows beside the verdict: their radius, their centre, equal rows, the margin of a hyperplane."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.checking import canonical, rounding
from rosenblatt.checking.canonical import Signs
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.proving import rationals
from rosenblatt.proving.near_rows import NearRows

_NEAREST = 2_000  # rows whose length is computed exactly, of those that may be the longest


def radius(rows: Rows, look: NearRows | None = None) -> float:
    """The length of the longest row, rounded up; `look` is one at all of them, if it was taken."""
    d = rows.shape[1]
    relative = 4 * (d + 8) * 2.0**-53
    if look is not None and look.longest is not None:
        longest, ids = look.square, look.longest
    else:
        squares = np.empty(len(rows))
        with np.errstate(all="ignore"):
            for part, block in canonical.blocks(rows):
                squares[part] = block.squared_norms()
            longest = float(squares.max())
            ids = np.flatnonzero(~(squares * (1 + relative) + d * 2.0**-1074 < longest * (1 - relative)))
    if not math.isfinite(longest) or (len(ids) <= _NEAREST and len(ids) * d <= 100 * _NEAREST):
        exact = max(_squared_length(rows, int(i)) for i in ids)
        radius = rounding.root_up(exact)
        if radius == math.inf:
            raise InputError(
                f"row {int(ids[0])} of X is longer than float64 can say: divide the features by 2**10 or more"
            )
        return radius
    return math.nextafter(math.sqrt(longest * (1 + 2 * relative) + d * 2.0**-1074), math.inf)


def _squared_length(rows: Rows, i: int) -> Fraction:
    point = rationals.row_point(rows, i)
    return sum(v * v for v in point.values.values()) * rationals.power(2 * point.exponent)


def centred_radius(rows: Rows) -> tuple[FloatArray | None, float | None]:
    """The middle of the features' ranges, and a bound of the rows' distances to it; nothing for sparse rows."""
    if rows.dense is None:
        return None, None
    d = rows.shape[1]
    with np.errstate(all="ignore"):
        low, high = (np.asarray(f(rows.dense, axis=0), np.float64) for f in (np.min, np.max))
        centre = low / 2 + high / 2
        shifted = rows.dense - centre
        longest = float(np.einsum("ij,ij->i", shifted, shifted).max())
    if not math.isfinite(longest):
        return None, None
    return centre, math.nextafter(math.sqrt(longest * (1 + 8 * (d + 8) * 2.0**-53) + 2 * d * 2.0**-1074), math.inf)


def certain_lower(rows: Rows, y: Signs, w: FloatArray, b: float, radius: float) -> float:
    """A number that is not above min y(w·x + b) / ‖w‖, near it; -infinity if floats cannot say."""
    d = rows.shape[1]
    with np.errstate(all="ignore"):
        least = min(float((y[part] * (scores[:, 0] + b)).min()) for part, scores in rows.products(w[np.newaxis]))
        length = float(np.linalg.norm(w))
        error = 4 * (d + 8) * 2.0**-53 * (radius * length + abs(b) + abs(least)) + (1 + radius) * d * 2.0**-1000
        low = (least - error) / length if length > 0 else -math.inf
    return float(low - abs(low) * 2.0**-50) if math.isfinite(low) else -math.inf


def equal_rows(rows: Rows, labels: NDArray[Any]) -> IntArray | None:
    """Two equal rows with different labels (signs, or numbers of classes), or None."""
    factors = np.random.default_rng(0).integers(0, 1 << 63, rows.shape[1], dtype=np.uint64) << np.uint64(1)
    pair = _engine.equal_rows(rows.view, labels.astype(np.int16), factors | np.uint64(1))
    return None if pair is None else np.array(pair, dtype=np.int64)
