"""Mistake-driven runs over rows: the driver between an estimator and the engine's loop. Knows no scikit-learn.

A `Learner` holds the weights and whatever is needed to go on with them. `fit` makes passes over rows until no problem
makes a mistake any more, or a budget is used up; `learn_batch` makes one pass over a batch of a stream.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import WeightOverflowError
from rosenblatt.inputs import Codes, FloatArray, IntArray, Rows
from rosenblatt.interrupts import Interrupts
from rosenblatt.learner import Learner
from rosenblatt.mistake_log import MistakeLog
from rosenblatt.progress import PassProgress
from rosenblatt.voting import Places


class Choices(NamedTuple):
    """What the notes leave open."""

    tie: str = "mistake"
    fit_intercept: bool = True
    shuffle: bool = False
    restart: bool = False
    eta0: float = 1.0
    margin: float = 0.0
    max_iter: int = 1
    max_updates: int | None = None
    tol: float | None = None
    n_iter_no_change: int = 5
    seed: int = 0
    first_pass: int = 0  # passes made before: a shuffled order is a function of (seed, pass, rows)
    threads: int = 1
    verbose: bool = False

    def rule(self, *, learn: bool = True) -> _engine.Rule:
        """The part of the choices that concerns a single row."""
        budget = {} if self.max_updates is None else {"max_updates": self.max_updates}
        return _engine.Rule(
            tie=_engine.Tie[self.tie] if learn else _engine.Tie.mistake,
            fit_intercept=self.fit_intercept,
            learn=learn,
            restart=self.restart,
            eta0=self.eta0,
            margin=self.margin if learn else 0.0,
            **budget,
        )


class Examples(NamedTuple):
    """Checked rows with their classes and weights."""

    rows: Rows
    codes: Codes
    class_weight: FloatArray  # one for each class
    sample_weight: FloatArray | None = None
    joint: bool = False

    def visited(self) -> IntArray | None:
        """The rows that are visited: those of weight 0 are not. None means all."""
        counts = self.counts()
        return None if counts is None else np.flatnonzero(counts).astype(np.int64)

    def counts(self) -> NDArray[np.bool_] | None:
        """Which rows have a weight other than 0; None means all.

        One class against the rest: a class of weight 0 still counts as part of the rest.
        """
        counts = None if self.sample_weight is None or self.sample_weight.all() else self.sample_weight > 0
        if (self.joint or len(self.class_weight) == 2) and not self.class_weight.all():
            of_class = self.class_weight[self.codes] > 0
            counts = of_class if counts is None else counts & of_class
        return counts

    def engine_labels(self, learner: Learner, visited: IntArray | None) -> _engine.Labels:
        """The labels as the engine takes them."""
        return _engine.Labels(
            self.codes,
            n_classes=learner.n_classes,
            joint=learner.joint,
            class_weight=self.class_weight,
            sample_weight=self.sample_weight,
            subset=visited,
        )


@dataclass
class Report:
    """What happened in a run."""

    mistakes_per_pass: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    n_iter: int = 0
    converged: bool = False
    ran_out: bool = False  # max_iter ended it
    last_mistakes: int = 0
    error: BaseException | None = None  # Ctrl-C, or another signal


def fit(
    learner: Learner,
    examples: Examples,
    choices: Choices,
    held_out: IntArray | None = None,
    log: MistakeLog | None = None,
) -> Report:
    """Make passes over the rows until no problem makes a mistake, or its budget is used up.

    With `held_out` rows, their mistakes are watched after every pass and the best weights are kept. A `log` gets every
    mistake.
    """
    if held_out is None:
        visited = examples.visited()
    else:
        counts = examples.counts()
        training = np.ones(len(examples.rows), bool) if counts is None else counts.copy()
        training[held_out] = False
        visited = np.flatnonzero(training).astype(np.int64)
    # A pass over all rows finds NaN and infinity by itself; where none is certain, they are looked for first.
    if visited is not None or choices.restart or choices.max_updates is not None:
        examples.rows.require_finite()
    visits, at_rest = learner.visits.copy(), learner.converged.copy()
    run = _Run(learner, examples, choices, visited, log)
    watch = HeldOut(learner, examples, choices, held_out) if held_out is not None else None
    loss = LossRule(choices, len(examples.rows) if visited is None else len(visited))
    stepwise = watch is not None or choices.tol is not None or choices.verbose
    if log is not None:
        log.begin(learner, examples, choices, visited)
        stepwise |= log.max_visits is not None
    with run.interrupts, run.progress or nullcontext():
        while run.active.any() and run.passes < choices.max_iter and run.error is None:
            run.go(1 if stepwise else choices.max_iter)
            if choices.tol is not None:
                run.active &= ~loss.exhausted(run.losses)
            if watch is not None and run.error is None:
                run.active &= ~watch.exhausted()
            if log is not None:
                run.active &= ~log.enough(learner)
    if watch is not None:
        watch.restore()
    if log is not None:
        log.end(learner)
    # A problem that goes on after it came to rest, and only finds that it still is, has not moved: the visits of that
    # pass do not count, so that two short runs are one long one.
    still = at_rest & np.asarray([len(h) > 0 and not np.concatenate(h).any() for h in run.histories])
    learner.visits[still] = visits[still]
    learner.converged[:] = run.converged
    return run.report()


def learn_batch(learner: Learner, examples: Examples, choices: Choices) -> Report:
    """Make one pass over a batch, in its order. Batch after batch is, to the bit, one pass over all."""
    examples.rows.require_finite()  # before a weight is touched: the model must survive a bad batch
    run = _Run(learner, examples, choices, examples.visited())
    before = learner.snapshot()
    with run.interrupts:
        try:
            run.go(1)
        except BaseException:
            learner.restore([before] * learner.n_problems)
            raise
    learner.converged &= run.converged  # a batch without a mistake says nothing of the other rows
    return run.report()


class _Run:
    """A run in progress: engine calls, and what they report, added up."""

    def __init__(
        self,
        learner: Learner,
        examples: Examples,
        choices: Choices,
        visited: IntArray | None,
        log: MistakeLog | None = None,
    ) -> None:
        self.learner, self.examples, self.choices, self.log = learner, examples, choices, log
        self.labels = examples.engine_labels(learner, visited)
        self.active = np.ones(learner.n_problems, bool)
        self.converged = np.zeros(learner.n_problems, bool)
        self.histories: list[list[IntArray]] = [[] for _ in range(learner.n_problems)]
        self.passes = 0
        self.losses: list[float] = []
        self.error: BaseException | None = None
        self.places = Places()
        self.interrupts = Interrupts()
        self.progress = PassProgress(choices.max_iter, lambda: int(learner.updates.sum())) if choices.verbose else None
        self.beside = learner.side_by_side() if self._worth_a_copy() else None

    def _worth_a_copy(self) -> bool:
        """Whether the rows are sparse, the vectors many, and there is more to score than to copy."""
        learner, choices, rows = self.learner, self.choices, self.examples.rows
        if rows.sparse is None or choices.restart or not learner.scores_faster_beside(choices.threads):
            return False
        numbers = int(rows.sparse.indptr[-1]) * choices.max_iter
        return numbers >= learner.n_features or (learner.at_zero and not learner.visits.any())

    def go(self, max_passes: int) -> None:
        """Up to so many passes more."""
        outcome = _engine.run(
            self.examples.rows.view,
            self.labels,
            self.choices.rule(),
            _engine.Schedule(
                max_passes=min(max_passes, self.choices.max_iter - self.passes),
                shuffle=self.choices.shuffle,
                seed=self.choices.seed,
                first_pass=self.choices.first_pass + self.passes,
                threads=self.choices.threads,
            ),
            self.learner.engine_weights(self.active, self.beside),
            keep_log=self.learner.votes is not None or self.log is not None,
            progress=self.tick,
        )
        if not (outcome.finite and self.learner.is_finite()):
            self.examples.rows.require_finite()
            raise WeightOverflowError(
                "the weights or a score grew beyond the range of float64 while learning. "
                "Scale the features down, for example with sklearn.preprocessing.StandardScaler."
            )
        for history, more in zip(self.histories, outcome.mistakes_per_pass, strict=True):
            history.append(more)
        if self.learner.votes is not None:
            self.learner.votes.extend(self.examples.rows, outcome.mistakes, self.places)
        if self.log is not None:
            self.log.extend(outcome.mistakes)
        self.converged |= np.asarray(outcome.converged)
        self.losses = outcome.losses
        self.error = outcome.error or self.interrupts.error
        self.passes += max(len(more) for more in outcome.mistakes_per_pass)
        if self.progress:
            self.progress.end_of_pass(sum(int(more[-1]) for more in outcome.mistakes_per_pass if len(more)))

    def tick(self) -> None:
        """Called by the engine many times a second; what this raises ends the run between two rows."""
        self.interrupts.raise_noted()
        if self.progress:
            self.progress.tick()

    def report(self) -> Report:
        """Everything so far."""
        self.error = self.error or self.interrupts.error
        histories = [np.concatenate(history) for history in self.histories]
        total = np.zeros(max(len(h) for h in histories), np.int64)
        for history in histories:
            total[: len(history)] += history
        return Report(
            mistakes_per_pass=total,
            n_iter=len(total),
            converged=bool(self.converged.all()),
            ran_out=self.error is None and bool(self.active.any()),
            last_mistakes=sum(int(h[-1]) for h, on in zip(histories, self.active, strict=True) if on and len(h)),
            error=self.error,
        )


class LossRule:
    """scikit-learn's rule: stop after `n_iter_no_change` passes whose loss is not below the best by `tol` a row."""

    def __init__(self, choices: Choices, n_rows: int) -> None:
        self.slack = (choices.tol or 0.0) * n_rows
        self.patience = choices.n_iter_no_change
        self.best: FloatArray | None = None
        self.waited: IntArray = np.zeros(1, np.int64)

    def exhausted(self, losses: list[float]) -> NDArray[np.bool_]:
        """Which problems should stop, given the losses of the last pass."""
        loss = np.asarray(losses)
        if self.best is None:
            self.best, self.waited = np.full(len(loss), np.inf), np.zeros(len(loss), np.int64)
        self.waited = np.where(loss > self.best - self.slack, self.waited + 1, 0)
        self.best = np.minimum(self.best, loss)
        return self.waited >= self.patience


