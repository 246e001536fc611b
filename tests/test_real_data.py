"""Every set in the folder that ROSENBLATT_DATA names: the verdict of its PROVENANCE.md and of HiGHS, with a true proof.

HiGHS has half a minute for the whole set. Where that is not enough, it is asked about the rows that the certificate
names: if these cannot be separated, neither can all.
"""

import functools

import numpy as np
import pytest
from benchmarks import real_data
from benchmarks.real_data import Unavailable, libsvm, newsgroups, table, vowpal_wabbit
from oracles import separable_by_highs
from sklearn.datasets import load_breast_cancer

import rosenblatt as rb

pytestmark = pytest.mark.data

SECONDS = 30.0  # for HiGHS


def covtype():
    X, kind = table("covtype", "covtype.csv.gz", names=True)
    return X, kind == 2


def two_against_two():
    X, group = newsgroups(["rec.autos", "rec.motorcycles", "sci.med", "sci.space"])
    return X, np.char.startswith(group, "rec.")


def breast_cancer():
    return load_breast_cancer(return_X_y=True)


SETS = {  # name: loader, separable
    "20newsgroups: rec.autos, sci.space": (functools.partial(newsgroups, ["rec.autos", "sci.space"]), True),
    "20newsgroups: atheism, christian": (
        functools.partial(newsgroups, ["alt.atheism", "soc.religion.christian"]),
        True,
    ),
    "20newsgroups: two rec, two sci": (two_against_two, True),
    "a9a": (functools.partial(libsvm, "a9a", "a9a.gz"), False),
    "a9a.t": (functools.partial(libsvm, "a9a", "a9a.t.gz"), False),
    "agaricus train": (functools.partial(libsvm, "agaricus", "agaricus.txt.train"), True),
    "agaricus test": (functools.partial(libsvm, "agaricus", "agaricus.txt.test"), True),
    "banknote": (functools.partial(table, "banknote", "data_banknote_authentication.txt"), False),
    "breast cancer": (breast_cancer, True),
    "breast cancer, rounded": (functools.partial(table, "wdbc-rounded", "wdbc.dat.gz"), False),
    "covtype: 2": (covtype, False),
    "electricity": (functools.partial(table, "electricity", "elec.csv.gz", names=True), False),
    "imdb train": (functools.partial(real_data.imdb, "train"), True),
    "imdb test": (functools.partial(real_data.imdb, "test"), True),
    "mnist train: 0, 1": (functools.partial(real_data.mnist, "train", (0, 1)), True),
    "mnist t10k: 4, 9": (functools.partial(real_data.mnist, "t10k", (4, 9)), True),
    "mnist train: 3, 5": (functools.partial(real_data.mnist, "train", (3, 5)), False),
    "rcv1 train": (functools.partial(vowpal_wabbit, "rcv1_small_vw", "rcv1_small.dat", n_features=47_237), True),
    "rcv1 test": (functools.partial(vowpal_wabbit, "rcv1_small_vw", "rcv1_small_test.data", n_features=47_237), True),
    "reuters trn": (functools.partial(libsvm, "reuters-moneyfx", "reuters.trn.bz2"), False),
    "reuters tst": (functools.partial(libsvm, "reuters-moneyfx", "reuters.tst.bz2"), True),
    "sms spam": (real_data.sms_spam, True),
    "sonar": (functools.partial(table, "sonar", "sonar.csv"), True),
    "spambase": (functools.partial(table, "spambase", "spambase.data"), False),
}
LONG = {"imdb train", "imdb test"}  # a linear program beyond half a minute, even its presolve


@pytest.mark.parametrize("name", SETS)
def test_verdict(name):
    load, separable = SETS[name]
    X, y = loaded(load)
    certificate = rb.certify(X, y)
    assert certificate.verify(X, y)
    assert certificate.separable is separable
    positive = y == certificate.data.positive[0]
    verdict = None if name in LONG else separable_by_highs(X, positive, seconds=SECONDS)
    if verdict is None:
        named = certificate.support if separable else certificate.points
        verdict = separable_by_highs(X[named], positive[named], seconds=SECONDS)
    # On the named rows of two digits HiGHS ends without a verdict; the certificate was verified in exact arithmetic.
    assert verdict is separable or (verdict is None and "mnist" in name)


CONTRADICTORY = "a9a", "a9a.t", "electricity", "reuters trn", "spambase"


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_verdict_without_contradictions(name):
    """Two equal rows with opposite labels settle these sets; without any such rows the question is harder."""
    X, y = loaded(SETS[name][0])
    assert rb.certify(X, y).duplicates
    kept = ~contradicted(X, y)
    X, y = X[kept], y[kept]
    certificate = rb.certify(X, y)
    assert certificate.verify(X, y)
    assert certificate.separable is True or not certificate.duplicates
    assert certificate.separable is separable_by_highs(X, y == certificate.data.positive[0])


def loaded(load):
    try:
        return load()
    except Unavailable as reason:
        pytest.skip(str(reason))


def contradicted(X, y):
    """Which rows have an equal one with another label."""
    labels = {}
    keys = [row_key(X, i) for i in range(X.shape[0])]
    for key, label in zip(keys, y.tolist()):
        labels.setdefault(key, set()).add(label)
    return np.asarray([len(labels[key]) > 1 for key in keys])


def row_key(X, i):
    if isinstance(X, np.ndarray):
        return X[i].tobytes()
    part = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[part].tobytes(), X.data[part].tobytes()
