"""Ctrl-C as something to look at between two batches, so that weights, counts and files stay in step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from typing import TypeVar

T = TypeVar("T")


class Interrupts:
    """Notes Ctrl-C while it is entered, for the run to raise it where it can bear it.

    In a thread other than the main one, or where somebody else handles the signal, nothing changes.

    Attributes
    ----------
    error : KeyboardInterrupt or None
        Ctrl-C, once it came.
    """

    error: KeyboardInterrupt | None = None
    _heard = _held = False

    def __enter__(self) -> Interrupts:
        in_main = threading.current_thread() is threading.main_thread()
        self._held = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._held:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        if self._held:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, *_: object) -> None:
        self.error = KeyboardInterrupt()
        if self._heard:
            raise self.error

    def next_of(self, things: Iterator[T]) -> T | None:
        """The next thing, or None. Here Ctrl-C is raised at once: what is waited for may never come."""
        self._heard = True
        try:
            self.raise_noted()
            return next(things, None)
        finally:
            self._heard = False

    def raise_noted(self) -> None:
        """Raise it if it came."""
        if self.error is not None:
            raise self.error
