"""Streams for the tests of `train`: rows that come in batches of any size, and what `fit` makes of them at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from strategies import fitted

import rosenblatt as rb

ESTIMATORS = {"last": rb.Perceptron, "average": rb.AveragedPerceptron, "vote": rb.VotedPerceptron}


def cut(X: Any, y: Any, cuts: Any, weights: Any = None) -> list[Any]:
    """The rows in batches, cut before some rows."""
    parts = [part for part in np.split(np.arange(len(y)), sorted(cuts)) if len(part)]
    return [(X[part], y[part]) if weights is None else (X[part], y[part], weights[part]) for part in parts]


def whole(X: Any, y: Any, *, readout: str = "last", weights: Any = None, **options: Any) -> Any:
    """What `fit` learns from all rows."""
    given = {"shuffle": False, "max_iter": 1} | options
    return fitted(ESTIMATORS[readout](**given), X, y, sample_weight=weights)


def assert_same(model: Any, estimator: Any) -> None:
    """The arrays behind a trained model are, to the bit, those of an estimator."""
    one, other = model.learner.to_arrays(), estimator._learner.to_arrays()
    assert one.keys() == other.keys()
    for name, array in other.items():
        if name.startswith("support_values") or name == "support":
            array = array.astype(np.float64)
        assert one[name].shape == array.shape, name
        assert one[name].tobytes() == np.ascontiguousarray(array, one[name].dtype).tobytes(), name
    assert model.classes_.tolist() == estimator.classes_.tolist()
    assert model.mistakes_per_pass_.tolist() == estimator.mistakes_per_pass_.tolist()
    assert (model.n_iter_, model.n_updates_, model.converged_) == (
        estimator.n_iter_,
        estimator.n_updates_,
        estimator.converged_,
    )
    if model.separates_ is not None:
        assert model.separates_ == estimator.separates_


def svm_text(X: Any, y: Any, first: int = 1) -> str:
    """Rows as libsvm text."""
    rows = sp.csr_array(X)
    lines = []
    for i, label in enumerate(y):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        cells = [f"{c + first}:{v!r}" for c, v in zip(rows.indices[part].tolist(), rows.data[part].tolist())]
        lines.append(" ".join([str(label), *cells]))
    return "\n".join(lines) + "\n"
