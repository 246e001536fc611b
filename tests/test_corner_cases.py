"""Corners that a careful reader found: each was once wrong."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

import rosenblatt as rb
from rosenblatt.errors import InputError, WeightOverflowError

X4 = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.0], [-2.0, -1.0]])
Y4 = np.array([1, 1, 0, 0])


@pytest.mark.parametrize("estimator", [rb.AveragedPerceptron, rb.VotedPerceptron])
@pytest.mark.parametrize("shuffle", [False, True])
def test_two_fits_are_one_also_when_a_class_came_to_rest_in_the_first(estimator, shuffle):
    X, y = load_iris(return_X_y=True)  # setosa against the rest converges at once, the others never do
    whole = estimator(max_iter=10, shuffle=shuffle, random_state=0).fit(X, y)
    twice = estimator(max_iter=5, shuffle=shuffle, random_state=0, warm_start=True).fit(X, y).fit(X, y)
    assert np.array_equal(whole.decision_function(X), twice.decision_function(X))
    assert whole.n_updates_ == twice.n_updates_


def test_rows_of_weight_0_are_not_watched_by_early_stopping():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[y == 1] += 0.7
    weight = np.ones(200)
    weight[100:] = 0
    for seed in range(10):
        options = {"early_stopping": True, "random_state": seed, "validation_fraction": 0.2}
        wrong = y.copy()
        wrong[100:] = 1 - y[100:]  # labels that must not matter
        one = rb.Perceptron(**options).fit(X, y, sample_weight=weight)
        other = rb.Perceptron(**options).fit(X, wrong, sample_weight=weight)
        assert np.array_equal(one.coef_, other.coef_) and one.n_iter_ == other.n_iter_


def test_sums_behind_an_average_that_overflow_are_reported():
    X = np.array([[1.2e308], [1.0]])
    with pytest.raises(WeightOverflowError, match="beyond the range of float64"):
        rb.AveragedPerceptron(shuffle=False, max_iter=50).fit(X, [1, 0])


def test_what_was_read_from_coef_does_not_change_later():
    model = rb.Perceptron(shuffle=False).partial_fit(X4[:2], Y4[:2], classes=[0, 1])
    before = model.coef_
    kept = before.copy()
    model.partial_fit(X4[2:], 1 - Y4[2:])
    assert np.array_equal(before, kept)
    before[:] = 99.0
    assert not (model.coef_ == 99.0).any()


@pytest.mark.parametrize("label", [None, float("nan")])
def test_a_missing_label_is_named(label):
    y = np.array(["a", "b", label, "a"], dtype=object)
    with pytest.raises(InputError, match=r"y\[2\] is (None|nan): every row needs a label"):
        rb.Perceptron().fit(X4, y)


def test_class_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="not all zero"):
        rb.Perceptron(class_weight={0: 0, 1: 0}).fit(X4, Y4)


def test_dates_and_masked_values_are_refused():
    with pytest.raises(InputError, match="dates or durations"):
        rb.Perceptron().fit(np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), [0, 1])
    with pytest.raises(InputError, match="masked"):
        rb.Perceptron().fit(np.ma.masked_equal(X4, 2.0), Y4)


def test_room_behind_the_last_row_of_a_sparse_matrix_is_not_looked_at():
    X = sp.csr_array(X4)
    roomy = sp.csr_array(X.shape)
    roomy.data = np.append(X.data, np.nan)
    roomy.indices = np.append(X.indices, 1).astype(np.int32)
    roomy.indptr = X.indptr
    options = {"shuffle": False, "max_updates": 5}
    assert np.array_equal(rb.Perceptron(**options).fit(roomy, Y4).coef_, rb.Perceptron(**options).fit(X, Y4).coef_)


def test_rows_at_odd_addresses_are_read():
    raw = np.zeros(X4.nbytes + 1, np.uint8)
    odd = raw[1:].view(np.float64).reshape(X4.shape)
    assert not odd.flags.aligned
    odd[:] = X4
    assert np.array_equal(
        rb.Perceptron(shuffle=False).fit(odd, Y4).coef_, rb.Perceptron(shuffle=False).fit(X4, Y4).coef_
    )


def test_more_threads_than_the_machine_has():
    X, y = load_iris(return_X_y=True)
    many = rb.Perceptron(max_iter=3, random_state=0, n_jobs=64)
    one = rb.Perceptron(max_iter=3, random_state=0)
    with pytest.warns(Warning, match="max_iter"):
        assert np.array_equal(many.fit(X, y).coef_, one.fit(X, y).coef_)
