"""A W for several classes, and weights of (row, rival) pairs, in floating point. None of it is a proof.

Small data is expanded to all its pairs, as one question through the origin (`kesler`); of large data some pairs are,
and a scan of all rows names the pairs that are missing, until none is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rosenblatt import kesler, questions, row_forms
from rosenblatt.certificates import JointData
from rosenblatt.inputs import Codes, FloatArray, Rows
from rosenblatt.kesler import Pairs
from rosenblatt.questions import Choices
from rosenblatt.suppliers import Supply

EXPANDED = 4_000_000  # numbers in the vectors that a supplier sees at once
_ROUNDS = 100  # of a scan of all rows and a new search


@dataclass(frozen=True)
class JointQuestion:
    """Rows of several classes, and how to answer."""

    rows: Rows
    codes: Codes
    data: JointData
    choices: Choices

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.data.classes)

    @property
    def width(self) -> int:
        """How many numbers of W a class has."""
        return self.rows.shape[1] + int(self.choices.intercept)

    @property
    def size(self) -> int:
        """How many numbers all vectors have together."""
        n, d = self.rows.shape
        stored = n * d if self.rows.sparse is None else int(self.rows.sparse.nnz)
        return 2 * (self.n_classes - 1) * (stored + n * int(self.choices.intercept))

    def vectors(self, pairs: Pairs, rows: Rows | None = None) -> Rows:
        """Kesler's vectors of some pairs, of these rows or others in their place."""
        own = self.rows if rows is None else rows
        return kesler.vectors(own, self.codes, pairs, self.n_classes, intercept=self.choices.intercept)

    def table(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights and intercepts of each class."""
        W, d = w.reshape(self.n_classes, self.width), self.rows.shape[1]
        return np.ascontiguousarray(W[:, :d]), W[:, d] if self.choices.intercept else np.zeros(self.n_classes)


@dataclass(frozen=True)
class Candidate:
    """A W that may have all rows right, and weights of pairs that may prove that none has."""

    w: FloatArray | None
    pairs: Pairs
    weights: FloatArray
    collapsed: bool


def search(question: JointQuestion, rows: Rows) -> Candidate:
    """Search on all pairs if they are few; else on some, scan all rows with the W found, add the worst, repeat."""
    choices, n = question.choices, len(rows)
    if question.size <= EXPANDED:
        return _supplied(question, rows, kesler.all_pairs(np.arange(n), question.codes, question.n_classes))[0]
    room = max(1, len(rows) * (question.n_classes - 1) * EXPANDED // question.size // 4)  # pairs in a quarter of it
    rng = np.random.default_rng(0)
    sample = np.sort(rng.choice(n, min(n, max(1, room // (question.n_classes - 1))), replace=False))
    pairs = kesler.all_pairs(sample, question.codes, question.n_classes)
    best, best_lead = None, -math.inf
    for _ in range(_ROUNDS):
        found, upper = _supplied(question, rows, pairs)
        if found.collapsed or found.w is None:
            return found if found.collapsed or best is None else replace(found, w=best.w)
        lead, worst = _worst(question, rows, found.w, upper * (1 - choices.gap / 4), room)
        if best is None or lead > best_lead:
            best, best_lead = found, lead
        best = replace(found, w=best.w)  # more pairs, so a better bound
        if lead >= upper * (1 - choices.gap) or choices.late():
            break
        kept = pairs if len(pairs) < 2 * room else found.pairs
        more = kept.joined(worst, question.n_classes)
        if len(more) == len(kept):
            break
        pairs = more
    assert best is not None
    return best


def _supplied(question: JointQuestion, rows: Rows, pairs: Pairs) -> tuple[Candidate, float]:
    """What the suppliers find on some pairs, and the upper bound they believe in."""
    vectors = question.vectors(pairs, rows)
    found: Supply = questions.supply(vectors, np.ones(len(pairs)), question.choices, intercept=False)
    w = found.w if found.w is not None and found.w.any() else None
    point = vectors.sparse[found.rows].T @ found.weights
    upper = float(np.linalg.norm(point)) / float(found.weights.sum()) if len(found.weights) else math.inf
    return Candidate(w, pairs.some(found.rows), found.weights, found.collapsed), upper


def _worst(question: JointQuestion, rows: Rows, w: FloatArray, below: float, room: int) -> tuple[float, Pairs]:
    """The least lead of an own class over a rival, with ‖w‖ = 1, and the pairs with the least, up to so many."""
    W, b = question.table(w / np.linalg.norm(w))
    values, numbers, least = np.empty(0), np.empty(0, np.int64), math.inf
    for part, scores in rows.products(W):
        scores += b
        places, own = np.arange(len(scores)), question.codes[part]
        lead = scores[places, own][:, np.newaxis] - scores
        lead[places, own] = math.inf
        least = min(least, float(lead.min()))
        low = np.flatnonzero(lead.reshape(-1) < below)
        values = np.append(values, lead.reshape(-1)[low])
        numbers = np.append(numbers, low + part.start * question.n_classes)
        if len(values) > room:
            kept = np.argpartition(values, room)[:room]
            values, numbers = values[kept], numbers[kept]
    return least, Pairs(*np.divmod(np.sort(numbers), question.n_classes))


def scaled_search(question: JointQuestion, scales: FloatArray) -> Candidate:
    """Search on the rows with scaled features; the W as one of the rows themselves."""
    found = search(question, row_forms.scaled(question.rows, scales))
    if found.w is None:
        return found
    every = np.append(scales, 1.0) if question.choices.intercept else scales
    w, _ = row_forms.unscaled(found.w, np.tile(every, question.n_classes))
    return replace(found, w=w if w.any() and np.isfinite(w).all() else None)
