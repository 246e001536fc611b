"""Interior steps on Gordan's dual: for many features and data that are hard or inseparable."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.searching.basic_solutions import basic_solution
from rosenblatt.searching.candidates import ZERO, Task, combination, dense, rows_of, sample, squares
from rosenblatt.searching.large_products import add_gram
from rosenblatt.searching.normal_equations import RIDGES, WIDE, Cholesky, conjugate_gradients

_STEPS = 60
_TO_THE_WALL = 0.95


def solve(task: Task, start: FloatArray | None = None) -> None:
    """Dikin's affine scaling on Gordan's dual: λ > 0 with Σ λ_i y_i x_i = 0 and each class summing to 1.

    With A = rows (y_i (x_i − centre), 1 in the column of the class), r = e − A'λ what is missing, and Λ = diag(λ),

        v = (A'Λ²A)⁻¹ r,    λ ← λ + θ Λ² A v,      θ = 1, or as far as 0.95 of the way to the wall

    (Dikin 1967; Vanderbei, Meketon and Freedman 1986, for feasibility). A step with θ = 1 ends at a λ > 0 that solves
    the equations. If there is none, −v turns into a direction that separates, by the same normal equations: each is
    looked at. Rows beyond four times the dimension are left out until such a direction is wrong about them.

    `start`: weights of all rows, 0 or more, that come near to a solution, as a dual descent leaves them.

    The interior λ is reduced to a basic solution (`basic_solution`). Returned through the task.
    """
    n, d = task.rows.shape
    size = min(n, d) + task.k
    rng = np.random.default_rng(task.seed)
    ids = np.zeros(0, np.int64) if start is None else np.flatnonzero(start > 0)
    if not size < len(ids) <= 4 * size:  # else those that the descent found hard to get right will do
        ids = sample(task, rng, max(50, 4 * size))
    while not task.late():
        system = _System(task, ids)
        if start is None:
            weights = np.ones(len(ids))
        else:  # most of the weight where the descent put it, some everywhere
            weights = start[ids] / max(float(start[ids].mean()), 1e-300) + 0.1
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

    def __init__(self, task: Task, ids: IntArray) -> None:
        self.ids = ids
        x = dense(task.rows, ids)
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

    def normal_direction(self, weights: FloatArray, missing: FloatArray, task: Task) -> FloatArray | None:
        """(A'Λ²A)⁻¹ r; None if it is late or fails."""
        relative = weights / weights.mean()
        found = self._by_gradients(relative, missing, task) if len(self.e) >= WIDE else None
        if found is None:
            found = self._by_cholesky(relative, missing, task)
        return None if found is None else found / weights.mean() ** 2

    def _by_gradients(self, weights: FloatArray, missing: FloatArray, task: Task) -> FloatArray | None:
        gram = self._gram(weights, np.float32, task)
        if gram is None:
            return None

        def apply(v: FloatArray) -> FloatArray:
            total = np.zeros_like(v)
            for part in _blocks(len(self.a), 64):  # each block is read once for both products
                total += (weights[part] ** 2 * (self.a[part] @ v)) @ self.a[part]
            return total

        factor = Cholesky(gram, RIDGES)
        return None if factor.failed else conjugate_gradients(apply, factor, missing)

    def _by_cholesky(self, weights: FloatArray, missing: FloatArray, task: Task) -> FloatArray | None:
        gram = self._gram(weights, np.float64, task)
        if gram is None:
            return None
        factor = Cholesky(gram, (1e-15, 1e-13, 1e-11, 1e-9))  # a ridge at the level of rounding
        return None if factor.failed else factor.solve(missing)

    def _gram(self, weights: FloatArray, dtype: Any, task: Task) -> NDArray[Any] | None:
        """The upper triangle of A'Λ²A; None if it is late."""
        gram = np.zeros((len(self.e), len(self.e)), dtype=dtype)
        for part in _blocks(len(weights), max(1024, len(self.e))):
            if task.late():
                return None
            scaled = np.empty((part.stop - part.start, len(self.e)), dtype=dtype)
            np.multiply(self.a[part], weights[part, np.newaxis], out=scaled, casting="same_kind")
            add_gram(gram, scaled, task.threads)
        return gram


def _blocks(size: int, step: int) -> list[slice]:
    return [slice(first, min(first + step, size)) for first in range(0, size, step)]


def _dikin(
    task: Task, system: _System, weights: FloatArray
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
        v = system.normal_direction(weights, missing, task)
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
        upper = float(np.linalg.norm(combination(task, system.ids, positive))) / task.k
        task.weigh(system.ids, positive, upper)
        if task.late():
            break
    return None, None


def _settle(task: Task, system: _System, weights: FloatArray) -> None:
    """Give the task a witness: weights that solve the equations, on as few rows as that takes."""
    basic = basic_solution(system.a, system.e, weights, task.late, task.threads)
    places, weights = (np.arange(len(weights)), weights) if basic is None else basic
    ids = system.ids[places]
    weights = task.normalised(ids, weights)
    upper = float(np.linalg.norm(combination(task, ids, weights))) / task.k
    size = float(weights @ np.sqrt(squares(rows_of(task.rows, ids))))
    task.weigh(ids, weights, upper, collapsed=upper * task.k <= 10 * ZERO * size)
