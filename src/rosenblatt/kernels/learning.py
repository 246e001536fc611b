"""Passes of a kernel perceptron over rows, a block at a time: the driver between the estimator and the engine.

The rows of a block are scored together against the support so far, and then visited one after the other with the kernel
values of the block itself, so the result is that of one row at a time. The score of a row is kept from pass to pass:
only the mistakes made since its last visit are added to it, which is a fraction of the support.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import WeightOverflowError
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.interrupts import Interrupts
from rosenblatt.kernels.budgets import BudgetLearner
from rosenblatt.kernels.expansions import KernelLearner, Log, points_at_once
from rosenblatt.learning import Choices, Examples, HeldOut, LossRule, Report, joint_right, signs
from rosenblatt.mistake_log import MistakeLog
from rosenblatt.progress import PassProgress


def fit(
    learner: KernelLearner,
    examples: Examples,
    choices: Choices,
    held_out: IntArray | None = None,
    log: MistakeLog | None = None,
) -> Report:
    """Make passes over the rows until no problem makes a mistake, or its budget is used up.

    With `held_out` rows, their mistakes are watched after every pass and the best vectors are kept. A `log` gets every
    mistake.
    """
    examples.rows.require_finite()
    visited = _visited(examples, held_out)
    learner.rows_seen = 0  # rows are numbered as in X
    visits, at_rest = learner.visits.copy(), learner.converged.copy()
    run = start(learner, examples, choices, visited)
    judged: Any = learner  # stands where a `Learner` does
    watch = HeldOut(judged, examples, choices, held_out) if held_out is not None else None
    loss = LossRule(choices, len(visited))
    if log is not None:
        log.begin(learner, examples, choices, visited)
    with run.interrupts, run.progress or nullcontext():
        while run.active.any() and run.passes < choices.max_iter and run.error is None:
            run.make_pass()
            if choices.tol is not None:
                run.active &= ~loss.exhausted(run.losses)
            if watch is not None and run.error is None:
                run.active &= ~watch.exhausted()
            if log is not None:
                run.active &= ~log.enough(learner)
    if watch is not None:
        watch.restore()
    if log is not None:
        log.extend([_numbered(learner, own) for own in learner.logs])
        log.end(learner)
        log.expansion = learner
    # A problem that goes on after it came to rest, and only finds that it still is, has not moved (learning.py, fit).
    still = at_rest & np.asarray([len(history) > 0 and not any(history) for history in run.histories])
    learner.visits[still] = visits[still]
    learner.converged[:] = run.converged
    learner.rows_seen = len(examples.rows)
    return run.report()


def _numbered(learner: KernelLearner, log: Log) -> dict[str, NDArray[Any]]:
    """The mistakes of a problem with the numbers of their rows."""
    columns = {name: log[name].copy() for name in ("visit", "step", "up", "down")}
    return columns | {"row": learner.support_ids[log["row"]]}


def learn_batch(learner: KernelLearner, examples: Examples, choices: Choices) -> Report:
    """Make one pass over a batch, in its order. Batch after batch is, to the bit, one pass over all."""
    examples.rows.require_finite()  # before anything is learned: the model must survive a bad batch
    before = learner.snapshot()
    run = start(learner, examples, choices, _visited(examples, None), new_rows=True)
    with run.interrupts:
        try:
            run.make_pass()
        except BaseException:
            learner.restore([before] * learner.n_problems)
            raise
    learner.converged &= run.converged  # a batch without a mistake says nothing of the other rows
    learner.rows_seen += len(examples.rows)
    return run.report()


def separates(learner: KernelLearner, examples: Examples, choices: Choices) -> bool:
    """One strict pass (y · score > 0 everywhere) with whatever predicts; it ends at the first block that fails."""
    counts = examples.counts()
    for block, scores in learner.score_blocks(examples.rows, choices.tie):
        codes = examples.codes[block]
        if learner.joint:
            right = joint_right(scores, codes, "mistake")
        else:
            right = np.min(signs(codes, learner.n_classes) * scores, axis=1) > 0
        if not (right if counts is None else right | ~counts[block]).all():
            return False
    return True


def _visited(examples: Examples, held_out: IntArray | None) -> IntArray:
    counts = examples.counts()
    training = np.ones(len(examples.rows), bool) if counts is None else counts.copy()
    if held_out is not None:
        training[held_out] = False
    return np.flatnonzero(training).astype(np.int64)


def start(
    learner: KernelLearner, examples: Examples, choices: Choices, visited: IntArray, *, new_rows: bool = False
) -> Run:
    """A run over the visited rows, of which each pass is still to be made."""
    if isinstance(learner, BudgetLearner):
        return _BudgetRun(learner, examples, choices, visited, new_rows)
    return (_RestartedRun if choices.restart else _ExpansionRun)(learner, examples, choices, visited, new_rows)


class Run:
    """A run in progress: who is active, and what was reported, added up."""

    learner: KernelLearner

    def __init__(
        self, learner: KernelLearner, examples: Examples, choices: Choices, visited: IntArray, new_rows: bool
    ) -> None:
        self.learner, self.examples, self.choices, self.visited = learner, examples, choices, visited
        learner.threads = choices.threads
        self.rows: Rows = learner.kernel.ready(examples.rows)
        self.rule = choices.rule()
        self.active = np.ones(learner.n_problems, bool)
        self.in_pass = self.active.copy()
        self.converged = np.zeros(learner.n_problems, bool)
        self.histories: list[list[int]] = [[] for _ in range(learner.n_problems)]
        self.mistakes: IntArray = np.zeros(learner.n_problems, np.int64)  # of this pass
        self.losses = [0.0] * learner.n_problems
        self.passes = 0
        self.error: BaseException | None = None
        self.interrupts = Interrupts()
        self.progress = PassProgress(choices.max_iter, lambda: int(learner.updates.sum())) if choices.verbose else None
        self.places = np.full(len(examples.rows), -1, np.int64)  # where a row is in the support, if it is
        self._find_places(new_rows)

    def _find_places(self, new_rows: bool) -> None:
        """Rows of an earlier fit to the same data are in the support already: they are not stored again."""
        ids = self.learner.support_ids
        if new_rows or not len(ids) or ids.max() >= len(self.examples.rows):
            return
        same = self.learner.support.equal(self.rows, ids)
        self.places[ids[same]] = np.flatnonzero(same)

    def make_pass(self) -> None:
        """One pass over the rows, unless it is interrupted."""
        if self.choices.max_updates is not None:
            self.active &= self.learner.updates < self.choices.max_updates
        self.in_pass, self.mistakes[:], self.losses = self.active.copy(), 0, [0.0] * self.learner.n_problems
        started = self.in_pass.copy()
        if started.any():
            self.visit(self._order())
        for k in np.flatnonzero(started):
            self.histories[k].append(int(self.mistakes[k]))
        if self.error is None:
            clean = self.clean()
            self.converged |= clean
            self.active &= ~clean
        self.passes += int(started.any())
        if self.progress:
            self.progress.end_of_pass(int(self.mistakes.sum()))

    def clean(self) -> NDArray[np.bool_]:
        """Which problems have made a whole pass without a mistake, and are at rest."""
        return np.asarray(self.in_pass & (self.mistakes == 0))

    def _order(self) -> IntArray:
        if not self.choices.shuffle:
            return self.visited
        pass_ = self.choices.first_pass + self.passes
        return self.visited[_engine.order(self.choices.seed, pass_, len(self.visited))]

    def visit(self, order: IntArray) -> None:
        """The rows of a pass, block after block."""
        raise NotImplementedError

    def interrupted(self) -> bool:
        """Looked at between two blocks."""
        self.error = self.interrupts.error
        if self.progress:
            self.progress.tick()
        return self.error is not None

    def note(self, problem: int, ids: IntArray, log: dict[str, Any]) -> None:
        """Take over what the engine says of a block."""
        if not log["finite"]:
            raise WeightOverflowError(
                "a kernel value or a score grew beyond the range of its type while learning. Scale the features down "
                "(sklearn.preprocessing has the tools), choose a smaller gamma or degree, or give float64 rows."
            )
        self.mistakes[problem] += len(log["row"])
        self.losses[problem] += log["loss"]
        self.learner.visits[problem], self.learner.updates[problem] = log["visits"], log["updates"]
        if log["spent"]:
            self.active[problem] = self.in_pass[problem] = False

    def labels(self, ids: IntArray) -> tuple[Any, ...]:
        """Classes and weights of some rows, as the engine takes them."""
        weights = self.examples.sample_weight
        return self.examples.codes[ids], None if weights is None else weights[ids], self.examples.class_weight

    def report(self) -> Report:
        """Everything so far."""
        self.error = self.error or self.interrupts.error
        total = np.zeros(max(map(len, self.histories)), np.int64)
        for history in self.histories:
            total[: len(history)] += history
        return Report(
            mistakes_per_pass=total,
            n_iter=len(total),
            converged=bool(self.converged.all()),
            ran_out=self.error is None and bool(self.active.any()),
            last_mistakes=sum(h[-1] for h, on in zip(self.histories, self.active, strict=True) if on and h),
            error=self.error,
        )


class _ExpansionRun(Run):
    """Scores are kept for all rows: those of block b hold the first ``upto[b]`` mistakes of each problem."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.scores: FloatArray = np.zeros((self.learner.n_vectors, len(self.examples.rows)))
        self.upto = [0] * self.learner.n_problems  # of all rows, at the beginning of a pass
        self.blocks: list[tuple[IntArray, list[int]]] = []  # of the last pass: rows, and the mistakes in their scores

    def visit(self, order: IntArray) -> None:
        """Score a block against the support so far, then visit its rows one after the other."""
        self._catch_up()
        first = 0
        while first < len(order) and self.in_pass.any() and not self.interrupted():
            ids = order[first : first + points_at_once(len(self.learner.support_ids))]
            first += len(ids)
            scores = np.take(self.scores, ids, axis=1)
            self._add_mistakes(ids, scores, self.upto)
            self._settle(ids, scores)
            self.scores[:, ids] = scores
            self.blocks.append((ids, [log.n for log in self.learner.logs]))

    def _catch_up(self) -> None:
        """Bring the scores of all rows to the end of the last pass."""
        end = [log.n for log in self.learner.logs]
        for ids, upto in self.blocks:
            scores = np.take(self.scores, ids, axis=1)
            self._add_mistakes(ids, scores, upto)
            self.scores[:, ids] = scores
        if self.blocks:
            self.upto, self.blocks = end, []

    def _add_mistakes(self, ids: IntArray, scores: FloatArray, upto: list[int]) -> None:
        """Add the mistakes from number `upto` on of each problem that is still learning to the scores of some rows."""
        learner = self.learner
        recent = {k: slice(upto[k], learner.logs[k].n) for k in np.flatnonzero(self.in_pass)}
        used = np.zeros(len(learner.support_ids), bool)
        for k, part in recent.items():
            used[learner.logs[k]["row"][part]] = True
        which = np.flatnonzero(used)
        if not len(which):
            return
        place = np.zeros(len(used), np.int32)
        place[which] = np.arange(len(which))
        values = learner.kernel.values(learner.support, which, self.rows, ids, self.choices.threads)
        for k, part in recent.items():
            log = learner.logs[k]
            moved = {"up": log["up"][part], "down": log["down"][part]} if learner.joint else {}
            mine, rows = learner.vectors(int(k)), place[log["row"][part]]
            _engine.accumulate(values, rows, log["step"][part], scores[mine], threads=self.choices.threads, **moved)

    def _settle(self, ids: IntArray, scores: FloatArray) -> None:
        learner, labels = self.learner, self.labels(ids)
        own = learner.kernel.own_values(self.rows, ids, self.choices.threads)
        logs = {}
        for k in np.flatnonzero(self.in_pass).tolist():
            logs[k] = _engine.settle(
                own,
                *labels,
                positive=learner.positive(k),
                rule=self.rule,
                scores=scores[learner.vectors(k)],
                visits=int(learner.visits[k]),
                updates=int(learner.updates[k]),
            )
            self.note(k, ids, logs[k])
        self._extend(ids, logs)

    def _extend(self, ids: IntArray, logs: dict[int, dict[str, Any]]) -> None:
        """Store the rows that mistakes were made on for the first time, and the mistakes."""
        mistaken = np.unique(np.concatenate([log["row"] for log in logs.values()]))
        new = ids[mistaken][self.places[ids[mistaken]] < 0]
        if len(new):
            self.places[new] = self.learner.add_support(self.rows, new, self.examples.codes[new])
        for k, log in logs.items():
            self.learner.logs[k].extend(self.places[ids[log["row"]]], log)


