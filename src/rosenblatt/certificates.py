"""What can be proved about two classes: a hyperplane separates them, none does, or neither was proved.

A certificate holds all that is needed to check it against the data, and nothing that must be believed: `verify` is in
`verification`, which knows no solver, and the mistake bounds follow from the margins stated.

>>> from rosenblatt.certificates import Data, Inseparable
>>> xor = Data.of([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
>>> half = Fraction(1, 2)
>>> certificate = Inseparable(xor, [0, 1, 2, 3], [-1, +1, +1, -1], [half] * 4, proof="rational")
>>> print(certificate)
Not separable: rows 0, 1, 2 and 3 cannot be separated by any hyperplane, so
neither can the data.
A weighted mean of rows 1 and 2 (label 1) is the same point as one of rows 0 and
3 (label 0).
Proved in exact fractions; check it with verify(X, y).
Next: a Perceptron would never stop on these 4 rows. SoftMargin and
AveragedPerceptron are made for such data; suspects(X, y) ranks the labels that
may be wrong.
>>> bool(certificate.verify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from rosenblatt import inputs
from rosenblatt.certificate_table import CertificateTable
from rosenblatt.checking import certificate_text, certificate_words, mistake_bounds, rounding
from rosenblatt.checking.canonical import Signs
from rosenblatt.checking.claims import (
    KINDS,
    Comparison,
    Data,
    Margin,
    RationalHyperplane,
    Weights,
    frozen,
    keep_float,
    keep_weighted,
    require_dimension,
)
from rosenblatt.checking.joint_claims import JointData
from rosenblatt.checking.mistake_bounds import MistakeBound
from rosenblatt.checking.statements import Certificate, keep_common
from rosenblatt.checking.verification import Verification, verify, verify_batches
from rosenblatt.errors import InputError, counted
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.joint_certificates import JointCertificate, JointInseparable, JointSeparable, JointUndecided

__all__ = [
    "Certificate",
    "Data",
    "Inseparable",
    "JointData",
    "JointInseparable",
    "JointSeparable",
    "JointUndecided",
    "Margin",
    "MistakeBound",
    "RationalHyperplane",
    "Separable",
    "Undecided",
    "Verification",
    "certificate_from_json",
    "verify",
    "verify_batches",
]


_LATER = ("margins", "centre", "centred_radius")  # what `Separable` may compute when asked


@dataclass(frozen=True, eq=False, repr=False)
class Separable(Certificate):
    """A hyperplane separates the classes strictly, and how far apart they are.

    `margins` has a `Margin` by kind: "free" with intercept, "origin" without must be there; the others may be.
    `radius` is not below any ‖x‖; `centred_radius` not below any ‖x - centre‖.

    Of larger data `certify` computes only the margin asked for. The other margins and the centre are computed when they
    are first asked for, as are the mistake bounds, the text and the JSON, which state them; until then the certificate
    keeps the data. The numbers are the same as if they had been computed at once; if X was changed in place in the
    meantime, `InputError` is raised.
    """

    separable: ClassVar[bool | None] = True

    data: Data
    margins: Mapping[str, Margin]
    radius: float
    fit_intercept: bool = True
    proof: str = "filter"
    # No defaults that the class would have too: what is missing is computed (__getattr__).
    centre: FloatArray | None = field(default_factory=lambda: None)
    centred_radius: float | None = field(default_factory=lambda: None)
    later: Callable[[], Comparison] | None = field(default=None, kw_only=True)  # that computes it; for `certify` alone
    _own: Margin = field(init=False)  # the margin asked for, which is always there

    def __post_init__(self) -> None:
        keep_common(self, ("filter", "rational"))
        keep_float(self, "radius", low=0.0)
        self._keep(self.margins, self.centre, self.centred_radius)
        if self._main not in self.margins:
            raise InputError(f"the {self._main} margin is missing (fit_intercept={self.fit_intercept})")
        object.__setattr__(self, "_own", self.margins[self._main])
        if self.later is not None:
            for name in _LATER:
                object.__delattr__(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return certificate_from_json, (self.to_json(),)  # with what is computed when asked

    def _keep(self, given: Mapping[str, Margin], centre: npt.ArrayLike | None, centred_radius: float | None) -> None:
        margins = {kind: given[kind] for kind in KINDS if kind in given}
        if len(margins) < len(given) or any(kind != margin.kind for kind, margin in margins.items()):
            raise InputError(f"margins must have the keys {', '.join(KINDS)}, each with a margin of that kind")
        if (centre is None) != (centred_radius is None):
            raise InputError("centre and centred_radius come together")
        for margin in margins.values():
            for plane in (margin.hyperplane, margin.exact):
                require_dimension(plane, self.n_features)
        if centre is not None:
            centre = frozen(inputs.vectors(centre, (self.n_features,), "centre"))
        for name, value in zip(_LATER, (MappingProxyType(margins), centre, centred_radius), strict=True):
            object.__setattr__(self, name, value)
        if centre is not None:
            keep_float(self, "centred_radius", low=0.0)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            later = self.__dict__.get("later")
            if name not in _LATER or later is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            beside = later()
            object.__setattr__(self, "later", None)
            self._keep({self._main: self._own, **beside.margins}, beside.centre, beside.centred_radius)
            return self.__dict__[name]

    @property
    def stated(self) -> Comparison:
        """All that is stated; if the rest can no longer be computed, what was stated at once."""
        try:
            return Comparison(self.margins, self.centre, self.centred_radius)
        except InputError:
            return Comparison({self._main: self._own}, None, None)

    @property
    def _main(self) -> str:
        return "free" if self.fit_intercept else "origin"

    @property
    def hyperplane(self) -> Hyperplane:
        """The separating hyperplane of maximum margin, or near it; see `separates_in_floats`."""
        margin = self._own
        if margin.hyperplane is not None:
            return margin.hyperplane
        assert margin.exact is not None
        return margin.exact.rounded()

    @property
    def separates_in_floats(self) -> bool:
        """Whether `hyperplane` separates: False if only one in fractions was found, of which it is the rounding."""
        return self._own.hyperplane is not None

    @property
    def margin(self) -> float:
        """The distance of the nearest row to this hyperplane, rounded down."""
        return self._own.lower

    @property
    def margin_upper_bound(self) -> float:
        """No hyperplane has a margin above this."""
        return self._own.upper

    @property
    def margin_squared(self) -> Fraction | None:
        """The square of the maximum margin exactly, where it is known."""
        return self._own.squared

    @property
    def gap(self) -> float:
        """How much larger the maximum margin can be, relatively."""
        return self._own.gap

    @property
    def support(self) -> IntArray:
        """The rows that hold the margin down: their weights imply the upper bound."""
        return self._own.support

    @property
    def support_weights(self) -> Weights:
        """The weights of the support rows."""
        return self._own.weights

    @property
    def canonical(self) -> Hyperplane:
        """The same hyperplane, scaled to y(w · x + b) = 1 at the nearest row (003 eq. 18), as floats round it."""
        plane = self.hyperplane
        w2 = rounding.squared_norm(plane.w)
        square = Fraction(self._own.lower) ** 2 if self.separates_in_floats else self._own.lower2
        least = rounding.root_down(square * w2)
        if least == 0:
            raise InputError("the margin is too small for a canonical form in floats")
        return Hyperplane(plane.w / least, plane.b / least)

    # ---- Mistake bounds ----

    @property
    def mistake_bound(self) -> int | float:
        """The most mistakes that our `Perceptron(fit_intercept=...)` makes on this data, from 0, in any order.

        With an intercept it follows from the best of the margins, so on larger data the first look takes about as long
        as `certify` did.
        """
        return self.mistake_bounds["with intercept" if self.fit_intercept else "through the origin"].value

    @property
    def mistake_bounds(self) -> dict[str, MistakeBound]:
        """Each bound by name, with its formula and the setting for which it holds."""
        bounds = {}
        radius2 = Fraction(self.radius) ** 2
        if self.fit_intercept or "augmented" in self.margins:
            bounds["with intercept"] = MistakeBound(
                mistake_bounds.with_intercept(radius2, self._augmented2()),
                "(R² + 1) / γ_aug²",
                "Perceptron(fit_intercept=True) from 0; γ_aug is the margin of the points (x, 1) (003 eq. 15, 001)",
            )
        if "origin" in self.margins:
            bounds["through the origin"] = MistakeBound(
                mistake_bounds.through_origin(radius2, self.margins["origin"].lower2),
                "(R / γ_0)²",
                "Perceptron(fit_intercept=False) from 0; γ_0 is the margin through the origin (000 eq. 3.15, 002, 004)",
            )
        if "free" in self.margins:
            margin = self.margins["free"]
            w, b = margin.plane()
            bounds["scaled"] = MistakeBound(
                mistake_bounds.best_scale(radius2, w, b, margin.lower2),
                "((R + |b|) / γ)²",
                "Perceptron(fit_intercept=True) on the rows divided by √(R |b|), with ‖w‖ = 1",
            )
            if self.centre is not None and self.centred_radius is not None:
                # b moves with the origin: w · x + b = w · (x - c) + (b + w · c), and the margin stays.
                centred2, shifted = Fraction(self.centred_radius) ** 2, b + rounding.dot(w, self.centre)
                own2 = mistake_bounds.augmented_margin2(w, shifted, margin.lower2)
                bounds["centred"] = MistakeBound(
                    mistake_bounds.with_intercept(centred2, own2),
                    "(R² + 1) / γ_aug²",
                    "Perceptron(fit_intercept=True) on the rows minus the centre",
                )
                bounds["centred and scaled"] = MistakeBound(
                    mistake_bounds.best_scale(centred2, w, shifted, margin.lower2),
                    "((R + |b|) / γ)²",
                    "Perceptron(fit_intercept=True) on the rows minus the centre, divided by √(R |b|), with ‖w‖ = 1",
                )
        return bounds

    def _augmented2(self) -> Fraction:
        """The best squared margin of the points (x, 1) that the certificate proves."""
        found = [self.margins["augmented"].lower2] if "augmented" in self.margins else []
        for kind in ("free", "origin"):
            if kind in self.margins:
                w, b = self.margins[kind].plane()
                found.append(mistake_bounds.augmented_margin2(w, b, self.margins[kind].lower2))
        return max(found)

    def mistake_bound_from(
        self, coef_init: npt.ArrayLike, intercept_init: float = 0.0, eta0: float = 1.0, margin: float = 0.0
    ) -> int | float:
        """The most mistakes from another first guess (003 eq. 14), for the `fit_intercept` of this certificate.

        ``eta0`` and ``margin`` are those of the estimator; 003's τ² becomes (1 + 2 margin) τ².
        """
        d = self.n_features
        start = inputs.vectors(coef_init, (d,), "coef_init").tolist()
        start += inputs.vectors(intercept_init, (1,), "intercept_init").tolist() if self.fit_intercept else []
        inputs.check_parameters(
            "mistake_bound_from",
            {"eta0": eta0, "margin": margin},
            {"eta0": inputs.number(0, above=True, high=1e308), "margin": inputs.number(0, high=1e308)},
        )
        guess = [Fraction(value) / Fraction(eta0) for value in start]
        tau2 = (1 + 2 * Fraction(margin)) * (Fraction(self.radius) ** 2 + (1 if self.fit_intercept else 0))
        bounds = []
        for kind in ("origin",) if not self.fit_intercept else KINDS:
            if kind in self.margins:
                w, b = self.margins[kind].plane()
                margin2 = self.margins[kind].lower2
                theta = [Fraction(value) for value in (w.tolist() if isinstance(w, np.ndarray) else w)]
                if self.fit_intercept:
                    theta.append(b)
                    if kind != "augmented":
                        margin2 = mistake_bounds.augmented_margin2(w, b, margin2)
                bounds.append(mistake_bounds.from_first_guess(tau2, theta, margin2, guess))
        return min(bounds)

    def __repr__(self) -> str:
        return (
            f"<Separable: {self._size}, "
            f"margin {certificate_words.at_least(self.margin)} to {certificate_words.at_most(self.margin_upper_bound)}>"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Inseparable(Certificate):
    """No hyperplane separates the classes: a few rows and their weights prove it.

    `points` are the positions of these rows in X, from 0, also for a frame with an index of its own; `signs` are their
    sides. With proof "rational" the weighted sum of the signed rows is zero exactly, and
    each class has the same sum of weights; with "interval" this holds for exact weights near those stated. `weak`: a
    hyperplane with y(w · x + b) >= 0 everywhere and > 0 somewhere (quasi-complete separation); `overlap`: True if none
    exists, None if unknown. `duplicates`: two of the points are equal, with opposite labels.
    """

    separable: ClassVar[bool | None] = False

    data: Data
    points: IntArray
    signs: Signs
    weights: Weights
    fit_intercept: bool = True
    proof: str = "rational"
    duplicates: bool = False
    weak: Hyperplane | RationalHyperplane | None = None
    overlap: bool | None = None

    def __post_init__(self) -> None:
        keep_common(self, ("interval", "rational"))
        keep_weighted(self, "points", "weights")
        signs = np.asarray(self.signs)
        if signs.shape != self.points.shape or not np.isin(signs, (-1, 1)).all():
            raise InputError("signs must be -1 or +1 for each of the points")
        object.__setattr__(self, "signs", frozen(signs.astype(np.int8)))
        if len(self.points) == 0:
            raise InputError("points must name at least one row")
        if self.weak is not None and self.overlap:
            raise InputError("overlap says that no hyperplane separates weakly, but weak is one")
        if self.weak is not None:
            object.__setattr__(self, "overlap", False)
        elif self.overlap is False:
            raise InputError("overlap=False needs the hyperplane that separates weakly")
        require_dimension(self.weak, self.n_features)

    def __repr__(self) -> str:
        return f"<Inseparable: {self._size}, {counted(len(self.points), 'point')}>"


@dataclass(frozen=True, eq=False, repr=False)
class Undecided(Certificate):
    """Neither was proved: the bounds reached, and why it ended.

    `lower` is the margin of `hyperplane`, negative if it does not separate; -infinity without one. `upper` follows
    from the weights of the points: if the data is separable, its margin is at most that.
    """

    separable: ClassVar[bool | None] = None

    data: Data
    lower: float = -math.inf
    upper: float = math.inf
    hyperplane: Hyperplane | None = None
    points: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    weights: Weights = ()
    fit_intercept: bool = True
    why: str = ""
    radius: float | None = None  # only to put the upper bound in words; not claimed
    proof: str = "filter"

    def __post_init__(self) -> None:
        keep_common(self, ("filter", "interval", "rational"))
        keep_weighted(self, "points", "weights")
        keep_float(self, "lower", low=-math.inf, infinite=True)
        keep_float(self, "upper", low=0.0, infinite=True)
        if self.lower == math.inf:
            raise InputError("lower must not be infinity")
        if self.radius is not None:
            keep_float(self, "radius", low=0.0)
        object.__setattr__(self, "why", str(self.why))
        require_dimension(self.hyperplane, self.n_features)

    @property
    def gap(self) -> float:
        """The relative distance of the bounds; 1 if none is known."""
        return (self.upper - max(self.lower, 0.0)) / self.upper if 0 < self.upper < math.inf else 1.0

    def __repr__(self) -> str:
        lower, upper = certificate_words.at_least(self.lower), certificate_words.at_most(self.upper)
        return f"<Undecided: {self._size}, margin {lower} to {upper}>"


AnyCertificate: TypeAlias = Separable | Inseparable | Undecided | JointSeparable | JointInseparable | JointUndecided


def certificate_from_json(text: str | bytes) -> AnyCertificate | CertificateTable:
    """Read a certificate that `to_json` wrote, or a table: nothing in it is believed before `verify`.

    Parameters
    ----------
    text : str or bytes
        The text itself; of a file, ``Path(name).read_text()``.

    Returns
    -------
    Separable, Inseparable or Undecided, one of their joint kin, or CertificateTable

    Raises
    ------
    InputError
        The text is no certificate: damaged, of a newer version, too large, or it contradicts itself.
    """
    verdict, parts, bound = certificate_text.from_json(text)
    if verdict != "table":
        return _certificate(verdict, parts, bound)
    joint = None if parts["joint"] is None else _certificate(*parts["joint"])
    if joint is not None and not isinstance(joint, JointCertificate):
        raise InputError("not a certificate: what the table has for all classes at once is no joint certificate")
    return CertificateTable({key: _certificate(*own) for key, own in parts["certificates"].items()}, joint)


_KINDS: dict[str, type[AnyCertificate]] = {
    "separable": Separable,
    "inseparable": Inseparable,
    "undecided": Undecided,
    "jointly separable": JointSeparable,
    "jointly inseparable": JointInseparable,
    "jointly undecided": JointUndecided,
}


def _certificate(verdict: str, parts: dict[str, Any], bound: int | float) -> AnyCertificate:
    certificate = _KINDS[verdict](**parts)
    if isinstance(certificate, (Separable, JointSeparable)) and bound < certificate.mistake_bound:
        raise InputError(
            f"not a certificate: it states a mistake bound of {mistake_bounds.count(bound)}, but its margin and "
            f"radius imply {mistake_bounds.count(certificate.mistake_bound)}"
        )
    return certificate
