"""One W for several classes: verdicts equal those of HiGHS and of exact arithmetic, and false certificates are refused.

The judge of this file is plain fractions, pair by pair of a row and a rival.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_digits, load_iris, load_wine

import rosenblatt as rb
from rosenblatt import inputs
from rosenblatt.certificates import (
    JointData,
    JointInseparable,
    JointSeparable,
    JointUndecided,
    Margin,
    RationalHyperplane,
)
from rosenblatt.checking import certificate_words
from rosenblatt.deciding import joint_search, joint_separability, kesler
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.proving import rationals

# Three segments, each past the end of the next: disjoint, so that every pair is separable; but three rays from a point,
# which is what one W makes of the plane, cannot keep them apart.
PINWHEEL = [[-2, -2], [0, 1], [2, 0], [-1, -1], [0, 2], [1, 0]], ["a", "a", "b", "b", "c", "c"]
CORNERS = [[0, 0], [2, 1], [1, 3]], ["a", "b", "c"]


def expanded(X, y, intercept):
    """Kesler's vectors, the slow and plain way, and the (row, rival) pair of each."""
    X = np.column_stack([X, np.ones(len(X))]) if intercept else np.asarray(X, float)
    classes, codes = np.unique(y, return_inverse=True)
    vectors, pairs = [], []
    for i, x in enumerate(X):
        for r in range(len(classes)):
            if r != codes[i]:
                z = np.zeros((len(classes), X.shape[1]))
                z[codes[i]], z[r] = x, -x
                vectors.append(z.reshape(-1))
                pairs.append((i, r))
    return np.asarray(vectors), pairs


def highs(X, y, intercept):
    z, _ = expanded(X, y, intercept)
    answer = linprog(np.zeros(z.shape[1]), A_ub=-z, b_ub=-np.ones(len(z)), bounds=(None, None))
    assert answer.status in (0, 2)
    return answer.status == 0


def exactly(X, y, intercept):
    z, _ = expanded(X, y, intercept)
    return rationals.min_norm_point(inputs.rows(z), np.ones(len(z)), intercept=False)


# ---- The judge ----
def frac(values):
    return [Fraction(v) for v in (values.tolist() if isinstance(values, np.ndarray) else values)]


def norm2(v):
    return sum((p * p for p in v), Fraction(0))


def vector(certificate, X, y, row, rival):
    classes, x = certificate.classes, frac(np.asarray(X, float)[row]) + [Fraction(1)] * certificate.fit_intercept
    own = classes.index(y[row])
    if own == rival:
        return None
    z = [Fraction(0)] * (len(classes) * len(x))
    z[own * len(x) : (own + 1) * len(x)] = x
    z[rival * len(x) : (rival + 1) * len(x)] = [-v for v in x]
    return z


def combination(certificate, X, y, rows, weights):
    """Σ λ z and Σ λ; None if the pairs or weights are not of the kind."""
    weights, rows = frac(weights), rows.tolist()
    if not rows or min(weights) < 0 or max(rows) >= len(X):
        return None
    vectors = [vector(certificate, X, y, i, r) for i, r in zip(rows, certificate.rivals.tolist())]
    if any(z is None for z in vectors):
        return None
    return [sum(w * z[j] for w, z in zip(weights, vectors)) for j in range(len(vectors[0]))], sum(weights)


def leads(certificate, X, y, W):
    W = frac(W)
    zs = [vector(certificate, X, y, i, r) for i in range(len(X)) for r in range(len(certificate.classes))]
    return [sum(p * q for p, q in zip(W, z)) for z in zs if z is not None]


def bounded(certificate, X, y, rows, weights, limits):
    found = combination(certificate, X, y, rows, weights)
    return found is not None and found[1] > 0 and all(norm2(found[0]) <= limit * found[1] ** 2 for limit in limits)


