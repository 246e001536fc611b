"""A question of separability, the best candidates for its two certificates so far, and what suppliers share."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.inputs import Codes, FloatArray, IntArray, Rows

ZERO = 1e-13  # |Σ λ_i y_i x_i| counts as 0 at this multiple of Σ λ_i |x_i|


@dataclass(frozen=True)
class Supply:
    """A candidate for either certificate: a hyperplane that may separate, weights that may prove that none does."""

    w: FloatArray | None  # the normal; None if there is no candidate
    b: float  # the offset that balances the two classes; 0 without an intercept
    rows: IntArray  # the rows with a positive weight
    weights: FloatArray  # their weights: each class sums to 1, or all together without an intercept
    lower: float  # min_i y_i (w·x_i + b) / |w|, negative when it does not separate
    upper: float  # no margin is larger
    collapsed: bool  # upper is 0 to working accuracy: rows and weights are a candidate witness
    scans: int  # how often all rows were scored

    @property
    def gap(self) -> float:
        """How far the bounds are apart, as a part of the upper one."""
        return 1.0 if not self.lower > 0 else max(0.0, 1.0 - self.lower / self.upper)


@dataclass
class Task:
    """The question, and the best answers so far."""

    rows: Rows
    codes: Codes  # 1 for the label +1
    intercept: bool
    gap: float
    deadline: float | None
    threads: int
    first_separator: bool
    seed: int

    def __post_init__(self) -> None:
        self.k = 2 if self.intercept else 1
        self.classes: Codes = self.codes if self.intercept else np.zeros_like(self.codes)
        self.groups = [np.flatnonzero(self.classes == c) for c in range(self.k)]
        if any(len(group) == 0 for group in self.groups):
            raise InputError("rows of both labels are needed: with one label any offset separates")
        empty = np.zeros(0)
        self.best = Supply(None, 0.0, empty.astype(np.int64), empty, -math.inf, math.inf, False, 0)

    def remaining(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def signs(self, ids: IntArray) -> FloatArray:
        """The labels of some rows, as ±1."""
        return np.where(self.codes[ids] == 1, 1.0, -1.0)

    def done(self) -> bool:
        """Whether the best answers are good enough."""
        best = self.best
        return best.collapsed or (best.lower > 0 and (self.first_separator or best.gap <= self.gap))

    def scan(
        self, w: FloatArray, thresholds: FloatArray | None = None, room: int = 0, scores: FloatArray | None = None
    ) -> IntArray:
        """Score all rows with w and keep it if it is the best so far; the worst rows below the thresholds."""
        if thresholds is None:
            thresholds = np.full(self.k, -np.inf)
        lowest, _, worst = _engine.scan(
            self.rows.view,
            self.codes,
            n_classes=self.k,
            w=padded(w),
            threshold=thresholds,
            room=room,
            scores=scores,
            threads=self.threads,
        )
        norm = float(np.linalg.norm(w))
        lower = float(lowest.sum()) / (self.k * norm) if norm > 0 else -math.inf
        self.best = replace(self.best, scans=self.best.scans + 1)
        if lower > self.best.lower:
            b = float(lowest[0] - lowest[1]) / 2 if self.intercept else 0.0
            self.best = replace(self.best, w=w.copy(), b=b, lower=lower)
        return worst

    def weigh(self, ids: IntArray, weights: FloatArray, upper: float, *, collapsed: bool = False) -> None:
        """Keep weights if they bound the margin better than the best so far."""
        if collapsed or upper < self.best.upper:
            order = np.argsort(ids)
            self.best = replace(self.best, rows=ids[order], weights=weights[order], upper=upper, collapsed=collapsed)

    def normalised(self, ids: IntArray, weights: FloatArray) -> FloatArray:
        """The weights, each class divided by its sum."""
        sums = np.bincount(self.classes[ids], weights, minlength=self.k)
        return np.asarray(weights / sums[self.classes[ids]])


def codes_of(y: NDArray[Any]) -> Codes:
    """1 for the label +1, 0 for −1."""
    return (np.asarray(y) > 0).astype(np.int16)


def padded(w: FloatArray) -> FloatArray:
    """The vector with zeros up to a multiple of eight, which is how the engine reads it."""
    out = np.zeros(-(-len(w) // 8) * 8)
    out[: len(w)] = w
    return out


def sample(task: Task, rng: np.random.Generator, count: int) -> IntArray:
    """Random rows, sorted: of each class its share, and one at least; one row of each of so many equal stretches."""
    n = len(task.rows)
    if count >= n:
        return np.arange(n)
    chosen = []
    for group in task.groups:
        share = min(len(group), max(1, count // task.k, round(count * len(group) / n)))
        places = ((np.arange(share) + rng.random(share)) * (len(group) / share)).astype(np.int64)
        places = np.minimum(places, len(group) - 1)
        chosen.append(group[places[np.diff(places, prepend=-1) > 0]])
    return np.sort(np.concatenate(chosen))


def rows_of(rows: Rows, ids: IntArray, features: IntArray | None = None) -> Rows:
    """Some rows, as rows; only with some features, if wanted."""
    part = rows.take(ids)
    if features is not None:
        part = np.ascontiguousarray(part[:, features]) if rows.sparse is None else part[:, features]
    if rows.sparse is None:
        return Rows(part, None, _engine.DenseRows(part))
    return Rows(None, part, _engine.SparseRows(part.data, part.indices, part.indptr, n_features=part.shape[1]))


def dense(rows: Rows, ids: IntArray) -> FloatArray:
    """Some rows as a dense float64 array."""
    some = rows.take(ids)
    return np.asarray(some.toarray() if rows.sparse is not None else some, dtype=np.float64)


def squares(rows: Rows) -> FloatArray:
    """The squared length of each row."""
    if rows.sparse is not None:
        return np.asarray(rows.sparse.multiply(rows.sparse).sum(axis=1), dtype=np.float64).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", rows.dense, rows.dense, dtype=np.float64))


def combination(task: Task, ids: IntArray, weights: FloatArray) -> FloatArray:
    """Σ λ_i y_i x_i over some rows, in blocks, in float64."""
    signed = weights * task.signs(ids)
    if task.rows.sparse is not None:
        return np.asarray(task.rows.sparse[ids].astype(np.float64).T @ signed)
    total = np.zeros(task.rows.shape[1])
    step = max(1, (1 << 20) // len(total))
    for first in range(0, len(ids), step):
        block = slice(first, first + step)
        total += signed[block] @ task.rows.dense[ids[block]].astype(np.float64, copy=False)
    return total
