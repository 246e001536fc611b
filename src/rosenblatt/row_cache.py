"""Rows in a compact binary file, so that later passes need no parsing: blocks, each with a hash, mapped into memory.

The file: 64 bytes that say what it is; blocks; at the end, once it is complete, what is known of the rows as JSON. A
block is a header and arrays (codes, weights, starts, columns, values), each at a multiple of 64 bytes. Values are kept
as float32 where every number of the block is one exactly. The chain, a hash of all hashes so far, tells whether a cache
is the one that a checkpoint knows.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128, xxh3_128_digest

from rosenblatt.errors import CheckpointError
from rosenblatt.row_batches import RowBatch, Sparse, joined
from rosenblatt.whole_grains import WholeGrains

_BEGIN = b"rosenblatt rows, version 1\n".ljust(64, b"\0")
_END = b"rosenblatt rows: the end\n".ljust(32, b"\0")
_HEADER = struct.Struct("<8s4q4B68x16s")  # magic; rows, features, values, classes; kinds; hash
_MAGIC = b"rowblock"
_ALIGNED = 64
_MANY = 32  # batches: small ones are faster copied than written one by one
_BLOCK = 3 << 20  # bytes after which a block is written: small ones cost calls when written, mapped and read
_WINDOW = 1 << 23  # bytes that are mapped at once: a mapping costs as much as learning from some 100 kB
_POPULATED = getattr(mmap, "MAP_POPULATE", 0)  # Linux: all pages by one call instead of a fault for every few
_MAX_ABOUT = 64 << 20
_TAIL = 8 + 16 + len(_END)  # length and hash of what is known of the rows


class Mark(NamedTuple):
    """How far a cache was written."""

    size: int
    rows: int
    blocks: int
    chain: str


class _Block(NamedTuple):
    offset: int  # of its header
    rows: int
    n_features: int
    n_values: int
    n_classes: int  # seen up to its end
    dense: bool
    single: bool
    weighted: bool
    wide: bool  # 64-bit column numbers
    digest: bytes

    def arrays(self) -> list[tuple[str, type[np.generic], int, int]]:
        """Name, type, length and offset of each array of the payload; the last one ends the block."""
        index = np.int64 if self.wide else np.int32
        parts: list[tuple[str, type[np.generic], int]] = [("codes", np.int16, self.rows)]
        if self.weighted:
            parts.append(("weights", np.float64, self.rows))
        if not self.dense:
            parts += [("starts", index, self.rows + 1), ("columns", index, self.n_values)]
        parts.append(("values", np.float32 if self.single else np.float64, self.n_values))
        placed, offset = [], _HEADER.size
        for name, kind, length in parts:
            placed.append((name, kind, length, offset))
            offset += _aligned(np.dtype(kind).itemsize * length)
        return placed

    @property
    def size(self) -> int:
        """Of header and payload."""
        _, kind, length, offset = self.arrays()[-1]
        return offset + _aligned(np.dtype(kind).itemsize * length)

    def header(self, digest: bytes) -> bytes:
        """As it stands in the file."""
        counts = (self.rows, self.n_features, self.n_values, self.n_classes)
        return _HEADER.pack(_MAGIC, *counts, self.dense, self.single, self.weighted, self.wide, digest)


def _are_single(values: NDArray[Any]) -> bool:
    """Whether every number is a float32 exactly."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((values.astype(np.float32, copy=False) == values).all())


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


