"""What `train` gives: a model that predicts, can be saved, and knows how its rows were read. Needs no scikit-learn."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.learner import Learner, Readout
from rosenblatt.model_checks import HOMES, READOUTS, check_trained
from rosenblatt.model_file import read_with
from rosenblatt.runs.row_batches import RowBatch, Sparse
from rosenblatt.runs.stream_scores import ExpansionScorer, Scorer

if TYPE_CHECKING:
    from rosenblatt.reading.options import ReadingOptions

_ESTIMATORS = {readout: name for name, readout in READOUTS.items()}


@dataclass
class TrainedModel:
    """A model learned from a stream.

    Attributes
    ----------
    classes_ : array
        The classes, sorted. ``classes_[1]`` is +1.
    coef_, intercept_ : array
        The hyperplane: shape (1, n_features) and (1,) for two classes, else a row for each class.
    n_features_in_ : int
        How many features the rows had.
    n_iter_ : int
        Passes made.
    n_updates_ : int
        Mistakes learned from, in all.
    mistakes_per_pass_ : array
        How many in each pass.
    converged_ : bool
        The last pass made no mistake, under the tie rule chosen.
    separates_ : bool or None
        Every row is strictly on its side, with whatever predicts; None if this was not looked at, because the rows were
        read only once.
    reading : ReadingOptions or None
        How the files were read; predicting needs no more.
    feature_names : list of str or None
        The names of the features, where they have some.
    names_of_hashes : dict
        What was hashed into a column, if it was asked for.
    progressive_accuracy : float or None
        The share of rows that were given their class before they were learned from, in the first pass.
    hold_out_accuracy : float or None
        The share of held-out rows that are given their class.
    report : dict
        What happened in the run, as plain values.
    """

    estimator: str
    parameters: dict[str, Any]
    classes_: NDArray[Any]
    learner: Learner
    mistakes_per_pass_: IntArray
    converged_: bool
    separates_: bool | None
    training: dict[str, Any] | None = None
    reading: ReadingOptions | None = None
    feature_names: list[str] | None = None
    names_of_hashes: dict[int, str] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        rows = "" if self.training is None else f", {self.training['rows']:,} rows"
        return f"<TrainedModel: {self.estimator}, {len(self.classes_)} classes, {self.n_features_in_:,} features{rows}>"

    @property
    def n_features_in_(self) -> int:
        """How many features the rows had."""
        return self.learner.n_features

    @property
    def coef_(self) -> FloatArray:
        """The normal vectors: one row for two classes, else one for each class."""
        return self._with_vectors("coef_").coef

    @property
    def intercept_(self) -> FloatArray:
        """The offsets, one for each row of ``coef_``."""
        return self._with_vectors("intercept_").intercept

    def _with_vectors(self, name: str) -> Learner:
        if self.estimator == "KernelPerceptron":
            raise AttributeError(f"a KernelPerceptron has no {name}: it predicts with the kernel and its support rows")
        if self.learner.votes is not None:
            raise AttributeError(f"a vote has no {name}: all vectors of the run predict together")
        return self.learner

    @property
    def n_iter_(self) -> int:
        """Passes made."""
        return len(self.mistakes_per_pass_)

    @property
    def n_updates_(self) -> int:
        """Mistakes learned from, in all."""
        return int(self.learner.updates.sum())

    @property
    def progressive_accuracy(self) -> float | None:
        """The share of rows that were given their class before they were learned from."""
        return self._share("progressive_right", "learned")

    @property
    def hold_out_accuracy(self) -> float | None:
        """The share of held-out rows that are given their class."""
        return self._share("held_out_right", "held_out")

    def _share(self, part: str, whole: str) -> float | None:
        if self.training is None or self.training[part] is None or not self.training[whole]:
            return None
        return float(self.training[part] / self.training[whole])

    # Predicting -----------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> FloatArray:
        """The score of each row, as the estimators give it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows. Sparse rows may have features that the model has never seen; they count nothing. The columns of a
            data frame must be those of ``feature_names``, in their order.

        Returns
        -------
        array of shape (n_rows,) for two classes, (n_rows, n_classes) for more
        """
        return self.scores_of(_batch_of(X, self.n_features_in_, self.feature_names))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; ties as the estimators have them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.classes_of(self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy: the share of rows that are given their class, as the estimators have it.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : array of shape (n_rows,)
            Their labels. One that is no class of the model is never right.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        y = inputs.labels(y, len(predicted))
        classes, _ = inputs.encode(y)
        inputs.require_classes(classes)
        text, label = isinstance(self.classes_[0], str), classes.tolist()[0]
        if isinstance(label, str) != text:
            raise InputError(
                f"y holds {label!r}, and the classes of the model are {'text' if text else 'numbers'}, such as "
                f"{self.classes_.tolist()[0]!r}: cast y to {'str' if text else 'numbers'}"
            )
        return float(np.average(predicted == y, weights=inputs.sample_weight(sample_weight, len(y))))

    def scores_of(self, batch: Any) -> FloatArray:
        """The scores of a batch: a `RowBatch`, or what a stream of files delivers."""
        scores = self.scorer.scores(batch if isinstance(batch, RowBatch) else RowBatch.of_stream(batch))
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def winners(self, scores: FloatArray) -> IntArray:
        """The class numbers that scores mean."""
        return self.scorer.winners(scores[:, np.newaxis] if scores.ndim == 1 else scores)

    @cached_property
    def scorer(self) -> Scorer:
        """What scores rows; the weights of a finished model do not change."""
        if self.estimator == "KernelPerceptron":
            return ExpansionScorer(self.learner, self.parameters["tie"])
        return Scorer(self.learner, self.parameters["tie"], bool(self.parameters["fit_intercept"]))

    def classes_of(self, scores: FloatArray) -> NDArray[Any]:
        """The classes that scores mean."""
        predicted: NDArray[Any] = self.classes_[self.winners(scores)]
        return predicted

    # As a file, and as an estimator ---------------------------------------------------------------------------------

    def to_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What a model file holds of it, but for the classes: JSON and arrays."""
        self._require_perceptron()
        tensors = dict(self.learner.to_arrays()) | {"mistakes_per_pass": self.mistakes_per_pass_}
        state = {
            "estimator": self.estimator,
            "parameters": _without_keys(self.parameters),
            "feature_names_in_": None if self.feature_names is None else list(self.feature_names),
            "n_features_in_": self.n_features_in_,
            "n_iter_": self.n_iter_,
            "converged_": bool(self.converged_),
            "separates_": self.separates_,
        }
        return state | self._trained_entries(), tensors

    def _trained_entries(self) -> dict[str, Any]:
        if self.training is None:
            return {}
        names = self.names_of_hashes
        hashed = {"columns": list(names), "names": list(names.values())} if names else None
        reading = None if self.reading is None else self.reading.to_plain()
        return {"reading": reading, "training": self.training, "hashed_names": hashed}

    def _require_perceptron(self) -> None:
        if self.estimator not in READOUTS:
            raise InputError(f"this is only what predicts of a {self.estimator}: load_model has all of it")

    def to_estimator(self) -> Any:
        """The same model as a scikit-learn estimator: `Perceptron`, `AveragedPerceptron` or `VotedPerceptron`.

        Returns
        -------
        estimator
            Fitted; `partial_fit` goes on where the run ended. ``reading_`` says how the files were read.
        """
        self._require_perceptron()
        home = importlib.import_module(HOMES[self.estimator])  # which imports scikit-learn
        model = getattr(home, self.estimator)(**self.parameters)
        model.classes_, model.n_features_in_ = self.classes_, self.n_features_in_
        if self.feature_names is not None:
            model.feature_names_in_ = np.asarray(self.feature_names, dtype=object)
        model.mistakes_per_pass_, model.n_iter_ = self.mistakes_per_pass_, self.n_iter_
        model.converged_, model.separates_ = self.converged_, self.separates_
        model.updates_per_class_, model.n_updates_ = self.learner.updates.copy(), self.n_updates_
        model._learner = model._learner_of({name: array.copy() for name, array in self.learner.to_arrays().items()})
        if self.training is not None:
            model.reading_, model._trained = self.reading, self._trained_entries()
        return model


