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
            self.best = replace(self.best, rows=ids[order], weights=weights[order], upper=upper, collapsed=collapsed)

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
    scalable = min(n, d) + task.k <= LARGE
    descent.run(FIRST_PASSES, give_up=scalable)
    if scalable and not task.best.lower > 0 and not task.late():
        _affine_scaling(task, descent)
    descent.run(MORE_PASSES)
    return task.best


# Where one supplier takes over from another, by measurement (benchmarks: certificates).
SMALL = 600  # dimension of the problem: above, an active set that moves one row at a time is too slow
LARGE = 6000  # dimension: above, the normal equations of affine scaling are
MANY_NUMBERS = 50_000_000  # numbers in a dense copy of sparse rows
FIRST_PASSES = 400
MORE_PASSES = 2000
HOPELESS = 5.0  # a lower bound this many times the upper one below 0, after some passes, will not come up soon


def working_set(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Find the nearest points of the classes on a growing set of rows. Takes what `supply` takes."""
    return _working_set(_task(rows, y, **choices))


def dual_descent(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Descend on the dual of the hard-margin problem. Takes what `supply` takes."""
    task = _task(rows, y, **choices)
    _Descent(task).run(FIRST_PASSES + MORE_PASSES)
    return task.best


def affine_scaling(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Look for positive weights of Gordan's dual, or a direction that separates. Takes what `supply` takes."""
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
    return ids, replace(task, rows=_rows_of(task.rows, ids), codes=task.codes[ids], first_separator=False)


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


# Dual coordinate descent --------------------------------------------------------------------------------------------

_AT_ONCE = 1 << 26  # numbers visited between two looks at the clock


class _Descent:
    """Hard-margin dual coordinate descent with a free offset; the pass over rows is the engine's.

    The offset is a constant feature s whose weight would be part of the norm. It is made free by the method of
    multipliers: after some passes the offset so far becomes the new centre b₀ of b = b₀ + s² Σ a_i y_i, until
    Σ a_i y_i = 0. Weights: a, each class divided by its sum. Rows with weight 0 that are safely right are left out
    until the next look at all rows. When no hyperplane separates, a grows without end and the upper bound falls
    towards 0 but never reaches it: that is for `affine_scaling` to settle.
    """

    def __init__(self, task: _Task) -> None:
        rows = task.rows
        n, d = rows.shape
        self.task = task
        squares = _squares(rows)
        self.bias = float(squares.mean()) if task.intercept else 0.0
        self.norms = squares + self.bias
        self.weights = np.zeros(n)
        self.w = np.zeros(-(-d // 8) * 8)
        self.b = 0.0
        self.active: IntArray = np.arange(n)
        self.passes = 0
        self.scores = np.empty(n)
        self.support: IntArray = np.zeros(0, np.int64)
        self.solved = 0  # the pass from which on to solve for the support

    def run(self, passes: int, *, give_up: bool = False) -> None:
        """Make up to so many passes; the task keeps the best bounds. `give_up`: stop when it looks hopeless."""
        task, end = self.task, self.passes + passes
        while self.passes < end and not task.done() and not task.late():
            if give_up and self.passes >= 40 and task.best.lower < -HOPELESS * task.best.upper:
                return
            for _ in range(1 if self.passes < 3 else min(10, end - self.passes)):
                if self._pass() == 0:
                    end = self.passes  # a pass that moves nothing: this is the optimum, to rounding
                    break
                if task.late():
                    break
            self._look()

    def _pass(self) -> int:
        task, moved = self.task, 0
        ids = self.active[_engine.order(task.seed, self.passes, len(self.active))]
        step = max(1, _AT_ONCE // task.rows.shape[1])
        for first in range(0, len(ids), step):
            self.b, more = _engine.descend(
                task.rows.view,
                task.codes,
                self.norms,
                self.weights,
                self.w,
                b=self.b,
                bias=self.bias,
                ids=ids[first : first + step],
            )
            moved += more
            if task.late():
                break
        self.passes += 1
        return moved

    def _look(self) -> None:
        """The bounds of what has been reached, and which rows matter next."""
        task = self.task
        support = self._bounds()
        signs = self.task.signs(np.arange(len(task.rows)))
        self.active = np.flatnonzero((self.weights > 0) | (self.scores + signs * self.b < 1.0 + 1e-3))
        if task.intercept:
            self.b += self.bias * float(self.weights @ signs)
        changed = len(np.setxor1d(support, self.support, assume_unique=True))
        self.support = support
        settled = changed <= 0.01 * len(support) and self.passes >= self.solved
        if settled and task.best.lower > 0 and not task.done():
            self._solve()

    def _bounds(self) -> IntArray:
        """Bound the margin from both sides. The support."""
        task = self.task
        task.scan(self.w[: task.rows.shape[1]], scores=self.scores)
        support = np.flatnonzero(self.weights > 0)
        if len(np.unique(task.classes[support])) == task.k:
            weights = task.normalised(support, self.weights[support])
            task.weigh(support, weights, float(np.linalg.norm(_combination(task, support, weights))) / task.k)
        return support

    def _solve(self) -> None:
        """Jump to the optimum on the support: all its rows at margin 1, rows of negative weight dropped until none is.

        A few Cholesky factorisations of the Gram matrix of the support, where passes would converge slowly; later
        passes repair what the jump got wrong, as they do from any weights.
        """
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        task, ids = self.task, self.support
        self.solved = self.passes + 20
        if len(ids) > min(LARGE, task.rows.shape[1] + task.k) or task.late():
            return
        part = task.rows.take(ids).astype(np.float64)
        product = part @ part.T
        gram = np.asarray(product.toarray() if task.rows.sparse is not None else product) + self.bias
        for _ in range(20):
            signs = task.signs(ids)
            try:
                factor = cho_factor(gram, lower=True, check_finite=False)
            except LinAlgError:
                return
            weights = signs * cho_solve(factor, signs, check_finite=False)  # (Y K Y + s² y y') a = 1
            b = 0.0
            if task.intercept:  # and Σ a_i y_i = 0, whose multiplier is the offset
                along = signs * cho_solve(factor, np.ones(len(ids)), check_finite=False)
                b = float(weights @ signs) / float(along @ signs)
                weights = weights - b * along
            keep = weights > 0
            if keep.all():
                break
            if len(np.unique(task.classes[ids[keep]])) < task.k or task.late():
                return
            ids, gram = ids[keep], gram[np.ix_(keep, keep)]
        else:
            return
        self.weights[:] = 0.0
        self.weights[ids] = weights
        self.w[: task.rows.shape[1]] = _combination(task, ids, weights)
        self.b = b
        self._bounds()
        signs = task.signs(np.arange(len(task.rows)))
        self.active = np.flatnonzero((self.weights > 0) | (self.scores + signs * self.b < 1.0 + 1e-3))


def _squares(rows: Rows) -> FloatArray:
    """The squared length of each row."""
    if rows.sparse is not None:
        return np.asarray(rows.sparse.multiply(rows.sparse).sum(axis=1), dtype=np.float64).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", rows.dense, rows.dense, dtype=np.float64))


def _combination(task: _Task, ids: IntArray, weights: FloatArray) -> FloatArray:
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


# Affine scaling -----------------------------------------------------------------------------------------------------

_STEPS = 60
_TO_THE_WALL = 0.95


def _affine_scaling(task: _Task, descent: _Descent | None) -> None:
    """Dikin's affine scaling on Gordan's dual: λ > 0 with Σ λ_i y_i x_i = 0 and each class summing to 1.

    With A = rows (y_i (x_i − centre), 1 in the column of the class), r = e − A'λ what is missing, and Λ = diag(λ),

        v = (A'Λ²A)⁻¹ r,    λ ← λ + θ Λ² A v,      θ = 1, or as far as 0.95 of the way to the wall

    (Dikin 1967; Vanderbei, Meketon and Freedman 1986, for feasibility). A step with θ = 1 ends at a λ > 0 that solves
    the equations. If there is none, −v turns into a direction that separates, by the same normal equations: each is
    looked at. Rows beyond four times the dimension are left out until such a direction is wrong about them.

    The interior λ is reduced to a basic solution (`_basic_solution`). Returned through the task.
    """
    n, d = task.rows.shape
    size = min(n, d) + task.k
    rng = np.random.default_rng(task.seed)
    ids = np.zeros(0, np.int64) if descent is None else np.flatnonzero(descent.weights > 0)
    if not size < len(ids) <= 4 * size:  # else those that the descent found hard to get right will do
        ids = _sample(task, rng, max(50, 4 * size))
    while not task.late():
        system = _System(task, ids)
        if descent is None:
            weights = np.ones(len(ids))
        else:  # most of the weight where the descent put it, some everywhere
            weights = descent.weights[ids] / max(float(descent.weights[ids].mean()), 1e-300) + 0.1
        found, worst = _dikin(task, system, task.normalised(ids, weights))
        if found is not None:
            _settle(task, *found)
            return
        if worst is None or task.best.lower > 0:
            return
        grown = np.union1d(ids, worst)
        if len(grown) == len(ids):
            return
        ids = grown


class _System:
    """The equations A'λ = e of some rows, in columns brought to one scale."""

    def __init__(self, task: _Task, ids: IntArray) -> None:
        self.ids = ids
        x = _dense(task.rows, ids)
        d = x.shape[1]
        self.a = np.zeros((len(ids), d + task.k))
        columns = self.a[:, :d]
        self.centre = x.mean(axis=0) if task.intercept else np.zeros(d)
        np.subtract(x, self.centre, out=columns)
        self.scale = np.sqrt(np.einsum("ij,ij->j", columns, columns) / len(ids))
        self.scale[self.scale == 0] = 1.0
        columns *= task.signs(ids)[:, np.newaxis] / self.scale
        self.a[np.arange(len(ids)), d + task.classes[ids]] = 1.0
        self.e = np.zeros(d + task.k)
        self.e[d:] = 1.0
        self.d = d

    def missing(self, weights: FloatArray) -> FloatArray:
        """What the weights leave of e."""
        return np.asarray(self.e - weights @ self.a)

    def normal_direction(self, weights: FloatArray, missing: FloatArray, late: Callable[[], bool]) -> FloatArray | None:
        """(A'Λ²A)⁻¹ r, by Cholesky with a ridge at the level of rounding; None if it is late or fails."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve
        from scipy.linalg.blas import dsyrk

        gram = np.zeros((len(self.e), len(self.e)), order="F")
        step = max(1024, len(self.e))
        for first in range(0, len(weights), step):
            if late():
                return None
            part = self.a[first : first + step] * weights[first : first + step, np.newaxis]
            gram = dsyrk(1.0, part.T, beta=1.0, c=gram, overwrite_c=1, lower=1)
        diagonal = gram.diagonal().copy()
        ridge = 1e-15 * float(diagonal.mean())
        for _ in range(4):
            np.fill_diagonal(gram, diagonal + ridge)
            try:
                factor = cho_factor(gram, lower=True, check_finite=False)
            except LinAlgError:
                ridge *= 100
                continue
            return np.asarray(cho_solve(factor, missing, check_finite=False))
        return None


def _dikin(
    task: _Task, system: _System, weights: FloatArray
) -> tuple[tuple[_System, FloatArray] | None, IntArray | None]:
    """Steps until positive weights solve the equations (the first answer), or a direction separates these rows.

    The second answer: rows outside the system that this direction gets wrong. When the only solutions have weights of
    0 (classes that touch), the steps become short; the rows whose weights vanish are then left out.
    """
    d = system.d
    room = 2 * len(system.e)
    size = float(weights @ np.linalg.norm(system.a, axis=1))
    for step in range(_STEPS):
        missing = system.missing(weights)
        if float(np.linalg.norm(missing)) <= 1e-14 * size:
            return (system, weights), None
        if step % 8 == 7:
            keep = weights > 1e-6 * weights.max()
            if not keep.all() and len(np.unique(task.classes[system.ids[keep]])) == task.k:
                system, weights = _System(task, system.ids[keep]), weights[keep]
                weights = task.normalised(system.ids, weights)
                missing = system.missing(weights)
        v = system.normal_direction(weights, missing, task.late)
        if v is None:
            return None, None
        products = system.a @ v
        normal = -v[:d] / system.scale
        scores = products - v[d + task.classes[system.ids]]
        highest = [float(scores[task.classes[system.ids] == c].max()) for c in range(task.k)]
        if sum(highest) < -1e-13 * float(np.abs(scores).max()):
            signs = np.asarray([-1.0, 1.0]) if task.intercept else np.zeros(1)
            worst = task.scan(normal, signs * float(normal @ system.centre) - np.asarray(highest), room)
            return None, worst
        relative = weights * products
        lowest = float(relative.min())
        theta = 1.0 if lowest > -_TO_THE_WALL else _TO_THE_WALL / -lowest
        weights = weights * (1.0 + theta * relative)
        positive = task.normalised(system.ids, weights)
        upper = float(np.linalg.norm(_combination(task, system.ids, positive))) / task.k
        task.weigh(system.ids, positive, upper)
        if task.late():
            break
    return None, None


def _settle(task: _Task, system: _System, weights: FloatArray) -> None:
    """Give the task a witness: weights that solve the equations, on as few rows as that takes."""
    basic = _basic_solution(system.a, system.e, weights, task.late)
    places, weights = (np.arange(len(weights)), weights) if basic is None else basic
    ids = system.ids[places]
    weights = task.normalised(ids, weights)
    upper = float(np.linalg.norm(_combination(task, ids, weights))) / task.k
    size = float(weights @ np.sqrt(_squares(_rows_of(task.rows, ids))))
    task.weigh(ids, weights, upper, collapsed=upper * task.k <= 10 * ZERO * size)


def _rows_of(rows: Rows, ids: IntArray) -> Rows:
    """Some rows, as rows."""
    part = rows.take(ids)
    if rows.sparse is None:
        return Rows(part, None, _engine.DenseRows(part))
    return Rows(None, part, _engine.SparseRows(part.data, part.indices, part.indptr, n_features=part.shape[1]))


_PUSHED = 128  # rows pushed to weight 0 between two updates of the inverse


def _basic_solution(
    a: FloatArray, e: FloatArray, weights: FloatArray, late: Callable[[], bool]
) -> tuple[IntArray, FloatArray] | None:
    """Reduce weights λ > 0 with A'λ = e to as many rows as A has columns (Carathéodory), independent ones.

    The push phase of a crossover from an interior point to a vertex (Megiddo 1991): a basis B of rows is chosen, and
    each other row is pushed to weight 0 along the null vector that B gives, λ_B ← λ_B + τ B⁻¹ a_j. If a row of the
    basis reaches 0 first, it leaves and the pushed one takes its place. The null vectors of all rows are kept as one
    tableau, and pushed in blocks: inside a block a pivot is a rank-one update, and the pivots of a block change the
    rest of the tableau by one matrix product. At the end the weights are solved for anew, from the data.
    Rows and weights are returned; None if it is late or no basis is found.
    """
    from scipy.linalg.blas import dgemm

    basis = _first_basis(a, weights)
    if basis is None:
        return None
    rows, rest, tableau = basis
    weights = weights.copy()
    for first in range(0, len(rest), _PUSHED):
        if late():
            return None
        last = min(first + _PUSHED, len(rest))
        pivots: list[tuple[int, FloatArray]] = []
        for t in range(first, last):
            j, move = rest[t], tableau[:, t].copy()
            current = weights[rows]
            leaving, reach = _first_at_zero(current, move, float(weights[j]))
            weights[rows] = np.maximum(current + reach * move, 0.0)
            weights[j] -= reach
            if leaving < 0:
                weights[j] = 0.0
                continue
            weights[rows[leaving]] = 0.0
            rows[leaving] = j
            pivots.append((leaving, move))
            _pivot(tableau[:, t + 1 : last], leaving, move)
        if pivots and last < len(rest):
            changed = np.unique([leaving for leaving, _ in pivots])
            places = np.arange(len(changed))
            product = np.zeros((len(rows), len(changed)), order="F")
            product[changed, places] = 1.0
            for leaving, move in pivots:
                _pivot(product, leaving, move)
            product[changed, places] -= 1.0
            later = tableau[:, last:]
            dgemm(1.0, product, np.asfortranarray(later[changed]), beta=1.0, c=later, overwrite_c=1)
    return _resolved(a, e, rows, weights)


def _pivot(tableau: FloatArray, leaving: int, move: FloatArray) -> None:
    """Write columns in the basis where the row of `move` has taken the place `leaving`; in place (column order)."""
    from scipy.linalg.blas import dger

    if tableau.shape[1] == 0:
        return
    turned = tableau[leaving] / move[leaving]
    dger(-1.0, move, turned, a=tableau, overwrite_a=1)
    tableau[leaving] = turned


def _first_at_zero(current: FloatArray, move: FloatArray, whole: float) -> tuple[int, float]:
    """How far the pushed weight can go, at most all of it, and which weight is 0 then (−1: the pushed one).

    Among those nearly as near, the one that moves most: a small pivot would spoil the inverse.
    """
    falling = np.flatnonzero(move < 0)
    ways = current[falling] / -move[falling]
    nearest = float(ways.min()) if len(ways) else math.inf
    if nearest >= whole:
        return -1, whole
    near = falling[ways <= nearest + 1e-9 * whole]
    leaving = int(near[np.argmin(move[near])])
    return leaving, float(min(current[leaving] / -move[leaving], whole))


def _first_basis(a: FloatArray, weights: FloatArray) -> tuple[IntArray, IntArray, FloatArray] | None:
    """Independent rows of large weight; the other rows, lightest first; and these written in terms of the basis.

    The rows of largest weight, if they are well conditioned; else rows, and the rank, by a pivoted QR weighted by λ.
    """
    from scipy.linalg import qr
    from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

    def others(rows: IntArray) -> IntArray:
        rest = np.setdiff1d(np.arange(len(weights)), rows)
        return rest[np.argsort(weights[rest], kind="stable")]

    m, size = a.shape
    if m >= size:
        rows = np.sort(np.argsort(-weights, kind="stable")[:size])
        matrix = np.asfortranarray(a[rows].T)
        norm = float(np.abs(matrix).sum(axis=0).max())
        lu, pivots, info = dgetrf(matrix, overwrite_a=1)
        if info == 0 and dgecon(lu, norm)[0] > 1e-10:
            rest = others(rows)
            if len(rest) == 0:
                return rows, rest, np.zeros((size, 0), order="F")
            return rows, rest, dgetrs(lu, pivots, np.asfortranarray(a[rest].T), overwrite_b=1)[0]
    q, r, order = qr((a * weights[:, np.newaxis]).T, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    rank = int((diagonal > 1e-12 * diagonal[0]).sum())
    rows = order[:rank].astype(np.int64)
    rest = others(rows)
    try:
        tableau = np.linalg.solve((a[rows] @ q[:, :rank]).T, (a[rest] @ q[:, :rank]).T)
    except np.linalg.LinAlgError:
        return None
    return rows, rest, np.asfortranarray(tableau)


def _resolved(a: FloatArray, e: FloatArray, rows: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """The weights of a basis, solved for anew from the data; rows that need none are dropped first."""
    rows = np.sort(rows[weights[rows] > 1e-15])
    part = np.asarray(a[rows].T)
    if part.shape[0] == part.shape[1]:
        from scipy.linalg import lu_factor, lu_solve

        factor = lu_factor(part, check_finite=False)
        solved = lu_solve(factor, e, check_finite=False)
        solved += lu_solve(factor, e - part @ solved, check_finite=False)
    else:
        solved = np.linalg.lstsq(part, e, rcond=None)[0]
        solved += np.linalg.lstsq(part, e - part @ solved, rcond=None)[0]
    if not (np.isfinite(solved).all() and (solved > 0).all()):
        return rows, weights[rows]
    return rows, np.asarray(solved)
