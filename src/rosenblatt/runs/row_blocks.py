"""How rows are laid out in a cache: blocks of a header and arrays, each at a multiple of 64 bytes.

The arrays are codes, weights, starts, columns and values, the last two in as few bytes as the engine finds will do
(``packed_rows.hpp``). They come back to the bit, and a stretch of rows is read without its neighbours.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from rosenblatt import _engine
from rosenblatt.runs.row_batches import RowBatch, Sparse

ALIGNED = 64
_HEADER = struct.Struct("<8s4q5B67x16s")  # magic; rows, features, values, classes; kinds; hash
_MAGIC = b"rowblock"

Bytes = bytes | memoryview
_ONES, _FLOAT32, _FLOAT64 = 0, 32, 64  # kinds of values; a decimal's is its width in bytes
_WIDTHS = (1, 2, 3, 4)


class Room:
    """Memory that is used again for arrays that nobody needs any more: new memory costs more than what is put there."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, n: int, dtype: type[np.generic]) -> NDArray[Any]:
        """An array whose numbers are not set; the last one of this name is gone."""
        found = self._arrays.get(name)
        if found is None or len(found) < n:
            found = self._arrays[name] = np.empty(n + n // 8, dtype)
        return found[:n]


class Block(NamedTuple):
    """The header of a block, and where it is."""

    offset: int
    rows: int
    n_features: int
    n_values: int
    n_classes: int  # seen up to its end
    dense: bool
    weighted: bool
    column_width: int  # bytes of a column number; 0: dense
    value_kind: int
    places: int  # of decimals
    digest: bytes

    @classmethod
    def of(cls, rows: _engine.PackedRows, n_classes: int, offset: int) -> Block:
        """The header of packed rows, as yet without a hash."""
        counts = (rows.n_rows, rows.n_features, rows.n_values, n_classes)
        return cls(offset, *counts, rows.dense, rows.weighted, rows.column_width, rows.value_kind, rows.places, b"")

    def pieces(self, rows: _engine.PackedRows) -> tuple[Block, list[Bytes]]:
        """The block with its hash, and what is to be written of these rows, in order, its header the first."""
        payload: list[Bytes] = []
        for array in rows.arrays:
            payload += [array.view(np.uint8).data, bytes(aligned(array.nbytes) - array.nbytes)]
        hasher = xxh3_128(self.header())
        for piece in payload:
            hasher.update(piece)
        block = self._replace(digest=hasher.digest())
        return block, [block.header(), *payload]

    @classmethod
    def read(cls, offset: int, header: bytes, most: int) -> Block | None:
        """The block that a header tells of; None if it is none, or cannot be in a file of `most` bytes."""
        if len(header) < _HEADER.size:
            return None
        magic, *counts, dense, weighted, column_width, kind, places, digest = _HEADER.unpack(header)
        n_rows, n_features, n_values, n_classes = counts
        if magic != _MAGIC or min(counts) < 0 or not n_rows or max(n_rows, n_values) > most or places > 9:
            return None
        if kind not in (_ONES, *_WIDTHS, _FLOAT32, _FLOAT64) or column_width not in (0, *_WIDTHS):
            return None
        if bool(column_width) == bool(dense) or (dense and (kind == _ONES or n_values != n_rows * n_features)):
            return None
        flags = (bool(dense), bool(weighted), column_width, kind, places)
        block = cls(offset, n_rows, n_features, n_values, n_classes, *flags, digest)
        return block if block.header() == header else None

    def header(self) -> bytes:
        """As it stands in the file."""
        counts = (self.rows, self.n_features, self.n_values, self.n_classes)
        kinds = (self.dense, self.weighted, self.column_width, self.value_kind, self.places)
        return _HEADER.pack(_MAGIC, *counts, *kinds, self.digest)

    @property
    def size(self) -> int:
        """Of header and arrays."""
        _, dtype, length, offset = self._arrays()[-1]
        return offset + aligned(np.dtype(dtype).itemsize * length)

    def is_whole(self, content: Any, skip: int) -> bool:
        """Whether the bytes of the block, behind `skip` others, are those that were written."""
        hasher = xxh3_128(self._replace(digest=b"").header())
        hasher.update(memoryview(content)[skip + HEADER_SIZE : skip + self.size])
        return hasher.digest() == self.digest

    def arrays(self, content: Any, skip: int) -> list[NDArray[Any]]:
        """The arrays of the block, whose bytes are behind `skip` others."""
        return [np.frombuffer(content, dtype, length, skip + offset) for _, dtype, length, offset in self._arrays()]

    def batch(self, arrays: list[NDArray[Any]], first: int, end: int, room: Room) -> RowBatch:
        """The rows from `first` up to `end` of these arrays, in this room."""
        named = zip(self._arrays(), arrays, strict=True)
        found = {name: array.view(dtype) for (name, dtype, *_), array in named}
        codes, weights = found["codes"][first:end], found.get("weights")
        weights = None if weights is None else weights[first:end]
        if self.dense:
            places = slice(first * self.n_features, end * self.n_features)
            dense = self._values(found["values"], places, room).reshape(end - first, self.n_features)
            return RowBatch(codes, self.n_features, dense=dense, weights=weights)
        starts = found["starts"][first : end + 1]
        places = slice(int(starts[0]), int(starts[-1]))
        columns = room.array("columns", places.stop - places.start, np.int32)
        _engine.columns_of_planes(found["columns"], self.column_width, places.start, columns)
        starts = starts - starts[0] if first else starts
        sparse = Sparse(self._values(found["values"], places, room), columns, starts)
        return RowBatch(codes, self.n_features, sparse=sparse, weights=weights)

    def _values(self, stored: NDArray[Any], places: slice, room: Room) -> NDArray[Any]:
        if self.value_kind in (_FLOAT32, _FLOAT64):
            return stored[places]
        values = room.array("values", places.stop - places.start, np.float64)
        if self.value_kind == _ONES:
            values.fill(1.0)
            return values
        _engine.decimals_of_planes(stored, self.value_kind, self.places, places.start, values)
        return values

    def _arrays(self) -> list[tuple[str, type[np.generic], int, int]]:
        """Name, type, length and offset of each array; the last one ends the block."""
        parts: list[tuple[str, type[np.generic], int]] = [("codes", np.int16, self.rows)]
        if self.weighted:
            parts.append(("weights", np.float64, self.rows))
        if not self.dense:
            parts.append(("starts", np.int32, self.rows + 1))
            parts.append(("columns", np.uint8, self.n_values * self.column_width))
        if self.value_kind in (_FLOAT32, _FLOAT64):
            parts.append(("values", np.float32 if self.value_kind == _FLOAT32 else np.float64, self.n_values))
        else:
            parts.append(("values", np.uint8, self.n_values * self.value_kind))
        placed, offset = [], HEADER_SIZE
        for name, dtype, length in parts:
            placed.append((name, dtype, length, offset))
            offset += aligned(np.dtype(dtype).itemsize * length)
        return placed


HEADER_SIZE = _HEADER.size


def aligned(size: int) -> int:
    """Up to where an array takes room."""
    return -(-size // ALIGNED) * ALIGNED