def is_true(certificate, X, y):
    """Whether all that a certificate says is so; its proof must be in fractions if it says that no W exists."""
    if JointData.of(X, y) != certificate.data:
        return False
    if certificate.separable is False:
        found = combination(certificate, X, y, certificate.points, certificate.weights)
        if found is None or min(certificate.weights) <= 0 or any(found[0]):
            return False
        rows = {(tuple(np.asarray(X, float)[i].tolist()), y[i]) for i in certificate.points.tolist()}
        return not certificate.duplicates or len({x for x, _ in rows}) < len(rows)
    if certificate.separable is None:
        if certificate.hyperplane is None:
            good = certificate.lower == -math.inf
        else:
            lower, n2 = Fraction(certificate.lower), norm2(frac(certificate.hyperplane.w))
            good = all(
                lead >= 0 or (lower < 0 and lead**2 <= lower**2 * n2)
                if lower <= 0
                else lead > 0 and lead**2 >= lower**2 * n2
                for lead in leads(certificate, X, y, certificate.hyperplane.w)
            )
        limits = [] if certificate.upper == math.inf else [Fraction(certificate.upper) ** 2]
        return good and (not limits or bounded(certificate, X, y, certificate.points, certificate.weights, limits))
    bounds = certificate.bounds
    claims = [] if bounds.hyperplane is None else [(bounds.hyperplane.w, Fraction(bounds.lower) ** 2)]
    if bounds.exact is not None:
        claims.append((bounds.exact.w, max(Fraction(bounds.lower) ** 2, bounds.squared or 0)))
    for W, square in claims:
        if not all(lead > 0 and lead**2 >= square * norm2(frac(W)) for lead in leads(certificate, X, y, W)):
            return False
    if not all(norm2(frac(x)) <= Fraction(certificate.radius) ** 2 for x in np.asarray(X, float)):
        return False
    limits = [] if bounds.upper == math.inf else [Fraction(bounds.upper) ** 2]
    limits += [] if bounds.squared is None else [bounds.squared]
    return not limits or bounded(certificate, X, y, bounds.support, bounds.weights, limits)


def true(certificate, X, y):
    verification = certificate.verify(X, y)
    assert verification.ok, verification.why
    assert rb.certificate_from_json(certificate.to_json()) == certificate
    if certificate.separable is False:
        d = certificate.n_features + certificate.fit_intercept
        assert len(certificate.points) <= (len(certificate.classes) - 1) * d + 1
    return certificate


# ---- Verdicts ----
def test_a_pinwheel_of_three_segments():
    X, y = PINWHEEL
    assert not highs(X, y, True)
    certificate = true(rb.certify(X, y, multi_class="joint"), X, y)
    assert certificate.separable is False and is_true(certificate, X, y) and not certificate.duplicates
    pairs = rb.certify(X, y, multi_class="ovo")
    assert pairs.separable and pairs.joint.separable is False
    assert [str(line) for line in str(pairs).splitlines()][-1].startswith("all at once  not separable, ")
    assert rb.certify(X, y).joint == certificate == pairs.joint


