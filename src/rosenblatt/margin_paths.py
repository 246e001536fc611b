"""The soft margin for many values of C, each answer the start for the next; and the choice of C by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs, margins, row_forms
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.soft_margin_classifiers import SoftMargin, SoftMarginClassifier, warn_of_gaps
from rosenblatt.solving.soft_margin import Problem, Solution


@dataclass(frozen=True, eq=False, repr=False)
class SoftMarginPath:
    """The solutions along a grid of C; printed, it is a table.

    The first axis is C; the second has a place for each class against the rest, or one for two classes.

    Attributes
    ----------
    Cs : array of shape (n_Cs,)
        The values of C, in the order given.
    classes : array
        The classes, sorted.
    coefs : array of shape (n_Cs, 1 or n_classes, n_features)
        The normals w.
    intercepts : array of shape (n_Cs, 1 or n_classes)
        The offsets b.
    objectives : array of shape (n_Cs, 1 or n_classes)
        ½‖w‖² + C Σ ξ.
    gaps : array of shape (n_Cs, 1 or n_classes)
        No hyperplane has an objective that is lower by more than this part.
    n_support : array of shape (n_Cs, 1 or n_classes)
        How many rows have a positive dual weight.
    n_iter : array of shape (n_Cs, 1 or n_classes)
        Steps of the solver.
    """

    Cs: FloatArray
    classes: NDArray[Any]
    coefs: FloatArray
    intercepts: FloatArray
    objectives: FloatArray
    gaps: FloatArray
    n_support: IntArray
    n_iter: IntArray

    @property
    def margins(self) -> FloatArray:
        """1/‖w‖, the distance from the hyperplane to where slack begins; infinite for w = 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.linalg.norm(self.coefs, axis=2))

    def __len__(self) -> int:
        return len(self.Cs)

    def __str__(self) -> str:
        several = self.coefs.shape[1] > 1
        names = [f"{name!s:.20}" for name in self.classes.tolist()] if several else [""]
        width = max(len("class"), *map(len, names)) + 2 if several else 0
        lines = [
            f"{'C':>10}{'class' if several else '':>{width}}{'margin':>12}{'objective':>14}{'gap':>10}{'support':>9}"
        ]
        margins = self.margins
        for i, C in enumerate(self.Cs.tolist()):
            lines += [
                f"{C:>10.4g}{name:>{width}}{margins[i, k]:>12.6g}{self.objectives[i, k]:>14.8g}"
                f"{self.gaps[i, k]:>10.1e}{self.n_support[i, k]:>9,}"
                for k, name in enumerate(names)
            ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<SoftMarginPath: {len(self)} values of C from {self.Cs.min():.4g} to {self.Cs.max():.4g}>"


def soft_margin_path(
    X: Any,
    y: Any,
    Cs: Any = 9,
    *,
    fit_intercept: bool = True,
    bias: str = "free",
    gap: float = 1e-6,
    class_weight: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
) -> SoftMarginPath:
    """Solve the soft-margin problem for many values of C, in a fraction of the time of separate fits.

    Parameters
    ----------
    X, y, sample_weight
        As for `SoftMargin.fit`.
    Cs : int or array, default 9
        The values of C, in any order; a number n stands for n values from 1e-4 to 1e4, evenly in the logarithm: 9 are
        the powers of 10.
    fit_intercept, bias, gap, class_weight, n_jobs
        As for `SoftMargin`.
    time_limit : float, optional
        Seconds after which the search ends, for all values of C together, for each class against the rest.

    Returns
    -------
    SoftMarginPath
        ``coefs[i]`` and ``intercepts[i]`` are what ``SoftMargin(C=Cs[i])`` has as ``coef_`` and ``intercept_``.

    Examples
    --------
    >>> from rosenblatt import soft_margin_path
    >>> path = soft_margin_path([[-2.0], [-1.0], [1.0], [-0.5]], [0, 0, 1, 1], Cs=[0.1, 1, 10])
    >>> path.coefs.shape, bool((path.gaps <= 1e-6).all())
    ((3, 1, 1), True)
    """
    model = SoftMargin(
        fit_intercept=fit_intercept,
        bias=bias,
        gap=gap,
        class_weight=class_weight,
        n_jobs=n_jobs,
        time_limit=time_limit,
    )
    model._check_parameters()
    grid = _grid(Cs)
    rows, classes, codes, weights = model._weighted(X, y, sample_weight)
    path, solutions = _path(model, model._problems(rows, classes, codes, weights, 1.0), classes, grid, model._threads())
    warn_of_gaps("soft_margin_path", solutions, float(gap))
    return path


def _grid(Cs: Any) -> FloatArray:
    if isinstance(Cs, Integral) and Cs is not True:
        if Cs < 1:
            raise InputError(f"Cs must be at least one value of C, got {Cs}")
        return np.logspace(-4, 4, int(Cs))
    try:
        grid = np.asarray(Cs, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid) & (grid > 0)).all():
        raise InputError(f"Cs must be finite numbers above 0, or how many of them, got {Cs!r:.80}")
    return grid


