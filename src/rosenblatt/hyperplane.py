"""The hyperplane w · x + b = 0: sides, distances and margins, apart from whatever learned it.

Every picture, certificate and linear model speaks of its boundary through this one class, so that "margin"
and "training error" mean the same everywhere. Labels ``y`` are -1 and +1: classes are the estimators' affair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InputError, NotSeparableError

__all__ = ["Hyperplane"]

Floats: TypeAlias = npt.NDArray[np.float64]


class SparseRows(Protocol):
    """What a sparse X must be able to do; scipy need not be imported to know it."""

    shape: Any

    def __matmul__(self, other: Any, /) -> Any:
        """X @ w, one score for each row."""

    def toarray(self) -> Any:
        """The same rows, dense."""


Points: TypeAlias = npt.ArrayLike | SparseRows


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Hyperplane:
    """The points with w · x + b = 0; w points to its positive side.

    X is an array of shape (n, d), dense or sparse, or one point of shape (d,), for which the answer is a
    single number (or point). All is float64, rounded as numpy rounds: these are measurements, not proofs.

    >>> h = Hyperplane([3, 4], -5)
    >>> h.distance([[3, 4], [0, 0]])
    array([4., 1.])
    >>> h.project([3, 4])
    array([0.6, 0.8])
    >>> h.margin([[3, 4], [0, 0]], [+1, -1])
    1.0
    """

    w: Floats
    b: float

    def __init__(self, w: npt.ArrayLike, b: float = 0.0) -> None:
        """Keep a read-only copy of w, a finite vector, and b, a finite number."""
        weights, offset = np.array(_numbers(w, "w"), dtype=np.float64), _numbers(b, "b")
        if weights.ndim != 1 or weights.size == 0:
            raise InputError(f"w must have shape (d,) with d >= 1, got {weights.shape}")
        if offset.size != 1:
            raise InputError(f"b must be one number, got shape {offset.shape}")
        if not np.isfinite(weights).all():
            i = int(np.argmin(np.isfinite(weights)))
            raise InputError(f"w must be finite, but w[{i}] is {weights[i]}")
        if not np.isfinite(offset.item()):
            raise InputError(f"b must be finite, got {offset.item()}")
        weights.flags.writeable = False
        object.__setattr__(self, "w", weights)
        object.__setattr__(self, "b", float(offset.item()))

    # ---- Points ----

    def score(self, X: Points) -> Any:
        """w · x + b: positive on the side that w points to, 0 on the hyperplane."""
        points = self._points(X)
        with np.errstate(all="ignore"):  # what overflows is reported below, with its row
            scores = points @ self.w + self.b
        if not np.isfinite(scores).all():
            row = int(np.argmin(np.isfinite(np.atleast_1d(scores))))
            value = np.atleast_1d(scores)[row]
            raise InputError(
                f"row {row} of X has the score {value}: X must be finite (no NaN, no infinity), and small "
                "enough for w·x + b to be so"
            )
        return float(scores) if np.ndim(scores) == 0 else scores

    def side(self, X: Points) -> Any:
        """+1, -1, or 0 for a point on the hyperplane itself."""
        sides = np.sign(self.score(X)).astype(np.int64)
        return int(sides) if np.ndim(sides) == 0 else sides

    def distance(self, X: Points) -> Any:
        """|w · x + b| / ‖w‖ (003 Lemma 1.2), never negative."""
        return abs(self.score(X)) / self._norm("distance")

    def project(self, X: Points) -> Floats:
        """The foot points: for each x the nearest point of the hyperplane (000 eq. 3.16), always dense."""
        norm = self._norm("foot point")
        points = self._points(X)
        dense = points.toarray() if hasattr(points, "toarray") else points
        # Twice over ‖w‖ and not once over ‖w‖², which overflows, or vanishes, long before ‖w‖ does.
        shift = np.multiply.outer(np.asarray(self.score(X)) / norm, self.w / norm)
        return np.asarray(dense - shift, dtype=np.float64)

    @property
    def distance_to_origin(self) -> float:
        """|b| / ‖w‖."""
        return abs(self.b) / self._norm("distance")

    # ---- Labelled points ----

    def margin(self, X: Points, y: npt.ArrayLike) -> float:
        """The least y(w · x + b) / ‖w‖: the worst point's distance, negative if it is on the wrong side."""
        return float(self._agreements(X, y).min()) / self._norm("margin")

    def training_error(self, X: Points, y: npt.ArrayLike) -> float:
        """The fraction with y(w · x + b) <= 0 (004 eq. 4): points on the hyperplane are errors."""
        return float(np.mean(self._agreements(X, y) <= 0))

    def is_separating(self, X: Points, y: npt.ArrayLike) -> bool:
        """Whether y(w · x + b) > 0 for every point (004 Definition 3.1)."""
        return bool((self._agreements(X, y) > 0).all())

    def canonical(self, X: Points, y: npt.ArrayLike) -> Hyperplane:
        """The same hyperplane, scaled to min y(w · x + b) = 1 (003 eq. 18)."""
        agreements = self._agreements(X, y)
        row = int(np.argmin(agreements))
        if agreements[row] <= 0:
            raise NotSeparableError(
                f"only a separating hyperplane has a canonical form, but y(w·x + b) is {agreements[row]:g} at row {row}"
            )
        return Hyperplane(self.w / agreements[row], self.b / agreements[row])

    # ---- As a value ----

    def __eq__(self, other: object) -> bool:
        """The same w and b; another multiple of them is the same set of points, but has other scores."""
        if not isinstance(other, Hyperplane):
            return NotImplemented
        return self.b == other.b and np.array_equal(self.w, other.w)

    def __hash__(self) -> int:
        """Equal hyperplanes have equal hashes."""
        return hash((tuple(self.w.tolist()), self.b))

    def __repr__(self) -> str:
        """As one would write it, with long w shortened."""
        if self.w.size <= 6:
            return f"Hyperplane({self.w.tolist()}, {self.b})"
        head, last = ", ".join(map(str, self.w[:3].tolist())), self.w[-1].item()
        return f"<Hyperplane in {self.w.size} dimensions: w = [{head}, ..., {last}], b = {self.b}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are made anew, so that their w is read-only too."""
        return Hyperplane, (self.w, self.b)

    # ---- Checks ----

    def _norm(self, what: str) -> float:
        largest = float(np.abs(self.w).max())
        if largest == 0:
            raise InputError(f"w is zero, so there is no hyperplane and no {what}")
        exponent = int(np.frexp(largest)[1])  # a power of two rounds nothing, and keeps the squares in range
        return float(np.ldexp(np.linalg.norm(np.ldexp(self.w, -exponent)), exponent))

    def _points(self, X: Points) -> Any:
        points: Any = X if hasattr(X, "toarray") else _numbers(X, "X")
        if len(points.shape) not in (1, 2) or points.shape[-1] != self.w.size:
            d, shape = self.w.size, points.shape
            hint = "; one feature for many points is X.reshape(-1, 1)" if len(shape) == 1 and d == 1 else ""
            raise InputError(f"X must have shape (n, {d}), or ({d},) for one point, got {shape}{hint}")
        return points

    def _agreements(self, X: Points, y: npt.ArrayLike) -> Floats:
        """y(w · x + b) of every row: positive where label and side agree."""
        scores: Floats = np.atleast_1d(self.score(X))
        if scores.size == 0:
            raise InputError("X has no rows")
        agreements: Floats = scores * _signs(y, scores.size)
        return agreements


def _numbers(values: Any, name: str) -> npt.NDArray[Any]:
    """As an array of real numbers, not copied if it is one already."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":  # Fractions, mixed columns of a data frame
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be real numbers, got dtype {array.dtype}")
    return array


def _signs(y: npt.ArrayLike, n: int) -> npt.NDArray[Any]:
    labels = np.atleast_1d(np.asarray(y))
    if labels.shape != (n,):
        raise InputError(f"y must have one label for each of the {n} rows of X, got shape {labels.shape}")
    convert = "convert it with np.where(y, 1, -1)"
    if labels.dtype.kind == "b":
        raise InputError(f"y must be -1 and +1, got booleans; {convert}")
    wrong = ~np.isin(labels, (-1, 1)) | (labels.dtype.kind in "US")  # "1" is not 1
    if not wrong.any():
        return labels.astype(np.float64)
    row = int(np.argmax(wrong))
    hint = convert if np.isin(labels, (0, 1)).all() else "np.where(y == positive_class, 1, -1) makes it so"
    raise InputError(f"y must be -1 and +1, but y[{row}] is {labels[row].item()!r}; {hint}")