def problem(rng):
    K, d = int(rng.integers(3, 6)), int(rng.integers(1, 5))
    n, intercept = int(rng.integers(K, 16)), bool(rng.integers(2))
    make = {
        "integers": lambda: rng.integers(-3, 4, (n, d)),
        "ties": lambda: rng.integers(0, 2, (n, d)),
        "tenths": lambda: rng.integers(-10, 11, (n, d)) / 10,
        "gaussian": lambda: rng.normal(size=(n, d)),
        "duplicated": lambda: rng.normal(size=(n, d)).round(1)[rng.integers(0, max(1, n // 2), n)],
        "collinear": lambda: np.outer(rng.integers(-5, 6, n), rng.integers(-3, 4, d)),
    }
    X = make[rng.choice(list(make))]().astype(float)
    scores = (X - (X.mean(axis=0) if intercept else 0)) @ rng.normal(size=(d, K))
    y = np.argmax(scores + intercept * 0.3 * rng.normal(size=K), axis=1)
    flips = rng.random(n) < rng.choice([0.0, 0.0, 0.1])
    y[flips] = rng.integers(0, K, flips.sum())
    return X, y, intercept


@pytest.mark.parametrize("seed", range(4))
def test_verdicts_are_those_of_highs_and_of_fractions(seed):
    rng, verdicts = np.random.default_rng(seed), []
    while len(verdicts) < 50:
        X, y, intercept = problem(rng)
        if len(set(y)) < 3:
            continue
        exact = exactly(X, y, intercept)
        assert highs(X, y, intercept) == exact.separable
        for how in ("auto", False):
            certificate = true(rb.certify(X, y, fit_intercept=intercept, multi_class="joint", exact=how), X, y)
            assert certificate.separable in ((exact.separable,) if how == "auto" else (exact.separable, None))
            assert certificate.proof == "interval" or is_true(certificate, X, y)
            if certificate.separable:
                assert Fraction(certificate.margin) ** 2 <= exact.margin_squared
                assert Fraction(certificate.margin_upper_bound) ** 2 >= exact.margin_squared
                assert certificate.gap <= 1e-6 and certificate.margin_squared in (None, exact.margin_squared)
        verdicts.append(exact.separable)
    assert 15 < sum(verdicts) < 48


@pytest.mark.parametrize("seed", range(2))
def test_jointly_separable_is_so_in_pairs_and_follows_from_each_against_the_rest(seed):
    rng, seen = np.random.default_rng(100 + seed), []
    while len(seen) < 25:
        X, y, intercept = problem(rng)
        if len(set(y)) < 3:
            continue
        joint = rb.certify(X, y, fit_intercept=intercept, multi_class="joint").separable
        pairs = rb.certify(X, y, fit_intercept=intercept, multi_class="ovo")
        rest = rb.certify(X, y, fit_intercept=intercept)
        assert pairs.separable or not joint
        assert joint or not rest.separable
        for table in (pairs, rest):
            assert true(table.joint, X, y).separable == joint
            again = rb.certificate_from_json(table.to_json())
            assert again == table and list(again) == list(table) and again.joint == table.joint
        seen.append(joint)
    assert 0 < sum(seen) < len(seen)


def test_two_classes_are_the_question_of_one_hyperplane():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    assert rb.certify(X, y, multi_class="joint") == rb.certify(X, y)


def test_every_row_above_by_hand():
    X, y = [[0.0], [2.0], [4.0]], ["a", "b", "c"]
    certificate = true(rb.certify(X, y, multi_class="joint"), X, y)
    assert certificate.coef.shape == (3, 1) and certificate.intercept.shape == (3,)
    assert certificate.classes == certificate.labels == ("a", "b", "c") and bool(certificate)
    scores = X @ certificate.coef.T + certificate.intercept
    assert scores.argmax(axis=1).tolist() == [0, 1, 2]
    assert {rival for row, rival in certificate.support if row == 0} == {"b"}
    assert certificate.margin_squared == exactly(X, [0, 1, 2], True).margin_squared
    bound = 2 * (16 + 1) / certificate.margin_squared
    assert certificate.mistake_bound == math.floor(bound)
    through = true(rb.certify([[1, 0], [0, 1], [-1, -1]], y, multi_class="joint", fit_intercept=False), *_three(y))
    assert through.intercept.tolist() == [0, 0, 0]
    assert through.mistake_bound == math.floor(2 * Fraction(through.radius) ** 2 / through.margin_squared)


def _three(y):
    return [[1, 0], [0, 1], [-1, -1]], y


def test_equal_rows_with_different_labels_are_named():
    X, y = [[0, 0], [3, 1], [1, 3], [3, 1], [5, 5]], [0, 1, 2, 2, 1]
    for options in ({}, {"fit_intercept": False}, {"exact": False}):
        certificate = true(rb.certify(X, y, multi_class="joint", **options), X, y)
        assert certificate.duplicates and certificate.pairs == ((1, 2), (3, 1)) and is_true(certificate, X, y)
        assert "Two of these rows are equal" in str(certificate)
    assert rb.certify(X, y, multi_class="ovo").joint.duplicates
    false = replace(rb.certify(*PINWHEEL, multi_class="joint"), duplicates=True)
    assert "names no such rows" in false.verify(*PINWHEEL).why
    zero = true(rb.certify([[0, 0], [1, 0], [0, 1]], [0, 1, 2], multi_class="joint", fit_intercept=False), *_zero())
    assert zero.separable is False and set(zero.points.tolist()) == {0}


def _zero():
    return [[0, 0], [1, 0], [0, 1]], [0, 1, 2]


# ---- Real data ----
def test_iris_wine_and_digits():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    certificate = true(rb.certify(X, names, multi_class="joint"), X, names)
    assert certificate.separable is False and len(certificate.pairs) <= 11
    assert {name for _, name in certificate.pairs} == {"versicolor", "virginica"}
    X, y = load_wine(return_X_y=True)
    certificate = true(rb.certify(X, y, multi_class="joint"), X, y)
    assert certificate.separable and certificate.gap < 1e-6 and 0.12387 < certificate.margin < 0.12388
    X, y = load_digits(return_X_y=True)
    certificate = true(rb.certify(X, y, multi_class="joint"), X, y)
    assert certificate.separable and certificate.gap < 1e-6 and 0.7366 < certificate.margin < 0.7367
    scores = X @ certificate.coef.T + certificate.intercept
    assert (scores.argmax(axis=1) == y).all()


def test_scaled_features_do_not_change_the_verdict():
    X, y = (part[::2] for part in load_wine(return_X_y=True))
    scales = 2.0 ** np.random.default_rng(0).integers(-60, 60, X.shape[1])
    for exact in ("auto", False):
        assert true(rb.certify(X * scales, y, multi_class="joint", exact=exact), X * scales, y).separable
    X, y = np.asarray(PINWHEEL[0], float) * [2.0**-400, 2.0**450], PINWHEEL[1]
    assert true(rb.certify(X, y, multi_class="joint"), X, y).separable is False


def test_storage_batches_and_other_data():
    X, y = load_wine(return_X_y=True)
    X = X.round()
    certificate = rb.certify(X, y, multi_class="joint")
    for stored in (sp.csr_matrix(X), X.astype(np.float32), X.astype(int).tolist(), np.asfortranarray(X)):
        assert true(rb.certify(stored, y, multi_class="joint"), stored, y).data == certificate.data
        assert certificate.verify(stored, y.astype(np.int8))
    batches = [(X[i : i + 50], y[i : i + 50]) for i in range(0, len(X), 50)]
    assert certificate.verify_batches(batches) and rb.verify_batches(certificate, iter(batches))
    assert "another data set" in certificate.verify(X, (y + 1) % 3).why
    assert "which the certificate does not know" in certificate.verify(X, y + 7).why
    assert "13 features" not in certificate.verify(X, y).why
    assert "the data has 12 features" in certificate.verify(X[:, 1:], y).why
    assert "177 rows" in certificate.verify(X[1:], y[1:]).why


# ---- Large data ----
@pytest.mark.parametrize("active", [600, 0])
@pytest.mark.parametrize("kind", ["planted", "flipped", "random"])
def test_a_part_of_the_pairs_is_enough(monkeypatch, kind, active):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 4)).round(2)
    y = np.argmax(X @ rng.normal(size=(4, 4)) + rng.normal(size=4), axis=1)
    if kind == "flipped":
        y[:2] = (y[:2] + 1) % 4
    if kind == "random":
        y = rng.integers(0, 4, len(X))
    whole = true(rb.certify(X, y, multi_class="joint"), X, y)
    monkeypatch.setattr(joint_search, "EXPANDED", 5000)
    monkeypatch.setattr(joint_search, "_ACTIVE", active)
    monkeypatch.setattr(joint_search, "_FEW_ROWS", 10)
    part = true(rb.certify(X, y, multi_class="joint"), X, y)
    assert part.separable == whole.separable == (kind == "planted")
    if whole.separable:
        assert max(part.gap, whole.gap) < 1e-6 and math.isclose(part.margin, whole.margin, rel_tol=2e-6)


def test_more_numbers_than_an_active_set_takes_at_first(monkeypatch):
    X, y = load_wine(return_X_y=True)
    monkeypatch.setattr("rosenblatt.searching.suppliers.SMALL", 10)
    monkeypatch.setattr(joint_search, "_ACTIVE", 10)
    certificate = true(rb.certify(X, y, multi_class="joint", exact=False), X, y)
    assert certificate.separable and certificate.gap < 1e-6


def test_a_table_answers_later_on_large_data(monkeypatch):
    X, y = np.asarray(CORNERS[0], float), CORNERS[1]
    at_once = rb.certify(X, y)
    monkeypatch.setattr(joint_separability, "_QUICK", 0)
    table = rb.certify(X, y)
    assert str(table).splitlines()[-1] == "all at once  ask .joint"
    assert str(at_once).splitlines()[-1].endswith("separable, margin 0.825722")
    kept = rb.certificate_from_json(table.to_json())
    with pytest.raises(InputError, match="kept without a joint certificate"):
        _ = kept.joint
    assert len(str(kept).splitlines()) == 3
    assert table.joint == at_once.joint == rb.certify(X, y, multi_class="joint")
    assert str(table) == str(at_once) and table == at_once and hash(table) == hash(at_once)
    changed = rb.certify(X, y, multi_class="ovo")
    X[0, 0] = 0.5
    with pytest.raises(InputError, match="X was changed after it was certified"):
        _ = changed.joint


def test_hyperplanes_against_the_rest_are_used_where_nothing_else_is_proved(monkeypatch):
    X, y = CORNERS
    monkeypatch.setattr(joint_separability, "_prove_margin", only_from_the_second(joint_separability._prove_margin))
    certificate = true(rb.certify(X, y, exact=False).joint, X, y)
    assert certificate.separable and certificate.gap > 1e-3


def only_from_the_second(prove):
    calls = []

    def later(question, w):
        calls.append(w)
        return prove(question, w) if len(calls) > 1 else None

    return later


# ---- Undecided ----
def test_an_expired_time_limit_is_undecided_and_its_bounds_are_true():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.argmax(X @ rng.normal(size=(5, 4)), axis=1)
    certificate = true(rb.certify(X, y, multi_class="joint", time_limit=0), X, y)
    assert certificate.separable is None and "time limit" in str(certificate)
    assert is_true(certificate, X, y.tolist())
    with pytest.raises(InputError, match="undecided"):
        bool(certificate)


def undecided(X, y, w, lower, upper, rows, rivals, weights):
    return JointUndecided(JointData.of(X, y), lower, upper, Hyperplane(w), rows, rivals, weights, True, "it was late")


def test_bounds_of_the_undecided():
    X, y = CORNERS
    certificate = rb.certify(X, y, multi_class="joint")
    w = certificate.bounds.hyperplane.w
    rows, rivals, weights = certificate.support_rows, certificate.rivals, certificate.support_weights
    good = undecided(X, y, w, certificate.margin, certificate.margin_upper_bound, rows, rivals, weights)
    assert is_true(good, X, y) and true(good, X, y).gap < 1e-6
    assert "If the data is jointly separable, its margin is at most" in str(good) and "it was late" in str(good)
    for change in (
        {"lower": math.nextafter(certificate.margin, 2) * 1.001},
        {"upper": certificate.margin_upper_bound * 0.999},
        {"rivals": np.roll(rivals, 1)},
        {"hyperplane": Hyperplane(-w)},
        {"hyperplane": None},
    ):
        bad = replace(good, **change)
        assert not is_true(bad, X, y) and not bad.verify(X, y)
    wrong = replace(good, hyperplane=Hyperplane(-w), lower=-10.0)
    assert is_true(wrong, X, y) and wrong.verify(X, y)


# ---- False certificates ----
def ulp(value, rng):
    return math.nextafter(value, rng.choice([-math.inf, math.inf]))


def alter_weights(weights, rng):
    weights = list(weights)
    i = rng.randrange(len(weights))
    weights[i] = rng.choice([weights[i] * 2, -weights[i], weights[i] + Fraction(1, 10**9), Fraction(0)])
    return weights if isinstance(weights[0], Fraction) else np.asarray(weights, float)


def alter_numbers(numbers, rng, n):
    numbers = np.array(numbers)
    numbers[rng.randrange(len(numbers))] = rng.randrange(n)
    return numbers


def alter_vector(w, rng):
    w = list(w)
    i = rng.randrange(len(w))
    w[i] = rng.choice([ulp(float(w[i]), rng), -w[i], w[i] * 2, 0])
    return w


def alter(certificate, X, y, rng):
    """The certificate with one thing changed, or other data."""
    K, n = len(certificate.classes), certificate.n_rows
    what = rng.choice(["data", "pairs", "pairs", "weights", "weights", "own", "own", "own"])
    if what == "data":
        X, y = [list(x) for x in X], list(y)
        i = rng.randrange(n)
        if rng.random() < 0.5:
            X[i][rng.randrange(len(X[i]))] += rng.choice([1, -0.5, 2.0**-30])
        else:
            y[i] = rng.choice(certificate.classes)
        if set(y) == set(certificate.classes) and rng.random() < 0.5:
            certificate = replace(certificate, data=JointData.of(X, y))  # so that not only the digest tells
        return certificate, X, y
    if certificate.separable is False:
        change = {
            "pairs": lambda: {"points": alter_numbers(certificate.points, rng, n + 1)},
            "weights": lambda: {"weights": alter_weights(certificate.weights, rng)},
            "own": lambda: {"rivals": alter_numbers(certificate.rivals, rng, K)},
        }[what]()
        return replace(certificate, **change), X, y
    bounds = certificate.bounds
    if what == "pairs":
        if rng.random() < 0.5:
            return replace(certificate, rivals=alter_numbers(certificate.rivals, rng, K)), X, y
        return replace(certificate, bounds=replace(bounds, support=alter_numbers(bounds.support, rng, n))), X, y
    if what == "weights":
        return replace(certificate, bounds=replace(bounds, weights=alter_weights(bounds.weights, rng))), X, y
    change = rng.choice(["lower", "upper", "hyperplane", "exact", "squared", "radius"])
    if change == "radius":
        return replace(certificate, radius=ulp(certificate.radius, rng)), X, y
    if change in ("lower", "upper"):
        value = getattr(bounds, change)
        value = rng.choice([ulp(value, rng), value * 1.0001, value * 0.9999])
    elif change == "hyperplane":
        value = Hyperplane(alter_vector(bounds.hyperplane.w.tolist(), rng))
    elif change == "exact":
        value = bounds.exact and RationalHyperplane(tuple(map(Fraction, alter_vector(bounds.exact.w, rng))))
        change = change if value is not None else "lower"
        value = bounds.lower if value is None else value
    else:
        value = bounds.squared and bounds.squared * (1 + rng.choice([-1, 1]) * Fraction(1, 10**40))
    return replace(certificate, bounds=replace(bounds, **{change: value})), X, y


@pytest.mark.parametrize("intercept", [True, False])
def test_altered_certificates_are_judged_as_fractions_judge_them(intercept):
    rng, numbers = random.Random(5 + intercept), np.random.default_rng(intercept)
    verdicts = {True: [], False: []}
    while min(len(found) for found in verdicts.values()) < 12:
        X, y, _ = problem(numbers)
        if len(set(y.tolist())) < 3 or len(X) > 9:
            continue
        X, y, exact = X.tolist(), y.tolist(), numbers.random() < 0.5 or "auto"
        certificate = rb.certify(X, y, fit_intercept=intercept, multi_class="joint", exact=exact is True or "auto")
        if exact is True and certificate.separable:
            certificate = rb.certify(X, y, fit_intercept=intercept, multi_class="joint", exact=False)
        if certificate.separable is None or len(verdicts[certificate.separable]) >= 12:
            continue
        assert is_true(certificate, X, y) and certificate.verify(X, y)
        found = []
        for _ in range(12):
            changed, other_X, other_y = alter(certificate, X, y, rng)
            expected = is_true(changed, other_X, other_y) if set(other_y) == set(certificate.classes) else False
            verification = changed.verify(other_X, other_y)
            assert verification.ok == expected, (verification.why, changed, other_X, other_y)
            found.append(expected)
        verdicts[certificate.separable].append(sum(found))
    assert all(sum(found) < 100 for found in verdicts.values())


def test_a_margin_one_ulp_too_large_is_refused():
    X, y = [[0], [2], [4]], ["a", "b", "c"]
    plane = Hyperplane([-2, 2, 0, 0, 2, -6])  # scores -2x + 2, 0 and 2x - 6, of squared length 48: leads of 2
    lower = 2 / math.sqrt(48)
    lower = lower if Fraction(lower) ** 2 * 48 <= 4 else math.nextafter(lower, 0)
    assert Fraction(math.nextafter(lower, 1)) ** 2 * 48 > 4
    certificate = JointSeparable(JointData.of(X, y), Margin("origin", plane, lower), [], 4.0)
    assert certificate.verify(X, y)
    larger = replace(certificate, bounds=replace(certificate.bounds, lower=math.nextafter(lower, 1)))
    assert re.search("row 0 has a rival class whose score is as high as its own, or nearer", larger.verify(X, y).why)
    tie = replace(certificate, bounds=Margin("origin", Hyperplane([0, 0, 0, 0, 0, 0]), 0.0))
    assert "w is zero" in tie.verify(X, y).why
    level = replace(certificate, bounds=Margin("origin", Hyperplane([1, 0, 1, 0, 1, 0]), 0.0))
    assert not level.verify(X, y) and not is_true(level, X, y)  # equal scores are a mistake


def test_many_rows_at_the_margin_need_no_fractions(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 51, (20_000, 3)).astype(float)
    W = np.asarray([[2, 0, 1, 0], [0, 3, -1, 1], [-1, -1, 2, 0]], float)
    scores = X @ W[:, :3].T + W[:, 3]
    order = np.sort(scores, axis=1)
    X, y = X[order[:, 2] > order[:, 1]], scores.argmax(axis=1)[order[:, 2] > order[:, 1]]
    from rosenblatt.checking import joint_checks

    def never(*_):
        raise AssertionError

    monkeypatch.setattr(joint_checks.RivalCheck, "_beats_rivals", never)
    norm = math.sqrt((W * W).sum())
    plane = Margin("origin", Hyperplane(W.reshape(-1)), math.nextafter(1 / norm, 0))
    radius = math.nextafter(math.sqrt((X * X).sum(axis=1).max()), 1e9)
    assert JointSeparable(JointData.of(X, y), plane, [], radius).verify(X, y)


def test_a_pair_of_a_row_and_its_own_class_is_refused():
    certificate = rb.certify(*PINWHEEL, multi_class="joint")
    own = [PINWHEEL[1].index(PINWHEEL[1][i]) // 2 for i in certificate.points]
    assert "which is its own class" in replace(certificate, rivals=own).verify(*PINWHEEL).why


def test_an_enclosed_witness_is_checked():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 4, 60)
    certificate = true(rb.certify(X, y, multi_class="joint", exact=False), X, y)
    assert certificate.proof == "interval" and len(certificate.points) > 2
    for change in (
        {"weights": certificate.weights * np.r_[1.5, np.ones(len(certificate.weights) - 1)]},
        {"rivals": (certificate.rivals + 1) % 4},
        {"points": np.r_[certificate.points[1:], certificate.points[0]]},
        {"proof": "rational"},
    ):
        assert not replace(certificate, **change).verify(X, y)


# ---- What follows from it ----
@st.composite
def jointly_separable(draw):
    d, k, intercept = draw(st.integers(1, 3)), draw(st.integers(3, 4)), draw(st.booleans())
    number = st.integers(-4, 4)
    W = np.asarray(draw(st.lists(st.lists(number, min_size=d + 1, max_size=d + 1), min_size=k, max_size=k)))
    W[:, d] *= intercept
    X = np.asarray(draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=3, max_size=12)), float)
    scores = X @ W[:, :d].T + W[:, d]
    order = np.sort(scores, axis=1)
    kept = order[:, -1] > order[:, -2]
    X, y = X[kept], scores[kept].argmax(axis=1)
    assume(len(set(y.tolist())) >= 3)
    return X, y, intercept


