"""Learning from rows whose classes and features are not known beforehand.

One class against the rest, a class that has not appeared yet has the label −1 in every row: all such classes share one
problem, "never seen", and a new class takes over a copy of it. So the result is, to the bit, that of classes known from
the start. While there are two classes only and ties are mistakes, the first one's problem is the exact negation of the
second one's, whatever the margin: it sleeps, and is filled in when a third class appears. "Never seen" may then be
left behind, too, if the rows can be read again should a third class appear. Weights grow in proportion, so that growing
costs no more than learning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import WeightOverflowError
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.learner import Learner, Readout, aligned_zeros
from rosenblatt.learning import Choices
from rosenblatt.runs.row_batches import RowBatch

NEVER = np.iinfo(np.int64).max
_WIDE = ("weights", "late_weights")
_OF_VECTORS = ("intercepts", "late_intercepts")
_OF_PROBLEMS = ("visits", "updates", "converged")
_MOST_ROOM = 1 << 27  # numbers that are asked for before they are needed
_WORTH_THREADS = 1 << 18  # products of a batch: below, to begin a thread takes as long as it saves
_FIRST_ROOM = 32  # vectors, where a third class has appeared: to move them is dear, and untouched memory is free


class GrowingLearner(Learner):
    """A learner whose arrays have room for more features and, unless its classes are told, for more classes.

    ``weights`` may then have more columns than ``n_features`` needs: zeros.
    """

    def __init__(self, n_told: int | None, *, joint: bool, readout: Readout, tie: str) -> None:
        super().__init__(n_told or 3, 1, joint=joint and n_told is not None, readout=readout)
        self.told = n_told is not None
        self.n_seen = n_told or 0
        self.first_sleeps = not self.told and tie == "mistake"
        self.left_behind = False  # the problem of the classes never seen: it waits for a third class
        arrays = {name: getattr(self, name) for name in (*_WIDE, *_OF_VECTORS, *_OF_PROBLEMS)}
        self._rooms: dict[str, NDArray[Any]] = {name: array for name, array in arrays.items() if array is not None}

    def admit(self, n_seen: int, n_features: int) -> bool:
        """Make room for more classes or features; whether anything changed."""
        if n_features <= self.n_features and (self.told or n_seen <= self.n_seen):
            return False
        self.n_features = max(self.n_features, n_features)
        if self.told:
            self._make_room(self.n_vectors)
            return True
        before = self.n_seen
        self.n_seen = max(before, n_seen)
        self._make_room(max(3, self.n_seen + 1))
        if self.first_sleeps and self.n_seen > 2:
            self._wake_first(min(before, 1))
        for slot in range(before + 1, self.n_seen + 1):
            self._copy(before, slot)
        return True

    def _wake_first(self, twin: int) -> None:
        """The first class's problem is the negation of the only other one: with 0 less each weight, so that 0 is 0."""
        self.first_sleeps = False
        if twin == 0:
            return  # nothing was learned yet
        self._copy(twin, 0)
        for name in (*_WIDE, *_OF_VECTORS):
            array = getattr(self, name)
            if array is not None:
                array[0] = 0.0 - array[0]

    def _copy(self, source: int, to: int) -> None:
        if not self.visits[source]:
            return  # nothing was learned yet: both are zeros
        for name in (*_WIDE, *_OF_VECTORS, *_OF_PROBLEMS):
            array = getattr(self, name)
            if array is not None:
                array[to] = array[source]

    def _make_room(self, n_vectors: int) -> None:
        rows, columns = self._rooms["weights"].shape
        if n_vectors > rows or self.n_features > columns:
            room = min(max(2 * rows, _FIRST_ROOM), _MOST_ROOM // max(self.n_features, columns))
            rows = rows if n_vectors <= rows else max(n_vectors, room)
            columns = columns if self.n_features <= columns else -(-max(self.n_features, columns * 3 // 2) // 8) * 8
            for name, room in self._rooms.items():
                used = getattr(self, name)  # what is beyond is zeros, and costs nothing before it is touched
                larger = aligned_zeros((rows, columns)) if name in _WIDE else np.zeros(max(rows, len(room)), room.dtype)
                larger[tuple(slice(n) for n in used.shape)] = used
                self._rooms[name] = larger
        self.n_vectors = n_vectors
        if not self.told:
            self.n_classes = self.n_problems = n_vectors
        for name, room in self._rooms.items():
            setattr(self, name, room[: self.n_problems if name in _OF_PROBLEMS else self.n_vectors])

    def take_over(self, learned: dict[str, Any], n_seen: int) -> None:
        """Go on from what the engine has learned by itself (`head_start`): the second class against the first.

        Of one class only, that is the problem of the classes never seen. Of two, these were left behind from the start.
        """
        self.admit(n_seen, learned["n_features"])
        for name in _WIDE:
            array = getattr(self, name)
            if array is not None:
                width = min(array.shape[1], len(learned[name]))  # beyond are zeros
                array[1, :width] = learned[name][:width]
        self.intercepts[1], self.visits[1], self.updates[1] = (learned[k] for k in ("intercept", "visits", "updates"))
        if self.late_intercepts is not None:
            self.late_intercepts[1] = learned["late_intercept"]
        self.left_behind = n_seen == 2

    def awake(self) -> NDArray[np.bool_]:
        """The problems that there is something to learn for."""
        awake = np.ones(self.n_problems, np.bool_)
        if not self.told:
            awake[self.n_seen + (0 if self.left_behind else 1) :] = False
            awake[0] = not self.first_sleeps
        return awake

    def never_seen(self) -> NDArray[np.bool_]:
        """The one problem of the classes that were never seen."""
        one = np.zeros(self.n_problems, np.bool_)
        one[self.n_seen] = True
        return one

    def settled(self, places: IntArray, n_features: int) -> Learner:
        """The learner of exactly the classes seen; the k-th of them, in the order of labels, is at ``places[k]``.

        It takes the arrays of this one, which is of no use any more.
        """
        n_classes = len(places)
        learner = Learner(n_classes, n_features, joint=self.joint, readout=self.readout)
        if not self.told:
            if n_classes == 2 and self.first_sleeps and places[1] == 0:
                self._wake_first(1)
            places = places[1:] if n_classes == 2 else places
        for name in (*_WIDE, *_OF_VECTORS, *_OF_PROBLEMS):
            array = getattr(self, name)
            if array is None:
                continue
            array = array if self.told else _ordered(array, places)
            if name in _WIDE and array.shape != (wanted := getattr(learner, name)).shape:
                columns = slice(0, min(wanted.shape[1], array.shape[1]))
                wanted[:, columns] = array[:, columns]
            else:
                setattr(learner, name, array)
        return learner

    # For a checkpoint -----------------------------------------------------------------------------------------------

    def growth(self) -> dict[str, Any]:
        """What the arrays do not tell."""
        names = ("n_seen", "n_features", "first_sleeps", "left_behind")
        return {name: getattr(self, name) for name in names}

    def regrow(self, growth: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Become what `growth` and `to_arrays` told of."""
        sleeps, self.first_sleeps = growth["first_sleeps"], False
        self.admit(growth["n_seen"], growth["n_features"])
        self.first_sleeps, self.left_behind = sleeps, growth["left_behind"]
        for name in (*_WIDE, *_OF_VECTORS, *_OF_PROBLEMS):
            if getattr(self, name) is not None:
                array = arrays[name]
                getattr(self, name)[tuple(slice(n) for n in array.shape)] = array


def _ordered(array: NDArray[Any], places: IntArray) -> NDArray[Any]:
    """The rows at these places, moved to the front in their order: a copy of wide rows costs as much as learning."""
    if len(places) == 1:
        return array[places[0] : places[0] + 1]
    row_at = list(range(len(array)))
    place_of = list(range(len(array)))
    for k, row in enumerate(places.tolist()):
        at, other = place_of[row], row_at[k]
        if at != k:
            array[[k, at]] = array[[at, k]]
            row_at[at], place_of[other] = other, at
    return array[: len(places)]


class Lesson:
    """One pass: batch after batch through the engine, with what the engine needs kept from batch to batch.

    ``active`` are the problems that take part; without it, those that a growing learner has awake. Between two batches
    nobody but this lesson may change the weights.
    """

    _beside: FloatArray | None = None  # a copy of the weights: see `Learner.side_by_side`
    _n_beside = 0  # vectors in it
    _scored = 0  # numbers since it was wanted

    def __init__(
        self,
        learner: Learner,
        choices: Choices,
        class_weight: FloatArray | None = None,
        *,
        active: NDArray[np.bool_] | None = None,
    ) -> None:
        self.learner, self.choices, self.class_weight = learner, choices, class_weight
        self.only = active
        self._rule = choices.rule()
        self.grown()

    def grown(self) -> None:
        """Take the learner's arrays anew: it has more classes or features."""
        learner = self.learner
        self._weight = np.ones(learner.n_classes) if self.class_weight is None else self.class_weight
        self._run = np.zeros(learner.n_problems, np.bool_)
        if self._beside is not None:
            columns, vectors = self._beside.shape
            if learner.n_vectors > vectors or learner.weights.shape[1] > columns:
                self._beside, self._scored = None, 0
            else:
                for new in range(self._n_beside, learner.n_vectors):
                    learned = np.flatnonzero(learner.weights[new])
                    self._beside[learned, new] = learner.weights[new, learned]
                self._n_beside = learner.n_vectors
        self._weights = learner.engine_weights(self._run, self._beside)

    def _stand_side_by_side(self, n_values: int) -> None:
        """From now on, if there is nothing to copy yet or as much was scored as there is to copy."""
        learner = self.learner
        self._scored += n_values
        columns = learner.weights.shape[1]
        if learner.visits.any() and self._scored < columns:
            return
        grows = isinstance(learner, GrowingLearner)
        vectors = learner.n_vectors * 3 // 2 if grows and self._n_beside else learner.n_vectors
        self._beside = learner.side_by_side(columns * 3 // 2 if grows else columns, vectors)
        self._scored, self._n_beside = 0, learner.n_vectors
        self._weights = learner.engine_weights(self._run, self._beside)

    def active(self) -> NDArray[np.bool_]:
        """The problems that take part and have updates left."""
        if self.only is not None:
            active = self.only
        else:
            assert isinstance(self.learner, GrowingLearner)
            active = self.learner.awake()
        budget = self.choices.max_updates
        return active if budget is None else active & (self.learner.updates < budget)

    def learn(
        self,
        batch: RowBatch,
        codes: NDArray[np.int16],
        *,
        subset: IntArray | None = None,
        predicted: NDArray[np.int16] | None = None,
        known_from: IntArray | None = None,
    ) -> _engine.Outcome:
        """Learn from a batch, or from the rows of `subset` in their order."""
        learner = self.learner
        self._run[:] = self.active()
        many = learner.n_vectors if learner.joint else int(np.count_nonzero(self._run))
        threads = self.choices.threads if many * batch.n_values >= _WORTH_THREADS else 1
        if self._beside is None and batch.sparse is not None and learner.scores_faster_beside(threads, many):
            self._stand_side_by_side(batch.n_values)
        labels = _engine.Labels(
            codes,
            n_classes=learner.n_classes,
            joint=learner.joint,
            class_weight=self._weight,
            sample_weight=batch.weights,
            subset=subset,
        )
        return _engine.run(
            batch.as_wide_as(learner.n_features).view,
            labels,
            self._rule,
            _engine.Schedule(max_passes=1, threads=threads),
            self._weights,
            keep_log=learner.votes is not None,
            predicted=predicted,
            known_from=known_from,
        )


def require_range(learner: Learner) -> None:
    """Raise if a weight has left the range of float64."""
    if not learner.is_finite():
        raise overflow()


def overflow() -> WeightOverflowError:
    """The error for weights or scores beyond float64."""
    return WeightOverflowError(
        "the weights or a score grew beyond the range of float64 while learning: scale the features down"
    )
