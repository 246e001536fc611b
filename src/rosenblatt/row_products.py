"""Some rows, copied out of all, with the products that Newton steps need; dense by BLAS, sparse by the engine."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from rosenblatt import _engine, inputs
from rosenblatt.inputs import FloatArray, IntArray, Rows

_SMALL = 1 << 18  # numbers: below, sparse rows are faster dense


class RowProducts(Protocol):
    """m rows of d features."""

    shape: tuple[int, int]

    def times(self, w: FloatArray) -> FloatArray:
        """w·x for each row."""

    def combined(self, coefficients: FloatArray) -> FloatArray:
        """The sum of the rows, each times its coefficient."""

    def scatter(self, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The sums of xx' (d × d, its lower triangle) and of x over some rows, each times its coefficient."""

    def take(self, ids: IntArray) -> Any:
        """Some of the rows, dense or CSR."""


def copied(rows: Rows, ids: IntArray, shift: FloatArray | None) -> RowProducts:
    """Some rows in float64, dense ones relative to a shift if there is one."""
    part = rows.take(ids)
    if rows.dense is not None:
        return _Dense(part.astype(np.float64, copy=False) if shift is None else part - shift)
    if part.shape[0] * part.shape[1] <= _SMALL:
        return _Dense(part.toarray().astype(np.float64, copy=False))
    part.sum_duplicates()  # the lower triangle is found by columns that rise
    return _Sparse(part.astype(np.float64, copy=False))


class _Dense:
    def __init__(self, rows: FloatArray) -> None:
        self.rows, self.shape = rows, rows.shape

    def times(self, w: FloatArray) -> FloatArray:
        return np.asarray(self.rows @ w)

    def combined(self, coefficients: FloatArray) -> FloatArray:
        return np.asarray(self.rows.T @ coefficients)

    def scatter(self, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        some = self.rows[ids]
        along = coefficients @ some
        some *= np.sqrt(coefficients)[:, np.newaxis]
        return some.T @ some, along

    def take(self, ids: IntArray) -> FloatArray:
        return np.asarray(self.rows[ids])


class _Sparse:
    def __init__(self, rows: Any) -> None:
        self.rows, self.shape = rows, rows.shape
        self.view = inputs.rows(rows).view
        self.padded = np.zeros(-(-rows.shape[1] // 8) * 8)

    def times(self, w: FloatArray) -> FloatArray:
        found = np.empty(self.shape[0])
        self.padded[: len(w)] = w
        _engine.scores(self.view, self.padded, found)
        return found

    def combined(self, coefficients: FloatArray) -> FloatArray:
        return _engine.combine(self.view, coefficients)

    def scatter(self, ids: IntArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        m, d = self.shape
        product = np.zeros((d, d))
        assert isinstance(self.view, _engine.SparseRows)
        _engine.gram(self.view, ids, coefficients, product)
        of_all = np.zeros(m)
        of_all[ids] = coefficients
        return product, _engine.combine(self.view, of_all)

    def take(self, ids: IntArray) -> Any:
        return self.rows[ids]
