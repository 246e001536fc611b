"""The soft margin over some of the rows, by the method of multipliers with semismooth Newton steps.

The other rows are settled: their weights are 0 or their cost, so that all they add is a linear term. With multipliers
a, residuals r_i = 1 − y_i(w·x_i + b) and σ_i = min(c_i, A) / ε, a round minimises over (w, b)

    ½‖w‖² − u·w − βb + Σ max { t r_i − (t − a_i)² / (2 σ_i) : 0 ≤ t ≤ c_i }

which is smooth and piecewise quadratic. With p = clip(a + σr, 0, c) its gradient is

    (w − u − Σ p_i y_i x_i,  −β − Σ p_i y_i)

and only the rows J with 0 < a_i + σ_i r_i < c_i bend it. Then a becomes p, and ε, the width in r over which a weight
goes from 0 to its cost, is made smaller. Near the end J has about as many rows as there are features.
(Rockafellar 1976 for the multipliers; Qi and Sun 1993 for Newton on such a gradient.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse import issparse

from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.solving.row_products import RowProducts

LARGE = 3000  # unknowns of a Newton system: above, conjugate gradients
_SHRINK = 0.2  # of the width, between rounds
_ROUNDS, _STEPS = 60, 100  # far above what is needed: what has not settled by then never will
_CACHED = 6000  # rows whose inner products are kept


@dataclass(frozen=True)
class Part:
    """Rows whose weights are sought, and what the settled rows add."""

    rows: RowProducts
    y: FloatArray
    cost: FloatArray
    bias: Literal["free", "regularised", "none"]
    pull: FloatArray  # u: the sum of a_i y_i x_i of the settled rows
    balance: float  # β: the sum of their a_i y_i
    settled: float  # the sum of their a_i


@dataclass
class Point:
    """Where a search stands. The gap is that of the part, relative to its primal objective."""

    w: FloatArray
    b: float
    weights: FloatArray
    gap: float = np.inf
    primal: float = np.inf
    width: float = 1.0
    scale: float = np.inf  # A: above the multipliers, which are far below their costs when rows can be separated
    steps: int = 0


@dataclass(frozen=True)
class _Slope:
    """The gradient at a point, what bends it, and the parts of the gap."""

    ahead: FloatArray  # a + σr, not clipped
    weights: FloatArray  # p
    gw: FloatArray
    gb: float
    primal: float
    slackness: float  # Σ c_i max(0, r_i) − p_i r_i: what p lacks of being best for r
    residue: float  # what the gradient adds to the gap


def minimise(part: Part, point: Point, *, gap: float, floor: float, late: Callable[[], bool]) -> Point:
    """Make rounds from a point until the gap is reached, time is over, or nothing moves any more.

    An objective below the floor ends it too: rows are missing that would hold the hyperplane back.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # a step that is not finite is not made
        return _minimise(part, point, gap, floor, late)


def _minimise(part: Part, point: Point, gap: float, floor: float, late: Callable[[], bool]) -> Point:
    search, best = _Search(part, point), replace(point)
    for _ in range(_ROUNDS):
        settled = search.round(gap, floor, late)
        better = point.gap < best.gap
        if better or point.primal < floor:
            best = replace(point)
        if point.gap <= gap or point.primal < floor or late():
            break
        if not settled and not better:  # rounding: a narrower width would only make it worse
            break
        point.width *= _SHRINK
        highest = min(float(part.cost.max(initial=0.0)), 2.0 * float(point.weights.max(initial=0.0)))
        point.scale = max(point.scale, highest)
    return replace(best, steps=point.steps)


