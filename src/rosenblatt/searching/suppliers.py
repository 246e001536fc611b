"""Suppliers of candidates for certificates: a hyperplane w, b and weights λ, in floating point. None of it is a proof.

For any w, b and any λ ≥ 0 whose classes sum to 1 (all together without an offset), and the maximum margin γ*,

    min_i y_i (w·x_i + b) / |w|   ≤   γ*   ≤   |Σ λ_i y_i x_i| / k,        k = 2 with an offset, 1 without,

and the right side is 0 exactly when no hyperplane separates (Gordan; Kirchberger). A supplier makes the left side large
and the right side small; what it returns is a claim for others to check, whoever made it. `supply` chooses one:

* `working_set`: Wolfe's minimum-norm point on a few rows, a scan of all rows, the worst ones added, again. Exact in
  few scans while the dimension is at most some hundreds.
* `dual_descent`: hard-margin dual coordinate descent, for many features and a margin that is not tiny.
* `presolve`: strikes out rows of sparse data that cannot be part of a witness, and leaves the rest to the others.
* `affine_scaling`: interior steps on Gordan's dual, for many features and data that are hard or inseparable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import IntArray, Rows
from rosenblatt.searching import affine_scaling as _affine_scaling
from rosenblatt.searching import presolve
from rosenblatt.searching import working_set as _working_set
from rosenblatt.searching.candidates import Supply, Task, codes_of, rows_of
from rosenblatt.searching.dual_descent import LARGE, Descent
from rosenblatt.searching.large_products import one_blas_thread

__all__ = ["Supply", "affine_scaling", "dual_descent", "supply", "working_set"]


def supply(
    rows: Rows,
    y: NDArray[Any],
    *,
    intercept: bool,
    gap: float,
    deadline: float | None = None,
    threads: int = 1,
    first_separator: bool = False,
    seed: int = 0,
) -> Supply:
    """Find a hyperplane and weights whose bounds are within `gap`, or weights whose bound is 0.

    `deadline` is a time of `time.monotonic`; when it passes, the best so far is returned. `first_separator`: stop at
    the first hyperplane that separates, whatever its margin. The rows should have columns of like scale.
    """
    task = Task(rows, codes_of(y), intercept, gap, deadline, threads, first_separator, seed)
    _solve(task)
    return task.best


def _solve(task: Task, small: int | None = None) -> None:
    if _is_thin(task, SMALL if small is None else small):
        _working_set.solve(task)
        return
    with one_blas_thread():
        _solve_wide(task)


def _is_thin(task: Task, most: int) -> bool:
    """Whether the dimension of the problem, and of a dense copy of sparse rows, suits an active set."""
    n, d = task.rows.shape
    few = task.rows.sparse is None or d <= n or n * min(d, int(task.rows.sparse.nnz)) <= MANY_NUMBERS
    return min(n, d) + task.k <= most and few


def _solve_wide(task: Task) -> None:
    if task.rows.sparse is not None:
        _presolve(task)
        if task.done():
            return
    descent = Descent(task)
    scalable = task.rows.shape[1] + task.k <= LARGE
    descent.run(FIRST_PASSES, give_up=scalable)
    if scalable and not task.best.lower > 0 and not task.late():
        _affine_scaling.solve(task, descent.weights)
        if not task.done() and not task.best.lower > 0 and not task.late():
            _heavy_rows(task)
        if not task.done() and not task.best.lower > 0 and not task.late() and _is_thin(task, MEDIUM):
            _working_set.solve(task)
    descent.run(MORE_PASSES)


def _presolve(task: Task) -> None:
    """Settle first which it is, by the rows that matter, if those are not all; the margin is for others."""
    core, d = presolve.core(task), task.rows.shape[1]
    if not core.rounds or task.late():
        return
    normal = np.zeros(core.signed.shape[1])
    if len(core.rows):
        features = core.features(d)
        found = _part(task, core.rows, features)
        if found.w is None or not found.lower > 0:
            return
        normal[features] = found.w
        normal[d:] = found.b
    plane = core.extended(normal)
    if plane is not None:
        task.scan(plane[:d])


def _heavy_rows(task: Task) -> None:
    """Look for a witness among few rows with nearly all the weight: interior steps stop short of hulls that touch."""
    best = task.best
    ids = best.rows[best.weights > LIGHT * best.weights.max(initial=0.0)]
    if task.k <= len(ids) <= min(MEDIUM, len(task.rows) - 1) and len(np.unique(task.classes[ids])) == task.k:
        _part(task, ids)


def _part(task: Task, ids: IntArray, features: IntArray | None = None) -> Supply:
    """Settle which it is for some rows only; a witness among them is one among all."""
    rows = rows_of(task.rows, ids, features)
    part = replace(task, rows=rows, codes=task.codes[ids], first_separator=True)
    _solve(part, MEDIUM)
    found = part.best
    if found.collapsed:
        task.weigh(ids[found.rows], found.weights, found.upper, collapsed=True)
    return found


# Where one supplier takes over from another, by measurement (benchmarks: certificates).
SMALL = 600  # dimension of the problem: above, an active set that moves one row at a time is too slow
MEDIUM = 1000  # the same for a few rows that are to be settled once and for all
LIGHT = 1e-6  # weights below this part of the largest are on their way to 0
MANY_NUMBERS = 50_000_000  # numbers in a dense copy of sparse rows
FIRST_PASSES = 400
MORE_PASSES = 2000


def working_set(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Find the nearest points of the classes on a growing set of rows. Takes what `supply` takes."""
    return _working_set.solve(_task(rows, y, **choices))


def dual_descent(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Descend on the dual of the hard-margin problem. Takes what `supply` takes."""
    task = _task(rows, y, **choices)
    Descent(task).run(FIRST_PASSES + MORE_PASSES)
    return task.best


def affine_scaling(rows: Rows, y: NDArray[Any], **choices: Any) -> Supply:
    """Look for positive weights of Gordan's dual, or a direction that separates. Takes what `supply` takes."""
    task = _task(rows, y, **choices)
    _affine_scaling.solve(task)
    return task.best


def _task(
    rows: Rows,
    y: NDArray[Any],
    *,
    intercept: bool,
    gap: float,
    deadline: float | None = None,
    threads: int = 1,
    first_separator: bool = False,
    seed: int = 0,
) -> Task:
    return Task(rows, codes_of(y), intercept, gap, deadline, threads, first_separator, seed)
