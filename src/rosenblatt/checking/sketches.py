"""A few of the rows that something was proved of, kept beside the proof, so that a notebook can draw it.

A seeded choice, the same of the same data in every run: a picture is no place for chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.inputs import IntArray

_ROWS = 300
_NUMBERS = 100_000  # of all rows that are kept together
_OF_A_CLASS = 40  # rows of a rare class that are chosen at least, if it has them
_MOST_ALWAYS = 300  # of the rows that must be among those chosen: a margin may rest on thousands


@dataclass(frozen=True)
class Sketch:
    """Some rows, by their numbers."""

    X: Any  # dense or CSR, copies
    signs: NDArray[np.int8]
    rows: IntArray
    counts: tuple[int, int]  # of all rows: negative, positive
    feature_names: Sequence[str] | None = None


def sketch(rows: inputs.Rows, sides: NDArray[np.int8], always: IntArray) -> Sketch | None:
    """Some rows of both sides, with `always` among them; None if they would need much memory."""
    n, d = rows.shape
    wide = d if rows.sparse is None else max(1, round(rows.sparse.nnz / n))
    if len(always) > _MOST_ALWAYS or len(always) * wide > 4 * _NUMBERS:
        return None
    limit = max(30, min(_ROWS, _NUMBERS // wide))
    counts = int(np.count_nonzero(sides < 0)), int(np.count_nonzero(sides > 0))
    codes = (sides + 1) // 2 if sum(counts) == n else np.where(sides > 0, 1, 0)
    chosen = choose(codes, 2, always.tolist(), limit)
    chosen = chosen[sides[chosen] != 0]
    return Sketch(rows.take(chosen), sides[chosen].copy(), chosen, counts, rows.feature_names)


def choose(codes: NDArray[Any], n_classes: int, always: Iterable[int], limit: int) -> IntArray:
    """Row numbers, ascending: `always`, and a seeded choice of the others, some of each class."""
    n = len(codes)
    if n <= limit:
        return np.arange(n)
    generator = np.random.default_rng(0)
    chosen = [np.asarray(list(always), np.int64)[:_MOST_ALWAYS], generator.choice(n, limit, replace=False)]
    found = np.bincount(codes[chosen[1]], minlength=n_classes)
    least = min(_OF_A_CLASS, max(1, limit // (4 * n_classes)))
    for number in np.flatnonzero(found < least).tolist():
        own = np.flatnonzero(codes == number)
        chosen.append(own if len(own) <= least else generator.choice(own, least, replace=False))
    return np.unique(np.concatenate(chosen))
