"""The data that is measured on, generated from fixed seeds or read from files, outside measured calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks import real_data

FLIPPED = 0.05  # the share of wrong labels in noisy data, so that every pass makes mistakes
HELD_OUT = 20_000
_BLOCK = 100_000


@dataclass(frozen=True)
class Data:
    """Rows with their labels, rows held out, and the plane that made the labels (if one did)."""

    X: Any
    y: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]
    w: NDArray[np.float64] | None = None


# One at a time: the next case on the same data finds it made; one on other data lets the memory go.
@lru_cache(maxsize=1)
def dense(n: int, d: int, *, noisy: bool) -> Data:
    """Normal float32 rows, labelled by a random plane through the origin."""
    random = np.random.default_rng([n, d])
    w = random.standard_normal(d) / np.sqrt(d)
    X, X_test = (random.standard_normal((rows, d), dtype=np.float32) for rows in (n, HELD_OUT))
    return _labelled(X, X_test, w, random, noisy)


@lru_cache(maxsize=1)
def sparse(n: int, d: int, per_row: int, dtype: str, *, noisy: bool) -> Data:
    """CSR rows of length 1, as tf-idf makes them: `per_row` positive values in columns from all over."""
    random = np.random.default_rng([n, d, per_row])
    w = random.standard_normal(d)
    X, X_test = (_csr(rows, d, per_row, np.dtype(dtype), random) for rows in (n, HELD_OUT))
    return _labelled(X, X_test, w, random, noisy)


def _csr(n: int, d: int, per_row: int, dtype: np.dtype[Any], random: np.random.Generator) -> csr_array:
    edges = np.linspace(0, d, per_row + 1).astype(np.int32)  # a column from each stratum: none twice
    columns = random.integers(edges[:-1], edges[1:], size=(n, per_row), dtype=np.int32)
    values = random.exponential(size=(n, per_row))
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    starts = np.arange(n + 1, dtype=np.int32) * np.int32(per_row)
    return csr_array((values.astype(dtype).ravel(), columns.ravel(), starts), shape=(n, d))


def _labelled(X: Any, X_test: Any, w: NDArray[np.float64], random: np.random.Generator, noisy: bool) -> Data:
    y, y_test = ((scores(rows, w) > 0).astype(np.int64) for rows in (X, X_test))
    if noisy:
        y ^= random.random(len(y)) < FLIPPED
    return Data(X, y, X_test, y_test, w)


def scores(X: Any, w: NDArray[np.float64]) -> NDArray[np.float64]:
    """X @ w in float64, converting a block of float32 rows at a time."""
    return np.concatenate([block.astype(np.float64) @ w for block in _blocks(X)])


def _blocks(X: Any) -> Iterator[Any]:
    return (X[first : first + _BLOCK] for first in range(0, X.shape[0], _BLOCK))


@lru_cache(maxsize=1)
def mnist(n: int) -> Data:
    """The first n handwritten digits, float32, scaled to [0, 1]; the 10,000 test digits are held out."""
    (X, y), (X_test, y_test) = (real_data.mnist(part) for part in ("train", "t10k"))
    scale = np.float32(255)
    return Data(X[:n] / scale, y[:n].astype(np.int64), X_test / scale, y_test.astype(np.int64))


@lru_cache(maxsize=1)
def letters(divisor: int) -> Data:
    """Letters to 20 newsgroups, every divisor-th: tf-idf of words seen twice, CSR, 20 classes; later ones held out."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    (texts, groups), (texts_test, groups_test) = (real_data.newsgroup_texts(part=part) for part in ("train", "test"))
    order = np.random.default_rng(0).permutation(len(texts))[::divisor].tolist()
    words = TfidfVectorizer(min_df=2)
    X, X_test = words.fit_transform([texts[i] for i in order]), words.transform(texts_test)
    names, y = np.unique([groups[i] for i in order], return_inverse=True)
    return Data(X, y.astype(np.int64), X_test, np.searchsorted(names, groups_test).astype(np.int64))


# Real data with labels -1 and +1: every divisor-th row ----------------------------------------------------------------


@lru_cache(maxsize=1)
def a9a(divisor: int) -> tuple[Any, NDArray[np.float64]]:
    """Incomes above and below 50,000 dollars: 32,561 × 123 binary features, CSR."""
    X, y = real_data.libsvm("a9a", "a9a.gz")
    return X[::divisor], y[::divisor]


@lru_cache(maxsize=1)
def spambase(divisor: int) -> tuple[Any, NDArray[np.float64]]:
    """Spam and other mail: 4,601 × 57 frequencies, standardised."""
    X, y = real_data.table("spambase", "spambase.data")
    return _standardised(X[::divisor]), np.where(y[::divisor] > 0, 1.0, -1.0)


@lru_cache(maxsize=1)
def covtype(divisor: int) -> tuple[Any, NDArray[np.float64]]:
    """Lodgepole pine against other forests: 581,012 × 54, standardised."""
    X, y = real_data.table("covtype", "covtype.csv.gz", names=True)
    return _standardised(X[::divisor]), np.where(y[::divisor] == 2, 1.0, -1.0)


@lru_cache(maxsize=1)
def newsgroups(divisor: int) -> tuple[Any, NDArray[np.float64]]:
    """Computers and science against the rest of 20 newsgroups: tf-idf of words seen twice, CSR, 18,846 texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, groups = real_data.newsgroup_texts()
    X = TfidfVectorizer(min_df=2).fit_transform(texts[::divisor])
    return X, np.where([group.startswith(("comp", "sci")) for group in groups[::divisor]], 1.0, -1.0)


def _standardised(X: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