class HeldOut:
    """Early stopping (note 002's remedy against overfitting): watch held-out rows, keep each problem's best weights."""

    def __init__(self, learner: Learner, examples: Examples, choices: Choices, held_out: IntArray) -> None:
        from rosenblatt.inputs import rows

        self.learner, self.choices = learner, choices
        self.rows, self.codes = rows(examples.rows.take(held_out)), examples.codes[held_out]
        self.fewest = np.full(learner.n_problems, np.iinfo(np.int64).max)
        self.waited = np.zeros(learner.n_problems, np.int64)
        self.best = [learner.snapshot()] * learner.n_problems

    def exhausted(self) -> NDArray[np.bool_]:
        """Look at the held-out rows, and say which problems have not done better for too long."""
        count = mistakes(self.learner, self.rows, self.codes, self.choices)
        better = count < self.fewest
        if better.any():
            now = self.learner.snapshot()
            self.best = [now if yes else old for yes, old in zip(better, self.best, strict=True)]
        self.fewest = np.minimum(self.fewest, count)
        self.waited = np.where(better, 0, self.waited + 1)
        return self.waited >= self.choices.n_iter_no_change

    def restore(self) -> None:
        """Back to the best weights; a run that was interrupted before anything was compared keeps what it has."""
        looked = self.fewest < np.iinfo(np.int64).max
        now = self.learner.snapshot()
        self.learner.restore([best if yes else now for yes, best in zip(looked, self.best, strict=True)])


