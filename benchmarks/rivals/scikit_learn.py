"""scikit-learn's ``Perceptron``. For float32 rows its weights are float32 too; ours are always float64."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import Perceptron

import rosenblatt as rb
from benchmarks.data import Data

SAMPLE = 20_000


def perceptron(**parameters: Any) -> Perceptron:
    """With its stopping rule off, so that it makes the passes that it is asked for, as ours does."""
    return Perceptron(tol=None, random_state=0, **parameters)


def same_weights(data: Data, passes: int) -> str:
    """Unshuffled on float64 rows the weights must be equal, to the bit.

    On sparse rows scikit-learn shortens the steps of the intercept a hundredfold: compared without one.
    """
    X, y = data.X[:SAMPLE].astype(np.float64), data.y[:SAMPLE]
    choices = {"max_iter": passes, "shuffle": False, "fit_intercept": isinstance(X, np.ndarray)}
    ours, peer = rb.Perceptron(**choices).fit(X, y), perceptron(**choices).fit(X, y)
    assert np.array_equal(ours.coef_, peer.coef_), "other weights than scikit-learn's"
    assert np.array_equal(ours.intercept_, peer.intercept_), "another intercept than scikit-learn's"
    return f"coef_ equal on {X.shape[0]:,} float64 rows"
