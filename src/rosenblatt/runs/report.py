"""What came of a run: whether it separates, how many mistakes there could have been, which features weigh most."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rosenblatt.inputs import FloatArray
from rosenblatt.learner import Learner
from rosenblatt.runs.row_batches import RowBatch
from rosenblatt.runs.run import Run
from rosenblatt.runs.stream_scores import Scorer

_LARGEST = 10
_BLOCK = 256
_ROUNDING = 2.0**-53


def separates(run: Run) -> bool | None:
    """Whether every row that was learned from is strictly on its side; None if nobody can look again."""
    learner, options = run.learner, run.options
    assert learner is not None and run.ranks is not None
    strict = options.tie == "mistake" and options.readout == "last" and not options.early_stopping
    if strict and bool(learner.converged.all()):
        return True
    if run.cache is None:
        return None
    scorer = Scorer(learner, options.tie, bool(options.fit_intercept))
    return all(_all_right(scorer, batch, run.ranks[batch.codes]) for _, batch in run.cache.batches())


def _all_right(scorer: Scorer, batch: RowBatch, codes: Any) -> bool:
    from rosenblatt.learning import mistakes_in

    return not mistakes_in(scorer.scores(batch), codes, scorer.learner, "mistake").any()


def mistake_bound(run: Run) -> int | None:
    """At most so many mistakes can a perceptron make on these rows, whatever their order: (R / γ)² of the one found.

    Learned with a margin it is 1 + 2 margin times as many (textbook.bounds_with_margin).
    With an intercept the rows are (x, 1) (DESIGN: bounds). The margin is rounded down and the radius up, so that the
    bound holds as stated. None where there is none, or where the rows cannot be looked at again.
    """
    learner, options = run.learner, run.options
    assert learner is not None and run.ranks is not None
    known = options.readout == "last" and learner.n_classes == 2 and bool(learner.converged.all())
    if not known or options.class_weight is not None or run.tally.weighted or run.cache is None:
        return None
    scorer = Scorer(learner, options.tie, bool(options.fit_intercept))
    offset = float(learner.intercepts[0]) if options.fit_intercept else 0.0
    length = math.sqrt(float(learner.weights[0] @ learner.weights[0]) + offset * offset) * (1 + 1e-12)
    lowest, largest = math.inf, 0.0
    for _, batch in run.cache.batches():
        scores = scorer.scores(batch)[:, 0]
        squares, longest = _squares(batch)
        squares = (squares + float(bool(options.fit_intercept))) * (1 + 1e-12 + longest * _ROUNDING)
        y = 2.0 * run.ranks[batch.codes] - 1.0
        error = (longest + 4) * 1.01 * _ROUNDING * length * np.sqrt(squares)
        lowest = min(lowest, float((y * scores - error).min()))
        largest = max(largest, float(squares.max()))
    if not 0 < lowest < math.inf or not largest < math.inf:
        return None
    bound = (1 + 2 * float(options.margin)) * largest * (length / lowest) ** 2 * (1 + 1e-12)
    return math.floor(bound) if bound < 2.0**62 else None


def _squares(batch: RowBatch) -> tuple[FloatArray, int]:
    """The squared length of each row, and the most numbers that one has."""
    if batch.dense is not None:
        dense = batch.dense.astype(np.float64, copy=False)
        return np.einsum("ij,ij->i", dense, dense), dense.shape[1]
    assert batch.sparse is not None
    values, _, starts = batch.sparse
    ends = np.concatenate([np.zeros(1), np.cumsum(values.astype(np.float64) ** 2)])
    lengths = np.diff(starts)
    # a difference of running sums is rounded by as much as the sums are large
    squares = ends[starts[1:]] - ends[starts[:-1]] + ends[-1] * len(values) * _ROUNDING
    return np.asarray(squares), int(lengths.max(initial=0))


def largest_weights(learner: Learner, labels: list[Any], names: Any) -> list[dict[str, Any]]:
    """The features that weigh most, with their names."""
    if learner.votes is not None:
        return []
    sizes, places = [], []
    for vector in range(learner.n_vectors):  # one at a time: memory that is new costs more than the look at it
        weights = learner.vector(vector)
        for column in _largest(np.abs(weights)):
            sizes.append(-abs(float(weights[column])))
            places.append((vector, column, float(weights[column])))
    found = []
    for _, (vector, column, weight) in sorted(zip(sizes, places, strict=True))[:_LARGEST]:
        label = labels[1] if len(labels) == 2 else labels[vector]
        found.append({"feature": names(column), "class": label, "weight": weight})
    return found


def _largest(sizes: FloatArray) -> list[int]:
    """The places of the largest, the first of equal ones first, and of no zeros. One look at millions is enough.

    Of ten blocks, each has one that is no less than the least of their maxima: what is less is not among the ten.
    """
    if not len(sizes):
        return []
    maxima = np.maximum.reduceat(sizes, np.arange(0, len(sizes), _BLOCK))
    least = np.sort(maxima)[-_LARGEST] if len(maxima) >= _LARGEST else 0.0
    places = np.flatnonzero((sizes >= least) & (sizes > 0))
    order = np.lexsort((places, -sizes[places]))[:_LARGEST]
    found: list[int] = places[order].tolist()
    return found
