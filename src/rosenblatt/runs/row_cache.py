"""Rows in a compact binary file, so that later passes need no parsing: blocks, each with a hash, mapped into memory.

The file: 64 bytes that say what it is; blocks (`row_blocks`); once it is complete, what is known of the rows as JSON.
The chain, a hash of all hashes so far, tells whether a cache is the one that a checkpoint knows.
"""

from __future__ import annotations

import itertools
import json
import mmap
import os
import stat
import tempfile
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray
from xxhash import xxh3_128_digest

from rosenblatt import _engine
from rosenblatt.errors import CheckpointError, InputError
from rosenblatt.runs.ahead import Ahead
from rosenblatt.runs.row_batches import RowBatch
from rosenblatt.runs.row_blocks import HEADER_SIZE, Block, Bytes, Room

_NAME = b"rosenblatt rows"
_BEGIN = b"rosenblatt rows, version 2\n".ljust(64, b"\0")
_END = b"rosenblatt rows: the end\n".ljust(32, b"\0")
_BLOCK = 3 << 20  # bytes, unpacked, after which a block is written: small ones cost calls when written, mapped and read
_A_NUMBER = 12  # bytes, with its column
_AT_ONCE = 1 << 18  # bytes written by one call: more make larger pages, which are mapped faster, where there is room
_FEW = 4  # a stretch that is so many times smaller than a block needs but some of its pages
_WINDOW = 1 << 22  # bytes that are mapped at once: a mapping costs as much as learning from some 100 kB
_POPULATED = getattr(mmap, "MAP_POPULATE", 0)  # Linux: all pages by one call instead of a fault for every few
_IN_MEMORY = 8 << 20  # bytes of packed rows that a temporary cache keeps there: a file costs more than packing them
_MAX_ABOUT = 64 << 20
_TAIL = 8 + 16 + len(_END)  # length and hash of what is known of the rows


class Mark(NamedTuple):
    """How far a cache was written."""

    size: int
    rows: int
    blocks: int
    chain: str


