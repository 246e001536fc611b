"""What can be drawn: a hyperplane, a certificate's, or a fitted classifier, ours or another library's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.certificates import Separable
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import IntArray


@dataclass(frozen=True)
class Subject:
    """What a picture needs to know of what it shows."""

    name: str
    plane: Hyperplane | None = None  # of two classes, if they are separated by one
    classes: NDArray[Any] | None = None
    predictor: Any = None  # with predict, for what is no single hyperplane
    support: IntArray | None = None
    margin: float | None = None  # where its band ends, if it says so itself


def subject_of(thing: Any) -> Subject:
    """What there is to draw, or an error that says what can be drawn."""
    if isinstance(thing, Hyperplane):
        return Subject("Hyperplane", thing)
    if isinstance(thing, Separable):
        return Subject("Maximum margin", thing.hyperplane, support=thing.support, margin=thing.margin)
    name = name_of(thing)
    if not hasattr(thing, "predict"):
        raise InputError(f"a boundary is drawn of a Hyperplane, a Separable or a fitted classifier, got {name}")
    classes = getattr(thing, "classes_", None)
    if classes is None:
        raise InputError(f"this {name} is not fitted yet: call fit(X, y) first")
    classes = np.asarray(classes)
    coef = getattr(thing, "coef_", None)
    if len(classes) != 2 or coef is None or np.shape(coef)[0] != 1:
        return Subject(name, None, classes, thing)
    coef = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, np.float64)[0]
    plane = Hyperplane(coef, float(np.ravel(thing.intercept_)[0]))
    support = getattr(thing, "support_", None)
    margin = None
    if support is not None and plane.w.any():
        # In the canonical form of both margins the band, and slack, begin where the score is 1.
        margin = 1.0 / float(np.linalg.norm(plane.w))
    return Subject(name, plane, classes, thing, None if support is None else np.asarray(support, np.int64), margin)


def name_of(model: Any) -> str:
    """The name of its kind: of a model read from a file, that of the estimator it is."""
    own = getattr(model, "estimator", None)
    return own if isinstance(own, str) else type(model).__name__


def require_linear(thing: Any) -> Subject:
    """A subject that is one hyperplane."""
    subject = subject_of(thing)
    if subject.plane is None:
        raise InputError(
            f"this {subject.name} is not one hyperplane: draw one of its classes, "
            "Hyperplane(model.coef_[k], model.intercept_[k]) with y == model.classes_[k]"
        )
    return subject
