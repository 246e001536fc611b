"""Proofs are judged by exact arithmetic: nothing false is ever accepted, nothing true that was decided is rejected."""

import math
import time
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_iris

from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.proving.enclosures import positive_solution, root_down, root_up, round_down, round_up, scores
from rosenblatt.proving.proofs import prove_plane, prove_upper, prove_witness, weakly_separates
from rosenblatt.proving.rationals import min_norm_point, rank

thorough = settings(max_examples=300, deadline=None)
finite = st.floats(allow_nan=False, allow_infinity=False)
awkward = st.sampled_from((0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1e-308, 1.0, 1.0 + 2.0**-52, -1.0, 0.1, 0.3, 1e308))
numbers = st.one_of(st.integers(-3, 3).map(float), awkward, finite)
STORAGES = (np.asarray, sp.csr_array, sp.csr_matrix)


def least(X, y, w, b):
    """min y(w · x + b), from the definition."""
    return min(int(s) * (sum(F(float(a)) * F(float(c)) for a, c in zip(x, w)) + F(b)) for x, s in zip(X, y))


# ---- Directed rounding ----
@thorough
@given(st.fractions(), st.integers(-2200, 2200))
def test_rounding_is_outward_and_tight(value, exponent):
    value *= F(2) ** exponent
    low, high = round_down(value), round_up(value)
    assert (low == -math.inf or F(low) <= value) and (high == math.inf or value <= F(high))
    assert low == high or math.nextafter(low, math.inf) == high


@thorough
@given(st.fractions(min_value=0), st.integers(-4000, 2000))
def test_roots_are_outward_and_tight(value, exponent):
    value *= F(2) ** exponent
    low, high = root_down(value), root_up(value)
    assert F(low) ** 2 <= value and (high == math.inf or value <= F(high) ** 2)
    assert low == high or math.nextafter(low, math.inf) == high


def test_a_negative_number_has_no_root():
    with pytest.raises(InputError, match="square root"):
        root_up(F(-1))


# ---- Scores ----
@thorough
@given(st.data(), st.integers(1, 5), st.integers(1, 5), st.sampled_from((np.float32, np.float64)))
def test_bounds_on_scores_hold(data, n, d, dtype):
    width = 32 if dtype == np.float32 else 64
    entries = st.floats(allow_nan=False, allow_infinity=False, width=width)
    X = np.array(data.draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n)), dtype)
    w, b = np.array(data.draw(st.lists(numbers, min_size=d, max_size=d))), data.draw(numbers)
    for storage in STORAGES:
        for part, values, bound in scores(inputs.rows(storage(X)), w, b):
            for x, value in zip(X[part], values):
                exact = sum(F(float(a)) * F(float(c)) for a, c in zip(x, w)) + F(b)
                if math.isfinite(value) and math.isfinite(bound):
                    assert abs(F(float(value)) - exact) <= F(bound)


# ---- Hyperplanes ----
@thorough
@given(st.data(), st.integers(1, 6), st.integers(1, 4), st.sampled_from(STORAGES))
def test_planes_are_accepted_just_when_they_separate(data, n, d, storage):
    X = np.array(data.draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    w, b = np.array(data.draw(st.lists(numbers, min_size=d, max_size=d))), data.draw(numbers)
    y = np.array(data.draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n)))
    if data.draw(st.booleans()):  # labels that agree, so that acceptance is as common as refusal
        y = np.array([1 if least([x], [1], w, b) > 0 else -1 for x in X])
    judge(prove_plane(inputs.rows(storage(X)), y, w, b), X, y, w, b)


@thorough
@given(st.data(), st.integers(2, 12), st.sampled_from((0, 0, -1060, -900, 900)))
def test_rows_within_rounding_of_the_plane(data, d, exponent):
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(d)
    X = rng.standard_normal((5, d))
    X -= np.outer(X @ w / (w @ w), w)  # on it but for rounding
    X[:, 0] += data.draw(st.sampled_from((0.0, 1e-17, 1e-16, 1e-15)))
    X = np.ldexp(X, exponent)
    y = np.array([1 if least([x], [1], w, 0.0) > 0 else -1 for x in X])
    if data.draw(st.booleans()):
        y[data.draw(st.integers(0, 4))] *= -1
    judge(prove_plane(inputs.rows(X), y, w, 0.0), X, y, w, 0.0)