def _path(
    model: SoftMarginClassifier, problems: Sequence[Problem], classes: NDArray[Any], grid: FloatArray, threads: int
) -> tuple[SoftMarginPath, list[Solution]]:
    """The path, and all its solutions."""
    at_once = min(threads, len(problems))

    def solve(problem: Problem) -> list[Solution]:
        return margins.soft_margin_path_solutions(
            problem,
            grid.tolist(),
            gap=float(model.gap),
            deadline=model._deadline(),
            threads=threads // at_once,
        )

    if at_once == 1:
        each = [solve(problem) for problem in problems]
    else:
        with ThreadPoolExecutor(at_once) as pool:
            each = list(pool.map(solve, problems))
    by_C = list(zip(*each, strict=True))
    path = SoftMarginPath(
        Cs=grid,
        classes=classes,
        coefs=np.asarray([[found.w for found in column] for column in by_C]),
        intercepts=np.asarray([[found.b for found in column] for column in by_C]),
        objectives=np.asarray([[found.primal for found in column] for column in by_C]),
        gaps=np.asarray([[found.gap for found in column] for column in by_C]),
        n_support=np.asarray([[np.count_nonzero(found.weights) for found in column] for column in by_C]),
        n_iter=np.asarray([[found.steps for found in column] for column in by_C]),
    )
    return path, [found for column in each for found in column]


