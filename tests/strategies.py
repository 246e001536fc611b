"""Data for the property tests: whole numbers, on which the engine and the textbook must agree to the last bit.

Rows repeat, rows are zero, scores tie: the cases in which a rule shows. What is drawn for the engine (shuffled order,
weights, storage) comes with what the textbook needs to do the same.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import _engine
from rosenblatt import textbook as tb

TIES = ("mistake", "positive", "negative")
MARGINS = (0.0, 0.0, 0.5, 1.0, 2.0, 16.0)  # dyadic, so that whole numbers stay exact
STORAGES = ("dense", "csr_matrix int32", "csr_array int32", "csr_array int64")


# ---- Rows and labels ----
@dataclass(frozen=True)
class DataSet:
    """Whole-numbered rows and the class of each."""

    X: list[list[int]]
    codes: list[int]
    n_classes: int

    def signs(self, positive: int = 1) -> list[int]:
        """+1 for one class, -1 for the others."""
        return [+1 if code == positive else -1 for code in self.codes]

    @property
    def positives(self) -> list[int]:
        """The positive class of each binary problem: one problem for two classes, else a problem each."""
        return [1] if self.n_classes == 2 else list(range(self.n_classes))


small = st.integers(-4, 4)


@st.composite
def rows(draw: Any, n: int, d: int) -> list[list[int]]:
    """n rows of d small integers; some are drawn twice, some are zero."""
    if d > 5:  # wide rows only exercise more lanes; their numbers need not shrink
        rng = np.random.default_rng(draw(st.integers(0, 2**16)))
        return rng.integers(-3, 4, (n, d)).tolist()
    row = st.lists(small, min_size=d, max_size=d)
    pool = [*draw(st.lists(row, min_size=1, max_size=n)), [0] * d]
    return draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))


@st.composite
def data_sets(draw: Any, n_classes: Any = 2, max_rows: int = 10) -> DataSet:
    """Any rows with any labels; every class occurs."""
    k = draw(n_classes) if isinstance(n_classes, st.SearchStrategy) else n_classes
    n = draw(st.integers(k, max_rows))
    d = draw(st.sampled_from((1, 2, 3, 4, 5, 2, 3, 7, 8, 9, 33, 40)))
    codes = draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k)) + list(range(k))
    return DataSet(draw(rows(n, d)), draw(st.permutations(codes)), k)


@dataclass(frozen=True)
class Separable:
    """Rows and labels -1, +1 with a hyperplane that gave them: y(w . x + b) >= 1 everywhere."""

    X: list[list[int]]
    y: list[int]
    w: list[int]
    b: int


@st.composite
def separable(draw: Any, intercept: bool = True, max_rows: int = 14) -> Separable:
    """Rows of both classes, none of them on the hyperplane that labels them."""
    d = draw(st.integers(1, 5))
    vector = st.lists(st.integers(-5, 5), min_size=d, max_size=d)
    w, b = draw(vector), draw(st.integers(-5, 5)) if intercept else 0
    X = [x for x in draw(st.lists(vector, min_size=2, max_size=max_rows)) if tb.dot(w, x) + b != 0]
    y = [tb.sign(tb.dot(w, x) + b) for x in X]
    assume(len(set(y)) == 2)
    return Separable(X, y, w, b)


# ---- The choices that the notes leave open ----
@dataclass(frozen=True)
class Setting:
    """One combination of the choices, and how the rows are stored."""

    tie: str
    fit_intercept: bool
    shuffle: bool
    restart: bool
    max_iter: int
    max_updates: int | None
    eta0: float
    seed: int
    weights: list[int] | None
    dtype: str
    storage: str
    n_jobs: int
    margin: float = 0.0
    coef_init: Any = None  # of the shape of coef_
    intercept_init: Any = None
    visited: list[int] = field(default_factory=list)

    def parameters(self) -> dict[str, Any]:
        """For an estimator."""
        names = ("tie", "fit_intercept", "shuffle", "restart", "max_iter", "max_updates", "eta0", "margin", "n_jobs")
        return {name: getattr(self, name) for name in names} | {"random_state": self.seed}

    def first_guess(self) -> dict[str, Any]:
        """For `fit`."""
        return {} if self.coef_init is None else {"coef_init": self.coef_init, "intercept_init": self.intercept_init}

    def order(self, pass_: int) -> list[int]:
        """The rows of a pass, in the engine's order: rows of weight 0 are left out, then the rest is shuffled."""
        if not self.shuffle:
            return self.visited
        return [self.visited[i] for i in _engine.order(self.seed, pass_, len(self.visited))]

    def for_the_textbook(self, vector: int = 0) -> dict[str, Any]:
        """For `textbook.perceptron`."""
        names = ("tie", "fit_intercept", "restart", "max_iter", "max_updates", "eta0", "margin", "weights")
        given = {name: getattr(self, name) for name in names} | {"order": self.order}
        if self.coef_init is None:
            return given
        return given | {"w": self.coef_init[vector], "b": self.intercept_init[vector]}

    def stored(self, X: Any) -> Any:
        """The rows, as they are stored."""
        return stored(X, self.dtype, self.storage)


