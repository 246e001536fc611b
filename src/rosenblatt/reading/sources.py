"""Where bytes come from: files, standard input, compressed or not, one or several, always in constant memory.

A plain file is handed to the engine as a descriptor, which it reads by itself; everything else is a function that
gives the next bytes. What a file is compressed with is seen from its first bytes, not from its name.
"""

from __future__ import annotations

import glob
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

from rosenblatt.errors import FileFormatError, InputError, missing_extra

PathLike: TypeAlias = str | os.PathLike[str]

HEAD = 1 << 18  # bytes that are looked at to find out what a file is
STANDARD_INPUT = "-"
REJECTED = ".rejected"  # ends the name of the file with the bad lines of another
SUFFIXES = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd", ".xz": "xz"}

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\x00": "xz"}
_FOREIGN = {b"BZh": "bzip2", b"PK\x03\x04": "zip", b"\x04\x22\x4d\x18": "lz4", b"7z\xbc\xaf": "7-Zip"}
_UNPACKS = {"bzip2": "bzcat", "zip": "unzip -p", "lz4": "lz4cat", "7-Zip": "7z x -so"}
_FEW = 6  # bytes that tell a compression
_ENDS = 1 << 16  # bytes of each end of a file that tell it from others
_SKIP = 1 << 20  # bytes read over at a time
_PACKED = (
    1 << 9
)  # bytes unpacked at once by zstandard, which sets no limit to what they become: up to 32,000 times as many
_PAUSE = 3  # milliseconds without a byte after which a pipe has no more for now: whoever fills it takes less
_POLL = 100  # milliseconds between two looks at whether anybody still waits for standard input


def expand(path: PathLike | Iterable[PathLike]) -> list[str]:
    """The files that a path, a pattern or a list of these means, patterns in sorted order.

    >>> expand(["-"])
    ['-']
    """
    if isinstance(path, (str, os.PathLike)):
        return _expand_one(os.fspath(path))
    if not isinstance(path, Iterable):
        raise TypeError(f"a path must be a string, a path or a list of these, got {type(path).__name__}")
    files = [file for one in path for file in _expand_one(os.fspath(one))]
    if not files:
        raise InputError("there is no file to read: the list of paths is empty")
    for file in files:
        if file.endswith(REJECTED) and file.removesuffix(REJECTED) in files:
            raise InputError(f"{file} has the bad lines of {file.removesuffix(REJECTED)}: leave one of the two out")
    if files.count(STANDARD_INPUT) > 1:
        raise InputError("standard input ('-') can be read only once")
    return files


def _expand_one(path: str) -> list[str]:
    if not isinstance(path, str):
        raise InputError(f"a path must be a string, got {path!r:.80}")
    if path == STANDARD_INPUT or not glob.has_magic(path) or os.path.exists(path):
        return [path]
    found = sorted(file for file in glob.glob(path, recursive=True) if not os.path.isdir(file))
    if not path.endswith(REJECTED):  # what an earlier run put beside the data is no data
        found = [file for file in found if not file.endswith(REJECTED)]
    if not found:
        raise InputError(f"no file matches {path!r} (in {os.getcwd()})")
    return found