class _Search:
    """The state of `minimise`: the point, its scores, and inner products worth keeping."""

    def __init__(self, part: Part, point: Point) -> None:
        self.part, self.point = part, point
        self.scores = part.rows.times(point.w)
        self.products: _Products | None = None

    def round(self, gap: float, floor: float, late: Callable[[], bool]) -> bool:
        """Newton steps with fixed multipliers and width, which then become the weights. Whether they settled."""
        part, point = self.part, self.point
        sigma = np.minimum(part.cost, point.scale) / point.width
        settled, least, worse = False, np.inf, 0
        slope = self._slope(sigma)
        for _ in range(_STEPS):
            if slope.residue <= max(0.1 * max(slope.slackness, 0.05 * gap * slope.primal), 1e-15 * slope.primal):
                settled = True
                break
            worse = 0 if slope.residue < 0.9 * least else worse + 1
            least = min(least, slope.residue)
            if late() or worse > 30 or slope.primal < floor:
                break
            if not self._step(slope, sigma):
                break
            slope = self._slope(sigma)
        point.weights, point.primal = slope.weights, slope.primal
        point.gap = (slope.slackness + slope.residue) / slope.primal if slope.primal > 0 else 0.0
        return settled

    def _slope(self, sigma: FloatArray) -> _Slope:
        part, point = self.part, self.point
        residuals = 1.0 - part.y * (self.scores + point.b)
        ahead = point.weights + sigma * residuals
        weights = np.clip(ahead, 0.0, part.cost)
        signed = part.y * weights
        gw = point.w - part.pull - part.rows.combined(signed)
        total = part.balance + float(signed.sum())
        hinge = float(part.cost @ np.maximum(residuals, 0.0))
        primal = 0.5 * float(point.w @ point.w) + part.settled - float(part.pull @ point.w) + hinge
        residue = 0.5 * float(gw @ gw)
        gb = 0.0
        if part.bias == "free":
            primal -= part.balance * point.b
            gb = -total
            residue += abs(gb) * max(1.0, abs(point.b))
        elif part.bias == "regularised":
            primal += 0.5 * point.b**2 - part.balance * point.b
            gb = point.b - total
            residue += 0.5 * gb * gb
        return _Slope(ahead, weights, gw, gb, primal, hinge - float(weights @ residuals), residue)

    def _step(self, slope: _Slope, sigma: FloatArray) -> bool:
        """One Newton step with a line search. Whether there was anywhere to go."""
        part, point = self.part, self.point
        bent = np.flatnonzero((slope.ahead > 0.0) & (slope.ahead < part.cost))
        try:
            dw, db = self._direction(bent, sigma[bent], slope)
        except LinAlgError:
            return False
        if not np.isfinite(dw).all() or not np.isfinite(db):
            return False
        moved = part.rows.times(dw)
        change = part.y * (moved + db)
        base = float((point.w - part.pull) @ dw) - (part.balance * db if part.bias != "none" else 0.0)
        bend = float(dw @ dw)
        if part.bias == "regularised":
            base += point.b * db
            bend += db * db
        step = _line_search(base, bend, slope.ahead, sigma * change, change, part.cost)
        if step == 0.0:
            return False
        point.w = point.w + step * dw
        point.b += step * db
        self.scores += step * moved
        point.steps += 1
        return True

    def _direction(self, bent: IntArray, sigma: FloatArray, slope: _Slope) -> tuple[FloatArray, float]:
        """Solve (I + Σ_J σ_i x_i x_i', and the offset's row and column) for minus the gradient."""
        part = self.part
        k, d = len(bent), part.rows.shape[1]
        own = 1.0 if part.bias == "regularised" else 0.0
        if k == 0:
            return -slope.gw, -slope.gb if own else -float(np.sign(slope.gb))
        if min(k, d) > LARGE:
            return _by_conjugate_gradients(part.rows.take(bent), sigma, slope, part.bias)
        if k >= d:
            return _by_features(part.rows, bent, sigma, slope, part.bias, own)
        if self.products is None:
            self.products = _Products(part.rows)
        return _by_rows(part.rows.take(bent), self.products.among(bent), sigma, slope, part.bias, own)


def _line_search(
    base: float, bend: float, ahead: FloatArray, pushed: FloatArray, change: FloatArray, cost: FloatArray
) -> float:
    """The step along a direction: 1 if the slope is small there, else near where it changes its sign."""

    def slope(step: float) -> float:
        return base + step * bend - float(change @ np.clip(ahead - step * pushed, 0.0, cost))

    first, at_one = slope(0.0), slope(1.0)
    if not first < 0.0 or not np.isfinite(at_one):
        return 0.0
    if abs(at_one) <= 0.3 * abs(first):
        return 1.0
    low, at_low, high, at_high = 0.0, first, 1.0, at_one
    while at_high < 0.0:
        low, at_low, high = high, at_high, 4.0 * high
        if high > 1e12:
            return low
        at_high = slope(high)
    for k in range(60):
        step = (low * at_high - high * at_low) / (at_high - at_low) if k % 3 else 0.5 * (low + high)
        here = slope(step)
        if abs(here) <= 0.1 * abs(first):
            return step
        if here < 0.0:
            low, at_low = step, here
        else:
            high, at_high = step, here
    return low


# Newton systems -----------------------------------------------------------------------------------------------------


def _cholesky(matrix: FloatArray) -> Any:
    """Factor a matrix that is positive definite but for rounding; a ridge on its diagonal helps where it is not.

    Only the lower triangle is read. The ridge is relative to each feature, so the scale of features does not matter.
    """
    diagonal = matrix.diagonal().copy()
    ridge = 0.0
    for _ in range(12):
        trial = matrix.copy(order="F")
        if ridge:
            trial[np.diag_indices_from(trial)] += ridge * diagonal
        factor, failed = dpotrf(trial, lower=1, overwrite_a=1, clean=0)
        if not failed:
            return factor
        ridge = max(10.0 * ridge, 1e-15)
    raise LinAlgError("the Newton system is not positive definite")


