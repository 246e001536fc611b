"""Hard-margin dual coordinate descent: for many features and a margin that is not tiny."""

from __future__ import annotations

import numpy as np

from rosenblatt import _engine
from rosenblatt.candidates import Task, combination, squares
from rosenblatt.inputs import IntArray

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
        self.w[: task.rows.shape[1]] = combination(task, ids, weights)
        self.b = b
        self._bounds()
        signs = task.signs(np.arange(len(task.rows)))
        self.active = np.flatnonzero((self.weights > 0) | (self.scores + signs * self.b < 1.0 + 1e-3))
