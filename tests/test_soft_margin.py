"""The judge of soft margins: both objectives, feasible weights and the best offset, against definition and referee."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from referee import BIASES, noisy, optimum, problem

from rosenblatt.solving import soft_margin
from rosenblatt.solving.soft_margin import best_offset, combination, feasible, judge, obvious, scores, slack

finite = st.floats(-4, 4, allow_nan=False)


@st.composite
def small_problems(draw):
    n = draw(st.integers(2, 12))
    y = np.asarray([1.0, -1.0, *draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=n - 2, max_size=n - 2))])
    cost = np.asarray(draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0]), min_size=n, max_size=n)))
    cost[:2] = 1.0
    X = np.asarray(draw(st.lists(finite, min_size=2 * n, max_size=2 * n))).reshape(n, 2)
    return problem(X, y, cost)


# ---- Both objectives ----
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_the_objectives_are_their_definition(bias, dtype, store):
    X, y = noisy(60, 5, seed=0)
    X = X.astype(dtype)
    random = np.random.default_rng(1)
    cost, w, b = random.random(60), random.standard_normal(5), 0.7 * (bias != "none")
    judged = judge(problem(store(X), y, cost, bias), w, b, random.random(60))
    a = judged.weights
    xi = np.maximum(0, 1 - y * (X.astype(float) @ w + b))
    v = X.astype(float).T @ (a * y)
    more = 0.5 if bias == "regularised" else 0.0
    assert judged.primal == pytest.approx(0.5 * w @ w + cost @ xi + more * b * b, rel=1e-13)
    assert judged.dual == pytest.approx(a.sum() - 0.5 * v @ v - more * (a @ y) ** 2, rel=1e-12)
    assert judged.gap == (judged.primal - judged.dual) / judged.primal


@given(small_problems(), st.lists(finite, min_size=2, max_size=2), finite, st.sampled_from(BIASES))
def test_no_dual_value_is_above_a_primal_value(drawn, w, b, bias):
    given_problem = soft_margin.Problem(drawn.rows, drawn.y, drawn.cost, bias)
    judged = judge(given_problem, np.asarray(w), b if bias != "none" else 0.0, np.abs(scores(drawn.rows, np.ones(2))))
    assert judged.dual <= judged.primal + 1e-12 * (1 + abs(judged.primal))


@pytest.mark.parametrize("bias", BIASES)
def test_the_referees_optimum_lies_between_the_two(bias):
    X, y = noisy(80, 4, seed=2)
    cost = np.random.default_rng(3).random(80)
    best = optimum(X, y, cost, bias)
    for seed in range(20):
        random = np.random.default_rng(seed)
        b = random.standard_normal() * (bias != "none")
        judged = judge(problem(X, y, cost, bias), random.standard_normal(4), b, random.random(80))
        assert judged.dual <= best * (1 + 1e-9) and best * (1 - 1e-9) <= judged.primal


def test_a_value_that_is_not_finite_is_a_gap_without_end():
    X, y = noisy(10, 2, seed=0)
    assert judge(problem(X, y, 1.0), np.full(2, np.inf), 0.0, np.ones(10)).gap == np.inf
    assert soft_margin.Judgement(0.0, 0.0, np.zeros(1)).gap == 0.0


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix])
def test_judging_gives_the_same_bits_on_any_number_of_threads(store, threads):
    X, y = noisy(20_000, 7, seed=5)
    given_problem = problem(store(X), y, 1.0)
    w, a = np.arange(7.0), np.random.default_rng(0).random(20_000)
    one, several = (judge(given_problem, w, 0.1, a, threads=t) for t in (1, threads))
    assert one.primal == several.primal and one.dual == several.dual
    assert np.array_equal(combination(given_problem, a), combination(given_problem, a, threads=threads))
    assert np.array_equal(slack(given_problem, w, 0.1), slack(given_problem, w, 0.1, threads=threads))


# ---- The offset ----
@given(small_problems(), st.lists(finite, min_size=2, max_size=2))
def test_the_best_offset_is_the_best_breakpoint(drawn, w):
    products = scores(drawn.rows, np.asarray(w))

    def loss(b):
        return drawn.cost @ np.maximum(0, 1 - drawn.y * (products + b))

    low, high = best_offset(drawn, products)
    least = min(loss(b) for b in drawn.y - products)  # piecewise linear: the least is at a breakpoint
    assert low <= high
    for b in (low, 0.5 * (low + high), high):
        assert loss(b) == pytest.approx(least, rel=1e-9, abs=1e-9)
    for b in (low - 1e-3, high + 1e-3):
        assert loss(b) >= least - 1e-9


def test_the_best_offset_of_many_rows_is_that_of_a_sort():
    random = np.random.default_rng(0)
    y = random.choice([-1.0, 1.0], 5000)
    cost = random.choice([0.0, 1.0, 2.5], 5000)
    products = random.choice([random.standard_normal(5000), np.round(random.standard_normal(5000), 1)])
    order = np.argsort(y - products)
    risen = np.cumsum(cost[order])
    wanted = (y - products)[order[np.searchsorted(risen, cost[y > 0].sum() * (1 - 1e-12))]]
    assert best_offset(problem(np.zeros((5000, 1)), y, cost), products)[0] == wanted


def test_only_a_free_offset_can_be_chosen():
    with pytest.raises(ValueError, match="only a free offset"):
        best_offset(problem(np.ones((2, 1)), np.asarray([1.0, -1.0]), 1.0, "none"), np.zeros(2))


# ---- Feasible weights ----
@given(small_problems(), st.lists(st.floats(-2, 5), min_size=12, max_size=12))
def test_feasible_weights_are_within_their_costs_and_balanced(drawn, weights):
    found = feasible(drawn, np.asarray(weights[: len(drawn.y)]))
    assert (found >= 0).all() and (found <= drawn.cost).all()
    assert abs(found @ drawn.y) <= max(1e-13 * found.sum(), 1e-300)  # subnormal numbers have fewer digits


@given(small_problems(), st.lists(st.floats(-2, 5), min_size=12, max_size=12))
def test_feasible_weights_are_a_little_off_or_the_nearest(drawn, weights):
    weights = np.clip(np.asarray(weights[: len(drawn.y)]), 0.0, drawn.cost)
    found = feasible(drawn, weights)
    if np.abs(weights - found).sum() <= 1e-3 * weights.sum():
        return  # then a weight at a bound stays there, though a nearer point may move it
    for seed in range(5):  # no feasible point lies beyond the tangent plane: (weights - found).(other - found) <= 0
        other = feasible(drawn, np.random.default_rng(seed).random(len(weights)) * drawn.cost)
        assert (weights - found) @ (other - found) <= 1e-9


def test_weights_that_are_feasible_stay_as_they_are():
    given_problem = problem(np.zeros((4, 1)), np.asarray([1.0, 1.0, -1.0, -1.0]), 1.0)
    weights = np.asarray([0.25, 0.5, 0.75, 0.0])
    assert np.array_equal(feasible(given_problem, weights), weights)


# ---- Answers that need no solver ----
def test_one_class_and_no_costs_need_no_solver():
    X, y = noisy(10, 3, seed=0)
    ones = np.ones(10)
    for signs, cost, b in ((ones, 1.0, 1.0), (-ones, 1.0, -1.0), (y, 0.0, 0.0), (y, (y > 0) * 1.0, 1.0)):
        found = obvious(problem(X, signs, cost))
        assert found is not None and found.solved
        assert (found.primal, found.gap, found.b) == (0.0, 0.0, b) and not found.w.any()
        assert judge(problem(X, signs, cost), found.w, found.b, found.weights).primal == 0.0
    assert obvious(problem(X, y, 1.0)) is None
    assert obvious(problem(X, ones, 1.0, "regularised")) is None
