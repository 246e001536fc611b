"""Newton's method for the soft margin: the referee's optimum, the optimality conditions, and the same answer always."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from referee import BIASES, noisy, optimum, problem

from rosenblatt.solving import augmented_lagrangian, newton, row_products
from rosenblatt.solving.soft_margin import Start, judge, scores

STORES = {"float64": np.asarray, "float32": lambda X: X.astype(np.float32), "csr": sp.csr_array}
STORES["csr float32"] = lambda X: sp.csr_matrix(X.astype(np.float32))


def assert_optimal(given_problem, found, tolerance=1e-5):
    """The optimality conditions: w is the combination, weights are settled where rows are not at their margin."""
    y, cost, a = given_problem.y, given_problem.cost, found.weights
    X = given_problem.rows.values if given_problem.rows.dense is not None else given_problem.rows.sparse.toarray()
    margins = y * (scores(given_problem.rows, found.w) + found.b)
    assert np.abs(X.T.astype(float) @ (a * y) - found.w).max() <= tolerance * (1 + np.abs(found.w).max())
    assert (a >= 0).all() and (a <= cost).all()
    if given_problem.bias == "free":
        assert abs(a @ y) <= 1e-12 * a.sum()
    if given_problem.bias == "regularised":
        assert a @ y == pytest.approx(found.b, abs=tolerance)
    counted = cost > 0
    assert (a[counted & (margins > 1 + 1e-3)] <= 1e-6 * cost.max()).all()
    below = counted & (margins < 1 - 1e-3)
    assert (a[below] >= cost[below] * (1 - 1e-6)).all()


# ---- The referee ----
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("store", STORES)
def test_the_optimum_is_the_referees(store, bias):
    X, y = noisy(150, 8, seed=1)
    cost = np.random.default_rng(2).choice([0.0, 0.1, 1.0, 5.0], 150)
    given_problem = problem(STORES[store](X), y, cost, bias)
    X = X.astype(np.float32) if "float32" in store else X
    found = newton.solve(given_problem, gap=1e-9)
    assert found.solved and found.gap <= 1e-9
    assert found.primal == pytest.approx(optimum(X, y, cost, bias), rel=1e-8)
    assert_optimal(given_problem, found)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("C", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_the_optimum_is_the_referees_for_every_cost(C, bias):
    X, y = noisy(120, 6, seed=3)
    found = newton.solve(problem(X, y, C, bias), gap=1e-8)
    assert found.solved
    assert found.primal == pytest.approx(optimum(X, y, np.full(120, C), bias), rel=1e-7)


@pytest.mark.parametrize(("n", "d"), [(2, 1), (5, 3), (30, 60), (40, 200)])
@pytest.mark.parametrize("bias", BIASES)
def test_fewer_rows_than_features(n, d, bias):
    X, y = noisy(n, d, seed=n)
    found = newton.solve(problem(X, y, 0.5, bias), gap=1e-9)
    assert found.solved
    assert found.primal == pytest.approx(optimum(X, y, np.full(n, 0.5), bias), rel=1e-7)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("store", ["float64", "csr"])
def test_conjugate_gradients_find_the_same(monkeypatch, store, bias):
    X, y = noisy(150, 20, seed=4)
    given_problem = problem(STORES[store](X), y, 1.0, bias)
    wanted = newton.solve(given_problem, gap=1e-8).primal
    monkeypatch.setattr(augmented_lagrangian, "LARGE", 0)
    found = newton.solve(given_problem, gap=1e-8)
    assert found.solved and found.primal == pytest.approx(wanted, rel=2e-8)


# ---- Samples and the rows in question ----
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
def test_many_rows_are_solved_by_way_of_samples(C, store, bias):
    X, y = noisy(12_000, 6, seed=5)
    given_problem = problem(STORES[store](X), y, C, bias)
    found = newton.solve(given_problem, gap=1e-7)
    judged = judge(given_problem, found.w, found.b, found.weights)
    assert found.solved and (judged.primal, judged.gap) == (found.primal, found.gap) and judged.gap <= 1e-7
    assert_optimal(given_problem, found, tolerance=1e-2 * max(1.0, C))


@pytest.mark.parametrize("C", [0.1, 100.0])
def test_rare_features_do_not_run_away(C):
    random = np.random.default_rng(6)
    X, y = noisy(8000, 5, seed=7)
    rare = sp.random(8000, 40, density=2e-4, random_state=random, format="csr")
    found = newton.solve(problem(sp.hstack([sp.csr_matrix(X), 30 * rare]).tocsr(), y, C), gap=1e-6)
    assert found.solved


def test_few_rows_of_one_class_are_not_lost_in_a_sample():
    X, y = noisy(10_000, 4, seed=8)
    y[:] = -1.0
    y[:3] = 1.0
    assert newton.solve(problem(X, y, 1.0), gap=1e-6).solved


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("store", ["float32", "csr"])
def test_the_same_bits_on_any_number_of_threads(store, threads):
    X, y = noisy(9000, 9, seed=9)
    given_problem = problem(STORES[store](X), y, 1.0)
    one, several = (newton.solve(given_problem, gap=1e-6, threads=t) for t in (1, threads))
    assert np.array_equal(one.w, several.w) and one.b == several.b
    assert np.array_equal(one.weights, several.weights) and one.steps == several.steps


def test_rows_too_many_to_copy_are_read_where_they_are(monkeypatch):
    X, y = noisy(3000, 7, seed=10)
    given_problem = problem(X.astype(np.float32) + np.float32(3), y, 1.0)
    wanted = newton.solve(given_problem, gap=1e-7).primal
    monkeypatch.setattr(row_products, "_LARGE", 0)
    assert newton.solve(given_problem, gap=1e-7).primal == pytest.approx(wanted, rel=2e-7)


@pytest.mark.parametrize("limit", ["_LARGE", "_SMALL"])
def test_products_do_not_depend_on_how_rows_are_kept(monkeypatch, limit):
    X = np.random.default_rng(0).integers(-2, 3, (40, 5)).astype(np.float64)
    stored = problem(X if limit == "_LARGE" else sp.csr_matrix(X), np.ones(40), 1.0).rows
    ids, some = np.arange(1, 40), np.asarray([0, 5, 7])
    shift = np.arange(5.0) if limit == "_LARGE" else None
    first = row_products.products(stored, ids, shift)
    monkeypatch.setattr(row_products, limit, 0)
    second = row_products.products(stored, ids, shift)
    assert type(first) is not type(second)
    w, a = np.arange(5.0), np.arange(39.0)
    assert np.array_equal(first.times(w), second.times(w))
    assert np.array_equal(first.combined(a), second.combined(a))
    (matrix, along), (other, other_along) = (
        rows.scatter(some, np.asarray([1.0, 4.0, 9.0])) for rows in (first, second)
    )
    assert np.array_equal(np.tril(matrix), np.tril(other)) and np.array_equal(along, other_along)


# ---- A start, and the clock ----
def test_a_start_leads_to_the_same_optimum_in_fewer_steps():
    X, y = noisy(4000, 10, seed=11)
    cold = newton.solve(problem(X, y, 1.0), gap=1e-6)
    near = newton.solve(problem(X, y, 1.1), gap=1e-6)
    start = Start(near.w, near.b, np.where(near.weights >= 1.1, np.inf, near.weights))
    warm = newton.solve(problem(X, y, 1.0), gap=1e-6, start=start)
    assert warm.solved and warm.steps < cold.steps
    assert warm.primal == pytest.approx(cold.primal, rel=2e-6)


@pytest.mark.parametrize("weights", [np.zeros(200), np.full(200, np.inf)])
def test_a_useless_start_does_no_harm(weights):
    X, y = noisy(200, 4, seed=12)
    found = newton.solve(problem(X, y, 1.0), gap=1e-8, start=Start(np.full(4, 1e3), -1e3, weights))
    assert found.solved


def test_the_deadline_is_kept_and_said():
    X, y = noisy(5000, 10, seed=13)
    found = newton.solve(problem(X, y, 1.0), gap=1e-9, deadline=time.monotonic())
    assert found.status == "out of time" and 1e-9 < found.gap < np.inf and not found.solved


# ---- Hard data ----
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("C", [1e-10, 1.0, 1e6])
def test_badly_scaled_features(C, bias):
    X, y = noisy(1000, 9, seed=14)
    found = newton.solve(problem(X * 10.0 ** np.linspace(-4, 4, 9), y, C, bias), gap=1e-6)
    assert found.solved


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_far_from_zero(dtype):
    X, y = noisy(1000, 6, seed=15)
    far = (X + 1e4).astype(dtype)
    found = newton.solve(problem(far, y, 1.0), gap=1e-6)
    near = newton.solve(problem(far.astype(np.float64) - 1e4, y, 1.0), gap=1e-6)
    assert found.solved and found.primal == pytest.approx(near.primal, rel=2e-6)
    assert found.w == pytest.approx(near.w, abs=2e-2)


def test_copies_of_rows_count_as_their_cost():
    X, y = noisy(300, 5, seed=16)
    many = newton.solve(problem(np.repeat(X, 7, axis=0), np.repeat(y, 7), 0.3), gap=1e-8)
    once = newton.solve(problem(X, y, 2.1), gap=1e-8)
    assert many.primal == pytest.approx(once.primal, rel=2e-8)
