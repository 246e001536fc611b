"""A true certificate is accepted and a false one refused, judged here by plain fractions, row by row."""

from __future__ import annotations

import json
import math
import random
import re
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt import textbook
from rosenblatt.certificates import (
    Data,
    Inseparable,
    Margin,
    RationalHyperplane,
    Separable,
    Undecided,
    certificate_from_json,
    verify,
    verify_batches,
)
from rosenblatt.checking import canonical, mistake_bounds, rounding, witnesses
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane

HALF = Fraction(1, 2)
AND = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]


# ---- The judge: fractions and nothing else ----
def frac(values):
    return [Fraction(v) for v in (values.tolist() if isinstance(values, np.ndarray) else values)]


def exact_data(X, y, data):
    rows = [frac(x) for x in np.asarray(X, dtype=object)]
    return rows, [1 if label in data.positive else -1 for label in y]


def root(q, direction):
    """√q as a float, rounded down (-1) or up (+1)."""
    f = math.sqrt(q) if q else 0.0
    while Fraction(f) ** 2 > q:
        f = math.nextafter(f, 0)
    while Fraction(math.nextafter(f, math.inf)) ** 2 <= q:
        f = math.nextafter(f, math.inf)
    return f if direction < 0 or Fraction(f) ** 2 == q else math.nextafter(f, math.inf)


def norm2(v):
    return sum(p * p for p in v)


def agreements(rows, signs, w, b):
    w, b = frac(w), Fraction(b)
    return [y * (textbook.dot(w, x) + b) for x, y in zip(rows, signs)]


def implied2(kind, rows, signs, support, weights):
    """The square of the upper bound that the weights imply; None if they imply nothing."""
    weights = frac(weights)
    d = len(rows[0])
    if any(v < 0 for v in weights):
        return None
    total = {s: sum((v for i, v in zip(support, weights) if signs[i] == s), Fraction(0)) for s in (-1, 1)}
    if kind == "free":
        if not all(total.values()):
            return None
        v = [
            sum(signs[i] * lam / total[signs[i]] * rows[i][j] for i, lam in zip(support, weights)) / 2 for j in range(d)
        ]
        return norm2(v)
    if not sum(total.values()):
        return None
    whole = sum(total.values())
    v = [sum(signs[i] * lam * rows[i][j] for i, lam in zip(support, weights)) / whole for j in range(d)]
    if kind == "augmented":
        v.append((total[1] - total[-1]) / whole)
    return norm2(v)


def margin_is_true(margin, rows, signs):
    augmented = margin.kind == "augmented"
    claims = [(margin.hyperplane, Fraction(margin.lower) ** 2)] if margin.hyperplane is not None else []
    if margin.exact is not None:
        claims.append((margin.exact, max(Fraction(margin.lower) ** 2, margin.squared or 0)))
    for plane, lower2 in claims:
        n2 = norm2(frac(plane.w)) + (Fraction(plane.b) ** 2 if augmented else 0)
        if norm2(frac(plane.w)) == 0 or (margin.kind == "origin" and plane.b != 0):
            return False
        if not all(a > 0 and a * a >= lower2 * n2 for a in agreements(rows, signs, plane.w, plane.b)):
            return False
    if margin.upper == math.inf and margin.squared is None:
        return True
    support = margin.support.tolist()
    if not support or max(support) >= len(rows):
        return False
    found = implied2(margin.kind, rows, signs, support, margin.weights)
    limits = [] if margin.upper == math.inf else [Fraction(margin.upper) ** 2]
    limits += [] if margin.squared is None else [margin.squared]
    return found is not None and all(found <= limit for limit in limits)


def rank(rows):
    rows, r = [list(row) for row in rows], 0
    for j in range(len(rows[0])):
        pivot = next((i for i in range(r, len(rows)) if rows[i][j] != 0), None)
        if pivot is None:
            continue
        rows[r], rows[pivot] = rows[pivot], rows[r]
        for i in range(r + 1, len(rows)):
            if rows[i][j]:
                f = rows[i][j] / rows[r][j]
                rows[i] = [p - f * q for p, q in zip(rows[i], rows[r])]
        r += 1
    return r


def is_true(certificate, X, y):
    """What `verify` must say (of witnesses in floats: of floats that are exact)."""
    data = certificate.data
    if data.digest != described(X, y, data).digest:
        return False
    rows, signs = exact_data(X, y, data)
    if isinstance(certificate, Separable):
        if any(norm2(x) > Fraction(certificate.radius) ** 2 for x in rows):
            return False
        if certificate.centre is not None:
            c, limit = frac(certificate.centre), Fraction(certificate.centred_radius) ** 2
            if any(norm2([p - q for p, q in zip(x, c)]) > limit for x in rows):
                return False
        return all(margin_is_true(margin, rows, signs) for margin in certificate.margins.values())
    if isinstance(certificate, Undecided):
        if certificate.lower > -math.inf:
            plane, lower = certificate.hyperplane, Fraction(certificate.lower)
            if plane is None or norm2(frac(plane.w)) == 0 or (plane.b != 0 and not certificate.fit_intercept):
                return False
            for a in agreements(rows, signs, plane.w, plane.b):
                n2 = norm2(frac(plane.w))
                if not (a >= 0 or lower < 0) or (lower >= 0 and a * a < lower**2 * n2):
                    return False
                if lower < 0 and a < 0 and a * a > lower**2 * n2:
                    return False
        if certificate.upper == math.inf:
            return True
        kind = "free" if certificate.fit_intercept else "origin"
        points = certificate.points.tolist()
        if not points or max(points) >= len(rows):
            return False
        found = implied2(kind, rows, signs, points, certificate.weights)
        return found is not None and found <= Fraction(certificate.upper) ** 2
    points, weights = certificate.points.tolist(), frac(certificate.weights)
    if max(points) >= len(rows) or [signs[i] for i in points] != certificate.signs.tolist():
        return False
    if not all(v > 0 for v in weights):
        return False
    extended = [[*x, 1] if certificate.fit_intercept else x for x in rows]
    for j in range(len(extended[0])):
        if sum(v * signs[i] * extended[i][j] for i, v in zip(points, weights)) != 0:
            return False
    if certificate.duplicates and not any(rows[i] == rows[k] and signs[i] != signs[k] for i in points for k in points):
        return False
    if certificate.weak is not None:
        found = agreements(rows, signs, certificate.weak.w, certificate.weak.b)
        if norm2(frac(certificate.weak.w)) == 0 or min(found) < 0 or max(found) == 0:
            return False
        if certificate.weak.b != 0 and not certificate.fit_intercept:
            return False
    return not certificate.overlap or rank([extended[i] for i in points]) == len(extended[0])


def described(X, y, like):
    """The same labels on the same sides, of other data."""
    rows = canonical.exact_rows(X)
    signs = canonical.signs(np.asarray(y), like.negative, like.positive)
    return replace(like, n_rows=len(rows), n_features=rows.shape[1], digest=canonical.digest(rows, signs))


# ---- True certificates, made with fractions ----
def best_margin(kind, X, y, w, b, support, weights, data):
    rows, signs = exact_data(X, y, data)
    n2 = norm2(frac(w)) + (Fraction(b) ** 2 if kind == "augmented" else 0)
    least = min(agreements(rows, signs, w, b))
    lower = root(least**2 / n2, -1)
    upper = root(implied2(kind, rows, signs, support, weights), +1)
    return Margin(kind, Hyperplane(w, b), lower, upper, support, weights)


