"""Appending to a file in whole grains of 2 MB, the size in which a system can keep, and map, a file at once.

A file that is written in such grains is mapped in a twentieth of the time (Linux, ext4), and nothing is copied for it:
what does not fill a grain waits, and must stay as it is.
"""

from __future__ import annotations

import os
from collections import deque
from typing import Any

GRAIN = 1 << 21
_MOST_PIECES = 512  # of one call: systems allow 1,024 and more


class WholeGrains:
    """Writes to a file without a buffer, from a place on; `end` is where it will end when all is written."""

    def __init__(self, file: Any, end: int) -> None:
        self._file, self.end, self._written = file, end, end
        self._waiting: deque[memoryview] = deque()

    def write(self, *pieces: bytes | memoryview) -> None:
        """Append these; what lies behind the last whole grain waits."""
        views = [memoryview(piece) for piece in pieces if len(piece)]
        self._waiting += views
        self.end += sum(view.nbytes for view in views)
        self._write_up_to(self.end // GRAIN * GRAIN)

    def drain(self) -> None:
        """Write what waits."""
        self._write_up_to(self.end)

    def _write_up_to(self, place: int) -> None:
        while self._written < place:
            self._written += self._write_some(place - self._written)

    def _write_some(self, most: int) -> int:
        """Write by one call of the system, as much as it takes; how much that was."""
        pieces: list[memoryview] = []
        left = most
        while left and len(pieces) < min(_MOST_PIECES, len(self._waiting)):
            pieces.append(self._waiting[len(pieces)][:left])
            left -= pieces[-1].nbytes
        written = os.writev(self._file.fileno(), pieces) if hasattr(os, "writev") else int(self._file.write(pieces[0]))
        gone = written
        while gone:
            piece = self._waiting.popleft()
            if gone < piece.nbytes:
                self._waiting.appendleft(piece[gone:])
                break
            gone -= piece.nbytes
        return written
