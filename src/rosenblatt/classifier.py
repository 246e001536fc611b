"""The scikit-learn contract, once, for every classifier: what comes in, what is predicted, what a hyperplane is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from rosenblatt import inputs, notebooks
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray


class Classifier(ClassifierMixin, BaseEstimator):
    """Rows and labels of any kind in, classes out."""

    classes_: NDArray[Any]
    n_features_in_: int

    # What comes in --------------------------------------------------------------------------------------------------

    def _rows_and_labels(self, X: Any, y: Any, *, known: bool = False) -> tuple[inputs.Rows, NDArray[Any]]:
        name = type(self).__name__
        if y is None:
            raise InputError(f"{name} requires y to be passed, but the target y is None.")
        rows = inputs.rows(X, estimator=name)
        if known:  # the features must be those of before
            validate_data(self, X, reset=False, skip_check_array=True)
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. "
                "Please change the shape of y to (n_samples,), for example using ravel().",
                DataConversionWarning,
                stacklevel=3,
            )
        return rows, inputs.labels(y, len(rows))

    def _classes(self, y: NDArray[Any], weights: FloatArray | None = None) -> tuple[NDArray[Any], inputs.Codes]:
        classes, codes = inputs.encode(y)
        inputs.require_classes(classes, f"Unknown label type: continuous. {type(self).__name__} is a classifier: ")
        self._require_two(classes if weights is None else classes[np.unique(codes[weights > 0])])
        return classes, codes

    def _require_two(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise InputError(
                f"{type(self).__name__} needs samples of at least two classes, got only one class: "
                f"{classes.tolist()!r} (rows of weight 0 do not count). With one class there is nothing to separate."
            )

    def _threads(self) -> int:
        return inputs.threads(self.n_jobs)

    def _accept_features(self, X: Any) -> None:
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_

    # Predicting -----------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """The score of each row: w · x + b, or for a vote the votes for +1 less those for −1, as a share of all.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        array of shape (n_rows,) for two classes, (n_rows, n_classes) for more
        """
        check_is_fitted(self)
        rows = inputs.rows(X, estimator=type(self).__name__)
        validate_data(self, X, reset=False, skip_check_array=True)
        rows.require_finite()
        scores = self._scores(rows)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        A score of exactly 0 gives ``classes_[0]``, or with ``tie="positive"`` ``classes_[1]``. With three classes or
        more the highest score wins, the first of equals (jointly learned with ``tie="positive"``: the last).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        array of shape (n_rows,)
        """
        winners = self._winners(self.decision_function(X))
        predicted: NDArray[Any] = self.classes_[winners]
        return predicted

    def _scores(self, rows: inputs.Rows) -> FloatArray:
        """One column for two classes, else one for each class."""
        raise NotImplementedError

    def _winners(self, scores: FloatArray) -> IntArray:
        """The class numbers of scores."""
        return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)

    # In a notebook: scikit-learn's diagram, and a picture of what was learned under it.

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._picture()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._picture()
        return bundle

    def _picture(self) -> str:
        return notebooks.picture(self) if hasattr(self, "classes_") else ""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearClassifier(Classifier):
    """A classifier whose scores are those of hyperplanes."""

    # coef_ has one row for two classes, else one for each class; intercept_ has a number for each row of coef_.

    @property
    def hyperplane_(self) -> Hyperplane:
        """The hyperplane between two classes."""
        coef, count = self.coef_, len(self.classes_)
        if count != 2:
            raise AttributeError(f"hyperplane_ is for two classes; these are {count}: use coef_, intercept_")
        return Hyperplane(coef[0], float(self.intercept_[0]))

    def _scores(self, rows: inputs.Rows) -> FloatArray:
        scores = np.empty((len(rows), len(self.coef_)))
        for block, products in rows.products(self.coef_):
            scores[block] = products + self.intercept_
        return scores
