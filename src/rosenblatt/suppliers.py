"""Suppliers of candidates for certificates: a hyperplane w, b and weights λ, in floating point. None of it is a proof.

For any w, b and any λ ≥ 0 whose classes sum to 1 (all together without an offset), and the maximum margin γ*,

    min_i y_i (w·x_i + b) / |w|   ≤   γ*   ≤   |Σ λ_i y_i x_i| / k,        k = 2 with an offset, 1 without,

and the right side is 0 exactly when no hyperplane separates (Gordan; Kirchberger). A supplier makes the left side large
and the right side small; what it returns is a claim for others to check, whoever made it. `supply` chooses one:

* `working_set`: Wolfe's minimum-norm point on a few rows, a scan of all rows, the worst ones added, again. Exact in
  few scans while the dimension is at most some hundreds.
* `dual_descent`: hard-margin dual coordinate descent, for many features and a margin that is not tiny.
* `affine_scaling`: interior steps on Gordan's dual, for many features and data that are hard or inseparable.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
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
class _Task:
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
        return 2.0 * self.codes[ids] - 1.0

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
            w=_padded(w),
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
            self.best = replace(
                self.best, rows=ids[order], weights=weights[order], upper=upper, collapsed=collapsed
            )

    def normalised(self, ids: IntArray, weights: FloatArray) -> FloatArray:
        """The weights, each class divided by its sum."""
        sums = np.bincount(self.classes[ids], weights, minlength=self.k)
        return np.asarray(weights / sums[self.classes[ids]])


Supplier = Callable[..., Supply]


def supply(
    rows: Rows,
    y: NDArray[Any],
    *,
    intercept: bool,
    gap: float,
    deadline: float | None = None,
    threads: int = 1,
    first_separator: bool = False,
    seed: int = 0,
) -> Supply:
    """Find a hyperplane and weights whose bounds are within `gap`, or weights whose bound is 0.

    `deadline` is a time of `time.monotonic`; when it passes, the best so far is returned. `first_separator`: stop at
    the first hyperplane that separates, whatever its margin. The rows should have columns of like scale.
    """
    task = _Task(rows, _codes(y), intercept, gap, deadline, threads, first_separator, seed)
    n, d = rows.shape
    if min(n, d) + task.k <= SMALL and (rows.sparse is None or _densified(rows, n) <= MANY_NUMBERS):
        return _working_set(task)
    descent = _Descent(task)
    descent.run(FIRST_PASSES)
    if task.done() or task.late():
        return task.best
    if not task.best.lower > 0 and min(n, d) + task.k <= LARGE:
        _affine_scaling(task, descent)
        if task.best.collapsed:
            return task.best
    if not task.done():
        descent.run(MORE_PASSES)
    return task.best


# Where one supplier takes over from another, by measurement (benchmarks: certificates).
SMALL = 600  # dimension of the problem: above, an active set that moves one row at a time is too slow
LARGE = 6000  # dimension: above, the normal equations of affine scaling are
MANY_NUMBERS = 50_000_000  # numbers in a dense copy of sparse rows
FIRST_PASSES = 200
MORE_PASSES = 2000


def working_set(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Find the nearest points of the classes on a growing set of rows. Takes what `supply` takes."""
    return _working_set(_task(rows, y, **choices))


