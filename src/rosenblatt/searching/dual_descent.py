"""Hard-margin dual coordinate descent: for many features and a margin that is not tiny."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.searching.candidates import Task, combination, squares
from rosenblatt.searching.large_products import add_gram
from rosenblatt.searching.normal_equations import RIDGES, WIDE, Cholesky, conjugate_gradients

Solve: TypeAlias = Callable[[FloatArray], FloatArray | None]

LARGE = 6000  # rows of a Gram matrix: above, its factorisation is too slow
HOPELESS = 5.0  # a lower bound this many times the upper one below 0, after some passes, will not come up soon
_AT_ONCE = 1 << 26  # numbers visited between two looks at the clock


class Descent:
    """Hard-margin dual coordinate descent with a free offset; the pass over rows is the engine's.

    The offset is a constant feature s whose weight would be part of the norm. It is made free by the method of
    multipliers: after some passes the offset so far becomes the new centre b₀ of b = b₀ + s² Σ a_i y_i, until
    Σ a_i y_i = 0. Weights: a, each class divided by its sum. Rows with weight 0 that are safely right are left out
    until the next look at all rows. When no hyperplane separates, a grows without end and the upper bound falls
    towards 0 but never reaches it: that is for `affine_scaling` to settle.
    """

    def __init__(self, task: Task) -> None:
        rows = task.rows
        n, d = rows.shape
        self.task = task
        lengths = squares(rows)
        self.bias = float(lengths.mean()) if task.intercept else 0.0
        self.norms = lengths + self.bias
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
            self.b, more, *_ = _engine.descend(
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
        if settled and (task.best.lower > 0 or self.passes >= 200) and not task.done():
            self._solve()

    def _bounds(self) -> IntArray:
        """Bound the margin from both sides. The support."""
        task = self.task
        task.scan(self.w[: task.rows.shape[1]], scores=self.scores)
        support = np.flatnonzero(self.weights > 0)
        if len(np.unique(task.classes[support])) == task.k:
            weights = task.normalised(support, self.weights[support])
            task.weigh(support, weights, float(np.linalg.norm(combination(task, support, weights))) / task.k)
        return support

    def _solve(self) -> None:
        """Jump to the optimum on the support: all its rows at margin 1, rows of negative weight dropped until none is.

        A few Cholesky factorisations of the Gram matrix of the support, where passes would converge slowly; later
        passes repair what the jump got wrong, as they do from any weights.
        """
        task, ids = self.task, self.support
        self.solved = self.passes + 20
        if len(ids) > min(LARGE, task.rows.shape[1] + task.k) or task.late():
            return
        found = self._jump(ids, np.float32) if len(ids) >= WIDE else None
        if found is None and not task.late():
            found = self._jump(ids, np.float64)
        if found is None:
            return
        ids, weights, self.b = found
        self.weights[:] = 0.0
        self.weights[ids] = weights
        self.w[: task.rows.shape[1]] = combination(task, ids, weights)
        self._bounds()
        signs = task.signs(np.arange(len(task.rows)))
        self.active = np.flatnonzero((self.weights > 0) | (self.scores + signs * self.b < 1.0 + 1e-3))

    def _jump(self, ids: IntArray, dtype: Any) -> tuple[IntArray, FloatArray, float] | None:
        """Rows of the support, their weights and the offset; None if it is late or fails."""
        task = self.task
        unit = float(self.norms[ids].mean())  # in this unit float32 holds the numbers
        part = task.rows.take(ids).astype(np.float64, copy=False)
        gram = _gram(part, dtype, self.bias, unit, task.threads)
        places = np.arange(len(ids))  # in part
        for _ in range(20):
            signs = task.signs(ids)
            factor = Cholesky(gram, RIDGES if dtype == np.float32 else (0.0, 1e-13))
            if factor.failed:
                return None
            found = _at_margin_one(factor.solve, signs, task.intercept)
            if dtype == np.float32 and found is not None and (found[0] > 0).all():
                found = _at_margin_one(self._polished(part[places], factor, unit), signs, task.intercept)
            if found is None:
                return None
            keep = found[0] > 0
            if keep.all():
                return ids, found[0] / unit, found[1]
            if dtype == np.float64 and factor.singular:  # dependent rows: one is too many
                keep = np.arange(len(ids)) != _first_to_vanish(self.weights[ids], found[0] / unit)
            if len(np.unique(task.classes[ids[keep]])) < task.k or task.late():
                return None
            ids, places, gram = ids[keep], places[keep], gram[keep][:, keep]
        return None

    def _polished(self, part: Any, factor: Cholesky, unit: float) -> Solve:
        """Solve with the Gram matrix itself, of which the factor is nearly one."""

        def apply(v: FloatArray) -> FloatArray:
            return np.asarray(part @ (v @ part) + self.bias * float(v.sum())) / unit

        return lambda right: conjugate_gradients(apply, factor, right, max(1e-13, 0.01 * self.task.gap))


def _gram(part: Any, dtype: Any, bias: float, unit: float, threads: int) -> NDArray[Any]:
    """The inner products of some rows, and the offset's part, in a unit; below the diagonal as it may be."""
    if not isinstance(part, np.ndarray):
        return np.asarray(((part @ part.T).toarray() + bias) / unit, dtype=dtype)
    gram = np.full((len(part), len(part)), bias / unit, dtype=dtype)
    scaled = np.empty(part.shape, dtype=dtype)
    np.multiply(part, 1 / math.sqrt(unit), out=scaled, casting="same_kind")
    add_gram(gram, scaled.T, threads)
    return gram


def _first_to_vanish(weights: FloatArray, wanted: FloatArray) -> int:
    """Which weight is 0 first on the way from some weights to others."""
    with np.errstate(all="ignore"):
        return int(np.argmin(np.where(wanted <= 0, weights / (weights - wanted), np.inf)))


def _at_margin_one(solve: Solve, signs: FloatArray, intercept: bool) -> tuple[FloatArray, float] | None:
    """Weights a with (Y K Y + s² y y') a = 1 and, with an offset, Σ a_i y_i = 0, whose multiplier is the offset."""
    right = solve(signs)
    along = solve(np.ones(len(signs))) if intercept else right
    if right is None or along is None:
        return None
    if not intercept:
        return signs * right, 0.0
    b = float(right.sum()) / float(along.sum())
    return signs * (right - b * along), b
