"""Floating-point results with proved error bounds: what a certificate may conclude without rational arithmetic.

The model: every operation is fl(x ∘ y) = (x ∘ y)(1 + δ) + η with |δ| <= u = 2⁻⁵³, and η = 0 but for products that
underflow, |η| <= 2⁻¹⁰⁷⁵. Then a sum of k products, in any order, with or without fused operations, is wrong by at most
γ_k Σ|a_i b_i| + k 2⁻¹⁰⁷⁴ with γ_k = ku/(1 − ku) (Higham, Accuracy and Stability, §3.1). It holds for a BLAS that sums
in any order; it would not for Strassen's products or a processor set to flush to zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.searching import large_products
from rosenblatt.searching.large_products import Factors, one_blas_thread

_UNIT = 2.0**-53
_TINY = 2.0**-1074
_CUSHION = 1 + 2.0**-30  # for the few roundings in which a bound itself is computed
_WIDE = 1000  # unknowns: from here on it pays to govern the threads of the BLAS
_CACHED = 1 << 16  # numbers a block, so that a block is read from memory once for its product and its largest value


def gamma(k: int) -> float:
    """γ_k = ku/(1 − ku), rounded up."""
    return k * _UNIT / (1 - k * _UNIT) * _CUSHION


# Directed rounding of exact numbers -----------------------------------------------------------------------------------


def round_down(value: Fraction) -> float:
    """The largest float that is at most value.

    >>> round_down(Fraction(1, 3)) < Fraction(1, 3) < round_up(Fraction(1, 3))
    True
    """
    return -round_up(-value)


def round_up(value: Fraction) -> float:
    """The smallest float that is at least value; infinity beyond the largest."""
    try:
        nearest = value.numerator / value.denominator  # of integers: rounded correctly, below 2⁻¹⁰²² too
    except OverflowError:
        return math.inf if value > 0 else -math.nextafter(math.inf, 0)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def root_down(square: Fraction) -> float:
    """The square root, rounded down, also where the square itself is far below or above the floats.

    >>> root_down(Fraction(2) ** -2000) == 2.0**-1000
    True
    """
    return round_down(Fraction(*_root(square)))


def root_up(square: Fraction) -> float:
    """The square root, rounded up."""
    root, scale = _root(square)
    exact = root * root * square.denominator == square.numerator * scale * scale
    return round_up(Fraction(root if exact else root + 1, scale))


def _root(square: Fraction) -> tuple[int, int]:
    """Integers r and 2^k with r/2^k <= √square < (r + 1)/2^k, at least 64 bits of them."""
    if square < 0:
        raise InputError("a negative number has no square root")
    bits = square.numerator.bit_length() - square.denominator.bit_length()
    k = max(0, 66 - bits // 2)
    return math.isqrt((square.numerator << 2 * k) // square.denominator), 1 << k


# Scores of rows -------------------------------------------------------------------------------------------------------


def scores(rows: Rows, w: FloatArray, b: float, *, rounded: bool = False) -> Iterator[tuple[slice, FloatArray, float]]:
    """Blocks of fl(w · x + b) in float64, each with one bound on the error of all its rows.

    The bound is γ_{t+5}(max|x_ij| ‖w‖₁ + |b|) + (t + 4)2⁻¹⁰⁷⁴, t the number of terms of a row. It leaves room for one
    more rounding by the caller and, with ``rounded``, for w and b that are themselves nearest floats of the numbers
    meant. A score that overflows is NaN, a bound is infinite: compare so that those rows stay open.
    """
    size = _sizes(w, rounded)
    with np.errstate(all="ignore"):
        total, largest = float(size.sum()) * _CUSHION, float(size.max(initial=0.0))
    n, d = rows.shape
    step = max(1, _CACHED // d) if rows.dense is not None else 1 << 16
    for first in range(0, n, step):
        part = slice(first, min(first + step, n))
        block = rows.block(part)
        with np.errstate(all="ignore"):
            if rows.dense is not None:
                block = np.asarray(block, dtype=np.float64)
                terms, weight = d, total
                reach = max(float(block.max()), -float(block.min()))
            else:
                terms = int(np.diff(block.indptr).max(initial=0))
                weight = max(total, terms * largest) if not block.has_canonical_format else total
                reach = float(np.abs(block.data).max(initial=0))
            values = np.asarray(block @ w, dtype=np.float64) + b
            if not reach * weight + abs(b) < 1e300:
                values[~np.isfinite(values)] = np.nan
        yield part, values, _bound(terms, reach * weight, b, rounded)


def row_bounds(rows: Rows, ids: IntArray, w: FloatArray, b: float, *, rounded: bool = False) -> FloatArray:
    """The sharper bound of each row: γ_{t+5}(|x| · |w| + |b|) + (t + 4)2⁻¹⁰⁷⁴, for the scores of `scores`."""
    size = _sizes(w, rounded)
    bounds = np.empty(len(ids))
    step = max(1, (1 << 20) // rows.shape[1]) if rows.dense is not None else 1 << 16
    for first in range(0, len(ids), step):
        part = ids[first : first + step]
        block = rows.take(part)
        terms = rows.shape[1] if rows.dense is not None else int(np.diff(block.indptr).max(initial=0))
        with np.errstate(all="ignore"):
            reach = np.asarray(abs(block).astype(np.float64) @ size)
        bounds[first : first + step] = _bound(terms, reach, b, rounded)
    return bounds


def _sizes(w: FloatArray, rounded: bool) -> FloatArray:
    """|w|, and where w was rounded at least 2⁻¹⁰⁰⁰: times u that covers a rounding below the normal floats."""
    size: FloatArray = np.abs(w)
    return np.where(size > 0, np.maximum(size, 2.0**-1000), 2.0**-1000) if rounded else size


def _bound(terms: int, reach: Any, b: float, rounded: bool) -> Any:
    offset = max(abs(b), 2.0**-1000) if rounded else abs(b)
    with np.errstate(all="ignore"):
        return gamma(terms + 5) * (reach + offset) * (_CUSHION + 2 * gamma(terms)) + (terms + 4) * _TINY


# Solutions of linear systems ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solution:
    """Floats x and bounds r with |x − A⁻¹e| <= r in each entry; that A has an inverse is part of what is proved."""

    x: FloatArray
    radius: FloatArray


def positive_solution(A: FloatArray, e: FloatArray, *, threads: int = 1) -> Solution | None:
    """Enclose the solution of Ax = e, if it can be proved that A has an inverse and that all of x is positive.

    Rump's method (Acta Numerica 2010, §10): with R ≈ A⁻¹ and α >= ‖I − RA‖_∞, α < 1 proves that A and R have inverses,
    and |A⁻¹e − x| <= q + α/(1 − α) max q with q >= |R(e − Ax)|. Rows of A are scaled by powers of two, and the unknowns
    too, so that all of x is near 1: then the bound, which is one number for all of x, is a relative one. One product of
    matrices, one inverse, no |R||A|: the row sums of |I − RA| are bounded with |R|(|A|1). (An inverse in float32 would
    cost half, and was tried on 4,000 rows: these are too ill conditioned for it.)
    """
    m = len(A)
    with np.errstate(all="ignore"):
        scale, entries = _powers(np.abs(A).max(axis=1)), int(np.count_nonzero(A))
        A, e = A / scale[:, None], e / scale
        if not (np.isfinite(A).all() and np.isfinite(e).all()) or _normal(A) != entries:
            return None  # scaling lost a bit
    with one_blas_thread() if m >= _WIDE else nullcontext(), np.errstate(all="ignore"):
        R = _inverse(A, threads)
        if R is None:
            return None
        x = R @ e
        x += R @ (e - A @ x)
        if not (x > 0).all():
            return None
        unit = _powers(x)
        A *= unit
        R /= unit[:, None]
        x /= unit
        if not (np.isfinite(R).all() and np.isfinite(A).all()) or _normal(A) != entries:
            return None
        g, lost = gamma(m + 4) * _CUSHION, (m + 4) * _TINY
        size_R, sums = np.abs(R), np.abs(A).sum(axis=1)
        product = large_products.product(R, A, threads)
        product[np.diag_indices(m)] -= 1
        alpha = float((np.abs(product, out=product).sum(axis=1) + g * (size_R @ sums + 1)).max()) + m * lost
        alpha *= _CUSHION
        if not alpha < 1:
            return None
        residual = np.abs(e - A @ x) + g * (np.abs(A) @ x + np.abs(e)) + lost
        q = (size_R @ residual * (1 + g) + lost) * _CUSHION
        radius = (q + alpha / (1 - alpha) * float(q.max())) * _CUSHION
        if not (x > radius).all():
            return None
        return Solution(x * unit, radius * unit * _CUSHION + _TINY)


def _inverse(A: FloatArray, threads: int) -> FloatArray | None:
    """An approximate inverse, from the LU factors."""
    factors = Factors(A)
    return None if factors.singular else factors.solve(np.eye(len(A), order="F"), threads)


def _powers(values: FloatArray) -> FloatArray:
    """The power of two just above each number, 1 for 0."""
    powers: FloatArray = np.ldexp(1.0, np.frexp(values)[1])
    return np.where((values != 0) & np.isfinite(powers), powers, 1.0)


def _normal(A: FloatArray) -> int:
    """How many entries are normal floats: a power of two times such a one is exact."""
    return int(np.count_nonzero(np.abs(A) >= 2.0**-1022))