def separable_case(rng, fit_intercept=True, scale=1.0):
    """Whole-numbered rows (times a scale) on the two sides of a whole-numbered hyperplane."""
    while True:
        n, d = rng.randint(2, 9), rng.randint(1, 4)
        w, b = [rng.randint(-3, 3) for _ in range(d)], rng.randint(-3, 3) if fit_intercept else 0
        X = [[rng.randint(-5, 5) for _ in range(d)] for _ in range(n)]
        X = [x for x in X if textbook.dot(w, x) + b != 0]
        y = [1 if textbook.dot(w, x) + b > 0 else -1 for x in X]
        if len(set(y)) == 2:
            break
    X, b = (np.asarray(X) * scale).tolist(), b * scale
    data = Data.of(X, y)
    support = [y.index(-1), y.index(1), rng.randrange(len(X))]
    weights = [Fraction(rng.randint(1, 5), 7) for _ in support]
    if rng.random() < 0.5:
        weights = np.asarray([float(v) for v in weights])
    kinds = ["free", "augmented"] if fit_intercept else ["origin"]
    margins = {kind: best_margin(kind, X, y, w, b, support, weights, data) for kind in kinds}
    rows, _ = exact_data(X, y, data)
    radius = root(max(norm2(x) for x in rows), +1)
    centre = [0.5] * d if rng.random() < 0.5 else None
    own = {}
    if centre is not None:
        centred = root(max(norm2([p - HALF for p in x]) for x in rows), +1)
        own = {"centre": centre, "centred_radius": centred}
    return Separable(data, margins, radius, fit_intercept=fit_intercept, **own), X, y


def float_case(rng, fit_intercept=True):
    """Rows and hyperplanes with all bits in use, some of the rows nearly or exactly at the margin."""
    while True:
        n, d = rng.randint(3, 8), rng.randint(1, 6)
        w, b = [rng.gauss(0, 1) for _ in range(d)], rng.gauss(0, 1) if fit_intercept else 0.0
        X = [[rng.gauss(0, 1) for _ in range(d)] for _ in range(n)]
        X += [[ulp(v, rng) for v in x] for x in X[:2]] + [list(X[0])]
        y = [1 if textbook.dot(frac(w), frac(x)) + Fraction(b) > 0 else -1 for x in X]
        if len(set(y)) == 2:
            break
    data = Data.of(X, y)
    support = [y.index(-1), y.index(1), rng.randrange(len(X))]
    weights = np.asarray([rng.random() + 0.01 for _ in support])
    kinds = ["free", "augmented"] if fit_intercept else ["origin"]
    margins = {kind: best_margin(kind, X, y, w, b, support, weights, data) for kind in kinds}
    rows, _ = exact_data(X, y, data)
    return Separable(data, margins, root(max(map(norm2, rows)), +1), fit_intercept=fit_intercept), X, y


def inseparable_case(rng, fit_intercept=True):
    """Whole-numbered rows of which one is made so that two weighted sums are equal, among others."""
    d = rng.randint(1, 4)
    point = lambda: [rng.randint(-4, 4) for _ in range(d)]  # noqa: E731
    if fit_intercept:
        positive, negative = [point() for _ in range(rng.randint(1, 3))], [point() for _ in range(rng.randint(0, 2))]
        beta = [rng.randint(1, 3) for _ in negative]
        alpha = [rng.randint(1, 3) for _ in positive]
        while sum(alpha) <= sum(beta):
            alpha[0] += 1
        last = sum(alpha) - sum(beta)
        alpha, beta = [a * last for a in alpha], [b * last for b in beta]
        sums = [
            sum(a * x[j] for a, x in zip(alpha, positive)) - sum(b * x[j] for b, x in zip(beta, negative))
            for j in range(d)
        ]
        # all weights times `last`, so that the last point, of weight last², is whole after one more scaling
        scale = last * last
        positive = [[v * scale for v in x] for x in positive]
        negative = [[v * scale for v in x] for x in negative]
        negative.append(sums)
        weights = [Fraction(v) for v in (*alpha, *beta, last * last)]
        X, y = positive + negative, [1] * len(positive) + [-1] * len(negative)
    else:
        X = [point() for _ in range(rng.randint(1, 3))]
        y = [rng.choice((-1, 1)) for _ in X]
        weights = [Fraction(rng.randint(1, 3)) for _ in X]
        last = rng.choice((-1, 1))
        X.append([-last * int(sum(v * s * x[j] for v, s, x in zip(weights, y, X))) for j in range(d)])
        y.append(last)
        weights.append(Fraction(1))
    total = sum(weights)
    weights = [v / total for v in weights]
    n_points = len(X)
    X = X + [point() for _ in range(rng.randint(0, 4))]
    y = y + [rng.choice((-1, 1)) for _ in range(len(X) - n_points)]
    order = list(range(len(X)))
    rng.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    X, y = [X[i] for i in order], [y[i] for i in order]
    if len(set(y)) < 2:
        X, y = [*X, point()], [*y, -y[0]]
    points = [place[i] for i in range(n_points)]
    return Inseparable(Data.of(X, y), points, [y[i] for i in points], weights, fit_intercept=fit_intercept), X, y


def and_gate():
    data = Data.of(*AND)
    weights = [HALF, HALF, Fraction(1)]
    free = Margin(
        "free", Hyperplane([1, 1], -1.5), root(Fraction(1, 8), -1), root(Fraction(1, 8), +1), [1, 2, 3], weights,
        RationalHyperplane((1, 1), Fraction(-3, 2)), Fraction(1, 8),
    )  # fmt: skip
    return Separable(data, {"free": free}, root(Fraction(2), +1), proof="rational")


def xor_gate(**own):
    own = {"overlap": True} | own
    return Inseparable(Data.of(*XOR), [0, 1, 2, 3], [-1, 1, 1, -1], [HALF] * 4, **own)


# ---- True ones are accepted ----
def test_and_is_separable_with_a_squared_margin_of_one_eighth():
    certificate = and_gate()
    assert certificate.separable is True and bool(certificate)
    assert certificate.verify(*AND)
    assert certificate.margin_squared == Fraction(1, 8) and certificate.gap == 0
    assert certificate.mistake_bound == math.floor(3 * Fraction(17, 4) / Fraction(1, 4))  # (R² + 1)(‖w‖² + b²) / min²
    np.testing.assert_allclose(certificate.canonical.w, [2, 2], rtol=1e-15)


def test_xor_is_inseparable_and_overlaps():
    certificate = xor_gate()
    assert certificate.separable is False and not certificate
    found = certificate.verify(*XOR)
    assert found.ok and "prove that no hyperplane separates the 4 rows" in found.why


def test_equal_rows_with_opposite_labels():
    X, y = [[1.5, 2.0], [3.0, 4.0], [1.5, 2.0]], ["a", "b", "b"]
    certificate = Inseparable(Data.of(X, y), [0, 2], [-1, 1], [1, 1], duplicates=True)
    assert certificate.verify(X, y)
    assert "Two of them are equal" in str(certificate)
    moved = Inseparable(Data.of(X, y), [0, 1], [-1, 1], [1, 1], duplicates=True).verify(X, y)
    assert not moved and "names no such rows" in moved.why


def test_touching_hulls_are_separated_weakly():
    X, y = [[0, 0], [2, 0], [1, 0], [1, 1]], [0, 0, 1, 1]
    for weak in (Hyperplane([0, 1], 0), RationalHyperplane((0, Fraction(1, 3)))):
        certificate = Inseparable(Data.of(X, y), [0, 1, 2], [-1, -1, 1], [HALF, HALF, Fraction(1)], weak=weak)
        # y = -1 must not be above: rows 0 and 1 lie on it
        assert certificate.verify(X, y) and certificate.overlap is False
        assert "quasi-complete" in str(certificate)
    for wrong, why in (
        (Hyperplane([0, -1], 0), "row 3 is on the wrong side of the weakly separating hyperplane"),
        (Hyperplane([0, 1], 5e-324), "row 0 is on the wrong side"),
        (Hyperplane([0, 0], 0), "w is zero"),
    ):
        found = replace(certificate, weak=wrong, overlap=None).verify(X, y)
        assert not found and why in found.why
    found = replace(certificate, weak=None, overlap=True).verify(X, y)
    assert not found and "do not span the space" in found.why


def test_a_weak_hyperplane_must_separate_something():
    X, y = [[0, 0], [2, 0], [1, 0]], [0, 0, 1]
    weak = Hyperplane([0, 1], 0)
    certificate = Inseparable(Data.of(X, y), [0, 1, 2], [-1, -1, 1], [HALF, HALF, Fraction(1)], weak=weak)
    found = certificate.verify(X, y)
    assert not found and "every row lies on the weakly separating hyperplane" in found.why


