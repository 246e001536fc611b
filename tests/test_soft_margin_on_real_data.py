"""Soft margins of real data over eight decades of C: a proved gap, and no peer with a better objective."""

import warnings
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
from referee import problem
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from strategies import data_file

from rosenblatt.margins import solve_soft_margin
from rosenblatt.soft_margin import best_offset, judge, scores

pytestmark = pytest.mark.data
DECADES = [10.0**k for k in range(-4, 5)]


@lru_cache(maxsize=1)
def real(name):
    """X and y in {-1, +1}; tables are standardised, as they must be for any peer to end."""
    if name == "a9a":
        return load_svmlight_file(str(data_file("a9a", "a9a.gz")), n_features=123)
    if name == "spambase":
        table = pd.read_csv(data_file("spambase", "spambase.data"), header=None).to_numpy(np.float64)
        y = np.where(table[:, -1] > 0, 1.0, -1.0)
    else:
        table = pd.read_csv(data_file("covtype", "covtype.csv.gz")).to_numpy(np.float64)
        y = np.where(table[:, -1] == 2, 1.0, -1.0)
    X = table[:, :-1]
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


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
@pytest.mark.parametrize("name", ["spambase", "a9a"])
def test_liblinear_is_never_better(name, C):
    X, y = real(name)
    given_problem = problem(X, y, C, "regularised")
    model = LinearSVC(loss="hinge", C=C, tol=1e-6, max_iter=2000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    peer = judge(given_problem, model.coef_.ravel(), float(model.intercept_[0]), np.zeros(len(y)))
    assert solve_soft_margin(given_problem, gap=1e-6).primal <= peer.primal * (1 + 1e-6)


@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0])
def test_libsvm_is_never_better(C):
    X, y = real("spambase")
    given_problem = problem(X, y, C)
    w = SVC(kernel="linear", C=C, tol=1e-4).fit(X, y).coef_.ravel()
    peer = judge(given_problem, w, best_offset(given_problem, scores(given_problem.rows, w))[0], np.zeros(len(y)))
    assert solve_soft_margin(given_problem, gap=1e-6).primal <= peer.primal * (1 + 1e-6)
