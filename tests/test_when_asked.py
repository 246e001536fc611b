"""What a certificate computes when it is first asked for is what it would have said at once."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import rosenblatt as rb
from rosenblatt.checking import canonical
from rosenblatt.deciding import verdicts
from rosenblatt.errors import InputError


def separable_rows(n=300, d=4, classes=2):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, d)) + 5
    y = np.digitize(X[:, 0], np.linspace(4.2, 5.8, classes - 1)) if classes > 2 else (X @ np.arange(1, d + 1) > 50) * 1
    X[:, 0] += 9 * y
    return X, y


@pytest.fixture
def later(monkeypatch):
    """Nothing is so small that it is computed at once."""

    def choose(yes):
        monkeypatch.setattr(verdicts, "_COMPARED_AT_ONCE", 0 if yes else 100_000)

    choose(True)
    return choose


ASKED = [
    lambda c: c.margins["augmented"].lower,
    lambda c: list(c.margins),
    lambda c: c.mistake_bound,
    lambda c: {name: str(bound) for name, bound in c.mistake_bounds.items()},
    lambda c: c.centre.tolist(),
    lambda c: c.centred_radius,
    lambda c: str(c),
    lambda c: c.to_json(),
    lambda c: hash(c),
    lambda c: pickle.loads(pickle.dumps(c)).to_json(),
    lambda c: copy.deepcopy(c).to_json(),
    lambda c: replace(c, radius=c.radius).to_json(),
    lambda c: c.mistake_bound_from([1, 2, 3, 4]),
]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("intercept", [True, False])
def test_whatever_is_asked_first_the_answer_is_the_same(later, ask, intercept):
    X, y = separable_rows()
    asked = rb.certify(X, y, fit_intercept=intercept, exact=False)
    later(False)
    at_once = rb.certify(X, y, fit_intercept=intercept, exact=False)
    assert asked.separable and asked.later is not None and at_once.later is None
    assert ask(asked) == ask(at_once)
    assert asked == at_once and asked.later is None and set(asked.margins) == {"free", "origin", "augmented"}


def test_the_margin_asked_for_needs_nothing_more(later):
    X, y = separable_rows()
    certificate = rb.certify(X, y)
    shown = repr(certificate), certificate.margin, certificate.gap < 1, certificate.hyperplane, certificate.canonical
    assert all(shown) and len(certificate.support) and certificate.later is not None
    with pytest.raises(AttributeError, match="no attribute 'margin_s'"):
        certificate.margin_s  # noqa: B018


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array], ids=["float64", "float32", "sparse"])
def test_rows_that_were_changed_are_refused(later, form):
    X, y = separable_rows()
    X = form(X)
    certificate, before = rb.certify(X, y), X.copy()
    values = X.data if sp.issparse(X) else X
    values[...] = values * 2
    for ask in (str, rb.certificates.Certificate.to_json, lambda c: c.mistake_bound, lambda c: c.centre):
        with pytest.raises(InputError, match=r"X was changed in place after it was certified.*certify it anew"):
            ask(certificate)
    assert certificate.margin > 0
    assert "another data set" in certificate.verify(X, y).why  # which still can be said
    assert certificate.verify(before, y)
    values[...] = before.data if sp.issparse(X) else before
    assert certificate.verify(X, y) and set(certificate.margins) == {"free", "origin", "augmented"}


def test_pairs_of_classes_and_threads(later):
    X, y = separable_rows(classes=4)
    tables = [rb.certify(X, y, multi_class="ovo", exact=False, n_jobs=jobs) for jobs in (None, 1, 2)]
    later(False)
    expected = rb.certify(X, y, multi_class="ovo", exact=False)
    assert expected.separable and len(expected) == 6
    for table in tables:
        assert dict(table) == dict(expected)
        assert table.verify(X, y)


def test_the_digest_of_the_rows_is_made_once(monkeypatch):
    calls, made = [], canonical.rows_digest
    monkeypatch.setattr(canonical, "rows_digest", lambda *a, **k: calls.append(1) or made(*a, **k))
    X, y = separable_rows(classes=4)
    table = rb.certify(X, y)
    assert len(calls) == 1 and len({certificate.digest for certificate in table.values()}) == 4
    monkeypatch.undo()
    assert table.verify(X, y)


def test_beyond_a_size_only_the_margin_asked_for_is_stated(later, monkeypatch):
    monkeypatch.setattr(verdicts, "_COMPARED", 1_000)
    X, y = separable_rows()
    certificate = rb.certify(X, y)
    assert list(certificate.margins) == ["free"] and certificate.centre is None
    assert certificate.mistake_bound > 0 and certificate.verify(X, y)


def test_rows_of_two_kinds_that_change_places_have_another_digest():
    X = np.array([[1.0] * 8, [1.0] + [0.0] * 7])
    signs = np.ones(2, np.int8)
    digests = {canonical.digest(canonical.exact_rows(form(rows)), signs) for rows in (X, X[::-1]) for form in FORMS}
    assert len(digests) == 2


FORMS = [np.asarray, np.float32, sp.csr_array, sp.csc_array, lambda X: np.asarray(X, order="F"), lambda X: X.tolist()]