def _solved(factor: FloatArray, right: FloatArray) -> FloatArray:
    return np.asarray(dpotrs(factor, right, lower=1)[0])


def _by_features(
    rows: RowProducts, bent: IntArray, sigma: FloatArray, slope: _Slope, bias: str, own: float
) -> tuple[FloatArray, float]:
    """d unknowns. The offset is eliminated first: what is left is the scatter of J about its own mean."""
    matrix, along = rows.scatter(bent, sigma)
    matrix[np.diag_indices_from(matrix)] += 1.0
    if bias == "none":
        return -_solved(_cholesky(matrix), slope.gw), 0.0
    whole = own + float(sigma.sum())
    matrix -= np.outer(along, along / whole)
    dw = _solved(_cholesky(matrix), along * (slope.gb / whole) - slope.gw)
    return dw, (-slope.gb - float(along @ dw)) / whole


def _by_rows(
    rows: Any, gram: FloatArray, sigma: FloatArray, slope: _Slope, bias: str, own: float
) -> tuple[FloatArray, float]:
    """As many unknowns as rows in J: with t = σ(X dw + db), dw = −gw − X't and (XX' + 1/σ) t = db − X gw."""
    gram[np.diag_indices_from(gram)] += 1.0 / sigma
    factor = _cholesky(gram)
    by_gradient = _solved(factor, rows @ slope.gw)
    if bias == "none":
        return -slope.gw + rows.T @ by_gradient, 0.0
    by_offset = _solved(factor, np.ones(len(sigma)))
    db = (-slope.gb + float(by_gradient.sum())) / (own + float(by_offset.sum()))
    return -slope.gw - rows.T @ (by_offset * db - by_gradient), db


def _by_conjugate_gradients(rows: Any, sigma: FloatArray, slope: _Slope, bias: str) -> tuple[FloatArray, float]:
    """Neither is small: an approximate solution, preconditioned by the diagonal."""
    d = rows.shape[1]
    squares = rows.multiply(rows) if issparse(rows) else rows * rows
    own = {"free": 0.0, "regularised": 1.0, "none": 1.0}[bias]
    diagonal = np.append(1.0 + squares.T @ sigma, own + (float(sigma.sum()) if bias != "none" else 0.0))
    residual = -np.append(slope.gw, slope.gb)
    x = np.zeros(d + 1)
    z = residual / diagonal
    direction, size = z.copy(), float(residual @ z)
    enough = min(0.1, np.sqrt(slope.residue / max(slope.primal, 1e-300))) ** 2 * size
    for _ in range(300):
        if size <= enough:
            break
        offset = direction[d] if bias != "none" else 0.0
        t = sigma * (rows @ direction[:d] + offset)
        image = np.append(direction[:d] + rows.T @ t, own * direction[d] + (float(t.sum()) if bias != "none" else 0.0))
        step = size / float(direction @ image)
        x += step * direction
        residual -= step * image
        z = residual / diagonal
        size, before = float(residual @ z), size
        direction = z + (size / before) * direction
    return x[:d], float(x[d]) if bias != "none" else 0.0


class _Products:
    """Inner products among rows that have been in J, which changes little from step to step."""

    def __init__(self, rows: RowProducts) -> None:
        self.rows = rows
        self.place = np.full(rows.shape[0], -1)
        self.known: IntArray = np.zeros(0, np.int64)
        self.table = np.zeros((0, 0))

    def among(self, ids: IntArray) -> FloatArray:
        """The inner products of some rows with each other: a copy."""
        new = ids[self.place[ids] < 0]
        if len(self.known) + len(new) > _CACHED:
            self.place[self.known] = -1
            self.known, self.table, new = self.known[:0], np.zeros((0, 0)), ids
        if len(new) > 0:
            self._learn(new)
        at = self.place[ids]
        return np.asarray(self.table[np.ix_(at, at)])

    def _learn(self, new: IntArray) -> None:
        before, after = len(self.known), len(self.known) + len(new)
        known = np.concatenate([self.known, new])
        products = self.rows.take(known) @ self.rows.take(new).T
        if issparse(products):
            products = products.toarray()
        if after > len(self.table):
            room = max(after, min(_CACHED, 2 * after))
            table = np.empty((room, room))
            table[:before, :before] = self.table[:before, :before]
            self.table = table
        self.table[:after, before:after] = products
        self.table[before:after, :before] = products[:before].T
        self.place[new] = np.arange(before, after)
        self.known = known
