"""The maximum margin (note 003, §3) as a scikit-learn classifier, and what it shares with the soft margin."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import inputs
from rosenblatt.certificate_table import CertificateTable
from rosenblatt.certificates import Inseparable, Separable, Undecided, certificate_from_json
from rosenblatt.checking import certificate_words
from rosenblatt.classifier import LinearClassifier
from rosenblatt.errors import NotSeparableError, UndecidedError
from rosenblatt.inputs import FloatArray, IntArray, Limit
from rosenblatt.separability import TwoSided, certify

_FINITE = float(np.finfo(np.float64).max)
_POSITIVE = Limit(kind=Real, low=0, open_low=True, high=_FINITE, words="a finite number above 0")

LIMITS: dict[str, Limit] = {
    "C": _POSITIVE,
    "C_note": Limit(choices=(None,), kind=Real, low=0, open_low=True, high=_FINITE),
    "fit_intercept": inputs.flag(),
    "bias": Limit(choices=("free", "regularised")),
    "gap": inputs.number(0, above=True, high=1),
    "time_limit": inputs.number(0, none=True),
    "n_jobs": Limit(choices=(None,), kind=Integral),
    "warm_start": inputs.flag(),
    "verbose": Limit(choices=(True, False), kind=Integral, low=0),
}


@dataclass(frozen=True)
class Support:
    """The rows that hold a hyperplane, and their dual weights times their labels."""

    rows: IntArray
    weights: FloatArray


class MarginClassifier(LinearClassifier):
    """A classifier that is the solution of a problem with a dual, for each class against the rest."""

    coef_: FloatArray
    intercept_: FloatArray
    support_: IntArray
    dual_coef_: FloatArray
    gap_: float

    def _check_parameters(self) -> None:
        given = self.get_params(deep=False)
        limits = {name: limit for name, limit in LIMITS.items() if name in given}
        inputs.check_parameters(type(self).__name__, given, limits)

    def _keep(self, X: Any, classes: NDArray[Any], w: Sequence[FloatArray], b: Sequence[float]) -> None:
        """Take over the hyperplanes. Nothing is set before this, so a fit that fails leaves the model as it was."""
        self._accept_features(X)
        self.classes_ = classes
        self.coef_, self.intercept_ = np.stack(w), np.asarray(b, np.float64)

    def _keep_support(self, each: Sequence[Support]) -> None:
        """Rows that hold any of the hyperplanes, and a row of weights for each: coef_ = dual_coef_ @ X[support_]."""
        self.support_ = np.unique(np.concatenate([support.rows for support in each])).astype(np.int64)
        self.dual_coef_ = np.zeros((len(each), len(self.support_)))
        for row, support in zip(self.dual_coef_, each, strict=True):
            row[np.searchsorted(self.support_, support.rows)] = support.weights


def one_or_each(values: Sequence[float]) -> Any:
    """The number for two classes, an array with one for each of more."""
    return float(values[0]) if len(values) == 1 else np.asarray(values, np.float64)


def positives(classes: NDArray[Any]) -> list[int]:
    """The positive class of each binary problem: one problem for two classes, else one for each class."""
    return [1] if len(classes) == 2 else list(range(len(classes)))


class MaxMargin(MarginClassifier):
    """The separating hyperplane of maximum margin, with a proof that it is, or that none separates.

    It is argmin ½‖w‖² with y(w · x + b) ≥ 1 for every row (003 eq. 21).
    It is what `certify` finds, behind the scikit-learn contract: the margin is proved, to be that of this hyperplane
    and to be within the gap of the largest there is. The offset is free, as the note has it.

    Parameters
    ----------
    fit_intercept : bool, default True
        Whether the hyperplane may have an offset, or must pass through the origin.
    gap : float, default 1e-6
        How near the margin is to be to the maximum, relatively. A fit that does not reach it warns.
    time_limit : float, optional
        Seconds after which the search ends, for each class against the rest.
    n_jobs : int, optional
        Threads; -1 for all processors. The answer does not depend on it.

    Attributes
    ----------
    classes_ : array
        The classes, sorted. ``classes_[1]`` is +1.
    coef_, intercept_ : array
        The hyperplane in canonical form, y(w · x + b) = 1 at the nearest row (003 eq. 18): shape (1, n_features) and
        (1,) for two classes, else a row for each class against the rest.
    margin_ : float or array
        The distance of the nearest row, rounded down; with three classes or more one for each.
    gap_ : float
        How much larger the maximum margin can be, relatively; of several classes the largest.
    support_ : array
        The rows that hold the margin down (of any class).
    dual_coef_ : array of shape (1 or n_classes, n_support)
        y times the dual weight of each of them, as `sklearn.svm.SVC` has it: to the gap,
        ``coef_ = dual_coef_ @ X[support_]``.
    certificate_ : Separable or CertificateTable
        The proof, which others can check: ``certificate_.verify(X, y)``.
    hyperplane_ : Hyperplane
        ``coef_`` and ``intercept_`` for two classes, with their geometry.

    Raises
    ------
    NotSeparableError
        From `fit`, if no hyperplane separates the classes: its ``certificate`` proves that.
    UndecidedError
        From `fit`, if neither was proved, within the time given or in floating point.

    Examples
    --------
    >>> from rosenblatt import MaxMargin
    >>> model = MaxMargin().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> model.coef_, model.intercept_, model.support_
    (array([[2., 2.]]), array([-3.]), array([1, 2, 3]))
    """

    margin_: Any
    certificate_: Separable | CertificateTable

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        gap: float = 1e-6,
        time_limit: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.gap = gap
        self.time_limit = time_limit
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Find the hyperplane of maximum margin, and prove it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : array of shape (n_rows,)
            The label of each row, of any type that can be sorted.

        Returns
        -------
        self
        """
        self._check_parameters()
        _, y = self._rows_and_labels(X, y)
        classes, _ = self._classes(y)
        found = certify(
            X,
            y,
            fit_intercept=bool(self.fit_intercept),
            gap=self.gap,
            time_limit=self.time_limit,
            n_jobs=self._threads(),
        )
        proved = self._separable(found, classes)
        planes = [certificate.canonical for certificate in proved]
        self._keep(X, classes, [plane.w for plane in planes], [plane.b for plane in planes])
        self._keep_support([_hard_support(certificate, y) for certificate in proved])
        self.margin_ = one_or_each([certificate.margin for certificate in proved])
        self.gap_ = max(certificate.gap for certificate in proved)
        self.certificate_ = found if isinstance(found, CertificateTable) else proved[0]
        if not all(certificate.separates_in_floats for certificate in proved):
            warnings.warn(
                f"MaxMargin proved a margin of {min(certificate.margin for certificate in proved):.1e}, but only for a "
                "hyperplane in fractions (certificate_ has it): rounded to floats, as in coef_ and intercept_, it does "
                "not separate all rows. So small a margin comes from rounding, often of features that are sums or "
                "multiples of others: leave those out, or use SoftMargin.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if self.gap_ > self.gap:
            how_near = (
                "is not known to be near the maximum"
                if self.gap_ >= 1
                else f"is within {self.gap_:.1e} of the maximum, not within gap={self.gap:g}"
            )
            warnings.warn(
                f"MaxMargin proved a margin that {how_near}: "
                "the classes are separated, but a hyperplane of a larger margin may exist. Give it "
                "more time (time_limit), scale the features (sklearn.preprocessing.StandardScaler), or accept it with "
                "a larger gap.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _separable(self, found: Any, classes: NDArray[Any]) -> list[Separable]:
        """The certificates of all classes, if all are separable; else the error that says why not."""
        each: list[tuple[Any, TwoSided]]
        each = [(None, found)] if len(classes) == 2 else list(found.items())
        failed = [(name, certificate) for name, certificate in each if isinstance(certificate, Inseparable)]
        if failed:
            name, witness = failed[0]
            raise NotSeparableError(_not_separable(witness, name, [other for other, _ in failed[1:]]), witness)
        for name, certificate in each:
            if isinstance(certificate, Undecided):
                raise UndecidedError(_undecided(certificate, name), certificate)
        return [certificate for _, certificate in each if isinstance(certificate, Separable)]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "certificate_" in state:  # as text: plain for pickle, joblib and skops alike
            state["certificate_"] = [certificate.to_json() for certificate in self._certificates()]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if isinstance(self.__dict__.get("certificate_"), list):
            self._keep_certificates([certificate_from_json(text) for text in self.__dict__["certificate_"]])

    def _certificates(self) -> list[TwoSided]:
        one = self.certificate_
        return list(one.values()) if isinstance(one, CertificateTable) else [one]

    def _keep_certificates(self, each: Sequence[Any]) -> None:
        names = self.classes_.tolist()
        self.certificate_ = each[0] if len(each) == 1 else CertificateTable(dict(zip(names, each, strict=True)))


def _hard_support(certificate: Separable, y: NDArray[Any]) -> Support:
    """The dual weights a of the canonical problem: kλ / |Σ λ y x|², where the λ of each of k sides sum to 1."""
    weights = np.asarray([float(weight) for weight in certificate.support_weights])
    rows, sides = certificate.support, 2 if certificate.fit_intercept else 1
    signs = np.where(np.isin(y[rows], np.asarray(certificate.data.positive, dtype=y.dtype)), 1.0, -1.0)
    for side in (+1, -1) if sides == 2 else (0,):
        own = signs == side if side else np.ones(len(signs), bool)
        weights[own] /= weights[own].sum() or 1.0
    return Support(rows, signs * weights / certificate.margin_upper_bound / certificate.margin_upper_bound / sides)


def _not_separable(witness: Inseparable, name: Any, others: list[Any]) -> str:
    verdict = certificate_words.sentences(witness)
    who = "" if name is None else f"Class {name!r} cannot be separated from the rest"
    if others:
        who += f" (nor can {', '.join(map(repr, others))})"
    return (
        f"{who + '. ' if who else ''}{verdict[0]} {verdict[1]} So there is no maximum margin. SoftMargin allows "
        "rows on the wrong side, at a price; rosenblatt.suspects(X, y) ranks the labels that may be wrong; "
        "AveragedPerceptron is made for such data. The proof is in the error's .certificate."
    )


def _undecided(certificate: Undecided, name: Any) -> str:
    who = "" if name is None else f"Class {name!r} against the rest: "
    return (
        f"{who}{' '.join(certificate_words.sentences(certificate))} SoftMargin needs no separable data. "
        "The bounds are in the error's .certificate."
    )