@settings(max_examples=60, deadline=None)
@given(jointly_separable(), st.integers(0, 5), st.sampled_from(["mistake", "positive"]))
def test_the_perceptron_keeps_the_bound(data, seed, tie):
    X, y, intercept = data
    certificate = rb.certify(X, y, fit_intercept=intercept, multi_class="joint")
    assert certificate.separable
    model = rb.Perceptron(multi_class="joint", fit_intercept=intercept, max_iter=10**6, random_state=seed, tie=tie)
    model.fit(X, y)
    assert model.converged_ and model.n_updates_ <= certificate.mistake_bound


def test_the_shape_of_the_vectors():
    rng = np.random.default_rng(0)
    for intercept, sparse in itertools.product((True, False), (True, False)):
        X, y = rng.integers(-2, 3, (7, 3)).astype(float), np.asarray([0, 1, 2, 3, 0, 1, 3], np.int16)
        pairs = kesler.all_pairs(np.arange(7), y, 4)
        rows = inputs.rows(sp.csr_matrix(X) if sparse else X)
        vectors = kesler.vectors(rows, y, pairs, 4, intercept=intercept).sparse
        plain, plain_pairs = expanded(X, y, intercept)
        assert (vectors.toarray() == plain).all() and vectors.has_canonical_format
        assert list(zip(pairs.rows.tolist(), pairs.rivals.tolist())) == plain_pairs


