"""The best point on a face of the soft margin's dual: rows strictly between their bounds move, all others stay.

    max over a_F   Σ a_i − ½‖Σ a_i y_i x_i‖² − ½ s² (Σ a_i y_i)²,      Σ a_i y_i = 0 if the offset is free

Coordinate descent finds the rows between the bounds soon and their weights slowly; with the rows known, the weights
are the solution of linear equations (GPCG: Moré, Toraldo, SIAM J. Optim. 1 (1991)). A step towards it is taken as far
as the dual rises, rows that it takes over a bound stop there, and the rest is solved again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import FloatArray, IntArray, Rows

LARGE = 6000  # rows of a Gram matrix: above, its factorisation is too slow
_ROOM = 1 << 28  # numbers in the copy of the rows of a face
_ROUNDS = 10  # in which rows are put to their bounds
_SHORT = 0.5  # of a step that had to be cut this much the rest is in vain: descend first
CHEAP = 500  # rows: so few are solved for again and again
_FEW = 40  # conjugate gradient steps after which rows beyond their bounds are put there
_LITTLE = 0.1  # a gain this part of the largest one: with rows beyond their bounds, further steps are in vain


@dataclass(frozen=True)
class Climb:
    """Where the climb ended: some rows with new weights, what they add to w, and the offset."""

    ids: IntArray
    weights: FloatArray
    shift: FloatArray
    b: float


class Faces:
    """Climbs on one face after another, and remembers the inner products of rows."""

    def __init__(
        self, rows: Rows, y: FloatArray, cost: FloatArray, *, free: bool, bias: float, remaining: Callable[[], float]
    ) -> None:
        self.rows, self.y, self.cost = rows, y, cost
        self.free = free  # the offset: Σ a_i y_i = 0
        self.bias = bias  # s²
        self.remaining = remaining  # seconds
        self.ids: IntArray = np.zeros(0, np.int64)  # the rows whose inner products are known
        self.gram: FloatArray = np.zeros((0, 0))
        # Conjugate gradient steps so far; those of earlier climbs count less and less while no inner product is known.
        self.spent = 0

    def climb(self, weights: FloatArray, w: FloatArray, b: float, target: float) -> Climb | None:
        """Go to the best point of the face that `weights` are on, to a complementarity of `target`; None: no rise."""
        ids = np.flatnonzero((weights > 0) & (weights < self.cost))
        if not 0 < len(ids) * (1 if self.rows.sparse is not None else len(w)) <= _ROOM:
            return None
        part = self.rows.take(ids).astype(np.float64, copy=False)
        if len(self.ids) == 0:
            self.spent //= 2
        y, cost, start = self.y[ids], self.cost[ids], weights[ids]
        at, v, balance, inside = start.copy(), w.copy(), float(weights @ self.y), np.ones(len(ids), bool)
        for _ in range(_ROUNDS if len(ids) > CHEAP else CHEAP):
            some = part if inside.all() else part[inside]
            face = _Face(some, y[inside], cost[inside], at[inside], self.free, self.bias, self.remaining)
            residual = 1.0 - face.y * (some @ v + b)
            step = self._step(face, residual, balance, target, ids, part, inside)
            rise = face.rise(residual, step)
            if rise is None:
                break
            moved, shift, length = rise
            v += shift
            balance += float(face.y @ (moved - face.weights))
            at[inside] = moved
            stays = (moved > 0) & (moved < face.cost)
            if self.free and stays.any():
                b += length * (float(np.mean((face.y - some @ v)[stays])) - b)
            elif not self.free:
                b = self.bias * balance
            inside[inside] = stays
            short = length < _SHORT and len(stays) > CHEAP
            if short or (length == 1.0 and stays.all()) or not stays.any() or self.remaining() <= 0:
                break
        return None if np.array_equal(at, start) else Climb(ids, at, v - w, b)

    def _step(
        self,
        face: _Face,
        residual: FloatArray,
        balance: float,
        target: float,
        ids: IntArray,
        part: Any,
        inside: NDArray[np.bool_],
    ) -> FloatArray:
        """Conjugate gradients, until they have cost as much as a factorisation would; then that."""
        each, whole = self._seconds(ids, part)
        possible = len(ids) <= LARGE and 2.0 * whole < self.remaining()
        limit = max(50, int(whole / each)) - self.spent if possible else 1000
        step, settled = np.zeros(len(residual)), False
        if limit > 0:
            step, settled, steps = face.conjugate(residual, balance, target, limit)
            self.spent += steps
        if settled or not possible:
            return step
        gram = self._products(ids, part)
        return face.direct(residual, balance, gram if inside.all() else gram[np.ix_(inside, inside)])

    def _seconds(self, ids: IntArray, part: Any) -> tuple[float, float]:
        """What a conjugate gradient step and a factorisation cost, at the usual rates of one core."""
        m, d = part.shape
        unknown = m - len(np.intersect1d(ids, self.ids, assume_unique=True))
        if self.rows.sparse is None:
            each, products = 4.0 * m * d / 4e9, 2.0 * unknown * m * d / 3e10
        else:
            counts = np.bincount(part.indices, minlength=1).astype(np.float64)
            each, products = 4.0 * part.nnz / 1.5e9, unknown / m * float(counts @ counts) / 2e8
        return each + 1e-5, products + m**3 / 6e10

    def _products(self, ids: IntArray, part: Any) -> FloatArray:
        """The Gram matrix of some rows; inner products that are known are not computed again."""
        if np.array_equal(ids, self.ids):
            return self.gram
        known, here, there = np.intersect1d(ids, self.ids, assume_unique=True, return_indices=True)[:3]
        gram = np.empty((len(ids), len(ids)))
        fresh = np.ones(len(ids), bool)
        fresh[here] = False
        if len(known) == 0:
            product = part @ part.T
            gram[:] = product.toarray() if self.rows.sparse is not None else product
        else:
            gram[np.ix_(here, here)] = self.gram[np.ix_(there, there)]
            if fresh.any():
                product = part @ part[fresh].T
                gram[:, fresh] = product.toarray() if self.rows.sparse is not None else product
                gram[fresh] = gram[:, fresh].T
        self.ids, self.gram = ids, gram
        return gram


@dataclass(frozen=True)
class _Face:
    """The linear equations of some rows: all of them at margin 1, and with a free offset the classes in balance."""

    part: Any  # their rows
    y: FloatArray
    cost: FloatArray
    weights: FloatArray
    free: bool
    bias: float
    remaining: Callable[[], float]

    def conjugate(
        self, residual: FloatArray, balance: float, target: float, limit: int
    ) -> tuple[FloatArray, bool, int]:
        """Conjugate gradients: the step, and whether that is all there is to gain here."""
        y, m = self.y, len(self.y)
        step = np.zeros(m)
        if self.free:  # first into the plane of balance, then within it
            step = -balance / m * y
            residual = residual - self._curved(step)
            residual -= y * (float(y @ residual) / m)
        way, square, most = residual.copy(), float(residual @ residual), 0.0
        count = 0
        for count in range(limit):
            reached = self.weights + step
            beyond = bool(((reached < 0) | (reached > self.cost)).any())
            reached = np.clip(reached, 0.0, self.cost)
            short = np.maximum(residual, 0.0) @ (self.cost - reached) - np.minimum(residual, 0.0) @ reached
            if short <= target or self.remaining() <= 0:
                return step, True, count
            curved = self._curved(way)
            if self.free:
                curved -= y * (float(y @ curved) / m)
            curvature = float(way @ curved)
            if curvature <= 1e-15 * float(way @ way):
                return step, False, count
            length = square / curvature
            step += length * way
            residual = residual - length * curved
            gain, before, square = 0.5 * length * square, square, float(residual @ residual)
            most = max(most, gain)
            if beyond and (gain <= _LITTLE * most or count >= _FEW):
                return step, True, count
            way = residual + square / before * way
        return step, False, count

    def direct(self, residual: FloatArray, balance: float, gram: FloatArray) -> FloatArray:
        """Solve by a Cholesky factorisation of the inner products."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        if not self.free:
            gram = gram + self.bias
        ridge = 1e-14 * float(np.trace(gram)) / len(gram)
        for _ in range(6):
            try:
                factor = cho_factor(gram + ridge * np.eye(len(gram)), lower=True, overwrite_a=True, check_finite=False)
                break
            except LinAlgError:
                ridge *= 100.0
        else:
            return np.zeros(len(gram))
        signed = cho_solve(factor, self.y * residual, check_finite=False)
        if self.free:  # Σ a_i y_i = 0, whose multiplier is the change of the offset
            along = cho_solve(factor, np.ones(len(gram)), check_finite=False)
            signed -= (float(signed.sum()) + balance) / float(along.sum()) * along
        return np.asarray(self.y * signed)

    def rise(self, residual: FloatArray, step: FloatArray) -> tuple[FloatArray, FloatArray, float] | None:
        """Go along the step, rows stopping at their bounds, if the dual rises: the weights, their shift of w, how far.

        Else half as far, and so on; then until half of the rows are at a bound, a quarter, and so on; at last only
        until the first one is, which always is a rise. The steps of a face without curvature are that long.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            room = np.where(step > 0, self.cost - self.weights, -self.weights) / step
        room[~(step != 0)] = np.inf
        stops = np.sort(room)[len(room) // 2 ** np.arange(1, len(room).bit_length() + 1)]
        halves = 0.5 ** np.arange(6)
        for length in map(float, (*halves[halves > stops[-1]], *stops[stops < halves[-1]], min(1.0, stops[-1]))):
            moved = np.clip(self.weights + length * step, 0.0, self.cost)
            there = room <= length
            moved[there] = np.where(step > 0, self.cost, 0.0)[there]  # whatever rounding says
            way = moved - self.weights
            shift = self.part.T @ (self.y * way)
            curvature = float(shift @ shift) + self.bias * float(self.y @ way) ** 2
            if float(residual @ way) > 0.5 * curvature:
                return moved, shift, length
        return None

    def _curved(self, way: FloatArray) -> FloatArray:
        signed = self.y * way
        curved = self.part @ (self.part.T @ signed)
        if not self.free and self.bias:
            curved = curved + self.bias * float(signed.sum())
        return np.asarray(self.y * curved)
