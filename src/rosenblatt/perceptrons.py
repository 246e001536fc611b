"""The perceptrons of the five notes: predicting with the last vector, with the average, with the vote of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from rosenblatt.mistake_driven import LinearMistakeDrivenClassifier, MistakeDrivenClassifier

_C = TypeVar("_C", bound=MistakeDrivenClassifier)

_PARAMETERS = """Parameters
    ----------
    penalty : None
        Accepted for scikit-learn's sake; a perceptron has no penalty.
    fit_intercept : bool, default True
        Learn an offset b. It is what a feature that is always 1 would get (note 000).
    max_iter : int, default {max_iter}
        At most so many passes over the rows.
    max_updates : int, optional
        At most so many updates of each binary problem (note 000's K).
    tol : float, optional
        scikit-learn's loss rule: stop after ``n_iter_no_change`` passes that did not lower the loss by ``tol`` a row.
        Off unless asked for, because it stops on separable data before they are separated.
    shuffle : bool, default True
        Visit the rows of each pass in a new random order, which depends on ``random_state``, the pass and the number
        of rows alone; otherwise as they are stored.
    restart : bool, default False
        Start again at the first row after every mistake (note 000, Algorithm 1). Needs ``shuffle=False``.
    verbose : bool, default False
        Show a progress bar with the mistakes of each pass.
    eta0 : float, default 1.0
        The length of a step.
    tie : {{"mistake", "positive", "negative"}}, default "mistake"
        What a score of exactly 0 is: a mistake (notes 000, 002), +1 (001, 004) or −1 (003). +1 is ``classes_[1]``.
    multi_class : {{"ovr", "joint"}}, default "ovr"
        Three classes or more: each against the rest, all in one sweep over the rows; or jointly, where a mistake
        moves the true class up and its highest rival down.
    n_jobs : int, optional
        Threads for one-against-rest. The answer does not depend on it. Sparse rows of three classes or more make use
        of four threads or more; below that, one scores all classes at once and is as fast.
    random_state : int or RandomState, optional
        Seeds the shuffling and the held-out rows.
    early_stopping : bool, default False
        Hold out rows, watch the mistakes made on them, keep the best weights (note 002's remedy against overfitting).
    validation_fraction : float, default 0.1
        The share of rows held out.
    n_iter_no_change : int, default 5
        For ``early_stopping`` and ``tol``: how many passes to wait for something better.
    class_weight : dict or "balanced", optional
        Multiplies the steps of a class (of the positive class in one-against-rest, as in scikit-learn).
    warm_start : bool, default False
        Go on from where the last ``fit`` ended: two fits of 5 passes are then one of 10.
    margin : float, default 0.0
        Learn also from rows that are right, but by no more than ``margin`` times what learning them would add to
        y · score (the perceptron with margins). They count as mistakes. For noisy data, 1 is a good first choice.

    Attributes
    ----------
    classes_ : array
        The classes, sorted. ``classes_[1]`` is +1.
{linear}    n_iter_ : int
        Passes made (the most of any class).
    n_updates_ : int
        Mistakes learned from, in all; ``updates_per_class_`` has the parts. After ``early_stopping``, those of the
        weights that were kept.
    mistakes_per_pass_ : array
        How many in each pass.
    converged_ : bool
        The last pass made no mistake, under the tie rule and the margin chosen.
    separates_ : bool
        {separates}
"""
_LINEAR = """    coef_, intercept_ : array
        The hyperplane: shape (1, n_features) and (1,) for two classes, else a row for each class.
    hyperplane_ : Hyperplane
        The same, for two classes, with its geometry.
"""


def _documented(*, max_iter: int, separates: str, linear: bool = True) -> Callable[[type[_C]], type[_C]]:
    """Put the parameters and attributes that all three share into a class's docstring."""
    shared = _PARAMETERS.format(max_iter=max_iter, separates=separates, linear=_LINEAR if linear else "").rstrip()

    def document(cls: type[_C]) -> type[_C]:
        cls.__doc__ = (cls.__doc__ or "").replace("<parameters and attributes>", shared)
        return cls

    return document


@_documented(
    max_iter=100,
    separates="Every row (of positive weight) is strictly on its side of the hyperplane, of each with several classes.",
)
class Perceptron(LinearMistakeDrivenClassifier):
    """Rosenblatt's perceptron: add each mistaken row to w, predict with the last w.

    On separable data it ends with a hyperplane that separates; ``converged_`` says so, and means it. A run that
    ``max_iter`` ends before that warns. Equal to scikit-learn's ``Perceptron(shuffle=False, tol=None)`` to the bit on
    dense float64 rows (unless a score is within rounding of 0), and several times faster.

    <parameters and attributes>

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rosenblatt import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(random_state=0).fit(X, y == 0)
    >>> model.converged_, model.separates_, model.score(X, y == 0)
    (True, True, 1.0)
    """

    _readout = "last"
    _warns_when_not_converged = True

    def __init__(
        self,
        *,
        penalty: None = None,
        fit_intercept: bool = True,
        max_iter: int = 100,
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
        super().__init__(
            penalty=penalty,
            fit_intercept=fit_intercept,
            max_iter=max_iter,
            max_updates=max_updates,
            tol=tol,
            shuffle=shuffle,
            restart=restart,
            verbose=verbose,
            eta0=eta0,
            tie=tie,
            multi_class=multi_class,
            n_jobs=n_jobs,
            random_state=random_state,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            class_weight=class_weight,
            warm_start=warm_start,
            margin=margin,
        )


@_documented(
    max_iter=10, separates="Every row (of positive weight) is strictly on its side of the averaged hyperplane."
)
class AveragedPerceptron(LinearMistakeDrivenClassifier):
    """The perceptron that predicts with the average of all its vectors, by survival time (note 002).

    Made for data that no hyperplane separates: the average wavers less than the last vector. It costs no more than
    the plain perceptron: only mistakes touch the sums behind it.

    <parameters and attributes>

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rosenblatt import AveragedPerceptron
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AveragedPerceptron(random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    _readout = "average"


@_documented(max_iter=10, separates="The vote is strictly right for every row (of positive weight).", linear=False)
class VotedPerceptron(MistakeDrivenClassifier):
    """The perceptron in which all its vectors vote, each as often as it survived (note 002; Freund and Schapire).

    Kept as its mistakes, not as a vector for each: memory is that of the distinct mistaken rows and 28 bytes a
    mistake, which ``max_updates`` keeps in hand. Predicting a point costs its products with those rows and one
    addition a mistake. `decision_function` gives the votes for +1 less those for −1, as a share of all.

    <parameters and attributes>

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from rosenblatt import VotedPerceptron
    >>> X, y = load_digits(return_X_y=True)
    >>> model = VotedPerceptron(random_state=0).fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.9
    True
    """

    _readout = "vote"
