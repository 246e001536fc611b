"""What `certify` refuses, in which words; and what it says when its time is up."""

import itertools
import math
import re
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import rosenblatt as rb
from rosenblatt.errors import InputError

LARGE = 2**53  # up to here float64 holds every integer


@pytest.mark.parametrize(
    "X, y, options, message",
    [
        ([[0.0, np.nan], [1.0, 2.0]], [0, 1], {}, "row 0, feature 1"),
        ([[0.0], [np.inf]], [0, 1], {}, "infinity"),
        ([[0.0], [1.0]], [1, 1], {}, "one class, 1: with an intercept .* nothing to certify"),
        ([[0.0], [1.0]], [1, 1], {"fit_intercept": False}, "one class, 1.*Through the origin"),
        ([[0.0]], ["yes"], {}, "one class, 'yes'"),
        ([[2**53 + 1], [0]], [0, 1], {}, "cannot hold exactly"),
        ([[0.0], [1.0]], [0, 1, 1], {}, "inconsistent numbers"),
        ([[0.0], [1.0]], [0, np.nan], {}, r"Input y contains NaN or infinity: y\[1\]"),
        ([[0.0], [1.0]], [0, None], {}, r"y\[1\] is None: every row needs a label"),
        ([["a"], ["b"]], [0, 1], {}, "not a number"),
        ([0.0, 1.0], [0, 1], {}, "X must have two dimensions"),
        ([[1j], [0]], [0, 1], {}, "Complex data not supported"),
        ([[0.0], [1.0]], [0, 1], {"gap": 0}, "'gap' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"gap": math.nan}, "'gap' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"exact": "yes"}, "'exact' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"time_limit": -1}, "'time_limit' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"time_limit": math.nan}, "'time_limit' parameter of certify"),
        ([[0.0], [1.0]], [0, 1], {"multi_class": "all"}, "'multi_class' parameter of certify"),
        ([[1.7e308, 1.7e308], [-1.7e308, -1.7e308]], [0, 1], {}, "longer than float64 can say"),
    ],
)
def test_bad_input_is_refused_in_words(X, y, options, message):
    with pytest.raises(InputError, match=message):
        rb.certify(X, y, **options)


def frame(values, library=pd):
    """A data frame with named columns, of the values' own type."""
    return library.DataFrame({f"x{j}": column for j, column in enumerate(np.asarray(values).T)})


NO_NUMBER = [[0.0, 1.0], [2.0, math.nan], [1.0, 3.0]]


@pytest.mark.parametrize(
    "X",
    [
        NO_NUMBER,
        np.asarray(NO_NUMBER),
        np.asarray(NO_NUMBER, np.float32),
        np.asfortranarray(NO_NUMBER),
        np.asarray([[0, 1], [2, None], [1, 3]], dtype=object),
        sp.csr_array(NO_NUMBER),
        sp.csc_matrix(NO_NUMBER),
        sp.coo_array(NO_NUMBER),
        frame(NO_NUMBER),
        frame(NO_NUMBER, pl),
        pd.DataFrame({"a": [0, 2, 1], "b": pd.array([1, None, 3], dtype="Int64")}),
        pl.DataFrame({"a": [0, 2, 1], "b": [1, None, 3]}),
    ],
    ids=lambda X: type(X).__name__,
)
def test_what_is_no_number_is_named_in_any_form(X):
    with pytest.raises(InputError, match=r"Input X contains NaN: row 1, feature 1 .*is nan"):
        rb.certify(X, [0, 1, 1])


NO_ROWS = [np.empty((0, 2)), sp.csr_array((0, 2)), frame(np.empty((0, 2))), frame(np.empty((0, 2)), pl)]
NO_FEATURES = [np.empty((3, 0)), sp.csr_array((3, 0)), pd.DataFrame(index=range(3)), [[], [], []]]


@pytest.mark.parametrize("X", NO_ROWS, ids=lambda X: type(X).__name__)
def test_no_rows(X):
    with pytest.raises(InputError, match=r"0 sample\(s\) .* minimum of 1 is required by a certificate"):
        rb.certify(X, [])


@pytest.mark.parametrize("X", NO_FEATURES, ids=lambda X: type(X).__name__)
def test_no_features(X):
    with pytest.raises(InputError, match=r"0 feature\(s\) .* minimum of 1 is required by a certificate"):
        rb.certify(X, [0, 1, 1])


# ---- Numbers that float64 does not hold ----
FORMS = [
    lambda rows: rows,
    lambda rows: tuple(map(tuple, rows)),
    lambda rows: np.asarray(rows, np.int64),
    lambda rows: np.asarray(rows, np.uint64),
    lambda rows: np.asarray(rows, object),
    lambda rows: np.asfortranarray(np.asarray(rows, np.int64)),
    lambda rows: sp.csr_matrix(np.asarray(rows, np.int64)),
    lambda rows: sp.csc_array(np.asarray(rows, np.uint64)),
    lambda rows: sp.coo_array(np.asarray(rows, np.int64)),
    lambda rows: frame(np.asarray(rows, np.int64)),
    lambda rows: frame(np.asarray(rows, np.uint64)),
    lambda rows: frame(np.asarray(rows, object)),
    lambda rows: frame(np.asarray(rows, np.int64)).astype("Int64"),
    lambda rows: frame(np.asarray(rows, np.uint64)).astype("UInt64"),
    lambda rows: frame(np.asarray(rows, np.int64)).astype({"x0": np.float64}),  # its to_numpy would be of floats
    lambda rows: frame(np.asarray(rows, np.int64), pl),
    lambda rows: frame(np.asarray(rows, np.uint64), pl),
    lambda rows: frame(np.asarray(rows, np.int64), pl).cast({"x0": pl.Float32}),
    lambda rows: pd.DataFrame(rows),
    lambda rows: np.asarray(rows).astype(str),
    lambda rows: np.asarray([[str(value) for value in row] for row in rows], object),
]