def test_a_gap_of_one_ulp_and_one_of_the_smallest_float():
    for low, high in ((0.3, math.nextafter(0.3, 1)), (0.0, 5e-324), (1e300, math.nextafter(1e300, math.inf))):
        X, y = [[low], [high]], [0, 1]
        middle = (Fraction(low) + Fraction(high)) / 2
        square = ((Fraction(high) - Fraction(low)) / 2) ** 2
        exact, bounds = RationalHyperplane((1,), -middle), (rounding.root_down(square), rounding.root_up(square))
        margin = Margin("free", None, *bounds, [0, 1], [Fraction(1)] * 2, exact, square)
        certificate = Separable(Data.of(X, y), {"free": margin}, high)
        assert certificate.verify(X, y), (low, high, certificate.verify(X, y).why)
        larger = replace(margin, squared=square * (1 + Fraction(1, 10**40)))
        assert not replace(certificate, margins={"free": larger}).verify(X, y)
        smaller = replace(margin, squared=square * (1 - Fraction(1, 10**40)))
        assert not replace(certificate, margins={"free": smaller}).verify(X, y)


@given(st.fractions(min_value=0), st.integers(-1000, 1000))
@settings(max_examples=300, deadline=None)
def test_roots_are_rounded_to_the_right_side(value, power):
    square = value * Fraction(2) ** power
    low, high = rounding.root_down(square), rounding.root_up(square)
    assert Fraction(low) ** 2 <= square < Fraction(math.nextafter(low, math.inf)) ** 2
    assert Fraction(high) ** 2 >= square and (high == 0 or Fraction(math.nextafter(high, 0)) ** 2 < square)
    above = rounding.root_above(square)
    assert above**2 >= square and above**2 <= square * (1 + Fraction(1, 2**60))


def test_roots_and_numbers_beyond_the_range_of_floats():
    assert rounding.root_down(Fraction(2) ** -3000) == 0 and rounding.root_up(Fraction(2) ** -3000) == 5e-324
    assert rounding.down(Fraction(10) ** 400) == 1.7976931348623157e308 and rounding.up(Fraction(10) ** 400) == math.inf
    assert rounding.root_up(Fraction(10) ** 800) == math.inf
    assert rounding.down(-Fraction(1, 3)) < -Fraction(1, 3) < rounding.up(-Fraction(1, 3))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("case", [separable_case, float_case, inseparable_case])
def test_true_certificates_verify(case, fit_intercept):
    rng = random.Random(1)
    for _ in range(300):
        certificate, X, y = case(rng, fit_intercept)
        assert is_true(certificate, X, y)
        assert certificate.verify(X, y), certificate.verify(X, y).why


@pytest.mark.parametrize("scale", [0.1, 1e-300, 1e290, 2.0**-1060])
def test_true_certificates_verify_where_squares_leave_the_range_of_floats(scale):
    rng = random.Random(2)
    for _ in range(60):
        n, d = rng.randint(2, 6), rng.randint(1, 3)
        w = [rng.randint(1, 3) for _ in range(d)]
        X = (np.asarray([[rng.randint(1, 5) for _ in range(d)] for _ in range(n)]) * scale).tolist()
        y = [rng.choice((-1, 1)) for _ in X]
        X = [[v * s for v in x] for x, s in zip(X, y)]
        if len(set(y)) < 2:
            continue
        data = Data.of(X, y)
        rows, signs = exact_data(X, y, data)
        least2 = min(agreements(rows, signs, w, 0)) ** 2 / norm2(frac(w))
        upper2 = implied2("origin", rows, signs, [0], [1.0])
        margin = Margin("origin", Hyperplane(w), rounding.root_down(least2), rounding.root_up(upper2), [0], [1.0])
        radius = rounding.root_up(max(map(norm2, rows)))
        certificate = Separable(data, {"origin": margin}, radius, fit_intercept=False)
        assert certificate.verify(X, y), certificate.verify(X, y).why
        more = replace(margin, lower=math.nextafter(margin.lower, math.inf))
        found = replace(certificate, margins={"origin": more}).verify(X, y)
        assert found.ok == (least2 == Fraction(more.lower) ** 2)
        assert not replace(certificate, radius=math.nextafter(radius, 0)).verify(X, y)


# ---- Altered ones are judged as fractions judge them ----
def ulp(value, rng):
    return math.nextafter(value, rng.choice((-math.inf, math.inf)))


def alter_weights(weights, rng):
    weights = list(weights)
    i = rng.randrange(len(weights))
    if isinstance(weights[i], Fraction):
        weights[i] = rng.choice((weights[i] + Fraction(1, 2**70), -weights[i], weights[i] * 2, Fraction(0)))
        return weights
    weights[i] = rng.choice((ulp(weights[i], rng), -weights[i], weights[i] * 2, 0.0))
    return np.asarray(weights)


def alter_rows(rows, rng, n):
    rows = rows.tolist()
    rows[rng.randrange(len(rows))] = rng.randrange(n + 1)
    return rows


def alter_plane(plane, rng):
    w, b = plane.w.copy(), plane.b
    if rng.random() < 0.3:
        return Hyperplane(w, rng.choice((ulp(b, rng), -b, b + 1, b * 2)))
    i = rng.randrange(len(w))
    w[i] = rng.choice((ulp(w[i], rng), -w[i], w[i] + 1, 0.0))
    return Hyperplane(w, b)


def alter_margin(margin, rng, n):
    what = rng.randrange(7)
    if what == 0:
        return replace(margin, lower=abs(ulp(margin.lower, rng)))
    if what == 1:
        return replace(margin, upper=abs(ulp(margin.upper, rng)))
    if what == 2:
        return replace(margin, hyperplane=alter_plane(margin.hyperplane, rng))
    if what == 3:
        return replace(margin, support=alter_rows(margin.support, rng, n))
    if what == 4:
        return replace(margin, weights=alter_weights(margin.weights, rng))
    if what == 5:
        return replace(margin, lower=margin.lower * rng.choice((0.5, 2)))
    return replace(margin, upper=margin.upper * rng.choice((0.5, 2)))


def alter_data(certificate, X, y, rng):
    """Another data set, with its own digest or with the old one."""
    X, y = [list(x) for x in X], list(y)
    i, j = rng.randrange(len(X)), rng.randrange(len(X[0]))
    what = rng.randrange(4)
    if what == 0:
        X[i][j] = ulp(float(X[i][j]), rng)
    elif what == 1:
        X[i][j] += rng.choice((-1, 1))
    elif what == 2:
        y[i] = -y[i]
    else:
        k = rng.randrange(len(X))
        X[i], X[k] = X[k], X[i]
    if rng.random() < 0.9:
        certificate = replace(certificate, data=described(X, y, certificate.data))
    return certificate, X, y


def alter(certificate, X, y, rng):
    n = len(X)
    if rng.random() < 0.25:
        return alter_data(certificate, X, y, rng)
    if isinstance(certificate, Separable):
        what = rng.randrange(8)
        if what == 0:
            return replace(certificate, radius=abs(ulp(certificate.radius, rng))), X, y
        if what == 1 and certificate.centre is not None:
            return replace(certificate, centre=certificate.centre + rng.choice((1e-16, 2e-16, 1))), X, y
        kind = rng.choice(list(certificate.margins))
        margins = dict(certificate.margins) | {kind: alter_margin(certificate.margins[kind], rng, n)}
        return replace(certificate, margins=margins), X, y
    if isinstance(certificate, Undecided):
        what = rng.randrange(4)
        if what == 0:
            return replace(certificate, lower=ulp(certificate.lower, rng)), X, y
        if what == 1:
            return replace(certificate, upper=abs(ulp(certificate.upper, rng))), X, y
        if what == 2:
            return replace(certificate, weights=alter_weights(certificate.weights, rng)), X, y
        return replace(certificate, points=alter_rows(certificate.points, rng, n)), X, y
    what = rng.randrange(6)
    if what == 0:
        signs = certificate.signs.copy()
        signs[rng.randrange(len(signs))] *= -1
        return replace(certificate, signs=signs), X, y
    if what == 1:
        return replace(certificate, points=alter_rows(certificate.points, rng, n)), X, y
    if what == 2:
        return replace(certificate, duplicates=True), X, y
    if what == 3:
        return replace(certificate, overlap=True), X, y
    if what == 4:
        weak = Hyperplane([rng.randint(-1, 1) for _ in X[0]], rng.randint(-1, 1))
        return replace(certificate, weak=weak, overlap=None), X, y
    return replace(certificate, weights=alter_weights(certificate.weights, rng)), X, y