class Source:
    """One file, open: its first bytes, and then all of it."""

    def __init__(self, path: str, compression: str | None = None, *, patient: bool = True) -> None:
        """Open the file, and look at its first bytes to see what it is.

        A pipe is waited for until it has given so many; only as long as the first few take, if `patient` is false.
        """
        self.path = path
        self.is_input = path == STANDARD_INPUT
        self.name = "standard input" if self.is_input else path
        self.opened: Any = None  # what a reader of tables made of it
        self._whole: Any = None  # what open_whole opened
        self._closed = False
        self._descriptor = _open(path)
        status = os.fstat(self._descriptor)
        self.regular = stat.S_ISREG(status.st_mode)
        self.size = status.st_size if self.regular else None
        self.rewindable = self.regular and not self.is_input
        self._origin = os.lseek(self._descriptor, 0, os.SEEK_CUR) if self.regular else 0
        self._raw = _Raw(self)
        self._file: Any = self._raw
        try:
            self._look(compression, HEAD if patient or self.regular else _FEW)
        except BaseException:
            self.close()
            raise

    def _look(self, compression: str | None, look: int) -> None:
        """See how the file is compressed, and keep its first bytes."""
        first = self._raw.look(look if compression in (None, "none") else 0)
        self.compression = compression or _compression_of(first, self.name)
        self.head, self._ahead = first, b""
        if self.compression != "none":
            self._file = self._unpacked()
            self.head = self._ahead = self.read(look)

    @property
    def plain(self) -> bool:
        """Whether the engine reads it by itself, and from the beginning again if it must."""
        return self.rewindable and self.compression == "none"

    def feed(self, offset: int = 0) -> int | Callable[[int], bytes]:
        """All bytes from an offset (of the unpacked bytes) on: a descriptor that stands there, or a function."""
        if self.compression == "none" and self.regular:
            os.lseek(self._descriptor, self._origin + offset, os.SEEK_SET)
            self._raw.handed_over = True
            return self._descriptor
        self._skip(offset)
        return self.read

    def read(self, count: int) -> bytes:
        """The next `count` unpacked bytes; fewer at the end, or where a pipe has no more for now; none at the end."""
        parts: list[bytes] = []
        while count > 0 and not (parts and self._pauses()) and (part := self._next(count)):
            parts.append(part)
            count -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _pauses(self) -> bool:
        return self.compression == "none" and self._raw.pauses()

    def _next(self, count: int) -> bytes:
        if self._ahead:
            first, self._ahead = self._ahead[:count], self._ahead[count:]
            return first
        try:
            return bytes(self._file.read(count))
        except Exception as error:
            raise self._damage(error) from None

    def _damage(self, error: Exception) -> Exception:
        if isinstance(error, OSError) and error.errno is not None:
            return InputError(f"{self.name} cannot be read: {error.strerror}")
        if isinstance(error, EOFError):
            what = f"the {self.compression} data end too early: the file was cut short. Copy it again"
        else:
            what = f"the {self.compression} data are damaged ({error}). Copy or download the file again"
        return FileFormatError(f"{self.name}: {what}", self.path)

    def _skip(self, offset: int) -> None:
        while offset > 0:
            got = len(self.read(min(offset, _SKIP)))
            if not got:
                raise FileFormatError(f"{self.name} is shorter than it was when it was read before", self.path)
            offset -= got

    def _unpacked(self) -> Any:
        if self.compression == "gzip":
            import gzip

            return gzip.GzipFile(fileobj=io.BufferedReader(self._raw, _SKIP))
        if self.compression == "xz":
            import lzma

            return lzma.LZMAFile(io.BufferedReader(self._raw, _SKIP))
        return _zstd_reader(self._raw)

    def bytes_read(self) -> int:
        """How many bytes of the file on disk were read so far."""
        if self._closed:
            return self._raw.count if self.size is None else self.size
        if self._whole is not None and self.compression == "none":
            return int(self._whole.tell())
        if self._raw.handed_over:
            return os.lseek(self._descriptor, 0, os.SEEK_CUR) - self._origin
        return self._raw.count

    def open_whole(self) -> Any:
        """A file object that can be sought: the file itself, or a copy of its unpacked bytes that goes with it."""
        if self.compression == "none" and self.rewindable:
            self._whole = open(self.path, "rb")  # noqa: SIM115 - closed with the source
            return self._whole
        import tempfile

        self._whole = tempfile.TemporaryFile()  # noqa: SIM115
        while data := self.read(_SKIP):
            self._whole.write(data)
        self._whole.seek(0)
        return self._whole

    def stop(self) -> None:
        """Make a read that waits for standard input give up."""
        self._raw.stopped = True

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self.stop()
        if self._whole is not None:
            self._whole.close()
        if not self._closed and not self.is_input:
            os.close(self._descriptor)
        self._closed = True


