"""A W for several classes, and weights of (row, rival) pairs, in floating point. None of it is a proof.

Small data is expanded to all its pairs, as one question through the origin (`kesler`); of large data some pairs are,
and a scan of all rows names the pairs that are missing, until none is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import vstack

from rosenblatt import _engine, row_forms
from rosenblatt.certificates import JointData
from rosenblatt.deciding import kesler, questions
from rosenblatt.deciding.kesler import Pairs
from rosenblatt.deciding.questions import Choices
from rosenblatt.inputs import Codes, FloatArray, IntArray, Rows
from rosenblatt.searching import suppliers
from rosenblatt.searching.candidates import ZERO
from rosenblatt.searching.working_set import SAMPLED

EXPANDED = 4_000_000  # numbers in the vectors that a supplier sees at once
_ACTIVE = 600  # numbers of W: above, an active set that moves one pair at a time is too slow
_PATIENT = 40_000_000  # pairs times numbers of W: above, it is so even where nothing else ends
_ROUNDS = 200  # of a scan and a new search
_FEW_ROWS = 1_000  # rows of a sample between the start and all rows


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
    """Search on all pairs if they are few; else on some, scan all rows with the W found, add the worst, repeat.

    The start is a random handful. Between it and all rows stands a random sample of them, solved in the same way, so
    that few scans of all rows remain.
    """
    n, K = len(rows), question.n_classes
    if question.size <= EXPANDED:
        pairs = kesler.all_pairs(np.arange(n), question.codes, K)
        return _supplied(question, question.vectors(pairs, rows), pairs)[0]
    rng = np.random.default_rng(0)
    working = _Working(question, rows, rng)
    best = None
    if n >= SAMPLED * _FEW_ROWS:
        sample = np.sort(rng.choice(n, n // SAMPLED, replace=False))
        best = _approach(question, rows, sample, working)
    if best is None or not (best.collapsed or question.choices.late()):
        best = _approach(question, rows, None, working)
    return best


def _approach(question: JointQuestion, rows: Rows, scanned: IntArray | None, working: _Working) -> Candidate:
    """Add pairs of some rows, or of all, until none is missing."""
    gap = question.choices.gap
    some = rows if scanned is None else row_forms.some_rows(rows, scanned)
    codes = question.codes if scanned is None else question.codes[scanned]
    best, least, highest = None, math.inf, -math.inf
    while True:
        found, upper = working.solve()
        if found.collapsed or found.w is None:
            return found
        lead, worst = _worst(question, some, codes, found.w, upper * (1 - gap / 4), working.room)
        if best is None or lead > highest:
            best, highest = found if best is None else replace(best, w=found.w), lead
        if upper < least:
            best, least = replace(found, w=best.w), upper
        if scanned is not None:
            worst = Pairs(scanned[worst.rows], worst.rivals)
        if lead >= upper * (1 - gap) or question.choices.late() or not working.add(worst):
            return best


class _Working:
    """Some pairs, and the point nearest to the origin among the combinations of their vectors.

    Where W has few numbers it is found by Wolfe's method, from the last one on; else by the suppliers, anew.
    """

    def __init__(self, question: JointQuestion, rows: Rows, rng: np.random.Generator) -> None:
        self.question, self.rows = question, rows
        K, length = question.n_classes, question.n_classes * question.width
        self.dense = length <= _ACTIVE
        if self.dense:
            self.room, self.most, start = max(500, length), max(2000, 3 * length), 2 * length
        else:
            start = self.room = max(1, len(rows) * (K - 1) * EXPANDED // question.size // 4)
            self.most = 3 * self.room
        self.unit = row_forms.unit(rows)
        sample = rng.choice(len(rows), min(len(rows), max(1, start // (K - 1))), replace=False)
        self.pairs = kesler.all_pairs(np.sort(sample), question.codes, K)
        self.vectors = question.vectors(self.pairs, rows)
        self.points = self._points(self.vectors)
        self.support: IntArray = np.zeros(1, np.int64)  # places in pairs
        self.weights: FloatArray = np.ones(1)
        self.rounds = 0

    def _points(self, vectors: Rows) -> FloatArray:
        return np.ascontiguousarray(vectors.sparse.toarray() / self.unit) if self.dense else np.empty((0, 0))

    def solve(self) -> tuple[Candidate, float]:
        """What is found on these pairs, and its upper bound."""
        if not self.dense:
            found, upper = _supplied(self.question, self.vectors, self.pairs, patient=False)
            self.support = np.flatnonzero(np.isin(self.pairs.numbers(), found.pairs.numbers()))
            return found, upper
        choices = self.question.choices
        support, weights, x, norm, _, end, _ = _engine.min_norm(
            _engine.DenseRows(self.points),
            np.zeros(len(self.pairs), np.int16),
            n_classes=1,
            start=self.support,
            start_weights=self.weights,
            gap=0.3 * choices.gap,
            zero=ZERO,
            seconds=choices.remaining(),
        )
        if len(support):
            self.support, self.weights = support, weights
        w = x if x.any() and np.isfinite(x).all() else None
        order = np.argsort(support)
        found = Candidate(w, self.pairs.some(support[order]), weights[order], end == _engine.MinNormEnd.zero)
        return found, norm * self.unit

    def add(self, worst: Pairs) -> bool:
        """Take more pairs in, and drop those furthest from mattering if they become too many; False if none is new."""
        worst = worst.some(np.flatnonzero(~np.isin(worst.numbers(), self.pairs.numbers())))
        self.rounds += 1
        if len(worst) == 0 or self.rounds > _ROUNDS:
            return False
        kept = np.arange(len(self.pairs))
        if len(self.pairs) + len(worst) > self.most:
            score = np.ones(len(self.pairs))
            if self.dense:
                score = self.points @ (self.points[self.support].T @ self.weights)
            score[self.support] = -math.inf
            kept = np.sort(np.argsort(score, kind="stable")[: max(len(self.support), self.most - len(worst))])
        self.support = np.searchsorted(kept, self.support).astype(np.int64)
        old, new = self.vectors.sparse[kept], self.question.vectors(worst, self.rows)
        self.pairs = self.pairs.some(kept).followed_by(worst)
        self.vectors = row_forms.sparse_rows(vstack([old, new.sparse], format="csr"))
        if self.dense:
            self.points = np.vstack([self.points[kept], self._points(new)])
        return True


def _supplied(question: JointQuestion, vectors: Rows, pairs: Pairs, *, patient: bool = True) -> tuple[Candidate, float]:
    """What the suppliers find on some pairs, and the upper bound that it implies.

    With patience an active set is tried where the descent, which is for W of many numbers, did not come to an end.
    """
    ones, choices = np.ones(len(pairs)), question.choices
    found = questions.supply(vectors, ones, choices, intercept=False)
    m, length = vectors.shape
    open_ended = not found.collapsed and found.gap > choices.gap and length > _ACTIVE
    worth_it = m * length <= _PATIENT or not found.lower > 0  # a verdict is worth more time than a smaller gap
    if patient and open_ended and worth_it and not choices.late():
        again = questions.supply(vectors, ones, choices, intercept=False, supplier=suppliers.working_set)
        found = again if again.collapsed or again.gap < found.gap else found
    w = found.w if found.w is not None and found.w.any() else None
    with np.errstate(all="ignore"):
        point = vectors.sparse[found.rows].T @ found.weights
        upper = float(np.linalg.norm(point)) / float(found.weights.sum()) if len(found.weights) else math.inf
    return Candidate(w, pairs.some(found.rows), found.weights, found.collapsed), upper


def _worst(
    question: JointQuestion, rows: Rows, codes: Codes, w: FloatArray, below: float, room: int
) -> tuple[float, Pairs]:
    """The least lead of an own class over a rival, with ‖w‖ = 1, and the pairs with the least, up to so many."""
    W, b = question.table(w / np.linalg.norm(w / np.abs(w).max()) / np.abs(w).max())
    values, numbers, least = np.empty(0), np.empty(0, np.int64), math.inf
    for part, scores in rows.products(W):
        scores += b
        places, own = np.arange(len(scores)), codes[part]
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
