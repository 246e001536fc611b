"""The soft margin whoever solves it: huge and tiny costs, honest statuses, handing over, and the path over C."""

import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from referee import BIASES, noisy, optimum, problem

from rosenblatt import margins
from rosenblatt.margins import soft_margin_path_solutions, solve_soft_margin
from rosenblatt.solving import newton
from rosenblatt.solving.soft_margin import judge, slack

KINDS = ("separable", "noisy", "random", "copies", "far", "scaled", "rare class", "one feature")


def rows_of(kind):
    random = np.random.default_rng(20)
    X, y = noisy(600, 8, seed=21, noise=0.0 if kind == "separable" else 0.7)
    if kind == "separable":
        w, *_ = np.linalg.lstsq(np.column_stack([X, np.ones(600)]), y, rcond=None)
        y = np.where(X @ w[:-1] + w[-1] > 0, 1.0, -1.0)
        X = X + 0.1 * y[:, np.newaxis] * w[:-1] / np.linalg.norm(w[:-1])
    if kind == "random":
        y = random.choice([-1.0, 1.0], 600)
    if kind == "copies":
        X, y = np.repeat(X[:60], 10, axis=0), np.repeat(y[:60], 10)
    if kind == "rare class":
        y = np.where(np.arange(600) < 2, 1.0, -1.0)
    X = {"far": X + 1e4, "scaled": X * 10.0 ** np.linspace(-4, 4, 8), "one feature": X[:, :1]}.get(kind, X)
    return X, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [1e-10, 1e-3, 1.0, 1e3, 1e10])
def test_every_cost_on_every_kind_of_data(kind, C):
    X, y = rows_of(kind)
    for bias in BIASES if kind != "far" else ("free",):
        given_problem = problem(X, y, C, bias)
        found = solve_soft_margin(given_problem, gap=1e-6)
        judged = judge(given_problem, found.w, found.b, found.weights)
        assert (found.primal, found.dual, found.gap) == (judged.primal, judged.dual, judged.gap)
        assert found.status == "solved" and found.gap <= 1e-6


def test_a_hard_margin_under_huge_costs_has_no_slack():
    X, y = rows_of("separable")
    given_problem = problem(X, y, 1e10)
    found = solve_soft_margin(given_problem, gap=1e-6)
    assert found.solved and slack(given_problem, found.w, found.b).sum() * 1e10 <= 1e-6 * found.primal


@pytest.mark.parametrize("bias", BIASES)
def test_costs_over_many_decades_in_one_problem(bias):
    X, y = noisy(200, 5, seed=22)
    cost = 10.0 ** np.random.default_rng(23).uniform(-4, 4, 200)
    found = solve_soft_margin(problem(X, y, cost, bias), gap=1e-8)
    assert found.solved and found.primal == pytest.approx(optimum(X, y, cost, bias), rel=1e-7)


@pytest.mark.parametrize("store", [np.asarray, sp.csr_matrix])
def test_rows_without_any_information(store):
    y = np.where(np.arange(50) < 20, 1.0, -1.0)
    found = solve_soft_margin(problem(store(np.zeros((50, 3))), y, 2.0), gap=1e-9)
    assert found.solved and found.primal == 80.0 and not found.w.any()  # the smaller class pays 2 each


def test_one_class_needs_no_solver():
    found = solve_soft_margin(problem(np.ones((3, 2)), np.ones(3), 1.0), gap=1e-9)
    assert found.solved and found.b == 1.0 and found.steps == 0
    regularised = solve_soft_margin(problem(np.ones((3, 2)), np.ones(3), 1.0, "regularised"), gap=1e-9)
    assert regularised.solved and regularised.b == pytest.approx(1 / 3)


# ---- Statuses ----
def test_out_of_time_is_said_with_the_gap_reached():
    X, y = noisy(3000, 10, seed=24)
    found = solve_soft_margin(problem(X, y, 1.0), gap=1e-12, deadline=time.monotonic())
    assert found.status == "out of time" and 0 < found.gap <= 1.0