@st.composite
def settings_for(
    draw: Any, data: DataSet, first_guess: bool = True, restart: bool = True, margin: bool = True
) -> Setting:
    """Any combination of the choices for a data set."""
    n, d = len(data.X), len(data.X[0])
    how = draw(st.sampled_from(("shuffled", "cycle", "restart") if restart else ("shuffled", "cycle")))
    weights = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    visited = [i for i in range(n) if weights is None or weights[i] != 0]
    assume(len({data.codes[i] for i in visited}) >= 2)
    fit_intercept = draw(st.booleans())
    coef = intercept = None
    if first_guess and draw(st.booleans()):
        vectors = len(data.positives)
        coef = draw(st.lists(st.lists(small, min_size=d, max_size=d), min_size=vectors, max_size=vectors))
        intercept = draw(st.lists(small if fit_intercept else st.just(0), min_size=vectors, max_size=vectors))
    return Setting(
        tie=draw(st.sampled_from(TIES)),
        fit_intercept=fit_intercept,
        shuffle=how == "shuffled",
        restart=how == "restart",
        max_iter=draw(st.integers(1, 12)),
        max_updates=draw(st.none() | st.integers(1, 8)),
        eta0=draw(st.sampled_from((1.0, 0.25, 0.5, 2.0, 4.0))),
        seed=draw(st.integers(0, 2**32 - 1)),
        weights=weights,
        dtype=draw(st.sampled_from(("float64", "float32"))),
        storage=draw(st.sampled_from(STORAGES)),
        n_jobs=draw(st.sampled_from((1, 2))),
        margin=draw(st.sampled_from(MARGINS)) if margin else 0.0,
        coef_init=coef,
        intercept_init=intercept,
        visited=visited,
    )


@st.composite
def problems(draw: Any, n_classes: Any = 2, **options: Any) -> tuple[DataSet, Setting]:
    """A data set and a combination of the choices."""
    data = draw(data_sets(n_classes))
    return data, draw(settings_for(data, **options))


# ---- Storage, and fitting without the warning ----
def stored(X: Any, dtype: str = "float64", storage: str = "dense") -> Any:
    """Rows as an array, or as CSR with indices of a given type."""
    array = np.asarray(X, dtype=dtype)
    if storage == "dense":
        return array
    kind, index = storage.split()
    sparse = getattr(sp, kind)(array)
    sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
    return sparse


def fitted(model: Any, X: Any, y: Any, **more: Any) -> Any:
    """The model after `fit`, without the warning that it has not converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **more)


def noisy(n: int, d: int, seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Float rows that no hyperplane separates: classes with centres of their own, and a fifth of wrong labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = range(n_classes)
    X = rng.normal(size=(n, d)) + rng.normal(size=(n_classes, d))[y]
    wrong = rng.random(n) < 0.2
    wrong[:n_classes] = False
    return X, np.where(wrong, rng.integers(0, n_classes, n), y)


# ---- Real data, in the folder that ROSENBLATT_DATA names ----
def data_file(*parts: str) -> Path:
    """The path of a data set, or a skip that says what is missing."""
    folder = os.environ.get("ROSENBLATT_DATA")
    if not folder:
        pytest.skip("ROSENBLATT_DATA does not name the folder of the real data sets")
    path = Path(folder).joinpath(*parts)
    if not path.exists():
        pytest.skip(f"there is no {path}")
    return path
