"""Verdicts equal those of HiGHS and of exact arithmetic, and every certificate is true by the check."""

import json
import math
import time
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from strategies import data_file

import rosenblatt as rb
from rosenblatt import inputs, rationals, row_measures
from rosenblatt.errors import InputError

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
AND = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]


def highs(X, positive, intercept):
    """Whether some w, b has y(w·x + b) >= 1 everywhere, by linear programming."""
    z = np.column_stack([X, np.ones(len(X))]) if intercept else np.asarray(X, float)
    z = np.where(positive, 1, -1)[:, None] * z
    answer = linprog(np.zeros(z.shape[1]), A_ub=-z, b_ub=-np.ones(len(z)), bounds=(None, None))
    assert answer.status in (0, 2)
    return answer.status == 0


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


GENERATORS = [integers, ties, tenths, gaussian, duplicated, collinear, rank_deficient, offset]


@pytest.mark.parametrize("generate", GENERATORS)
@pytest.mark.parametrize("intercept", [True, False])
def test_verdicts_are_those_of_highs_and_of_fractions(generate, intercept):
    rng = np.random.default_rng(len(generate.__name__) + 100 * intercept)
    verdicts = []
    for case in range(100):
        n, d = int(rng.integers(2, 15)), int(rng.integers(1, 5))
        X = generate(rng, n, d)
        y = X @ rng.normal(size=X.shape[1]) + 0.1 * rng.normal() > (X.mean() if case % 2 else 0)
        flip = rng.random(n) < (0.1 if case % 3 else 0.0)
        y = y ^ flip
        if y.all() or not y.any():
            y[0] = not y[0]
        expected = exactly(X, y, intercept)
        if generate is not offset:
            assert highs(X, y, intercept) == expected
        for exact in ("auto", False):
            certificate = true(rb.certify(X, y, fit_intercept=intercept, exact=exact), X, y)
            assert certificate.separable in ((expected,) if exact == "auto" else (expected, None))
        verdicts.append(expected)
    assert 5 < sum(verdicts) < 95


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
    assert certificate.separable == highs(X, y, True)
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
    assert all(pairs.verify(X, names).values()) and all(rest.verify(X, names).values())
    lines = str(rest).splitlines()
    assert lines[0].split() == ["setosa", "|", "rest", "separable,", "margin", "0.817555"] and len(lines) == 3
    assert "versicolor | virginica" in str(pairs)
    assert repr(pairs) == "<CertificateTable: 2 separable, 1 not, 0 undecided>"
    points = pairs["versicolor", "virginica"].points
    assert set(names[points]) == {"versicolor", "virginica"}


def test_wine_and_digits():
    X, y = load_wine(return_X_y=True)
    assert rb.certify(X, y).separable
    X, y = load_digits(return_X_y=True)
    table = rb.certify(X, y)
    assert [c.separable for c in table.values()] == [highs(X, y == digit, True) for digit in range(10)]
    assert all(table.verify(X, y).values())


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


@pytest.mark.parametrize(
    "X, y, options, message",
    [
        ([[0.0, np.nan], [1.0, 2.0]], [0, 1], {}, "row 0, feature 1"),
        ([[0.0], [np.inf]], [0, 1], {}, "infinity"),
        ([[0.0], [1.0]], [1, 1], {}, "one class, 1: with an intercept .* nothing to certify"),
        ([[0.0], [1.0]], [1, 1], {"fit_intercept": False}, "one class, 1.*Through the origin"),
        (np.empty((0, 2)), [], {}, r"0 sample\(s\)"),
        (np.empty((2, 0)), [0, 1], {}, r"0 feature\(s\)"),
        ([[2**53 + 1], [0]], [0, 1], {}, "cannot hold exactly"),
        ([[0.0], [1.0]], [0, 1, 1], {}, "inconsistent numbers"),
        ([["a"], ["b"]], [0, 1], {}, "not a number"),
        ([[0.0], [1.0]], [0, 1], {"gap": 0}, "'gap' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"exact": "yes"}, "'exact' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"time_limit": -1}, "'time_limit' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"multi_class": "joint"}, "'multi_class' parameter of certify"),
        ([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]], [0, 1], {}, "longer than float64 can say"),
    ],
)
def test_bad_input_is_refused_in_words(X, y, options, message):
    with pytest.raises(InputError, match=message):
        rb.certify(X, y, **options)


def test_an_expired_time_limit_is_undecided_and_its_bounds_are_true():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 400))
    y = X @ rng.normal(size=400) > 0
    start = time.monotonic()
    certificate = true(rb.certify(X, y, time_limit=0), X, y)
    assert time.monotonic() - start < 5
    assert certificate.separable is None and "time limit" in str(certificate)
    with pytest.raises(InputError, match="undecided"):
        bool(certificate)


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


def test_equal_rows_are_found_among_many_equal_hashes(monkeypatch):
    monkeypatch.setattr(row_measures, "_mixed", lambda values: np.zeros(values.shape, np.uint64))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = X[:, 0] > 0
    assert true(rb.certify(X, y), X, y).separable
    X[40], y[40] = X[3], not y[3]
    assert rb.certify(X, y).points.tolist() == [3, 40]


# ---- Real data ----
LIBSVM = [
    (("agaricus", "agaricus.txt.train"), True),
    (("agaricus", "agaricus.txt.test"), True),
    (("a9a", "a9a.gz"), False),
    (("a9a", "a9a.t.gz"), False),
]


@pytest.mark.data
@pytest.mark.parametrize("parts, separable", LIBSVM, ids=lambda value: str(value))
def test_real_sparse_rows(parts, separable):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(data_file(*parts)))
    certificate = rb.certify(X, y)
    assert certificate.separable is separable and certificate.verify(X, y)


TABLES = [  # file, whether it has a line of names, separable
    (("banknote", "data_banknote_authentication.txt"), 0, False),
    (("spambase", "spambase.data"), 0, False),
    (("sonar", "sonar.csv"), 0, True),
    (("electricity", "elec.csv.gz"), 1, False),
]


@pytest.mark.data
@pytest.mark.parametrize("parts, header, separable", TABLES, ids=lambda value: str(value))
def test_real_tables(parts, header, separable):
    table = pd.read_csv(data_file(*parts), header=0 if header else None)
    X, y = table.iloc[:, :-1].to_numpy(np.float64), table.iloc[:, -1].to_numpy()
    certificate = rb.certify(X, y)
    assert certificate.separable is separable and certificate.verify(X, y)


@pytest.mark.data
def test_two_newsgroups_are_separable():
    import io
    import tarfile

    from sklearn.feature_extraction.text import CountVectorizer

    groups, texts = [], []
    with tarfile.open(data_file("20newsgroups", "20news-bydate.tar.gz")) as archive:
        for member in archive:
            parts = member.name.split("/")
            if member.isfile() and "20news-bydate-train" in parts and parts[-2] in ("rec.autos", "sci.space"):
                file = archive.extractfile(member)
                assert isinstance(file, io.BufferedIOBase)
                texts.append(file.read().decode("latin-1"))
                groups.append(parts[-2])
    X = CountVectorizer().fit_transform(texts)
    certificate = rb.certify(X, groups)
    assert certificate.separable and certificate.verify(X, groups)
