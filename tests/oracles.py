"""Other people's solvers, asked the questions that `certify` answers."""

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog


def separable_by_highs(X, positive, *, intercept=True, seconds=None):
    """Whether some w, b has y(w·x + b) >= 1 everywhere, by linear programming; None if time is up.

    The columns are scaled by powers of two: the verdict is the same, and the programme better to solve.
    """
    Z = _signed(sp.csr_array(X, dtype=np.float64), positive, intercept)
    largest = abs(Z).max(axis=0).toarray().reshape(-1)
    Z = Z @ sp.diags_array(np.ldexp(1.0, -np.frexp(largest)[1]))
    options = {} if seconds is None else {"time_limit": seconds}
    answer = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(Z.shape[0]), bounds=(None, None), options=options)
    assert answer.status in ((0, 2) if seconds is None else (0, 1, 2)), answer.message
    return {0: True, 1: None, 2: False}[answer.status]


def margin_by_clarabel(X, y, intercept):
    """1 / |w| for the shortest w with y(w·x + b) >= 1, by an interior-point solver for quadratic programs.

    It solves some data better as it is, and some with features of one size (and around zero, if b is free).
    """
    X, y = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64), np.asarray(y)
    if intercept:
        X = X - X.mean(axis=0)
    largest = np.abs(X).max(axis=0)
    for sizes in (np.where(largest > 0, largest, 1.0), np.full(X.shape[1], largest.max())):
        Z = _signed(sp.csr_array(X / sizes), y > 0, intercept)
        squares = np.zeros(Z.shape[1])
        squares[: X.shape[1]] = (sizes.min() / sizes) ** 2
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-12
        solver = clarabel.DefaultSolver(
            sp.csc_matrix(sp.diags_array(squares)),
            np.zeros(Z.shape[1]),
            sp.csc_matrix(-Z),
            -np.ones(Z.shape[0]),
            [clarabel.NonnegativeConeT(Z.shape[0])],
            settings,
        )
        answer = solver.solve()
        if answer.status == clarabel.SolverStatus.Solved:
            return 1 / np.linalg.norm(np.asarray(answer.x)[: X.shape[1]] / sizes)
    raise AssertionError(f"Clarabel: {answer.status}")


def _signed(X, positive, intercept):
    """The rows, with a last feature 1 if there is an intercept, times +1 or -1."""
    rows = sp.hstack([X, np.ones((X.shape[0], 1))], format="csr") if intercept else X
    return sp.csr_array(sp.diags_array(np.where(positive, 1.0, -1.0)) @ rows)
