"""Wolfe's minimum-norm point on a growing set of rows: exact in few scans while the dimension is some hundreds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.searching.candidates import ZERO, Supply, Task, dense, rows_of, sample

SAMPLED = 20  # one row in so many stands between the start and all rows
_START = 200  # rows that the start has at least
_NEAR = 0.1  # the gap at which a sample has done its work
_ROUNDS = 200


class Working:
    """Some rows as points y_i (x_i − centre), and the point nearest to the origin among their combinations.

    With an offset each class sums to 1, so the centre cancels; taking it away keeps the numbers small. Sparse rows are
    dense here, in the columns they use.
    """

    def __init__(self, task: Task, ids: IntArray) -> None:
        self.task = task
        self.columns: IntArray | None = None
        if task.rows.sparse is not None and len(task.rows) < task.rows.shape[1]:
            self.columns = np.unique(task.rows.sparse.indices).astype(np.int64)
        self.ids = ids
        self.inside = np.zeros(len(task.rows), np.bool_)
        self.inside[ids] = True
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
        new = np.sort(new[~self.inside[new]])
        if len(new) == 0:
            return False
        if len(self.ids) + len(new) > room:
            x = self.points[self.support].T @ self.weights
            score = self.points @ x - np.asarray(self.levels)[self.task.classes[self.ids]]
            score[self.support] = -np.inf
            places = np.sort(np.argsort(score, kind="stable")[: max(len(self.support), room - len(new))])
            self.support = np.searchsorted(places, self.support).astype(np.int64)
            self.inside[self.ids] = False
            self.ids, self.points = self.ids[places], self.points[places]
            self.inside[self.ids] = True
        self.points = np.vstack([self.points, self._signed(self._raw(new), new)])
        self.ids = np.concatenate([self.ids, new])
        self.inside[new] = True
        return True

    def _raw(self, ids: IntArray) -> FloatArray:
        if self.columns is None:
            return dense(self.task.rows, ids)
        return np.asarray(self.task.rows.sparse[ids][:, self.columns].toarray(), dtype=np.float64)

    def _signed(self, points: FloatArray, ids: IntArray) -> FloatArray:
        return np.ascontiguousarray((points - self.centre) * self.task.signs(ids)[:, np.newaxis])


def solve(task: Task) -> Supply:
    """Solve on few rows exactly, scan all rows, add the worst, repeat.

    The start is a random handful of rows. Between it and all rows stands a random sample of them, solved in the same
    way: by Clarkson's argument the optimum on r of n rows is violated by at most about D n / r rows, so few scans of
    all rows remain. Hopeless data never needs a scan: the first handful is inseparable already.
    """
    n, d = task.rows.shape
    size = min(n, d) + task.k
    rng = np.random.default_rng(task.seed)
    start = max(_START, 4 * size)
    working = Working(task, sample(task, rng, start))
    if working.solve()[1] == _engine.MinNormEnd.zero:
        return task.best
    samples = []
    count = n // SAMPLED
    while count > 2 * start:
        samples.append(_subtask(task, sample(task, rng, count)))
        count //= SAMPLED
    for ids, part in reversed(samples):
        if not _approach(task, part, ids, working):
            return task.best
    _approach(task, task, None, working)
    return task.best


def _subtask(task: Task, ids: IntArray) -> tuple[IntArray, Task]:
    """The same question about some rows only."""
    gap = max(task.gap, _NEAR)
    return ids, replace(task, rows=rows_of(task.rows, ids), codes=task.codes[ids], gap=gap, first_separator=False)


def _approach(task: Task, scanned: Task, ids: IntArray | None, working: Working) -> bool:
    """Add rows of `scanned` (numbered by `ids`) until it is solved. False if the whole question is settled, or late."""
    n, d = task.rows.shape
    size = min(n, d) + task.k
    add = max(50, (6 if size <= 128 else 2) * size)
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
