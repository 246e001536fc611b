"""Some of the rows, with the products that Newton steps need; dense ones by BLAS, sparse ones by the engine."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from rosenblatt import _engine, inputs
from rosenblatt.inputs import FloatArray, IntArray, Rows

_SMALL = 1 << 18  # numbers: sparse rows with fewer, zeros included, are faster dense
_LARGE = 1 << 24  # numbers: dense rows with more are copied only where they are few of all
_BLOCK = 8192  # rows of a product at a time


class RowProducts(Protocol):
    """m rows of d features, in float64."""

    shape: tuple[int, int]

    def times(self, w: FloatArray) -> FloatArray:
        """w·x for each row."""

    def combined(self, coefficients: FloatArray) -> FloatArray:
        """The sum of the rows, each times its coefficient."""

    def scatter(self, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sums of xx' (d × d, its lower triangle) and of x over some rows, each times its coefficient."""

    def take(self, ids: IntArray) -> Any:
        """Copies of some of the rows, dense or CSR."""


def products(rows: Rows, ids: IntArray, shift: FloatArray | None, *, threads: int = 1) -> RowProducts:
    """Some rows, dense ones relative to a shift if there is one; copied, unless that would double the memory."""
    n, d = rows.shape
    if rows.dense is not None and len(ids) * d > max(_LARGE, n * d // 4):
        return _InPlace(rows, ids, shift, threads)
    part = rows.take(ids)
    if rows.dense is not None:
        return _Dense(part.astype(np.float64, copy=False) if shift is None else part - shift)
    if len(ids) * d <= _SMALL:
        return _Dense(part.toarray().astype(np.float64, copy=False))
    part.sum_duplicates()  # the lower triangle is found by columns that rise
    return _Sparse(part.astype(np.float64, copy=False), threads)


class _Dense:
    def __init__(self, rows: FloatArray) -> None:
        self.rows, self.shape = rows, rows.shape

    def times(self, w: FloatArray) -> FloatArray:
        return np.asarray(self.rows @ w)

    def combined(self, coefficients: FloatArray) -> FloatArray:
        return np.asarray(self.rows.T @ coefficients)

    def scatter(self, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _dense_scatter(self, ids, coefficients)

    def take(self, ids: IntArray) -> FloatArray:
        return np.asarray(self.rows[ids])


class _InPlace:
    """Rows read where they are: every product is a pass over all rows."""

    def __init__(self, rows: Rows, ids: IntArray, shift: FloatArray | None, threads: int) -> None:
        self.rows, self.ids, self.threads = rows, ids, threads
        self.shape = len(ids), rows.shape[1]
        self.shift = np.zeros(rows.shape[1]) if shift is None else shift

    def times(self, w: FloatArray) -> FloatArray:
        found = _scores(self.rows.view, w, len(self.rows), self.threads)[self.ids]
        found -= float(self.shift @ w)
        return found

    def combined(self, coefficients: FloatArray) -> FloatArray:
        of_all = np.zeros(len(self.rows))
        of_all[self.ids] = coefficients
        return _engine.combine(self.rows.view, of_all, threads=self.threads) - float(coefficients.sum()) * self.shift

    def scatter(self, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _dense_scatter(self, ids, coefficients)

    def take(self, ids: IntArray) -> FloatArray:
        return np.asarray(self.rows.take(self.ids[ids]) - self.shift)


class _Sparse:
    def __init__(self, rows: Any, threads: int) -> None:
        self.rows, self.shape, self.threads = rows, rows.shape, threads
        self.view = inputs.rows(rows).view

    def times(self, w: FloatArray) -> FloatArray:
        return _scores(self.view, w, self.shape[0], self.threads)

    def combined(self, coefficients: FloatArray) -> FloatArray:
        return _engine.combine(self.view, coefficients, threads=self.threads)

    def scatter(self, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        m, d = self.shape
        matrix, of_all = np.zeros((d, d)), np.zeros(m)
        assert isinstance(self.view, _engine.SparseRows)
        _engine.gram(self.view, ids, coefficients, matrix)
        of_all[ids] = coefficients
        return matrix, self.combined(of_all)

    def take(self, ids: IntArray) -> Any:
        return self.rows[ids]


def _dense_scatter(rows: RowProducts, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
    d = rows.shape[1]
    matrix, along = np.zeros((d, d)), np.zeros(d)
    for first in range(0, len(ids), _BLOCK):
        part = slice(first, first + _BLOCK)
        some = rows.take(ids[part])
        along += coefficients[part] @ some
        some *= np.sqrt(coefficients[part])[:, np.newaxis]
        matrix += some.T @ some
    return matrix, along


def _scores(view: _engine.DenseRows | _engine.SparseRows, w: FloatArray, n: int, threads: int) -> FloatArray:
    found, padded = np.empty(n), np.zeros(-(-len(w) // 8) * 8)
    padded[: len(w)] = w
    _engine.scores(view, padded, found, threads=threads)
    return found
