"""Exact arithmetic against a plain Gauss elimination in fractions, against HiGHS, and on problems solved by hand."""

import random
import time
from fractions import Fraction as F

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.proving.dyadics import dyadic, row_point
from rosenblatt.proving.integer_systems import (
    OutOfTime,
    eliminate,
    independent,
    lift,
    null_space,
    null_vector,
    rank,
    solve,
    solve_integers,
)
from rosenblatt.proving.rationals import min_norm_point

finite = st.floats(allow_nan=False, allow_infinity=False)


# ---- Linear algebra ----
def gauss(A, b):
    """Gauss-Jordan in fractions, as in a textbook; None if A is singular."""
    M = [[F(v) for v in row] + [F(right)] for row, right in zip(A, b)]
    for k in range(len(M)):
        place = next((i for i in range(k, len(M)) if M[i][k]), None)
        if place is None:
            return None
        M[k], M[place] = M[place], M[k]
        M[k] = [v / M[k][k] for v in M[k]]
        for i in range(len(M)):
            if i != k:
                M[i] = [v - M[i][k] * t for v, t in zip(M[i], M[k])]
    return [row[-1] for row in M]


def fractions(solution):
    return None if solution is None else [F(v, solution[1]) for v in solution[0]]


@pytest.mark.parametrize("bits", (1, 3, 53, 200))
@pytest.mark.parametrize("m", (1, 2, 3, 5, 8, 13, 17))
def test_three_ways_to_solve_agree(m, bits):
    draw = random.Random(100 * m + bits)
    for _ in range(5):
        A = [[draw.randint(-(2**bits), 2**bits) for _ in range(m)] for _ in range(m)]
        b = [draw.randint(-(2**bits), 2**bits) for _ in range(m)]
        expected = gauss(A, b)
        by_elimination = eliminate(A, [[v] for v in b])
        assert fractions(by_elimination and ([r[0] for r in by_elimination[0]], by_elimination[1])) == expected
        assert fractions(lift(A, b)) == expected
        assert solve(A, b) == expected


@pytest.mark.parametrize("m", (17, 40, 70))
def test_lifted_solutions_solve(m):
    draw = random.Random(m)
    A = [[draw.randint(-(2**53), 2**53) << draw.choice((0, 0, 0, 70)) for _ in range(m)] for _ in range(m)]
    b = [draw.randint(-9, 9) for _ in range(m)]
    x = solve(A, b)
    assert all(sum(a * v for a, v in zip(row, x)) == right for row, right in zip(A, b))


def test_a_large_singular_system_has_no_solution():
    draw = random.Random(1)
    A = [[draw.randint(-9, 9) for _ in range(30)] for _ in range(29)]
    A.append([a - c for a, c in zip(A[3], A[7])])
    assert solve(A, [1] * 30) is None
    assert rank(A) == 29


def test_fractions_are_solved_too():
    assert solve([[F(1, 2), F(1, 3)], [1, -1]], [F(5, 6), 0]) == [1, 1]


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 6), st.randoms(use_true_random=False))
def test_rank_and_null_space(height, width, inner, draw):
    left = [[draw.randint(-3, 3) for _ in range(inner)] for _ in range(height)]
    right = [[draw.randint(-3, 3) for _ in range(width)] for _ in range(inner)]
    A = [[sum(a * c for a, c in zip(row, column)) for column in zip(*right)] if inner else [0] * width for row in left]
    found = rank(A)
    assert found == np.linalg.matrix_rank(np.array(A, float))
    basis = null_space(A)
    assert len(basis) == width - found
    assert all(sum(a * v for a, v in zip(row, x)) == 0 for row in A for x in basis)
    assert (null_vector(A) is None) == (found == width)


def test_independent_modulo_a_prime_that_divides():
    assert independent([[7, 0], [0, 1]], prime=7) == ([1], [1])
    assert rank([[2**31 - 1, 0], [0, 1]]) == 2


