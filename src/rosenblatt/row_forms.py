"""Checked rows in other forms: some of them, scaled, with a constant feature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows


def in_order(rows: Rows) -> Rows:
    """Sparse rows with sorted features, each stored once; anything else as it is."""
    if rows.sparse is None or rows.sparse.has_canonical_format:
        return rows
    ordered = rows.sparse.copy()
    ordered.sort_indices()
    if not ordered.has_canonical_format:
        ordered = ordered.astype(np.float64)
        ordered.sum_duplicates()
    return sparse_rows(ordered)


def sparse_rows(matrix: Any) -> Rows:
    """A CSR matrix as rows."""
    view = _engine.SparseRows(matrix.data, matrix.indices, matrix.indptr, n_features=matrix.shape[1])
    return Rows(None, matrix, view)


def dense_rows(array: NDArray[Any]) -> Rows:
    """An array as rows."""
    array = np.ascontiguousarray(array)
    return Rows(array, None, _engine.DenseRows(array))


def some_rows(rows: Rows, ids: IntArray) -> Rows:
    """A copy of some of the rows."""
    return dense_rows(rows.take(ids)) if rows.dense is not None else sparse_rows(rows.take(ids))


def with_constant(rows: Rows) -> Rows:
    """The rows with a last feature 1."""
    if rows.dense is not None:
        return dense_rows(np.hstack([rows.dense, np.ones((len(rows), 1), rows.dense.dtype)]))
    from scipy.sparse import csr_matrix, hstack

    ones = csr_matrix(np.ones((len(rows), 1), rows.sparse.dtype))
    return sparse_rows(hstack([csr_matrix(rows.sparse), ones], format="csr"))


def column_scales(rows: Rows, intercept: bool) -> FloatArray | None:
    """Powers of two that bring the features to one size; None if they are of one size."""
    if rows.dense is not None:
        low, high = (np.asarray(f(rows.dense, axis=0), np.float64) for f in (np.min, np.max))
    else:
        low, high = (f(axis=0).toarray().reshape(-1).astype(np.float64) for f in (rows.sparse.min, rows.sparse.max))
    with np.errstate(over="ignore"):
        sizes = high / 2 - low / 2 if intercept else np.maximum(np.abs(low), np.abs(high))
    exponents = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    used = exponents[sizes > 0]
    if not len(used) or (used.max() == used.min() and abs(int(used.max())) < 300):
        return None
    return np.asarray(np.ldexp(1.0, -np.clip(exponents, -1000, 1000)))


def unit(rows: Rows) -> float:
    """A power of two near the largest number, if squares of numbers of that size leave the range of float64; else 1."""
    largest = rows.sizes.largest
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, max(-1000, min(exponent, 1000))) if abs(exponent) > 300 and largest > 0 else 1.0


def scaled(rows: Rows, scales: FloatArray) -> Rows:
    """The rows with each feature multiplied by its scale."""
    with np.errstate(all="ignore"):
        if rows.dense is not None:
            return dense_rows(rows.dense * scales)
        scaled = rows.sparse.astype(np.float64)
        scaled.data = scaled.data * scales[scaled.indices]
        return sparse_rows(scaled)


def unscaled(w: FloatArray, scales: FloatArray) -> tuple[FloatArray, int]:
    """A normal of scaled rows as one of the rows themselves, times 2^k, and that k: the largest weight becomes about 1.

    Scales are powers of two, so nothing is rounded.
    """
    exponents = np.frexp(w)[1] + np.frexp(scales)[1]
    shift = -int(exponents[w != 0].max(initial=0))
    with np.errstate(all="ignore"):
        return np.asarray(np.ldexp(w, np.frexp(scales)[1] - 1 + shift)), shift
