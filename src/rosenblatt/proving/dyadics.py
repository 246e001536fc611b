"""Floats as integers: every float is a whole number times a power of two, so sums and products of them can be exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from rosenblatt.inputs import Rows

Sparse: TypeAlias = dict[int, int]  # column: a nonzero integer


def dyadic(values: Any) -> tuple[list[int], int]:
    """Integers and one exponent with values = integers · 2^exponent, exactly, the integers as small as can be.

    >>> dyadic([0.75, -2.0, 0.0])
    ([3, -8, 0], -2)
    """
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    used = whole != 0
    if not used.any():
        return [0] * len(whole), 0
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # at the end of each mantissa
    zeros[~used] = 0
    whole >>= zeros
    exponents = exponents.astype(np.int64) - 53 + zeros
    least = int(exponents[used].min())
    shifts = np.where(used, exponents - least, 0)
    if int(shifts.max()) <= 9:  # 53 bits and 9 more
        return [int(v) for v in (whole << shifts).tolist()], least
    return [v << s for v, s in zip(whole.tolist(), shifts.tolist(), strict=True)], least


@dataclass(frozen=True)
class Point:
    """A vector of dyadic rationals: values · 2^exponent."""

    values: Sparse
    exponent: int


def row_point(rows: Rows, i: int, sign: int = 1, *, constant: bool = False) -> Point:
    """Row i, exactly, times its sign; with a last feature 1 if wanted."""
    if rows.dense is not None:
        columns = np.flatnonzero(rows.dense[i])
        stored = rows.dense[i][columns]
    else:
        part = slice(int(rows.sparse.indptr[i]), int(rows.sparse.indptr[i + 1]))
        columns, stored = rows.sparse.indices[part], rows.sparse.data[part]
    ids, numbers = columns.tolist(), stored.tolist()
    if constant:
        ids, numbers = [*ids, rows.shape[1]], [*numbers, 1.0]
    whole, exponent = dyadic(numbers)
    values: Sparse = {}
    for j, v in zip(ids, whole, strict=True):
        values[j] = values.get(j, 0) + sign * v  # a feature stored twice is a sum
    return Point({j: v for j, v in values.items() if v}, exponent)


def dot(a: Sparse, b: Sparse) -> int:
    """The inner product of two sparse integer vectors."""
    if len(a) > len(b):
        a, b = b, a
    return sum(v * b[j] for j, v in a.items() if j in b)


def power(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def lifted(points: Sequence[Point], ends: Sequence[Sequence[int]]) -> list[list[int]]:
    """Integer vectors (end, point) that depend on each other as those do: a feature has one power of two for all."""
    lowest: dict[int, int] = {}
    for point in points:
        for j, v in point.values.items():
            place = point.exponent + (v & -v).bit_length() - 1
            lowest[j] = min(place, lowest.get(j, place))
    used = sorted(lowest)
    vectors = []
    for point, end in zip(points, ends, strict=True):
        shifts = {j: point.exponent - lowest[j] for j in point.values}
        whole = {j: v << shifts[j] if shifts[j] >= 0 else v >> -shifts[j] for j, v in point.values.items()}
        vectors.append([*end, *(whole.get(j, 0) for j in used)])
    return vectors