class SoftMarginCV(SoftMarginClassifier):
    """`SoftMargin` with the C that scores best in cross-validation, in the style of scikit-learn's classifiers with CV.

    In each fold the values of C are one path, each answer the start for the next. The best mean score wins, the
    smallest such C if there are several; then all rows are fitted with it.

    Parameters
    ----------
    Cs : int or array, default 9
        The values of C; a number n stands for n values from 1e-4 to 1e4, evenly in the logarithm: 9 are the powers of
        10. If the best is the smallest or the largest of three or more, a warning says that one beyond may be better.
    cv : int, splitter or iterable of (train, test), optional
        The folds; by default 5, with the same share of each class in each.
    scoring : str or callable, optional
        What is better, as in `sklearn.model_selection.GridSearchCV`; by default the accuracy.
    fit_intercept, bias, gap, class_weight
        As for `SoftMargin`.
    n_jobs : int, optional
        Folds at a time, in threads; -1 for all processors.
    time_limit : float, optional
        Seconds for the path of each fold, and then for the last fit, for each class against the rest.

    Attributes
    ----------
    C_ : float
        The C that was chosen.
    Cs_ : array
        All that were tried.
    scores_ : array of shape (n_folds, n_Cs)
        The score of each in each fold.
    classes_, coef_, intercept_, slack_, objective_, gap_, support_, dual_coef_, n_iter_, hyperplane_
        Of the last fit, as for `SoftMargin`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import SoftMarginCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftMarginCV(Cs=[0.01, 1, 100], cv=3).fit(X, y)
    >>> model.scores_.shape, model.C_ in (0.01, 1, 100)
    ((3, 3), True)
    """

    C_: float
    Cs_: FloatArray
    scores_: FloatArray

    def __init__(
        self,
        *,
        Cs: Any = 9,
        cv: Any = None,
        scoring: Any = None,
        fit_intercept: bool = True,
        bias: str = "free",
        gap: float = 1e-6,
        class_weight: Any = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.fit_intercept = fit_intercept
        self.bias = bias
        self.gap = gap
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.time_limit = time_limit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose C, then fit all rows.

        Parameters
        ----------
        X, y
            As for `SoftMargin.fit`.
        sample_weight : array of shape (n_rows,), optional
            Multiplies what the slack of each row costs, and what it counts in a score.

        Returns
        -------
        self
        """
        self._check_parameters()
        grid = _grid(self.Cs)
        rows, classes, codes, weights = self._weighted(X, y, sample_weight)
        labels = inputs.labels(y, len(rows))
        from sklearn.metrics import check_scoring
        from sklearn.model_selection import check_cv
        from sklearn.utils.multiclass import check_classification_targets

        check_classification_targets(labels)  # scores and folds are scikit-learn's, which knows fewer kinds of labels
        scorer = check_scoring(SoftMargin(), scoring=self.scoring)
        folds = list(check_cv(self.cv, labels, classifier=True).split(np.zeros(len(rows)), labels))
        weighed = sample_weight is not None

        def score(fold: tuple[IntArray, IntArray]) -> tuple[list[float], list[Solution]]:
            train, test = fold
            path, solutions = self._fold(rows, classes, codes, weights, np.asarray(train), grid)
            extra = {"sample_weight": weights[test]} if weighed else {}
            models = (_predictor(path, i) for i in range(len(grid)))
            return [scorer(model, rows.take(test), labels[test], **extra) for model in models], solutions

        with ThreadPoolExecutor(min(self._threads(), len(folds))) as pool:
            scored = list(pool.map(score, folds))
        scores = np.asarray([column for column, _ in scored])
        best = _best(grid, scores)
        problems = self._problems(rows, classes, codes, weights, best)
        solutions = self._solve(problems, [None] * len(problems))
        self._accept(X, classes, problems, solutions)
        self.C_, self.Cs_, self.scores_ = best, grid, scores
        _warn_at_the_edge(best, grid)
        warn_of_gaps(type(self).__name__, [*solutions, *(one for _, part in scored for one in part)], float(self.gap))
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _grid(self.Cs)

    def _fold(
        self,
        rows: inputs.Rows,
        classes: NDArray[Any],
        codes: inputs.Codes,
        weights: FloatArray,
        train: IntArray,
        grid: FloatArray,
    ) -> tuple[SoftMarginPath, list[Solution]]:
        """The path on the rows of a fold."""
        present = np.unique(codes[train][weights[train] > 0])
        if len(present) < len(classes):
            missing = [name for k, name in enumerate(classes.tolist()) if k not in present]
            raise InputError(
                f"a fold has no rows of the classes {missing!r} to learn from: use fewer folds (cv={self.cv!r}), or "
                "leave out the classes with fewer rows than folds"
            )
        problems = self._problems(row_forms.some_rows(rows, train), classes, codes[train], weights[train], 1.0)
        return _path(self, problems, classes, grid, 1)


def _best(grid: FloatArray, scores: FloatArray) -> float:
    """The smallest of the values of C with the best mean score; means that differ by rounding are equal."""
    wrong = np.flatnonzero(~np.isfinite(scores).all(axis=1))
    if len(wrong):
        raise InputError(
            f"the scores of fold {wrong[0]} are not finite: {scores[wrong[0]].tolist()}. Has its test part rows of "
            "every class that the scoring needs? Use a stratified cv, or another scoring"
        )
    means = scores.mean(axis=0)
    return float(grid[means >= means.max() - 1e-12 * abs(means.max())].min())


def _warn_at_the_edge(best: float, grid: FloatArray) -> None:
    """Warn if a C beyond those tried may be better."""
    edge = {grid.min(): "small", grid.max(): "large"}.get(best)
    if edge is not None and len(grid) > 2:
        warnings.warn(
            f"SoftMarginCV chose C={best:g}, the {edge.removesuffix('e')}est of those tried: a "
            f"{edge.removesuffix('e')}er one may score better. Try more of them (Cs), or scale the features "
            "(sklearn.preprocessing.StandardScaler).",
            UserWarning,
            stacklevel=3,
        )


def _predictor(path: SoftMarginPath, i: int) -> SoftMargin:
    """A model that predicts with the i-th hyperplane of a path."""
    model = SoftMargin(C=float(path.Cs[i]))
    model.classes_, model.n_features_in_ = path.classes, path.coefs.shape[2]
    model.coef_, model.intercept_ = path.coefs[i], path.intercepts[i]
    return model
