"""Kernel functions K(z, x), and the support rows z in the form that each of them reads.

A kernel gives a block of values, a row for each support row and a column for each point (and some columns more, so that
the engine can work on whole panels). Values are float32 if the support and the points are, else float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.row_forms import in_order

KernelFunction = Callable[[Any, Any], Any]
_CACHE_LINE = 64  # bytes
NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")


class Support(Protocol):
    """Support rows, each once, in the order in which they were added."""

    def append(self, rows: Rows, ids: IntArray) -> None:
        """Add some of the rows."""

    def keep(self, which: IntArray) -> None:
        """Forget all but some."""

    def equal(self, rows: Rows, ids: IntArray) -> NDArray[np.bool_]:
        """For each support row, whether it is the row of this number."""

    def matrix(self, n_features: int) -> Any:
        """The rows, dense or CSR as they came."""

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As plain arrays, for a model file."""


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


class CompressedSupport:
    """Support rows without their zeros, which the products pass over: values, columns, and where each row starts."""

    def __init__(self) -> None:
        self.dense = True
        self._values: NDArray[Any] = np.empty(0, np.float32)
        self._columns: NDArray[np.int32] = np.empty(0, np.int32)
        self._starts: IntArray = np.zeros(1, np.int64)
        self.n = 0
        self._wide: FloatArray | None = None
        self._room: NDArray[np.uint8] = np.empty(0, np.uint8)

    def room(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
        """An array for kernel values, always the same memory: new pages cost as much as what is written to them."""
        size = shape[0] * shape[1] * dtype.itemsize
        if len(self._room) < size + _CACHE_LINE:
            self._room = np.empty(size + size // 2 + _CACHE_LINE, np.uint8)
        first = -self._room.ctypes.data % _CACHE_LINE
        return self._room[first : first + size].view(dtype).reshape(shape)

    def __deepcopy__(self, _: Any) -> CompressedSupport:
        return self.from_arrays({name: array.copy() for name, array in self.to_arrays().items()})

    @property
    def used(self) -> int:
        """How many numbers are stored."""
        return int(self._starts[self.n])

    @property
    def columns(self) -> NDArray[np.int32]:
        """The column of each number."""
        return self._columns[: self.used]

    @property
    def starts(self) -> IntArray:
        """Where each row starts, and where the last one ends."""
        return self._starts[: self.n + 1]

    def values(self, dtype: Any = None) -> NDArray[Any]:
        """The numbers, in their own type or another."""
        own = self._values[: self.used]
        if dtype is None or own.dtype == dtype:
            return own
        if self._wide is None:
            self._wide = own.astype(np.float64)
        return self._wide

    def append(self, rows: Rows, ids: IntArray) -> None:
        """Add some of the rows, whose columns must be in order."""
        values, columns, starts = _engine.compress(rows.view, ids)
        if not self.n:
            self.dense, self._values = rows.dense is not None, values[:0]
        dtype = np.result_type(self._values.dtype, values.dtype)
        used, n = self.used, self.n
        self._values = _grown(self._values, used, len(values), dtype)
        self._columns = _grown(self._columns, used, len(columns))
        self._starts = _grown(self._starts, n + 1, len(ids))
        self._values[used : used + len(values)] = values
        self._columns[used : used + len(values)] = columns
        self._starts[n + 1 : n + 1 + len(ids)] = starts[1:] + used
        self.n += len(ids)
        self._wide = None

    def keep(self, which: IntArray) -> None:
        """Forget all but some."""
        lengths = np.diff(self.starts)[which]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.starts[which] - starts[:-1], lengths) + np.arange(starts[-1])
        self._values, self._columns = self._values[places], self._columns[places]
        self._starts, self.n, self._wide = starts, len(which), None

    def equal(self, rows: Rows, ids: IntArray) -> NDArray[np.bool_]:
        """For each support row, whether it is the row of this number."""
        values, columns, starts = _engine.compress(rows.view, ids)
        same = np.diff(starts) == np.diff(self.starts)
        for j in np.flatnonzero(same):
            one, other = slice(*starts[j : j + 2]), slice(*self.starts[j : j + 2])
            same[j] = np.array_equal(values[one], self._values[other]) and np.array_equal(
                columns[one], self._columns[other]
            )
        return np.asarray(same)

    def matrix(self, n_features: int) -> Any:
        """The rows, dense or CSR as they came."""
        from scipy.sparse import csr_array

        parts = (self.values().copy(), self.columns.copy(), self.starts.copy())
        matrix = csr_array(parts, shape=(self.n, n_features))
        return matrix.toarray() if self.dense else matrix

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As plain arrays."""
        parts = {"values": self.values(), "columns": self.columns, "starts": self.starts}
        return {f"support_{name}": part for name, part in parts.items()} | {"support_dense": np.asarray([self.dense])}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """The reverse."""
        made = cls()
        made._values, made._columns = arrays["support_values"], arrays["support_columns"]
        made._starts, made.dense = arrays["support_starts"], bool(arrays["support_dense"][0])
        made.n = len(made._starts) - 1
        return made


def _grown(array: NDArray[Any], used: int, more: int, dtype: Any = None) -> NDArray[Any]:
    """The array with room for more; doubled, so that adding row after row is not a copy each time."""
    dtype = dtype or array.dtype
    if used + more <= len(array) and dtype == array.dtype:
        return array
    grown = np.empty(max(used + more, 2 * used), dtype)
    grown[:used] = array[:used]
    return grown


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
            if self.name == "rbf":  # ‖z − x‖² = z·z − 2 z·x + x·x, which is exactly 0 for z = x
                of_support, of_points = squares()
                out *= -2
                out += of_support[:, np.newaxis]
                out[:, :count] += of_points
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


class NumberedSupport:
    """Support rows of a given matrix K: their numbers are enough."""

    def __init__(self, ids: IntArray | None = None) -> None:
        self.ids: IntArray = np.empty(0, np.int64) if ids is None else ids

    def append(self, rows: Rows, ids: IntArray) -> None:
        """Add some of the rows."""
        self.ids = np.concatenate([self.ids, ids])

    def keep(self, which: IntArray) -> None:
        """Forget all but some."""
        self.ids = self.ids[which]

    def equal(self, rows: Rows, ids: IntArray) -> NDArray[np.bool_]:
        """For each support row, whether it is the row of this number."""
        return np.asarray(self.ids == ids)

    def matrix(self, n_features: int) -> Any:
        """There are none."""
        raise AttributeError("with kernel='precomputed' the model does not know the rows: support_ has their numbers")

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As plain arrays."""
        return {"support_ids": self.ids}


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


class StoredSupport:
    """Support rows as they came, for a kernel that is a function of rows."""

    def __init__(self) -> None:
        self._blocks: list[Any] = []

    def rows(self) -> Any:
        """All of them, dense or CSR."""
        if len(self._blocks) > 1:
            sparse = [hasattr(block, "tocsr") for block in self._blocks]
            if any(sparse):
                from scipy.sparse import vstack

                self._blocks = [vstack(self._blocks, format="csr")]
            else:
                self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]

    def append(self, rows: Rows, ids: IntArray) -> None:
        """Add some of the rows."""
        self._blocks.append(rows.take(ids))

    def keep(self, which: IntArray) -> None:
        """Forget all but some."""
        if self._blocks:
            self._blocks = [self.rows()[which]]

    def equal(self, rows: Rows, ids: IntArray) -> NDArray[np.bool_]:
        """For each support row, whether it is the row of this number."""
        difference = abs(self.rows() - rows.take(ids))
        return np.asarray(np.asarray(difference.sum(axis=1)).reshape(-1) == 0)

    def matrix(self, n_features: int) -> Any:
        """The rows, dense or CSR as they came."""
        return self.rows() if self._blocks else np.empty((0, n_features))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As plain arrays, for pickle; a model file refuses functions."""
        if not self._blocks:
            return {}
        rows = self.rows()
        if not hasattr(rows, "tocsr"):
            return {"support": rows}
        parts = {"values": rows.data, "columns": rows.indices, "starts": rows.indptr, "shape": np.asarray(rows.shape)}
        return {f"support_{name}": part for name, part in parts.items()}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """The reverse."""
        made = cls()
        if "support" in arrays:
            made._blocks = [arrays["support"]]
        elif "support_values" in arrays:
            from scipy.sparse import csr_array

            parts = tuple(arrays[f"support_{name}"] for name in ("values", "columns", "starts"))
            made._blocks = [csr_array(parts, shape=tuple(arrays["support_shape"]))]
        return made


@dataclass(frozen=True)
class CalledKernel:
    """A function of two sets of rows, as scikit-learn's ``SVC`` takes it: ``function(Z, X)`` of shape (len Z, len X)."""

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
