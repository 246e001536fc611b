"""Where the two mean the same, scikit-learn's Perceptron ends with the same numbers; where they differ, we separate."""

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Perceptron as SklearnPerceptron
from strategies import fitted, noisy

from rosenblatt import Perceptron

thorough = settings(max_examples=80, deadline=None)


def close_calls(X, y, *, steps, max_iter, fit_intercept):
    """Whether a score of the run of a binary problem is within rounding of 0 and yet not exactly 0.

    There the order of a sum decides whether it is a mistake, and the two sum in different orders. A score that is 0
    because all its terms are is 0 in any order.
    """
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(max_iter):
        for i, x in enumerate(X):
            terms = [*(w * x), b]
            score, size = math.fsum(terms), math.fsum(map(abs, terms))
            if size > 0 and abs(score) <= 1e-13 * size:
                return True
            if y[i] * score <= 0:
                w += y[i] * steps[i] * x
                b += y[i] * steps[i] if fit_intercept else 0
    return False


def steps_of(model, codes, positive, classes, weights, sample_weight):
    """eta0 · class weight · sample weight of each row; against the rest, only the positive class has its weight."""
    by_class = np.ones(len(codes))
    for code in classes:
        if len(classes) == 2 or code == positive:
            by_class[codes == code] = weights.get(code, 1.0)
    return model.eta0 * by_class * (1 if sample_weight is None else sample_weight)


@st.composite
def runs(draw):
    """Data, parameters that both have, and sample weights."""
    n_classes = draw(st.sampled_from((2, 2, 3, 4)))
    n, d = draw(st.integers(5, 40)), draw(st.sampled_from((1, 2, 3, 5, 8, 20, 33, 50)))
    X, y = noisy(n, d, draw(st.integers(0, 2**32)), n_classes)
    weights = {code: draw(st.sampled_from((0.5, 1.0, 1.7, 3.0))) for code in range(n_classes)}
    parameters = {
        "max_iter": draw(st.integers(1, 8)),
        "fit_intercept": draw(st.booleans()),
        "eta0": draw(st.sampled_from((1.0, 0.1, 2.5))),
        "class_weight": draw(st.sampled_from((None, weights))),
    }
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return X, y, parameters, draw(st.sampled_from((None, rng.uniform(0.1, 4, n))))


@thorough
@given(runs())
def test_the_same_hyperplanes(run):
    X, y, parameters, sample_weight = run
    ours = Perceptron(shuffle=False, **parameters)
    weights = parameters["class_weight"] or {}
    classes = np.unique(y)
    for positive in classes[-1:] if len(classes) == 2 else classes:
        steps = steps_of(ours, y, positive, classes, weights, sample_weight)
        signs = np.where(y == positive, 1, -1)
        budget = {name: parameters[name] for name in ("max_iter", "fit_intercept")}
        assume(not close_calls(X, signs, steps=steps, **budget))
    fitted(ours, X, y, sample_weight=sample_weight)
    theirs = SklearnPerceptron(shuffle=False, tol=None, **parameters).fit(X, y, sample_weight=sample_weight)
    assert ours.coef_.tolist() == theirs.coef_.tolist()
    assert ours.intercept_.tolist() == theirs.intercept_.tolist()
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_balanced_class_weights(n_classes):
    X, y = noisy(60, 6, 3, n_classes)
    y[5:30] = 0
    ours = fitted(Perceptron(shuffle=False, max_iter=6, class_weight="balanced"), X, y)
    theirs = SklearnPerceptron(shuffle=False, max_iter=6, class_weight="balanced", tol=None).fit(X, y)
    assert ours.coef_.tolist() == theirs.coef_.tolist()
    assert ours.intercept_.tolist() == theirs.intercept_.tolist()


def test_a_first_guess():
    X, y = noisy(40, 5, 4)
    first_guess = {"coef_init": np.arange(5.0)[None], "intercept_init": [0.5]}
    ours = fitted(Perceptron(shuffle=False, max_iter=4), X, y, **first_guess)
    theirs = SklearnPerceptron(shuffle=False, max_iter=4, tol=None).fit(X, y, **first_guess)
    assert ours.coef_.tolist() == theirs.coef_.tolist()


def test_partial_fit():
    X, y = noisy(80, 5, 5, 3)
    ours, theirs = Perceptron(), SklearnPerceptron(shuffle=False)
    for part in np.split(np.arange(80), 8):
        ours.partial_fit(X[part], y[part], classes=[0, 1, 2])
        theirs.partial_fit(X[part], y[part], classes=[0, 1, 2])
        assert ours.coef_.tolist() == theirs.coef_.tolist()


@thorough
@given(
    st.integers(0, 2**32),
    st.sampled_from((2, 3)),
    st.sampled_from((1e-3, 0.0, 0.1)),
    st.sampled_from((1, 3, 5)),
)
def test_the_loss_rule_stops_at_the_same_pass(seed, n_classes, tol, patience):
    X, y = noisy(50, 4, seed, n_classes)
    options = {"shuffle": False, "max_iter": 60, "tol": tol, "n_iter_no_change": patience}
    ours = fitted(Perceptron(**options), X, y)
    theirs = fitted(SklearnPerceptron(**options), X, y)
    assume(not any_problem_converged(X, y))  # ours then stops: nothing is left to learn
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)


def test_a_loss_that_stays_the_same_is_not_above_itself():
    # Two labels for one row: every pass has the loss of the one before, which tol=0 does not call a failure to improve.
    options = {"shuffle": False, "max_iter": 30, "tol": 0.0, "n_iter_no_change": 2}
    ours, theirs = (
        fitted(estimator(**options), [[0.0], [0.0]], [0, 1]) for estimator in (Perceptron, SklearnPerceptron)
    )
    assert ours.n_iter_ == theirs.n_iter_ == 30


def any_problem_converged(X, y):
    classes = np.unique(y)
    labels = [y] if len(classes) == 2 else [(y == k).astype(int) for k in classes]
    return any(fitted(Perceptron(shuffle=False, max_iter=60), X, signs).converged_ for signs in labels)


# ---- Converged means separated ----
def narrowly_separable(seed, n=1000, d=5, margin=0.002):
    """Points of the unit ball, none nearer to a hyperplane through the origin than the margin."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(4 * n, d))
    X *= (rng.random(4 * n) ** (1 / d) / np.linalg.norm(X, axis=1))[:, None]
    X = X[np.abs(X @ w) >= margin][:n]
    return X, (X @ w > 0).astype(int)


def test_separable_points_on_which_scikit_learn_stops_with_errors_and_no_warning():
    X, y = narrowly_separable(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        theirs = SklearnPerceptron(random_state=0).fit(X, y)
        ours = Perceptron(max_iter=100_000, random_state=0).fit(X, y)
    assert theirs.score(X, y) < 1
    assert ours.converged_ and ours.separates_ and ours.score(X, y) == 1
    assert ours.hyperplane_.is_separating(X, 2 * y - 1)


def test_sparse_rows_without_an_intercept():
    # With one, scikit-learn slows the intercept of sparse rows down by a factor of 100; ours is the notes'.
    rng = np.random.default_rng(0)
    X, y = sp.csr_matrix(rng.integers(-3, 4, (60, 9)).astype(float)), rng.integers(0, 3, 60)
    ours = fitted(Perceptron(shuffle=False, max_iter=5, fit_intercept=False), X, y)
    theirs = SklearnPerceptron(shuffle=False, max_iter=5, fit_intercept=False, tol=None).fit(X, y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
