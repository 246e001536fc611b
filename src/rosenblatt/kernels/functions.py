"""Kernel functions K(z, x) of support rows z and points x.

A kernel gives a block of values, a row for each support row and a column for each point (and some columns more, so that
the engine can work on whole panels). Values are float32 if the support and the points are, else float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.inputs import IntArray, Rows
from rosenblatt.kernels.support_rows import CompressedSupport, NumberedSupport, StoredSupport, Support
from rosenblatt.row_forms import in_order

KernelFunction = Callable[[Any, Any], Any]
NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")


class Kernel(Protocol):
    """What a learner asks of a kernel."""

    def support(self) -> Support:
        """Room for support rows."""

    def support_of(self, arrays: dict[str, NDArray[Any]]) -> Support:
        """The reverse of `to_arrays`."""

    def ready(self, rows: Rows) -> Rows:
        """The rows in the form that `values` reads."""

    def values(self, support: Any, which: IntArray, rows: Rows, ids: IntArray, threads: int = 1) -> NDArray[Any]:
        """K(z, x) for some support rows z (rows) and points x (columns)."""

    def own_values(self, rows: Rows, ids: IntArray, threads: int = 1) -> NDArray[Any]:
        """K of some rows with each other."""


# Kernels of products --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProductKernel:
    """A function of z · x (and of the lengths of z and x): linear, poly, rbf or sigmoid."""

    name: str
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    def support(self) -> CompressedSupport:
        """Room for support rows."""
        return CompressedSupport()

    def support_of(self, arrays: dict[str, NDArray[Any]]) -> CompressedSupport:
        """The reverse of `to_arrays`."""
        return CompressedSupport.from_arrays(arrays)

    def ready(self, rows: Rows) -> Rows:
        """The rows, each feature once and in order."""
        return in_order(rows)

    def values(
        self, support: CompressedSupport, which: IntArray, rows: Rows, ids: IntArray, threads: int = 1
    ) -> NDArray[Any]:
        """K(z, x) for some support rows and points; the array is used again by the next call for this support."""
        dtype = np.result_type(support.values().dtype, rows.values.dtype) if support.n else rows.values.dtype
        out = support.room((len(which), _engine.padded_points(len(ids), dtype.itemsize)), dtype)
        if not len(which):
            return out
        parts = (support.values(dtype), support.columns, support.starts)
        _engine.kernel_values(*parts, which, rows.view, ids, out, threads=threads, **self._polynomial())
        self._finish(out, len(ids), lambda: (self._squares(support, dtype)[which], self._squares_of(rows, ids, dtype)))
        return out

    def own_values(self, rows: Rows, ids: IntArray, threads: int = 1) -> NDArray[Any]:
        """K of some rows with each other."""
        dtype = rows.values.dtype
        out = np.empty((len(ids), _engine.padded_points(len(ids), dtype.itemsize)), dtype)
        _engine.own_kernel_values(rows.view, ids, out, threads=threads, **self._polynomial())
        self._finish(out, len(ids), lambda: (self._squares_of(rows, ids, dtype),) * 2)
        return out

    def _polynomial(self) -> dict[str, Any]:
        if self.name != "poly":
            return {}
        return {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}

    def _finish(self, out: NDArray[Any], count: int, squares: Callable[[], tuple[NDArray[Any], NDArray[Any]]]) -> None:
        """From products to values; whoever uses them finds what is not finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self.name == "rbf":  # ‖z − x‖² = (z·z + x·x) − 2 z·x: exactly 0 for z = x, and the same for x and z
                out *= 2
                np.subtract(np.add.outer(*squares()), out[:, :count], out=out[:, :count])
                np.maximum(out, 0, out=out)
                out *= -self.gamma
                np.exp(out, out=out)
            elif self.name == "sigmoid":
                out *= self.gamma
                out += self.coef0
                np.tanh(out, out=out)

    @staticmethod
    def _squares(support: CompressedSupport, dtype: np.dtype[Any]) -> NDArray[Any]:
        return _engine.squares(support.values(dtype), support.starts)

    @staticmethod
    def _squares_of(rows: Rows, ids: IntArray, dtype: np.dtype[Any]) -> NDArray[Any]:
        values, _, starts = _engine.compress(rows.view, ids)
        return _engine.squares(values.astype(dtype, copy=False), starts)


