"""Other people's solvers, asked the questions that `certify` answers."""

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog


def separable_by_highs(X, positive, *, intercept=True, seconds=None):
    """Whether some w, b has y(w·x + b) >= 1 everywhere, by linear programming; None if time is up.

    The columns are scaled by powers of two: the verdict is the same, and the program better to solve.
    """
    Z = _signed(X, positive, intercept)
    sizes = abs(Z).max(axis=0)
    exponents = np.frexp(sizes.toarray().reshape(-1) if sp.issparse(Z) else sizes)[1]
    scales = np.ldexp(1.0, -exponents)
    Z = Z @ sp.diags_array(scales) if sp.issparse(Z) else Z * scales
    options = {} if seconds is None else {"time_limit": seconds}
    answer = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(Z.shape[0]), bounds=(None, None), options=options)
    assert answer.status in ((0, 2) if seconds is None else (0, 1, 2, 4)), answer.message
    return {0: True, 1: None, 2: False, 4: None}[answer.status]  # 1: out of time, 4: numerical difficulties


def margin_by_clarabel(X, y, intercept):
    """1 / |w| for the shortest w with y(w·x + b) >= 1, by an interior-point solver for quadratic programs.

    It solves some data better as it is, and some with features of one size; around zero, if b is free.
    """
    X, positive = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64), np.asarray(y) > 0
    if intercept:
        X = X - X.mean(axis=0)
    largest = np.abs(X).max(axis=0)
    for sizes in (np.where(largest > 0, largest, 1.0), np.full(X.shape[1], largest.max())):
        answer = _shortest(_signed(X / sizes, positive, intercept), sizes)
        if answer.status == clarabel.SolverStatus.Solved:
            return 1 / np.linalg.norm(np.asarray(answer.x)[: X.shape[1]] / sizes)
    raise AssertionError(f"Clarabel: {answer.status}")


def _shortest(Z, sizes):
    """The v with Zv >= 1 and the smallest sum of (v/sizes)²; features beyond the sizes are free."""
    squares = np.zeros(Z.shape[1])
    squares[: len(sizes)] = (sizes.min() / sizes) ** 2
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-12
    return clarabel.DefaultSolver(
        sp.csc_matrix(sp.diags_array(squares)),
        np.zeros(Z.shape[1]),
        sp.csc_matrix(-Z),
        -np.ones(Z.shape[0]),
        [clarabel.NonnegativeConeT(Z.shape[0])],
        settings,
    ).solve()


def _signed(X, positive, intercept):
    """The rows, with a last feature 1 if there is an intercept, times +1 or -1."""
    signs, ones = np.where(positive, 1.0, -1.0), np.ones((len(positive), 1))
    if sp.issparse(X):
        rows = sp.csr_array(X, dtype=np.float64)
        return sp.csr_array(sp.diags_array(signs) @ (sp.hstack([rows, ones]) if intercept else rows))
    rows = np.asarray(X, dtype=np.float64)
    return signs[:, np.newaxis] * (np.hstack([rows, ones]) if intercept else rows)
