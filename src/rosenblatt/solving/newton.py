"""The soft margin for many rows and few features: Newton steps on the few rows that are near their margin.

At the optimum a row clearly right has weight 0 and a row clearly wrong has all its cost; only those in between are in
question. So: a first hyperplane from a sample, then samples six times as large; for each, one pass over all its rows
settles those outside a band around the margin, `augmented_lagrangian` solves for those inside, and another pass shows
which were settled wrongly. The band follows what it got wrong, until the gap over all rows is small enough.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.solving.augmented_lagrangian import Part, Point, minimise
from rosenblatt.solving.row_products import products
from rosenblatt.solving.soft_margin import (
    Bias,
    Problem,
    Solution,
    Start,
    Status,
    best_offset,
    combination,
    judge,
    obvious,
    scores,
)

_SAMPLE = 500  # rows of the first sample, or ten for each feature
_GROWTH = 6  # of samples
_LOOSE = 1e-2  # the gap on a sample: the next one moves the hyperplane by more
_FIRST = 1e-4  # the gap of the first round
_WARM = 0.5  # the first band from a start
_WIDEST = 4.0  # the first width: every row bends the objective, and the first step is a least-squares fit
_ROUNDS = 40


def solve(
    problem: Problem, *, gap: float, start: Start | None = None, deadline: float | None = None, threads: int = 1
) -> Solution:
    """Solve to a relative gap, from a start if there is one; `deadline` is of `time.monotonic`."""
    known = obvious(problem)
    return known if known is not None else _Newton(problem, gap, deadline, threads).solve(start)


@dataclass
class _Level:
    """Rows that are solved for together: a sample with its costs scaled up, or all."""

    rows: Rows
    y: FloatArray
    cost: FloatArray


class _Newton:
    """The state of a solution: the hyperplane so far, how far it moved lately, and the clock."""

    def __init__(self, problem: Problem, gap: float, deadline: float | None, threads: int) -> None:
        self.problem, self.gap, self.deadline, self.threads = problem, gap, deadline, threads
        d = problem.rows.shape[1]
        self.shift = np.zeros(d)  # features are taken relative to it: with a free offset w is the same, b is not
        self.w, self.b = np.zeros(d), 0.0  # b belongs to the shifted features
        self.scale = np.inf
        self.steps = 0

    def late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def solve(self, start: Start | None) -> Solution:
        problem = self.problem
        whole = _Level(problem.rows, problem.y, problem.cost)
        self._centre()
        if start is None:
            band = self._from_samples()
            weights = None
        else:
            b = 0.0 if problem.bias == "none" else start.b
            self.w, self.b = start.w.copy(), b + float(self.shift @ start.w)
            weights = np.clip(start.weights, 0.0, problem.cost)
            self.scale = 2.0 * float(weights.max()) or np.inf
            band = _WARM
        target = 0.5 * self.gap
        solutions = []
        for _ in range(3):
            weights = self._settle(whole, weights, band, target)
            solutions.append(self._judged(weights))
            if solutions[-1].status != "stalled":
                break
            target *= 0.2
            band = 0.1 * _WARM
        return min(solutions, key=lambda solution: solution.gap)

    def _centre(self) -> None:
        """Dense features far from 0 would drown their differences in rounding; sparse ones stay sparse."""
        rows = self.problem.rows
        if self.problem.bias == "free" and rows.dense is not None:
            every = max(1, len(rows) // 10_000)
            self.shift = rows.dense[::every].mean(axis=0, dtype=np.float64)

    def _judged(self, weights: FloatArray) -> Solution:
        problem, b = self.problem, self.b - float(self.shift @ self.w)
        if problem.bias == "free":
            low, high = best_offset(problem, scores(problem.rows, self.w, threads=self.threads))
            b = 0.5 * (low + high)
        found = judge(problem, self.w, b, weights, threads=self.threads)
        status: Status = "solved" if found.gap <= self.gap else "out of time" if self.late() else "stalled"
        return Solution(self.w, b, found.weights, found.primal, found.dual, found.gap, status, self.steps)

    # Samples --------------------------------------------------------------------------------------------------------

    def _from_samples(self) -> float:
        """A hyperplane from samples of growing size, and how wide a band around its margin is in question."""
        n, d = self.problem.rows.shape
        size = max(_SAMPLE, 10 * d)
        band = np.inf
        random = np.random.default_rng(0)
        while 3 * size < n and not self.late():
            level = self._sample(size, random)
            before = self.w, self.b
            self._settle(level, None, band, _LOOSE)
            band = self._expected_move(level, *before) if np.isfinite(band) or before[0].any() else 2.0
            size *= _GROWTH
        return band

    def _expected_move(self, level: _Level, w: FloatArray, b: float) -> float:
        """How far residuals may move on the next level: as they moved on this one, less for its larger size."""
        ids = slice(0, 2000)
        moved = level.rows.block(ids) @ (self.w - w) + (self.b - b - float(self.shift @ (self.w - w)))
        return 4.0 * _typical(moved) / float(np.sqrt(_GROWTH))

    def _sample(self, size: int, random: np.random.Generator) -> _Level:
        """So many rows, of each class in proportion but not too few; their costs scaled to the sum of all."""
        problem = self.problem
        chosen, costs = [], []
        for sign in (-1.0, 1.0):
            ids = np.flatnonzero((problem.y == sign) & (problem.cost > 0))
            if len(ids) == 0:
                continue
            share = min(len(ids), max(size // 10, size * len(ids) // len(problem.y)))
            some = np.sort(random.choice(ids, share, replace=False))
            chosen.append(some)
            costs.append(problem.cost[some] * (problem.cost[ids].sum() / problem.cost[some].sum()))
        ids = np.concatenate(chosen)
        mixed = random.permutation(len(ids))  # so that any stretch is a sample again
        ids = ids[mixed]
        return _Level(inputs.rows(problem.rows.take(ids)), problem.y[ids], np.concatenate(costs)[mixed])

    # The working set ------------------------------------------------------------------------------------------------

    def _settle(self, level: _Level, weights: FloatArray | None, band: float, gap: float) -> FloatArray:
        """Solve for the rows within the band, look at all, and go on with another band until the gap is reached."""
        residuals = self._residuals(level)
        primal = self._primal(level, residuals)
        question = _Question(level, self.problem.bias, self.shift, self.threads)
        question.ask(np.abs(residuals) <= band, residuals)
        if weights is None:
            weights = 0.5 * level.cost
        held = np.zeros(len(level.y), bool)  # settled once, and wrongly
        width, target = min(_WIDEST, band), max(gap, _FIRST)
        for _ in range(_ROUNDS):
            ids = question.ids
            floor = 0.5 * primal if len(ids) < len(level.y) else 0.0
            point = Point(self.w, self.b, weights[ids], width=width, scale=self.scale)
            point = minimise(question.part(), point, gap=target, floor=floor, late=self.late)
            weights = question.above.copy()
            weights[ids] = point.weights
            self.steps, self.scale = self.steps + point.steps, point.scale
            before, w, b = residuals, self.w, self.b
            self.w, self.b = point.w, point.b
            residuals = self._residuals(level)
            primal = self._primal(level, residuals)
            wrong = primal - point.primal  # what rows cost that were settled on the wrong side
            if wrong + point.gap * point.primal <= gap * primal:
                break
            if not point.gap <= target and point.primal >= floor and wrong <= 0.1 * gap * primal:
                break  # the part will not get any better
            moved = residuals - before
            held |= question.settled & (before * residuals < 0.0)
            step = self._best_step(level, before, moved, w, b)
            if step < 1.0:
                self.w, self.b = w + step * (self.w - w), b + step * (self.b - b)
                residuals = before + step * moved
                primal = self._primal(level, residuals)
            if self.late():
                break
            band = min(band, 4.0 * _typical(moved), 4.0 * point.width)
            free = (weights > 0.0) & (weights < level.cost)
            question.ask((np.abs(residuals) <= band) | held | free, residuals)
            width = min(5.0 * point.width, max(band, point.width))
            target = max(0.5 * gap, min(target, 0.1 * wrong / primal))
        return weights

    def _primal(self, level: _Level, residuals: FloatArray) -> float:
        own = float(self.w @ self.w) + (self.b**2 if self.problem.bias == "regularised" else 0.0)
        return 0.5 * own + float(level.cost @ np.maximum(residuals, 0.0))

    def _best_step(self, level: _Level, before: FloatArray, moved: FloatArray, w: FloatArray, b: float) -> float:
        """How far to go from the last point to this one, by the objective over all rows."""
        dw = self.w - w
        base, bend = float(w @ dw), float(dw @ dw)
        if self.problem.bias == "regularised":
            base += b * (self.b - b)
            bend += (self.b - b) ** 2
        costs = level.cost * moved

        def slope(step: float) -> float:
            return base + step * bend + float(costs @ (before + step * moved > 0.0))

        if slope(1.0) <= 0.0:
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if slope(middle) < 0.0 else (low, middle)
        return low

    def _residuals(self, level: _Level) -> FloatArray:
        b = self.b - float(self.shift @ self.w)
        return np.asarray(1.0 - level.y * (scores(level.rows, self.w, threads=self.threads) + b))


class _Question:
    """Which rows of a level are in question. The others are settled: above the band at their cost, below it at 0."""

    def __init__(self, level: _Level, bias: Bias, shift: FloatArray, threads: int) -> None:
        n, d = level.rows.shape
        self.level, self.bias, self.shift, self.threads = level, bias, shift, threads
        self.settled = np.ones(n, bool)
        self.ids: IntArray = np.zeros(0, np.int64)  # of the rows in question
        self.above = np.zeros(n)  # the weights of the settled rows; 0 for those in question
        self.pull = np.zeros(d)  # the sum of a_i y_i x_i of the settled rows, shifted

    def ask(self, active: NDArray[np.bool_], residuals: FloatArray) -> None:
        """Put these rows in question, and settle the others by their residuals; what stays as it is costs nothing."""
        level = self.level
        above = np.where(active | (residuals < 0.0), 0.0, level.cost)
        change = above - self.above
        more = combination(Problem(level.rows, level.y, level.cost), change, threads=self.threads)
        self.pull = self.pull + more - float(change @ level.y) * self.shift
        self.above, self.settled, self.ids = above, ~active, np.flatnonzero(active)

    def part(self) -> Part:
        """The problem of the rows in question."""
        level, ids = self.level, self.ids
        shift = self.shift if self.shift.any() else None
        return Part(
            products(level.rows, ids, shift, threads=self.threads),
            level.y[ids],
            level.cost[ids],
            self.bias,
            self.pull,
            float(self.above @ level.y),
            float(self.above.sum()),
        )


def _typical(moved: FloatArray) -> float:
    """The size of a typical change; a few rows with rare features may have moved much further."""
    return float(np.median(np.abs(moved[:: 1 + len(moved) // 10_000]))) / 0.6745
