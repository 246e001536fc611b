"""The soft margin (note 003, eq. 22 and 23) as a problem: its two objectives, and one judge of every solver's answer.

With labels y_i = ±1 and a cost c_i for each unit of slack (C times the weight of the row),

    primal   P(w, b) = ½‖w‖² + Σ c_i ξ_i,   ξ_i = max(0, 1 − y_i(w·x_i + b))
    dual     D(a)    = Σ a_i − ½‖Σ a_i y_i x_i‖²,   0 ≤ a_i ≤ c_i,   Σ a_i y_i = 0

and D(a) ≤ optimum ≤ P(w, b) for every w, b and every a that is allowed. So P − D bounds how far an answer is from the
best one, whoever found it. bias="free" is the above. "regularised": ½b² is added to P and ½(Σ a_i y_i)² taken off D,
and Σ a_i y_i is free (what LIBLINEAR solves). "none": b = 0, and Σ a_i y_i is free.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, Rows

Bias: TypeAlias = Literal["free", "regularised", "none"]
Status: TypeAlias = Literal["solved", "stalled", "out of time"]


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
        """(P − D) / P: no answer is better than this one by a larger part. 0 if P is 0.

        A dual above the primal is rounding, and counts like one below it.
        """
        if not math.isfinite(self.primal - self.dual):
            return math.inf
        return abs(self.primal - self.dual) / self.primal if self.primal > 0 else 0.0


@dataclass(frozen=True)
class Solution:
    """What a solver found: the hyperplane, the dual weights, and what the judge says of them."""

    w: FloatArray
    b: float
    weights: FloatArray  # a: feasible
    primal: float
    dual: float
    gap: float
    status: Status
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


def judge(problem: Problem, w: FloatArray, b: float, weights: FloatArray, *, threads: int = 1) -> Judgement:
    """Compute both objectives from the rows alone; the dual at a feasible point near `weights`.

    A slack may be as much larger as its rounding error (`rounding`): at huge costs that is what the gap is made of.
    """
    if problem.bias == "none" and b != 0:
        raise ValueError("without an offset b must be 0")
    y, cost = problem.y, problem.cost
    with np.errstate(all="ignore"):  # what is not finite is a gap without end
        behind = 1.0 - y * (scores(problem.rows, w, threads=threads) + b) + rounding(problem, w, b)
        primal = 0.5 * float(w @ w) + float(cost @ np.maximum(0.0, behind))
    weights = feasible(problem, weights)
    v = combination(problem, weights, threads=threads)
    dual = float(weights.sum()) - 0.5 * float(v @ v)
    if problem.bias == "regularised":
        primal += 0.5 * b * b
        dual -= 0.5 * float(weights @ y) ** 2
    return Judgement(primal, dual, weights)


def slack(problem: Problem, w: FloatArray, b: float, *, threads: int = 1) -> FloatArray:
    """ξ_i = max(0, 1 − y_i(w·x_i + b))."""
    return np.maximum(0.0, 1.0 - problem.y * (scores(problem.rows, w, threads=threads) + b))


def rounding(problem: Problem, w: FloatArray, b: float) -> float:
    """How much y_i(w·x_i + b) as computed may be wrong, of any row: γ_{d+4}(|x_i|·|w| + |b|); 0 for w = 0."""
    if not w.any():
        return 0.0
    d = problem.rows.shape[1]
    return (d + 5) * 2.0**-53 * (float(problem.rows.feature_sizes @ np.abs(w)) + abs(b))


def scores(rows: Rows, w: FloatArray, *, threads: int = 1) -> FloatArray:
    """w·x_i for each row, in float64 whatever the type of the rows."""
    n, d = rows.shape
    found = np.empty(n)
    padded = np.zeros(-(-d // 8) * 8)
    padded[:d] = w
    _engine.scores(rows.view, padded, found, threads=threads)
    return found


def combination(problem: Problem, weights: FloatArray, *, threads: int = 1) -> FloatArray:
    """Σ a_i y_i x_i; rows of weight 0 are not read."""
    return _engine.combine(problem.rows.view, weights * problem.y, threads=threads)


def best_offset(problem: Problem, products: FloatArray) -> tuple[float, float]:
    """All offsets that cost least for given w·x_i: from the first number to the second.

    Σ c_i max(0, 1 − y_i(s_i + b)) is convex and piecewise linear in b; its slope begins at minus the cost of the
    positive rows, and each breakpoint y_i − s_i adds c_i. So the answer is a weighted quantile of the breakpoints.
    """
    if problem.bias != "free":
        raise ValueError("only a free offset can be chosen after w")
    breakpoints = problem.y - products
    needed, whole = float(problem.cost[problem.y > 0].sum()), float(problem.cost.sum())
    slop = 1e-12 * whole
    low = _quantile(breakpoints, problem.cost, needed - slop)
    high = _quantile(breakpoints, problem.cost, min(needed + slop, whole * (1.0 - 1e-15)))
    if low == high:
        return low, high
    # Costs so small that they are lost in the sum of all may still tell the ends apart.
    at_low, at_high = (float(problem.cost @ np.maximum(0.0, 1.0 - problem.y * (products + b))) for b in (low, high))
    if abs(at_low - at_high) <= 1e-13 * at_low:
        return low, high
    return (low, low) if at_low < at_high else (high, high)


def _quantile(values: FloatArray, costs: FloatArray, needed: float) -> float:
    """The first value at which the costs, in the order of values, add up to what is needed: by selection, in O(n)."""
    below = 0.0
    while len(values) > 64:
        pivot = _median(values)
        low = values <= pivot
        cost = below + float(costs[low].sum())
        keep = low if cost >= needed else ~low
        if keep.all():  # many equal values at the end: no selection parts them
            break
        if cost < needed:
            below = cost
        values, costs = values[keep], costs[keep]
    order = np.argsort(values, kind="stable")
    risen = below + np.cumsum(costs[order])
    return float(values[order[min(int(np.searchsorted(risen, needed)), len(order) - 1)]])


def _median(values: FloatArray) -> float:
    """About the middle: of some values, so that it costs nothing beside looking at all."""
    some = values[:: 1 + len(values) // 1000]
    return float(np.partition(some, len(some) // 2)[len(some) // 2])


def feasible(problem: Problem, weights: FloatArray) -> FloatArray:
    """Weights near these that the dual allows: 0 ≤ a ≤ c, and with a free offset Σ a_i y_i = 0 to rounding.

    What is left over is taken from the weights of the heavier class that are between their bounds, so that a weight
    at a bound stays there: a row that holds nothing is no support. If that is too much, from all: the nearest weights.
    """
    y, cost = problem.y, problem.cost
    weights = np.clip(weights, 0.0, cost)
    if problem.bias != "free":
        return weights
    found, taken = _evened(y, weights, (weights > 0) & (weights < cost))
    if taken <= _LITTLE:
        return found
    weights = _balanced(y, cost, weights)
    return _evened(y, weights, weights > 0)[0]


_LITTLE = 1e-3


def _evened(y: FloatArray, weights: FloatArray, some: NDArray[np.bool_]) -> tuple[FloatArray, float]:
    """Weights with Σ a_i y_i = 0 by making some of the heavier class smaller, and by what part."""
    left = float(weights @ y)
    if abs(left) <= 1e-14 * float(weights.sum()):
        return weights, 0.0
    some = some & (y > 0 if left > 0 else y < 0)
    total = float(weights[some].sum())
    if not total > abs(left):
        return weights, math.inf
    weights = weights.copy()
    weights[some] *= 1.0 - abs(left) / total
    return weights, abs(left) / total


def _balanced(y: FloatArray, cost: FloatArray, weights: FloatArray) -> FloatArray:
    """a − θy, clipped, with Σ a_i y_i = 0; as θ rises this sum falls, its slope minus the number of unclipped rows."""
    low, high = -float(cost.max()), float(cost.max())
    shift = 0.0
    for _ in range(100):
        ahead = weights - shift * y
        moved = np.clip(ahead, 0.0, cost)
        balance = float(moved @ y)
        if balance > 0:
            low = shift
        else:
            high = shift
        unclipped = int(np.count_nonzero(moved == ahead))
        step = balance / max(unclipped, 1)  # Newton's, within what is known to hold the answer
        if abs(balance) <= 1e-15 * float(moved.sum()) or high - low <= 1e-16 * max(abs(low), abs(high)):
            break
        shift = shift + step if low < shift + step < high else 0.5 * (low + high)
    return moved
