"""Dual coordinate descent for the soft margin: its pass beside the textbook's, its answers beside Clarabel's."""

from __future__ import annotations

import os
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import _engine, inputs
from rosenblatt import textbook as tb
from rosenblatt.searching import suppliers
from rosenblatt.solving.coordinate_descent import solve
from rosenblatt.solving.faces import Faces, _Face
from rosenblatt.solving.soft_margin import Problem, Start, combination, judge, scores, slack

BIASES = ("free", "regularised", "none")


def noisy(n, d, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X @ rng.standard_normal(d) / np.sqrt(d) + 0.3 + noise * rng.standard_normal(n) > 0, 1.0, -1.0)


def problem(X, y, C=1.0, bias="free"):
    y = np.asarray(y, dtype=np.float64)
    return Problem(inputs.rows(X), y, np.broadcast_to(np.asarray(C, np.float64), y.shape).copy(), bias)


def stored(X, storage):
    if storage == "dense":
        return np.asarray(X)
    rows = sp.csr_array(np.asarray(X))
    if storage == "csr int64":
        rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


# ---- The engine's pass ----
def engine_pass(X, y, cost, weights, b, bias, ids, **limits):
    rows, y, weights = inputs.rows(X), np.asarray(y), np.array(weights, dtype=np.float64)
    d = rows.shape[1]
    w = np.zeros(-(-d // 8) * 8)
    w[:d] = combination(Problem(rows, y.astype(np.float64), weights), weights)
    norms = np.array([float(x @ x) for x in np.asarray(X.todense() if sp.issparse(X) else X, np.float64)]) + bias
    kept = np.array(ids, dtype=np.int64)
    b, moved, stay, low, high = _engine.descend(
        rows.view, (y > 0).astype(np.int16), norms, weights, w, b=b, bias=bias, ids=kept, cost=cost, **limits
    )
    assert not w[d:].any()
    return (weights.tolist(), w[:d].tolist(), b), kept[:stay].tolist(), moved, (low, high)


@st.composite
def exact_data(draw):
    """Rows of ±1 whose squared length is a power of two, so that nothing rounds."""
    d, n = draw(st.sampled_from((1, 2, 4, 8))), draw(st.integers(1, 6))
    numbers = st.sampled_from((-1.0, 1.0))
    X = draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from((-1, 1)), min_size=n, max_size=n))
    cost = draw(st.lists(st.sampled_from((0.0, 0.125, 0.5, 4.0)), min_size=n, max_size=n))
    weights = [min(c, draw(st.sampled_from((0.0, 0.25, 4.0)))) for c in cost]
    return X, y, cost, weights, draw(st.sampled_from((0.0, 0.5))), float(draw(st.sampled_from((0, d))))


@pytest.mark.engine
@settings(deadline=None)
@given(exact_data(), st.sampled_from(("float32", "float64")), st.sampled_from(("dense", "csr", "csr int64")), st.data())
def test_a_pass_of_the_engine_is_the_textbooks(data, dtype, storage, rest):
    X, y, cost, weights, b, bias = data
    order = rest.draw(st.permutations(range(len(X))))
    want = tb.dual_descent(X, y, cost, weights, b, bias=bias, order=order)
    got, kept, _, _ = engine_pass(stored(np.array(X, dtype), storage), y, np.array(cost), weights, b, bias, order)
    assert got == want
    assert kept == order


@pytest.mark.engine
@pytest.mark.parametrize("storage", ["dense", "csr"])
@pytest.mark.parametrize("d", [3, 40])
def test_a_pass_over_any_numbers_is_the_textbooks_to_rounding(d, storage):
    X, y = noisy(50, d)
    cost, order = np.linspace(0.0, 0.1, 50), _engine.order(7, 0, 50)
    want = tb.dual_descent(X.tolist(), y.tolist(), cost.tolist(), [0.0] * 50, 0.1, bias=0.5, order=order)
    got, *_ = engine_pass(stored(X, storage), y, cost, np.zeros(50), 0.1, 0.5, order)
    for mine, theirs in zip(got, want):
        assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-13)


@pytest.mark.engine
def test_no_cost_is_an_infinite_cost():
    X, y = noisy(40, 6)
    without = engine_pass(X, y, None, np.zeros(40), 0.0, 1.0, range(40))
    assert without == engine_pass(X, y, np.full(40, np.inf), np.zeros(40), 0.0, 1.0, range(40))


