"""The theorems of the notes, as facts about the engine's runs: mistake bounds, both lemmas, what an update does.

All live in the space z = y(x, 1), or z = yx without an intercept (DESIGN: *Bounds*), and are checked on whole numbers,
so that "never exceeded" has no rounding in it.
"""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import TIES, fitted, noisy, separable, small

import rosenblatt as rb
from rosenblatt import Perceptron, VotedPerceptron
from rosenblatt import textbook as tb

thorough = settings(max_examples=150, deadline=None)
ties = st.sampled_from(TIES)
seeds = st.integers(0, 2**32 - 1)
rates = st.sampled_from((1.0, 0.25, 0.5, 2.0, 8.0))
orders = st.sampled_from(({"shuffle": True}, {"shuffle": False}, {"shuffle": False, "restart": True}))


def converged(data, **options):
    """A run to its end: the bound says that there is one."""
    model = Perceptron(**{"max_iter": 10**6} | options)
    model.fit(np.asarray(data.X, float), data.y)
    assert model.converged_
    return model


# ---- At most so many mistakes ----
@thorough
@given(separable(), ties, seeds, orders, rates)
def test_with_an_intercept_from_zero(data, tie, seed, order, eta0):
    model = converged(data, tie=tie, random_state=seed, eta0=eta0, **order)
    assert model.n_updates_ <= tb.bound_with_intercept(data.X, data.y, data.w, data.b)


@thorough
@given(separable(intercept=False), ties, seeds, orders, rates)
def test_through_the_origin_from_zero(data, tie, seed, order, eta0):
    model = converged(data, fit_intercept=False, tie=tie, random_state=seed, eta0=eta0, **order)
    assert model.n_updates_ <= tb.bound_through_origin(data.X, data.y, data.w)


@thorough
@given(separable(), ties, seeds, orders, rates, st.data())
def test_from_another_first_guess(data, tie, seed, order, eta0, draw):
    d = len(data.X[0])
    b, *w = draw.draw(st.lists(st.integers(-20, 20), min_size=d + 1, max_size=d + 1))
    model = Perceptron(max_iter=10**6, tie=tie, random_state=seed, eta0=eta0, **order)
    model.fit(np.asarray(data.X, float), data.y, coef_init=[w], intercept_init=[b])
    first_guess = [b / eta0, *(p / eta0 for p in w)]
    bound = tb.bound_from(tb.dummy_feature(data.X), data.y, [data.b, *data.w], first_guess)
    assert model.converged_
    assert model.n_updates_ <= bound * (1 + 1e-12) + 1e-9


@thorough
@given(separable(intercept=False), seeds, st.data())
def test_from_another_first_guess_through_the_origin(data, seed, draw):
    d = len(data.X[0])
    w = draw.draw(st.lists(st.integers(-20, 20), min_size=d, max_size=d))
    model = Perceptron(max_iter=10**6, fit_intercept=False, random_state=seed)
    model.fit(np.asarray(data.X, float), data.y, coef_init=[w])
    assert model.n_updates_ <= tb.bound_from(data.X, data.y, data.w, w) * (1 + 1e-12) + 1e-9


@pytest.mark.parametrize(("n", "d"), [(10, 2), (10_000, 2), (200, 500), (20_000, 50)])
def test_the_bound_knows_neither_n_nor_d(n, d):
    rng = np.random.default_rng(d)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    score = X @ w
    X += (np.sign(score) * np.maximum(0.1 - np.abs(score), 0))[:, None] * w  # nobody nearer than 0.1
    y = (X @ w > 0).astype(int)
    radius2 = (X**2).sum(axis=1).max() + 1
    for seed in range(3):
        model = Perceptron(max_iter=10**6, random_state=seed).fit(X, y)
        assert model.separates_ and model.n_updates_ <= radius2 / 0.0999**2


@st.composite
def jointly_separable(draw):
    """Rows whose class has the one highest score of a known W, b."""
    d, k = draw(st.integers(1, 3)), draw(st.integers(3, 4))
    number = st.integers(-4, 4)
    W = draw(st.lists(st.lists(number, min_size=d + 1, max_size=d + 1), min_size=k, max_size=k))
    X, y = [], []
    for x in draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=3, max_size=12)):
        scores = [tb.dot(w, [1, *x]) for w in W]
        if scores.count(max(scores)) == 1:
            X.append(x)
            y.append(scores.index(max(scores)))
    assume(len(set(y)) >= 3)
    kept = sorted(set(y))  # a class without a row is not learned, and does not count in the margin
    return X, [kept.index(c) for c in y], [W[c] for c in kept]


