"""scikit-learn from a file to a model, in a process of its own: what its users write, and no more imported than that.

Rows of numbers: ``load_svmlight_file`` and ``Perceptron``, which shuffles, as it does unless told otherwise; in between
the 64-bit indices that the one gives are made the 32-bit ones that the other (from 1.9 on) insists on. Texts: the csv
module, ``HashingVectorizer`` and ``SGDClassifier.partial_fit`` in batches of 1,000 texts, the way for texts larger than
memory. Its model is not saved.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks import timing
from benchmarks.timing import Call

_ROWS = """
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Perceptron
X, y = load_svmlight_file({data!r})
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
model = Perceptron(max_iter={passes}, tol=None, random_state=0).fit(X, y)
"""
_SCORE_ROWS = """
X, y = load_svmlight_file({held_out!r}, n_features=X.shape[1])
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
print(model.score(X, y))
"""
_TEXTS = """
import csv, itertools
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
vectorizer, model = HashingVectorizer(n_features=2**18), SGDClassifier(random_state=0)
def batches(path):
    with open(path, newline="", encoding="utf-8") as lines:
        csv.field_size_limit(1 << 24)
        rows = csv.reader(lines)
        next(rows)  # the names of the columns
        while batch := list(itertools.islice(rows, 1000)):
            labels, texts = zip(*batch)
            yield vectorizer.transform(texts), labels
for X, y in batches({data!r}):
    model.partial_fit(X, y, classes={classes!r})
"""
_SCORE_TEXTS = """
right = [(model.predict(X) == y).tolist() for X, y in batches({held_out!r})]
print(sum(map(sum, right)) / sum(map(len, right)))
"""


def train_rows(data: Path, *, passes: int = 1) -> Call:
    """The whole file into memory, then the passes."""
    return timing.process("-W", "ignore", "-c", _ROWS.format(data=str(data), passes=passes))


def accuracy_of_rows(data: Path, held_out: Path, *, passes: int = 1) -> float:
    """The same again, outside the clock, and then the share of right predictions."""
    return _printed((_ROWS + _SCORE_ROWS).format(data=str(data), held_out=str(held_out), passes=passes))


def train_texts(data: Path, classes: list[str]) -> Call:
    """One pass over the texts."""
    return timing.process("-W", "ignore", "-c", _TEXTS.format(data=str(data), classes=classes))


def accuracy_of_texts(data: Path, held_out: Path, classes: list[str]) -> float:
    """The same again, outside the clock, and then the share of right predictions."""
    return _printed((_TEXTS + _SCORE_TEXTS).format(data=str(data), held_out=str(held_out), classes=classes))


def _printed(source: str) -> float:
    command = [sys.executable, "-W", "ignore", "-c", source]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
