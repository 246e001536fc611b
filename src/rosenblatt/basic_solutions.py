"""From positive weights on many rows to weights on independent ones: at most as many as there are equations."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rosenblatt.inputs import FloatArray, IntArray

_PUSHED = 128  # rows pushed to weight 0 between two updates of the inverse


def basic_solution(
    a: FloatArray, e: FloatArray, weights: FloatArray, late: Callable[[], bool]
) -> tuple[IntArray, FloatArray] | None:
    """Reduce weights λ > 0 with A'λ = e to as many rows as A has columns (Carathéodory), independent ones.

    The push phase of a crossover from an interior point to a vertex (Megiddo 1991): a basis B of rows is chosen, and
    each other row is pushed to weight 0 along the null vector that B gives, λ_B ← λ_B + τ B⁻¹ a_j. If a row of the
    basis reaches 0 first, it leaves and the pushed one takes its place. The null vectors of all rows are kept as one
    tableau, and pushed in blocks: inside a block a pivot is a rank-one update, and the pivots of a block change the
    rest of the tableau by one matrix product. At the end the weights are solved for anew, from the data.
    Rows and weights are returned; None if it is late or no basis is found.
    """
    from scipy.linalg.blas import dgemm

    basis = _first_basis(a, weights)
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
            later = tableau[:, last:]
            dgemm(1.0, product, np.asfortranarray(later[changed]), beta=1.0, c=later, overwrite_c=1)
    return _resolved(a, e, rows, weights)


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


def _first_basis(a: FloatArray, weights: FloatArray) -> tuple[IntArray, IntArray, FloatArray] | None:
    """Independent rows of large weight; the other rows, lightest first; and these written in terms of the basis.

    The rows of largest weight, if they are well conditioned; else rows, and the rank, by a pivoted QR weighted by λ.
    """
    from scipy.linalg import qr
    from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

    def others(rows: IntArray) -> IntArray:
        rest = np.setdiff1d(np.arange(len(weights)), rows)
        return rest[np.argsort(weights[rest], kind="stable")]

    m, size = a.shape
    if m >= size:
        rows = np.sort(np.argsort(-weights, kind="stable")[:size])
        matrix = np.asfortranarray(a[rows].T)
        norm = float(np.abs(matrix).sum(axis=0).max())
        lu, pivots, info = dgetrf(matrix, overwrite_a=1)
        if info == 0 and dgecon(lu, norm)[0] > 1e-10:
            rest = others(rows)
            if len(rest) == 0:
                return rows, rest, np.zeros((size, 0), order="F")
            return rows, rest, dgetrs(lu, pivots, np.asfortranarray(a[rest].T), overwrite_b=1)[0]
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
        from scipy.linalg import lu_factor, lu_solve

        factor = lu_factor(part, check_finite=False)
        solved = lu_solve(factor, e, check_finite=False)
        solved += lu_solve(factor, e - part @ solved, check_finite=False)
    else:
        solved = np.linalg.lstsq(part, e, rcond=None)[0]
        solved += np.linalg.lstsq(part, e - part @ solved, rcond=None)[0]
    if not (np.isfinite(solved).all() and (solved > 0).all()):
        return rows, weights[rows]
    return rows, np.asarray(solved)