# ---- In words and as text ----
def test_words():
    X, y = CORNERS
    certificate = rb.certify(X, y, multi_class="joint")
    lines = certificate_words.sentences(certificate)
    assert str(certificate).split() == " ".join(lines).split()
    assert lines[0] == (
        "Jointly separable: one W gives each of the 3 rows the highest score for its own class ('a', 'b' or 'c')."
    )
    assert "with ‖W‖ = 1, intercepts included" in lines[1] and "row 0 against 'b'" in lines[2]
    assert 'Perceptron(multi_class="joint", fit_intercept=True) makes at most' in lines[3]
    certificate = rb.certify(*PINWHEEL, multi_class="joint")
    text = " ".join(str(certificate).split())
    assert "no W gives rows 0, 1, 2, 3, 4 and 5 the highest scores for their own classes." in text
    assert "Weighted, the leads of row 0 over 'b', " in text and " add up to 0, whatever W is: not all are" in text
    assert "SoftMargin" in text and "suspects(X, y == label)" in text
    assert repr(certificate) == "<JointInseparable: 6 rows, 3 classes, 6 pairs>"
    through = rb.certify(*PINWHEEL, multi_class="joint", fit_intercept=False)
    assert "no W without intercepts gives" in str(through) and "fit_intercept=True" in str(through)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda s: s.replace('"jointly separable"', '"jointly"'), "its verdict is 'jointly'"),
        (lambda s: re.sub(r'"rivals": \[\s*\d', '"rivals": [ 9', s), "rivals must be numbers of classes, from 0 to 2"),
        (lambda s: re.sub(r'"rivals": \[\s*\d', '"rivals": [ "b"', s), "rivals must be numbers of classes"),
        (lambda s: re.sub(r'"rivals": \[\s*\d,', '"rivals": [', s), "one for each of the support"),
        (lambda s: s.replace('"fit_intercept": true', '"fit_intercept": false'), "W has 9 numbers, but 3 classes"),
        (lambda s: re.sub(r'"mistake_bound": "\d+"', '"mistake_bound": "1"', s), "it states a mistake bound of 1"),
        (lambda s: s.replace('"c"', '"b"'), "a label can be on one side only"),
        (lambda s: s.replace('"b": "0/1"', '"b": "1/1"'), "through the origin"),
        (lambda s: s.replace('"radius"', '"reach"'), "lacks 'radius'"),
    ],
)
def test_text_that_is_no_certificate(change, message):
    text = rb.certify(*CORNERS, multi_class="joint").to_json()
    assert change(text) != text
    with pytest.raises(InputError, match=message):
        rb.certificate_from_json(change(text))