def joint_margin(X, y, W):
    """The least lead of a true class over a rival, for rows (1, x) and W of length 1."""
    scores = [[tb.dot(w, [1, *x]) for w in W] for x in X]
    leads = [s[c] - max(v for k, v in enumerate(s) if k != c) for s, c in zip(scores, y)]
    return min(leads) / math.sqrt(sum(tb.dot(w, w) for w in W))


@thorough
@given(jointly_separable(), ties, seeds, orders)
def test_several_classes_jointly(data, tie, seed, order):
    X, y, W = data
    model = Perceptron(max_iter=10**6, multi_class="joint", tie=tie, random_state=seed, **order)
    model.fit(np.asarray(X, float), y)
    scores = [[tb.dot(w, [1, *x]) for w in W] for x in X]
    gamma = min(s[c] - max(v for k, v in enumerate(s) if k != c) for s, c in zip(scores, y))
    radius2 = max(tb.dot(x, x) for x in X) + 1
    assert model.converged_
    assert model.n_updates_ <= 2 * radius2 * sum(tb.dot(w, w) for w in W) / gamma**2


# ---- With a margin ----
margins = st.sampled_from((0.125, 0.5, 1.0, 2.0, 8.0))


@thorough
@given(separable(intercept=False), margins, ties, seeds, orders, rates)
def test_with_a_margin_through_the_origin(data, beta, tie, seed, order, eta0):
    model = converged(data, margin=beta, fit_intercept=False, tie=tie, random_state=seed, eta0=eta0, **order)
    most, least = tb.bounds_with_margin(data.X, data.y, data.w, beta)
    assert model.n_updates_ <= most * (1 + 1e-12)
    assert tb.margin(data.X, data.y, model.coef_[0].tolist()) >= least * (1 - 1e-12)
    assert model.separates_
    for x, y in zip(data.X, data.y):
        assert y * tb.dot(model.coef_[0], x) > beta * eta0 * tb.dot(x, x)


@thorough
@given(separable(), margins, ties, seeds, orders, rates)
def test_with_a_margin_and_an_intercept(data, beta, tie, seed, order, eta0):
    model = converged(data, margin=beta, tie=tie, random_state=seed, eta0=eta0, **order)
    ones = tb.dummy_feature(data.X)
    most, least = tb.bounds_with_margin(ones, data.y, [data.b, *data.w], beta)
    learned = [model.intercept_[0], *model.coef_[0]]
    assert model.n_updates_ <= most * (1 + 1e-12)
    assert tb.margin(ones, data.y, learned) >= least * (1 - 1e-12)


@thorough
@given(jointly_separable(), margins, ties, seeds, orders)
def test_with_a_margin_jointly(data, beta, tie, seed, order):
    X, y, W = data
    model = Perceptron(max_iter=10**6, multi_class="joint", margin=beta, tie=tie, random_state=seed, **order)
    model.fit(np.asarray(X, float), y)
    lengths2 = [tb.dot(x, x) + 1 for x in X]
    gamma = joint_margin(X, y, W)
    assert model.converged_
    assert model.n_updates_ <= (1 + 2 * beta) * 2 * max(lengths2) / gamma**2 * (1 + 1e-12)
    learned = np.column_stack([model.intercept_, model.coef_]).tolist()
    least = beta / (1 + 2 * beta) * min(lengths2) / max(lengths2) * gamma
    assert joint_margin(X, y, learned) >= least * (1 - 1e-12)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("scale", [2.0**-20, 2.0**20])
def test_a_margin_knows_no_scale(multi_class, scale):
    X, y = noisy(80, 4, 3, 3)
    options = {"margin": 0.75, "fit_intercept": False, "shuffle": False, "max_iter": 4, "multi_class": multi_class}
    model = fitted(Perceptron(**options), X, y)
    longer, faster = fitted(Perceptron(**options), scale * X, y), fitted(Perceptron(**options, eta0=scale), X, y)
    assert (longer.coef_ == scale * model.coef_).all() and (faster.coef_ == scale * model.coef_).all()
    assert model.n_updates_ == longer.n_updates_ == faster.n_updates_


def test_a_larger_margin_comes_near_half_of_the_largest_and_often_nearer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    X = X[np.abs(X @ [1, -2, 0.5]) > 0.3]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ [1, -2, 0.5] > 0, 1, -1)
    largest = rb.MaxMargin(fit_intercept=False).fit(X, y).margin_
    for beta in (1.0, 10.0, 100.0):
        model = Perceptron(margin=beta, fit_intercept=False, max_iter=10**6, random_state=0).fit(X, y)
        assert beta / (1 + 2 * beta) * largest <= model.hyperplane_.margin(X, y) <= largest * (1 + 1e-9)


def test_the_bound_of_the_original_space_is_false_with_an_intercept():
    X, y = [[-0.01], [0.01]], [-1, 1]
    model = Perceptron(shuffle=False).fit(X, y)
    assert tb.bound_through_origin(X, y, [1.0]) == 1 < model.n_updates_
    assert model.n_updates_ <= tb.bound_with_intercept(X, y, [1.0], 0.0)