def undecided_case(rng, fit_intercept=True):
    certificate, X, y = separable_case(rng, fit_intercept)
    margin = next(iter(certificate.margins.values()))
    rows, signs = exact_data(X, y, certificate.data)
    plane = Hyperplane([1.0] + [0.0] * (len(X[0]) - 1), 0.0)
    least = min(agreements(rows, signs, plane.w, 0))
    lower = float(least)
    return Undecided(
        certificate.data, lower, margin.upper, plane, margin.support, margin.weights, fit_intercept, why="time is up"
    ), X, y  # fmt: skip


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("case", [separable_case, float_case, inseparable_case, undecided_case])
def test_altered_certificates_are_judged_as_fractions_judge_them(case, fit_intercept):
    rng = random.Random(3)
    seen = {True: 0, False: 0}
    for _ in range(1500):
        true, X, y = case(rng, fit_intercept)
        altered, X2, y2 = alter(true, X, y, rng)
        expected, found = is_true(altered, X2, y2), verify(altered, X2, y2)
        assert found.ok == expected, (altered.to_json(), X2, y2, found.why)
        assert found.ok == (not found.reasons) and found.why
        seen[expected] += 1
    assert min(seen.values()) > 50


def test_altered_labels_and_shape():
    certificate = and_gate()
    X, y = AND
    found = certificate.verify(X, ["no", "no", "no", "yes"])
    assert not found and "row 0 has the label 'no', which the certificate does not know" in found.why
    assert "the data has 3 features, but the certificate speaks of 2" in certificate.verify(np.ones((4, 3)), y).why
    assert "the data has 3 rows, but the certificate speaks of 4" in certificate.verify(X[:3], y[:3]).why
    other = certificate.verify([[0, 0], [0, 1], [1, 0], [1, 2]], y)
    assert "this is another data set" in other.why and "are the rows in another order" in other.why
    assert len(other.reasons) == 1  # what else is wrong with other data is of no use
    assert "the data has 0 rows" in certificate.verify_batches([]).why
    swapped = replace(certificate, data=replace(certificate.data, negative=(1,), positive=(0,)))
    assert not swapped.verify(X, y)


def test_a_wrong_claim_says_which_row_it_fails_on():
    certificate = and_gate()
    margin = replace(certificate.margins["free"], lower=0.4, exact=None, squared=None)
    found = replace(certificate, margins={"free": margin}).verify(*AND)
    assert found.why.startswith(
        "row 1 is on the wrong side of its hyperplane, or nearer to it than the free margin says"
    )
    assert str(found).startswith("false: row 1")
    found = replace(certificate, radius=1.0).verify(*AND)
    assert found.why == "row 3 is farther from the origin than the radius 1.0"


# ---- Witnesses in floats ----
def radon(rng, d):
    """d + 2 points in general position, their only partition into hulls that meet, and its weights."""
    points = rng.normal(size=(d + 2, d))
    system = np.vstack([points.T, np.ones(d + 2)])
    dependency = np.linalg.svd(system)[2][-1]
    y = np.where(dependency > 0, 1, -1)
    weights = np.abs(dependency) / dependency[dependency > 0].sum()
    return points, y, weights


@pytest.mark.parametrize("d", [1, 2, 5, 20, 60])
def test_weights_in_floats_are_enclosed(d):
    rng = np.random.default_rng(d)
    for _ in range(5):
        X, y, weights = radon(rng, d)
        data = Data.of(X, y)
        certificate = Inseparable(data, np.arange(d + 2), y, weights, proof="interval", overlap=True)
        assert certificate.verify(X, y), certificate.verify(X, y).why
        stated_as_exact = replace(certificate, proof="rational").verify(X, y)
        assert stated_as_exact.ok == is_true(replace(certificate, proof="rational"), X, y)
        for i in range(d + 2):  # Radon's partition is the only one: any other label makes it separable
            other = y.copy()
            other[i] *= -1
            if len(set(other)) < 2:
                continue
            false = replace(certificate, data=described(X, other, data), signs=other)
            assert not false.verify(X, other)
        nudged = weights.copy()
        nudged[0] *= 1 + 1e-9  # exact positive weights still exist nearby
        assert replace(certificate, weights=nudged).verify(X, y)
        assert not replace(certificate, weights=-weights).verify(X, y)


def test_more_points_than_needed_are_enclosed():
    rng = np.random.default_rng(0)
    d, m = 10, 60
    X = rng.normal(size=(m, d)) * np.logspace(-8, 8, d)
    y = np.where(rng.random(m) < 0.5, 1, -1)
    system = np.vstack([(X / np.logspace(-8, 8, d)).T * y, y > 0, y < 0]).astype(float)
    target = np.asarray([0.0] * d + [1.0, 1.0])
    start = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    for _ in range(30):  # affine scaling towards a positive solution
        scaled = system * start**2
        start = np.maximum(start + scaled.T @ np.linalg.solve(scaled @ system.T, target - system @ start), 1e-3 * start)
    assert (start > 0).all()
    certificate = Inseparable(Data.of(X, y), np.arange(m), y, start, proof="interval", overlap=True)
    assert certificate.verify(X, y), certificate.verify(X, y).why


def test_through_the_origin_in_floats():
    rng = np.random.default_rng(4)
    d = 6
    X = rng.normal(size=(d + 1, d))
    dependency = np.linalg.svd(X.T)[2][-1]
    y = np.where(dependency > 0, 1, -1)
    weights = np.abs(dependency)
    weights /= weights.sum()
    certificate = Inseparable(
        Data.of(X, y), np.arange(d + 1), y, weights, fit_intercept=False, proof="interval", overlap=True
    )
    assert certificate.verify(X, y)
    other = -y[:1].repeat(d + 1) * y  # any other signs but all turned
    if set(other) != set(y) or not (np.array_equal(other, y) or np.array_equal(other, -y)):
        false = replace(certificate, data=described(X, other, certificate.data), signs=other)
        assert not false.verify(X, other) or np.array_equal(other, -y)


def test_too_few_points_in_floats_prove_nothing():
    X, y = [[0.0, 0.1], [0.2, 0.1], [0.1, 0.1], [0.1, 0.7]], [0, 0, 1, 1]
    weights = np.asarray([0.5, 0.5, 1.0])
    certificate = Inseparable(Data.of(X, y), [0, 1, 2], [-1, -1, 1], weights, proof="interval")
    assert certificate.verify(X, y)  # the floats are exact here, which is a proof too
    X[2] = [0.1, math.nextafter(0.1, 1)]
    certificate = Inseparable(Data.of(X, y), [0, 1, 2], [-1, -1, 1], weights, proof="interval")
    found = certificate.verify(X, y)
    assert not found and "their weights must be fractions" in found.why


def test_rounded_collinear_points_are_refused():
    # Collinear on paper, but as rounded they are not: three points prove nothing here.
    rng = np.random.default_rng(8)
    direction = rng.normal(size=8)
    X, y = np.outer([0.1, 0.3, 0.7, 1.3], direction), [0, 1, 0, 1]
    certificate = Inseparable(Data.of(X, y), [0, 1, 2], [-1, 1, -1], [Fraction(2, 3), Fraction(1), Fraction(1, 3)])
    assert not is_true(certificate, X, y) and not certificate.verify(X, y)
    assert not replace(certificate, weights=np.asarray([2 / 3, 1, 1 / 3]), proof="interval").verify(X, y)