class RowCache:
    """Rows in a file: first written, batch after batch, then read as often as one likes.

    A cache without a path is a temporary file in `folder`; where the system allows, it has no name, so that nothing is
    left behind even by a process that is killed.
    """

    def __init__(
        self, path: str | None = None, *, folder: str | None = None, mark: Mark | None = None, complete: bool = False
    ) -> None:
        """Make a new file, or go on with the one that `mark` tells of, or read a complete one."""
        self.path, self._place = path, path or folder or tempfile.gettempdir()
        self._blocks: list[_Block] = []
        self._firsts: list[int] = [0]
        self._chain = b""
        self._pending: list[tuple[RowBatch, int]] = []
        self._pending_bytes = 0
        self._checked: set[int] = set()
        self._synced: Mark | None = None
        self.rows = 0
        try:
            # Without a buffer: what is written is on its way, and a full disk is heard of at once.
            if path is None:
                self._file: Any = tempfile.TemporaryFile("w+b", 0, prefix="rosenblatt-", suffix=".rows", dir=folder)  # noqa: SIM115 - closed by close()
            else:
                how = "w+b" if mark is None else "rb" if complete else "r+b"
                self._file = open(path, how, 0)  # noqa: SIM115
        except OSError as error:
            if mark is not None:
                why = f"{path}, with the rows of the checkpoint, is gone: {error.strerror}"
                raise CheckpointError(f"{why}. Delete the checkpoint to begin anew") from None
            raise OSError(error.errno, f"rows cannot be kept there: {error.strerror}", self._place) from None
        try:
            self._begin(mark, complete)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, mark: Mark | None, complete: bool) -> None:
        self._grains = WholeGrains(self._file, 0 if mark is None else mark.size)
        if mark is None:
            with self._writing() as grains:
                grains.write(_BEGIN)
                grains.drain()  # a full disk is heard of at once, and the file can be told from others
            return
        self._scan(mark.size)
        if self.mark() != mark:
            raise CheckpointError(f"{self.path} does not hold the rows that the checkpoint was made with")
        if not complete:
            self._file.truncate(mark.size)
            self._file.seek(mark.size)

    @classmethod
    def reopen(cls, path: str) -> tuple[RowCache, dict[str, Any]] | None:
        """A complete cache and what was said of it at the end; None if there is no such file or it was not finished."""
        try:
            size = os.path.getsize(path)
            with open(path, "rb") as file:
                if file.read(len(_BEGIN)) != _BEGIN:
                    raise CheckpointError(f"{path} is not a cache of rows: name another file, or delete it")
                file.seek(max(0, size - _TAIL))
                tail = file.read()
                if len(tail) < _TAIL or not tail.endswith(_END):
                    return None
                length = int.from_bytes(tail[:8], "little")
                begin = size - _TAIL - length
                if length > _MAX_ABOUT or begin < len(_BEGIN):
                    raise _damaged(path)
                file.seek(begin)
                text = file.read(length)
        except FileNotFoundError:
            return None
        if xxh3_128_digest(text) != tail[8:24]:
            raise _damaged(path)
        about = json.loads(text)
        return cls(path, mark=Mark(**about["mark"]), complete=True), about["about"]

    # Writing --------------------------------------------------------------------------------------------------------

    def add(self, batch: RowBatch, n_classes: int) -> None:
        """Keep some rows; `n_classes` were seen up to here."""
        if not len(batch):
            return
        if self._pending and not _alike(self._pending[-1][0], batch):
            self._close_block()
        # What is not written at once must last: whoever made the batch may use its memory again.
        self._pending.append((batch if batch.lasts else batch.copy(), n_classes))
        self._pending_bytes += batch.n_bytes
        if self._pending_bytes >= _BLOCK:
            self._close_block()

    def flush(self) -> None:
        """Write what is waiting to be written."""
        if self._pending:
            self._close_block()
        with self._writing() as grains:
            grains.drain()

    def _close_block(self) -> None:
        """Make a block of the batches that are pending."""
        batches = [batch for batch, _ in self._pending]
        batches = batches if len(batches) <= _MANY else [joined(batches)]
        n_classes = self._pending[-1][1]
        self._pending, self._pending_bytes = [], 0
        single = all(_are_single(batch.values.reshape(-1)[:64]) and _are_single(batch.values) for batch in batches)
        n_values, n_features = sum(batch.n_values for batch in batches), max(batch.n_features for batch in batches)
        block = _Block(
            offset=self._grains.end,
            rows=sum(len(batch) for batch in batches),
            n_features=n_features,
            n_values=n_values,
            n_classes=n_classes,
            dense=batches[0].dense is not None,
            single=single,
            weighted=batches[0].weights is not None,
            wide=batches[0].sparse is not None and max(n_features, n_values) >= 1 << 31,
            digest=b"",
        )
        # The arrays of a block are those of its batches, one behind the other: nothing is copied to be written.
        payload: list[bytes | memoryview] = []
        for name, kind, length, _ in block.arrays():
            parts = _starts_of(batches) if name == "starts" else (_array_of(name, batch) for batch in batches)
            payload += [np.ascontiguousarray(part, kind).reshape(-1).view(np.uint8).data for part in parts]
            size = np.dtype(kind).itemsize * length
            payload.append(bytes(_aligned(size) - size))
        hasher = xxh3_128(block.header(b""))
        for piece in payload:
            hasher.update(piece)
        with self._writing() as grains:
            grains.write(block.header(hasher.digest()), *payload)
        self._append(block._replace(digest=hasher.digest()))

    @contextmanager
    def _writing(self) -> Iterator[WholeGrains]:
        """Of a disk that is full, say what was kept there and why."""
        try:
            yield self._grains
        except OSError as error:
            why = f"{error.strerror} (the rows are kept there for later passes; make room, or name another place)"
            raise OSError(error.errno, why, self._place) from None

    def _append(self, block: _Block) -> None:
        self._blocks.append(block)
        self.rows += block.rows
        self._firsts.append(self.rows)
        self._chain = xxh3_128_digest(self._chain + block.digest)

    def empty(self) -> None:
        """Forget all rows: they will come again."""
        self._pending, self._pending_bytes = [], 0
        self._blocks, self._firsts, self._chain, self.rows = [], [0], b"", 0
        self._checked.clear()
        self._file.truncate(0)
        self._file.seek(0)
        self._begin(None, complete=False)

    def mark(self) -> Mark:
        """How far it is written; what was added before is on its way to the disk."""
        self.flush()
        end = self._blocks[-1].offset + self._blocks[-1].size if self._blocks else len(_BEGIN)
        return Mark(end, self.rows, len(self._blocks), self._chain.hex())

    def sync(self) -> Mark:
        """The same, when it is safely on disk."""
        mark = self.mark()
        if mark != self._synced:
            os.fsync(self._file.fileno())
            self._synced = mark
        return mark

    def finish(self, about: dict[str, Any]) -> None:
        """No more rows will come; `about` says what they are."""
        mark = self.mark()
        text = json.dumps({"mark": mark._asdict(), "about": about}, separators=(",", ":")).encode()
        with self._writing() as grains:
            grains.write(text + len(text).to_bytes(8, "little") + xxh3_128_digest(text) + _END)
            grains.drain()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # Reading --------------------------------------------------------------------------------------------------------

    def _scan(self, end: int) -> None:
        """Find the blocks of a file that was there before."""
        size = os.fstat(self._file.fileno()).st_size
        self._file.seek(0)
        if size < end or self._file.read(len(_BEGIN)) != _BEGIN:
            raise _damaged(self.path)
        offset = len(_BEGIN)
        while offset < end:
            self._file.seek(offset)
            header = self._file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                raise _damaged(self.path)
            magic, rows, d, n_values, n_classes, dense, single, weighted, wide, digest = _HEADER.unpack(header)
            counts = (rows, d, n_values, n_classes)
            if magic != _MAGIC or min(counts) < 0 or max(counts) > size or not rows:
                raise _damaged(self.path)
            block = _Block(offset, *counts, bool(dense), bool(single), bool(weighted), bool(wide), digest)
            offset += block.size
            if offset > end or block.header(digest) != header:
                raise _damaged(self.path)
            self._append(block)

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def n_features(self) -> int:
        """Of the widest row."""
        return max((block.n_features for block in self._blocks), default=0)

    def block(self, k: int) -> RowBatch:
        """The rows of a block."""
        return next(self._mapped(k, k + 1))

    def _mapped(self, k: int, end: int) -> Iterator[RowBatch]:
        """The rows of consecutive blocks, mapped into memory as one; a hash is checked when read for the first time."""
        offset, last = self._blocks[k].offset, self._blocks[end - 1]
        begin = offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        try:
            content = self._map(begin, last.offset + last.size - begin)
        except (OSError, ValueError):
            raise _damaged(self.path) from None
        for number in range(k, end):
            yield self._rows_of(number, content, self._blocks[number].offset - begin)

    def _map(self, offset: int, size: int) -> mmap.mmap:
        file = self._file.fileno()
        if not _POPULATED:
            return mmap.mmap(file, size, access=mmap.ACCESS_READ, offset=offset)
        return mmap.mmap(file, size, flags=mmap.MAP_SHARED | _POPULATED, prot=mmap.PROT_READ, offset=offset)

    def _rows_of(self, k: int, content: mmap.mmap, skip: int) -> RowBatch:
        block = self._blocks[k]
        if k not in self._checked:
            hasher = xxh3_128(block.header(b""))
            hasher.update(memoryview(content)[skip + _HEADER.size : skip + block.size])
            if hasher.digest() != block.digest:
                raise _damaged(self.path)
            self._checked.add(k)
        found: dict[str, NDArray[Any]] = {
            name: np.frombuffer(content, kind, length, skip + offset) for name, kind, length, offset in block.arrays()
        }
        if block.dense:
            dense = found["values"].reshape(block.rows, block.n_features)
            return RowBatch(found["codes"], block.n_features, dense=dense, weights=found.get("weights"))
        sparse = Sparse(found["values"], found["columns"], found["starts"])
        return RowBatch(found["codes"], block.n_features, sparse=sparse, weights=found.get("weights"))

    def _windows(self, k: int, end: int) -> Iterator[RowBatch]:
        """The rows of consecutive blocks, however many: no more of them than a window has are mapped at a time."""
        while k < end:
            stop = k + 1
            while stop < end and self._blocks[stop].offset - self._blocks[k].offset < _WINDOW:
                stop += 1
            yield from self._mapped(k, stop)
            k = stop

    def classes_at(self, row: int) -> int:
        """How many classes were seen up to the end of the block that a row is in."""
        return self._blocks[self._block_of(row)].n_classes

    def batches(self, start: int = 0) -> Iterator[tuple[int, RowBatch]]:
        """The blocks from a row on, each with the number of its first row."""
        self.flush()
        k = self._block_of(start)
        for first, batch in zip(self._firsts[k:], self._windows(k, len(self._blocks)), strict=False):
            if first < start:
                yield start, batch.part(start - first, len(batch))
            else:
                yield first, batch

    def stretch(self, first: int, end: int) -> list[RowBatch]:
        """The rows from `first` up to `end`, as parts of their blocks."""
        k, parts = self._block_of(first), []
        stop = bisect_left(self._firsts, end, 0, len(self._blocks))
        for begin, batch in zip(self._firsts[k:], self._windows(k, stop), strict=False):
            parts.append(batch.part(max(0, first - begin), min(len(batch), end - begin)))
        return parts

    def _block_of(self, row: int) -> int:
        return max(0, bisect_right(self._firsts, row) - 1)


def _array_of(name: str, batch: RowBatch) -> NDArray[Any]:
    array = batch.sparse.columns if name == "columns" and batch.sparse is not None else getattr(batch, name)
    return np.asarray(array)


def _starts_of(batches: Sequence[RowBatch]) -> Iterator[NDArray[np.int64]]:
    """Where rows start in the values of all batches, and where the last one ends."""
    end = 0
    for batch in batches:
        assert batch.sparse is not None
        yield batch.sparse.starts[:-1].astype(np.int64) + end
        end += batch.n_values
    yield np.asarray([end])


def _alike(one: RowBatch, other: RowBatch) -> bool:
    if (one.dense is None) != (other.dense is None) or (one.weights is None) != (other.weights is None):
        return False
    return one.dense is None or one.n_features == other.n_features


def _damaged(path: str | None) -> CheckpointError:
    what = path or "the temporary file with the rows"
    return CheckpointError(f"{what} is damaged: its rows are not those that were written. Delete it and begin anew")
