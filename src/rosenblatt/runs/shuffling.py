"""Shuffled passes over a cache of any size, in constant memory.

The order of a pass is a function of (seed, pass, rows in the buffer, rows in all) alone. If the buffer has room for
all rows, it is the order of ``fit(shuffle=True)``. Otherwise the rows are cut into blocks of `rows in the buffer // 64`
rows; the blocks are shuffled, 64 of them at a time fill the buffer, and the rows of the buffer are shuffled. So a file
that is sorted by label is mixed: each buffer has blocks from all over it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.inputs import IntArray
from rosenblatt.runs.row_batches import RowBatch, joined

if TYPE_CHECKING:
    from rosenblatt.runs.row_cache import RowCache

_BLOCKS = 64  # in a buffer
_PIECE = 1 << 14  # rows learned between two looks at Ctrl-C


@dataclass(frozen=True)
class Piece:
    """Some visits of a shuffled pass: rows of a buffer, in the order in which they are visited."""

    batch: RowBatch
    ids: IntArray | None  # None: as they stand
    numbers: IntArray | None  # of the rows of the batch, in the cache

    @property
    def visits(self) -> int:
        """How many rows are visited."""
        return len(self.batch) if self.ids is None else len(self.ids)


class Shuffle:
    """Shuffled passes over the rows of a cache."""

    def __init__(self, cache: RowCache, buffer: int, seed: int, n_features: int) -> None:
        self.cache, self.buffer, self.seed, self.n_features = cache, buffer, seed, n_features
        self._whole: RowBatch | None = None

    def pieces(self, pass_: int, done: int) -> Iterator[Piece]:
        """The visits of a pass, without the first `done` of them."""
        n = self.cache.rows
        first = 0
        for number, stretches in enumerate(groups(self.seed, pass_, n, self.buffer)):
            count = sum(end - begin for begin, end in stretches)
            if first + count > done:
                batch = self._buffer(stretches)
                ids = row_order(self.seed, pass_, number, count, whole=n <= self.buffer)
                numbers = np.concatenate([np.arange(*stretch) for stretch in stretches])
                for at in range(max(0, done - first), count, _PIECE):
                    yield Piece(batch, ids[at : at + _PIECE], numbers)
                del batch  # before the next one is made: they are large
            first += count

    def _buffer(self, stretches: list[tuple[int, int]]) -> RowBatch:
        if self._whole is not None:
            return self._whole
        parts = [part for stretch in stretches for part in self.cache.stretch(*stretch)]
        if len({part.dense is None for part in parts}) > 1:
            raise InputError("dense and sparse batches cannot be shuffled together: give all batches in one form")
        batch = joined(parts).as_wide_as(self.n_features)
        if len(stretches) == 1 and stretches[0] == (0, self.cache.rows):
            self._whole = batch  # all rows: kept for the next pass
        return batch


def groups(seed: int, pass_: int, n: int, buffer: int) -> Iterator[list[tuple[int, int]]]:
    """The stretches of rows that fill the buffer, time after time."""
    if n <= buffer:
        yield [(0, n)]
        return
    size = max(1, buffer // _BLOCKS)
    order = _engine.order(seed, pass_, -(-n // size)).tolist()
    for first in range(0, len(order), _BLOCKS):
        yield [(block * size, min((block + 1) * size, n)) for block in order[first : first + _BLOCKS]]


def row_order(seed: int, pass_: int, group: int, count: int, *, whole: bool) -> IntArray:
    """The order of the rows in the buffer."""
    return _engine.order(seed if whole else mixed(seed, group), pass_, count)


def mixed(seed: int, number: int) -> int:
    """Another seed for each number (splitmix64)."""
    mask = (1 << 64) - 1
    z = (seed + 0x9E3779B97F4A7C15 * (number + 1)) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)
