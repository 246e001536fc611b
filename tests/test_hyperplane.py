"""Hyperplane: against the textbook, against hand-computed values, and every refusal."""

import copy
import math
import pickle
from dataclasses import FrozenInstanceError
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse

from rosenblatt import textbook
from rosenblatt.errors import InputError, NotSeparableError
from rosenblatt.hyperplane import Hyperplane

X = np.array([[3.0, 4.0], [0.0, 0.0], [1.0, 0.5]])
PLANE = Hyperplane([3, 4], -5)  # ‖w‖ = 5; scores 20, -5, 0

small = st.integers(-50, 50)
points = st.lists(st.tuples(small, small, small), min_size=1, max_size=8)


def test_scores_sides_distances_and_feet_by_hand():
    assert PLANE.score(X).tolist() == [20, -5, 0]
    assert PLANE.side(X).tolist() == [1, -1, 0]
    assert PLANE.distance(X).tolist() == [4, 1, 0]
    assert PLANE.project(X) == pytest.approx(np.array([[0.6, 0.8], [0.6, 0.8], [1, 0.5]]))
    assert PLANE.distance_to_origin == 1


def test_one_point_gives_one_number():
    assert PLANE.score([3, 4]) == 20.0 and type(PLANE.score([3, 4])) is float
    assert PLANE.side([0, 0]) == -1 and type(PLANE.side([0, 0])) is int
    assert PLANE.distance(X[0]) == 4.0
    assert PLANE.project([3, 4]).shape == (2,)
    assert PLANE.margin([0, 0], -1) == 1.0


@given(points, st.tuples(small, small, small), small, st.data())
def test_it_agrees_with_the_textbook(X, w, b, data):
    assume(any(w))
    y = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(X), max_size=len(X)))
    plane = Hyperplane(w, b)
    assert plane.margin(X, y) == pytest.approx(textbook.margin(X, y, w, b), rel=1e-12)
    assert plane.training_error(X, y) == textbook.training_error(X, y, w, b)
    assert plane.is_separating(X, y) == (textbook.functional_margin(X, y, w, b) > 0)
    assert plane.distance(X) == pytest.approx([textbook.distance(w, b, x) for x in X], rel=1e-12)
    assert plane.distance_to_origin == pytest.approx(textbook.distance_to_origin(w, b), rel=1e-12)
    assert plane.project(X) == pytest.approx(np.array([textbook.foot_point(w, b, x) for x in X]), abs=1e-9)


@given(points, st.tuples(small, small, small), small)
def test_foot_points_lie_on_the_hyperplane_at_the_distance(X, w, b):
    assume(any(w))
    plane = Hyperplane(w, b)
    feet = plane.project(X)
    assert plane.distance(feet) == pytest.approx(np.zeros(len(X)), abs=1e-9)
    assert np.linalg.norm(feet - X, axis=1) == pytest.approx(plane.distance(X), abs=1e-9)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_sparse_rows_give_what_dense_rows_give(kind):
    S, y = kind(X), [1, -1, 1]
    assert PLANE.score(S).tolist() == PLANE.score(X).tolist()
    assert PLANE.side(S).tolist() == PLANE.side(X).tolist()
    assert PLANE.project(S).tolist() == PLANE.project(X).tolist()
    assert PLANE.margin(S, y) == PLANE.margin(X, y)
    assert PLANE.training_error(S, y) == PLANE.training_error(X, y)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool, object])
def test_rows_of_any_real_type(dtype):
    assert PLANE.score(np.array([[1, 0], [0, 1]], dtype=dtype)).tolist() == [-2, -1]


def test_margin_is_signed_and_ties_are_training_errors():
    assert PLANE.margin(X[:2], [1, -1]) == 1
    assert PLANE.margin(X[:2], [1, 1]) == -1
    assert PLANE.training_error(X, [1, -1, 1]) == pytest.approx(1 / 3)
    assert PLANE.training_error(X, [1, -1, -1]) == pytest.approx(1 / 3)
    assert PLANE.is_separating(X[:2], [1, -1])
    assert not PLANE.is_separating(X, [1, -1, 1])


def test_canonical_form_has_least_agreement_one_and_the_same_points():
    canonical = PLANE.canonical(X[:2], [1, -1])
    assert canonical == Hyperplane([0.6, 0.8], -1)
    assert (canonical.score(X[:2]) * [1, -1]).min() == 1
    assert canonical.margin(X[:2], [1, -1]) == pytest.approx(1 / np.linalg.norm(canonical.w))


@pytest.mark.parametrize("scale", [1e-300, 1e-170, 1e170, 1e300])
def test_lengths_of_w_far_from_one_neither_overflow_nor_vanish(scale):
    plane = Hyperplane([3 * scale, 4 * scale], -5 * scale)
    assert plane.distance([3, 4]) == pytest.approx(4)
    assert plane.distance_to_origin == pytest.approx(1)
    assert plane.project([3, 4]) == pytest.approx(np.array([0.6, 0.8]))


