"""From positive weights on many rows to weights on independent ones: at most as many as there are equations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.searching.large_products import Factors, spread

_SETTLED = 1e-14  # what refinement from a factor in float32 may leave of the equations
_PUSHED = 128  # rows pushed to weight 0 between two updates of the inverse


def basic_solution(
    a: FloatArray, e: FloatArray, weights: FloatArray, late: Callable[[], bool], threads: int = 1
) -> tuple[IntArray, FloatArray] | None:
    """Reduce weights λ > 0 with A'λ = e to as many rows as A has columns (Carathéodory), independent ones.

    The push phase of a crossover from an interior point to a vertex (Megiddo 1991): a basis B of rows is chosen, and
    each other row is pushed to weight 0 along the null vector that B gives, λ_B ← λ_B + τ B⁻¹ a_j. If a row of the
    basis reaches 0 first, it leaves and the pushed one takes its place. The null vectors of all rows are kept as one
    tableau, and pushed in blocks: inside a block a pivot is a rank-one update, and the pivots of a block change the
    rest of the tableau by one matrix product. At the end the weights are solved for anew, from the data.
    Rows and weights are returned; None if it is late or no basis is found. (A tableau of float32 was tried on 9,000
    rows and 4,000 columns: the basis it ends with does not have positive weights.)
    """
    basis = _first_basis(a, weights, threads)
    if basis is None:
        return None
    rows, rest, tableau = basis
    weights = weights.copy()
    for first in range(0, len(rest), _PUSHED):
        if late():
            return None
        last = min(first + _PUSHED, len(rest))
        pivots: list[tuple[int, FloatArray]] = []
        for t in range(first, last):
            j, move = rest[t], tableau[:, t].copy()
            current = weights[rows]
            leaving, reach = _first_at_zero(current, move, float(weights[j]))
            weights[rows] = np.maximum(current + reach * move, 0.0)
            weights[j] -= reach
            if leaving < 0:
                weights[j] = 0.0
                continue
            weights[rows[leaving]] = 0.0
            rows[leaving] = j
            pivots.append((leaving, move))
            _pivot(tableau[:, t + 1 : last], leaving, move)
        if pivots and last < len(rest):
            changed = np.unique([leaving for leaving, _ in pivots])
            places = np.arange(len(changed))
            product = np.zeros((len(rows), len(changed)), order="F")
            product[changed, places] = 1.0
            for leaving, move in pivots:
                _pivot(product, leaving, move)
            product[changed, places] -= 1.0
            later = tableau[:, last:].T
            turned, factor = later[:, changed], np.ascontiguousarray(product.T)
            spread(partial(_add_product, later, turned, factor), len(later), threads)
    return _resolved(a, e, rows, weights)


def _add_product(total: FloatArray, a: FloatArray, b: FloatArray, rows: slice) -> None:
    total[rows] += a[rows] @ b


def _pivot(tableau: FloatArray, leaving: int, move: FloatArray) -> None:
    """Write columns in the basis where the row of `move` has taken the place `leaving`; in place (column order)."""
    from scipy.linalg.blas import dger

    if tableau.shape[1] == 0:
        return
    turned = tableau[leaving] / move[leaving]
    dger(-1.0, move, turned, a=tableau, overwrite_a=1)
    tableau[leaving] = turned


def _first_at_zero(current: FloatArray, move: FloatArray, whole: float) -> tuple[int, float]:
    """How far the pushed weight can go, at most all of it, and which weight is 0 then (−1: the pushed one).

    Among those nearly as near, the one that moves most: a small pivot would spoil the inverse.
    """
    falling = np.flatnonzero(move < 0)
    ways = current[falling] / -move[falling]
    nearest = float(ways.min()) if len(ways) else math.inf
    if nearest >= whole:
        return -1, whole
    near = falling[ways <= nearest + 1e-9 * whole]
    leaving = int(near[np.argmin(move[near])])
    return leaving, float(min(current[leaving] / -move[leaving], whole))


def _first_basis(a: FloatArray, weights: FloatArray, threads: int) -> tuple[IntArray, IntArray, FloatArray] | None:
    """Independent rows of large weight; the other rows, lightest first; and these written in terms of the basis.

    The rows of largest weight, if they are well conditioned; else rows, and the rank, by a pivoted QR weighted by λ.
    """
    from scipy.linalg import qr

    def others(rows: IntArray) -> IntArray:
        rest = np.setdiff1d(np.arange(len(weights)), rows)
        return rest[np.argsort(weights[rest], kind="stable")]

    m, size = a.shape
    if m >= size:
        rows = np.sort(np.argsort(-weights, kind="stable")[:size])
        factors = Factors(a[rows].T)
        if not factors.singular and factors.reciprocal_condition() > 1e-10:
            rest = others(rows)
            return rows, rest, factors.solve(a[rest].T, threads)
    q, r, order = qr((a * weights[:, np.newaxis]).T, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(r))
    rank = int((diagonal > 1e-12 * diagonal[0]).sum())
    rows = order[:rank].astype(np.int64)
    rest = others(rows)
    try:
        tableau = np.linalg.solve((a[rows] @ q[:, :rank]).T, (a[rest] @ q[:, :rank]).T)
    except np.linalg.LinAlgError:
        return None
    return rows, rest, np.asfortranarray(tableau)


def _resolved(a: FloatArray, e: FloatArray, rows: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """The weights of a basis, solved for anew from the data; rows that need none are dropped first."""
    rows = np.sort(rows[weights[rows] > 1e-15])
    part = np.asarray(a[rows].T)
    if part.shape[0] == part.shape[1]:
        solved = _square(part, e)
    else:
        solved = np.asarray(np.linalg.lstsq(part, e, rcond=None)[0], dtype=np.float64)
        solved += np.linalg.lstsq(part, e - part @ solved, rcond=None)[0]
    if not (np.isfinite(solved).all() and (solved > 0).all()):
        return rows, weights[rows]
    return rows, np.asarray(solved)


def _square(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of a square system, refined; from factors in float32 if these are good enough."""
    solved = np.zeros(len(right))
    for dtype, steps in ((np.float32, 10), (np.float64, 2)):
        factors = Factors(matrix.astype(dtype))
        solved = np.zeros(len(right))
        for _ in range(0 if factors.singular else steps):
            solved += factors.solve((right - matrix @ solved)[:, np.newaxis], 1)[:, 0]
        if float(np.abs(right - matrix @ solved).max()) <= _SETTLED * float(np.abs(right).max()):
            break
    return solved
