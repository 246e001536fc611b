"""The plane in which rows of any dimension are drawn, so that what is seen is true.

Two features are drawn as they are. More are projected on the plane of w and of the largest variance that remains: the
first coordinate is then the signed distance to the hyperplane, so that sides, margins and mistakes are seen exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray
from rosenblatt.plot.samples import Sample, dense

_STEPS = 300  # of the power iteration


@dataclass(frozen=True)
class View:
    """A plane through `origin` along two directions, and what its axes are called."""

    directions: FloatArray  # shape (2, d), orthonormal; the features themselves for d = 2
    origin: FloatArray
    labels: tuple[str, str]
    note: str = ""  # what the picture must say of it
    flat: bool = False  # one feature only: the second coordinate means nothing
    equal: bool = False  # both axes want one scale, for angles to be seen

    def points(self, X: Any) -> FloatArray:
        """The coordinates of rows, shape (n, 2)."""
        return np.asarray(X @ self.directions.T, dtype=np.float64) - self.origin @ self.directions.T

    def line(self, plane: Hyperplane) -> tuple[FloatArray, float]:
        """(a, c) with a·p + c = w·x + b for every row: exact if w lies in the plane of the view."""
        return self.directions @ plane.w, float(plane.w @ self.origin + plane.b)


def in_range(plane: Hyperplane) -> Hyperplane:
    """The same hyperplane with weights about 1, whose squares neither overflow nor vanish."""
    exponent = int(np.frexp(np.abs(plane.w).max())[1])  # a power of two rounds nothing
    with np.errstate(over="ignore"):
        b = float(np.ldexp(plane.b, -exponent))
    return Hyperplane(np.ldexp(plane.w, -exponent), b) if np.isfinite(b) else plane


def view_of(shown: Sample, plane: Hyperplane | None) -> View:
    """The view for a hyperplane, or without one that of the two largest variances."""
    d = shown.n_features
    if d == 1:
        return View(np.array([[1.0], [0.0]]), np.zeros(1), (shown.feature(0), ""), flat=True)
    if d == 2:
        return View(np.eye(2), np.zeros(2), (shown.feature(0), shown.feature(1)), equal=True)
    if plane is None or not plane.w.any():
        return widest_view(shown.X, f"Projection of {d:,} features on the plane of the largest variance.")
    plane = in_range(plane)
    u = plane.w / np.linalg.norm(plane.w)
    mean = np.asarray(shown.X.mean(axis=0), dtype=np.float64).reshape(-1)
    v = largest_variance(shown.X, mean, u[None, :])
    return View(
        np.stack([u, v]),
        plane.project(mean),
        ("distance to the hyperplane", "largest remaining variance"),
        f"Projection of {d:,} features on the plane of w and the largest remaining variance.",
    )


def widest_view(X: Any, note: str) -> View:
    """The plane in which rows vary most."""
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).reshape(-1)
    first = largest_variance(X, mean, np.empty((0, len(mean))))
    second = largest_variance(X, mean, first[None, :])
    return View(np.stack([first, second]), mean, ("largest variance", "second largest"), note)


def plane_view(first: FloatArray, second: FloatArray, labels: tuple[str, str], note: str) -> View | None:
    """The plane of two vectors, along the first; None if they are parallel."""
    length = np.linalg.norm(first)
    if length == 0:
        return None
    u = first / length
    rest = second - (second @ u) * u
    rest -= (rest @ u) * u
    if np.linalg.norm(rest) <= 1e-9 * np.linalg.norm(second):
        return None
    return View(np.stack([u, rest / np.linalg.norm(rest)]), np.zeros(len(u)), labels, note, equal=True)


def largest_variance(X: Any, mean: FloatArray, without: FloatArray) -> FloatArray:
    """The direction in which rows vary most, orthogonal to the orthonormal rows of `without`, by power iteration.

    Sparse rows stay sparse. Of rows that do not vary any orthogonal direction is as good.
    """

    def free(vector: FloatArray) -> FloatArray:
        vector = vector - without.T @ (without @ vector)
        vector = vector - without.T @ (without @ vector)  # twice: once leaves rounding behind
        return np.asarray(vector, dtype=np.float64)

    # The start is the row that is farthest out: it has a part in the direction looked for.
    norms = np.asarray((X.multiply(X) if hasattr(X, "multiply") else X * X).sum(axis=1)).reshape(-1)
    norms = norms - 2 * np.asarray(X @ mean) - sum(np.asarray(X @ u - mean @ u) ** 2 for u in without)
    v = free(dense(X[[int(np.argmax(norms))]])[0] - mean)
    if np.linalg.norm(v) <= 1e-12 * (1 + np.linalg.norm(mean)):
        return _any_orthogonal(without, len(mean))
    v /= np.linalg.norm(v)
    for _ in range(_STEPS):
        scores = np.asarray(X @ v) - mean @ v
        following = free(np.asarray(X.T @ scores) - mean * scores.sum())
        length = np.linalg.norm(following)
        if length == 0:
            break
        following /= length
        done = abs(following @ v) >= 1 - 1e-13
        v = following
        if done:
            break
    return np.asarray(v * np.sign(v[np.argmax(np.abs(v))]), dtype=np.float64)  # of v and −v always the same one


def _any_orthogonal(without: FloatArray, d: int) -> FloatArray:
    if len(without) == 0:
        return np.asarray(np.eye(d)[0])
    i = int(np.argmin(np.abs(without).sum(axis=0)))
    vector = np.eye(d)[i]
    vector = vector - without.T @ (without @ vector)
    return np.asarray(vector / np.linalg.norm(vector))
