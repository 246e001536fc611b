"""What can be proved about several classes at once: one W has every row right, none has, or neither was proved.

W has a row w_k, and an intercept b_k if asked for, for each class; a row x is right if the score w_k·x + b_k of its own
class is above those of all rivals. (`Separable` and its kin speak of two sides; two classes are that case.)

>>> from rosenblatt.certificates import JointData, JointInseparable
>>> X, y = [[0], [1], [2], [1]], ["a", "b", "c", "c"]
>>> half = Fraction(1, 2)
>>> certificate = JointInseparable(JointData.of(X, y), [1, 3], [2, 1], [half, half], duplicates=True)
>>> print(certificate)
Not jointly separable: no W gives rows 1 and 3 the highest scores for their own
classes.
Two of these rows are equal, with different labels.
Proved in exact fractions; check it with verify(X, y).
Next: look at these rows; one of the labels may be wrong, or a feature that
tells them apart missing. suspects(X, y == label) ranks the labels of a class.
>>> bool(certificate.verify(X, y))
True
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from rosenblatt.checking import certificate_words, mistake_bounds
from rosenblatt.checking.canonical import Label
from rosenblatt.checking.claims import Margin, Weights, frozen, keep_float, keep_weighted
from rosenblatt.checking.joint_claims import JointData, keep_rivals
from rosenblatt.checking.joint_verification import JointScan
from rosenblatt.checking.statements import Certificate, keep_common
from rosenblatt.errors import InputError, counted
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray

__all__ = ["JointCertificate", "JointInseparable", "JointSeparable", "JointUndecided"]

_NO_ROWS: IntArray = np.empty(0, np.int64)


class JointCertificate(Certificate):
    """What is common to `JointSeparable`, `JointInseparable` and `JointUndecided`."""

    data: JointData
    rivals: IntArray

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels, in the order of the rows of W."""
        return self.data.classes

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels, in the order of the rows of W."""
        return self.data.classes

    @property
    def _size(self) -> str:
        return f"{counted(self.n_rows, 'row')}, {len(self.classes)} classes"

    def scan(self) -> JointScan:
        """Begin a pass over the data that checks it."""
        return JointScan(self)

    def _pairs(self, rows: IntArray) -> tuple[tuple[int, Label], ...]:
        return tuple((row, self.classes[k]) for row, k in zip(rows.tolist(), self.rivals.tolist(), strict=True))

    def _require_size(self, size: int) -> None:
        wanted = len(self.classes) * (self.n_features + int(self.fit_intercept))
        if size != wanted:
            raise InputError(f"W has {size} numbers, but {len(self.classes)} classes of this data need {wanted}")

    def _table(self, w: FloatArray) -> FloatArray:
        """W with a row for each class; with intercepts they are the last column."""
        return frozen(w.reshape(len(self.classes), -1))


@dataclass(frozen=True, eq=False, repr=False)
class JointSeparable(JointCertificate):
    """One W gives every row the highest score for its own class, and by how much.

    The margin is the least difference between the score of the own class and that of a rival, with ‖W‖ = 1: the root
    of the sum of squares of all numbers of W, the intercepts among them if there are any. This is the margin of the
    bound 2 R² / γ² of `Perceptron(multi_class="joint")`, with R² + 1 in place of R² if there are intercepts.

    `bounds` has W as one vector, class after class, each w_k followed by its b_k; what is claimed of it; and the rows
    and weights of the (row, rival) pairs that imply the upper bound. `rivals` are the numbers of these pairs' classes.
    """

    separable: ClassVar[bool | None] = True

    data: JointData
    bounds: Margin
    rivals: IntArray
    radius: float
    fit_intercept: bool = True
    proof: str = "filter"

    def __post_init__(self) -> None:
        keep_common(self, ("filter", "rational"), JointData)
        keep_rivals(self, "support_rows")
        keep_float(self, "radius", low=0.0)
        for plane in (self.bounds.hyperplane, self.bounds.exact):
            if plane is not None:
                self._require_size(len(plane.w))
                if plane.b != 0:
                    raise InputError("W is a vector through the origin: its intercepts are numbers of W")

    @property
    def _W(self) -> FloatArray:
        plane = self.bounds.hyperplane
        if plane is None:
            assert self.bounds.exact is not None
            plane = self.bounds.exact.rounded()
        return self._table(plane.w)

    @property
    def coef(self) -> FloatArray:
        """W: a row of weights for each class."""
        return self._W[:, : self.n_features]

    @property
    def intercept(self) -> FloatArray:
        """The intercept of each class; zeros without."""
        return self._W[:, self.n_features] if self.fit_intercept else frozen(np.zeros(len(self.classes)))

    @property
    def margin(self) -> float:
        """The least lead of a row's own class over a rival, with ‖W‖ = 1, rounded down."""
        return self.bounds.lower

    @property
    def margin_upper_bound(self) -> float:
        """No W has a margin above this."""
        return self.bounds.upper

    @property
    def margin_squared(self) -> Fraction | None:
        """The square of the maximum margin exactly, where it is known."""
        return self.bounds.squared

    @property
    def gap(self) -> float:
        """How much larger the maximum margin can be, relatively."""
        return self.bounds.gap

    @property
    def support(self) -> tuple[tuple[int, Label], ...]:
        """The pairs (row, rival) that hold the margin down: their weights imply the upper bound."""
        return self._pairs(self.bounds.support)

    @property
    def support_rows(self) -> IntArray:
        """The rows of these pairs."""
        return self.bounds.support

    @property
    def support_weights(self) -> Weights:
        """The weights of these pairs."""
        return self.bounds.weights

    @property
    def mistake_bound(self) -> int | float:
        """The most mistakes that our `Perceptron(multi_class="joint")` makes on this data, from 0, in any order."""
        radius2 = Fraction(self.radius) ** 2 + int(self.fit_intercept)
        return mistake_bounds.through_origin(2 * radius2, self.bounds.lower2)

    def __repr__(self) -> str:
        lower, upper = certificate_words.at_least(self.margin), certificate_words.at_most(self.margin_upper_bound)
        return f"<JointSeparable: {self._size}, margin {lower} to {upper}>"


