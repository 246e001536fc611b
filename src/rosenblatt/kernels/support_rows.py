"""The rows that mistakes were made on, each stored once, in the form that their kernel reads."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows

_CACHE_LINE = 64  # bytes


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