def test_it_is_a_value():
    assert Hyperplane([1, 2], 3) == Hyperplane(np.array([1.0, 2.0]), 3.0)
    assert Hyperplane([1, 2], 3) != Hyperplane([2, 4], 6)
    assert Hyperplane([1, 2], 3) != Hyperplane([1], 3)
    assert PLANE != "PLANE"
    assert hash(Hyperplane([0.0, 1.0], -0.0)) == hash(Hyperplane([-0.0, 1.0], 0.0))
    assert repr(PLANE) == "Hyperplane([3.0, 4.0], -5.0)"
    assert eval(repr(PLANE)) == PLANE
    assert repr(Hyperplane(range(9))) == "<Hyperplane in 9 dimensions: w = [0.0, 1.0, 2.0, ..., 8.0], b = 0.0>"


def test_it_cannot_be_changed_not_even_through_the_array_it_was_made_of():
    w = np.array([1.0, 2.0])
    plane = Hyperplane(w, 0)
    w[0] = 9
    assert plane.w.tolist() == [1, 2]
    assert plane.w.dtype == np.float64 and type(plane.b) is float
    with pytest.raises(FrozenInstanceError):
        plane.b = 1
    for same in (plane, copy.deepcopy(plane), pickle.loads(pickle.dumps(plane))):
        assert same == plane
        with pytest.raises(ValueError, match="read-only"):
            same.w[0] = 5


def test_fractions_are_numbers():
    assert Hyperplane([Fraction(1, 2)], Fraction(1, 4)) == Hyperplane([0.5], 0.25)


@pytest.mark.parametrize(
    ("w", "b", "message"),
    [
        ([[1, 2]], 0, r"w must have shape \(d,\) with d >= 1, got \(1, 2\)"),
        (3, 0, r"w must have shape \(d,\)"),
        ([], 0, r"w must have shape \(d,\) with d >= 1, got \(0,\)"),
        ([1, math.nan], 0, r"w must be finite, but w\[1\] is nan"),
        ([1], math.inf, "b must be finite, got inf"),
        ([1], [1, 2], r"b must be one number, got shape \(2,\)"),
        (["1"], 0, "w must be real numbers, got dtype <U1"),
        ([1j], 0, "w must be real numbers, got dtype complex128"),
        ([[1], [1, 2]], 0, "w must be an array of numbers"),
        ([None], "x", "w must be an array of numbers|b must be real numbers"),
    ],
)
def test_bad_hyperplanes_are_refused(w, b, message):
    with pytest.raises(InputError, match=message):
        Hyperplane(w, b)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[1, 2, 3]], r"X must have shape \(n, 2\), or \(2,\) for one point, got \(1, 3\)$"),
        ([1, 2, 3], r"got \(3,\)$"),
        ([[[1, 2]]], r"got \(1, 1, 2\)"),
        (5, r"got \(\)"),
        ([[0, 0], [0, math.nan]], "row 1 of X has the score nan: X must be finite"),
        ([[0, 0], [math.inf, 0]], "row 1 of X has the score inf: X must be finite"),
        ([0, -math.inf], "row 0 of X has the score -inf"),
        ([[1e308, 1e308]], "row 0 of X has the score inf: .* small enough"),
        ([["a", "b"]], "X must be real numbers, got dtype <U1"),
    ],
)
def test_bad_points_are_refused_with_their_row(X, message):
    with pytest.raises(InputError, match=message):
        PLANE.score(X)


def test_a_flat_array_of_one_feature_gets_a_hint():
    with pytest.raises(InputError, match=r"got \(3,\); one feature for many points is X.reshape\(-1, 1\)"):
        Hyperplane([2]).score([1, 2, 3])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2, -1], r"y must be -1 and \+1, but y\[1\] is 2; np.where\(y == positive_class, 1, -1\)"),
        ([1, 0, 1], r"but y\[1\] is 0; convert it with np.where\(y, 1, -1\)"),
        ([True, False, True], r"got booleans; convert it with np.where\(y, 1, -1\)"),
        ([1, math.nan, 1], r"y\[1\] is nan"),
        (["1", "1", "-1"], r"y\[0\] is '1'"),
        ([1, -1], r"y must have one label for each of the 3 rows of X, got shape \(2,\)"),
        ([[1], [1], [1]], r"got shape \(3, 1\)"),
    ],
)
@pytest.mark.parametrize("method", ["margin", "training_error", "is_separating", "canonical"])
def test_bad_labels_are_refused_with_their_row(method, y, message):
    with pytest.raises(InputError, match=message):
        getattr(PLANE, method)(X, y)


def test_no_rows_have_no_margin():
    with pytest.raises(InputError, match="X has no rows"):
        PLANE.margin(np.empty((0, 2)), [])
    assert PLANE.score(np.empty((0, 2))).shape == (0,)


def test_zero_w_has_scores_but_no_geometry():
    zero = Hyperplane([0, 0], 1)
    assert zero.side(X).tolist() == [1, 1, 1]
    for what, ask in {
        "distance": lambda: zero.distance(X),
        "foot point": lambda: zero.project(X),
        "margin": lambda: zero.margin(X, [1, 1, 1]),
    }.items():
        with pytest.raises(InputError, match=f"w is zero, so there is no hyperplane and no {what}"):
            ask()
    with pytest.raises(InputError, match="w is zero"):
        _ = zero.distance_to_origin


def test_canonical_form_of_a_plane_that_does_not_separate_is_refused():
    with pytest.raises(NotSeparableError, match=r"only a separating .* but y\(w·x \+ b\) is 0 at row 2"):
        PLANE.canonical(X, [1, -1, 1])
    with pytest.raises(NotSeparableError, match="is -20 at row 0"):
        PLANE.canonical(X, [-1, -1, 1])