def test_text_that_is_no_table():
    found = json.loads(rb.certify(*CORNERS).to_json())
    for change, message in (
        ({"certificates": []}, "the table has no certificates"),
        ({"certificates": [found["certificates"][0]] * 2}, "two entries of 'a'"),
        ({"certificates": [{"key": "a"}]}, "lacks 'certificate'"),
        ({"joint": found["certificates"][0]["certificate"]}, "is no joint certificate"),
        ({"joint": 3}, "does not begin with"),
        ({"more": 1}, "which is not known"),
    ):
        with pytest.raises(InputError, match=message):
            rb.certificate_from_json(json.dumps(found | change))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_value_anywhere_in_the_text_is_refused_or_judged(data):
    X, y = data.draw(st.sampled_from([CORNERS, PINWHEEL]))
    found = json.loads(rb.certify(X, y, multi_class="joint").to_json())
    path, place = [], found
    while isinstance(place, (dict, list)) and len(place):
        path.append(data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place)))))
        place = place[path[-1]]
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    values = st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["1/2", "0x1.0p+0", "inf", "x", [], {}])
    inner[path[-1]] = data.draw(values)
    try:
        certificate = rb.certificate_from_json(json.dumps(found))
    except InputError:
        return
    assert certificate.verify(X, y).ok == is_true(certificate, X, y)


def test_forms_that_are_refused():
    data = JointData.of(*CORNERS)
    plane = Margin("origin", Hyperplane(np.ones(9)), 0.5)
    for make, message in (
        (lambda: JointData(1, 1, ("a",), "0" * 64), "at least two classes"),
        (lambda: JointInseparable(data, [], [], ()), "at least one row"),
        (lambda: JointInseparable(data, [0], [3], (1,)), "from 0 to 2"),
        (lambda: JointInseparable(data, [0], [1], (1,), proof="faith"), "proof must be"),
        (lambda: JointSeparable(data, replace(plane, hyperplane=Hyperplane(np.ones(8))), [], 1.0), "W has 8 numbers"),
        (lambda: JointSeparable(rb.certify([[0], [1]], [0, 1]).data, plane, [], 1.0), "data must be a JointData"),
        (lambda: JointUndecided(data, lower=math.inf), "lower must not be infinity"),
        (lambda: rb.certify(*CORNERS, multi_class="all"), "multi_class"),
    ):
        with pytest.raises(InputError, match=message):
            make()