@pytest.mark.engine
def test_rows_that_stay_at_a_bound_are_dropped():
    X, y = np.array([[2.0], [2.0], [0.5], [-2.0], [0.0]]), np.ones(5)
    cost, weights = np.array([1.0, 1.0, 1.0, 0.25, 1.0]), [0.0, 1.0, 0.0, 0.25, 0.0]
    b = -0.25  # w = 1.5: gradients 1.75, 1.75, -0.5, -4.25, and -1.25 for the row of zeros
    _, kept, moved, _ = engine_pass(X, y, cost, weights, b, 0.0, [0, 3, 1, 2, 4], low=-4.0, high=1.5)
    assert kept == [1, 2, 4]  # the first is at 0 and the fourth at its cost, and both want to stay there
    assert moved == 3
    all_rows = engine_pass(X, y, cost, weights, b, 0.0, [0, 3, 1, 2, 4], low=-5.0, high=2.0)
    assert all_rows[1] == [0, 3, 1, 2, 4]
    assert all_rows[0][0][4] == 1.0  # nothing brings a row of zeros to its margin: it pays its whole cost


@pytest.mark.engine
def test_the_engine_checks_what_it_is_given():
    with pytest.raises(ValueError, match="a cost for each row"):
        engine_pass(np.ones((2, 1)), [1, -1], np.ones(3), np.zeros(2), 0.0, 1.0, [0, 1])
    with pytest.raises(ValueError, match="a row number is not a row"):
        engine_pass(np.ones((2, 1)), [1, -1], np.ones(2), np.zeros(2), 0.0, 1.0, [0, 2])


# ---- Answers ----
def optimum(p):
    """The primal by an interior point: w, b and the slacks as variables."""
    X = p.rows.dense if p.rows.dense is not None else p.rows.sparse.toarray()
    n, d = X.shape
    ridge = {"free": 0.0, "regularised": 1.0, "none": 1.0}[p.bias]
    ones = np.zeros((n, 1)) if p.bias == "none" else np.ones((n, 1))
    signed = p.y[:, None] * np.hstack([X.astype(np.float64), ones])
    quiet = clarabel.DefaultSettings()
    quiet.verbose = False
    quiet.tol_gap_abs = quiet.tol_gap_rel = quiet.tol_feas = 1e-11
    answer = clarabel.DefaultSolver(
        sp.csc_matrix(sp.diags(np.r_[np.ones(d), ridge, np.zeros(n)])),
        np.r_[np.zeros(d + 1), p.cost],
        sp.csc_matrix(np.block([[-signed, -np.eye(n)], [np.zeros((n, d + 1)), -np.eye(n)]])),
        np.r_[-np.ones(n), np.zeros(n)],
        [clarabel.NonnegativeConeT(2 * n)],
        quiet,
    ).solve()
    return answer.obj_val


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("shape", [(60, 5), (40, 60), (120, 20)])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_the_objective_is_clarabels(bias, shape, C):
    X, y = noisy(*shape)
    p = problem(X, y, C * np.random.default_rng(5).uniform(0.0, 2.0, len(y)), bias)
    found = solve(p, gap=1e-8)
    assert found.solved
    assert found.primal == pytest.approx(optimum(p), rel=1e-7)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("storage", ["dense", "csr", "csr int64"])
def test_every_form_of_rows(bias, dtype, storage):
    X, y = noisy(80, 12)
    X[np.abs(X) < 0.7] = 0.0
    p = problem(stored(X.astype(dtype), storage), y, 0.5, bias)
    found = solve(p, gap=1e-9)
    assert found.solved
    assert found.primal == pytest.approx(optimum(p), rel=1e-7)


