"""A run on a stream, from its first row to what was learned.

    rows ─▶ first pass: classes and features grow ──┐
     └────▶ cache ─▶ later passes, shuffled or not ─┴▶ learner

Where the order or the classes must be known beforehand, all rows go to the cache first.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine, inputs
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.interrupts import Interrupts
from rosenblatt.learner import Learner
from rosenblatt.runs.held_out import HeldOut, Watch, is_held_out
from rosenblatt.runs.options import TrainingOptions
from rosenblatt.runs.row_batches import RowBatch
from rosenblatt.runs.row_sources import Source
from rosenblatt.runs.shuffling import Piece, Shuffle
from rosenblatt.runs.stream_learning import NEVER, GrowingLearner, Lesson, overflow, require_range
from rosenblatt.runs.tally import Tally

if TYPE_CHECKING:
    from rosenblatt.runs.row_cache import RowCache
    from rosenblatt.runs.stream_votes import VotedRows

READING = -1  # the number of the pass that only reads
_TICK = 0.1  # seconds between two reports of progress
_MANY_CLASSES = 100  # so many, and few rows of each: that is hardly a label
_FEW_ROWS, _FEW_ROWS_IN_ALL = 4, 10  # of a class, while rows come and when all were read
_SETTLED = 1 << 12  # rows after which a stream of two classes is taken for one


@dataclass(frozen=True)
class Progress:
    """Where a run is; `pass_` counts from 1, and is 0 while rows are read before the first pass."""

    pass_: int
    passes: int
    rows: int  # in this pass
    rows_per_second: float
    mistakes: int
    mistakes_in_pass: int
    bytes_read: int
    bytes_total: int | None


class Run:
    """A run in progress. Between two batches its attributes fit together: that is where a checkpoint is taken."""

    def __init__(
        self,
        options: TrainingOptions,
        source: Source,
        *,
        threads: int = 1,
        progress: Callable[[Progress], None] | None = None,
        ahead: dict[str, Any] | None = None,
    ) -> None:
        self.options, self.source, self.ahead = options, source, ahead
        self.choices = options.choices(threads)
        self.tally = Tally()
        self.counted = False  # the rows come from a cache: they are in the tally, and held-out rows are elsewhere
        self.pass_ = READING if options.reads_first else 0
        self.done = 0  # rows of this pass
        self.position: dict[str, Any] | None = None  # of the source
        self.history: list[int] = []  # mistakes of each pass
        self.right = 0  # rows of the first pass that were given their class before they were learned from
        self.wrong = [0, 0]  # rows of the first pass that were on the wrong side, of the first and the second problem
        self.known: list[bool] = []  # classes that were learned from, in the order of appearance
        self.left_at: tuple[dict[str, Any], int] | None = None  # where "never seen" was left behind: position and row
        self.held_out_right: list[int] = []  # after each pass
        self.learner: Learner | None = None
        self.begin: IntArray = np.zeros(0, np.int64)  # updates before this pass
        self.active: NDArray[np.bool_] | None = None
        self.labels: NDArray[Any] | None = None  # sorted
        self.ranks: NDArray[np.int16] | None = None  # of the codes of appearance, in the order of the labels
        self.class_weight: FloatArray | None = None
        self.cache: RowCache | None = None
        self.held: RowCache | None = None
        self.watch: Watch | None = None
        self.votes: VotedRows | None = None
        self.whole = True  # False in the middle of a batch
        self.began, self.seconds_before = time.monotonic(), 0.0  # the latter up to a checkpoint that it goes on from
        self.resumed_at: dict[str, int] | None = None  # the pass and the row of that
        self.interrupts = Interrupts()
        self._shuffle: Shuffle | None = None
        self._lesson: Lesson | None = None  # of passes over the cache
        self.after_batch: Callable[[int], None] | None = None
        self._progress = progress
        self._ticked = self._pass_began = time.monotonic()
        self._rows_before = self._mistakes_ahead = 0
        self._doubted = False  # the label

    def go(self) -> None:
        """Learn until the passes are over or nothing is left to learn."""
        if self.active is None:
            self._read()
            self._settle()
        while self.active is not None and self.active.any() and self.pass_ < self.options.passes:
            self._pass()
        self._lesson = None

    def end(self) -> None:
        """Bring what was learned into its final form, after which nothing can be learned any more."""
        if self.votes is not None:
            self.votes.sort()
        if self.watch is not None and self.learner is not None:
            converged = self.learner.converged.copy()  # is said of the last pass, whichever weights are kept
            self.watch.restore()
            self.learner.converged[:] = converged

    # The first time through the rows --------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read all rows, learning from each batch unless the classes or the order must be known first."""
        self._begin_clock()
        if self.counted and self.pass_ == READING:
            return  # an earlier run has read them
        if self.position is None and self.learner is None:
            self._take_over()
        lesson = self._first_lesson() if self.pass_ == 0 else None
        for batch in self._batches():
            self.whole = False
            first, n_classes, learned = self.done, self.source.n_classes(), batch
            if not self.counted:
                self.tally.add(batch, n_classes)
                self._doubt_label(n_classes, _FEW_ROWS)
                learned = self._put_aside(batch, first, n_classes)
                self.tally.learned += len(learned)
            if lesson is not None:
                self._learn_first(lesson, learned, first, n_classes)
            self.done += len(batch)
            self.position = self.source.position()
            self._leave_behind()
            self.whole = True
            self._between(len(batch))
        if not self.counted:
            self._doubt_label(self.source.n_classes(), _FEW_ROWS_IN_ALL)

    def _take_over(self) -> None:
        """Go on from what the engine has learned by itself (`head_start`), if it has."""
        learned = self.source.learned_ahead(self.ahead, self._wait_for_engine, self._keep)
        self.done = 0
        if learned is None:
            if self.ahead is not None and self.cache is not None:
                self.cache.empty()
            return
        counts = [count for count in learned["counts"] if count]
        self.done = sum(counts)
        self.tally = Tally(self.done, self.done, counts, learned["changes"], learned["last"])
        self.learner = growing = self._growing()
        growing.take_over(learned, len(counts))
        self.right, self.wrong, self.known = learned["right"], [0, learned["wrong"]], [True] * len(counts)
        self.position = self.source.position()
        if growing.left_behind:
            self.left_at = (dict.fromkeys(self.position, 0), 0)

    def _keep(self, rows: _engine.PackedRows) -> None:
        """For later passes, of which there are some; the engine learns by itself of no more than two classes."""
        assert self.cache is not None
        self.cache.add_packed(rows, 2)

    def _wait_for_engine(self, rows: int, mistakes: int) -> None:
        self.interrupts.raise_noted()
        self.done, self._mistakes_ahead = rows, mistakes
        self._between(0)

    def _batches(self) -> Iterator[RowBatch]:
        """The batches of the source. While one is waited for, Ctrl-C is raised at once; elsewhere it is noted."""
        batches = self.source.batches(self.position)
        while True:
            batch = self.interrupts.next_of(batches)
            if batch is None:
                return
            if len(batch):
                yield batch

    def _doubt_label(self, n_classes: int, few: int) -> None:
        """Warn once, and early, if the label looks like something else: so many classes take memory and time."""
        rows = self.tally.rows
        if self._doubted or n_classes <= _MANY_CLASSES or few * n_classes < rows:
            return
        self._doubted = True
        self._require_classes(self.source.labels())
        warnings.warn(
            f"there are {n_classes:,} classes in the first {rows:,} rows{self._other_label()}",
            stacklevel=2,
        )

    def _require_classes(self, labels: NDArray[Any]) -> None:
        if (number := inputs.measurement(labels)) is not None:
            what = f"labels must be classes, and {number} looks like a measurement{self.source.place()}"
            raise InputError(f"{what}{self._other_label()}")

    def _other_label(self) -> str:
        """What to do where the label may be another column."""
        reading = self.source.reading
        if reading is None or not (reading.is_table or reading.format == "json"):
            return ""
        which = "COLUMN, a name or a number from 0; -1 is the last" if reading.is_table else "NAME"
        return f". Is the label another column? Name it: label= (--label {which})"

    def _put_aside(self, batch: RowBatch, first: int, n_classes: int) -> RowBatch:
        """Hold rows out, drop those of weight 0, keep the rest for later passes; what is to be learned from."""
        batch, held = self._to_learn(batch, first)
        if self.held is not None and held is not None:
            self.held.add(held, n_classes)
        if self.cache is not None:
            self.cache.add(batch, n_classes)
        return batch

    def _to_learn(self, batch: RowBatch, first: int) -> tuple[RowBatch, RowBatch | None]:
        """The rows to be learned from, and those to be held out; neither has rows of weight 0."""
        share = self.options.hold_out
        held = is_held_out(self.options.seed, first, len(batch), share) if share else None
        if held is None or not held.any():
            return batch.counting(), None
        return batch.take(np.flatnonzero(~held)).counting(), batch.take(np.flatnonzero(held)).counting()

    def _first_lesson(self) -> Lesson:
        options = self.options
        if options.classes is not None:
            self.labels = self.source.told(options.classes)
            self.class_weight = self._weights_of_classes()
        if self.learner is None:
            self.learner = self._growing()
        return Lesson(self.learner, self.choices, self.class_weight)

    def _growing(self) -> GrowingLearner:
        n_told = None if self.labels is None else len(self.labels)
        return GrowingLearner(n_told, joint=self.options.joint, readout=self.options.readout, tie=self.options.tie)

    def _learn_first(self, lesson: Lesson, batch: RowBatch, first: int, n_classes: int) -> None:
        learner = self.learner
        assert isinstance(learner, GrowingLearner)
        if learner.told:
            self._rank_told(n_classes)
        if learner.left_behind and n_classes > 2:
            self._catch_up(learner, first)
        if learner.admit(n_classes, batch.n_features):
            lesson.grown()
        if not len(batch):
            return
        codes = batch.codes if self.ranks is None else self.ranks[batch.codes]
        predicted, known_from = self._contest(learner, codes, n_classes)
        self._require_finite_first(batch, first)
        outcome = lesson.learn(batch, codes, predicted=predicted, known_from=known_from)
        self._require_finite(outcome, batch, first)
        self.right += int(np.count_nonzero(predicted == codes))
        self._count_wrong(outcome)

    def _count_wrong(self, outcome: _engine.Outcome) -> None:
        """For the accuracy of two classes: rows that are right by too little are learned from, but are right."""
        for problem, wrong in enumerate(outcome.wrong[:2]):
            self.wrong[problem] += wrong

    def _leave_behind(self) -> None:
        """Leave "never seen" behind while there are two classes, if the rows can be read again for a third."""
        learner = self.learner
        if self.left_at is not None or not isinstance(learner, GrowingLearner) or not learner.first_sleeps:
            return
        if learner.n_seen == 2 and self.done >= _SETTLED:
            assert self.position is not None
            learner.left_behind = self.source.again(self.position, 0) is not None
            self.left_at = (self.position, self.done)

    def _catch_up(self, learner: GrowingLearner, end: int) -> None:
        """A third class has appeared: bring "never seen" to this row."""
        assert self.left_at is not None
        position, row = self.left_at
        lesson = Lesson(learner, self.choices, active=learner.never_seen())
        for batch in self.source.again(position, end - row) or ():
            part = self._to_learn(batch, row)[0] if not self.counted else batch
            row += len(batch)
            if len(part):
                lesson.learn(part, part.codes)
        learner.left_behind = False

    def _contest(
        self, learner: GrowingLearner, codes: NDArray[np.int16], n_classes: int
    ) -> tuple[NDArray[np.int16], IntArray | None]:
        """What the engine needs to give each row a class before it is learned from: one of those known by then."""
        if learner.told:
            return _nobody(learner, len(codes)), None
        known = self.known
        known += [False] * (n_classes - len(known))
        known_from = np.full(learner.n_problems, NEVER)
        known_from[:n_classes] = np.where(known, 0, NEVER)
        if not all(known):
            for code, row in zip(*np.unique(codes, return_index=True), strict=True):
                if not known[code]:
                    known_from[code], known[code] = row + 1, True
        predicted = np.empty(len(codes), np.int16)
        predicted.fill(-1)
        if learner.first_sleeps:  # its score is that of the other class, negated: it wins where that is not above 0
            predicted[min(int(known_from[0]), len(codes)) :] = 0
            known_from[0] = NEVER
        return predicted, known_from

    # Classes --------------------------------------------------------------------------------------------------------

    def _rank_told(self, n_classes: int) -> None:
        """Number the classes that have appeared as the told ones are numbered."""
        if self.ranks is not None and len(self.ranks) == n_classes:
            return
        assert self.labels is not None
        ranks = self.source.ranks(self.labels)
        if min(ranks) < 0:
            unknown = self.source.labels()[ranks.index(-1)].item()
            raise InputError(
                f"the rows have the class {unknown!r}, which is not among classes={self.labels.tolist()!r}: "
                "name all classes there, or leave classes out"
            )
        self.ranks = np.asarray(ranks, np.int16)

    def _settle(self) -> None:
        """All rows were read once: the classes are known, and the vectors stand in the order of their labels."""
        options, growing = self.options, self.learner
        order = self._order_of_classes()
        if not self.tally.learned:
            raise InputError("there are no rows to learn from: all are held out or have weight 0")
        if self.held is not None and not self.held.mark().rows:
            raise InputError(
                f"none of the {self.tally.rows:,} rows is held out by hold_out={self.options.hold_out} (--hold-out) "
                f"with seed={self.options.seed}: hold a larger share out"
            )
        self.class_weight = self._weights_of_classes()
        self.done = 0
        assert self.labels is not None
        if isinstance(growing, GrowingLearner):
            require_range(growing)
            if not growing.told and len(order) == 2:  # two problems, of which the second class's stays
                self.wrong = [self.wrong[1 if growing.first_sleeps else int(order[1])], 0]
            self.learner = learner = growing.settled(order, growing.n_features)
            self._start_watch(learner)
            self._end_pass(learner, np.ones(learner.n_problems, np.bool_))
            return
        assert self.cache is not None
        widths = []
        for cache in (self.cache, self.held):
            if cache is not None:
                cache.flush()
                widths.append(cache.n_features)
        self.learner = learner = Learner(len(self.labels), max(widths), joint=options.joint, readout=options.readout)
        self._start_watch(learner)
        self.active, self.pass_ = np.ones(learner.n_problems, np.bool_), 0

    def _start_watch(self, learner: Learner) -> None:
        if learner.votes is not None:
            from rosenblatt.runs.stream_votes import VotedRows

            self.votes = VotedRows(learner)
        self.watch = Watch(learner, self.options.patience) if self.options.early_stopping else None

    def _order_of_classes(self) -> IntArray:
        """The codes of appearance, in the order of the labels."""
        if not self.tally.rows:
            raise InputError(f"there are no rows to learn from{self.source.place()}")
        if self.options.classes is not None:
            self.labels = self.source.told(self.options.classes)
            self._rank_told(self.source.n_classes())
            return np.arange(len(self.labels))
        labels = self.source.labels()
        self._require_classes(labels)
        order = np.argsort(labels, kind="stable")
        self.labels = labels[order]
        self.ranks = np.empty(len(order), np.int16)
        self.ranks[order] = np.arange(len(order), dtype=np.int16)
        if len(order) < 2:
            raise InputError(
                f"learning needs rows of at least two classes, got only one class: {labels.tolist()!r}. "
                "With one class there is nothing to separate"
            )
        return order

    def _weights_of_classes(self) -> FloatArray | None:
        given = self.options.class_weight
        if given is None:
            return None
        assert self.labels is not None
        if isinstance(given, str):
            assert self.ranks is not None
            counts = np.zeros(len(self.labels))
            counts[self.ranks] = self.tally.counts
            return np.asarray(counts.sum() / (len(counts) * np.where(counts > 0, counts, 1.0)))
        return inputs.class_weight(given, self.labels, np.zeros(0, np.int16))

    # Passes over the cache ------------------------------------------------------------------------------------------

    def _pass(self) -> None:
        learner, active, ranks = self.learner, self.active, self.ranks
        assert learner is not None and active is not None and ranks is not None
        self._begin_clock()
        if not self.done:
            self.begin = learner.updates.copy()
        lesson = self._lesson = self._lesson or Lesson(learner, self.choices, self.class_weight)
        lesson.only = active
        first_pass = self.pass_ == 0
        for piece in self._pieces(learner):
            self.interrupts.raise_noted()
            self.whole = False
            codes = ranks[piece.batch.codes]
            predicted = _nobody(learner, len(codes)) if first_pass else None
            if first_pass:
                self._require_finite_first(piece.batch, self.done)
            outcome = lesson.learn(piece.batch, codes, subset=piece.ids, predicted=predicted)
            self._require_finite(outcome, piece.batch, self.done)
            if self.votes is not None:
                self.votes.extend(piece, outcome.mistakes)
            if predicted is not None:
                self._count_wrong(outcome)
                right = predicted == codes
                self.right += int(np.count_nonzero(right if piece.ids is None else right[piece.ids]))
            self.done += piece.visits
            self.whole = True
            self._between(piece.visits)
            del piece  # the last of its buffer
        require_range(learner)
        self.done = 0
        self._end_pass(learner, active)

    def _pieces(self, learner: Learner) -> Iterator[Piece]:
        cache, options = self.cache, self.options
        assert cache is not None
        if options.shuffle:
            self._shuffle = self._shuffle or Shuffle(cache, options.shuffle_rows, options.seed, learner.n_features)
            yield from self._shuffle.pieces(self.pass_, self.done)
        else:
            for first, batch in cache.batches(self.done):
                yield Piece(batch, None, np.arange(first, first + len(batch)) if self.votes else None)

    def _end_pass(self, learner: Learner, took_part: NDArray[np.bool_]) -> None:
        """Count, judge, and see who goes on: not those without a mistake, and not those out of updates."""
        mistakes = learner.updates.copy()
        mistakes[: len(self.begin)] -= self.begin
        self.history.append(int(mistakes[took_part].sum()))
        learner.converged[took_part & (mistakes == 0)] = True
        active = took_part & (mistakes > 0)
        if self.choices.max_updates is not None:
            active &= learner.updates < self.choices.max_updates
        if self.held is not None:
            assert self.ranks is not None
            judged, right = HeldOut(self.held).judge(learner, self.ranks, self.choices)
            self.held_out_right.append(right)
            if self.options.early_stopping == "hold-out":
                mistakes = judged
        if self.watch is not None:
            active &= ~self.watch.exhausted(mistakes, took_part)
        self.active = active
        self.pass_ += 1

    # Between two batches --------------------------------------------------------------------------------------------

    def _require_finite_first(self, batch: RowBatch, first: int) -> None:
        """A pass over all rows finds NaN and infinity by itself; one that may end early does not."""
        if self.choices.max_updates is not None:
            batch.require_finite(first, self.source.feature_names)

    def _require_finite(self, outcome: _engine.Outcome, batch: RowBatch, first: int) -> None:
        if outcome.error is not None:
            raise outcome.error
        if not outcome.finite:
            batch.require_finite(first, self.source.feature_names)
            raise overflow()

    def _between(self, rows: int) -> None:
        if self.after_batch is not None:
            self.after_batch(rows)
        if self._progress is not None and time.monotonic() - self._ticked >= _TICK:
            self.tell()

    def seconds(self) -> float:
        """How long it has taken so far, with what came before a checkpoint."""
        return self.seconds_before + time.monotonic() - self.began

    def tell(self) -> None:
        """Tell whoever asked where the run is."""
        if self._progress is None:
            return
        self._ticked = now = time.monotonic()
        made = self._mistakes_so_far()
        in_pass = made - sum(self.history)
        rate = (self.done - self._rows_before) / max(now - self._pass_began, 1e-9)
        pass_, passes = self.pass_ + 1, self.options.passes
        self._progress(Progress(pass_, passes, self.done, rate, made, in_pass, *self.source.bytes()))

    def _mistakes_so_far(self) -> int:
        learner = self.learner
        if learner is None:
            return self._mistakes_ahead
        updates = learner.updates
        if isinstance(learner, GrowingLearner) and not learner.told:
            updates = updates[1:2] if learner.n_seen <= 2 else updates[: learner.n_seen]
        return int(updates.sum())

    def _begin_clock(self) -> None:
        self._pass_began, self._rows_before = time.monotonic(), self.done


def _nobody(learner: Learner, n: int) -> NDArray[np.int16]:
    """What rows are given before anybody has scored them: of two classes the first, which a score above 0 beats."""
    return np.full(n, 0 if learner.n_classes == 2 else -1, np.int16)
