"""The perceptron with kernels: linear in features Φ(x) that are never computed, only their products K(z, x)."""

from __future__ import annotations

import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.kernels import functions as kernels
from rosenblatt.kernels import learning as kernel_learning
from rosenblatt.kernels.budgets import BudgetLearner
from rosenblatt.kernels.checks import check_kernel_tensors
from rosenblatt.kernels.expansions import KernelLearner
from rosenblatt.kernels.parameters import check_kernel_parameters, new_learner
from rosenblatt.learner import Readout
from rosenblatt.mistake_driven import MistakeDrivenClassifier


class KernelPerceptron(MistakeDrivenClassifier):
    """The perceptron in the space of a kernel; by default all its vectors vote (Freund and Schapire, 1999).

    It learns f(x) = Σ step K(z, x) over its mistakes z: a perceptron without offset on features Φ(x) (note 003, eq. 24)
    with Φ(z)·Φ(x) = K(z, x). An offset is a part of the kernel: z·x + 1 is ``Perceptron`` with one, z·x without. Rows
    are scored in blocks against the support so far, and all classes share the kernel values; the result is that of one
    row at a time. Made for data that a hyperplane in the given features does not separate.

    Parameters
    ----------
    kernel : {"poly", "rbf", "linear", "sigmoid", "precomputed"} or callable, default "poly"
        (γ z·x + c)^degree, exp(−γ ‖z − x‖²), z·x, tanh(γ z·x + c); or X holds the kernel values of each row with every
        row of the fit; or a function of two sets of rows that returns their values, ``kernel(Z, X)``.
    degree : int, default 3
        Of "poly".
    gamma : {"auto", "scale"} or float, default "auto"
        γ: "auto" is 1 / features, "scale" 1 / (features × variance of X), which a stream cannot know.
    coef0 : float, default 1.0
        c of "poly" and "sigmoid".
    readout : {"vote", "average", "last"}, default "vote"
        What predicts: the vote of all vectors by survival time, their average, or the last one (note 002). A fitted
        model has all three (without ``max_support``): change it with ``set_params`` and predict again.
    max_iter : int, default 10
        At most so many passes over the rows.
    max_updates : int, optional
        At most so many updates of each binary problem (note 000's K).
    max_support : int, optional
        At most so many support rows, which all classes share, so that memory stays the same on an endless stream. Needs
        ``readout="last"``, or with ``budget="project"`` also "average".
    budget : {"project", "forget", "random"}, default "project"
        What happens at a mistake when there are ``max_support`` rows: it is projected onto them (Projectron), the
        oldest goes after all have shrunk (Forgetron), or one drawn by lot goes. The first two keep a square matrix
        with a row for each support row.
    tol : float, optional
        Stop after ``n_iter_no_change`` passes that did not lower the loss by ``tol`` a row.
    shuffle : bool, default True
        Visit the rows of each pass in a new random order, which depends on ``random_state``, the pass and the number of
        rows alone; otherwise as they are stored.
    restart : bool, default False
        Start again at the first row after every mistake (note 000, Algorithm 1). Needs ``shuffle=False``.
    verbose : bool, default False
        Show a progress bar with the mistakes of each pass.
    eta0 : float, default 1.0
        The length of a step.
    tie : {"mistake", "positive", "negative"}, default "mistake"
        What a score of exactly 0 is: a mistake (notes 000, 002), +1 (001, 004) or −1 (003). +1 is ``classes_[1]``.
    multi_class : {"ovr", "joint"}, default "ovr"
        Three classes or more: each against the rest, or jointly, where a mistake moves the true class up and its
        highest rival down.
    n_jobs : int, optional
        Threads for kernel values and votes. The answer does not depend on it.
    random_state : int or RandomState, optional
        Seeds the shuffling, the held-out rows and ``budget="random"``.
    early_stopping : bool, default False
        Hold out rows, watch the mistakes made on them, keep the best vectors.
    validation_fraction : float, default 0.1
        The share of rows held out.
    n_iter_no_change : int, default 5
        For ``early_stopping`` and ``tol``: how many passes to wait for something better.
    class_weight : dict or "balanced", optional
        Multiplies the steps of a class (of the positive class in one-against-rest).
    warm_start : bool, default False
        Go on from where the last ``fit`` ended: two fits of 5 passes are then one of 10.

    Attributes
    ----------
    classes_ : array
        The classes, sorted. ``classes_[1]`` is +1.
    support_ : array of shape (n_support,)
        The numbers of the rows that mistakes were made on, ascending; in a stream, counted from its beginning.
    support_vectors_ : array or CSR array of shape (n_support, n_features)
        These rows (not with ``kernel="precomputed"``).
    dual_coef_ : array of shape (1 or n_classes, n_support)
        Their coefficients in the last vector, or in the average.
    n_support_ : array of shape (n_classes,)
        How many support rows each class has.
    n_iter_ : int
        Passes made (the most of any class).
    n_updates_ : int
        Mistakes learned from, in all; ``updates_per_class_`` has the parts. After ``early_stopping``, those of the
        vectors that were kept.
    mistakes_per_pass_ : array
        How many in each pass.
    converged_ : bool
        The last pass made no mistake, under the tie rule chosen.
    separates_ : bool
        The readout is strictly right for every row (of positive weight).

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import KernelPerceptron
    >>> X = np.random.default_rng(0).uniform(-2, 2, (400, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 >= 1  # the circle of note 003, which no line separates
    >>> model = KernelPerceptron(degree=2, readout="last", max_iter=1000, random_state=0).fit(X, y)
    >>> model.converged_, model.separates_, model.score(X, y)
    (True, True, 1.0)
    """

    _driver: ClassVar[Any] = kernel_learning
    fit_intercept = False  # an offset is a part of the kernel
    margin = 0.0  # it learns from mistakes alone: each row more costs every later score

    def __init__(
        self,
        *,
        kernel: Any = "poly",
        degree: int = 3,
        gamma: Any = "auto",
        coef0: float = 1.0,
        readout: str = "vote",
        max_iter: int = 10,
        max_updates: int | None = None,
        max_support: int | None = None,
        budget: str = "project",
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
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.readout = readout
        self.max_iter = max_iter
        self.max_updates = max_updates
        self.max_support = max_support
        self.budget = budget
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Pass over the rows until a pass makes no mistake, or a budget is used up.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows; with ``kernel="precomputed"`` their kernel values, of shape (n_rows, n_rows). Kernel values of
            float32 rows are float32, all others float64.
        y : array of shape (n_rows,)
            The label of each row, of any type that can be sorted.
        sample_weight : array of shape (n_rows,), optional
            Multiplies the step of each row. Rows of weight 0 are not visited.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    # What was learned -----------------------------------------------------------------------------------------------

    @property
    def support_(self) -> IntArray:
        """The numbers of the support rows, ascending."""
        return np.sort(self._fitted().support_ids)

    @property
    def support_vectors_(self) -> Any:
        """The support rows, in the order of ``support_``."""
        learner = self._fitted()
        return learner.support.matrix(learner.n_features)[_ascending(learner)]

    @property
    def dual_coef_(self) -> FloatArray:
        """The coefficients of the support rows, in the order of ``support_``."""
        learner = self._fitted()
        coefficients, divisors = learner.coefficients()
        return np.asarray(coefficients[:, _ascending(learner)] / divisors[:, np.newaxis])

    @property
    def n_support_(self) -> IntArray:
        """How many support rows each class has."""
        return np.bincount(self._fitted().support_codes, minlength=len(self.classes_)).astype(np.int64)

    def _fitted(self) -> KernelLearner:
        if "_learner" not in self.__dict__:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        learner: Any = self._learner
        if isinstance(learner, BudgetLearner):
            learner.tidy()
        else:
            learner.readout = self._readout
        return learner  # type: ignore[no-any-return]

    # Learning -------------------------------------------------------------------------------------------------------

    def _first_guess(self, classes: NDArray[Any], rows: inputs.Rows, *_: Any) -> Any:
        rows.require_finite()
        if self.kernel == "precomputed" and rows.shape[0] != rows.shape[1]:
            raise InputError(
                f"with kernel='precomputed' X must be square, the kernel values of each row with every row, got shape "
                f"{rows.shape}. If X holds features, choose another kernel"
            )
        if self._goes_on():
            if not np.array_equal(classes, self.classes_):
                raise InputError(
                    f"warm_start goes on with the classes {self.classes_.tolist()!r}, but y has {classes.tolist()!r}"
                )
            return copy.deepcopy(self._fitted())  # the model must survive a fit that fails
        gamma = kernels.resolved_gamma(self.gamma, rows)
        return self._learner_with(len(classes), rows.shape[1], gamma, self._seed())

    def _new_learner(self, classes: NDArray[Any], n_features: int) -> Any:
        gamma = 1.0 / n_features if self.gamma == "auto" else float(self.gamma)
        return self._learner_with(len(classes), n_features, gamma, self._seed())

    def _learner_with(self, n_classes: int, n_features: int, gamma: float, seed: int = 0) -> KernelLearner:
        return new_learner(self.get_params(deep=False), n_classes, n_features, gamma=gamma, seed=seed)

    def _learner_of(self, arrays: dict[str, NDArray[Any]]) -> Any:
        learner = self._learner_with(len(self.classes_), self.n_features_in_, float(arrays["gamma"][0]))
        learner.take_arrays(arrays)
        return learner

    def _check_arrays(self, arrays: dict[str, NDArray[Any]], *, joint: bool) -> None:
        """For whoever reads a model file."""
        check_kernel_tensors(arrays, self.get_params(deep=False), len(self.classes_), self.n_features_in_, joint=joint)

    @property
    def _readout(self) -> Readout:  # type: ignore[override]
        readout: Readout = self.readout  # type: ignore[assignment]
        return readout

    # Parameters -----------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_kernel_parameters(type(self).__name__, self.get_params(deep=False))
        self._check_order()

    def _check_streaming(self) -> None:
        super()._check_streaming()
        if self.kernel == "precomputed":
            raise InputError(
                "kernel='precomputed' does not work with partial_fit: a new row needs its kernel values with all rows "
                "that came before. Give the kernel as a function, or use fit"
            )
        if self.gamma == "scale":
            raise InputError(
                "gamma='scale' does not work with partial_fit: the variance of a stream is not known yet. Set gamma to "
                "a number, for example 1 / (n_features * X.var()) of a sample, or to 'auto'"
            )

    # Predicting -----------------------------------------------------------------------------------------------------

    def _scores(self, rows: inputs.Rows) -> FloatArray:
        learner = self._fitted()
        learner.threads = self._threads()
        return learner.scores(rows, self.tie)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _ascending(learner: KernelLearner) -> IntArray:
    return np.argsort(learner.support_ids, kind="stable")
