"""The parts of a certificate: which data it speaks of, hyperplanes in fractions, and margins with what proves them.

Whatever is kept is checked for its form (numbers are finite, lists have one length) and made read-only; whether it is
true is for `verification` to say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from rosenblatt import inputs
from rosenblatt.checking import canonical
from rosenblatt.checking.canonical import Label
from rosenblatt.errors import InputError, counted
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray

Weights: TypeAlias = tuple[Fraction, ...] | FloatArray

KINDS = ("free", "origin", "augmented")
_ROUNDED = Fraction(1, 2**40)


@dataclass(frozen=True)
class Data:
    """Which data a certificate speaks of: its shape, which labels are on which side, and its digest.

    Rows with a label in `ignored` are numbered but not spoken of: those of other classes, when two of several are
    compared.
    """

    n_rows: int
    n_features: int
    negative: tuple[Label, ...]
    positive: tuple[Label, ...]
    digest: str
    ignored: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        for name in ("negative", "positive", "ignored"):
            object.__setattr__(self, name, tuple(_label(value) for value in getattr(self, name)))
        require_shape(self.n_rows, self.n_features)
        if not self.negative or not self.positive:
            raise InputError("each side needs the name of at least one label")
        require_labels(self.negative + self.positive + self.ignored)
        require_digest(self.digest)

    @classmethod
    def of(cls, X: Any, y: Any) -> Data:
        """Describe data with two labels, the smaller of which is negative."""
        rows = canonical.exact_rows(X)
        classes, codes = inputs.encode(inputs.labels(y, len(rows)))
        if len(classes) != 2:
            raise InputError(f"y must have two labels, got {len(classes)}: {classes[:10].tolist()!r}")
        negative, positive = classes.tolist()
        sides = (2 * codes - 1).astype(np.int8)
        n, d = rows.shape
        return cls(n, d, (negative,), (positive,), canonical.digest(rows, sides))

    def side_name(self, sign: int) -> str:
        """The labels of a side, for people."""
        names = self.positive if sign > 0 else self.negative
        return " or ".join(repr(name) for name in names[:5]) + (" or others" if len(names) > 5 else "")


@dataclass(frozen=True)
class RationalHyperplane:
    """A hyperplane whose w and b are exact fractions."""

    w: tuple[Fraction, ...]
    b: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "w", tuple(Fraction(value) for value in self.w))
        object.__setattr__(self, "b", Fraction(self.b))
        if not self.w:
            raise InputError("w must have at least one number")

    def rounded(self) -> Hyperplane:
        """The nearest floats, after scaling by a power of two so that none is too large."""
        size = max(abs(self.b), *(abs(value) for value in self.w))
        shift = size.numerator.bit_length() - size.denominator.bit_length()
        scale = Fraction(2) ** -shift if abs(shift) > 1000 else Fraction(1)
        return Hyperplane([float(value * scale) for value in self.w], float(self.b * scale))

    def __repr__(self) -> str:
        return f"<RationalHyperplane in {len(self.w)} dimensions>"


@dataclass(frozen=True, eq=False)
class Margin:
    """Bounds of a maximum margin: a hyperplane has `lower` at least, none has more than `upper`.

    Attributes
    ----------
    kind : "free", "origin" or "augmented"
        Of which hyperplanes: the distance to w·x + b = 0 with any b; with b = 0; or of the points (x, 1), where b is a
        weight like the others.
    hyperplane : Hyperplane or None
        One that has `lower` at least, in floats.
    lower : float
        The margin of `hyperplane`, rounded down; or of `exact`, if there is no hyperplane in floats.
    upper : float
        None has more: it follows from the weights of the support rows. Infinite if nothing is claimed.
    support : array
        The rows that hold the margin down.
    weights : tuple of Fraction, or array
        Their weights.
    exact : RationalHyperplane or None
        A hyperplane in fractions.
    squared : Fraction or None
        The square of the maximum margin exactly, where it is known: `exact` has it, and the weights, which must then be
        fractions, allow no more.
    """

    kind: str
    hyperplane: Hyperplane | None
    lower: float
    upper: float = math.inf
    support: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    weights: Weights = ()
    exact: RationalHyperplane | None = None
    squared: Fraction | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        keep_weighted(self, "support", "weights")
        keep_float(self, "lower", low=0.0)
        keep_float(self, "upper", low=0.0, infinite=True)
        if self.hyperplane is None and self.exact is None:
            raise InputError("a margin needs a hyperplane that has it")
        if self.squared is not None:
            object.__setattr__(self, "squared", Fraction(self.squared))
            if self.exact is None or isinstance(self.weights, np.ndarray):
                raise InputError("an exact margin needs a hyperplane and weights that are fractions")

    @property
    def gap(self) -> float:
        """1 - lower / upper: how much larger the maximum can be, relatively."""
        known = self.squared is not None and Fraction(self.lower) ** 2 >= self.squared * (1 - _ROUNDED)
        if known or self.lower >= self.upper or (self.squared is not None and self.hyperplane is None):
            return 0.0  # the hyperplane is the best one, but for the rounding of its weights
        return 1.0 if self.upper == math.inf else (self.upper - self.lower) / self.upper

    @property
    def lower2(self) -> Fraction:
        """The square of what is proved of the hyperplane."""
        return Fraction(self.lower) ** 2 if self.squared is None else self.squared

    def plane(self) -> tuple[Sequence[Fraction] | FloatArray, Fraction]:
        """w and b of the hyperplane that has `lower2`."""
        if self.exact is not None and (self.squared is not None or self.hyperplane is None):
            return self.exact.w, self.exact.b
        assert self.hyperplane is not None
        return self.hyperplane.w, Fraction(self.hyperplane.b)

    def __repr__(self) -> str:
        return f"<Margin {self.kind}: {self.lower:.6g} to {self.upper:.6g}>"


@dataclass(frozen=True)
class Comparison:
    """What a certificate of separability says beside the margin asked for."""

    margins: Mapping[str, Margin]  # of the other kinds, as far as they exist
    centre: FloatArray | None  # the middle of the rows
    centred_radius: float | None  # not below any ‖x - centre‖


# Keeping what is given ----------------------------------------------------------------------------------------------


def _label(value: Any) -> Label:
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (str, int, float, bool)) or value != value or value in (math.inf, -math.inf):
        raise InputError(f"a label must be a text or a finite number, got {value!r}")
    return value


def require_labels(labels: Sequence[Any]) -> tuple[Label, ...]:
    """Labels as such, each of them once."""
    names = [_label(value) for value in labels]
    if len({(isinstance(name, str), name) for name in names}) < len(names):
        raise InputError("a label can be on one side only")
    return tuple(names)


def require_shape(n_rows: int, n_features: int) -> None:
    """Raise if there is no row, or no feature."""
    if n_rows < 1 or n_features < 1:
        raise InputError(f"n_rows and n_features must be at least 1, got {n_rows} and {n_features}")


def require_digest(digest: str) -> None:
    """Raise if it is no BLAKE3 in hexadecimal digits."""
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        raise InputError("digest must be 64 hexadecimal digits, of BLAKE3")


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only copy."""
    array = np.array(array)
    array.flags.writeable = False
    return array


