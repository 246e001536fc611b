"""The soft margin for many rows and few features: Newton steps on the few rows that are near their margin.

At the optimum a row clearly right has weight 0 and a row clearly wrong has all its cost; only those in between are in
question. So: a first hyperplane from a sample, then samples eight times as large; for each, one pass over all its rows
settles those outside a band around the margin, `augmented_lagrangian` solves for those inside, and another pass shows
which were settled wrongly. The band follows what it got wrong, until the gap over all rows is small enough.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt import inputs
from rosenblatt.augmented_lagrangian import Part, Point, minimise
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.soft_margin import Problem, Solution, Start, best_offset, combination, judge, obvious, scores

_SAMPLE = 2000  # rows of the first sample, or ten for each feature
_GROWTH = 8  # of samples
_LOOSE = 1e-3  # the gap on a sample: the next one moves the hyperplane by more
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


@dataclass(frozen=True)
class _Look:
    """One pass over the rows of a level: what is settled outside of a band around the margin, what is in question."""

    residuals: FloatArray  # r_i = 1 − y_i(w·x_i + b)
    loss: float  # Σ c_i max(0, r_i)
    active: IntArray  # rows with |r_i| within the band
    pull: FloatArray  # Σ c_i y_i x_i of the rows above the band
    balance: float
    settled: float


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
            self.w, self.b = start.w.copy(), start.b + float(self.shift @ start.w)
            weights = np.clip(start.weights, 0.0, problem.cost)
            self.scale = 2.0 * float(weights.max())
            band = 0.5
        target = 0.5 * self.gap
        for _ in range(4):
            weights = self._settle(whole, weights, band, target)
            solution = self._judged(weights)
            if solution.solved or self.late():
                break
            target *= 0.2
            band = 0.05
        return solution

    def _centre(self) -> None:
        """Dense features far from 0 would drown their differences in rounding; sparse ones stay sparse."""
        rows = self.problem.rows
        if self.problem.bias == "free" and rows.dense is not None:
            every = max(1, len(rows) // 10_000)
            self.shift = rows.dense[::every].mean(axis=0, dtype=np.float64)

    def _judged(self, weights: FloatArray) -> Solution:
        problem, b = self.problem, self.b - float(self.shift @ self.w)
        if problem.bias == "free":
            low, high = best_offset(problem, scores(problem.rows, self.w))
            b = 0.5 * (low + high)
        found = judge(problem, self.w, b, weights)
        status = "solved" if found.gap <= self.gap else "out of time" if self.late() else "stalled"
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
        return 4.0 * float(np.sqrt(np.mean(moved**2) / _GROWTH))

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
        width = min(1.0, band)
        target = max(gap, 1e-4)
        look = self._look(level, band)
        for turn in range(_ROUNDS):
            active = look.active
            if weights is None:
                part_weights = level.cost[active] * np.clip(0.5 + look.residuals[active] / width, 0.0, 1.0)
            else:
                part_weights = weights[active]
            point = Point(self.w, self.b, part_weights, width=width, scale=self.scale)
            part = Part(
                self._gather(level.rows, active),
                level.y[active],
                level.cost[active],
                self.problem.bias,
                look.pull,
                look.balance,
                look.settled,
            )
            minimise(part, point, gap=target, late=self.late)
            self.w, self.b, self.scale = point.w, point.b, point.scale
            self.steps += point.steps
            weights = np.where(look.residuals > band, level.cost, 0.0)
            weights[active] = point.weights
            before, wide = look.residuals, band
            look = self._look(level, band)
            primal = 0.5 * float(self.w @ self.w) + look.loss
            if self.problem.bias == "regularised":
                primal += 0.5 * self.b**2
            wrong = primal - point.primal  # what rows cost that were settled on the wrong side
            if wrong + point.gap * point.primal <= gap * primal or self.late():
                break
            if not point.gap <= target and wrong <= 0.1 * gap * primal:
                break  # the part will not get any better
            crossed = (np.abs(before) > wide) & (before * look.residuals < 0.0)
            if crossed.any():
                band = 2.0 * float(np.abs(look.residuals[crossed]).max())
                band = max(band, 0.25 * wide) if turn < 6 else max(band, 2.0 * wide)
                look = self._look(level, band)
            target = max(gap * 0.5, min(target, 0.1 * wrong / primal))
            width = min(1.0, band, 5.0 * point.width)
        return weights

    def _gather(self, rows: Rows, ids: IntArray) -> Any:
        part = rows.take(ids).astype(np.float64, copy=False)
        return part - self.shift if rows.dense is not None and self.problem.bias == "free" else part

    def _look(self, level: _Level, band: float) -> _Look:
        b = self.b - float(self.shift @ self.w)
        residuals = 1.0 - level.y * (scores(level.rows, self.w) + b)
        loss = float(level.cost @ np.maximum(residuals, 0.0))
        above = np.where(residuals > band, level.cost, 0.0)
        problem = Problem(level.rows, level.y, level.cost, self.problem.bias)
        balance = float(above @ level.y)
        pull = combination(problem, above) - balance * self.shift
        active = np.flatnonzero(np.abs(residuals) <= band)
        return _Look(residuals, loss, active, pull, balance, float(above.sum()))