def dual_descent(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Descend on the dual of the hard-margin problem. Takes what `supply` takes."""
    task = _task(rows, y, **choices)
    _Descent(task).run(FIRST_PASSES + MORE_PASSES)
    return task.best


def affine_scaling(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Look for positive weights of Gordan's dual, or a direction that shows there are none. Takes what `supply` takes."""
    task = _task(rows, y, **choices)
    _affine_scaling(task, None)
    return task.best


def _task(
    rows: Rows,
    y: NDArray[Any],
    *,
    intercept: bool,
    gap: float,
    deadline: float | None = None,
    threads: int = 1,
    first_separator: bool = False,
    seed: int = 0,
) -> _Task:
    return _Task(rows, _codes(y), intercept, gap, deadline, threads, first_separator, seed)


def _codes(y: NDArray[Any]) -> Codes:
    return (np.asarray(y) > 0).astype(np.int16)


def _padded(w: FloatArray) -> FloatArray:
    """The vector with zeros up to a multiple of eight, which is how the engine reads it."""
    out = np.zeros(-(-len(w) // 8) * 8)
    out[: len(w)] = w
    return out


def _densified(rows: Rows, n: int) -> int:
    """How many numbers a dense copy of the used columns of sparse rows has."""
    return n * min(rows.shape[1], int(rows.sparse.nnz))


def _dense(rows: Rows, ids: IntArray) -> FloatArray:
    """Some rows as a dense float64 array."""
    some = rows.take(ids)
    return np.asarray(some.toarray() if rows.sparse is not None else some, dtype=np.float64)


# The working set ----------------------------------------------------------------------------------------------------

_ROUNDS = 200


class _Working:
    """Some rows as points y_i (x_i − centre), and the point nearest to the origin among their combinations.

    With an offset each class sums to 1, so the centre cancels; taking it away keeps the numbers small. Sparse rows are
    dense here, in the columns they use.
    """

    def __init__(self, task: _Task, ids: IntArray) -> None:
        self.task = task
        self.columns: IntArray | None = None
        if task.rows.sparse is not None and len(task.rows) < task.rows.shape[1]:
            self.columns = np.unique(task.rows.sparse.indices).astype(np.int64)
        self.ids = ids
        points = self._raw(ids)
        self.centre = points.mean(axis=0) if task.intercept else np.zeros(points.shape[1])
        self.points = self._signed(points, ids)
        first = [int(np.argmax(task.classes[ids] == c)) for c in range(task.k)]
        self.support: IntArray = np.asarray(first, np.int64)  # places in ids
        self.weights: FloatArray = np.ones(task.k)
        self.levels: tuple[float, float] = (0.0, 0.0)

    def solve(self) -> tuple[FloatArray, _engine.MinNormEnd]:
        """Go to the nearest point; keep the bound it gives. The normal, and how it ended."""
        task = self.task
        support, weights, x, norm, self.levels, end, _ = _engine.min_norm(
            _engine.DenseRows(self.points),
            task.classes[self.ids],
            n_classes=task.k,
            start=self.support,
            start_weights=self.weights,
            gap=0.3 * task.gap,
            zero=ZERO,
            seconds=task.remaining(),
        )
        if len(support):
            self.support, self.weights = support, weights
            task.weigh(self.ids[support], weights, norm / task.k, collapsed=end == _engine.MinNormEnd.zero)
        if self.columns is None:
            return x, end
        w = np.zeros(task.rows.shape[1])
        w[self.columns] = x
        return w, end

    def thresholds(self, w: FloatArray) -> FloatArray:
        """Scores below which a row would bring the nearest point nearer, for each class."""
        x = w if self.columns is None else w[self.columns]
        offset, slack = float(x @ self.centre), 1e-3 * self.task.gap * float(x @ x)
        signs = np.asarray([-1.0, 1.0]) if self.task.intercept else np.zeros(1)
        return np.asarray(self.levels[: self.task.k]) + signs * offset - slack

    def add(self, new: IntArray, room: int) -> bool:
        """Take more rows in, and drop those furthest from mattering beyond `room`; False if there is nothing new."""
        new = np.setdiff1d(new, self.ids)
        if len(new) == 0:
            return False
        if len(self.ids) + len(new) > room:
            x = self.points[self.support].T @ self.weights
            score = self.points @ x - np.asarray(self.levels)[self.task.classes[self.ids]]
            score[self.support] = -np.inf
            places = np.sort(np.argsort(score, kind="stable")[: max(len(self.support), room - len(new))])
            self.support = np.searchsorted(places, self.support).astype(np.int64)
            self.ids, self.points = self.ids[places], self.points[places]
        self.points = np.vstack([self.points, self._signed(self._raw(new), new)])
        self.ids = np.concatenate([self.ids, new])
        return True

    def _raw(self, ids: IntArray) -> FloatArray:
        if self.columns is None:
            return _dense(self.task.rows, ids)
        return np.asarray(self.task.rows.sparse[ids][:, self.columns].toarray(), dtype=np.float64)

    def _signed(self, points: FloatArray, ids: IntArray) -> FloatArray:
        return np.ascontiguousarray((points - self.centre) * self.task.signs(ids)[:, np.newaxis])


def _working_set(task: _Task) -> Supply:
    """Solve on few rows exactly, scan all rows, add the worst, repeat.

    The start is a random handful of rows. Between it and all rows stands a random sample of them, solved in the same
    way: by Clarkson's argument the optimum on r of n rows is violated by at most about D n / r rows, so few scans of
    all rows remain. Hopeless data never needs a scan: the first handful is inseparable already.
    """
    n, d = task.rows.shape
    size = min(n, d) + task.k
    rng = np.random.default_rng(task.seed)
    working = _Working(task, _sample(task, rng, max(50, 4 * size)))
    samples = []
    count = n // SAMPLED
    while count > 8 * size:
        samples.append(_subtask(task, _sample(task, rng, count)))
        count //= SAMPLED
    for ids, sample in reversed(samples):
        if not _approach(task, sample, ids, working):
            return task.best
    _approach(task, task, None, working)
    return task.best


SAMPLED = 20


def _sample(task: _Task, rng: np.random.Generator, count: int) -> IntArray:
    """Random rows, sorted: of each class its share, and one at least."""
    n = len(task.rows)
    if count >= n:
        return np.arange(n)
    shares = [min(len(group), max(1, count // task.k, round(count * len(group) / n))) for group in task.groups]
    return np.sort(np.concatenate([rng.choice(g, s, replace=False) for g, s in zip(task.groups, shares, strict=True)]))


def _subtask(task: _Task, ids: IntArray) -> tuple[IntArray, _Task]:
    """The same question about some rows only."""
    if task.rows.sparse is not None:
        part = task.rows.sparse[ids]
        view: Any = _engine.SparseRows(part.data, part.indices, part.indptr, n_features=part.shape[1])
        rows = Rows(None, part, view)
    else:
        dense = np.ascontiguousarray(task.rows.dense[ids])
        rows = Rows(dense, None, _engine.DenseRows(dense))
    return ids, replace(task, rows=rows, codes=task.codes[ids], first_separator=False)


def _approach(task: _Task, scanned: _Task, ids: IntArray | None, working: _Working) -> bool:
    """Add rows of `scanned` (numbered by `ids`) until it is solved. False if the whole question is settled, or late."""
    n, d = task.rows.shape
    size = min(n, d) + task.k
    add = max(50, (10 if size <= 128 else 2) * size)
    for _ in range(_ROUNDS):
        w, end = working.solve()
        if end == _engine.MinNormEnd.zero:
            return False
        if end == _engine.MinNormEnd.interrupted:
            if task.best.w is None and ids is None:
                task.scan(w)
            return False
        worst = scanned.scan(w, working.thresholds(w), add)
        if ids is None:
            if task.done():
                return False
        else:
            scanned.best = replace(scanned.best, upper=task.best.upper)
            worst = ids[worst]
            if scanned.done():
                return True
        if task.late():
            if ids is not None:
                task.scan(w)
            return False
        if not working.add(worst, max(2000, 40 * size)):
            return True
    return True
