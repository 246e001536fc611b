"""The soft margin (note 003, eq. 22 and 23) as a problem: its two objectives, and one judge of every solver's answer.

With labels y_i = ±1 and a cost c_i for each unit of slack (C times the weight of the row),

    primal   P(w, b) = ½‖w‖² + Σ c_i ξ_i,   ξ_i = max(0, 1 − y_i(w·x_i + b))
    dual     D(a)    = Σ a_i − ½‖Σ a_i y_i x_i‖²,   0 ≤ a_i ≤ c_i,   Σ a_i y_i = 0

and D(a) ≤ optimum ≤ P(w, b) for every w, b and every a that is allowed. So P − D bounds how far an answer is from the
best one, whoever found it. bias="free" is the above. "regularised": ½b² is added to P and ½(Σ a_i y_i)² taken off D,
and Σ a_i y_i is free (what LIBLINEAR solves). "none": b = 0, and Σ a_i y_i is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from rosenblatt.inputs import FloatArray, Rows

Bias: TypeAlias = Literal["free", "regularised", "none"]


@dataclass(frozen=True)
class Problem:
    """Rows, labels, what a unit of slack costs for each row, and what is asked of the offset."""

    rows: Rows
    y: FloatArray  # -1.0 and +1.0
    cost: FloatArray  # one for each row, at least 0
    bias: Bias = "free"


@dataclass(frozen=True)
class Start:
    """Where a solver may begin: the hyperplane and dual weights of a similar problem."""

    w: FloatArray
    b: float
    weights: FloatArray  # of any size: a solver clips them to the costs


@dataclass(frozen=True)
class Judgement:
    """Both objectives at a point, and what is left between them."""

    primal: float
    dual: float  # of the feasible point nearest to the weights given
    weights: FloatArray  # that point

    @property
    def gap(self) -> float:
        """(P − D) / P: no answer is better than this one by a larger part. 0 if P is 0."""
        return max(0.0, self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


@dataclass(frozen=True)
class Solution:
    """What a solver found: the hyperplane, the dual weights, and what the judge says of them."""

    w: FloatArray
    b: float
    weights: FloatArray  # a: feasible
    primal: float
    dual: float
    gap: float
    status: Literal["solved", "stalled", "out of time"]
    steps: int  # Newton steps, or passes

    @property
    def solved(self) -> bool:
        """Whether the gap asked for was reached."""
        return self.status == "solved"


def obvious(problem: Problem) -> Solution | None:
    """The answer where no solver is needed: nothing costs anything, or with a free offset only one class does."""
    positive, negative = (bool((problem.cost[problem.y == sign] > 0).any()) for sign in (1.0, -1.0))
    if (positive and negative) or ((positive or negative) and problem.bias != "free"):
        return None
    n, d = problem.rows.shape
    return Solution(np.zeros(d), float(positive) - float(negative), np.zeros(n), 0.0, 0.0, 0.0, "solved", 0)


def judge(problem: Problem, w: FloatArray, b: float, weights: FloatArray) -> Judgement:
    """Compute both objectives from the rows alone; the dual at the feasible point nearest to `weights`."""
    y, cost = problem.y, problem.cost
    primal = 0.5 * float(w @ w) + float(cost @ slack(problem, w, b))
    weights = feasible(problem, weights)
    v = combination(problem, weights)
    dual = float(weights.sum()) - 0.5 * float(v @ v)
    if problem.bias == "regularised":
        primal += 0.5 * b * b
        dual -= 0.5 * float(weights @ y) ** 2
    return Judgement(primal, dual, weights)


def slack(problem: Problem, w: FloatArray, b: float) -> FloatArray:
    """ξ_i = max(0, 1 − y_i(w·x_i + b))."""
    return np.maximum(0.0, 1.0 - problem.y * (scores(problem.rows, w) + b))


def scores(rows: Rows, w: FloatArray) -> FloatArray:
    """w·x_i for each row."""
    found = np.empty(len(rows))
    for part, products in rows.products(w[np.newaxis]):
        found[part] = products[:, 0]
    return found


def combination(problem: Problem, weights: FloatArray) -> FloatArray:
    """Σ a_i y_i x_i, over the rows whose weight is not 0."""
    rows, ids = problem.rows, np.flatnonzero(weights)
    total = np.zeros(rows.shape[1])
    step = max(1, (1 << 22) // rows.shape[1])
    for first in range(0, len(ids), step):
        part = ids[first : first + step]
        total += rows.take(part).astype(np.float64, copy=False).T @ (weights[part] * problem.y[part])
    return total


def best_offset(problem: Problem, products: FloatArray) -> tuple[float, float]:
    """All offsets that cost least for given w·x_i: from the first number to the second.

    Σ c_i max(0, 1 − y_i(s_i + b)) is convex and piecewise linear in b; its slope begins at minus the cost of the
    positive rows, and each breakpoint y_i − s_i adds c_i. So the answer is a weighted quantile of the breakpoints.
    """
    if problem.bias != "free":
        raise ValueError("only a free offset can be chosen after w")
    breakpoints = problem.y - products
    order = np.argsort(breakpoints, kind="stable")
    risen = np.cumsum(problem.cost[order])
    needed = float(problem.cost[problem.y > 0].sum())
    slop = 1e-12 * float(risen[-1])
    low, high = (min(int(np.searchsorted(risen, needed + e)), len(order) - 1) for e in (-slop, slop))
    return float(breakpoints[order[low]]), float(breakpoints[order[high]])


def feasible(problem: Problem, weights: FloatArray) -> FloatArray:
    """The nearest weights that the dual allows: 0 ≤ a ≤ c, and with a free offset Σ a_i y_i = 0 to rounding."""
    y, cost = problem.y, problem.cost
    weights = np.clip(weights, 0.0, cost)
    if problem.bias != "free" or abs(float(weights @ y)) <= 1e-14 * float(weights.sum()):
        return weights
    low, high = -float(cost.max()), float(cost.max())
    for _ in range(100):  # the balance falls as the shift rises
        shift = 0.5 * (low + high)
        if float(np.clip(weights - shift * y, 0.0, cost) @ y) > 0:
            low = shift
        else:
            high = shift
    weights = np.clip(weights - 0.5 * (low + high) * y, 0.0, cost)
    left = float(weights @ y)
    heavy = y > 0 if left > 0 else y < 0
    total = float(weights[heavy].sum())
    if total > 0:
        weights[heavy] *= 1.0 - abs(left) / total
    return weights
