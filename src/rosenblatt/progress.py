"""A progress bar for long runs, on standard error and only on a terminal that can show one."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any


class PassProgress:
    """Passes done of those allowed, with the mistakes made so far. The engine calls `tick` many times a second."""

    def __init__(self, max_passes: int, mistakes: Callable[[], int]) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._mistakes = mistakes
        self._console = Console(stderr=True)
        self._bar: Any = Progress(
            TextColumn("pass {task.completed:.0f} of {task.total:.0f}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=False,
        )
        self._task = self._bar.add_task("", total=max_passes, note="")

    def __enter__(self) -> PassProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def tick(self) -> None:
        """In the middle of a pass."""
        self._bar.update(self._task, note=f"{self._mistakes():,} mistakes")

    def end_of_pass(self, mistakes: int) -> None:
        """A pass is over."""
        note = f"{mistakes:,} mistakes in this pass, {self._mistakes():,} in all"
        self._bar.update(self._task, advance=1, note=note)
