"""Suppliers of candidates for certificates: a hyperplane w, b and weights λ, in floating point. None of it is a proof.

For any w, b and any λ ≥ 0 whose classes sum to 1 (all together without an offset), and the maximum margin γ*,

    min_i y_i (w·x_i + b) / |w|   ≤   γ*   ≤   |Σ λ_i y_i x_i| / k,        k = 2 with an offset, 1 without,

and the right side is 0 exactly when no hyperplane separates (Gordan; Kirchberger). A supplier makes the left side large
and the right side small; what it returns is a claim for others to check, whoever made it. `supply` chooses one:

* `working_set`: Wolfe's minimum-norm point on a few rows, a scan of all rows, the worst ones added, again. Exact in
  few scans while the dimension is at most some hundreds.
* `dual_descent`: hard-margin dual coordinate descent, for many features and a margin that is not tiny.
* `affine_scaling`: interior steps on Gordan's dual, for many features and data that are hard or inseparable.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from rosenblatt import affine_scaling as _affine_scaling
from rosenblatt import working_set as _working_set
from rosenblatt.candidates import Supply, Task, codes_of
from rosenblatt.dual_descent import LARGE, Descent
from rosenblatt.inputs import Rows

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
    n, d = rows.shape
    thin = rows.sparse is None or d <= n or n * min(d, int(rows.sparse.nnz)) <= MANY_NUMBERS
    if min(n, d) + task.k <= SMALL and thin:
        return _working_set.solve(task)
    descent = Descent(task)
    scalable = d + task.k <= LARGE
    descent.run(FIRST_PASSES, give_up=scalable)
    if scalable and not task.best.lower > 0 and not task.late():
        _affine_scaling.solve(task, descent.weights)
    descent.run(MORE_PASSES)
    return task.best


# Where one supplier takes over from another, by measurement (benchmarks: certificates).
SMALL = 600  # dimension of the problem: above, an active set that moves one row at a time is too slow
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
