"""The line that a long run draws on a terminal: how far it is, how fast, how many mistakes, how long still."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import IO, Any

_BAR = 8  # columns
_QUIET_SECONDS = 0.3  # a run that is over by then draws nothing


def _columns() -> int:
    import shutil  # only where there is a terminal

    return shutil.get_terminal_size().columns


class StatusLine:
    """A line that is drawn over the one before, and wiped at the end. Silent unless the file is a terminal."""

    def __init__(self, file: IO[str] | None = None) -> None:
        """Begin without a line."""
        self._file = sys.stderr if file is None else file
        self._drawn = 0  # columns
        self.active = self._file.isatty()

    def show(self, text: str) -> None:
        """Draw the text, as much as fits; an empty one wipes the line."""
        if not self.active or not (text or self._drawn):
            return
        text = text[: _columns() - 1]
        # Spaces and not an escape sequence, so that any terminal understands it.
        self._file.write(f"\r{text.ljust(self._drawn)}" + ("" if text else "\r"))
        self._file.flush()
        self._drawn = len(text)


class ProgressBar:
    """Draws each `Progress` it is called with over the one before. Silent unless the file is a terminal."""

    def __init__(self, file: IO[str] | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to measure the time."""
        self._line = StatusLine(file)
        self._clock = clock
        self._start = self._began = clock()
        self._before: Any = None
        self._rows: int | None = None  # of a whole pass, once there was one
        self.active = self._line.active

    def __call__(self, progress: Any) -> None:
        """Draw it."""
        now = self._clock()
        if self._before is not None and self._before.pass_ != progress.pass_:
            self._rows = max(self._rows or 0, self._before.rows)
            if self._before.pass_ == 0:  # what was read ahead says nothing about how long learning takes
                self._began = now
        self._before = progress
        if now - self._start >= _QUIET_SECONDS:
            self._line.show(line(progress, done(progress, self._rows), now - self._began, _columns() - 1))

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        self._line.show("")


def line(progress: Any, share: float | None, seconds: float, width: int) -> str:
    """The progress in one line; the bar is left out where the terminal is narrow."""
    several = f"/{progress.passes}" if progress.passes > 1 else ""
    first = f"pass {progress.pass_}{several}" if progress.pass_ > 0 else "reading"
    parts = [] if share is None else [f"{share:4.0%}"]
    parts.append(f"{counted_short(progress.rows_per_second)} rows/s")
    if progress.pass_ > 0:
        in_pass = f" ({progress.mistakes_in_pass:,} in pass)" if progress.pass_ > 1 else ""
        parts.append(f"{progress.mistakes:,} mistakes{in_pass}")
    if share and seconds >= _QUIET_SECONDS:
        parts.append(f"{duration(seconds * (1 - share) / share)} left")
    rest = "  ".join(parts)
    if share is not None and len(first) + len(rest) + _BAR + 4 <= width:
        filled = round(share * _BAR)
        first += f" [{'#' * filled}{' ' * (_BAR - filled)}]"
    return f"{first} {rest}"[: max(width, 0)]


def done(progress: Any, rows: int | None) -> float | None:
    """The share of the work that is done: of reading ahead, or of all passes; None if it cannot be known.

    In the first time through the rows the bytes tell; later the rows, of which there are so many in a pass.
    """
    if rows and progress.pass_ > 0:
        in_pass = progress.rows / rows
    elif progress.bytes_total:
        in_pass = progress.bytes_read / progress.bytes_total
    else:
        return None
    in_pass = min(in_pass, 1.0)
    share: float = in_pass if progress.pass_ == 0 else min((progress.pass_ - 1 + in_pass) / progress.passes, 1.0)
    return share


def counted_short(number: float) -> str:
    """A number in a few characters.

    >>> [counted_short(n) for n in (12, 1234, 1_234_567, 98_765_432)]
    ['12', '1.2k', '1.2M', '99M']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.1f}{letter}" if number < 10 * size else f"{number / size:.0f}{letter}"
    return f"{number:.0f}"


def duration(seconds: float) -> str:
    """A time in hours, minutes and seconds.

    >>> duration(7.2), duration(125), duration(7384)
    ('7s', '2:05', '2:03:04')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes}:{rest:02}"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