@pytest.mark.parametrize("form", FORMS)
def test_integers_that_would_be_rounded_are_refused(form):
    for number in (LARGE + 1, 2**62 + 1):
        message = f"row 2, feature 1 of X is {number}, which float64 cannot hold exactly (integers: up to 2**53)"
        with pytest.raises(InputError, match=re.escape(message)):
            rb.certify(form([[0, 1], [5, 2], [3, number]]), [0, 1, 1])


@pytest.mark.parametrize("form", FORMS)
def test_large_integers_that_float64_holds_are_used(form):
    X, y = form([[0, LARGE], [0, LARGE + 2], [0, LARGE - 1], [0, 2**62]]), [0, 1, 0, 1]
    certificate = rb.certify(X, y)
    assert certificate.separable and certificate.margin_squared == 1 and certificate.verify(X, y)


def test_integers_at_the_ends_of_their_types():
    for X in (np.asarray([[-(2**63)], [0]]), [[-(2**100)], [0]], np.asarray([[2**100], [0]], dtype=object)):
        assert rb.certify(X, [0, 1]).separable
    with pytest.raises(InputError, match="X is 18446744073709551615, which float64 cannot hold"):
        rb.certify(np.asarray([[2**64 - 1], [0]], np.uint64), [0, 1])
    with pytest.raises(InputError, match="X is -9223372036854775807, which float64 cannot hold"):
        rb.certify(np.asarray([[-(2**63) + 1], [0]]), [0, 1])
    with pytest.raises(InputError, match=r"X is 1000.*0, which float64 cannot hold"):
        rb.certify([[10**400], [0]], [0, 1])


def test_fractions_and_decimals():
    X, y = [[Fraction(1, 4)], [Decimal("0.5")]], [0, 1]
    assert rb.certify(X, y).margin_squared == Fraction(1, 64)
    for number in (Fraction(1, 3), Decimal("0.1")):
        with pytest.raises(InputError, match=f"row 1, feature 0 of X is {number}, which float64 cannot hold"):
            rb.certify([[0], [number]], y)


def test_parts_of_a_sparse_number_that_add_up_to_more():
    parts = sp.coo_array((np.asarray([LARGE, LARGE, 1]), ([0, 1, 1], [0, 0, 0])), shape=(2, 1))
    with pytest.raises(InputError, match="cannot hold exactly"):
        rb.certify(parts, [0, 1])


def test_a_frame_of_more_features_than_rows_without_names():
    X, y = np.random.default_rng(0).normal(size=(5, 30)), [0, 1, 0, 1, 1]
    assert rb.certify(pd.DataFrame(X), y) == rb.certify(X, y)


def test_no_threads():
    with pytest.raises(InputError, match="'n_jobs' parameter"):
        rb.certify([[0.0], [1.0]], [0, 1], n_jobs=0)


# ---- Time ----
def rows_of(kind):
    """Two classes on the sides of a plane through the origin, in a form; in a frame three, one between the others."""
    rng = np.random.default_rng(0)
    n, d = {"dense": (900, 40), "sparse": (900, 30), "wide": (800, 900), "frame": (900, 30)}[kind]
    X = rng.normal(size=(n, d))
    if kind in ("sparse", "wide"):
        X[rng.random(X.shape) < 0.7] = 0
    score = X @ rng.normal(size=d)
    if kind == "frame":
        return frame(X), np.digitize(score, [-1, 1])
    return X if kind == "dense" else sp.csr_array(X), (score > 0).astype(int)


@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
def test_a_time_limit_that_has_passed_at_once(kind):
    X, y = rows_of(kind)
    found = rb.certify(X, y, time_limit=0, multi_class="ovo")
    for certificate in found.values() if kind == "frame" else [found]:
        assert certificate.separable is None and certificate.why == "the time limit was reached"
        assert certificate.verify(X, y) and rb.certificate_from_json(certificate.to_json()) == certificate
        assert certificate.lower <= 0 < certificate.upper
        assert "time limit" in str(certificate)
        with pytest.raises(InputError, match="undecided"):
            bool(certificate)
    if kind == "frame":
        assert list(found) == [(0, 1), (0, 2), (1, 2)] and found.separable is None
        assert repr(found) == "<CertificateTable: 0 separable, 0 not, 3 undecided>"
        assert all("undecided, margin at most" in line for line in str(found).splitlines()[:3])


@pytest.mark.parametrize("kind", ["dense", "sparse", "frame", pytest.param("wide", marks=pytest.mark.slow)])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_time_limit_that_passes_midway(kind, flipped, monkeypatch):
    """By a clock that moves on by a second whenever it is looked at: the limit passes at each place in turn."""
    X, y = rows_of(kind)
    if flipped:
        y[:40] = y[:40][::-1].copy()
        X = X[:, :620] if kind == "wide" else X
    expected = rb.certify(X, y, multi_class="ovo")
    verdicts = []
    for limit in (1, 2, 3, 5, 8, 13, 4096):
        ticks = itertools.count()
        monkeypatch.setattr(time, "monotonic", lambda ticks=ticks: next(ticks))
        found = rb.certify(X, y, multi_class="ovo", time_limit=limit)
        monkeypatch.undo()
        for key in found if kind == "frame" else [None]:
            certificate, whole = (found, expected) if key is None else (found[key], expected[key])
            assert certificate.verify(X, y)
            assert certificate.separable in (None, whole.separable)
            if certificate.separable is None:
                assert certificate.why == "the time limit was reached" and certificate.lower <= certificate.upper
            verdicts.append(certificate.separable)
    assert (flipped or None in verdicts) and verdicts[-1] is not None