def test_the_rank_modulo_a_prime_is_the_rank():
    rng = np.random.default_rng(5)
    for _ in range(100):
        m, d, r = rng.integers(1, 6, 3)
        matrix = (rng.integers(-3, 4, (m, r)) @ rng.integers(-3, 4, (r, d))) * 2.0 ** rng.integers(-40, 40)
        assert witnesses._rank_modulo(matrix, 2147483647) == rank([frac(row) for row in matrix])


@pytest.mark.parametrize("n, d", [(30, 7), (200, 3)])
def test_sums_in_twice_the_precision_stay_within_their_bound(n, d):
    rng = np.random.default_rng(6)
    for size in (1, 1e150, 1e-150):
        matrix = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 12, (n, d)) * size
        weights = rng.normal(size=n)
        high, low, error = witnesses._compensated_sums(matrix, weights)
        for j in range(d):
            exact = sum(Fraction(a) * Fraction(b) for a, b in zip(weights.tolist(), matrix[:, j].tolist()))
            assert abs(exact - Fraction(high[j].item()) - Fraction(low[j].item())) <= Fraction(error[j].item())


def test_a_large_support_is_bounded_in_floats(monkeypatch):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 5))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += y
    data = Data.of(X, y)
    weights = rng.random(40)
    margin = best_margin("free", X.tolist(), y.tolist(), [1, 0, 0, 0, 0], 0.0, list(range(40)), weights, data)
    rows, _ = exact_data(X, y, data)
    certificate = Separable(data, {"free": margin}, root(max(map(norm2, rows)), +1))
    monkeypatch.setattr(witnesses, "_EXACT_VALUES", 0)
    assert certificate.verify(X, y)
    wider = replace(margin, upper=margin.upper * (1 + 1e-14))
    monkeypatch.setattr(witnesses, "_EXACT_WORK", 0)
    assert replace(certificate, margins={"free": wider}).verify(X, y)
    narrower = replace(margin, upper=math.nextafter(margin.upper, 0))
    found = replace(certificate, margins={"free": narrower}).verify(X, y)
    assert not found and "the weights imply only a larger bound, as far as float64 can tell" in found.why


# ---- Storage and batches ----
def stored(X, how):
    X = np.asarray(X, dtype=np.float64)
    if how == "float32":
        return X.astype(np.float32)
    if how == "int64":
        return X.astype(np.int64)
    if how == "fortran":
        return np.asfortranarray(X)
    if how == "negative zeros":
        return np.where(X == 0, -0.0, X)
    if how == "coo with parts":
        csr = sp.coo_array(X)
        data = np.concatenate([csr.data - 1, np.ones_like(csr.data)])
        return sp.coo_array((data, (np.tile(csr.row, 2), np.tile(csr.col, 2))), shape=X.shape)
    if how == "stored zeros":
        full = sp.csr_array(np.ones_like(X))
        full.data = X.reshape(-1).copy()
        return full
    if how == "unsorted":
        csr = sp.csr_array(X)
        for i in range(len(X)):
            part = slice(csr.indptr[i], csr.indptr[i + 1])
            csr.indices[part], csr.data[part] = csr.indices[part][::-1].copy(), csr.data[part][::-1].copy()
        csr.has_sorted_indices = False
        return csr
    return getattr(sp, how)(X)


STORAGES = ["float32", "int64", "fortran", "negative zeros", "coo with parts", "stored zeros", "unsorted",
            "csr_array", "csr_matrix", "csc_array", "coo_matrix"]  # fmt: skip


@pytest.mark.parametrize("how", STORAGES)
def test_storage_does_not_matter(how):
    rng = random.Random(9)
    for case in (separable_case, inseparable_case):
        for _ in range(15):
            certificate, X, y = case(rng)
            X2 = stored(X, how)
            assert Data.of(X2, y) == certificate.data
            assert certificate.verify(X2, np.asarray(y, dtype=np.float32)), certificate.verify(X2, y).why
            false, X3, y3 = alter(certificate, X, y, rng)
            if np.array_equal(np.asarray(X3), np.asarray(X)):
                assert false.verify(stored(X3, how), y3).ok == is_true(false, X3, y3)


@pytest.mark.parametrize("density", [0.02, 0.2, 0.26, 1.0])
def test_the_digest_is_one_of_values(density):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(300, 50)).astype(np.float32) * (rng.random((300, 50)) < density)
    X[5] = 0
    signs = np.where(rng.random(300) < 0.5, 1, -1).astype(np.int8)
    expected = canonical.digest(canonical.exact_rows(X), signs)
    assert canonical.digest(canonical.exact_rows(sp.csr_array(X)), signs) == expected
    assert canonical.digest(canonical.exact_rows(X.astype(np.float64)), signs) == expected
    for sizes in ([1] * 300, [7, 0, 100, 193], [299, 1]):
        total, first = canonical.Digest(50), 0
        for size in sizes:
            part = X[first : first + size]
            block = canonical.Block(sp.csr_array(part) if size % 2 else part)
            total.update(block, signs[first : first + size])
            first += size
        assert total.hexdigest() == expected
    X[7, 3] = np.nextafter(X[7, 3], np.float32(9))
    assert canonical.digest(canonical.exact_rows(X), signs) != expected


def test_the_digest_is_the_same_in_pieces_and_threads():
    X = np.arange(60_003).reshape(-1, 3) % 19 / 8 - 1
    signs = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    rows = canonical.exact_rows(X)
    expected = canonical.digest(rows, signs)
    assert canonical.digest(rows, signs, threads=3) == expected
    assert canonical.digest(canonical.exact_rows(sp.csr_array(X)), signs, threads=2) == expected
    for size in (1000, 8192, 8193, 20_001):
        total = canonical.Digest(3)
        for first in range(0, len(X), size):
            total.update(canonical.Block(X[first : first + size]), signs[first : first + size])
        assert total.hexdigest() == expected
    first_chunk = canonical.digest(canonical.exact_rows(X[:8192]), signs[:8192])
    assert first_chunk != canonical.digest(canonical.exact_rows(X[:16384]), signs[:16384])
    assert expected == "63cc9d4b4a6c5388ac75fca0b99028ebfa92b43750e53f7da08b923d5e11bdcd"  # as written in files


def test_frames():
    pandas = pytest.importorskip("pandas")
    X, y = AND
    assert and_gate().verify(pandas.DataFrame(X, columns=["a", "b"]), pandas.Series(y))
    with pytest.raises(InputError, match=re.escape("row 1, feature 0 of X is 9007199254740993")):
        and_gate().verify(pandas.DataFrame({"a": [1, 2**53 + 1], "b": [0.5, 1.5]}), [0, 1])


@given(st.integers(0, 10**6), st.lists(st.integers(0, 4), min_size=1, max_size=12))
@settings(max_examples=150, deadline=None)
def test_batches_give_the_answer_of_the_whole(seed, sizes):
    rng = random.Random(seed)
    case = rng.choice((separable_case, inseparable_case, undecided_case))
    certificate, X, y = alter(*case(rng), rng) if seed % 2 else case(rng)
    batches, first = [], 0
    for size in [*sizes, len(X)]:
        rows = np.asarray(X, dtype=np.float64)[first : first + size]
        batches.append((sp.csr_array(rows) if size % 2 else rows, y[first : first + size]))
        first = min(first + size, len(X))
    assert verify_batches(certificate, iter(batches)) == verify(certificate, X, y)


