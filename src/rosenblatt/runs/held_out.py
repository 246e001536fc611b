"""Rows held out of a run: which they are, how they are judged, and when to stop (note 002)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import Codes, IntArray
from rosenblatt.learner import Learner
from rosenblatt.learning import Choices, mistakes_in
from rosenblatt.runs.stream_scores import Scorer

if TYPE_CHECKING:
    from rosenblatt.runs.row_cache import RowCache

_NOT_YET = np.iinfo(np.int64).max


def is_held_out(seed: int, first_row: int, n: int, share: float) -> NDArray[np.bool_]:
    """Which of n rows are held out: by a hash of the seed and the row's number in the stream, so never by its batch."""
    z = np.arange(first_row, first_row + n, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)
    z ^= np.uint64((seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) & (2**64 - 1))
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        z = (z ^ (z >> np.uint64(30))) * np.uint64(factor)
    z ^= z >> np.uint64(31)
    held: NDArray[np.bool_] = z < np.uint64(min(int(share * 2.0**64), 2**64 - 1))
    return held


class HeldOut:
    """The rows that are held out, and what becomes of them after each pass."""

    def __init__(self, cache: RowCache) -> None:
        self.cache = cache

    def judge(self, learner: Learner, ranks: Codes, choices: Choices) -> tuple[IntArray, int]:
        """The mistakes of each problem with whatever predicts, and how many rows are given their class."""
        scorer = Scorer(learner, choices.tie, choices.fit_intercept)
        wrong, right = np.zeros(learner.n_problems, np.int64), 0
        for _, batch in self.cache.batches():
            codes = ranks[batch.codes]
            scores = scorer.scores(batch)
            wrong += mistakes_in(scores, codes, learner, choices.tie)
            right += int(np.count_nonzero(scorer.winners(scores) == codes))
        return wrong, right


class Watch:
    """Keeps each problem's best weights, and says which problems have not done better for too long."""

    def __init__(self, learner: Learner, patience: int) -> None:
        self.learner, self.patience = learner, patience
        self.fewest = np.full(learner.n_problems, _NOT_YET)
        self.waited = np.zeros(learner.n_problems, np.int64)
        self.best: list[dict[str, Any]] = [learner.snapshot()] * learner.n_problems

    def exhausted(self, count: IntArray, looked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """After a pass in which the problems that took part made so many mistakes."""
        better = looked & (count < self.fewest)
        if better.any():
            now = self.learner.snapshot()
            self.best = [now if yes else old for yes, old in zip(better, self.best, strict=True)]
        self.fewest = np.where(better, count, self.fewest)
        self.waited = np.where(better, 0, self.waited + looked)
        return self.waited >= self.patience

    def restore(self) -> None:
        """Back to the best weights."""
        looked = self.fewest < _NOT_YET
        now = self.learner.snapshot()
        self.learner.restore([best if yes else now for yes, best in zip(looked, self.best, strict=True)])
