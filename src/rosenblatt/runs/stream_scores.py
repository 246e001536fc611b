"""Scores of rows under what a run has learned, without scipy: the engine's products, a vector at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.learner import Learner
from rosenblatt.learning import joint_predicted
from rosenblatt.row_forms import sparse_rows
from rosenblatt.runs.row_batches import RowBatch

_LANES = 8


class Scorer:
    """Scores batches with whatever predicts: the last vectors, their averages, or the vote of all."""

    def __init__(self, learner: Learner, tie: str, fit_intercept: bool) -> None:
        self.learner, self.tie, self.fit_intercept = learner, tie, fit_intercept
        vectors, self._offsets, self._divisors = learner.predictors()
        self._vectors = _padded(vectors, learner.n_features)

    def scores(self, batch: RowBatch) -> FloatArray:
        """A column for two classes or else one for each class; features that were never seen count nothing."""
        return self.scores_of(batch.as_wide_as(self.learner.n_features), batch.n_features)

    def scores_of(self, batch: RowBatch, n_features: int) -> FloatArray:
        """The same for rows that are as wide as need be."""
        d = self.learner.n_features
        if self.learner.votes is not None:
            return self.learner.scores(scipy_rows(batch, d), self.tie, self.fit_intercept)
        if batch.dense is not None and n_features > d:
            raise InputError(f"the rows have {n_features} features, and the model has learned from {d}")
        if n_features > self._vectors.shape[1]:
            self._vectors = _padded(self._vectors, n_features)
        out = np.empty((len(self._vectors), len(batch)))
        for vector, row in zip(self._vectors, out, strict=True):
            _engine.scores(batch.view, vector, row)
        return np.ascontiguousarray((out.T + self._offsets) / self._divisors)

    def winners(self, scores: FloatArray) -> IntArray:
        """The class numbers that the scores mean, as the estimators have it."""
        if scores.shape[1] > 1:
            return joint_predicted(scores, self.tie if self.learner.joint else "mistake")
        side = scores[:, 0] >= 0 if self.tie == "positive" else scores[:, 0] > 0
        return side.astype(np.int64)


class ExpansionScorer(Scorer):
    """The same for a kernel perceptron, which has no vectors: its learner scores rows with the kernel."""

    def __init__(self, learner: Any, tie: str) -> None:
        self.learner, self.tie, self.fit_intercept = learner, tie, False

    def scores_of(self, batch: RowBatch, n_features: int) -> FloatArray:
        """Features that were never seen are left out before any product is formed."""
        d = self.learner.n_features
        if batch.dense is not None and n_features > d:
            raise InputError(f"the rows have {n_features} features, and the model has learned from {d}")
        rows = scipy_rows(batch, d)
        known = rows if rows.sparse is None else sparse_rows(rows.sparse)
        return self.learner.scores(known, self.tie, self.fit_intercept)


def _padded(vectors: FloatArray, n_features: int) -> FloatArray:
    wide = np.zeros((len(vectors), -(-max(1, n_features) // _LANES) * _LANES))
    wide[:, : vectors.shape[1]] = vectors
    return wide


def scipy_rows(batch: RowBatch, n_features: int) -> Rows:
    """The rows as `inputs` would have them, as wide as the model: columns that it does not know are left out."""
    if batch.dense is not None:
        return Rows(batch.dense, None, batch.view)
    from scipy.sparse import csr_array

    assert batch.sparse is not None
    width = max(n_features, batch.n_features)
    matrix: Any = csr_array(tuple(batch.sparse), shape=(len(batch), width))
    if width > n_features:
        matrix = matrix[:, :n_features]
    return Rows(None, matrix, batch.view)