def test_batches_need_memory_for_one_batch_only():
    rng = np.random.default_rng(11)
    w = np.ones(50)
    n, batches = 500, 40

    def rows(seed):
        X = np.random.default_rng(seed).normal(size=(n, 50))
        y = np.where(X @ w > 0, 1, -1)
        return X + y[:, None], y

    del rng
    digest, radius2, least = canonical.Digest(50), 0.0, math.inf
    for seed in range(batches):
        X, y = rows(seed)
        digest.update(canonical.Block(X), y.astype(np.int8))
        radius2, least = max(radius2, (X**2).sum(1).max()), min(least, (y * (X @ w)).min())
    data = Data(n * batches, 50, (-1,), (1,), digest.hexdigest())
    margin = Margin("free", Hyperplane(w), least / math.sqrt(50) * 0.999)
    certificate = Separable(data, {"free": margin}, math.sqrt(radius2) * 1.001)
    verify_batches(certificate, [rows(0)])
    tracemalloc.start()
    try:
        assert verify_batches(certificate, map(rows, range(batches)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20 * n * 50 * 8  # the whole is 40 batches


def test_rows_of_other_classes_are_passed_over():
    X, y = [[0.0], [5.0], [1.0], [3.0]], ["a", "c", "b", "d"]
    rows = canonical.exact_rows(X)
    sides = canonical.signs(np.asarray(y), ("a",), ("b", "d"))
    assert sides.tolist() == [-1, 0, 1, 1]
    data = Data(4, 1, ("a",), ("b", "d"), canonical.digest(rows, sides), ignored=("c",))
    certificate = Separable(data, {"free": Margin("free", Hyperplane([1.0], -0.5), 0.5, 0.5, [0, 2], [1, 1])}, 3.0)
    assert certificate.verify(X, y) and certificate.labels == ("a", ("b", "d"))
    assert not replace(certificate, data=replace(data, ignored=())).verify(X, y)
    inside = replace(certificate.margins["free"], support=[1, 2])
    assert "row 1 is named" in replace(certificate, margins={"free": inside}).verify(X, y).why
    assert certificate_from_json(certificate.to_json()) == certificate


def test_many_rows_at_the_margin_need_no_fractions(monkeypatch):
    calls = []
    original = rounding.integers
    monkeypatch.setattr(rounding, "integers", lambda values: calls.append(1) or original(values))
    X = np.asarray([[0.0, i % 7] for i in range(2000)] + [[1.0, i % 7] for i in range(2000)])
    y = np.repeat([0, 1], 2000)
    margin = Margin("free", Hyperplane([2.0, 0.0], -1.0), 0.5, 0.5, [0, 2000], [1, 1])
    assert Separable(Data.of(X, y), {"free": margin}, 7.0).verify(X, y)
    X[:, 1] += 0.1  # not whole, but where w is not zero
    assert Separable(Data.of(X, y), {"free": margin}, 7.0).verify(X, y)
    assert len(calls) < 100


# ---- Unusable data ----
@pytest.mark.parametrize(
    "X, message",
    [
        ([[0, 0], [0, 1], [1, 0], [1, math.nan]], "Input X contains NaN: row 3, feature 1"),
        (np.asarray([[0, 0], [0, 1], [1, 0], [1, 2**53 + 1]]), "row 3, feature 1 of X is 9007199254740993"),
        ([[0, 0], [0, 1], [1, 0], [0.5, 2**53 + 1]], "row 3, feature 1 of X is 9007199254740993"),
        ([[0, 0], [0, 1], [1, 0], [1, Fraction(1, 3)]], "row 3, feature 1 of X is 1/3, which float64 cannot hold"),
        (np.asarray([[0, 0], [0, 1], [1, 0], [1, 10**400]], dtype=object), "row 3, feature 1 of X is 1000"),
        (sp.csr_array(np.asarray([[0, 0], [0, 1], [1, 0], [1, 2**62 + 1]])), "row 3, feature 1 of X is 46116860"),
        ([["a", "b"]] * 4, "is not a number"),
        ([0, 1, 2, 3], "X must have two dimensions"),
    ],
)
def test_unusable_rows_are_refused(X, message):
    with pytest.raises(InputError, match=re.escape(message)):
        and_gate().verify(X, [0, 0, 0, 1])


def test_integers_that_float64_holds_are_used():
    X, y = np.asarray([[0], [2**62]]), [0, 1]
    margin = Margin("free", Hyperplane([1.0], -(2.0**61)), 2.0**61, 2.0**61, [0, 1], [1, 1])
    assert Separable(Data.of(X, y), {"free": margin}, 2.0**62).verify(X, y)
    assert Separable(Data.of(X, y), {"free": margin}, 2.0**62).verify([[0], [Fraction(2**62)]], y)


def test_a_wrong_number_of_labels():
    with pytest.raises(InputError, match="inconsistent numbers of samples"):
        and_gate().verify(AND[0], [0, 1])
    with pytest.raises(InputError, match="y must have two labels, got 1"):
        Data.of([[1.0], [2.0]], [1, 1])


# ---- Mistake bounds ----
@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=100, deadline=None)
def test_the_perceptron_keeps_the_bounds(seed, fit_intercept):
    rng = random.Random(seed)
    certificate, X, y = separable_case(rng, fit_intercept)
    run = textbook.perceptron(X, y, fit_intercept=fit_intercept)
    assert len(run.mistakes) <= certificate.mistake_bound
    w0 = [rng.randint(-20, 20) for _ in X[0]]
    b0 = rng.randint(-20, 20) if fit_intercept else 0
    run = textbook.perceptron(X, y, fit_intercept=fit_intercept, w=w0, b=b0)
    bound = certificate.mistake_bound_from(w0, b0)
    assert len(run.mistakes) <= bound
    margin = certificate.margins["free" if fit_intercept else "origin"]
    points = [[*x, 1] for x in X] if fit_intercept else X
    theta = [*margin.hyperplane.w.tolist(), margin.hyperplane.b] if fit_intercept else margin.hyperplane.w.tolist()
    expected = textbook.bound_from(points, y, theta, [*w0, b0] if fit_intercept else w0)
    assert bound <= expected * (1 + 1e-9) + 1e-9
    assert certificate.mistake_bound_from([0] * len(X[0])) == certificate.mistake_bound
    eta0 = 0.25
    assert certificate.mistake_bound_from([v * eta0 for v in w0], b0 * eta0, eta0) == bound
    run = textbook.perceptron(X, y, fit_intercept=fit_intercept, w=w0, b=b0, margin=0.5)
    assert len(run.mistakes) <= certificate.mistake_bound_from(w0, b0, margin=0.5)
    assert certificate.mistake_bound_from([0] * len(X[0]), margin=0.5) >= 2 * certificate.mistake_bound


def test_the_bound_counts_the_constant_feature():
    X, y = [[-0.01], [0.01]], [-1, 1]
    margin = Margin("free", Hyperplane([1.0]), 0.01, 0.01, [0, 1], [1, 1])
    certificate = Separable(Data.of(X, y), {"free": margin}, 0.01)
    assert certificate.verify(X, y)
    assert certificate.mistake_bound == 10000 and len(textbook.perceptron(X, y).mistakes) == 2
    assert "fit_intercept=True" in certificate.mistake_bounds["with intercept"].setting
    assert certificate.mistake_bounds["scaled"].value == 1  # rows divided by a small number: nearly through the origin


def test_centring_lowers_the_bound():
    X, y = [[100.0], [101.0]], [0, 1]
    margin = Margin("free", Hyperplane([1.0], -100.5), 0.5, 0.5, [0, 1], [1, 1])
    certificate = Separable(Data.of(X, y), {"free": margin}, 101.0, centre=[100.5], centred_radius=0.5)
    assert certificate.verify(X, y)
    bounds = certificate.mistake_bounds
    assert bounds["centred"].value == 5 and bounds["centred and scaled"].value == 1
    assert bounds["scaled"].value == math.floor((101 + 100.5) ** 2 / 0.25) < certificate.mistake_bound
    assert "With the rows centred: at most 5." in str(certificate)


def test_a_margin_too_small_for_floats_has_no_bound_in_digits():
    X, y = [[0.0], [5e-324]], [0, 1]
    margin = Margin("free", None, 0.0, 5e-324, [0, 1], [1, 1], RationalHyperplane((1,), -Fraction(5e-324) / 2))
    certificate = Separable(Data.of(X, y), {"free": margin}, 5e-324)
    assert certificate.verify(X, y)
    assert certificate.mistake_bound == math.inf and "finitely many" in str(certificate)
    assert "With the rows" not in str(certificate)
    assert certificate_from_json(certificate.to_json()) == certificate
    with pytest.raises(InputError, match="too small for a canonical form"):
        _ = certificate.canonical


def test_a_huge_bound_is_said_with_a_power_of_ten_that_is_not_below_it():
    assert mistake_bounds.count(10**301 - 1) == "10^302" and mistake_bounds.count(12345) == "12,345"


# ---- Words ----
def unwrapped(certificate):
    return " ".join(str(certificate).split())


def test_words_of_the_separable():
    text = str(and_gate())
    assert text.splitlines() == [
        "Separable: a hyperplane separates all 4 rows, label 1 from label 0.",
        "Its margin is 0.353553..., the largest (its square is 1/8 exactly).",
        "It rests on rows 1, 2 and 3.",
        "A Perceptron(fit_intercept=True) makes at most 51 mistakes on it, from 0, in any",
        "order.",
        "Proved in exact fractions; check it with verify(X, y).",
        "Next: a Perceptron converges here if max_iter allows; .hyperplane already",
        "separates.",
    ]
    assert repr(and_gate()) == "<Separable: 4 rows, 2 features, margin 0.353553 to 0.353554>"


def test_words_of_the_inseparable():
    text = unwrapped(xor_gate())
    assert "rows 0, 1, 2 and 3 cannot be separated by any hyperplane, so neither can the data" in text
    assert "No hyperplane separates even weakly: the classes overlap." in text
    assert repr(xor_gate()) == "<Inseparable: 4 rows, 2 features, 4 points>"
    X, y = [[1.0], [-1.0]], ["p", "p"]
    data = described(X, y, Data(2, 1, ("n",), ("p",), "0" * 64))
    origin = Inseparable(data, [0, 1], [1, 1], [HALF, HALF], fit_intercept=False)
    assert origin.verify(X, y)
    assert "rows 0 and 1 cannot be separated by any hyperplane through the origin" in unwrapped(origin)
    many = Inseparable(xor_gate().data, np.arange(30), [1, -1] * 15, [1] * 30)
    assert "rows 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 20 others cannot" in unwrapped(many)
    assert "SoftMargin and AveragedPerceptron are made for such data; suspects(X, y) ranks" in text


def test_no_line_is_wider_than_a_terminal():
    many = Inseparable(xor_gate().data, np.arange(30), [1, -1] * 15, [1] * 30)
    for certificate in (and_gate(), xor_gate(), many, Undecided(xor_gate().data, why="late, " * 50)):
        assert max(map(len, str(certificate).splitlines())) <= 80


@pytest.mark.parametrize(
    "near, advice",
    [
        (0.25, "Next: a Perceptron converges here if max_iter allows"),
        (2.0**-20, "or MaxMargin; do not wait for a Perceptron, or scale the features"),
    ],
)
def test_nobody_is_told_to_wait_for_a_perceptron_forever(near, advice):
    X, y = [[-near, 1.0], [near, 1.0]], [0, 1]
    margin = Margin("free", Hyperplane([1.0, 0.0]), near, near, [0, 1], [1, 1])
    certificate = Separable(Data.of(X, y), {"free": margin}, 1.25)
    assert certificate.verify(X, y)
    text = unwrapped(certificate)
    assert advice in text and "With the rows" not in text


def test_a_bound_that_centring_brings_down_is_advised():
    X, y = [[10000.0], [10001.0]], [0, 1]
    margin = Margin("free", Hyperplane([1.0], -10000.5), 0.5, 0.5, [0, 1], [1, 1])
    certificate = Separable(Data.of(X, y), {"free": margin}, 10001.0, centre=[10000.5], centred_radius=0.5)
    assert certificate.verify(X, y) and certificate.mistake_bound > 1e7
    assert "With the rows scaled: at most 1,600," in str(certificate)
    assert "a Perceptron converges on the rows centred and scaled." in unwrapped(certificate)


def test_words_of_the_undecided():
    certificate = Undecided(
        xor_gate().data, -1.0, 0.001, Hyperplane([1, 0]), [0, 1], [1, 1], why="time is up", radius=2.0
    )
    text = unwrapped(certificate)
    assert text.startswith("Undecided whether a hyperplane separates the 4 rows: time is up.")
    assert "If it is separable, its margin is at most 0.001, 5.0e-04 of the radius." in text
    assert certificate.separable is None and certificate.gap == 1
    with pytest.raises(InputError, match="it is undecided whether the data can be separated"):
        bool(certificate)
    assert repr(certificate) == "<Undecided: 4 rows, 2 features, margin -1 to 0.001>"


def test_words_round_to_the_side_on_which_they_are_true():
    margin = Margin("free", Hyperplane([1.0], -0.5), 0.1234567, 0.1234561, [0, 1], [1, 1])
    text = str(replace(and_gate(), data=Data.of([[0.0], [1.0]], [0, 1]), margins={"free": margin}))
    assert "at least 0.123456; none has more than 0.123457 " in text
    assert "at least -0.123457" in str(
        Undecided(margin_data := and_gate().data, -0.1234561, hyperplane=Hyperplane([1, 1]))
    )
    assert "late [31m." in unwrapped(Undecided(margin_data, why="late \x1b[31m"))


# ---- JSON ----
@pytest.mark.parametrize("case", [separable_case, inseparable_case, undecided_case])
def test_json_and_back(case):
    rng = random.Random(12)
    for fit_intercept in (True, False):
        for _ in range(40):
            certificate, X, y = case(rng, fit_intercept)
            again = certificate_from_json(certificate.to_json())
            assert again == certificate and hash(again) == hash(certificate) and again.verify(X, y)
            assert certificate_from_json(certificate.to_json().encode()) == certificate


def test_json_keeps_labels_long_fractions_and_exact_planes():
    X = [[0.0], [1.0]]
    for y in (["b", "ä"], [-1.5, 2.0], [False, True], [3, 10**17]):
        long = Fraction(3**2000, 7**1500)
        margin = Margin("free", Hyperplane([1.0], -0.5), 0.5, 0.5, [0, 1], [long, long])
        certificate = Separable(Data.of(X, y), {"free": margin}, 1.0)
        again = certificate_from_json(certificate.to_json())
        assert again == certificate and again.labels == tuple(y) and again.verify(X, y)
        assert [type(label) for label in again.labels] == [type(label) for label in y]
    assert certificate_from_json(and_gate().to_json()) == and_gate()


def test_edited_json_is_refused_or_found_false():
    text = and_gate().to_json()
    assert '"mistake_bound": "51"' in text
    with pytest.raises(InputError, match="it states a mistake bound of 50, but its margin and radius imply 51"):
        certificate_from_json(text.replace('"mistake_bound": "51"', '"mistake_bound": "50"'))
    assert certificate_from_json(text.replace('"mistake_bound": "51"', '"mistake_bound": "52"')).verify(*AND)
    assert not certificate_from_json(text.replace('"squared": "1/8"', '"squared": "1/7"')).verify(*AND)
    assert not certificate_from_json(text.replace('"1/2"', '"2/3"', 1)).verify(*AND)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda s: "", "it is not JSON"),
        (lambda s: "[" * 100_000, "nested too deeply|it is not JSON"),
        (lambda s: b"\xff\xfe", "the text is not UTF-8"),
        (lambda s: 5, "expected text, got int"),
        (lambda s: "a.json", "it is not JSON.*give its text, Path"),
        (lambda s: Path("a.json"), "expected text, got .*Path; .*give its text"),
        (lambda s: "[]", "does not begin with"),
        (lambda s: s.replace('"version": 1', '"version": 2'), "version 2, and this library reads up to 1"),
        (lambda s: s.replace('"version": 1', '"version": true'), "its version is True"),
        (lambda s: s.replace('"separable"', '"maybe"'), "its verdict is 'maybe'"),
        (lambda s: s.replace('"radius"', '"sadius"'), "lacks 'radius'"),
        (lambda s: s.replace('"proof"', '"more": 1, "proof"'), "has 'more', which is not known"),
        (lambda s: s.replace('"proof"', '"radius": 1, "proof"'), "a key occurs twice"),
        (lambda s: s.replace('"rows": 4', '"rows": 4.0'), "floats are hexadecimal texts"),
        (lambda s: s.replace('"rows": 4', '"rows": -4'), "rows is -4, not a number of things"),
        (lambda s: s.replace('"rows": 4', '"rows": 0'), "n_rows and n_features must be at least 1"),
        (lambda s: s.replace('"rows": 4', '"rows": NaN'), "floats are hexadecimal texts"),
        (lambda s: s.replace('"rows": 4', '"rows": 1' + "0" * 5000), "it is not JSON|rows is"),
        (lambda s: s.replace('"1/2"', '"1/0"', 1), "a fraction over zero"),
        (lambda s: s.replace('"1/2"', '"0x1.0p+0"', 1), "not a hexadecimal float|not a fraction"),
        (lambda s: s.replace('"1/8"', '"1e9999999"'), "not a fraction such as 1/3"),
        (lambda s: re.sub('"lower": "[^"]*"', '"lower": "0x1.0p+9999"', s), "lower is '0x1.0p.9999', beyond float64"),
        (
            lambda s: re.sub('"lower": "[^"]*"', '"lower": "-0x1.0p+0"', s),
            "lower must be a finite number of at least 0",
        ),
        (lambda s: re.sub('"lower": "[^"]*"', '"lower": 0', s), "lower is 0, not a hexadecimal float"),
        (lambda s: re.sub('"blake3": "[^"]*"', '"blake3": "00"', s), "digest must be 64 hexadecimal digits"),
        (lambda s: s.replace('"free"', '"bound"'), "kind must be one of free, origin, augmented"),
        (lambda s: s.replace('"fit_intercept": true', '"fit_intercept": 1'), "fit_intercept is 1, not true or false"),
        (lambda s: s.replace('"fit_intercept": true', '"fit_intercept": false'), "the origin margin is missing"),
        (lambda s: s.replace('"rational"', '"faith"'), "proof must be 'filter' or 'rational', got 'faith'"),
    ],
)
def test_text_that_is_no_certificate(change, message):
    with pytest.raises(InputError, match=message):
        certificate_from_json(change(and_gate().to_json()))