def mistakes(learner: Learner, rows: Rows, codes: Codes, choices: Choices) -> IntArray:
    """How many mistakes each problem makes on these rows with whatever predicts, under the tie rule."""
    return mistakes_in(learner.scores(rows, choices.tie, choices.fit_intercept), codes, learner, choices.tie)


def mistakes_in(scores: FloatArray, codes: Codes, learner: Learner, tie: str) -> IntArray:
    """How many of these scores are mistakes, in each problem, under the tie rule."""
    if learner.joint:
        return np.asarray([np.count_nonzero(~joint_right(scores, codes, tie))])
    return np.asarray(np.count_nonzero(binary_wrong(scores, signs(codes, learner.n_classes), tie), axis=0))


def binary_wrong(scores: FloatArray, y: IntArray, tie: str) -> NDArray[np.bool_]:
    """Where a score is a mistake for a label −1 or +1: at 0 always, or unless the tie goes to the label."""
    if tie == "mistake":
        return np.asarray(y * scores <= 0)
    return np.asarray((scores >= 0 if tie == "positive" else scores > 0) != (y > 0))


def signs(codes: Codes, n_classes: int) -> IntArray:
    """The labels of each binary problem, +1 or −1: a column each."""
    if n_classes == 2:
        return (2 * codes.astype(np.int64) - 1)[:, np.newaxis]
    return np.where(codes[:, np.newaxis] == np.arange(n_classes), 1, -1)


