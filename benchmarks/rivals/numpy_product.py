"""One ``X @ w`` of numpy on one thread: all rows read once, and no more done than a score needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Data
from benchmarks.timing import Call


def product(data: Data) -> Call:
    """The product in the rows' own type."""
    w = data.w.astype(data.X.dtype)
    out = np.empty(len(data.X), data.X.dtype)
    return lambda: np.dot(data.X, w, out=out)


def same_signs(data: Data, labels: NDArray[np.int64]) -> str:
    """The product's signs must be the labels, except where a score is within float32 rounding of 0."""
    scores = product(data)()
    other = np.flatnonzero((scores > 0) != (labels > 0))
    assert (np.abs(scores[other]) < 1e-4).all(), "X @ w gives other signs"
    return f"signs equal ({len(other)} scores within float32 rounding of 0)" if len(other) else "signs equal"