def test_text_that_is_too_long(monkeypatch):
    monkeypatch.setattr("rosenblatt.checking.certificate_text.MAX_TEXT", 100)
    with pytest.raises(InputError, match="characters, more than 100"):
        certificate_from_json(and_gate().to_json())


def test_denominators_made_to_be_slow_are_refused(monkeypatch):
    monkeypatch.setattr(rounding, "_MAX_BITS", 1000)
    weights = [Fraction(1, 3**500), Fraction(1, 5**500), Fraction(1, 7**500), Fraction(1)]
    found = xor_gate(overlap=None).verify(*XOR), replace(xor_gate(), weights=weights).verify(*XOR)
    assert found[0] and not found[1] and "common denominator of more than 1000 bits" in found[1].why


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["1/2", "0x1.0p+0", "-inf", "inf"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


@given(st.data())
@settings(max_examples=600, deadline=None)
def test_any_value_anywhere_in_the_text_is_refused_or_judged(data):
    rng = random.Random(data.draw(st.integers(0, 1000)))
    case = rng.choice((separable_case, inseparable_case, undecided_case))
    certificate, X, y = case(rng, data.draw(st.booleans()))
    found = json.loads(certificate.to_json())
    path = data.draw(st.sampled_from(list(places(found))[1:]))
    target = found
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = data.draw(JSON_VALUES)
    try:
        altered = certificate_from_json(json.dumps(found))
    except InputError:
        return
    try:
        judged = altered.verify(X, y)
    except InputError:
        return
    if altered.data.negative == certificate.data.negative and altered.data.positive == certificate.data.positive:
        shape = (altered.n_rows, altered.n_features) == (len(X), len(X[0]))
        assert judged.ok == (shape and is_true(altered, X, y))


@given(st.integers(0, 10**6))
@settings(max_examples=300, deadline=None)
def test_damaged_text_is_refused_or_judged(seed):
    rng = random.Random(seed)
    certificate, X, y = rng.choice((separable_case, inseparable_case, undecided_case))(rng)
    text = list(certificate.to_json())
    for _ in range(rng.randint(1, 3)):
        i = rng.randrange(len(text))
        text[i] = rng.choice(['"', "0", "1", "f", "-", ",", "]", "}", "{", "", "p", "/", "\ud800", "\x00", text[i] * 2])
    try:
        altered = certificate_from_json("".join(text))
    except InputError:
        return
    if altered.data == certificate.data:
        assert altered.verify(X, y).ok == is_true(altered, X, y)
    else:
        assert not altered.verify(X, y) or altered.data.digest == certificate.data.digest


# ---- Forms ----
@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Margin("free", None, 0.1), "a margin needs a hyperplane that has it"),
        (lambda: Margin("free", Hyperplane([1]), 0.1, 0.2, [0], [1, 2]), "1 support have 2 weights"),
        (lambda: Margin("free", Hyperplane([1]), 0.1, 0.2, [0.5], [1]), "support must be a list of row numbers"),
        (
            lambda: Margin("free", Hyperplane([1]), 0.1, 0.2, [0], [math.nan]),
            "weights must be a list of finite numbers",
        ),
        (lambda: Margin("free", Hyperplane([1]), math.nan), "lower must be a finite number of at least 0, got nan"),
        (lambda: Margin("free", Hyperplane([1]), 0.1, squared=Fraction(1)), "an exact margin needs a hyperplane"),
        (lambda: RationalHyperplane(()), "w must have at least one number"),
        (lambda: replace(and_gate(), margins={"origin": and_gate().margins["free"]}), "margins must have the keys"),
        (lambda: replace(and_gate(), radius=math.inf), "radius must be a finite number"),
        (lambda: replace(and_gate(), centre=[0, 0]), "centre and centred_radius come together"),
        (lambda: replace(and_gate(), data=replace(and_gate().data, n_features=3)), "has 2 weights, but the data has 3"),
        (lambda: replace(and_gate(), data=None), "data must be a Data"),
        (lambda: replace(xor_gate(), signs=[1, 1]), "signs must be -1 or \\+1 for each of the points"),
        (lambda: replace(xor_gate(), weak=Hyperplane([1, 1])), "overlap says that no hyperplane separates weakly"),
        (lambda: replace(xor_gate(), overlap=False), "overlap=False needs the hyperplane"),
        (lambda: replace(xor_gate(), points=[], signs=[], weights=[]), "points must name at least one row"),
        (lambda: Undecided(xor_gate().data, math.inf), "lower must not be infinity"),
        (lambda: Data(1, 1, (), (1,), "0" * 64), "each side needs the name of at least one label"),
        (lambda: Data(1, 1, (1,), (1,), "0" * 64), "a label can be on one side only"),
        (lambda: Data(1, 1, (None,), (1,), "0" * 64), "a label must be a text or a finite number, got None"),
        (lambda: and_gate().mistake_bound_from([1, 2, 3]), "coef_init must have shape"),
        (lambda: and_gate().mistake_bound_from([1, 2], eta0=0), "The 'eta0' parameter of mistake_bound_from must be"),
        (lambda: and_gate().mistake_bound_from([1, 2], margin=-1), "The 'margin' parameter of mistake_bound_from must"),
    ],
)
def test_forms_that_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_arrays_are_copies_that_cannot_be_written():
    points = np.arange(4)
    certificate = replace(xor_gate(), points=points)
    points[0] = 3
    assert certificate.points[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        certificate.points[0] = 1


def test_an_exact_plane_is_rounded_to_floats():
    plane = RationalHyperplane((Fraction(1, 3), 10**400), Fraction(1))
    assert plane.rounded().w[1] == pytest.approx(1, rel=1)
    assert RationalHyperplane((HALF,), Fraction(1, 4)).rounded() == Hyperplane([0.5], 0.25)


@pytest.mark.parametrize("signs", [[-1, -1, 1, 1], [-1, 1, 1, 1]])
def test_weights_in_floats_on_a_singular_system_are_refused(signs):
    for step in (1.0, 0.1, 0.7):
        X = np.outer(np.arange(4) * step, [1.0, 3.0])
        certificate = Inseparable(Data.of(X, signs), np.arange(4), signs, [0.5] * 4, proof="interval", overlap=None)
        assert not certificate.verify(X, signs)
