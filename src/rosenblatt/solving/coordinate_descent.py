"""Dual coordinate descent for the soft margin: sparse text, and rows with many features."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Literal

import numpy as np

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.searching.candidates import codes_of, padded, squares
from rosenblatt.solving.faces import CHEAP, Faces
from rosenblatt.solving.soft_margin import Problem, Solution, Start, best_offset, combination, judge, obvious, rounding

_FIRST_LOOK, _LOOK = 3, 10  # passes before a look at all rows
_PATIENCE = 3000  # passes without progress
_ROUNDING = 1e-13  # a gap that more passes only move about
_MAX_PASSES = 50_000
_AT_ONCE = 1 << 26  # numbers visited between two looks at the clock
_UNSETTLED = 300  # passes after which a small face is climbed on even if its rows still change
_SETTLED = 0.1  # part of the rows between their bounds that may have changed since the last look


def solve(
    problem: Problem,
    *,
    gap: float,
    start: Start | None = None,
    deadline: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Solution:
    """Minimise the soft margin's objective until the judge's gap is at most `gap`.

    `deadline` is a time of `time.monotonic`. The answer does not depend on `threads`.
    """
    answer = obvious(problem)
    if answer is not None:
        return answer
    shifted, middle = _centred(problem)
    if start is not None:
        start = replace(start, b=start.b + float(start.w @ middle))
    found = _Descent(shifted, gap, start, deadline, threads, seed).run()
    if shifted is problem:
        return found
    b = found.b - float(found.w @ middle)
    judged = judge(problem, found.w, b, found.weights)
    status = "stalled" if found.solved and judged.gap > gap else found.status
    return replace(
        found, b=b, weights=judged.weights, primal=judged.primal, dual=judged.dual, gap=judged.gap, status=status
    )


def _centred(problem: Problem) -> tuple[Problem, FloatArray]:
    """The problem with rows about 0, and what was taken off them: with a free offset w stays the same.

    Rows that all point one way make the descent slow. Sparse rows would not stay sparse, and are left as they are.
    """
    rows = problem.rows
    middle = np.zeros(rows.shape[1])
    if problem.bias != "free" or rows.sparse is not None:
        return problem, middle
    mean = rows.dense.mean(axis=0, dtype=np.float64)
    if not float(mean @ mean) > 0.5 * float(squares(rows).mean()):
        return problem, middle
    dense = rows.dense - mean
    return replace(problem, rows=Rows(dense, None, _engine.DenseRows(dense))), mean


class _Descent:
    """Passes over the rows by the engine, looks at all of them, and climbs on the face that the weights are on.

    The offset is a constant feature s whose weight would be part of the norm: of length 1 if the offset is regularised.
    A free offset is had by the method of multipliers: after each pass the offset so far becomes the new centre b₀ of
    b = b₀ + s² Σ a_i y_i, until Σ a_i y_i = 0. That this converges is not proved here; the judge does not need it.
    """

    def __init__(
        self, problem: Problem, gap: float, start: Start | None, deadline: float | None, threads: int, seed: int
    ) -> None:
        rows, cost = problem.rows, problem.cost
        self.problem, self.target, self.deadline, self.threads, self.seed = problem, gap, deadline, threads, seed
        self.free = problem.bias == "free"
        self.codes = codes_of(problem.y)
        lengths = squares(rows)
        self.bias = {
            "free": max(0.1 * float(lengths.mean()), 1.0 / float(cost.sum())),
            "regularised": 1.0,
            "none": 0.0,
        }[problem.bias]
        self.norms = lengths + self.bias
        self.weights = np.zeros(len(rows)) if start is None else np.clip(start.weights, 0.0, cost)
        self.b = 0.0 if start is None else start.b
        self.w = np.zeros(0)
        self._refresh()
        self.active: IntArray = np.arange(len(rows))
        self.low, self.high = -np.inf, np.inf
        self.passes = 0
        self.faces = Faces(rows, problem.y, cost, free=self.free, bias=self.bias, remaining=self._remaining)
        self.between = np.zeros(len(rows), bool)
        self.next_climb, self.pause = 0, _LOOK
        self.primal, self.dual = np.inf, -np.inf  # the best so far, and where:
        self.best = Start(np.zeros(rows.shape[1]), 0.0, np.zeros(len(rows)))
        self.mark = (0, np.inf, -np.inf)  # the last progress: pass, gap, dual

    def _remaining(self) -> float:
        """Seconds until the deadline."""
        return np.inf if self.deadline is None else self.deadline - time.monotonic()

    def run(self) -> Solution:
        """Descend until the gap is reached, time is up, or nothing moves any more."""
        while True:
            still = self._descend(_FIRST_LOOK if self.passes == 0 else _LOOK)
            found = self._look() or (self._look() if self._climb() else None)
            if found is not None:
                return found
            if self._remaining() <= 0:
                return self._solution("out of time")
            if still or self._stuck():
                return self._solution("stalled")

    def _descend(self, passes: int) -> bool:
        """Make some passes, the first over all rows, later ones without the rows dropped. Whether nothing moved."""
        problem, end = self.problem, self.passes + passes
        self.active, self.low, self.high = np.arange(len(problem.rows)), -np.inf, np.inf
        while self.passes < end and len(self.active) and self._remaining() > 0:
            whole, moved = len(self.active) == len(problem.rows), self._pass()
            change = self.bias * float(self.weights @ problem.y) if self.free else 0.0
            self.b += change
            if whole and moved == 0 and abs(change) <= 1e-15 * max(1.0, abs(self.b)):
                return True
        return False

    def _pass(self) -> int:
        rows, moved, lowest, highest = self.problem.rows, 0, np.inf, -np.inf
        ids = self.active[_engine.order(self.seed, self.passes, len(self.active))]
        step = max(1, _AT_ONCE * len(rows) // max(1, rows.values.size))
        kept = []
        for first in range(0, len(ids), step):
            part = ids[first : first + step]
            self.b, more, stay, low, high = _engine.descend(
                rows.view,
                self.codes,
                self.norms,
                self.weights,
                self.w,
                b=self.b,
                bias=self.bias,
                ids=part,
                cost=self.problem.cost,
                low=self.low,
                high=self.high,
            )
            kept.append(part[:stay])
            moved, lowest, highest = moved + more, min(lowest, low), max(highest, high)
            if self._remaining() <= 0:
                break
        self.active = kept[0] if len(kept) == 1 else np.concatenate(kept)
        self.low = lowest if lowest < 0 else -np.inf
        self.high = highest if highest > 0 else np.inf
        self.passes += 1
        return moved

    def _look(self) -> Solution | None:
        """Both objectives of what has been reached, the best of which are kept; the solution, if that is what it is."""
        problem, y, cost = self.problem, self.problem.y, self.problem.cost
        margins, balance = np.empty(len(y)), float(self.weights @ y)
        _engine.scan(
            problem.rows.view,
            self.codes,
            n_classes=2,
            w=self.w,
            threshold=np.full(2, -np.inf),
            scores=margins,
            threads=self.threads,
        )
        w = self.w[: problem.rows.shape[1]]
        square = float(w @ w)
        b = self.b
        if self.free:
            b = 0.5 * sum(best_offset(problem, y * margins))
        elif problem.bias == "regularised":
            b = self.b = balance
        ridge = b * b if problem.bias == "regularised" else 0.0
        self._offer(w, b, 0.5 * (square + ridge) + float(cost @ np.maximum(0.0, 1.0 - margins - y * b)))
        used = cost > 0
        if self.free:  # the offset in the middle between the classes
            b = 0.5 * float(margins[used & (y < 0)].min() - margins[used & (y > 0)].min())
        least = float((margins + y * b)[used].min())
        if least > 0:  # w separates: in canonical form, and a little more for rounding, it has no slack
            least *= 1.0 - max(1e-12, 4.0 * rounding(problem, w / least, b / least))
            self._offer(w / least, b / least, 0.5 * (square + ridge) / least**2)
        dual = float(self.weights.sum()) - 0.5 * square
        dual -= {"free": self.b * balance, "regularised": 0.5 * balance * balance, "none": 0.0}[problem.bias]
        if dual > self.dual:
            self.dual, self.best = dual, replace(self.best, weights=self.weights.copy())
        if self._gap() > self.target:
            return None
        found = self._solution("solved")
        if found.gap <= self.target:
            return found
        self.dual = found.dual
        self._refresh()
        return None

    def _offer(self, w: FloatArray, b: float, primal: float) -> None:
        if primal < self.primal:
            self.primal, self.best = primal, replace(self.best, w=w.copy(), b=b)

    def _gap(self) -> float:
        return (self.primal - self.dual) / self.primal if self.primal > 0 else 0.0

    def _stuck(self) -> bool:
        at, gap, dual = self.mark
        if self._gap() <= _ROUNDING:
            return True
        if self._gap() < 0.9 * gap or self.dual > dual + 1e-3 * abs(dual):
            self.mark = (self.passes, self._gap(), self.dual)
            return False
        return self.passes > at + _PATIENCE or self.passes > _MAX_PASSES

    def _climb(self) -> bool:
        """Climb on the face, if the rows between their bounds have settled. Whether it went up."""
        between = (self.weights > 0) & (self.weights < self.problem.cost)
        changed, self.between = int((between != self.between).sum()), between
        count = int(between.sum())
        settled = changed <= _SETTLED * count or (count <= CHEAP and self.passes >= _UNSETTLED)
        if not settled or self.passes < self.next_climb or self._remaining() <= 0:
            return False
        d = self.problem.rows.shape[1]
        climb = self.faces.climb(self.weights, self.w[:d], self.b, 0.1 * self.target * self.primal)
        if climb is None:
            self.pause *= 2
            self.next_climb = self.passes + self.pause
            return False
        self.weights[climb.ids] = climb.weights
        self.w[:d] += climb.shift
        self.b = climb.b
        self.between = (self.weights > 0) & (self.weights < self.problem.cost)
        return True

    def _refresh(self) -> None:
        """Recompute w, which gathers rounding from step to step."""
        self.w = padded(combination(self.problem, self.weights))
        if self.problem.bias != "free":
            self.b = self.bias * float(self.weights @ self.problem.y)

    def _solution(self, status: Literal["solved", "stalled", "out of time"]) -> Solution:
        best = self.best
        judged = judge(self.problem, best.w, best.b, best.weights)
        return Solution(best.w, best.b, judged.weights, judged.primal, judged.dual, judged.gap, status, self.passes)
