"""Files that a command writes: never over its input, known to be writable before any work, and whole or not at all."""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

import click

from rosenblatt.reading.sources import REJECTED

STANDARD_OUTPUT = "-"
_PROBE = 1 << 16  # bytes: an empty file is written to a full disk, too


def require_writable(path: str | None, inputs: Iterable[str], option: str = "-o", *, device: bool = True) -> None:
    """Raise unless the file can be written, and is none of the inputs; whether it may be a device, `device` says."""
    if path == STANDARD_OUTPUT and not device:
        raise click.UsageError(f"{option} {path}: this cannot go to standard output: name a file")
    if path is None or path == STANDARD_OUTPUT:
        return
    for source in _files(inputs):
        if _same(path, source):
            raise click.UsageError(f"{option} {path} is also an input, and would be written over: name another file")
        if _same(path, f"{source}{REJECTED}"):
            raise click.UsageError(f"{option} {path} is where bad lines of {source} are kept: name another file")
    if _is_device(path):
        if not device:
            raise OSError(errno.EINVAL, "this is a device or a pipe; name an ordinary file", path)
        return
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "this is a directory; name a file in it", path)
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"there is no directory {folder}: make it first (mkdir -p)", path)
    if os.path.exists(path) and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is there and is read-only", path)
    descriptor, name = _temporary(path)
    try:
        os.write(descriptor, bytes(_PROBE))
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        os.close(descriptor)
        os.unlink(name)


@contextmanager
def written(path: str | None) -> Iterator[IO[bytes]]:
    """A file to write to. It gets its name when all is written; after an error the old one, if any, is as it was.

    Standard output for None or "-"; a device or a pipe is written to directly.
    """
    if path is None or path == STANDARD_OUTPUT:
        stream: Any = sys.stdout
        with _named("standard output"):
            stream.flush()
            yield stream.buffer
            stream.buffer.flush()
        return
    if _is_device(path):
        with _named(path), open(path, "wb") as file:
            yield file
        return
    with _named(path):
        yield from _whole_or_not_at_all(path)


@contextmanager
def _named(path: str) -> Iterator[None]:
    """What cannot be written has a name."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None and not isinstance(error, BrokenPipeError):
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _whole_or_not_at_all(path: str) -> Iterator[IO[bytes]]:
    descriptor, name = _temporary(path)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.chmod(name, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(name, os.path.realpath(path))
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _temporary(path: str) -> tuple[int, str]:
    """A new file beside the one that it is to become."""
    name = os.path.join(os.path.dirname(os.path.realpath(path)), f".rosenblatt-{os.urandom(8).hex()}.tmp")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    try:
        return os.open(name, flags, 0o666), name  # less the umask
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} (you must be allowed to write in its directory)", path) from None


def _files(inputs: Iterable[str]) -> Iterator[str]:
    for source in inputs:
        if source != STANDARD_OUTPUT:
            yield source
            yield from glob.iglob(source, recursive=True)


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other) and not _is_device(one)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _is_device(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
