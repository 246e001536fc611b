"""How many labels are wrong, at least and at most: proved; and the ranking, measured."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from strategies import data_sets

import rosenblatt as rb
from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.wrong_labels import errors_of


def flipped(X, y, share, seed=0):
    """Labels of which a share is wrong, and which these are."""
    wrong = np.random.default_rng(seed).choice(len(y), max(1, round(share * len(y))), replace=False)
    labels = y.copy()
    labels[wrong] *= -1
    return labels, wrong


def generated(n, d, seed, margin=0.1):
    rng = np.random.default_rng(seed)
    w, X = rng.normal(size=d), rng.normal(size=(4 * n, d))
    scores = X @ w / np.linalg.norm(w) + 0.3
    X, scores = X[np.abs(scores) > margin][:n], scores[np.abs(scores) > margin][:n]
    return X, np.where(scores > 0, 1, -1)


def fewest_wrong(X, y):
    """The least number of rows without which the rest can be separated, by trying all."""
    for count in range(len(y)):
        for left_out in combinations(range(len(y)), count):
            keep = [i for i in range(len(y)) if i not in left_out]
            labels = [y[i] for i in keep]
            if len(set(labels)) < 2 or rb.certify([X[i] for i in keep], labels).separable:
                return count
    return len(y)


@given(data_sets(max_rows=7))
@settings(max_examples=15, deadline=None)
def test_the_truth_lies_between_the_bounds(data):
    found = rb.suspects(data.X, data.codes)
    assert found.at_least <= fewest_wrong(data.X, data.codes) <= found.at_most
    assert found.verify(data.X, data.codes)
    assert sorted(found.ranking.tolist()) == list(range(len(data.codes)))


def test_one_wrong_label_on_a_line_is_proved():
    X, y = [[1], [2], [3], [4], [5], [6], [7]], [0, 0, 0, 1, 0, 1, 1]
    found = rb.suspects(X, y)
    assert (found.at_least, found.at_most) == (1, 1)
    assert "exactly 1 of 7 labels is wrong" in " ".join(str(found).split())
    assert "At least: 3 rows that no hyperplane separates." in str(found)
    assert found.verify(X, y).why.startswith("1 witness, and a hyperplane that is right on all but 1 row")
    assert set(found.ranking[:2].tolist()) == {3, 4}


def test_separable_data_has_no_suspects():
    X, y = load_iris(return_X_y=True)
    found = rb.suspects(X, y == 0)
    assert (found.at_least, found.at_most, found.witnesses) == (0, 0, ())
    assert str(found) == "No label need be wrong: a hyperplane separates all 150 rows."  # and none is near it
    assert repr(found) == "<Suspects: 0 to 0 wrong labels of 150>"
    assert found.verify(X, y == 0)


def test_witnesses_are_certificates_of_the_whole_data_and_share_no_row():
    X, y = generated(600, 3, 0)
    y, wrong = flipped(X, y, 0.05)
    found = rb.suspects(X, y)
    named = np.concatenate([witness.points for witness in found.witnesses])
    assert len(np.unique(named)) == len(named)
    assert all(witness.verify(X, y) for witness in found.witnesses)
    assert all(np.isin(witness.points, wrong).any() for witness in found.witnesses)
    assert 0.8 * len(wrong) <= found.at_least <= len(wrong)
    assert found.at_most <= len(wrong)
    assert found.complete


def test_equal_rows_with_opposite_labels_are_a_witness():
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 3.0]])
    found = rb.suspects(X, [0, 1, 1, 1, 1])
    assert found.at_least == 1 and found.witnesses[0].points.tolist() == [0, 3]


@pytest.mark.parametrize("kind", ["float32", "sparse", "strings", "through the origin"])
def test_other_rows_and_labels(kind):
    X, y = generated(300, 4, 1)
    if kind == "through the origin":
        y = np.where(X[:, 0] > 0, 1, -1)
    y, _ = flipped(X, y, 0.03)
    rows = {"float32": X.astype(np.float32), "sparse": sp.csr_array(X)}.get(kind, X)
    labels = np.where(y > 0, "yes", "no") if kind == "strings" else y
    found = rb.suspects(rows, labels, fit_intercept=kind != "through the origin")
    assert 1 <= found.at_least <= found.at_most <= 15 and found.verify(rows, labels)
    if kind == "through the origin":
        assert found.hyperplane.b == 0


def test_the_answer_is_the_same_again_and_for_any_number_of_threads():
    X, y = generated(400, 5, 2)
    y, _ = flipped(X, y, 0.05)
    one, two = rb.suspects(X, y), rb.suspects(X, y, n_jobs=2)
    assert one.ranking.tolist() == two.ranking.tolist() and one.witnesses == two.witnesses


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
def test_rows_of_any_size(scale):
    X, y = generated(60, 2, 6)
    y, _ = flipped(X, y, 0.1)
    found = rb.suspects(X * scale, y)
    assert found.at_least >= 1 and found.verify(X * scale, y)


def test_one_row_of_a_class_among_the_others():
    X, y = np.arange(20.0).reshape(10, 2) % 7, np.arange(10) == 5
    found = rb.suspects(X, y)
    assert found.at_most <= 1 and found.verify(X, y)


# ---- What ends early says so ----
def test_a_cap_on_witnesses():
    X, y = generated(300, 2, 3)
    y, _ = flipped(X, y, 0.05)
    found = rb.suspects(X, y, max_witnesses=2)
    assert found.at_least == 2 and not found.complete
    assert "The search was ended early: there may be more" in " ".join(str(found).split())
    assert max(map(len, str(found).splitlines())) <= 80
    assert rb.suspects(X, y, max_witnesses=0).at_least == 0


def test_a_time_limit():
    X, y = generated(2000, 10, 4)
    y, _ = flipped(X, y, 0.05)
    found = rb.suspects(X, y, time_limit=0)
    assert found.at_least == 0 and not found.complete and found.verify(X, y)
    assert "the search for rows that no hyperplane separates was ended early" in " ".join(str(found).split())


# ---- Claims are checked ----
def test_false_claims_are_refused():
    X, y = generated(300, 3, 5)
    y, _ = flipped(X, y, 0.05)
    found = rb.suspects(X, y)
    assert found.verify(X, y)
    assert "share a row" in replace(found, witnesses=found.witnesses[:1] * 2).verify(X, y).why
    fewer = replace(found, errors=found.errors[1:])
    assert f"row {found.errors[0]} is on the wrong side" in fewer.verify(X, y).why
    assert not found.verify(X, -y)
    assert "another data set" in replace(found, witnesses=()).verify(X + 1, y).why
    moved = replace(found, fit_intercept=False, witnesses=())
    assert "does not pass through the origin" in moved.verify(X, y).why


@given(data_sets(), st.integers(-3, 3))
@settings(max_examples=50, deadline=None)
def test_errors_are_counted_exactly_with_ties(data, b):
    w = np.array(data.X[0], float) / 3
    signs = np.array(data.signs())
    rows = inputs.rows(np.array(data.X, float))
    exact = [
        i for i, x in enumerate(data.X) if signs[i] * (sum(Fraction(v) * k for v, k in zip(w.tolist(), x)) + b) <= 0
    ]
    assert errors_of(rows, signs.astype(np.int8), w, float(b)).tolist() == exact


@pytest.mark.parametrize(
    "X, y, parameters, message",
    [
        ([[0.0], [1.0], [2.0]], [0, 1, 2], {}, r"y has 3: ask for one against the rest, suspects\(X, y == label\)"),
        ([[0.0], [1.0]], [1, 1], {}, "all labels of y are 1"),
        ([[0.0], [np.nan]], [0, 1], {}, "contains NaN"),
        ([[0.0], [1.0]], [0, 1], {"max_witnesses": -1}, "The 'max_witnesses' parameter of suspects"),
    ],
)
def test_what_cannot_be_asked(X, y, parameters, message):
    with pytest.raises(InputError, match=message):
        rb.suspects(X, y, **parameters)


# ---- The ranking is a heuristic: this is how well it does (docs/margins.md has the table) ----
def real(name):
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, np.where(y, 1, -1)
    X, y = load_digits(return_X_y=True)
    return X, np.where(y == 0, 1, -1)


@pytest.mark.parametrize("share", [0.01, 0.05])
@pytest.mark.parametrize(
    "name, at_least",
    [("1000 x 5", 0.9), ("1000 x 20", 0.9), ("breast cancer", 0.6), ("digits, 0 or not", 0.9)],
)
def test_the_ranking_finds_most_flipped_labels(name, at_least, share):
    X, y = generated(1000, int(name.split()[-1]), 0) if name[0] == "1" else real(name)
    labels, wrong = flipped(X, y, share)
    found = rb.suspects(X, labels)
    assert np.isin(found.ranking[: len(wrong)], wrong).mean() >= at_least
    assert found.at_least <= len(wrong)


def test_features_that_depend_on_others_but_for_rounding():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    plain, dependent = rb.suspects(X, y), rb.suspects(np.c_[X, X[:, 0] / 2.54], y)
    assert plain.at_least >= 30 and dependent.at_least >= 25 and dependent.complete
    assert dependent.verify(np.c_[X, X[:, 0] / 2.54], y)


def test_witnesses_that_use_up_all_rows():
    found = rb.suspects([[-2.0], [-1.0], [-2.0], [2.0]], [1, -1, -1, -1], fit_intercept=False)
    assert (found.at_least, found.at_most) == (2, 2)