class _RestartedRun(_ExpansionRun):
    """Note 000, Algorithm 1: after each mistake a problem starts again at the first row.

    A pass is then a scan that ends at its first mistake. The scores of all rows are kept up to date instead, at the
    price of one row of kernel values for each mistake, and a scan only looks at them.
    """

    def visit(self, order: IntArray) -> None:
        """One scan of each problem."""
        for k in np.flatnonzero(self.in_pass).tolist():
            if self.interrupted():
                return
            self._scan(k, order)

    def _scan(self, k: int, order: IntArray) -> None:
        learner, mine = self.learner, self.learner.vectors(k)
        if self.upto[k] < learner.logs[k].n:
            self._catch_up_with(k, order)
        place = self._first_mistake(k, order)
        ids = order[place : place + 1]
        learner.visits[k] += place
        if not len(ids):
            return
        scores = self.scores[mine][:, ids]
        log = _engine.settle(
            learner.kernel.own_values(self.rows, ids),
            *self.labels(ids),
            positive=learner.positive(k),
            rule=self.rule,
            scores=np.ascontiguousarray(scores),
            visits=int(learner.visits[k]),
            updates=int(learner.updates[k]),
        )
        self.note(k, ids, log)
        self.in_pass[k] = False
        self._extend(ids, {k: log})

    def _catch_up_with(self, k: int, order: IntArray) -> None:
        others = self.in_pass.copy()
        self.in_pass[:] = False
        self.in_pass[k] = True
        step = points_at_once(len(self.learner.support_ids))
        for first in range(0, len(order), step):
            ids = order[first : first + step]
            scores = np.take(self.scores, ids, axis=1)
            self._add_mistakes(ids, scores, self.upto)
            self.scores[:, ids] = scores
        self.in_pass[:] = others
        self.upto[k] = self.learner.logs[k].n

    def _first_mistake(self, k: int, order: IntArray) -> int:
        """How many rows of the scan are right."""
        scores, codes = self.scores[self.learner.vectors(k)][:, order], self.examples.codes[order]
        tie = self.choices.tie
        if not np.isfinite(scores).all():
            return int(np.argmin(np.isfinite(scores).all(axis=0)))
        weight = self.examples.class_weight[codes]
        if self.learner.joint:
            wrong = ~joint_right(scores.T, codes, tie)
        else:
            positive = codes == self.learner.positive(k)
            if self.learner.n_classes > 2:
                weight = np.where(positive, weight, 1.0)
            y = np.where(positive, 1, -1)
            if tie == "mistake":
                wrong = y * scores[0] <= 0
            else:
                wrong = (scores[0] >= 0 if tie == "positive" else scores[0] > 0) != positive
        wrong = wrong & (weight > 0)
        return int(np.argmax(wrong)) if wrong.any() else len(order)