class _Raw(io.RawIOBase):
    """The bytes of a descriptor as they are, counted; what was looked at ahead comes first."""

    def __init__(self, source: Source) -> None:
        self.descriptor, self.regular = source._descriptor, source.regular
        self.ahead, self.count = b"", 0
        self.stopped = self.handed_over = False

    def readable(self) -> bool:
        return True

    def look(self, count: int) -> bytes:
        """The first bytes, which are read again later: as many as asked for, or all there are."""
        parts: list[bytes] = []
        while count > 0 and (part := self._next(count)):
            parts.append(part)
            count -= len(part)
        self.ahead = b"".join(parts)
        return self.ahead

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        got = self.read(len(room))
        room[: len(got)] = got
        return len(got)

    def read(self, count: int = -1) -> bytes:
        if self.ahead:
            got, self.ahead = self.ahead[:count], self.ahead[count:]
        else:
            got = self._next(count)
        self.count += len(got)
        return got

    def _next(self, count: int) -> bytes:
        while not self.stopped and self._waits(_POLL):
            pass
        return b"" if self.stopped else os.read(self.descriptor, count)

    def pauses(self) -> bool:
        """Whether a pipe is empty for now."""
        return not self.ahead and self._waits(_PAUSE)

    def _waits(self, milliseconds: int) -> bool:
        """Whether a pipe has nothing for so long."""
        if self.regular or not hasattr(select, "poll"):
            return False
        ready = select.poll()
        ready.register(self.descriptor, select.POLLIN)
        return not ready.poll(milliseconds)


def _open(path: str) -> int:
    if path == STANDARD_INPUT:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.setmode(0, os.O_BINARY)
        return 0
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise InputError(f"there is no file {path!r} (in {os.getcwd()})") from None
    except IsADirectoryError:
        raise _is_directory(path) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _is_directory(path)
    return descriptor


def _is_directory(path: str) -> InputError:
    return InputError(f"{path} is a directory: name the files in it, for example {os.path.join(path, '*.csv')!r}")


def _compression_of(first: bytes, name: str) -> str:
    for magic, foreign in _FOREIGN.items():
        if first.startswith(magic):
            raise FileFormatError(
                f"{name} is packed with {foreign}, which is not read here: unpack it first, or on the way, "
                f"as in {_UNPACKS[foreign]} FILE | rosenblatt train - -o MODEL",
                name,
            )
    return next((known for magic, known in _MAGIC.items() if first.startswith(magic)), "none")


def _zstd_reader(raw: io.RawIOBase) -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(io.BufferedReader(raw, _SKIP))
    try:
        import zstandard
    except ImportError:
        raise missing_extra("zstd", "zstandard") from None
    return _Frames(zstandard.ZstdDecompressor(), io.BufferedReader(raw, _SKIP))


class _Frames:
    """What zstandard unpacks, frame after frame. Its own reader does not tell a file that was cut short."""

    def __init__(self, decompressor: Any, packed: io.BufferedReader) -> None:
        self.decompressor, self.packed = decompressor, packed
        self.frame: Any = None
        self.unpacked, self.place = b"", 0  # what was unpacked, and how much of it was read

    def read(self, count: int) -> bytes:
        while self.place == len(self.unpacked):
            parts: list[bytes] = []
            data = self.packed.read(_PACKED)
            if not data and self.frame is not None:
                raise EOFError
            if not data:
                return b""
            while data:
                self.frame = self.frame or self.decompressor.decompressobj()
                parts.append(self.frame.decompress(data))
                data = self.frame.unused_data if self.frame.eof else b""
                if self.frame.eof:
                    self.frame = None
            self.unpacked, self.place = b"".join(parts), 0
        got = self.unpacked[self.place : self.place + count]
        self.place += len(got)
        return got


def fingerprint(files: Iterable[str]) -> str:
    """What tells these files from others: name, size and time of change of each, and the bytes at both ends."""
    import hashlib

    total = hashlib.blake2b(digest_size=16)
    for file in files:
        total.update(os.path.basename(file).encode(errors="surrogateescape") + b"\0")
        if file == STANDARD_INPUT:
            continue
        with suppress(OSError), open(file, "rb") as opened:
            status = os.fstat(opened.fileno())
            size = status.st_size
            total.update(f"{size}\0{status.st_mtime_ns}\0".encode() + opened.read(_ENDS))
            opened.seek(max(0, size - _ENDS))
            total.update(opened.read(_ENDS))
    return total.hexdigest()