# Kernels that are given -----------------------------------------------------------------------------------------------


class GivenKernel:
    """``kernel="precomputed"``: row i of X has K of row i with every row of the fit."""

    def support(self) -> NumberedSupport:
        """Room for support rows."""
        return NumberedSupport()

    def support_of(self, arrays: dict[str, NDArray[Any]]) -> NumberedSupport:
        """The reverse of `to_arrays`."""
        return NumberedSupport(arrays["support_ids"])

    def ready(self, rows: Rows) -> Rows:
        """The rows as they are."""
        return rows

    def values(
        self, support: NumberedSupport, which: IntArray, rows: Rows, ids: IntArray, threads: int = 1
    ) -> NDArray[Any]:
        """K(z, x) for some support rows and points."""
        block = rows.take(ids)[:, support.ids[which]]
        return np.ascontiguousarray((block.toarray() if hasattr(block, "toarray") else block).T)

    def own_values(self, rows: Rows, ids: IntArray, threads: int = 1) -> NDArray[Any]:
        """K of some rows with each other."""
        support = self.support()
        support.append(rows, ids)
        return self.values(support, np.arange(len(ids)), rows, ids, threads)


@dataclass(frozen=True)
class CalledKernel:
    """A function of two sets of rows: ``function(Z, X)`` has shape (len(Z), len(X)), as for scikit-learn's ``SVC``."""

    function: KernelFunction

    def support(self) -> StoredSupport:
        """Room for support rows."""
        return StoredSupport()

    def support_of(self, arrays: dict[str, NDArray[Any]]) -> StoredSupport:
        """The reverse of `to_arrays`."""
        return StoredSupport.from_arrays(arrays)

    def ready(self, rows: Rows) -> Rows:
        """The rows as they are."""
        return rows

    def values(
        self, support: StoredSupport, which: IntArray, rows: Rows, ids: IntArray, threads: int = 1
    ) -> NDArray[Any]:
        """K(z, x) for some support rows and points, checked."""
        if not len(which):
            return np.empty((0, len(ids)))
        given = self.function(support.rows()[which], rows.take(ids))
        try:
            values = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
            values = values.astype(np.float32 if values.dtype == np.float32 else np.float64, order="C", copy=False)
        except (TypeError, ValueError):
            raise InputError(f"the kernel must return numbers, got {type(given).__name__}") from None
        if values.shape != (len(which), len(ids)):
            raise InputError(
                f"the kernel must return an array of shape {(len(which), len(ids))} for rows of shape "
                f"{(len(which), rows.shape[1])} and {(len(ids), rows.shape[1])}, got {values.shape}"
            )
        if not np.isfinite(values).all():
            raise InputError("the kernel returned NaN or infinity: scale the features, or choose another kernel")
        return np.ascontiguousarray(values)

    def own_values(self, rows: Rows, ids: IntArray, threads: int = 1) -> NDArray[Any]:
        """K of some rows with each other."""
        support = self.support()
        support.append(rows, ids)
        return self.values(support, np.arange(len(ids)), rows, ids, threads)


# The choice -----------------------------------------------------------------------------------------------------------


def kernel_of(name: Any, *, degree: int, gamma: float, coef0: float) -> Kernel:
    """The kernel of this name, or that calls this function."""
    if callable(name):
        return CalledKernel(name)
    if name == "precomputed":
        return GivenKernel()
    return ProductKernel(str(name), degree, gamma, coef0)


def resolved_gamma(gamma: Any, rows: Rows) -> float:
    """A number for "auto", 1 / features, and for "scale", 1 / (features × variance of X), as in scikit-learn."""
    d = rows.shape[1]
    if gamma == "auto":
        return 1.0 / d
    if gamma != "scale":
        return float(gamma)
    if rows.dense is not None:
        variance = float(rows.dense.var(dtype=np.float64))
    else:
        count = float(rows.shape[0]) * d
        mean = float(rows.values.sum(dtype=np.float64)) / count
        variance = float(np.square(rows.values, dtype=np.float64).sum()) / count - mean * mean
    return 1.0 / (d * variance) if variance > 0 else 1.0
