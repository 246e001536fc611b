"""Verdicts equal those of HiGHS and of exact arithmetic, and every certificate is true by the check."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from oracles import separable_by_highs
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning

import rosenblatt as rb
from rosenblatt import _engine, inputs
from rosenblatt.errors import InputError
from rosenblatt.proving import rationals

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
AND = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]


def exactly(X, positive, intercept):
    rows = inputs.rows(np.asarray(X, np.float64))
    return rationals.min_norm_point(rows, np.where(positive, 1, -1), intercept=intercept).separable


def true(certificate, X, y):
    verification = certificate.verify(X, y)
    assert verification.ok, verification.why
    again = rb.certificate_from_json(certificate.to_json())
    assert again == certificate
    return certificate


# ---- Generated problems ----
def integers(rng, n, d):
    return rng.integers(-3, 4, (n, d)).astype(float)


def ties(rng, n, d):
    return rng.integers(0, 2, (n, d)).astype(float)


def tenths(rng, n, d):
    return rng.integers(-10, 11, (n, d)) / 10


def gaussian(rng, n, d):
    return rng.normal(size=(n, d))


def duplicated(rng, n, d):
    X = rng.normal(size=(n, d)).round(1)
    return X[rng.integers(0, max(1, n // 2), n)]


def collinear(rng, n, d):
    return np.outer(rng.integers(-5, 6, n), rng.integers(-3, 4, d)).astype(float)


def rank_deficient(rng, n, d):
    return np.column_stack([rng.normal(size=(n, d)), np.ones(n), np.zeros(n)])[:, rng.permutation(d + 2)]


def offset(rng, n, d):
    return 1000 + rng.normal(size=(n, d))


def badly_scaled(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-8, 9, d)


def one_ulp_apart(rng, n, d):
    return rng.choice([0.3, 1.0, 1e8]) * (1 + rng.integers(-2, 3, (n, d)) * 2.0**-52)


GENERATORS = [
    integers,
    ties,
    tenths,
    gaussian,
    duplicated,
    collinear,
    rank_deficient,
    badly_scaled,
    offset,
    one_ulp_apart,
]
BEYOND_HIGHS = [offset, one_ulp_apart]  # its tolerance is 1e-7


@pytest.mark.parametrize("generate", GENERATORS)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("seed, count", [(0, 100), pytest.param(1, 300, marks=pytest.mark.slow)])
def test_verdicts_are_those_of_highs_and_of_fractions(generate, intercept, seed, count):
    rng = np.random.default_rng([seed, GENERATORS.index(generate), intercept])
    verdicts = []
    for case in range(count):
        n, d = int(rng.integers(2, 15)), int(rng.integers(1, 5))
        X = generate(rng, n, d)
        y = X @ rng.normal(size=X.shape[1]) + 0.1 * rng.normal() > (X.mean() if case % 2 else 0)
        flip = rng.random(n) < (0.1 if case % 3 else 0.0)
        y = y ^ flip
        if y.all() or not y.any():
            y[0] = not y[0]
        expected = exactly(X, y, intercept)
        if generate not in BEYOND_HIGHS and separable_by_highs(X, y, intercept=intercept) != expected:
            # Rows of tenths that touch, but for the rounding of 0.1: separable as stored, by less than its tolerance.
            assert generate is tenths and 0 < rb.certify(X, y, fit_intercept=intercept).margin_squared < 1e-28
        for exact in ("auto", False):
            certificate = true(rb.certify(X, y, fit_intercept=intercept, exact=exact), X, y)
            assert certificate.separable in ((expected,) if exact == "auto" else (expected, None))
        verdicts.append(expected)
    assert 0.05 * count < sum(verdicts) < 0.95 * count


@pytest.mark.parametrize("exact", ["auto", False])
def test_one_ulp_apart_and_one_ulp_across(exact):
    for value in (1.0, 0.3, 1e8, 1e-8, 1e-300, 1e300):
        above = math.nextafter(value, math.inf)
        certificate = true(rb.certify([[value], [above]], [0, 1], exact=exact), [[value], [above]], [0, 1])
        assert certificate.separable or (exact is False and certificate.separable is None)
        X, y = [[value], [above], [value]], [0, 1, 1]
        certificate = true(rb.certify(X, y, exact=exact), X, y)
        assert certificate.separable is False and certificate.duplicates


@pytest.mark.parametrize("exact", ["auto", False])
def test_columns_on_very_different_scales(exact):
    rng = np.random.default_rng(5)
    for case in range(40):
        X = rng.normal(size=(300, 6)) * 10.0 ** rng.integers(-8, 9, 6)
        y = X / np.abs(X).max(axis=0) @ rng.normal(size=6) > 0
        if case % 2:
            y[:3] ^= True
        certificate = true(rb.certify(X, y, exact=exact), X, y)
        assert certificate.separable == (case % 2 == 0) == exactly(X, y, True)


def test_a_verdict_does_not_depend_on_the_scale_of_a_column():
    X, y = load_breast_cancer(return_X_y=True)
    scales = 2.0 ** np.random.default_rng(0).integers(-60, 60, X.shape[1])
    for rows, expected in ((X, True), (np.round(X, 3), False)):
        assert true(rb.certify(rows * scales, y), rows * scales, y).separable == expected


@pytest.mark.parametrize("n, d", [(500, 3), (2000, 20), (300, 200), (200, 1000)])
@pytest.mark.parametrize("kind", ["planted", "flipped", "random"])
def test_larger_problems(n, d, kind):
    rng = np.random.default_rng(n + d)
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d)
    y = score > np.median(score)
    if kind == "flipped":
        y[np.argmax(np.abs(score))] ^= True
    elif kind == "random":
        y = rng.random(n) < 0.5
    certificate = true(rb.certify(X, y), X, y)
    assert certificate.separable == separable_by_highs(X, y)
    if certificate.separable:
        assert certificate.gap < 1e-6 or d == 1000
    else:
        assert len(certificate.points) <= d + 2


# ---- What certificates say ----
def test_setosa():
    X, kind = load_iris(return_X_y=True)
    certificate = true(rb.certify(X, kind == 0), X, kind == 0)
    assert certificate.margin == pytest.approx(0.81755645)
    assert certificate.support.tolist() == [23, 41, 98]
    assert certificate.margin_squared is not None and certificate.proof == "rational" and certificate.gap == 0
    assert certificate.hyperplane.is_separating(X, np.where(kind == 0, 1, -1))
    assert set(certificate.margins) == {"free", "origin", "augmented"}
    model = rb.Perceptron(max_iter=1000, random_state=0).fit(X, kind == 0)
    assert model.n_updates_ <= certificate.mistake_bound


def test_the_three_margins_are_those_of_their_own_problems():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 8))
    score = X @ rng.normal(size=8)
    keep = np.abs(score) > 0.3
    X, y = X[keep], score[keep] > 0
    certificate = true(rb.certify(X, y), X, y)
    margins = certificate.margins
    assert margins["origin"].upper == pytest.approx(rb.certify(X, y, fit_intercept=False).margin, rel=1e-5)
    ones = np.column_stack([X, np.ones(len(X))])
    assert margins["augmented"].upper == pytest.approx(rb.certify(ones, y, fit_intercept=False).margin, rel=1e-5)
    assert margins["augmented"].lower <= margins["free"].upper


def test_the_maximum_margin_is_that_of_a_support_vector_machine():
    from sklearn.svm import SVC

    rng = np.random.default_rng(8)
    for _ in range(5):
        X = rng.normal(size=(200, 5))
        score = X @ rng.normal(size=5)
        keep = np.abs(score) > 0.5
        X, y = X[keep], score[keep] > 0
        machine = SVC(kernel="linear", C=1e8, tol=1e-9).fit(X, y)
        margin = 1 / np.linalg.norm(machine.coef_)
        certificate = true(rb.certify(X, y), X, y)
        assert certificate.margin == pytest.approx(margin, rel=1e-4)
        assert certificate.margin <= certificate.margin_upper_bound <= certificate.margin * (1 + 2e-6)


def test_and_is_separable_with_a_square_margin_of_one_eighth():
    certificate = true(rb.certify(*AND), *AND)
    assert certificate and certificate.margin_squared == Fraction(1, 8) and certificate.labels == (0, 1)


def test_xor_is_not_separable():
    certificate = true(rb.certify(*XOR), *XOR)
    assert not certificate and certificate.overlap is True and certificate.weak is None
    assert certificate.points.tolist() == [0, 1, 2, 3] and set(certificate.weights) == {Fraction(1, 2)}
    assert "rows 0, 1, 2 and 3 cannot be separated by any hyperplane" in str(certificate)


def test_touching_classes_are_separated_weakly():
    X, y = [[0, 0], [2, 0], [1, 0], [1, 1]], ["low", "low", "high", "high"]
    certificate = true(rb.certify(X, y), X, y)
    assert certificate.separable is False and certificate.points.tolist() == [0, 1, 2]
    assert certificate.weak is not None and certificate.overlap is False
    assert "quasi-complete" in str(certificate)


def test_equal_rows_with_opposite_labels_are_named():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1000, 5))
    y = X[:, 0] > 0
    X[700], y[700] = X[30], not y[30]
    certificate = true(rb.certify(X, y), X, y)
    assert certificate.duplicates and certificate.points.tolist() == [30, 700]
    certificate = true(rb.certify(sp.csr_matrix(X), y), X, y)
    assert certificate.duplicates and certificate.points.tolist() == [30, 700]


def test_minus_zero_is_zero():
    X, y = [[0.0, 1.0], [-0.0, 1.0]], [0, 1]
    assert true(rb.certify(X, y), X, y).duplicates
    assert true(rb.certify(sp.csr_matrix(np.array(X)), y), X, y).duplicates


def test_breast_cancer_is_separable_and_rounded_it_is_not():
    X, y = load_breast_cancer(return_X_y=True)
    certificate = true(rb.certify(X, y), X, y)
    assert 4.1e-5 < certificate.margin <= 4.13714e-5 * (1 + 1e-5) and certificate.margin_upper_bound > 4.13713e-5
    certificate = true(rb.certify(X.round(3), y), X.round(3), y)
    assert certificate.separable is False and len(certificate.points) <= 32


# ---- Several classes ----
def test_iris_each_against_the_rest_and_in_pairs():
    X, kind = load_iris(return_X_y=True)
    names = load_iris().target_names[kind]
    rest = rb.certify(X, names)
    assert list(rest) == ["setosa", "versicolor", "virginica"] and len(rest) == 3
    assert [c.separable for c in rest.values()] == [True, False, False] and rest.separable is False
    pairs = rb.certify(X, names, multi_class="ovo")
    assert [c.separable for c in pairs.values()] == [True, True, False]
    assert pairs.verify(X, names) and rest.verify(X, names)
    lines = str(rest).splitlines()
    assert lines[0].split() == ["setosa", "|", "rest", "separable,", "margin", "0.817555"] and len(lines) == 4
    assert "versicolor | virginica" in str(pairs)
    assert repr(pairs) == "<CertificateTable: 2 separable, 1 not, 0 undecided>"
    points = pairs["versicolor", "virginica"].points
    assert set(names[points]) == {"versicolor", "virginica"}


def test_wine_and_digits():
    X, y = load_wine(return_X_y=True)
    assert rb.certify(X, y).separable
    X, y = load_digits(return_X_y=True)
    table = rb.certify(X, y)
    assert [c.separable for c in table.values()] == [separable_by_highs(X, y == digit) for digit in range(10)]
    assert table.verify(X, y) and rb.verify(table, X, y)
    moved = rb.verify(table, X, (y + 1) % 10)
    assert not moved and len(moved.reasons) >= 10 and moved.reasons[0].startswith("0 | rest: this is another data set")
    halves = [(X[:900], y[:900]), (X[900:], y[900:])]
    assert table.joint.separable and rb.verify_batches(table, halves).why == "all 11 certificates of the table are"


def test_a_table_is_true_if_every_one_is_separable():
    X, y = np.eye(3), [0, 1, 2]
    assert rb.certify(X, y) and not rb.certify(*load_iris(return_X_y=True))
    planted = np.random.default_rng(0).normal(size=(3000, 60))
    with pytest.raises(InputError, match="undecided whether all"):
        bool(rb.certify(planted, planted[:, :3].argmax(axis=1), time_limit=0))


def test_what_is_no_certificate_is_not_verified():
    X, y = AND
    with pytest.raises(InputError, match="a certificate is needed, got str; certificate_from_json"):
        rb.verify(rb.certify(X, y).to_json(), X, y)


# ---- At the ends of float64 ----
@pytest.mark.parametrize("size", [5e-324, 1e-320, 1e-310, 1e-300, 1e300])
@pytest.mark.parametrize("intercept", [True, False])
def test_tiny_and_huge_numbers(size, intercept):
    X, y = np.array([[1.0], [2.0], [-1.0]]) * size, [1, 1, 0]
    certificate = true(rb.certify(X, y, fit_intercept=intercept), X, y)
    assert certificate.separable and certificate.margin > 0
    joint = rb.certify(np.c_[X, X[::-1]], [0, 1, 2], multi_class="joint", fit_intercept=intercept)
    assert joint.verify(np.c_[X, X[::-1]], [0, 1, 2])


def test_more_threads_than_processors():
    X, y = AND
    assert rb.certify(X, y, n_jobs=10**9) == rb.certify(X, y)


def test_the_canonical_form_is_that_of_the_hyperplane_in_floats():
    X, y = 1 + 2.0**-52 * np.array([[1.0, 2, 3], [2, 3, 2]]), [0, 1]
    certificate = true(rb.certify(X, y), X, y)
    assert certificate.separates_in_floats and rb.verify(certificate, X, y)
    assert certificate.gap >= 1 - certificate.margin / certificate.margin_upper_bound - 1e-15
    near = rb.certify([[1.0], [1 + 2.0**-52]], [0, 1])
    assert near.separates_in_floats and near.hyperplane.is_separating([[1.0], [1 + 2.0**-52]], [-1, 1])


# ---- Features that depend on others, but for rounding ----
@pytest.mark.parametrize("n", [300, 5000])
def test_features_that_are_sums_of_others(n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 8))
    X = np.c_[X, X[:, 0] / 2.54, X.sum(axis=1)]
    y = rng.integers(0, 2, n)
    assert true(rb.certify(X, y), X, y).separable is False


def test_a_margin_that_only_fractions_have():
    X, y = make_classification(random_state=0)  # two features are combinations of others, rounded
    certificate = true(rb.certify(X, y), X, y)
    assert certificate.separable and 0 < certificate.margin < 1e-15 and not certificate.separates_in_floats
    assert not certificate.hyperplane.is_separating(X, 2 * y - 1)
    assert "already separates" not in str(certificate) and "Only a hyperplane in fractions" in str(certificate)
    with pytest.warns(ConvergenceWarning, match="only for a hyperplane in fractions"):
        rb.MaxMargin().fit(X, y)


# ---- Kinds of input ----
@pytest.mark.parametrize("intercept", [True, False])
def test_the_same_answer_for_the_same_values(intercept):
    X, kind = load_iris(return_X_y=True)
    X = np.rint(10 * X)
    names = [f"x{j}" for j in range(4)]
    forms = [
        X.astype(np.float32),
        X.astype(int),
        X.astype(np.int16),
        np.asfortranarray(X),
        X.tolist(),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ]
    for y in (kind == 0, kind == 1):
        expected = true(rb.certify(X, y, fit_intercept=intercept), X, y)
        for form in forms:
            found = rb.certify(form, y, fit_intercept=intercept)
            assert found == expected
            assert rb.verify(expected, form, y)
        for kind_of in (sp.csr_matrix, sp.csc_matrix, sp.coo_array, sp.csr_array):
            found = true(rb.certify(kind_of(X), y, fit_intercept=intercept), X, y)
            assert found.separable == expected.separable and found.digest == expected.digest


def test_sparse_rows_with_features_stored_twice():
    stored = sp.coo_matrix(([1.0, 2.0, 1.0, 3.0], ([0, 0, 1, 1], [0, 0, 1, 1])), shape=(2, 2))
    twice = sp.csr_matrix((stored.data, [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2))
    certificate = rb.certify(twice, [0, 1])
    assert certificate.separable and certificate.verify(twice.toarray(), [0, 1])


def test_the_same_certificate_for_any_number_of_threads():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30_000, 10))
    y = X @ rng.normal(size=10) > 0
    assert rb.certify(X, y, n_jobs=1) == rb.certify(X, y, n_jobs=2)


def test_exact_fractions_on_request():
    rng = np.random.default_rng(4)
    X = rng.integers(-9, 10, (600, 10))
    score = X @ rng.integers(-9, 10, 10)
    X, y = X[score != 0], score[score != 0] > 0
    assert true(rb.certify(X, y), X, y).margin_squared is None
    certificate = true(rb.certify(X, y, exact=True), X, y)
    assert certificate.margin_squared is not None and certificate.gap == 0
    y[0] ^= True
    certificate = rb.certify(X, y, exact=True)
    if certificate.separable is False:
        assert isinstance(true(certificate, X, y).weights, tuple)


def test_a_long_and_a_short_row_and_their_radius():
    X, y = np.array([[3.0, 4.0], [-1.0, 0.0]]), [0, 1]
    assert true(rb.certify(X, y), X, y).radius == 5
    assert true(rb.certify(X * 1e-200, y), X * 1e-200, y).radius == pytest.approx(5e-200)
    X = np.random.default_rng(0).normal(size=(50_000, 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = X[:, 0] > 0
    assert true(rb.certify(X, y), X, y).radius == pytest.approx(1)


def test_certificates_can_be_kept_as_text(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    path = tmp_path / "certificate.json"
    path.write_text(rb.certify(X, y).to_json(), encoding="utf-8")
    certificate = rb.certificate_from_json(path.read_text(encoding="utf-8"))
    assert rb.verify_batches(certificate, ((X[i : i + 100], y[i : i + 100]) for i in range(0, len(X), 100)))
    assert not rb.verify(certificate, X, 1 - y)
    assert json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.engine
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array], ids=["float64", "float32", "sparse"])
@pytest.mark.parametrize("factor", [0, 1, 0x9E3779B97F4A7C15], ids=["equal hashes", "bad hashes", "good hashes"])
def test_the_first_equal_rows_of_different_labels(form, factor):
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.integers(-1, 2, (20, 3)) * np.where(rng.random((20, 3)) < 0.5, 1.0, -1.0)  # with -0.0
        codes = rng.integers(0, 2, 20).astype(np.int16)
        pairs = [(j, i) for i in range(20) for j in range(i) if codes[i] != codes[j] and (X[i] == X[j]).all()]
        found = _engine.equal_rows(inputs.rows(form(X)).view, codes, np.full(3, factor, np.uint64))
        assert found == (pairs[0] if pairs else None)