# ---- Floats as integers ----
@given(st.lists(finite, min_size=1, max_size=6))
def test_dyadic_is_exact(values):
    whole, exponent = dyadic(values)
    assert [v * F(2) ** exponent for v in whole] == [F(v) for v in values]


def test_a_feature_stored_twice_is_a_sum():
    X = sp.csr_array((np.array([1.0, 2.0**-80, 3.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    point = row_point(inputs.rows(X), 0, -1, constant=True)
    unit = F(2) ** point.exponent
    assert {j: v * unit for j, v in point.values.items()} == {0: -3, 1: -1 - F(2) ** -80, 2: -1}


# ---- The minimum-norm point ----
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
ULP = 2.0**-52


def exact(X, y, **options):
    X = np.asarray(X, float)
    answer = min_norm_point(inputs.rows(X), np.asarray(y), **{"intercept": True} | options)
    check(X, y, answer, options.get("intercept", True))
    return answer


def check(X, y, answer, intercept):
    """What an answer claims, in fractions and from the definitions."""
    rows = [[F(float(v)) for v in row] for row in np.asarray(X, float)]
    k = 2 if intercept else 1
    assert min(answer.weights) > 0
    for sign in (1, -1) if intercept else (None,):
        assert sum(v for i, v in zip(answer.rows, answer.weights) if sign in (None, y[i])) == 1
    mean = [sum(int(y[i]) * v * rows[i][j] for i, v in zip(answer.rows, answer.weights)) for j in range(len(rows[0]))]
    assert mean == answer.w
    assert answer.margin_squared * k**2 == sum(v * v for v in mean)
    assert len(answer.rows) <= len(mean) + k
    if answer.separable:
        least = min(int(s) * (sum(a * c for a, c in zip(row, answer.w)) + answer.b) for row, s in zip(rows, y))
        assert least > 0 and least**2 == answer.margin_squared * sum(v * v for v in answer.w)
    else:
        assert not any(mean)


@pytest.mark.parametrize("y", ([-1, -1, -1, 1], [-1, 1, 1, 1]), ids=("AND", "OR"))
def test_gates(y):
    answer = exact(SQUARE, y)
    assert answer.separable and answer.margin_squared == F(1, 8)


def test_xor():
    answer = exact(SQUARE, [-1, 1, 1, -1])
    assert not answer.separable
    assert answer.rows.tolist() == [0, 1, 2, 3] and answer.weights == [F(1, 2)] * 4


def test_duplicates():
    answer = exact([[1, 2], [1, 2], [3, 4]], [1, -1, 1])
    assert not answer.separable and answer.rows.tolist() == [0, 1] and answer.weights == [1, 1]


def test_touching():
    answer = exact([[0, 0], [2, 2], [1, 1], [5, 0]], [1, 1, -1, -1])
    assert not answer.separable
    assert answer.rows.tolist() == [0, 1, 2] and answer.weights == [F(1, 2), F(1, 2), 1]


def test_three_tenths_are_not_three_times_a_tenth():
    answer = exact([[0.0], [0.1 * 3], [0.3]], [1, 1, -1])
    assert not answer.separable and min(answer.weights) == F(1, 5404319552844596)


@pytest.mark.parametrize(
    "low, high", [(1.0, 1.0 + ULP), (0.0, 1e-300), (0.0, 5e-324), (-1e300, 1e300)], ids=("ulp", "tiny", "least", "huge")
)
def test_gaps_of_any_size(low, high):
    answer = exact([[low], [high]], [-1, 1])
    assert answer.separable and answer.margin_squared == ((F(high) - F(low)) / 2) ** 2


def test_iris():
    X, c = load_iris(return_X_y=True)
    setosa = exact(X, np.where(c == 0, 1, -1))
    assert setosa.separable and float(setosa.margin_squared) ** 0.5 == pytest.approx(0.8175557692888)
    virginica = exact(X, np.where(c == 2, 1, -1))
    assert not virginica.separable and len(virginica.rows) == 6


def test_wine():
    X, c = load_wine(return_X_y=True)
    assert exact(X, np.where(c == 1, 1, -1)).separable


def test_a_support_to_start_from_saves_steps():
    X, c = load_breast_cancer(return_X_y=True)
    rows, y = inputs.rows(X[:200]), np.where(c[:200] == 0, 1, -1)
    answer = min_norm_point(rows, y, intercept=True)
    again = min_norm_point(rows, y, intercept=True, start=answer.rows)
    assert again.steps == 1 and again.margin_squared == answer.margin_squared and answer.separable


def test_dependent_points_to_start_from():
    line = [[v, v] for v in range(6)]
    answer = exact(line, [-1, -1, -1, 1, 1, 1], start=range(6))
    assert answer.margin_squared == F(1, 2)


def test_a_deadline_that_passed():
    past = time.monotonic() - 1
    assert min_norm_point(inputs.rows(SQUARE), np.array([-1, 1, 1, -1]), intercept=True, deadline=past) is None


def test_one_class_is_no_question():
    with pytest.raises(InputError, match="one class"):
        min_norm_point(inputs.rows(SQUARE), np.ones(4), intercept=True)


def test_one_class_without_an_intercept():
    assert exact([[1, 2], [2, 1]], [1, 1], intercept=False).separable
    assert not exact([[1, 2], [-1, -2]], [1, 1], intercept=False).separable


def highs(X, y, intercept):
    """The linear program: some (w, b) with y(w · x + b) >= 1; data are small integers, so its verdict is safe."""
    Z = np.hstack([X, np.ones((len(X), int(intercept)))]) * np.asarray(y)[:, None]
    found = linprog(np.zeros(Z.shape[1]), -Z, -np.ones(len(Z)), bounds=(None, None), method="highs")
    assert found.status in (0, 2)
    return found.status == 0


def test_the_verdict_is_that_of_highs():
    rng = np.random.default_rng(3)
    verdicts = []
    for trial in range(1500):
        n, d, size = rng.integers(2, 13), rng.integers(1, 5), rng.choice((1, 2, 5))
        X, intercept = rng.integers(-size, size + 1, (n, d)), bool(trial % 2)
        y = rng.choice((-1, 1), n) if trial % 3 else np.where(X @ rng.integers(-3, 4, d) >= rng.integers(-1, 2), 1, -1)
        if intercept:
            y[:2] = 1, -1
        answer = min_norm_point(inputs.rows(X.astype(float)), y, intercept=intercept)
        assert answer.separable == highs(X, y, intercept)
        if trial % 4 == 0:
            check(X, y, answer, intercept)
        verdicts.append(answer.separable)
    assert 300 < sum(verdicts) < 1200


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(2, 7), st.integers(1, 3), st.booleans())
def test_floats_of_any_size(data, n, d, intercept):
    numbers = st.one_of(finite, st.sampled_from((0.0, 5e-324, 1e-308, 1.0, 1.0 + ULP, 1e308)))
    X = np.array(data.draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    y = data.draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n))
    if intercept:
        y[:2] = 1, -1
    exact(X, y, intercept=intercept)


def test_sparse_rows_give_the_same():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((30, 8)) < 0.4, rng.standard_normal((30, 8)), 0)
    y = np.where(X[:, 0] + X[:, 1] > 0.1, 1, -1)
    dense = min_norm_point(inputs.rows(X), y, intercept=True)
    sparse = min_norm_point(inputs.rows(sp.csr_array(X)), y, intercept=True)
    assert (dense.margin_squared, dense.weights) == (sparse.margin_squared, sparse.weights)


def test_large_systems_stop_at_the_deadline():
    A = np.random.default_rng(0).integers(-9, 10, (40, 40)).tolist()
    assert lift(A, [1] * 40) == lift(A, [1] * 40, time.monotonic() + 60)
    with pytest.raises(OutOfTime):
        lift(A, [1] * 40, time.monotonic() - 1)
    with pytest.raises(OutOfTime):
        solve_integers(A, [[1]] * 40, time.monotonic() - 1)
