"""Every mistake of a run, and what was learned from it: to be stepped through, printed, drawn and checked.

The worked example of note 001, in which a score of 0 counts as +1:

>>> import rosenblatt as rb
>>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
>>> y = [-1, +1, +1, -1, -1, +1]
>>> print(rb.trace(X, y, keep="visits", max_iter=1, tie="positive", shuffle=False, fit_intercept=False))
x1  x2  ŷ  y  Mistake?  w
                        (0, 0)
-1   2  +  -  Yes       (1, -2)
 1   0  +  +  No
 1   1  -  +  Yes       (2, -1)
-1   0  -  -  No
-1  -2  +  -  Yes       (3, 1)
 1  -1  +  +  No
3 mistakes in 6 visits, 1 pass; ended by max_iter=1.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs, notebooks, perceptrons
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Limit
from rosenblatt.kernel_perceptron import KernelPerceptron
from rosenblatt.mistake_driven import MistakeDrivenClassifier
from rosenblatt.mistake_log import MistakeLog
from rosenblatt.tracing import export as trace_export
from rosenblatt.tracing import proof as trace_proof
from rosenblatt.tracing import steps as trace_steps
from rosenblatt.tracing import table as trace_table
from rosenblatt.tracing.expansion import ExpansionReplay
from rosenblatt.tracing.proof import Proof
from rosenblatt.tracing.replay import Replay
from rosenblatt.tracing.steps import Columns, Step

__all__ = ["Proof", "Step", "Trace", "trace"]

ALGORITHMS: dict[str, type[MistakeDrivenClassifier]] = {
    "perceptron": perceptrons.Perceptron,
    "averaged": perceptrons.AveragedPerceptron,
    "voted": perceptrons.VotedPerceptron,
    "kernel": KernelPerceptron,
}
_LIMITS = {
    "algorithm": Limit(choices=tuple(ALGORITHMS)),
    "keep": Limit(choices=("mistakes", "visits")),
    "max_steps": inputs.integer(1, none=True),
}


def trace(
    X: Any,
    y: Any,
    *,
    algorithm: str = "perceptron",
    keep: str = "mistakes",
    max_steps: int | None = None,
    certificate: Any = None,
    coef_init: Any = None,
    intercept_init: Any = None,
    sample_weight: Any = None,
    **parameters: Any,
) -> Trace:
    """Learn as an estimator does, and keep every mistake on the way.

    Parameters
    ----------
    X, y, coef_init, intercept_init, sample_weight
        As for `Perceptron.fit`.
    algorithm : {"perceptron", "averaged", "voted", "kernel"}, default "perceptron"
        `Perceptron`, `AveragedPerceptron` or `VotedPerceptron`. They make the same mistakes, and differ in what
        predicts: the last vector, the average (`Trace.average`), or the vote of all by their survival
        (`Trace.survival`). `KernelPerceptron` has no vector: `Trace.weights` has the coefficients of its support rows.
    keep : {"mistakes", "visits"}, default "mistakes"
        Whether the steps of the trace are the mistakes only, or all visits.
    max_steps : int, optional
        Stop after so many mistakes (or visits, if they are kept) of each binary problem. `Trace.truncated` says if that
        has happened.
    certificate : Separable, JointSeparable or CertificateTable, optional
        What `certify` proved of the data: for `Trace.proof`.
    **parameters
        The parameters of the estimator: ``tie``, ``shuffle``, ``restart``, ``max_iter``, ``eta0``, ... Those of a
        lecture note are ``**textbook.variant("001")``.

    Returns
    -------
    Trace

    Examples
    --------
    >>> import rosenblatt as rb
    >>> trace = rb.trace([[1, 1], [2, 0], [-1, 0]], [1, 1, 0], shuffle=False)
    >>> trace.row, trace.pass_, trace.converged
    (array([0, 2]), array([1, 1]), True)
    >>> trace.weights(2)
    (array([2., 1.]), 0.0)
    """
    given = {"algorithm": algorithm, "keep": keep, "max_steps": max_steps}
    inputs.check_parameters("trace", given, _LIMITS)
    model = _estimator(ALGORITHMS[algorithm], parameters)
    budget = model.max_updates
    if algorithm == "kernel":
        _require_expansion(model, coef_init, intercept_init)
    log = MistakeLog(max_steps if keep == "visits" else None)
    if max_steps is not None and keep == "mistakes":
        model.max_updates = max_steps if budget is None else min(budget, max_steps)
    report = model._traced(X, y, coef_init, intercept_init, sample_weight, log)
    stopped = keep == "mistakes" and model.max_updates != budget and bool((model.updates_per_class_ == max_steps).any())
    more = log.cut()
    if keep == "visits" and max_steps is not None:
        stopped = more or (not report.converged and bool((log.visits >= max_steps).any()))
    model.max_updates = budget
    return Trace(
        log,
        classes=model.classes_,
        parameters=model.get_params(deep=False),
        algorithm=algorithm,
        keep=keep,
        max_steps=max_steps,
        mistakes_per_pass=None if more else report.mistakes_per_pass,
        converged=report.converged and not more,
        truncated=stopped,
        certificate=certificate,
    )


def _estimator(kind: type[MistakeDrivenClassifier], parameters: dict[str, Any]) -> MistakeDrivenClassifier:
    known = kind().get_params(deep=False)
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise InputError(
            f"trace has no parameter {unknown[0]!r}: it takes those of {kind.__name__}, {', '.join(sorted(known))}"
        )
    model = kind(**parameters)
    model._check_parameters()
    return model


def _require_expansion(model: MistakeDrivenClassifier, coef_init: Any, intercept_init: Any) -> None:
    if coef_init is not None or intercept_init is not None:
        raise InputError("a kernel perceptron begins with 0: leave coef_init and intercept_init out")
    if model.get_params(deep=False)["max_support"] is not None:
        raise InputError("a budget of support rows forgets mistakes, which a trace keeps: set max_support=None")


class Trace:
    """The mistakes of a run in sequence, and the vectors between them, rebuilt when asked for.

    A mistake is kept as its row and its step; `weights` adds these rows up again, in the same order, so that it gives
    the first guess at the beginning and the fitted weights at the end, to the bit. Of several binary problems (a class
    against the rest each) one comes after the other. `len`, iteration and indexing are over the steps that are kept:
    the mistakes, or with ``keep="visits"`` every visit. `print` shows the table of note 001.

    Attributes
    ----------
    X, y : array
        The rows, as they were given if they could be used so, and their labels.
    classes_ : array
        The classes, sorted. ``classes_[1]`` is +1.
    parameters : dict
        Those of the estimator.
    algorithm, keep, max_steps, certificate
        As they were given to `trace`.
    n_problems, n_updates, n_visits, n_passes : int
        Binary problems, mistakes, visits (both of all problems), and the most passes of any problem.
    mistakes_per_pass : array
        How many in each pass, of all problems.
    converged : bool
        The last pass made no mistake.
    truncated : bool
        `max_steps` ended it.
    row, visit, pass_, step, problem : array
        Of each mistake: its row (from 0), its visit and pass (from 1), what the row was multiplied with, its problem.
    up, down : array
        Learned jointly: the numbers of the classes whose vectors were moved; else −1.
    score, norm, undershot : array
        Of each mistake: the score before, ‖x‖, and whether the row was misclassified even after the update (note 004).
    """

    def __init__(
        self,
        log: MistakeLog,
        *,
        classes: NDArray[Any],
        parameters: dict[str, Any],
        algorithm: str,
        keep: str,
        max_steps: int | None,
        mistakes_per_pass: IntArray | None,
        converged: bool,
        truncated: bool,
        certificate: Any,
    ) -> None:
        self._log = log
        self.classes_, self.parameters, self.algorithm, self.keep = classes, parameters, algorithm, keep
        self.max_steps, self.converged, self.truncated = max_steps, converged, truncated
        self.certificate = certificate
        self.n_problems, self.joint = log.n_problems, log.joint
        rows = log.examples.rows
        self.X: Any = rows.dense if rows.dense is not None else rows.sparse
        self.feature_names = rows.feature_names
        self.n_visits = int(log.visits.sum())
        logs = [log.mistakes(problem) for problem in range(self.n_problems)]
        self._ends = np.cumsum([len(own["row"]) for own in logs]).tolist()
        self.n_updates: int = self._ends[-1]
        self.row: IntArray = _joined([own["row"] for own in logs])
        self.visit: IntArray = _joined([own["visit"] for own in logs])
        self.step: FloatArray = _joined([own["step"] for own in logs])
        self.pass_: IntArray = _joined([log.passes(problem) for problem in range(self.n_problems)])
        self.mistakes_per_pass = self._counted() if mistakes_per_pass is None else mistakes_per_pass
        self.n_passes = len(self.mistakes_per_pass)

    def _counted(self) -> IntArray:
        passes = max(self._log.n_passes(problem) for problem in range(self.n_problems))
        return np.bincount(self.pass_ - 1, minlength=passes).astype(np.int64)

    # Mistakes, as arrays --------------------------------------------------------------------------------------------

    @property
    def y(self) -> NDArray[Any]:
        """The labels."""
        labels: NDArray[Any] = self.classes_[self._log.examples.codes]
        return labels

    @property
    def seed(self) -> int:
        """What the shuffled orders depend on."""
        return self._log.choices.seed

    @property
    def fit_intercept(self) -> bool:
        """Whether an intercept is learned; a kernel has its offset inside."""
        return self._log.choices.fit_intercept

    @property
    def margin(self) -> float:
        """How many times what learning adds a row must be right by not to be learned from: the parameter."""
        return self._log.choices.margin

    @property
    def support(self) -> IntArray | None:
        """The rows that a kernel perceptron made mistakes on, ascending: `weights` has a number for each. Else None."""
        replay = self._replays[0]
        return replay.support if isinstance(replay, ExpansionReplay) else None

    @property
    def problem(self) -> NDArray[np.int32]:
        """The problem of each mistake: the number of the class in one-against-rest, else 0."""
        if self.n_problems == 1:
            return trace_steps.constant(0, self.n_updates, np.int32)
        return np.repeat(np.arange(self.n_problems, dtype=np.int32), np.diff([0, *self._ends]))

    @property
    def up(self) -> NDArray[np.int32]:
        """Learned jointly: the number of the class that each mistake moved up; else −1."""
        return self._log.mistakes(0)["up"] if self.joint else trace_steps.constant(-1, self.n_updates, np.int32)

    @property
    def down(self) -> NDArray[np.int32]:
        """Learned jointly: the number of the class that each mistake moved down; else −1."""
        return self._log.mistakes(0)["down"] if self.joint else trace_steps.constant(-1, self.n_updates, np.int32)

    @property
    def score(self) -> FloatArray:
        """The score of each mistake before it was learned from; jointly, how far its class was above the rival."""
        return self._mistakes.score

    @property
    def norm(self) -> FloatArray:
        """‖x‖ of each mistake."""
        return self._mistakes.norm

    @property
    def undershot(self) -> NDArray[np.bool_]:
        """Whether each mistake was still one after it was learned from (note 004)."""
        return self._mistakes.undershot

    @cached_property
    def _mistakes(self) -> Columns:
        log, problems = self._log, range(self.n_problems)
        passes = [self.pass_[self.updates(p)] for p in problems]
        return _in_sequence([trace_steps.of_mistakes(log, self._replay(p), p, passes[p]) for p in problems])

    @cached_property
    def steps(self) -> Columns:
        """The steps that are kept, as columns: the mistakes, or every visit."""
        if self.keep == "mistakes":
            return self._mistakes
        return _in_sequence([trace_steps.of_visits(self._log, self._replay(p), p) for p in range(self.n_problems)])

    def updates(self, problem: int = 0) -> slice:
        """Where the mistakes of a problem are among all."""
        self._require_problem(problem)
        return slice(self._ends[problem - 1] if problem else 0, self._ends[problem])

    # Vectors --------------------------------------------------------------------------------------------------------

    def weights(self, k: int = -1, problem: int = 0) -> tuple[FloatArray, Any]:
        """The vector and the intercept of a problem after k of its mistakes.

        Parameters
        ----------
        k : int, default -1
            0 is the first guess; -1 the end.
        problem : int, default 0
            The number of the class in one-against-rest, else 0.

        Returns
        -------
        w, b : array of shape (n_features,) and float; learned jointly (n_classes, n_features) and (n_classes,)
            With a kernel the coefficients of `support` in place of w, as in ``dual_coef_``.
        """
        w, b = self._replay(problem).at(self._count(k, problem))
        return self._plain(w, b)

    def path(self, problem: int = 0) -> tuple[FloatArray, FloatArray]:
        """All vectors of a problem, w and b, from the first guess to the end: an entry for each.

        That many vectors are made, so this is for short traces; `weights` goes to one of them.
        """
        replay = self._replay(problem)
        w, _ = replay.at(0)
        shape = len(replay) + 1, len(w)
        W, B = np.empty((*shape, replay.width)), np.empty(shape)
        for places, some_w, some_b in replay.path(0, len(replay)):
            W[places], B[places] = some_w, some_b
        return (W, B) if self.joint else (W[:, 0], B[:, 0])

    def average(self, k: int = -1, problem: int = 0) -> tuple[FloatArray, Any]:
        """The mean of the first k + 1 vectors by survival (note 002): at the end, what AveragedPerceptron learned."""
        k = self._count(k, problem)
        visit = self._log.mistakes(problem)["visit"]
        visits = int(visit[k]) - 1 if k < len(visit) else int(self._log.visits[problem])
        return self._plain(*self._replay(problem).average(k, visits))

    def survival(self, problem: int = 0) -> IntArray:
        """For the first guess and the vector after each mistake: after how many visits it was current (note 002)."""
        self._require_problem(problem)
        visit = self._log.mistakes(problem)["visit"]
        return np.diff(np.concatenate([[1], visit, [self._log.visits[problem] + 1]])).astype(np.int64)

    def _replay(self, problem: int) -> Replay | ExpansionReplay:
        self._require_problem(problem)
        return self._replays[problem]

    @cached_property
    def _replays(self) -> Sequence[Replay | ExpansionReplay]:
        log, rows = self._log, self._log.examples.rows
        if log.expansion is not None:
            return [ExpansionReplay(rows, log.expansion, log.mistakes(p), p) for p in range(self.n_problems)]
        vectors = [slice(None)] if self.joint else [slice(p, p + 1) for p in range(self.n_problems)]
        return [
            Replay(
                rows,
                log.first_weights[own],
                log.first_intercepts[own],
                log.mistakes(problem),
                fit_intercept=log.choices.fit_intercept,
            )
            for problem, own in enumerate(vectors)
        ]

    def _plain(self, w: FloatArray, b: FloatArray) -> tuple[FloatArray, Any]:
        w = w[:, : self._replays[0].width]
        return (w, b) if self.joint else (w[0], float(b[0]))

    def _count(self, k: int, problem: int) -> int:
        length = len(self._replay(problem))
        place = operator.index(k)
        place = place + length + 1 if place < 0 else place
        if not 0 <= place <= length:
            raise InputError(f"k must be from 0, the first guess, to {length}, after the last mistake; got {k}")
        return place

    def _require_problem(self, problem: int) -> None:
        if not 0 <= problem < self.n_problems:
            what = "one problem, 0" if self.n_problems == 1 else f"problems from 0 to {self.n_problems - 1}"
            raise InputError(f"this trace has {what}; got problem {problem}")

    # Steps ----------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_updates if self.keep == "mistakes" else self.n_visits

    @overload
    def __getitem__(self, place: int) -> Step: ...
    @overload
    def __getitem__(self, place: slice) -> list[Step]: ...
    def __getitem__(self, place: int | slice) -> Step | list[Step]:
        if isinstance(place, slice):
            return [self._step(i) for i in range(*place.indices(len(self)))]
        number = operator.index(place)
        number = number + len(self) if number < 0 else number
        if not 0 <= number < len(self):
            raise IndexError(f"the trace has {len(self)} steps; there is no step {place}")
        return self._step(number)

    def __iter__(self) -> Iterator[Step]:
        return (self._step(i) for i in range(len(self)))

    def _step(self, i: int) -> Step:
        columns, log = self.steps, self._log
        problem, row, learned = int(columns.problem[i]), int(columns.row[i]), int(columns.learned[i])
        mistake = bool(columns.mistake[i])
        replay, own = self._replay(problem), log.mistakes(problem)
        w, b = replay.at(learned)
        before = after = self._plain(w, b)
        if mistake:
            before = before[0].copy(), before[1].copy() if self.joint else before[1]
            replay.advance(w, b, learned, learned + 1)
            after = self._plain(w, b)
        moved = [self.classes_[own[name][learned]] for name in ("up", "down")] if self.joint and mistake else [None] * 2
        x = log.examples.rows.take(np.asarray([row]))
        label, prediction = (names[0] for names in trace_export.labels(self, columns.some(slice(i, i + 1))))
        return Step(
            number=i + 1,
            problem=problem,
            pass_=int(columns.pass_[i]),
            visit=int(columns.visit[i]),
            row=row,
            x=np.asarray(x.toarray() if hasattr(x, "toarray") else x, np.float64)[0],
            label=label,
            score=float(columns.score[i]),
            prediction=prediction,
            mistake=mistake,
            step=float(own["step"][learned]) if mistake else 0.0,
            up=moved[0],
            down=moved[1],
            w_before=before[0],
            b_before=before[1],
            w_after=after[0],
            b_after=after[1],
            norm=float(columns.norm[i]),
            undershot=bool(columns.undershot[i]),
        )

    # Beside a certificate -------------------------------------------------------------------------------------------

    def proof(self, certificate: Any = None, problem: int = 0) -> Proof:
        """The convergence proof as data: both sides of both lemmas after each mistake.

        Parameters
        ----------
        certificate : Separable, JointSeparable or CertificateTable, optional
            What `certify` proved of the same data, with the same ``fit_intercept``. The default is the one given to
            `trace`.
        problem : int, default 0
            The number of the class in one-against-rest, else 0.

        Returns
        -------
        Proof
        """
        certificate = self.certificate if certificate is None else certificate
        self._require_problem(problem)
        return trace_proof.proof(self, certificate, problem)

    # To be shown and kept -------------------------------------------------------------------------------------------

    def to_frame(self, library: str | None = None, *, weights: bool = False) -> Any:
        """The steps as a data frame.

        Parameters
        ----------
        library : {"polars", "pandas"}, optional
            Whose frame; the default is the first of the two that is installed.
        weights : bool, default False
            Add a column for each weight and the intercept after the step; not for joint learning.

        Returns
        -------
        A polars or pandas DataFrame
        """
        return trace_export.to_frame(self, library, weights=weights)

    def to_json(self, *, rows: bool = True) -> str:
        """The trace as text, for programs: a JSON object, described in the documentation (Traces).

        Parameters
        ----------
        rows : bool, default True
            Whether the rows of the steps are in it, so that it can be replayed without the data.
        """
        return trace_export.to_json(self, rows=rows)

    def table(self, max_rows: int | None = 30, width: int | None = None) -> str:
        """The table of note 001: features, prediction, label, mistake?, and w after each mistake.

        Parameters
        ----------
        max_rows : int or None, default 30
            Of longer traces the beginning and the end; None: all.
        width : int, optional
            The columns of a terminal, for instance: of a wider table the features are left out, then the middle of the
            vectors, and it says so.
        """
        return trace_table.as_text(self, max_rows, width)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return trace_table.as_html(self) + notebooks.picture(self)

    def __repr__(self) -> str:
        return f"<Trace of {self.algorithm}: {trace_table.summary(self)}>"


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _in_sequence(parts: list[Columns]) -> Columns:
    return Columns(**{name: _joined([getattr(part, name) for part in parts]) for name in vars(parts[0])})