class _BudgetRun(Run):
    """The support is small: each block is scored against all of it."""

    learner: BudgetLearner

    def clean(self) -> NDArray[np.bool_]:
        """All or none: the rows are shared, and a mistake of one problem can change the others."""
        return np.asarray(self.in_pass & (not self.mistakes.any()))

    def visit(self, order: IntArray) -> None:
        """Score a block against the support and itself, then visit its rows one after the other."""
        first = 0
        while first < len(order) and self.in_pass.any() and not self.interrupted():
            ids = order[first : first + points_at_once(len(self.learner.support_ids))]
            first += len(ids)
            values = self._values(ids)
            places, n = self.places[ids], len(self.learner.support_ids)
            own = np.where(places >= 0, places, n + np.arange(len(ids))).astype(np.int32)
            logs = self.learner.settle(values, own, self.labels(ids), self.rule, self.in_pass)
            for k in np.flatnonzero(self.in_pass).tolist():
                self.note(k, ids, logs[k])
            self._renew_support(ids)

    def _values(self, ids: IntArray) -> NDArray[Any]:
        """K of each row of the block (rows) with the support and with the block itself (columns)."""
        learner, threads, n = self.learner, self.choices.threads, len(ids)
        which = np.arange(len(learner.support_ids))
        known = learner.kernel.values(learner.support, which, self.rows, ids, threads)[:, :n]
        own = learner.kernel.own_values(self.rows, ids, threads)[:, :n]
        return np.ascontiguousarray(np.concatenate([known, own]).T)

    def _renew_support(self, ids: IntArray) -> None:
        """Store the rows of the block that are kept; now and then, forget those that no problem keeps any more."""
        learner = self.learner
        before, kept = len(learner.support_ids), np.sort(learner.kept_columns)
        new = kept[kept >= before]
        rows = ids[new - before]
        self.places[rows] = learner.add_support(self.rows, rows, self.examples.codes[rows])
        columns = np.arange(before + len(ids))
        columns[new] = self.places[rows]
        learner.rename(columns)
        if len(learner.support_ids) > len(kept) + len(kept) // 2 + 256:
            columns = learner.tidy()
            known = self.places >= 0
            self.places[known] = columns[self.places[known]]