# ---- A stream that has no end ----
def stream_with_a_margin(n_batches, size=100_000, d=5, margin=0.05):
    """Batches of points of the unit ball, labelled by a hyperplane that none is nearer to than the margin."""
    rng = np.random.default_rng(1)
    w, b = rng.normal(size=d), 0.1
    w /= np.linalg.norm(w)
    for _ in range(n_batches):
        X = rng.uniform(-1, 1, (size, d)) / math.sqrt(d)
        score = X @ w + b
        X += (np.sign(score) * np.maximum(margin - np.abs(score), 0))[:, None] * w
        yield X, np.where(score > 0, 1, -1), w, b


def learn_the_stream(n_batches):
    """The updates after each batch, and the bound."""
    model, updates, radius2, gamma = Perceptron(), [], 0.0, math.inf
    for X, y, w, b in stream_with_a_margin(n_batches):
        model.partial_fit(X, y, classes=[-1, 1])
        updates.append(model.n_updates_)
        radius2 = max(radius2, float((X**2).sum(axis=1).max()))
        gamma = min(gamma, float((y * (X @ w + b)).min()) / math.hypot(1, b))
    return updates, (radius2 + 1) / gamma**2


def test_a_stream_of_ten_million_rows_makes_no_more_mistakes_than_the_bound_and_then_none():
    updates, bound = learn_the_stream(100)
    assert 0 < updates[-1] <= bound < 1000
    assert updates[-1] == updates[9]  # nine million rows: not one


# ---- What an update does ----
@thorough
@given(
    st.lists(small, min_size=3, max_size=3),
    small,
    st.lists(small, min_size=3, max_size=3),
    st.sampled_from((-1, 1)),
    rates,
    st.integers(1, 5),
    st.booleans(),
)
def test_an_update_raises_the_score_on_the_rows_own_side(w, b, x, y, eta0, weight, fit_intercept):
    b = b if fit_intercept else 0
    before = y * (tb.dot(w, x) + b)
    assume(before <= 0)
    X = np.array([x, [0] * 3], float)
    model = Perceptron(max_updates=1, shuffle=False, eta0=eta0, fit_intercept=fit_intercept)
    model.fit(X, [y, -y], coef_init=[w], intercept_init=[b], sample_weight=[weight, 1])
    assert model.n_updates_ == 1
    assert y * model.decision_function(X)[0] == before + eta0 * weight * (tb.dot(x, x) + fit_intercept)


def test_an_update_may_undershoot():
    # Far on the wrong side of the first guess: one update is not enough for its own row.
    X, y = [[1.0], [-1.0]], [1, -1]
    model = fitted(Perceptron(max_updates=1, shuffle=False), X, y, coef_init=[[-9.0]], intercept_init=[0.0])
    assert model.n_updates_ == 1
    assert model.decision_function([[1.0]])[0] == -9 + 2 < 0
    whole = Perceptron(shuffle=False).fit(X, y, coef_init=[[-9.0]], intercept_init=[0.0])
    assert whole.n_updates_ > 1 and whole.separates_


# ---- The two lemmas, at every update ----
def guesses(model, first):
    """θ = (b, w) at the start and after every mistake, replayed from the log of a vote."""
    votes = model._learner.votes
    support, log = votes.support(), votes.log(0)
    theta = np.asarray(first, float)
    replayed = [theta]
    for row, step in zip(log["row"], log["step"]):
        theta = theta + step * np.concatenate([[1.0], support[row]])
        replayed.append(theta)
    return [vector.tolist() for vector in replayed]


@thorough
@given(separable(), ties, seeds, orders, st.just(0.0) | margins, st.data())
def test_both_lemmas_hold_at_every_update(data, tie, seed, order, beta, draw):
    d = len(data.X[0])
    first = draw.draw(st.just([0] * (d + 1)) | st.lists(st.integers(-9, 9), min_size=d + 1, max_size=d + 1))
    model = VotedPerceptron(max_iter=10**6, tie=tie, random_state=seed, margin=beta, **order)
    model.fit(np.asarray(data.X, float), data.y, coef_init=[first[1:]], intercept_init=[first[0]])
    replayed = guesses(model, first)
    assert len(replayed) == model.n_updates_ + 1
    assert replayed[-1] == [model._learner.intercept[0], *model._learner.coef[0]]
    theta, first2 = [data.b, *data.w], tb.dot(first, first)
    for aligned, at_least, length2, at_most in tb.lemma_sides(tb.dummy_feature(data.X), data.y, theta, replayed):
        assert aligned >= at_least
        assert length2 <= first2 + (1 + 2 * beta) * (at_most - first2)