@pytest.mark.parametrize("bias", BIASES)
def test_the_conditions_of_karush_kuhn_and_tucker(bias):
    X, y = noisy(150, 10)
    p = problem(X, y, np.random.default_rng(2).uniform(0.1, 2.0, 150), bias)
    found = solve(p, gap=1e-13)
    a, margins = found.weights, y * (scores(p.rows, found.w) + found.b)
    assert np.all(a >= 0) and np.all(a <= p.cost)
    assert found.w == pytest.approx(combination(p, a), abs=1e-6)
    if bias == "free":
        assert a @ y == pytest.approx(0.0, abs=1e-10)
    assert found.b == pytest.approx({"free": found.b, "regularised": a @ y, "none": 0.0}[bias], abs=1e-6)
    assert np.all(margins[a < 1e-9] >= 1 - 1e-6)
    assert np.all(margins[a > p.cost - 1e-9] <= 1 + 1e-6)
    between = (a > 1e-6) & (a < p.cost - 1e-6)
    assert margins[between] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("C", [1e-10, 1e-3, 1e4, 1e10])
@pytest.mark.parametrize("shape", [(100, 8), (40, 80)])
def test_costs_over_twenty_decades(bias, C, shape):
    p = problem(*noisy(*shape), C, bias)
    found = solve(p, gap=1e-6)
    assert found.solved
    assert judge(p, found.w, found.b, found.weights).gap == found.gap <= 1e-6


def test_a_cost_that_binds_no_row_gives_the_maximum_margin():
    X, y = noisy(60, 90)
    best = suppliers.supply(inputs.rows(X), y, intercept=True, gap=1e-9)
    found = solve(problem(X, y, 1e6), gap=1e-9)
    assert slack(problem(X, y), found.w, found.b).max() <= 1e-9
    assert 1.0 / np.linalg.norm(found.w) == pytest.approx(best.lower, rel=1e-7)


def test_one_class_needs_no_solver():
    X, y = noisy(30, 3)
    found = solve(problem(X, np.ones(30)), gap=1e-6)
    assert (found.primal, found.b, found.steps) == (0.0, 1.0, 0) and not found.w.any()
    only = solve(problem(X, y, np.where(y < 0, 1.0, 0.0)), gap=1e-6)
    assert (only.primal, only.b) == (0.0, -1.0)
    assert solve(problem(X, np.ones(30), bias="regularised"), gap=1e-9).primal == pytest.approx(
        optimum(problem(X, np.ones(30), bias="regularised")), rel=1e-7
    )


def test_copies_of_a_row_are_a_higher_cost():
    X, y = noisy(60, 6)
    copies = solve(problem(np.repeat(X, 3, axis=0), np.repeat(y, 3)), gap=1e-9)
    assert copies.solved
    assert copies.primal == pytest.approx(solve(problem(X, y, 3.0), gap=1e-9).primal, rel=1e-8)


@pytest.mark.parametrize("bias", BIASES)
def test_rows_of_zeros_and_rows_with_both_labels(bias):
    X, y = noisy(60, 6)
    X[::4] = 0.0
    p = problem(np.vstack([X, X[:20]]), np.r_[y, -y[:20]], 1.0, bias)
    found = solve(p, gap=1e-9)
    assert found.solved
    assert found.primal == pytest.approx(optimum(p), rel=1e-7)
    nothing = problem(np.zeros((30, 2)), y[:30], 1.0, bias)
    assert solve(nothing, gap=1e-9).primal == pytest.approx(optimum(nothing), rel=1e-7)


def test_features_far_from_zero_change_nothing_but_the_offset():
    X, y = noisy(80, 5)
    near, far = (solve(problem(X + shift, y), gap=1e-8) for shift in (0.0, 1e4))
    assert far.solved
    assert far.primal == pytest.approx(near.primal, rel=1e-7)
    assert far.w == pytest.approx(near.w, abs=1e-3)


@pytest.mark.parametrize("scale", [1e-150, 1e100, 1e200])
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_numbers_at_the_edge_of_floating_point_give_a_stated_gap(scale):
    X, y = noisy(30, 4)
    found = solve(problem(X * scale, y), gap=1e-6, deadline=time.monotonic() + 1.0)
    assert np.isfinite(found.w).all() and np.isfinite(found.gap)
    assert found.solved == (found.gap <= 1e-6)


def test_the_deadline_is_a_status_with_a_judged_gap():
    p = problem(*noisy(300, 30), 1e3)
    found = solve(p, gap=1e-9, deadline=time.monotonic())
    assert found.status == "out of time"
    assert found.gap == judge(p, found.w, found.b, found.weights).gap


