"""Soft margins that others solve: Clarabel's optimum of the whole quadratic programme, to test our solvers by."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from rosenblatt import inputs
from rosenblatt.solving.soft_margin import Problem

BIASES = ("free", "regularised", "none")


def optimum(X: Any, y: Any, cost: Any, bias: str) -> float:
    """The least ½‖w‖² + Σ c_i ξ_i (+ ½b² if the bias is regularised), over w, b and ξ."""
    n, d = X.shape
    signed = sp.csr_matrix(sp.diags(y) @ sp.csr_matrix(X, dtype=np.float64))
    offset = [] if bias == "none" else [-sp.csr_matrix(y[:, np.newaxis])]
    columns = d + len(offset)
    margins = sp.hstack([-signed, *offset, -sp.identity(n)])
    rows = sp.vstack([margins, sp.hstack([sp.csr_matrix((n, columns)), -sp.identity(n)])]).tocsc()
    own = [] if bias == "none" else [sp.csc_matrix([[float(bias == "regularised")]])]
    quadratic = sp.block_diag([sp.identity(d), *own, sp.csc_matrix((n, n))]).tocsc()
    linear = np.concatenate([np.zeros(columns), cost])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = 1e-11
    right = np.concatenate([-np.ones(n), np.zeros(n)])
    cones = [clarabel.NonnegativeConeT(2 * n)]
    return float(clarabel.DefaultSolver(quadratic, linear, rows, right, cones, settings).solve().obj_val)


def noisy(n: int, d: int, seed: int, noise: float = 0.7) -> tuple[Any, Any]:
    """Gaussian rows, labelled by a plane off the origin and noise; the first two rows are of different classes."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    y = np.where(X @ random.standard_normal(d) / np.sqrt(d) + 0.3 + noise * random.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def problem(X: Any, y: Any, cost: Any, bias: str = "free") -> Problem:
    """With one cost for all rows, or one for each."""
    return Problem(inputs.rows(X), y, np.broadcast_to(np.asarray(cost, np.float64), len(y)).copy(), bias)
