"""Output that is compressed as its name asks for: .gz, .xz or .zst."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from rosenblatt.commands.output_files import written
from rosenblatt.errors import missing_extra


@contextmanager
def opened_output(path: str | None) -> Iterator[IO[bytes]]:
    """A file to write to, as `output_files.written` has it, compressed if its name says so."""
    from rosenblatt.reading.sources import SUFFIXES

    compression = "none" if path is None else SUFFIXES.get(os.path.splitext(path.lower())[1], "none")
    with written(path) as file, _compressed(file, compression) as packed:
        yield packed


@contextmanager
def _compressed(file: IO[bytes], compression: str) -> Iterator[IO[bytes]]:
    """A file whose bytes arrive in `file` compressed; the same bytes in, the same bytes out, whatever the time is."""
    if compression == "none":
        yield file
        return
    packed = _packer(file, compression)
    yield packed
    packed.close()


def _packer(file: IO[bytes], compression: str) -> Any:
    if compression == "gzip":
        import gzip

        return gzip.GzipFile("", "wb", 6, file, mtime=0)
    if compression == "xz":
        import lzma

        return lzma.LZMAFile(file, "wb")
    if sys.version_info >= (3, 14):
        from compression import zstd

        return zstd.ZstdFile(file, "wb")
    try:
        import zstandard
    except ImportError:
        raise missing_extra("zstd", "zstandard") from None
    return zstandard.ZstdCompressor().stream_writer(file, closefd=False)
