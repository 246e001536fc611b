"""Striking rows out never changes the verdict, and what separates the rest is extended to all; judged exactly."""

import time
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import rosenblatt as rb
from rosenblatt import inputs
from rosenblatt.proving.rationals import min_norm_point
from rosenblatt.searching import presolve
from rosenblatt.searching.candidates import Task, codes_of


def task(X, y, intercept=True, deadline=None):
    return Task(inputs.rows(sp.csr_array(X)), codes_of(y), intercept, 1e-6, deadline, 1, False, 0)


def least(X, y, normal, intercept):
    """min y(w · x + b), exactly."""
    rows = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    return min(int(s) * sum(F(float(a)) * F(float(c)) for a, c in zip(x, normal)) for x, s in zip(rows, y))


def test_a_feature_of_one_class_takes_its_rows_and_then_others_do():
    # Feature 0 is only in row 0, which balances feature 1 of row 1, which balances feature 2 of row 2.
    X = np.array([[1.0, 2, 0], [0, 3, 1], [0, 0, 4]])
    found = presolve.core(task(X, np.array([1, -1, 1]), intercept=False))
    assert [struck.rows.tolist() for struck in found.rounds] == [[0], [1], [2]]
    assert [struck.sides.tolist() for struck in found.rounds] == [[1], [-1], [1]]
    assert not len(found.rows)
    assert least(X, [1, -1, 1], found.extended(np.zeros(3)), False) > 0


def test_rows_of_one_class_that_are_left_go_by_the_offset():
    X = np.array([[1.0, 0], [1, 1], [0, 1]])
    found = presolve.core(task(X, np.array([1, -1, -1])))
    assert not len(found.rows) or set(found.rows.tolist()) == {0, 1, 2}
    X = np.array([[1.0, 1], [0, 1], [0, 2]])
    found = presolve.core(task(X, np.array([1, -1, -1])))
    assert not len(found.rows) and found.rounds[-1].features.tolist()[-1] == 2
    assert least(X, [1, -1, -1], found.extended(np.zeros(3)), True) > 0


def test_stored_zeros_are_none():
    X = sp.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    found = presolve.core(Task(inputs.rows(X), codes_of(np.array([1, -1])), True, 1e-6, None, 1, False, 0))
    assert found.rows.tolist() == [0, 1] and found.features(2).tolist() == [0]


small = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 12), st.integers(1, 8)),
    elements=st.sampled_from([0.0, 0, 0, 0, 1, 2, -1, 0.1]),
)


@settings(max_examples=300, deadline=None)
@given(small, st.integers(0, 2**12), st.booleans())
def test_the_core_has_the_verdict_of_all_rows(X, bits, intercept):
    y = np.array([1 if bits >> i & 1 else -1 for i in range(len(X))])
    assume(len(set(y.tolist())) == 2)
    found, d = presolve.core(task(X, y, intercept)), X.shape[1]
    whole = min_norm_point(inputs.rows(X), y, intercept=intercept)
    normal = np.zeros(d + intercept)
    if len(found.rows):
        part, features = X[found.rows], found.features(d)
        assert set(features) == (set(np.flatnonzero(part.any(axis=0))) or {0})
        core = min_norm_point(inputs.rows(part), y[found.rows], intercept=intercept)
        assert core.separable == whole.separable
        normal[:d] = [float(v) for v in core.w]
        normal[d:] = float(core.b)
        if not core.separable:
            return
    assert whole.separable
    plane = found.extended(normal)
    assert plane is not None and least(X, y, plane, intercept) > 0


def text(rng, n, d):
    """Counts of words, the common ones first, each text with words of its own too."""
    lengths = rng.integers(20, 60, n)
    words = np.minimum(rng.zipf(1.3, lengths.sum()) - 1, d - 1)
    X = sp.csr_array((np.ones(len(words)), (np.repeat(np.arange(n), lengths), words)), shape=(n, d))
    X.sum_duplicates()
    return X


def test_text_with_many_words_is_decided_either_way():
    rng = np.random.default_rng(0)
    n, d = 1_500, 9_000
    X, y = text(rng, n, d), rng.choice([-1, 1], n)
    certificate = rb.certify(X, y, gap=0.1)
    assert certificate.separable and certificate.verify(X, y)
    # Two texts and, with the other label, one that has half of the words of each.
    mean = sp.csr_array((X[[10]] + X[[20]]) / 2)
    X, y = sp.vstack([X, mean], format="csr"), np.append(y, 1)
    y[10] = y[20] = -1
    certificate = rb.certify(X, y)
    assert certificate.separable is False and not certificate.duplicates and certificate.verify(X, y)


def test_rows_without_features_are_a_core_too():
    X, y = sp.csr_array(np.array([[0.0, 0], [0, 0], [1, 0]])), np.array([1, -1, 1])
    found = presolve.core(task(X, y))
    assert found.rows.tolist() == [0, 1] and found.features(2).tolist() == [0]


def test_a_deadline_that_has_passed_strikes_nothing_out():
    X = np.array([[1.0, 0], [0, 1]])
    assert not presolve.core(task(X, np.array([1, -1]), deadline=time.monotonic() - 1)).rounds


def test_a_hyperplane_that_does_not_separate_the_core_is_not_extended():
    X = np.array([[1.0, 0], [1, 0], [0, 1]])
    found = presolve.core(task(X, np.array([1, -1, 1])))
    assert found.rows.tolist() == [0, 1]
    assert found.extended(np.array([1.0, 0.0, 0.0])) is None


@pytest.mark.parametrize("intercept", [True, False])
def test_numbers_too_far_apart_for_floats_are_given_up(intercept):
    X = np.array([[1e-200, 1e200], [0.0, 1e-200]])
    found = presolve.core(task(X, np.array([1, -1]), intercept=intercept))
    normal = np.zeros(found.signed.shape[1])
    plane = found.extended(normal)
    assert plane is None or least(X, [1, -1], plane, intercept) > 0
