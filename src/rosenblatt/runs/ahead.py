"""The next item of an iterator while the last one is in use: a thread that reads rows while others are learned from."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """An iterator that takes one item ahead of the one that was asked for, in a thread of its own."""

    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self._found: SimpleQueue[T | BaseException] = SimpleQueue()
        self._room = threading.Semaphore(1)
        self._closed = False
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        item = self._found.get()
        self._room.release()
        if isinstance(item, BaseException):
            self._found.put(item)  # for whoever asks again: the thread is over
            raise item
        return item

    def close(self) -> None:
        """End the thread, and the iterator."""
        self._closed = True
        self._room.release()
        self._thread.join()

    def _take(self) -> None:
        try:
            for item in self._items:
                self._room.acquire()
                if self._closed:
                    return
                self._found.put(item)
            self._found.put(StopIteration())
        except BaseException as error:
            self._found.put(error)
