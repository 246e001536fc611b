"""LIBSVM and LIBLINEAR through scikit-learn, on the hinge loss: what they take, and how far they stay off the optimum.

LIBLINEAR has no free bias: it regularises it, as an added feature of 1, which is our bias="regularised" exactly. It is
driven by its number of passes, with its tolerance out of the way, until the excess of its objective is small enough.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from benchmarks import timing
from rosenblatt.solving.soft_margin import Problem, best_offset, judge, scores

LIMIT = 60.0  # seconds: a run beyond is the last one
PASSES = (10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)


@dataclass(frozen=True)
class Run:
    """What a peer took, and by what part its objective is above the optimum."""

    setting: str
    seconds: float
    excess: float

    def __str__(self) -> str:
        return f"{self.setting}: {self.seconds:.3g} s, excess {self.excess:.1e}"


def libsvm(problem: Problem, optimum: float, tolerance: float) -> Run:
    """`SVC(kernel="linear")`; its bias is free."""
    model = SVC(kernel="linear", C=float(problem.cost[0]), tol=tolerance, cache_size=1000)
    seconds = timing.seconds(lambda: model.fit(problem.rows.values, problem.y))
    return Run(f"tol {tolerance:g}", seconds, _excess(problem, model.coef_.ravel(), optimum))


def liblinear(problem: Problem, optimum: float, enough: float) -> Iterator[Run]:
    """`LinearSVC(loss="hinge")` with more and more passes, until the excess is enough or the time is over.

    Then fewer passes again, between the last two numbers, so that it is not charged for passes that it did not need.
    """
    before = PASSES[0]
    for passes in PASSES:
        run = _liblinear(problem, optimum, passes)
        yield run
        if run.excess <= enough:
            for fewer in np.geomspace(before, passes, 5)[1:-1].astype(int).tolist() if passes > before else ():
                yield _liblinear(problem, optimum, fewer)
        if run.excess <= enough or run.seconds > LIMIT:
            return
        before = passes


def _liblinear(problem: Problem, optimum: float, passes: int) -> Run:
    X = problem.rows.dense if problem.rows.dense is not None else problem.rows.sparse
    model = LinearSVC(loss="hinge", C=float(problem.cost[0]), tol=1e-12, max_iter=passes, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        seconds = timing.seconds(lambda: model.fit(X, problem.y))
    offset = float(model.intercept_[0]) if problem.bias == "regularised" else None
    return Run(f"{passes} passes", seconds, _excess(problem, model.coef_.ravel(), optimum, offset))


def _excess(problem: Problem, w: np.ndarray, optimum: float, b: float | None = None) -> float:
    """Of the primal, by the judge that judges us; a free bias is chosen anew for its w, as well as can be."""
    if b is None:
        low, high = best_offset(replace(problem, bias="free"), scores(problem.rows, w))
        b = 0.5 * (low + high)
    return judge(problem, w.astype(np.float64), b, np.zeros(len(problem.y))).primal / optimum - 1.0