@dataclass(frozen=True, eq=False, repr=False)
class JointInseparable(JointCertificate):
    """No W has every row right: a few pairs (row, rival) and their weights prove it.

    Add each row, times its weight, to the block of its own class and take it from that of its rival: the sum is zero
    in every block, exactly with proof "rational", for exact weights near those stated with "interval". With intercepts
    so are the sums of the weights. `rivals` are the numbers of the rivals' classes. `duplicates`: two of the rows are
    equal, with different labels.
    """

    separable: ClassVar[bool | None] = False

    data: JointData
    points: IntArray
    rivals: IntArray
    weights: Weights
    fit_intercept: bool = True
    proof: str = "rational"
    duplicates: bool = False

    def __post_init__(self) -> None:
        keep_common(self, ("interval", "rational"), JointData)
        keep_weighted(self, "points", "weights")
        keep_rivals(self, "points")
        if len(self.points) == 0:
            raise InputError("points must name at least one row")

    @property
    def pairs(self) -> tuple[tuple[int, Label], ...]:
        """The pairs (row, rival)."""
        return self._pairs(self.points)

    def __repr__(self) -> str:
        return f"<JointInseparable: {self._size}, {counted(len(self.points), 'pair')}>"


@dataclass(frozen=True, eq=False, repr=False)
class JointUndecided(JointCertificate):
    """Neither was proved: the bounds reached, and why it ended.

    `lower` is the margin of W, which `hyperplane` has as one vector, negative if it has a row wrong; -infinity without
    one. `upper` follows from the weights of the pairs: if the data is jointly separable, its margin is at most that.
    """

    separable: ClassVar[bool | None] = None

    data: JointData
    lower: float = -math.inf
    upper: float = math.inf
    hyperplane: Hyperplane | None = None
    points: IntArray = field(default_factory=_NO_ROWS.copy)
    rivals: IntArray = field(default_factory=_NO_ROWS.copy)
    weights: Weights = ()
    fit_intercept: bool = True
    why: str = ""
    radius: float | None = None  # only to put the upper bound in words; not claimed
    proof: str = "filter"

    def __post_init__(self) -> None:
        keep_common(self, ("filter", "interval", "rational"), JointData)
        keep_weighted(self, "points", "weights")
        keep_rivals(self, "points")
        keep_float(self, "lower", low=-math.inf, infinite=True)
        keep_float(self, "upper", low=0.0, infinite=True)
        if self.lower == math.inf:
            raise InputError("lower must not be infinity")
        if self.radius is not None:
            keep_float(self, "radius", low=0.0)
        object.__setattr__(self, "why", str(self.why))
        if self.hyperplane is not None:
            self._require_size(len(self.hyperplane.w))
            if self.hyperplane.b != 0:
                raise InputError("W is a vector through the origin: its intercepts are numbers of W")

    @property
    def pairs(self) -> tuple[tuple[int, Label], ...]:
        """The pairs (row, rival) whose weights imply the upper bound."""
        return self._pairs(self.points)

    @property
    def gap(self) -> float:
        """The relative distance of the bounds; 1 if none is known."""
        return (self.upper - max(self.lower, 0.0)) / self.upper if 0 < self.upper < math.inf else 1.0

    def __repr__(self) -> str:
        lower, upper = certificate_words.at_least(self.lower), certificate_words.at_most(self.upper)
        return f"<JointUndecided: {self._size}, margin {lower} to {upper}>"
