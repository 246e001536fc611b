"""The margins of certificates, for the three kinds of bias, are those of a quadratic program on the whole data."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracles import margin_by_clarabel
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import rosenblatt as rb

GAP = 1e-6  # what `certify` states unless asked otherwise
CLARABEL = 1e-9  # how near its answers are to the truth, relatively


def margin(kind, X, positive):
    """The maximum margin by Clarabel: a bias that is free, none, or one that is a weight as any other."""
    y = np.where(positive, 1, -1)
    if kind == "augmented":
        X = sp.hstack([X, np.ones((X.shape[0], 1))]) if sp.issparse(X) else np.hstack([X, np.ones((len(X), 1))])
    return margin_by_clarabel(X, y, intercept=kind == "free")


def check(X, positive, kinds, **options):
    """Each margin's bounds enclose Clarabel's answer, and are within the gap."""
    certificate = rb.certify(X, positive, **options)
    assert certificate.verify(X, positive)
    assert set(certificate.margins) == set(kinds)
    for kind, bounds in certificate.margins.items():
        expected = margin(kind, X, positive)
        assert bounds.lower <= expected * (1 + CLARABEL), kind
        assert bounds.upper >= expected * (1 - CLARABEL), kind
        assert bounds.lower <= bounds.upper and bounds.gap <= GAP, kind
    return certificate


def separable(n, d, *, offset, seed):
    """Gaussian rows at both sides of a plane, none nearer than 0.05; the plane is `offset` from the origin."""
    rng = np.random.default_rng([n, d, seed])
    X = rng.standard_normal((n, d)) / np.sqrt(d)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    positive = X @ w > 0
    X += np.outer(np.where(positive, 0.05, -0.05) + offset, w)
    return X, positive


def sparse_rows(n, d, *, seed):
    """Rows with half of their numbers zero, at both sides of a plane through the origin."""
    rng = np.random.default_rng([n, d, seed])
    X = np.where(rng.random((n, d)) < 0.5, 0, rng.standard_normal((n, d)))
    score = X @ rng.standard_normal(d)
    return X[np.abs(score) > 0.01], score[np.abs(score) > 0.01] > 0


ALL = "free", "origin", "augmented"
SIZES = [(10, 2), (60, 5), (500, 3), (300, 40), (40, 200), (2000, 20)]


@pytest.mark.parametrize("n, d", SIZES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_rows(n, d, dtype):
    X, positive = separable(n, d, offset=0.0, seed=1)
    check(X.astype(dtype), positive, ALL)
    X, positive = separable(n, d, offset=2.0, seed=2)  # from here on a plane through the origin may not do
    certificate = check(X.astype(dtype), positive, ALL if n < d else ("free", "augmented"))
    assert certificate.margins["augmented"].upper < certificate.margins["free"].upper


@pytest.mark.parametrize("n, d", SIZES)
def test_sparse_rows(n, d):
    X, positive = sparse_rows(n, d, seed=0)
    check(sp.csr_array(X), positive, ALL)
    check(sp.csc_matrix(X.astype(np.float32)), positive, ALL)


@pytest.mark.parametrize(
    "n, d, scale",
    [(200, 4, 1e-6), (200, 4, 1e6), (800, 10, 1e-3), (800, 10, 1e3), (800, 10, 1e-6)],
)
def test_rows_of_other_sizes(n, d, scale):
    X, positive = separable(n, d, offset=0.0, seed=3)
    plain, scaled = check(X, positive, ALL), check(X * scale, positive, ALL)
    for kind in ("free", "origin"):  # the constant feature is not scaled
        assert scaled.margins[kind].upper == pytest.approx(scale * plain.margins[kind].upper, rel=2 * GAP)


def test_columns_of_different_sizes():
    X, positive = separable(600, 6, offset=0.0, seed=4)
    check(X * [1e-3, 1e-2, 0.1, 1, 10, 100], positive, ALL)


def test_without_an_intercept():
    X, positive = separable(700, 7, offset=0.0, seed=5)
    with_bias, without = check(X, positive, ALL), check(X, positive, ALL, fit_intercept=False)
    assert without.margin == without.margins["origin"].lower and with_bias.margin == with_bias.margins["free"].lower


def breast_cancer():
    return load_breast_cancer(return_X_y=True)


def setosa():
    X, kind = load_iris(return_X_y=True)
    return X, kind == 0


def first_wine():
    X, kind = load_wine(return_X_y=True)
    return X, kind == 0


def zeros_and_ones():
    X, digit = load_digits(return_X_y=True)
    return X[digit < 2], digit[digit < 2]


@pytest.mark.parametrize("load", [breast_cancer, setosa, first_wine, zeros_and_ones])
def test_real_rows(load):
    X, y = load()
    check(X, y == 1, ALL)