def joint_right(scores: FloatArray, codes: Codes, tie: str) -> NDArray[np.bool_]:
    """Where the true class wins. A tied top goes to nobody, to the highest or to the lowest class, as the rule says."""
    places = np.arange(len(codes))
    truth = scores[places, codes]
    if tie == "mistake":
        rivals = scores.copy()
        rivals[places, codes] = -np.inf
        right: NDArray[np.bool_] = truth > rivals.max(axis=1)
        return right
    predicted: NDArray[np.bool_] = joint_predicted(scores, tie) == codes
    return predicted


def joint_predicted(scores: FloatArray, tie: str) -> IntArray:
    """The class with the highest score; among equals the lowest, or with tie="positive" the highest."""
    highest: IntArray = np.argmax(scores, axis=1)
    if tie == "positive":
        highest = scores.shape[1] - 1 - np.argmax(scores[:, ::-1], axis=1)
    return highest


def separates(learner: Learner, examples: Examples, choices: Choices) -> bool:
    """One strict pass (y · score > 0 everywhere) with whatever predicts; it ends at the first row that fails."""
    if learner.votes is not None:
        counts = examples.counts()
        for block, votes in learner.vote_blocks(examples.rows, choices.tie, choices.fit_intercept):
            codes = examples.codes[block]
            if learner.joint:
                right = joint_right(votes.astype(np.float64), codes, "mistake")
            else:
                right = np.min(signs(codes, learner.n_classes) * votes, axis=1) > 0
            if not (right if counts is None else right | ~counts[block]).all():
                return False
        return True
    judge = Learner(learner.n_classes, learner.n_features, joint=learner.joint, readout="last")
    vectors, offsets, _ = learner.predictors()
    judge.start_from(vectors, offsets)
    outcome = _engine.run(
        examples.rows.view,
        examples.engine_labels(judge, examples.visited()),
        choices.rule(learn=False),
        _engine.Schedule(max_passes=1, threads=choices.threads),
        judge.engine_weights(np.ones(judge.n_problems, bool)),
    )
    if outcome.error is not None:
        raise outcome.error
    return all(outcome.converged)