def load_trained(path: str | os.PathLike[str]) -> TrainedModel:
    """Read a model that `save` wrote, without scikit-learn: ready to predict.

    Parameters
    ----------
    path : str or path
        The file: of a `TrainedModel`, or of any of the estimators. Of a margin classifier only what predicts is kept:
        `load_model` has the rest.

    Returns
    -------
    TrainedModel

    Raises
    ------
    ModelFileError
        The file is damaged or was edited, is not a model, or was written by a newer version.
    """
    parts, learner = read_with(_checked, path)
    return TrainedModel(
        parts["estimator"],
        parts["parameters"],
        parts["classes"],
        learner,
        parts["mistakes_per_pass"],
        parts["converged"],
        parts["separates"],
        training=parts["training"],
        reading=parts["reading"],
        feature_names=parts["feature_names"],
        names_of_hashes=parts["names_of_hashes"],
    )


def _checked(state: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> tuple[dict[str, Any], Any]:
    """The parts of a model in a file, and what it has learned."""
    if state["estimator"] == "KernelPerceptron":
        from rosenblatt.kernels.checks import check_kernel_model  # its modules, only for who needs them

        return check_kernel_model(state, tensors)
    parts = check_trained(state, tensors)
    readout: Readout = READOUTS.get(parts["estimator"], "last")  # type: ignore[assignment]
    return parts, Learner.from_arrays(parts["arrays"], len(parts["classes"]), parts["n_features"], readout=readout)


def remember_reading(
    model: Any,
    reading: ReadingOptions,
    counts: Sequence[int],
    *,
    feature_names: Sequence[str] | None = None,
    names_of_hashes: Mapping[int, str] | None = None,
    rejected: int = 0,
) -> None:
    """Tell an estimator that was fitted on the rows of files how they were read, so that its model file says so, too.

    `counts` are the rows of each class.
    """
    names = names_of_hashes or {}
    rows = int(sum(counts))
    training = {"rows": rows, "counts": list(counts), "progressive_right": None, "learned": rows, "held_out": 0}
    training |= {"held_out_right": None, "rejected": rejected, "sorted_by_label": False}
    hashed = {"columns": list(names), "names": list(names.values())} if names else None
    if feature_names is not None:
        model.feature_names_in_ = np.asarray(feature_names, dtype=object)
    model.reading_ = reading
    model._trained = {"reading": reading.to_plain(), "training": training, "hashed_names": hashed}


def estimator_of(readout: Readout) -> str:
    """The estimator that predicts in this way."""
    return _ESTIMATORS[readout]


def _without_keys(parameters: dict[str, Any]) -> dict[str, Any]:
    """Class weights as pairs: the keys of a JSON object are strings."""
    weights = parameters.get("class_weight")
    if not isinstance(weights, dict):
        return parameters
    pairs = [[key.item() if isinstance(key, np.generic) else key, float(weight)] for key, weight in weights.items()]
    return parameters | {"class_weight": pairs}


def _batch_of(X: Any, n_features: int, names: Sequence[str] | None) -> RowBatch:
    rows = inputs.rows(X, estimator="TrainedModel")
    inputs.require_names(rows.feature_names, names)
    rows.require_finite()
    n, d = rows.shape
    codes = np.zeros(n, np.int16)
    if rows.dense is None:
        csr = rows.sparse
        sparse = Sparse(csr.data, csr.indices, csr.indptr)
        return RowBatch(codes, d, sparse=sparse, view=rows.view)
    if d != n_features:
        raise InputError(f"X has {d} features, but the model has learned from {n_features}")
    return RowBatch(codes, d, dense=rows.dense, view=rows.view)