def test_a_gap_below_rounding_is_not_claimed():
    X, y = noisy(300, 4, seed=25)
    found = solve_soft_margin(problem(X, y, 1.0), gap=1e-18)
    assert found.status == "stalled" or found.gap <= 1e-18
    assert found.gap <= 1e-12


def test_numbers_too_large_to_square_end_in_a_status():
    X, y = noisy(50, 3, seed=26)
    with np.errstate(all="ignore"):
        found = solve_soft_margin(problem(X * 1e200, y, 1.0), gap=1e-6)
    assert np.isfinite(found.w).all() and np.isfinite(found.gap)
    assert found.solved == (found.gap <= 1e-6)


def test_a_solver_that_stalls_hands_over(monkeypatch):
    X, y = noisy(200, 5, seed=27)
    given_problem = problem(X, y, 1.0)
    starts = []

    def stalls(asked, *, gap, start, deadline, threads):
        rough = newton.solve(asked, gap=0.1, deadline=deadline)
        return replace(rough, status="stalled")

    def second(asked, *, gap, start, deadline, threads):
        starts.append(start)
        return newton.solve(asked, gap=gap, start=start)

    monkeypatch.setattr(margins, "_solvers", lambda asked: [stalls, second])
    found = solve_soft_margin(given_problem, gap=1e-8)
    assert found.solved and len(starts) == 1 and starts[0].w.any()


def test_the_best_of_two_answers_is_judged_together():
    X, y = noisy(200, 5, seed=28)
    given_problem = problem(X, y, 1.0)
    exact = newton.solve(given_problem, gap=1e-9)
    w, weights = exact.w * 1.01, exact.weights * 0.99
    good_dual, good_primal = (
        replace(exact, w=w, primal=judge(given_problem, w, exact.b, exact.weights).primal),
        replace(exact, weights=weights, dual=judge(given_problem, exact.w, exact.b, weights).dual),
    )
    both = margins._best(given_problem, good_dual, good_primal, 1e-9, 1)
    assert both.solved and (both.primal, both.dual) == (exact.primal, exact.dual)


# ---- The path ----
@pytest.mark.parametrize("bias", BIASES)
def test_the_path_is_that_of_separate_fits(bias):
    X, y = noisy(2000, 6, seed=29)
    Cs = [1.0, 1e-3, 1e2, 1e-1, 10.0]
    path = soft_margin_path_solutions(problem(X, y, 1.0, bias), Cs, gap=1e-7)
    for C, found in zip(Cs, path):
        alone = solve_soft_margin(problem(X, y, C, bias), gap=1e-7)
        assert found.solved and found.primal == pytest.approx(alone.primal, rel=2e-7)
        assert judge(problem(X, y, C, bias), found.w, found.b, found.weights).gap == found.gap


def test_the_path_takes_fewer_steps_than_separate_fits():
    X, y = noisy(3000, 20, seed=30)
    Cs = np.logspace(-2, 2, 17)
    path = soft_margin_path_solutions(problem(X, y, 1.0), Cs, gap=1e-6)
    alone = [solve_soft_margin(problem(X, y, C), gap=1e-6) for C in Cs]
    assert sum(found.steps for found in path) < 0.65 * sum(found.steps for found in alone)


def test_the_maximum_margin_holds_for_every_larger_cost():
    X, y = rows_of("separable")
    Cs = np.logspace(0, 12, 13)
    path = soft_margin_path_solutions(problem(X, y, 1.0), Cs, gap=1e-6)
    assert all(found.solved for found in path)
    assert path[-1].w is path[-2].w and path[-1].steps == 0  # not solved again
    assert path[-1].weights.max() < Cs[-3]
    for C, found in zip(Cs, path):
        assert judge(problem(X, y, C), found.w, found.b, found.weights).gap <= 1e-6