class RowCache:
    """Rows in a file: first written, batch after batch, then read as often as one likes.

    A cache without a path keeps its first megabytes in memory, and the rest in a temporary file in `folder`; where the
    system allows, this has no name, so that nothing is left behind even by a process that is killed.
    """

    def __init__(
        self, path: str | None = None, *, folder: str | None = None, mark: Mark | None = None, complete: bool = False
    ) -> None:
        """Make a new file, or go on with the one that `mark` tells of, or read a complete one."""
        self.path, self._place = path, path or folder or tempfile.gettempdir()
        self._blocks: list[Block] = []
        self._firsts: list[int] = [0]
        self._in_memory: list[_engine.PackedRows] = []  # the first blocks of a temporary cache
        self._bytes_in_memory = 0
        self._chain = b""
        self._packer = _engine.Packer()
        self._packed: _engine.PackedRows | None = None
        self._n_classes = 0  # that the packer has seen
        self._checked: set[int] = set()
        self._synced: Mark | None = None
        self.rows = 0
        try:
            if path is None:
                self._file: Any = tempfile.TemporaryFile("w+b", 0, prefix="rosenblatt-", suffix=".rows", dir=folder)  # noqa: SIM115 - closed by close()
            else:
                self._file = _opened(path, anew=mark is None, complete=complete)
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
        self._end = 0 if mark is None else mark.size  # of the file, when all is written
        if mark is None:
            with self._writing() as write:
                write(_BEGIN)
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
            if size == 0:
                return None
            with open(path, "rb") as file:
                if file.read(len(_BEGIN)) != _BEGIN:
                    raise _foreign(path)
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
        step = max(1, len(batch) * _BLOCK // max(1, _A_NUMBER * batch.n_values))
        for first in range(0, len(batch), step):
            part = batch if step >= len(batch) else batch.part(first, min(first + step, len(batch)))
            view, weights = part.view, part.weights
            if not self._packer.takes(view, weights is not None):
                self._close_block()
            try:
                self._packer.add(view, part.codes, weights)
            except ValueError as error:
                raise InputError(str(error)) from None
            self._n_classes = n_classes
            if self._packer.n_bytes >= _BLOCK:
                self._close_block()

    def add_packed(self, rows: _engine.PackedRows, n_classes: int) -> None:
        """The same, of rows that the engine has packed already."""
        self._close_block()
        self._write(rows, n_classes)

    def flush(self) -> None:
        """Write what is waiting to be written."""
        self._close_block()

    def _close_block(self) -> None:
        if self._packer.n_bytes:
            rows = self._packer.finish(self._packed)
            self._packed = None if self._write(rows, self._n_classes) else rows

    def _write(self, rows: _engine.PackedRows, n_classes: int) -> bool:
        """Write a block, or keep it in memory; whether it is kept there."""
        block = Block.of(rows, n_classes, self._end)
        if self.path is None and len(self._in_memory) == len(self._blocks):
            self._bytes_in_memory += block.size
            if self._bytes_in_memory <= _IN_MEMORY:
                self._in_memory.append(rows)
                self._append(block)
                return True
        block, pieces = block.pieces(rows)
        with self._writing() as write:
            for piece in pieces:
                write(piece)
        self._append(block)
        return False

    @contextmanager
    def _writing(self) -> Iterator[Callable[[Bytes], None]]:
        """What writes to the end of the file; of a disk that is full, say what was kept there and why."""

        def write(piece: Bytes) -> None:
            left = memoryview(piece)
            while left:
                written = self._file.write(left[:_AT_ONCE])
                self._end, left = self._end + written, left[written:]

        try:
            yield write
        except OSError as error:
            why = f"{error.strerror} (the rows are kept there for later passes; make room, or name another place)"
            raise OSError(error.errno, why, self._place) from None

    def _append(self, block: Block) -> None:
        self._blocks.append(block)
        self.rows += block.rows
        self._firsts.append(self.rows)
        self._chain = xxh3_128_digest(self._chain + block.digest)

    def empty(self) -> None:
        """Forget all rows: they will come again."""
        self._packer = _engine.Packer()
        self._blocks, self._firsts, self._chain, self.rows = [], [0], b"", 0
        self._in_memory, self._bytes_in_memory = [], 0
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
        with self._writing() as write:
            write(text + len(text).to_bytes(8, "little") + xxh3_128_digest(text) + _END)
        os.fsync(self._file.fileno())
        if self.path is not None:
            with suppress(CheckpointError):  # others may read it from now on, and one may have been quicker
                _lock(self._file, self.path, "shared")

    def close(self, *, needless: bool = False) -> None:
        """Close the file, and remove it if it is `needless`."""
        if needless and self.path is not None:
            with suppress(FileNotFoundError):
                os.unlink(self.path)
        self._in_memory.clear()
        if self.path is None:
            with suppress(RuntimeError):  # no thread to be had
                threading.Thread(target=self._file.close).start()  # to free its pages takes as long as to save a model
                return
        elif not self._file.closed:
            _lock(self._file, self.path, None)  # what is still mapped, as by frames of an error, would keep the lock
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
            block = Block.read(offset, self._file.read(HEADER_SIZE), size)
            if block is None or offset + block.size > end:
                raise _damaged(self.path)
            offset += block.size
            self._append(block)

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def n_features(self) -> int:
        """Of the widest row."""
        return max((block.n_features for block in self._blocks), default=0)

    def _parts(self, first: int, end: int, rooms: Callable[[], Room], *, all_pages: bool) -> Iterator[RowBatch]:
        """The rows from `first` up to `end`, block after block; no more than a window of them is mapped at a time."""
        k = self._block_of(first)
        windows: deque[mmap.mmap] = deque(maxlen=2)  # unmapped here, not by whoever learns from the last of their rows
        while k < len(self._blocks) and self._firsts[k] < end:
            if k < len(self._in_memory):
                yield self._part(k, self._in_memory[k].arrays, first, end, rooms())
                k += 1
                continue
            stop = k + 1
            while (
                stop < len(self._blocks)
                and self._firsts[stop] < end
                and self._blocks[stop].offset - self._blocks[k].offset < _WINDOW
            ):
                stop += 1
            content, begin = self._window(k, stop, all_pages=all_pages)
            windows.append(content)
            for number in range(k, stop):
                block, skip = self._blocks[number], self._blocks[number].offset - begin
                if number not in self._checked:
                    if not block.is_whole(content, skip):
                        raise _damaged(self.path)
                    self._checked.add(number)
                yield self._part(number, block.arrays(content, skip), first, end, rooms())
            k = stop

    def _part(self, number: int, arrays: list[NDArray[Any]], first: int, end: int, room: Room) -> RowBatch:
        """What a block has of the rows from `first` up to `end`."""
        block, here = self._blocks[number], self._firsts[number]
        return block.batch(arrays, max(0, first - here), min(block.rows, end - here), room)

    def _window(self, k: int, stop: int, *, all_pages: bool) -> tuple[mmap.mmap, int]:
        """Consecutive blocks, mapped into memory as one, and where in the file that begins."""
        last = self._blocks[stop - 1]
        begin = self._blocks[k].offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        try:
            return self._map(begin, last.offset + last.size - begin, all_pages=all_pages), begin
        except (OSError, ValueError):
            raise _damaged(self.path) from None

    def _map(self, offset: int, size: int, *, all_pages: bool) -> mmap.mmap:
        file = self._file.fileno()
        if not (all_pages and _POPULATED):
            return mmap.mmap(file, size, access=mmap.ACCESS_READ, offset=offset)
        return mmap.mmap(file, size, flags=mmap.MAP_SHARED | _POPULATED, prot=mmap.PROT_READ, offset=offset)

    def classes_at(self, row: int) -> int:
        """How many classes were seen up to the end of the block that a row is in."""
        return self._blocks[self._block_of(row)].n_classes

    def batches(self, start: int = 0) -> Iterator[tuple[int, RowBatch]]:
        """The blocks from a row on, each with the number of its first row; the next one takes its memory."""
        self.flush()
        rooms = itertools.cycle([Room() for _ in range(3)])  # of the batch in use, the one that waits, the next one
        with closing(Ahead(self._parts(start, self.rows, lambda: next(rooms), all_pages=True))) as batches:
            for batch in batches:
                yield start, batch
                start += len(batch)

    def stretch(self, first: int, end: int) -> Iterator[RowBatch]:
        """The rows from `first` up to `end`, as parts of their blocks, each in memory of its own."""
        few = (end - first) * _FEW < self.rows // max(1, len(self._blocks))
        return self._parts(first, end, Room, all_pages=not few)

    def _block_of(self, row: int) -> int:
        return max(0, bisect_right(self._firsts, row) - 1)


def remove_left_over(path: str) -> None:
    """Remove a cache that a run has left which was killed; what is none, or is in use, stays."""
    with suppress(OSError, CheckpointError), _opened(path, anew=False, complete=False) as file:
        if file.read(len(_NAME)) == _NAME:
            os.unlink(path)


def _opened(path: str, *, anew: bool, complete: bool) -> Any:
    """The file of a cache, which no other run may write to meanwhile, and which must be one if it is there."""
    file = _locked(path, anew=anew, complete=complete)
    while not _is_there(file, path):  # another run has removed it before it was locked
        file.close()
        file = _locked(path, anew=anew, complete=complete)
    return file


def _is_there(file: Any, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _locked(path: str, *, anew: bool, complete: bool) -> Any:
    if complete:
        file = open(path, "rb", 0)  # noqa: SIM115
    else:
        flags = os.O_RDWR | (os.O_CREAT if anew else 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        file = open(os.open(path, flags, 0o666), "r+b", 0)  # noqa: SIM115
    try:
        _lock(file, path, "shared" if complete else "alone")
        if anew and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            first = file.read(len(_BEGIN))
            if first and not first.startswith(_NAME):
                raise _foreign(path)
            file.seek(0)
            file.truncate()
    except BaseException:
        file.close()
        raise
    return file


def _lock(file: Any, path: str, how: Literal["alone", "shared"] | None) -> None:
    """Keep other runs from truncating a file that this one has mapped: that ends a process, not with an error."""
    try:
        import fcntl
    except ImportError:  # Windows, where a file in use cannot be truncated
        return
    try:
        kind = {"alone": fcntl.LOCK_EX, "shared": fcntl.LOCK_SH, None: fcntl.LOCK_UN}[how]
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        why = "another run is using it: wait for its end, or name another file"
        raise CheckpointError(f"{path} cannot be used as a cache of rows now, because {why}") from None
    except OSError:
        return  # a file system that knows no locks


def _foreign(path: str) -> CheckpointError:
    return CheckpointError(f"{path} is not a cache of rows: name another file, or delete it")


def _damaged(path: str | None) -> CheckpointError:
    what = path or "the temporary file with the rows"
    return CheckpointError(
        f"{what} is damaged: its rows are not those that were written. Delete it, and "
        "the checkpoint if it stands beside one, to begin anew"
    )