def test_what_rounding_does_not_allow_is_stalled():
    found = solve(problem(*noisy(100, 8), 1e10), gap=1e-18)
    assert found.solved == (found.gap <= 1e-18)
    assert found.status in ("stalled", "solved") and found.gap <= 1e-6


@pytest.mark.parametrize("bias", BIASES)
def test_a_warm_start_goes_on_from_there(bias):
    X, y = noisy(300, 40)
    p = problem(X + 5.0, y, 1.0, bias)
    cold = solve(p, gap=1e-9)
    warm = solve(p, gap=1e-6, start=Start(cold.w, cold.b, cold.weights))
    assert warm.solved and warm.steps <= 3
    other = solve(replace(p, cost=0.5 * p.cost), gap=1e-9, start=Start(cold.w, cold.b, cold.weights))
    assert other.primal == pytest.approx(solve(replace(p, cost=0.5 * p.cost), gap=1e-9).primal, rel=1e-8)


def test_the_answer_is_the_same_for_any_number_of_threads():
    X, y = noisy(400, 30)
    first, *others = (solve(problem(X, y), gap=1e-6, threads=threads) for threads in (1, 1, 2, 5))
    for other in others:
        assert np.array_equal(first.w, other.w) and np.array_equal(first.weights, other.weights)
        assert replace(first, w=None, weights=None) == replace(other, w=None, weights=None)


# ---- Faces ----
@pytest.mark.parametrize(("free", "bias"), [(True, 0.1), (False, 1.0), (False, 0.0)])
def test_both_ways_to_solve_a_face_agree(free, bias):
    X, y = noisy(20, 40)
    at = np.full(20, 1e6)  # far from both bounds
    face = _Face(X, y, 2.0 * at, at, free, bias, lambda: np.inf)
    residual, balance = np.linspace(-1.0, 1.0, 20), 3.0
    slow, settled, _ = face.conjugate(residual, balance, 1e-6, 200)
    fast = face.direct(residual, balance, X @ X.T)
    assert settled
    assert fast == pytest.approx(slow, abs=1e-9)
    if free:
        assert y @ fast == pytest.approx(-balance, abs=1e-10)


def test_a_climb_never_goes_down():
    X, y = noisy(40, 6)  # more rows than features: no curvature along most of the face
    cost = np.full(40, 1.0)
    faces = Faces(inputs.rows(X), y, cost, free=False, bias=0.0, remaining=lambda: np.inf)
    for seed in range(20):
        weights = np.random.default_rng(seed).uniform(0.1, 0.9, 40)
        w = X.T @ (y * weights)
        climb = faces.climb(weights, w, 0.0, 1e-9)
        after = weights.copy()
        after[climb.ids] = climb.weights
        assert np.all((after >= 0) & (after <= cost))
        assert w + climb.shift == pytest.approx(X.T @ (y * after), abs=1e-12)
        assert after.sum() - 0.5 * np.sum((w + climb.shift) ** 2) > weights.sum() - 0.5 * w @ w


def test_known_inner_products_are_not_computed_again():
    X, y = noisy(30, 50)
    faces = Faces(inputs.rows(X), y, np.ones(30), free=True, bias=1.0, remaining=lambda: np.inf)
    for ids in (np.arange(0, 20), np.arange(5, 30, 2), np.array([6, 29])):
        assert faces._products(ids, X[ids]) == pytest.approx(X[ids] @ X[ids].T, abs=1e-12)


# ---- Real data, in the folder that ROSENBLATT_DATA names ----
@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_twenty_newsgroups(C):
    from sklearn.feature_extraction.text import TfidfVectorizer

    folder = os.environ.get("ROSENBLATT_DATA")
    if not folder:
        pytest.skip("ROSENBLATT_DATA does not name the folder of the real data sets")
    path = Path(folder, "20newsgroups", "20news-bydate.tar.gz")
    if not path.exists():
        pytest.skip(f"there is no {path}")
    with tarfile.open(path) as files:
        read = [(files.extractfile(m).read().decode("latin1"), m.name.split("/")[-2]) for m in files if m.isfile()]
    X = TfidfVectorizer(min_df=2).fit_transform(text for text, _ in read)
    y = np.array([1.0 if group.startswith(("comp", "sci")) else -1.0 for _, group in read])
    for bias in ("free", "regularised"):
        assert solve(problem(X, y, C, bias), gap=1e-6).solved
