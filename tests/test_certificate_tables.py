"""Tables of certificates: what they may hold, and that a forged one is refused."""

import json
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

import rosenblatt as rb
from rosenblatt.errors import InputError


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, y, rb.certify(X, y)


def forged(table, change):
    text = json.loads(table.to_json())
    change(text["certificates"])
    return json.dumps(text)


def copy_the_first(entries):
    for entry in entries[1:]:
        entry["certificate"] = entries[0]["certificate"]


@pytest.mark.parametrize(
    "change",
    [
        copy_the_first,
        lambda entries: entries.pop(),
        lambda entries: entries[0].update(key=["nonsense", "x", "y"]),
        lambda entries: entries[0].update(key=[]),
        lambda entries: entries[0].update(key=[0, 1]),
        lambda entries: entries[0].update(key=7),
    ],
)
def test_a_forged_table_is_refused(iris, change):
    with pytest.raises(InputError, match=r"in a table|a table must|speaks of"):
        rb.certificate_from_json(forged(iris[2], change))


def test_a_pair_that_is_missing_is_missed(iris):
    X, y, _ = iris
    pairs = rb.certify(X, y, multi_class="ovo")
    assert rb.certificate_from_json(pairs.to_json()) == pairs
    with pytest.raises(InputError, match="for each pair of classes"):
        rb.certificate_from_json(forged(pairs, lambda entries: entries.pop()))


def test_a_joint_certificate_is_no_entry(iris):
    with pytest.raises(InputError, match="a certificate of two sides"):
        rb.CertificateTable({0: iris[2].joint, 1: iris[2][1], 2: iris[2][2]})


def test_asking_for_the_joint_answer_changes_neither_equality_nor_hash(iris):
    table = iris[2]
    later = rb.CertificateTable(dict(table), lambda: table.joint)
    before = hash(later)
    assert later.joint == table.joint and hash(later) == before == hash(table) and later == table


def test_tables_are_copied(iris):
    X, y, table = iris
    again = pickle.loads(pickle.dumps(table))
    assert again == table and again.joint == table.joint and again.verify(X, y)
    later = pickle.loads(pickle.dumps(rb.CertificateTable(dict(table), lambda: table.joint)))
    with pytest.raises(InputError, match="without a joint certificate"):
        _ = later.joint


def test_labels_cannot_steer_a_terminal():
    X = np.eye(3)
    assert "\x1b" not in str(rb.certify(X, ["a\x1b[31m\nb", "c", "d"]))