def judge(proof, X, y, w, b):
    value = least(X, y, w, b)
    assert (proof is not None) == (value > 0)
    if proof is not None:
        assert proof.numerator == value == least(X[[proof.row]], y[[proof.row]], w, b)
        square = sum(F(float(v)) ** 2 for v in w)
        if square:
            assert F(proof.margin) ** 2 * square <= value**2
            above = math.nextafter(proof.margin, math.inf)
            assert above == math.inf or F(above) ** 2 * square > value**2
        else:
            assert proof.margin == math.inf


def test_a_plane_that_floats_cannot_judge():
    X, w = np.array([[0.1, 0.2, -0.3]]), np.ones(3)
    value = F(0.1) + F(0.2) - F(0.3)
    proof = prove_plane(inputs.rows(X), [1], w, 0.0)
    assert value > 0 and proof.numerator == value and proof.proof == "rational" and proof.n_exact == 1
    assert prove_plane(inputs.rows(X), [-1], w, 0.0) is None


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
@pytest.mark.parametrize("storage", STORAGES)
def test_many_rows_are_filtered(storage, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 30)).astype(dtype)
    w = rng.standard_normal(30)
    keep = np.abs(X @ w) > 1e-3
    X, y = X[keep], np.where(X[keep] @ w > 0, 1, -1)
    proof = prove_plane(inputs.rows(storage(X)), y, w, 0.0)
    assert proof.proof == "filter" and proof.n_exact <= proof.n_filtered < 10
    assert proof.margin == pytest.approx(np.abs(X.astype(float) @ w).min() / np.linalg.norm(w))
    y[777] *= -1
    assert prove_plane(inputs.rows(storage(X)), y, w, 0.0) is None


def test_equal_rows_are_evaluated_once():
    X, y = np.tile([[0.1, 0.7]], (50_000, 1)), np.ones(50_000)
    start = time.perf_counter()
    proof = prove_plane(inputs.rows(X), y, [1.0, 1.0], 0.0)
    assert proof.n_exact == 50_000 and proof.row == 0 and time.perf_counter() - start < 2


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([1, 0], [1.0], 0.0), "y must be -1 and"),
        (([1, 1], [1.0, 2.0], 0.0), "w must have shape"),
        (([1, 1], [math.nan], 0.0), "finite"),
        (([1, 1], [1.0], math.inf), "finite"),
    ],
)
def test_planes_that_are_none(arguments, message):
    with pytest.raises(InputError, match=message):
        prove_plane(inputs.rows([[1.0], [2.0]]), *arguments)


# ---- Upper bounds ----
def small_problem(seed, intercept):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 12), rng.integers(1, 5)
    X = rng.standard_normal((n, d)) * 2.0 ** rng.integers(-300, 300)
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    if intercept:
        y[:2] = 1, -1
    return inputs.rows(X), y, min_norm_point(inputs.rows(X), y, intercept=intercept)


@pytest.mark.parametrize("intercept", (True, False))
@pytest.mark.parametrize("seed", range(40))
def test_no_margin_exceeds_the_bound(seed, intercept, monkeypatch):
    rows, y, answer = small_problem(seed, intercept)
    weights = np.array([float(v) for v in answer.weights])
    bound = prove_upper(rows, y, answer.rows, weights, intercept=intercept)
    assert F(bound) ** 2 >= answer.margin_squared
    monkeypatch.setattr("rosenblatt.proving.proofs._EXACT_SUM", 0)
    floats = prove_upper(rows, y, answer.rows, weights, intercept=intercept)
    assert floats >= bound
    if answer.separable:
        assert bound <= root_up(answer.margin_squared) * (1 + 1e-12)
        assert floats <= bound * (1 + 1e-10)
    other = np.random.default_rng(seed).random(len(rows))
    for limit in (0, 10**6):
        monkeypatch.setattr("rosenblatt.proving.proofs._EXACT_SUM", limit)
        assert F(prove_upper(rows, y, range(len(rows)), other, intercept=intercept)) ** 2 >= answer.margin_squared


