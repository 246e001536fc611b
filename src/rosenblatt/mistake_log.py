"""What a run can be replayed from: where it began, which rows it visited, and its mistakes. Learning fills it in.

A mistake is kept as its row, its visit and its step, and no vector: memory is 24 bytes a mistake (32 learned jointly),
whatever the number of features. The vectors are rebuilt from it by `trace_replay`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import FloatArray, IntArray

if TYPE_CHECKING:
    from rosenblatt.kernels.expansions import KernelLearner
    from rosenblatt.learner import Learner
    from rosenblatt.learning import Choices, Examples

    AnyLearner: TypeAlias = Learner | KernelLearner

_FIELDS = {"row": np.int64, "visit": np.int64, "step": np.float64}
_JOINT_FIELDS = {**_FIELDS, "up": np.int32, "down": np.int32}


class MistakeLog:
    """The mistakes of each problem of a run, in sequence. With `max_visits` the run ends after the pass that has them.

    `visited` are the rows that are visited, None for all; `first_weights` and `first_intercepts` the first guess,
    padded as the learner pads it.
    """

    def __init__(self, max_visits: int | None = None) -> None:
        self.max_visits = max_visits
        self.visited: IntArray | None = None
        self.visits: IntArray = np.zeros(0, np.int64)
        self.expansion: KernelLearner | None = None  # what a kernel perceptron learned
        self._blocks: list[list[dict[str, NDArray[Any]]]] = []

    def begin(
        self, learner: Learner | KernelLearner, examples: Examples, choices: Choices, visited: IntArray | None
    ) -> None:
        """Note where the run begins and whom it will visit."""
        self.examples, self.choices, self.visited = examples, choices, visited
        self.joint = learner.joint
        first: Any = learner
        if hasattr(first, "weights"):  # an expansion in kernels has no vector, and begins with 0
            self.first_weights: FloatArray = first.weights.copy()
            self.first_intercepts: FloatArray = first.intercepts.copy()
        self._fields = _JOINT_FIELDS if learner.joint else _FIELDS
        self._blocks = [[] for _ in range(learner.n_problems)]

    def enough(self, learner: AnyLearner) -> NDArray[np.bool_]:
        """Which problems have made the visits that are wanted."""
        if self.max_visits is None:
            return np.zeros(learner.n_problems, bool)
        return learner.visits >= self.max_visits

    def extend(self, logs: list[dict[str, NDArray[Any]]]) -> None:
        """Add the mistakes of some passes, a log for each problem as the engine keeps it."""
        for kept, log in zip(self._blocks, logs, strict=True):
            if len(log["row"]):
                kept.append({name: np.asarray(log[name], dtype) for name, dtype in self._fields.items()})

    def end(self, learner: AnyLearner) -> None:
        """Note how far it came. Early stopping goes back to earlier weights: what came after them is forgotten."""
        self.visits = learner.visits.copy()
        for problem, count in enumerate(learner.updates.tolist()):
            self._keep(problem, count)

    def cut(self) -> bool:
        """Forget what came after `max_visits`; whether there was more than that."""
        if self.max_visits is None or not (self.visits > self.max_visits).any():
            return False
        self.visits = np.minimum(self.visits, self.max_visits)
        for problem in range(self.n_problems):
            visit = self.mistakes(problem)["visit"]
            self._keep(problem, int(np.searchsorted(visit, self.max_visits, side="right")))
        return True

    def _keep(self, problem: int, count: int) -> None:
        self._blocks[problem] = [{name: column[:count] for name, column in self.mistakes(problem).items()}]

    @property
    def n_problems(self) -> int:
        """Two classes, or all jointly, are one; otherwise each class is."""
        return len(self._blocks)

    @property
    def n_visited(self) -> int:
        """How many rows a whole pass visits."""
        return len(self.examples.rows) if self.visited is None else len(self.visited)

    def mistakes(self, problem: int) -> dict[str, NDArray[Any]]:
        """The mistakes of a problem: row, visit, step; learned jointly also the classes moved up and down."""
        blocks = self._blocks[problem]
        if len(blocks) != 1:
            columns = {name: [block[name] for block in blocks] for name in self._fields}
            blocks[:] = [
                {name: np.concatenate([*columns[name], np.empty(0, dtype)]) for name, dtype in self._fields.items()}
            ]
        return blocks[0]

    def passes(self, problem: int) -> IntArray:
        """The pass of each mistake, from 1."""
        visit = self.mistakes(problem)["visit"]
        if self.choices.restart:  # a mistake ends its pass
            return np.arange(1, len(visit) + 1)
        return (visit - 1) // self.n_visited + 1

    def n_passes(self, problem: int) -> int:
        """How many passes were begun."""
        visits = int(self.visits[problem])
        if not self.choices.restart:
            return -(-visits // self.n_visited)
        visit = self.mistakes(problem)["visit"]
        return len(visit) + int(visits > (visit[-1] if len(visit) else 0))

    def visited_rows(self, problem: int) -> IntArray:
        """The row of every visit, in sequence: a pass is a function of (seed, pass, rows), so nothing of it is kept."""
        from rosenblatt import _engine

        visits, n = int(self.visits[problem]), self.n_visited
        if self.choices.restart:
            visit = self.mistakes(problem)["visit"]
            starts = np.concatenate([[0], visit]).astype(np.int64)
            places = np.arange(visits) - np.repeat(starts, np.diff(np.append(starts, visits)))
        elif self.choices.shuffle:
            seed, first = self.choices.seed, self.choices.first_pass
            orders = [_engine.order(seed, first + p, n) for p in range(-(-visits // n))]
            places = np.concatenate([*orders, np.empty(0, np.int64)])[:visits]
        else:
            places = np.arange(visits) % n
        return places if self.visited is None else self.visited[places]
