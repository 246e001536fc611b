"""Lines that could not be read, kept beside the data, each once, however often a run is interrupted and goes on."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import suppress

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.reading.sources import REJECTED, STANDARD_INPUT

_TITLE = b"line\tcolumn\tfound\texpected\ttext\n"


def rejected_path(path: str) -> str:
    """Where the rejected lines of a file are kept."""
    return f"{'stdin' if path == STANDARD_INPUT else path}{REJECTED}"


class RejectedLines:
    """``FILE.rejected``: a line of tab-separated text for each line that could not be read, in order.

    The number of the line comes first, so that a run which goes on from an earlier place removes what it will meet
    again. It is there only if a line was rejected.
    """

    def __init__(self, path: str) -> None:
        """Say of which file."""
        self.path = rejected_path(path)

    def require_room(self) -> None:
        """Find out before a long run whether bad lines can be kept."""
        place = self.path if os.path.exists(self.path) else os.path.dirname(os.path.abspath(self.path))
        if not os.access(place, os.W_OK):
            raise self._cannot(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))

    def begin(self, line: int = 0) -> int:
        """Forget what was rejected behind a line; how many were rejected before."""
        try:
            with open(self.path, "rb") as file:
                kept = [entry for entry in file if entry != _TITLE and _line_of(entry) <= line]
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise self._cannot(error) from None
        if not kept:
            with suppress(FileNotFoundError):
                os.unlink(self.path)
            return 0
        beside = f"{self.path}.new"
        try:
            with open(beside, "wb") as file:
                file.writelines([_TITLE, *kept])
            os.replace(beside, self.path)
        except OSError as error:
            raise self._cannot(error) from None
        return len(kept)

    def add(self, faults: Iterable[_engine.Fault]) -> None:
        """Write down some more."""
        try:
            with open(self.path, "ab") as file:
                if file.tell() == 0:
                    file.write(_TITLE)
                file.writelines(_entry(fault) for fault in faults)
        except OSError as error:
            raise self._cannot(error) from None

    def _cannot(self, error: OSError) -> InputError:
        return InputError(
            f"{self.path}, where the bad lines are kept, cannot be written: {error.strerror}. "
            "Copy the data to a folder where you may write, or mend the lines"
        )


def _entry(fault: _engine.Fault) -> bytes:
    line, column, text, found, expected = fault
    found, text = (part.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r") for part in (found, text))
    return b"%d\t%d\t%s\t%s\t%s\n" % (line, column, found.replace(b"\t", b"\\t"), expected.encode(), text)


def _line_of(entry: bytes) -> int:
    """The number of the line; one that a crash cut short counts as behind all."""
    number = entry.partition(b"\t")[0]
    return int(number) if number.isdigit() and entry.endswith(b"\n") else 1 << 62