@thorough
@given(st.data(), st.integers(2, 6), st.integers(1, 3), st.booleans())
def test_bounds_in_floats_are_above_exact_ones(data, n, d, intercept):
    X = np.array(data.draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    weights = data.draw(st.lists(st.floats(0, 1e300), min_size=n, max_size=n))
    y = np.where(np.arange(n) % 2, 1, -1)
    exact = prove_upper(inputs.rows(X), y, range(n), weights, intercept=intercept)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rosenblatt.proving.proofs._EXACT_SUM", -1)
        for storage in STORAGES:
            assert prove_upper(inputs.rows(storage(X)), y, range(n), weights, intercept=intercept) >= exact


def test_a_bound_needs_both_classes_and_no_negative_weight():
    rows, y = inputs.rows([[1.0], [2.0]]), [1, -1]
    assert prove_upper(rows, y, [0], [1.0], intercept=True) == math.inf
    assert prove_upper(rows, y, [0, 1], [1.0, 1.0], intercept=True) == 0.5
    with pytest.raises(InputError, match="not negative"):
        prove_upper(rows, y, [0, 1], [1.0, -1.0], intercept=True)
    with pytest.raises(InputError, match="different row numbers"):
        prove_upper(rows, y, [0, 2], [1.0, 1.0], intercept=True)


# ---- Witnesses ----
def simplex(d, seed=0):
    """d + 2 points whose classes' hulls meet, in general position."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(d + 2) % 2, 1, -1)
    weights = rng.random(d + 2) + 0.01
    for sign in (1, -1):
        weights[y == sign] /= weights[y == sign].sum()
    X = rng.standard_normal((d + 2, d))
    X[-1] = -(weights[:-1] * y[:-1]) @ X[:-1] / (weights[-1] * y[-1])
    return X, y, weights


def is_witness(X, y, proof, intercept):
    """From the definition, in fractions."""
    assert min(proof.weights) > 0
    for sign in (1, -1) if intercept else (None,):
        assert sum(v for i, v in zip(proof.rows, proof.weights) if sign in (None, y[i])) == 1
    for column in np.asarray(X, float).T:
        assert sum(int(y[i]) * v * F(float(column[i])) for i, v in zip(proof.rows, proof.weights)) == 0
    assert proof.floats.tolist() == [float(v) for v in proof.weights]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("d", (1, 2, 5, 20, 50))
def test_simplices(d, storage):
    X, y, weights = simplex(d)
    rows = inputs.rows(storage(X))
    interval = prove_witness(rows, y, range(d + 2), weights, intercept=True)
    rational = prove_witness(rows, y, range(d + 2), weights, intercept=True, exact=True)
    assert interval.proof == "interval" and interval.overlap is True and interval.weights is None
    assert rational.proof == "rational" and rational.overlap is True
    is_witness(X, y, rational, True)
    np.testing.assert_allclose(interval.floats, rational.floats, rtol=1e-9)


def test_the_enclosure_contains_the_exact_solution():
    for seed in range(20):
        X, y, weights = simplex(6, seed)
        A = np.vstack([(X * y[:, None]).T, y > 0, y < 0]).astype(float) * 2.0 ** np.arange(-4, 4)[:, None]
        e = np.r_[np.zeros(6), A[6].max(), A[7].max()]
        found = positive_solution(A, e)
        exact = prove_witness(inputs.rows(X), y, range(8), weights, intercept=True, exact=True).weights
        assert all(abs(F(float(x)) - v) <= F(float(r)) for x, r, v in zip(found.x, found.radius, exact))
        assert found.radius.max() < 1e-10


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(2, 7), st.integers(1, 4), st.booleans())
def test_a_witness_is_proved_just_when_there_is_one(data, n, d, intercept):
    entries = data.draw(st.sampled_from((st.integers(-2, 2).map(float), numbers)))
    X = np.array(data.draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = np.array(data.draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n)))
    if intercept:
        y[:2] = 1, -1
    answer = min_norm_point(inputs.rows(X), y, intercept=intercept)
    for exact in ("auto", True, False):
        proof = prove_witness(inputs.rows(X), y, range(n), np.ones(n), intercept=intercept, exact=exact)
        assert proof is None or not answer.separable
        assert exact is False or (proof is None) == answer.separable
        if proof is not None and proof.weights is not None:
            is_witness(X, y, proof, intercept)
        if proof is not None and proof.overlap:
            z = [[int(y[i]) * F(float(v)) for v in [*X[i], *[1.0] * intercept]] for i in proof.rows]
            assert rank(z) == d + intercept


@pytest.mark.parametrize("seed", range(10))
def test_altered_witnesses_are_rejected_or_still_true(seed):
    rng = np.random.default_rng(seed)
    X, y, _ = simplex(4, seed)
    X = np.vstack([X, rng.standard_normal((6, 4))])
    y = np.r_[y, rng.choice((-1, 1), 6)]
    rows = inputs.rows(X)
    for _ in range(40):
        support = rng.choice(12, size=rng.integers(2, 7), replace=False)
        signs = np.where(rng.random(12) < 0.2, -y, y)
        proof = prove_witness(rows, signs, support, rng.random(len(support)), intercept=True)
        both = len(set(signs[support])) == 2
        truth = both and not min_norm_point(inputs.rows(X[support]), signs[support], intercept=True).separable
        assert (proof is not None) == truth


def test_touching_needs_rationals():
    X, y = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, 2.0], [5.0, 1.0]]), np.array([1, 1, -1, -1])
    proof = prove_witness(inputs.rows(X), y, [0, 1, 2], [0.5, 0.5, 1.0], intercept=True)
    assert proof.proof == "rational"
    is_witness(X, y, proof, True)
    moved = X.copy()
    moved[2, 0] = math.nextafter(1.0, 2.0)
    assert prove_witness(inputs.rows(moved), y, [0, 1, 2], [0.5, 0.5, 1.0], intercept=True) is None


def test_sums_that_overflow_stay_open():
    X = np.array([[1e308, 1e308, -1e308, -1e308, 1.0], [1e308, 1e308, -1e308, -1e308, -1.0]])
    w = np.ones(5)
    assert prove_plane(inputs.rows(X), [1, 1], w, 0.0) is None
    assert prove_plane(inputs.rows(X), [1, -1], w, 0.0).numerator == 1


def test_constant_and_copied_features_do_not_matter():
    X, y, weights = simplex(5)
    wide = np.hstack([X, X[:, :2], np.full((7, 1), 0.3), np.zeros((7, 1))])
    proof = prove_witness(inputs.rows(wide), y, range(7), weights, intercept=True)
    assert proof.proof == "interval" and proof.overlap is None


def test_features_on_all_scales():
    X, y, weights = simplex(8)
    X *= 10.0 ** np.linspace(-150, 150, 8)
    assert prove_witness(inputs.rows(X), y, range(10), weights, intercept=True).proof == "interval"


def test_sparse_rows_with_a_feature_stored_twice():
    data, columns, starts = np.array([1.0, 2.0**-70, 1.0, 3.0]), np.array([0, 0, 0, 0]), np.array([0, 2, 3, 4])
    X = sp.csr_array((data, columns, starts), shape=(3, 1))
    assert prove_witness(inputs.rows(X), [1, -1, 1], [0, 1], [1.0, 1.0], intercept=True) is None
    assert prove_plane(inputs.rows(X), [1, -1, 1], [1.0], -1.0) is None  # the second row is on it
    assert prove_plane(inputs.rows(X), [1, 1, 1], [1.0], -1.0 + 2.0**-53).numerator == F(2) ** -53
    assert prove_plane(inputs.rows(X[[0, 2]]), [1, 1], [1.0], -1.0).numerator == F(2) ** -70


# ---- Weak separation ----
def weak_program(X, y, intercept):
    """The best Σ y(w · x + b) with every term in [0, 1]: positive just when some hyperplane separates weakly."""
    Z = np.hstack([X, np.ones((len(X), int(intercept)))]) * np.asarray(y)[:, None]
    n, D = Z.shape
    A = np.hstack([-Z, np.eye(n)])
    found = linprog(np.r_[np.zeros(D), -np.ones(n)], A, np.zeros(n), bounds=[(None, None)] * D + [(0, 1)] * n)
    assert found.status == 0
    return round(-found.fun)  # how many rows can be strictly on their side


def test_weak_separation_is_that_of_highs():
    rng = np.random.default_rng(5)
    counts = {"weak": 0, "overlap": 0}
    for trial in range(600):
        n, d, intercept = rng.integers(2, 12), rng.integers(1, 5), bool(trial % 2)
        X = rng.integers(-1, 2, (n, d)).astype(float)
        y = (
            rng.choice((-1, 1), n)
            if trial % 3
            else np.where(X[:, 0] > 0, 1, np.where(X[:, 0] < 0, -1, rng.choice((-1, 1))))
        )
        if intercept:
            y[:2] = 1, -1
        answer = min_norm_point(inputs.rows(X), y, intercept=intercept)
        if answer.separable:
            continue
        rows = inputs.rows(X if trial % 5 else sp.csr_array(X))
        found = weakly_separates(rows, y, answer.rows, intercept=intercept)
        strict = weak_program(X, y, intercept)
        assert found.status == ("weak" if strict else "overlap")
        counts[found.status] += 1
        if strict:
            values = [int(s) * (sum(F(a) * c for a, c in zip(x, found.w)) + found.b) for x, s in zip(X, y)]
            assert min(values) == 0 and sum(v > 0 for v in values) == strict
            assert [i for i, v in enumerate(values) if v == 0] == found.on.tolist()
    assert min(counts.values()) > 50


def by_program(rows, y):
    """A guess from HiGHS: the w of largest Σ min(1, y(w · x)) with all terms >= 0."""
    X = rows.dense if rows.dense is not None else rows.sparse.toarray()
    found = linprog(np.zeros(X.shape[1]), -X * y[:, None], -np.ones(len(X)), bounds=(None, None))
    return (found.x if found.status == 0 else None), np.arange(0)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("guess", (by_program, lambda rows, y: (rng_guess(rows), np.arange(min(3, len(rows))))))
def test_guesses_change_nothing(guess, storage):
    rng = np.random.default_rng(6)
    for trial in range(60):
        n, d, intercept = rng.integers(4, 14), rng.integers(2, 5), bool(trial % 2)
        X = rng.integers(-1, 2, (n, d)) + rng.choice((0.0, 0.1), (n, d))
        y = np.where(X[:, 0] > 0, 1, -1)
        X, y = np.vstack([X, X[:2]]), np.r_[y, -y[:2]]
        answer = min_norm_point(inputs.rows(X), y, intercept=intercept)
        alone = weakly_separates(inputs.rows(X), y, answer.rows, intercept=intercept)
        guessed = weakly_separates(inputs.rows(storage(X)), y, answer.rows, intercept=intercept, guess=guess)
        assert alone.status == guessed.status
        if alone.status == "weak":
            assert alone.on.tolist() == guessed.on.tolist()
            values = [int(s) * (sum(F(a) * c for a, c in zip(x, guessed.w)) + guessed.b) for x, s in zip(X, y)]
            assert [i for i, v in enumerate(values) if v <= 0] == guessed.on.tolist() and min(values) == 0


def rng_guess(rows):
    return np.random.default_rng(0).standard_normal(rows.shape[1])


def test_iris_overlaps():
    X, c = load_iris(return_X_y=True)
    y = np.where(c == 2, 1, -1)
    answer = min_norm_point(inputs.rows(X), y, intercept=True)
    proof = prove_witness(inputs.rows(X), y, answer.rows, np.ones(6), intercept=True)
    assert proof.proof == "interval" and proof.overlap is True
    assert weakly_separates(inputs.rows(X), y, answer.rows, intercept=True).status == "overlap"


def test_a_weak_plane_as_floats():
    X, y = [[0.0], [1.0], [1.0], [2.0]], [-1, -1, 1, 1]
    found = weakly_separates(inputs.rows(X), y, [1, 2], intercept=True)
    w, b = found.floats()
    assert found.status == "weak" and w[0] > 0 and b == -w[0] and found.on.tolist() == [1, 2]
    assert (
        weakly_separates(inputs.rows(X), y, [1, 2], intercept=True, deadline=time.monotonic() - 1).status == "unknown"
    )


@given(st.floats(0.1, 1), st.floats(0.1, 1))
def test_planes_that_floats_cannot_hold_are_not_rounded(a, c):
    assume(a != c)
    X = [[a, 0.1, 0.0], [a, 0.1, 0.0], [c, 0.7, 0.0], [c, 0.7, 0.0], [0.0, 0.0, 1.0]]
    y = [1, -1, 1, -1, 1]
    found = weakly_separates(inputs.rows(X), y, [0, 1, 2, 3], intercept=True)
    floats = found.floats()
    assert found.status == "weak"
    if floats is not None:
        assert least(X, y, *floats) == 0


# ---- Deadlines ----
def test_exact_weights_stop_at_the_deadline():
    X = np.random.default_rng(0).integers(-9, 10, (37, 36)).astype(float)
    X[-1] = -X[:-1].sum(axis=0)
    given = inputs.rows(X), np.ones(37), np.arange(37), np.ones(37)
    assert prove_witness(*given, intercept=False, exact=True).weights == [F(1, 37)] * 37
    assert prove_witness(*given, intercept=False, exact=True, deadline=time.monotonic() - 1) is None
