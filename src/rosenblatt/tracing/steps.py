"""The steps of a trace: what is kept of each, as columns, and one of them with its vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import learning
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.mistake_log import MistakeLog
from rosenblatt.tracing.expansion import ExpansionReplay
from rosenblatt.tracing.replay import Replay, Scores


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a trace: a visit to a row, and what was learned from it if it was a mistake.

    Attributes
    ----------
    number : int
        Its place in the trace, from 1.
    problem : int
        The binary problem it belongs to: the number of the class in one-against-rest, else 0.
    pass_, visit : int
        Of its problem, from 1.
    row : int
        The row visited, from 0.
    x : array
        Its features.
    label : object
        Its label. In one-against-rest: +1 for the class of the problem, −1 for the rest.
    score : float
        w · x + b before the step; learned jointly, how much the score of the true class is above its highest rival's.
    prediction : object
        The label predicted; None where the score is 0 and the rule says that 0 is a mistake (000 eq. 3.1: undefined).
    mistake : bool
        Whether something was learned from it.
    step : float
        What x was multiplied with: ± eta0 times the weights of the row; 0 if it was no mistake.
    up, down : object
        Learned jointly: the labels of the classes whose vectors were moved; else None.
    w_before, b_before, w_after, b_after : array, float
        The vector before and after; learned jointly, a row of w and a number of b for each class. With a kernel, the
        coefficient of each row of `Trace.support`.
    norm : float
        ‖x‖; with a kernel ‖Φ(x)‖ = √K(x, x).
    undershot : bool
        Whether x is misclassified even after the update (note 004).
    """

    number: int
    problem: int
    pass_: int
    visit: int
    row: int
    x: FloatArray
    label: Any
    score: float
    prediction: Any
    mistake: bool
    step: float
    up: Any
    down: Any
    w_before: FloatArray
    b_before: Any
    w_after: FloatArray
    b_after: Any
    norm: float
    undershot: bool


@dataclass(frozen=True)
class Columns:
    """Some steps in sequence, an entry of each array for each of them."""

    problem: NDArray[np.int32]
    pass_: IntArray
    visit: IntArray
    row: IntArray
    score: FloatArray
    norm: FloatArray
    undershot: NDArray[np.bool_]
    mistake: NDArray[np.bool_]
    learned: IntArray  # mistakes of the problem before this step

    def __len__(self) -> int:
        return len(self.row)

    def some(self, places: Any) -> Columns:
        """Those at some places."""
        return Columns(**{name: column[places] for name, column in vars(self).items()})


def constant(value: Any, count: int, dtype: type[Any]) -> NDArray[Any]:
    """One number so many times, without the memory."""
    return np.broadcast_to(np.asarray(value, dtype), count)


def of_mistakes(log: MistakeLog, replay: Replay | ExpansionReplay, problem: int, passes: IntArray) -> Columns:
    """The mistakes of a problem, given the pass of each."""
    mistakes = log.mistakes(problem)
    count = len(mistakes["row"])
    score, norm, undershot = _observed(log, problem, mistakes["row"], replay.scores())
    return Columns(
        problem=constant(problem, count, np.int32),
        pass_=passes,
        visit=mistakes["visit"],
        row=mistakes["row"],
        score=score,
        norm=norm,
        undershot=undershot,
        mistake=constant(True, count, np.bool_),
        learned=np.arange(count),
    )


def of_visits(log: MistakeLog, replay: Replay | ExpansionReplay, problem: int) -> Columns:
    """Every visit of a problem, rebuilt: whom a pass visits is known, and the score of each follows."""
    rows, learned_at = log.visited_rows(problem), log.mistakes(problem)["visit"]
    visit = np.arange(1, len(rows) + 1)
    learned = np.searchsorted(learned_at, visit, side="left").astype(np.int64)
    mistake = np.zeros(len(rows), bool)
    mistake[learned_at - 1] = True
    score, norm, undershot = _observed(log, problem, rows, replay.visit_scores(rows))
    return Columns(
        problem=constant(problem, len(rows), np.int32),
        pass_=learned + 1 if log.choices.restart else (visit - 1) // log.n_visited + 1,
        visit=visit,
        row=rows,
        score=score,
        norm=norm,
        undershot=undershot & mistake,
        mistake=mistake,
        learned=learned,
    )


def side_of(log: MistakeLog, problem: int, rows: IntArray) -> IntArray:
    """The labels of rows in a binary problem: +1 or −1."""
    positive = 1 if len(log.examples.class_weight) == 2 else problem
    return np.where(log.examples.codes[rows] == positive, 1, -1)


def _observed(
    log: MistakeLog, problem: int, rows: IntArray, blocks: Any
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """The score of each visit, ‖x‖, and whether the row is wrong after it."""
    score, norm, wrong = np.empty(len(rows)), np.empty(len(rows)), np.empty(len(rows), bool)
    scores: Scores
    for block, scores in blocks:
        norm[block] = np.sqrt(scores.squares)
        if log.joint:
            codes = log.examples.codes[rows[block]]
            score[block] = _lead(scores.before, codes)
            wrong[block] = ~learning.joint_right(scores.after, codes, log.choices.tie)
        else:
            y = side_of(log, problem, rows[block])
            score[block] = scores.before[:, 0]
            wrong[block] = learning.binary_wrong(scores.after[:, 0], y, log.choices.tie)
    return score, norm, wrong


def _lead(scores: FloatArray, codes: NDArray[Any]) -> FloatArray:
    """How far the true class is above its highest rival."""
    places = np.arange(len(codes))
    truth, rivals = scores[places, codes], scores.copy()
    rivals[places, codes] = -np.inf
    return np.asarray(truth - rivals.max(axis=1))
