"""Soft margins of real data over eight decades of C: a proved gap, and no peer with a better objective."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import data
from benchmarks.real_data import Unavailable
from referee import problem
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from rosenblatt.margins import solve_soft_margin
from rosenblatt.solving.soft_margin import best_offset, judge, scores

pytestmark = pytest.mark.data
DECADES = [10.0**k for k in range(-4, 5)]


def real(name, divisor=1):
    """X and y in {-1, +1}; tables are standardised, as they must be for any peer to end."""
    try:
        X, y = getattr(data, name)(divisor)
    except Unavailable as reason:
        pytest.skip(str(reason))
    if not isinstance(X, np.ndarray):  # scikit-learn's solvers take no other indices
        X = sp.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    return X, y


@pytest.mark.parametrize("bias", ["free", "regularised"])
@pytest.mark.parametrize("name", ["spambase", "a9a", "covtype"])
def test_every_decade_of_the_cost_is_solved(name, bias):
    X, y = real(name)
    for C in DECADES:
        given_problem = problem(X, y, C, bias)
        found = solve_soft_margin(given_problem, gap=1e-6)
        assert found.solved, f"C = {C}: {found.status} at a gap of {found.gap}"
        assert judge(given_problem, found.w, found.b, found.weights).gap <= 1e-6


@pytest.mark.parametrize("C", DECADES)
@pytest.mark.parametrize("name, divisor", [("spambase", 1), ("a9a", 1), ("covtype", 200), ("newsgroups", 10)])
def test_liblinear_is_never_better(name, divisor, C):
    X, y = real(name, divisor)
    given_problem = problem(X, y, C, "regularised")
    model = LinearSVC(loss="hinge", C=C, tol=1e-6, max_iter=2000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    peer = judge(given_problem, model.coef_.ravel(), float(model.intercept_[0]), np.zeros(len(y)))
    assert solve_soft_margin(given_problem, gap=1e-6).primal <= peer.primal * (1 + 1e-6)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("name, divisor", [("spambase", 1), ("a9a", 20), ("covtype", 300), ("newsgroups", 20)])
def test_libsvm_is_never_better(name, divisor, C):
    X, y = real(name, divisor)
    given_problem = problem(X, y, C)
    w = SVC(kernel="linear", C=C, tol=1e-4).fit(X, y).coef_
    w = np.asarray(w.toarray() if sp.issparse(w) else w).ravel()
    peer = judge(given_problem, w, best_offset(given_problem, scores(given_problem.rows, w))[0], np.zeros(len(y)))
    assert solve_soft_margin(given_problem, gap=1e-6).primal <= peer.primal * (1 + 1e-6)
