"""What every classifier that learns from its mistakes does between `fit` and the engine."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from rosenblatt import inputs, learning
from rosenblatt.classifier import Classifier, LinearClassifier
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.learner import Learner, Readout
from rosenblatt.learning import Choices, Examples, Report
from rosenblatt.mistake_log import MistakeLog
from rosenblatt.perceptron_parameters import LIMITS

_INT64_MAX = 2**63 - 1


class MistakeDrivenClassifier(Classifier):
    """Learns from its mistakes, and predicts with the last vector, the average or the vote of all."""

    _readout: ClassVar[Readout]
    _warns_when_not_converged: ClassVar[bool] = False
    _driver: ClassVar[Any] = learning  # the module that makes the passes: fit, learn_batch, separates

    # Declared for readers and type checkers; set by fit.
    n_iter_: int
    n_updates_: int
    updates_per_class_: IntArray
    mistakes_per_pass_: IntArray
    converged_: bool
    separates_: bool

    def __init__(
        self,
        *,
        penalty: None = None,
        fit_intercept: bool = True,
        max_iter: int = 10,
        max_updates: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        restart: bool = False,
        verbose: int | bool = False,
        eta0: float = 1.0,
        tie: str = "mistake",
        multi_class: str = "ovr",
        n_jobs: int | None = None,
        random_state: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        margin: float = 0.0,
    ) -> None:
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.tol = tol
        self.shuffle = shuffle
        self.restart = restart
        self.verbose = verbose
        self.eta0 = eta0
        self.tie = tie
        self.multi_class = multi_class
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.margin = margin

    # Learning -------------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None, sample_weight: Any = None) -> Self:
        """Pass over the rows until a pass makes no mistake, or a budget is used up.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows. C-ordered float32 and float64 arrays and CSR matrices are read where they are, without a copy.
        y : array of shape (n_rows,)
            The label of each row, of any type that can be sorted.
        coef_init, intercept_init : array, optional
            The first guess (note 003), of the shape of ``coef_`` and ``intercept_``. The default is 0.
        sample_weight : array of shape (n_rows,), optional
            Multiplies the step of each row. Rows of weight 0 are not visited.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, coef_init, intercept_init)

    def _fit(self, X: Any, y: Any, sample_weight: Any, coef_init: Any = None, intercept_init: Any = None) -> Self:
        self._check_parameters()
        rows, y = self._rows_and_labels(X, y, known=self._goes_on())
        report = self._learn(X, rows, y, coef_init, intercept_init, sample_weight)
        if self._warns_when_not_converged and report.ran_out:
            warnings.warn(self._not_converged(report), ConvergenceWarning, stacklevel=3)
        return self

    def _learn(
        self,
        X: Any,
        rows: inputs.Rows,
        y: NDArray[Any],
        coef_init: Any,
        intercept_init: Any,
        sample_weight: Any,
        log: MistakeLog | None = None,
    ) -> Report:
        weights = inputs.sample_weight(sample_weight, len(rows))
        classes, codes = self._classes(y, weights)
        learner = self._first_guess(classes, rows, coef_init, intercept_init)
        examples = self._examples(rows, codes, classes, weights)
        new = not self._goes_on() or coef_init is not None or intercept_init is not None
        earlier = np.zeros(0, np.int64) if new else self.mistakes_per_pass_
        choices = self._choices(seed=self._seed(), first_pass=len(earlier))
        held_out = self._held_out(codes, examples.counts(), choices.seed) if self.early_stopping else None
        report: Report = self._driver.fit(learner, examples, choices, held_out, log)
        report.mistakes_per_pass = np.concatenate([earlier, report.mistakes_per_pass])
        self._accept(X, classes, learner, examples, choices, report)
        return report

    def _traced(
        self, X: Any, y: Any, coef_init: Any, intercept_init: Any, sample_weight: Any, log: MistakeLog
    ) -> Report:
        """Fit, without a warning, and keep every mistake in the log: for `rosenblatt.trace`."""
        self._check_parameters()
        rows, y = self._rows_and_labels(X, y)
        return self._learn(X, rows, y, coef_init, intercept_init, sample_weight, log)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch, in its order: one pass, never shuffled.

        Batch after batch gives, to the bit, the model that ``fit(shuffle=False, max_iter=1)`` gives for all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        classes : array, optional
            All classes that will ever occur; needed in the first call.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_streaming()
        first = not hasattr(self, "_learner")
        rows, y = self._rows_and_labels(X, y, known=not first)
        weights = inputs.sample_weight(sample_weight, len(rows))
        if first:
            if classes is None:
                raise InputError("classes must be passed on the first call to partial_fit.")
            known, _ = inputs.encode(np.asarray(classes))
            self._require_two(known)
        else:
            known = self.classes_
            if classes is not None and not np.array_equal(known, np.unique(np.asarray(classes))):
                raise InputError(
                    f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}"
                )
        codes = inputs.encode_known(y, known)
        learner = self._new_learner(known, rows.shape[1]) if first else self._learner
        examples = self._examples(rows, codes, known, weights)
        choices = self._choices(seed=0, first_pass=0, shuffle=False, max_iter=1, tol=None, verbose=False)
        report = self._driver.learn_batch(learner, examples, choices)
        self._accept(X if first else None, known, learner, examples, choices, report)
        return self

    def _first_guess(self, classes: NDArray[Any], rows: inputs.Rows, coef_init: Any, intercept_init: Any) -> Any:
        if self._goes_on() and coef_init is None and intercept_init is None:
            if not np.array_equal(classes, self.classes_):
                raise InputError(
                    f"warm_start goes on with the classes {self.classes_.tolist()!r}, but y has {classes.tolist()!r}"
                )
            return self._learner_of(self._learner.to_arrays())  # a copy: the model must survive a fit that fails
        n_features = rows.shape[1]
        learner = self._new_learner(classes, n_features)
        shape = learner.weights.shape[0], n_features
        if coef_init is None and intercept_init is None:
            return learner
        coef = np.zeros(shape) if coef_init is None else inputs.vectors(coef_init, shape, "coef_init")
        b = (
            np.zeros(shape[0])
            if intercept_init is None
            else inputs.vectors(intercept_init, shape[:1], "intercept_init")
        )
        if not self.fit_intercept and b.any():
            raise InputError("intercept_init needs fit_intercept=True")
        learner.start_from(coef, b)
        return learner

    def _examples(
        self, rows: inputs.Rows, codes: inputs.Codes, classes: NDArray[Any], weights: FloatArray | None
    ) -> Examples:
        class_weight = inputs.class_weight(self.class_weight, classes, codes)
        rows = rows.summed() if self.margin else rows  # only a margin looks at lengths
        return Examples(rows, codes, class_weight, weights, joint=self.multi_class == "joint")

    def _new_learner(self, classes: NDArray[Any], n_features: int) -> Learner:
        return Learner(len(classes), n_features, joint=self.multi_class == "joint", readout=self._readout)

    def _goes_on(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_learner")

    def _accept(
        self,
        X: Any | None,
        classes: NDArray[Any],
        learner: Learner,
        examples: Examples,
        choices: Choices,
        report: Report,
    ) -> None:
        """Take over what a run has learned; also after Ctrl-C, which leaves a usable model and is raised again.

        X is None where the features are those of before: later batches may come without their names. Nothing is set
        before this, so that a fit that fails leaves the model as it was.
        """
        if X is not None:
            self._accept_features(X)
        self.classes_ = classes
        self._learner = learner
        self.mistakes_per_pass_ = report.mistakes_per_pass
        self.n_iter_ = len(report.mistakes_per_pass)
        self.updates_per_class_ = learner.updates.copy()
        self.n_updates_ = int(learner.updates.sum())
        self.converged_ = report.converged
        self.separates_ = False
        if report.error is not None:
            raise report.error
        strict = self.tie == "mistake" and self._readout == "last" and not self.early_stopping
        self.separates_ = (report.converged and strict) or self._driver.separates(learner, examples, choices)

    def _not_converged(self, report: Report) -> str:
        rows = "mistake" if report.last_mistakes == 1 else "mistakes"
        return (
            f"{type(self).__name__} stopped after max_iter={self.max_iter} passes; the last pass made "
            f"{report.last_mistakes:,} {rows}. Either the classes cannot be separated by a hyperplane, and then no "
            "number of passes will do (SoftMargin and AveragedPerceptron are made for such data, and "
            "rosenblatt.suspects ranks the labels that may be wrong), or the margin is small: raise max_iter, or scale "
            "the features if they are not scaled yet (sklearn.preprocessing.StandardScaler). "
            "rosenblatt.certify(X, y) proves which it is."
        )

    # Parameters -----------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        inputs.check_parameters(type(self).__name__, self.get_params(deep=False), LIMITS)
        self._check_order()

    def _check_order(self) -> None:
        if self.restart and self.shuffle:
            raise InputError(
                "restart=True starts again at the first row after every mistake (note 000, Algorithm 1), so the rows "
                "have one order: set shuffle=False"
            )

    def _check_streaming(self) -> None:
        why = {
            "restart": (self.restart, "it starts again at the first row, and a stream has none: use fit"),
            "early_stopping": (self.early_stopping, "it needs rows to hold out: use fit, or score batches yourself"),
            "class_weight": (
                isinstance(self.class_weight, str) and self.class_weight == "balanced",
                "the classes of a stream are not counted yet: use class_weight={class: weight}, "
                "for example from sklearn.utils.compute_class_weight on a sample",
            ),
        }
        for name, (used, reason) in why.items():
            if used:
                raise InputError(f"{name}={getattr(self, name)!r} does not work with partial_fit: {reason}")

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            if not 0 <= self.random_state < 2**32:
                raise InputError(f"random_state must be from 0 to 2**32 - 1, got {self.random_state}")
            return int(self.random_state)
        try:
            generator = check_random_state(self.random_state)
        except ValueError:
            raise InputError(
                "The 'random_state' parameter must be None, an integer or a RandomState. "
                f"Got {self.random_state!r} instead"
            ) from None
        return int(generator.randint(np.iinfo(np.int32).max))

    def _choices(self, **changes: Any) -> Choices:
        given: dict[str, Any] = {
            "tie": self.tie,
            "fit_intercept": bool(self.fit_intercept),
            "shuffle": bool(self.shuffle),
            "restart": bool(self.restart),
            "eta0": float(self.eta0),
            "margin": float(self.margin),
            "max_iter": min(int(self.max_iter), _INT64_MAX),
            "max_updates": None if self.max_updates is None else min(int(self.max_updates), _INT64_MAX),
            "tol": None if self.tol is None else float(self.tol),
            "n_iter_no_change": int(self.n_iter_no_change),
            "threads": self._threads(),
            "verbose": bool(self.verbose),
        }
        return Choices(**(given | changes))

    def _held_out(self, codes: inputs.Codes, counts: NDArray[np.bool_] | None, seed: int) -> IntArray:
        rows = np.arange(len(codes)) if counts is None else np.flatnonzero(counts)
        from sklearn.model_selection import StratifiedShuffleSplit  # slow to import, and few hold rows out

        split = StratifiedShuffleSplit(test_size=self.validation_fraction, random_state=seed)
        try:
            _, held_out = next(split.split(np.zeros((len(rows), 1)), codes[rows]))
        except ValueError as error:
            raise InputError(
                f"early_stopping cannot hold out validation_fraction={self.validation_fraction} of {len(rows)} rows: "
                f"{error}"
            ) from None
        return np.sort(rows[held_out]).astype(np.int64)

    # Predicting -----------------------------------------------------------------------------------------------------

    def _scores(self, rows: inputs.Rows) -> FloatArray:
        return self._learner.scores(rows, self.tie, bool(self.fit_intercept))

    def _winners(self, scores: FloatArray) -> IntArray:
        if scores.ndim == 2:
            return learning.joint_predicted(scores, self.tie if self._learner.joint else "mistake")
        return (scores >= 0 if self.tie == "positive" else scores > 0).astype(np.int64)

    # The rest of the contract ---------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_learner" in state:  # plain arrays only, for pickle, joblib and skops alike
            state["_learner"] = self._learner.to_arrays()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(self.__dict__.get("_learner"), dict):
            self._learner = self._learner_of(self.__dict__["_learner"])

    def _learner_of(self, arrays: dict[str, NDArray[Any]]) -> Learner:
        return Learner.from_arrays(arrays, len(self.classes_), self.n_features_in_, readout=self._readout)


class LinearMistakeDrivenClassifier(MistakeDrivenClassifier, LinearClassifier):
    """One that predicts with hyperplanes."""

    @property
    def coef_(self) -> FloatArray:
        """The normal vectors: one row for two classes, else one for each class."""
        return self._fitted().coef

    @property
    def intercept_(self) -> FloatArray:
        """The offsets, one for each row of ``coef_``."""
        return self._fitted().intercept

    def _fitted(self) -> Learner:
        if "_learner" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return self._learner
