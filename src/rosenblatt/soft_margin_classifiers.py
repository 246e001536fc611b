"""The soft margin (note 003, §4) as a scikit-learn classifier."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import inputs, margins
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray
from rosenblatt.margin_classifiers import MarginClassifier, Support, one_or_each, positives
from rosenblatt.solving import soft_margin
from rosenblatt.solving.soft_margin import Bias, Problem, Solution, Start

_DEAREST = 1e100  # squares of sums of such costs stay in the range of float64


class SoftMarginClassifier(MarginClassifier):
    """What `SoftMargin` and `SoftMarginCV` share: the problems of the classes, and what is kept of their solutions."""

    slack_: FloatArray
    objective_: Any
    n_iter_: int

    def _weighted(
        self, X: Any, y: Any, sample_weight: Any, *, known: bool = False
    ) -> tuple[inputs.Rows, NDArray[Any], inputs.Codes, FloatArray]:
        """Rows, classes, class numbers, and the weight of each row."""
        rows, y = self._rows_and_labels(X, y, known=known)
        rows.require_finite()
        weights = inputs.sample_weight(sample_weight, len(rows))
        classes, codes = self._classes(y, weights)
        return rows, classes, codes, np.ones(len(rows)) if weights is None else weights

    def _problems(
        self, rows: inputs.Rows, classes: NDArray[Any], codes: inputs.Codes, weights: FloatArray, unit: float
    ) -> list[Problem]:
        """The binary problems, at `unit` for a unit of slack of a row of weight 1."""
        factors = inputs.class_weight(self.class_weight, classes, codes, weights)
        bias: Bias = self.bias if self.fit_intercept else "none"
        problems = []
        for positive in positives(classes):
            own = codes == positive
            # Of several classes only the positive one is weighted, as in scikit-learn and LIBLINEAR.
            factor = factors[codes] if len(classes) == 2 else np.where(own, factors[positive], 1.0)
            with np.errstate(over="ignore"):
                cost = unit * weights * factor
            if not cost.max() <= _DEAREST:
                raise InputError(
                    f"a unit of slack costs {cost.max():g} for some row (C times its weights), and {_DEAREST:g} is the "
                    "most that can be reckoned with: make C or the weights smaller"
                )
            problems.append(Problem(rows, np.where(own, 1.0, -1.0), cost, bias))
        return problems

    def _deadline(self) -> float | None:
        return None if self.time_limit is None else time.monotonic() + float(self.time_limit)

    def _solve(self, problems: Sequence[Problem], starts: Sequence[Start | None]) -> list[Solution]:
        """Solve each problem, as many at a time as there are threads."""
        threads = self._threads()
        at_once = min(threads, len(problems))

        def solve(problem: Problem, start: Start | None) -> Solution:
            return margins.solve_soft_margin(
                problem, gap=float(self.gap), start=start, deadline=self._deadline(), threads=threads // at_once
            )

        if at_once == 1:
            return [solve(problem, start) for problem, start in zip(problems, starts, strict=True)]
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(solve, problems, starts))

    def _accept(
        self, X: Any, classes: NDArray[Any], problems: Sequence[Problem], solutions: Sequence[Solution]
    ) -> None:
        self._keep(X, classes, [found.w for found in solutions], [found.b for found in solutions])
        self._keep_support([_soft_support(*pair) for pair in zip(problems, solutions, strict=True)])
        each = [soft_margin.slack(p, found.w, found.b) for p, found in zip(problems, solutions, strict=True)]
        self.slack_ = each[0] if len(each) == 1 else np.stack(each, axis=1)
        self.objective_ = one_or_each([found.primal for found in solutions])
        self.gap_ = max(found.gap for found in solutions)
        self.n_iter_ = max(found.steps for found in solutions)


class SoftMargin(SoftMarginClassifier):
    """The hyperplane of the soft margin, to a stated gap, for data that no hyperplane separates.

    It is argmin ½‖w‖² + C Σ ξ with y(w · x + b) ≥ 1 − ξ, ξ ≥ 0 (003 eq. 23).
    It ends when its duality gap, computed from the rows alone, is as small as asked: no other hyperplane is better by
    more than that part of the objective. A fit that does not get there says so, with the gap it reached.

    The offset is free, as in the note and in `sklearn.svm.SVC`: it costs nothing to move it. Where all offsets between
    two are equally good for the best w (the two classes press equally, and no row lies between), the middle is taken.

    Parameters
    ----------
    C : float, default 1.0
        What a unit of slack costs, as in scikit-learn. Not used if `C_note` is given.
    C_note : float, optional
        The note's C in place of `C`, which is then not used (and must be left at its default): it is divided by the
        number of rows (the sum of the sample weights, if there are any), ½‖w‖² + (C/N) Σ ξ, so that it means the same
        for any number of rows.
    fit_intercept : bool, default True
        Learn an offset b.
    bias : {"free", "regularised"}, default "free"
        "regularised" adds ½b² to the objective: what `sklearn.svm.LinearSVC` solves. It depends on where the origin is.
    gap : float, default 1e-6
        Stop when (primal − dual) / primal is at most this.
    class_weight : dict or "balanced", optional
        Multiplies C for a class (for the positive class in one-against-rest, as in scikit-learn).
    n_jobs : int, optional
        Threads; -1 for all processors.
    warm_start : bool, default False
        Start from the last fit's answer. It changes the time, and the answer within the gap.
    time_limit : float, optional
        Seconds after which the search ends, for each class against the rest.
    verbose : bool, default False
        Print a line for each binary problem.

    Attributes
    ----------
    classes_ : array
        The classes, sorted. ``classes_[1]`` is +1.
    coef_, intercept_ : array
        The hyperplane: shape (1, n_features) and (1,) for two classes, else a row for each class against the rest.
    slack_ : array of shape (n_rows,), or (n_rows, n_classes) for three classes or more
        ξ of each row: above 1 it is on the wrong side.
    objective_ : float or array
        ½‖w‖² + C Σ ξ; with three classes or more one for each.
    gap_ : float
        No hyperplane has an objective that is lower by more than this part; of several classes the largest.
    support_ : array
        The rows with a positive dual weight (for any class).
    dual_coef_ : array of shape (1 or n_classes, n_support)
        y times the dual weight of each of them, as `sklearn.svm.SVC` has it: to the gap,
        ``coef_ = dual_coef_ @ X[support_]``.
    n_iter_ : int
        Steps of the solver (the most of any class).
    hyperplane_ : Hyperplane
        ``coef_`` and ``intercept_`` for two classes, with their geometry.

    Examples
    --------
    >>> from rosenblatt import SoftMargin
    >>> model = SoftMargin(C=1.0).fit([[-2.0], [-1.0], [1.0], [-0.5]], [0, 0, 1, 1])
    >>> model.predict([[-3.0], [3.0]]), model.gap_ <= 1e-6
    (array([0, 1]), True)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        C_note: float | None = None,
        fit_intercept: bool = True,
        bias: str = "free",
        gap: float = 1e-6,
        class_weight: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        time_limit: float | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.C = C
        self.C_note = C_note
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.gap = gap
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the soft-margin problem to the gap asked for.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : array of shape (n_rows,)
            The label of each row, of any type that can be sorted.
        sample_weight : array of shape (n_rows,), optional
            Multiplies what the slack of each row costs: weight 2 is the same as the row twice.

        Returns
        -------
        self
        """
        self._check_parameters()
        goes_on = bool(self.warm_start) and hasattr(self, "coef_")
        rows, classes, codes, weights = self._weighted(X, y, sample_weight, known=goes_on)
        unit = float(self.C) if self.C_note is None else float(self.C_note) / float(weights.sum())
        problems = self._problems(rows, classes, codes, weights, unit)
        starts = self._starts(problems, classes) if goes_on else [None] * len(problems)
        solutions = self._solve(problems, starts)
        self._accept(X, classes, problems, solutions)
        if self.verbose:
            for positive, found in zip(positives(classes), solutions, strict=True):
                print(
                    f"{type(self).__name__}, +1 is {classes[positive]!s}: {found.status} after {found.steps} steps, "
                    f"objective {found.primal:.8g}, gap {found.gap:.1e}"
                )
        warn_of_gaps(type(self).__name__, solutions, float(self.gap))
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.C_note is not None and self.C != 1.0:
            raise InputError(
                f"C={self.C:g} and C_note={self.C_note:g} state one thing twice: C_note is C times the number of rows. "
                "Give one of them, and leave the other at its default"
            )

    def _starts(self, problems: Sequence[Problem], classes: NDArray[Any]) -> list[Start | None]:
        """The last answer as the first guess; its dual weights only if there are as many rows as then."""
        if not np.array_equal(classes, self.classes_):
            raise InputError(
                f"warm_start goes on with the classes {self.classes_.tolist()!r}, but y has {classes.tolist()!r}"
            )
        starts: list[Start | None] = []
        for k, problem in enumerate(problems):
            dual = np.zeros(len(problem.y))
            if len(dual) == len(self.slack_):
                dual[self.support_] = np.abs(self.dual_coef_[k])
            starts.append(Start(self.coef_[k], float(self.intercept_[k]), dual))
        return starts


def _soft_support(problem: Problem, found: Solution) -> Support:
    rows = np.flatnonzero(found.weights)
    return Support(rows, found.weights[rows] * problem.y[rows])


def warn_of_gaps(name: str, solutions: Sequence[Solution], gap: float) -> None:
    """Warn if a gap was not reached, and say what to do."""
    worst = max(solutions, key=lambda found: found.gap)
    if worst.gap <= gap:
        return
    late = worst.status == "out of time"
    lower = (
        "nothing is known yet of how good the hyperplane is"
        if worst.gap >= 1
        else "another hyperplane may have an objective that is lower by this part, not by more"
    )
    warnings.warn(
        f"{name} stopped with a duality gap of {worst.gap:.1e}, not {gap:g}"
        f"{' (time_limit)' if late else ' (it came no further in float64)'}: {lower}. "
        f"{'Give it more time, or accept' if late else 'Accept'} it with a larger gap, "
        "scale the features (sklearn.preprocessing.StandardScaler), or choose a smaller C.",
        ConvergenceWarning,
        stacklevel=3,
    )