def keep_float(owner: Any, name: str, *, low: float, infinite: bool = False) -> None:
    """Keep an attribute as a float within its limits."""
    value = float(getattr(owner, name))
    if not value >= low or (math.isinf(value) and not infinite):
        raise InputError(f"{name} must be a {'' if infinite else 'finite '}number of at least {low:g}, got {value!r}")
    object.__setattr__(owner, name, value + 0.0)


def keep_weighted(owner: Any, rows_name: str, weights_name: str) -> None:
    """Row numbers as a read-only int64 array; weights as such floats, or as a tuple of fractions."""
    rows, weights = np.asarray(getattr(owner, rows_name)), getattr(owner, weights_name)
    if rows.size == 0:
        rows = rows.astype(np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(f"{rows_name} must be a list of row numbers")
    object.__setattr__(owner, rows_name, frozen(rows.astype(np.int64)))
    if not isinstance(weights, np.ndarray) and all(isinstance(weight, (Fraction, int)) for weight in weights):
        object.__setattr__(owner, weights_name, tuple(Fraction(weight) for weight in weights))
    else:
        floats = np.asarray(weights, dtype=np.float64)
        if floats.ndim != 1 or not np.isfinite(floats).all():
            raise InputError(f"{weights_name} must be a list of finite numbers")
        object.__setattr__(owner, weights_name, frozen(floats))
    if len(getattr(owner, weights_name)) != len(rows):
        raise InputError(f"{len(rows)} {rows_name} have {len(weights)} {weights_name}")


def require_dimension(plane: Hyperplane | RationalHyperplane | None, d: int) -> None:
    """Raise if a hyperplane is not in d dimensions."""
    if plane is not None and len(plane.w) != d:
        raise InputError(
            f"a hyperplane has {counted(len(plane.w), 'weight')}, but the data has {counted(d, 'feature')}"
        )
