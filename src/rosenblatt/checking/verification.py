"""The check of a certificate against data, in one pass, by code that knows no solver.

Claims about every row are checked as it goes by (`row_checks`), the rows that the certificate names are kept, and what
their weights imply is checked at the end (`witnesses`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.checking import canonical, witnesses
from rosenblatt.checking.canonical import Block, Digest
from rosenblatt.checking.row_checks import TINY, UNIT, Plane, PlaneCheck, RadiusCheck
from rosenblatt.checking.witnesses import Point
from rosenblatt.errors import InputError, counted
from rosenblatt.inputs import FloatArray, IntArray

if TYPE_CHECKING:
    from rosenblatt.certificate_table import CertificateTable
    from rosenblatt.certificates import Inseparable, Margin, Separable, Undecided
    from rosenblatt.checking.statements import Certificate


@dataclass(frozen=True)
class Verification:
    """Whether a certificate is true of some data: truthy if it is, and `why` says what is wrong if it is not.

    Attributes
    ----------
    ok : bool
        Whether it is true.
    reasons : tuple of str
        Of a false one: what is wrong, the most telling first. Of other data only that it is.
    checked : str
        Of a true one: what was checked.
    """

    ok: bool
    reasons: tuple[str, ...]
    checked: str = ""

    def __bool__(self) -> bool:
        return self.ok

    @property
    def why(self) -> str:
        """In words: what was checked, or what is wrong."""
        return self.checked if self.ok else "; ".join(self.reasons)

    def __str__(self) -> str:
        return f"{'true' if self.ok else 'false'}: {self.why}"


def verify(certificate: Certificate | CertificateTable, X: Any, y: Any) -> Verification:
    """Check a certificate against the data it speaks of.

    Parameters
    ----------
    certificate : Separable, Inseparable or Undecided, one of their joint kin, or a CertificateTable
        From `certify`, or from `certificate_from_json`.
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        The rows, in the order that the certificate numbers them.
    y : array of shape (n_rows,)
        Their labels.

    Returns
    -------
    Verification
        True or false, and why. A false certificate raises nothing; data that cannot be used raises `InputError`.
    """
    return verify_batches(certificate, [(X, y)])


def verify_batches(certificate: Certificate | CertificateTable, batches: Iterable[tuple[Any, Any]]) -> Verification:
    """Check a certificate in one pass over batches (X, y), in memory for one batch and the rows that it names.

    The answer is that of `verify` on all rows together, wherever the batches end.
    """
    if not hasattr(certificate, "scans"):
        kind = type(certificate).__name__
        raise InputError(f"a certificate is needed, got {kind}; certificate_from_json reads one that was kept as text")
    scans = certificate.scans()
    n_features = next(iter(scans.values())).certificate.n_features
    first = 0
    for X, y in batches:
        if getattr(X, "shape", (1,))[0] == 0:
            continue
        rows = canonical.exact_rows(X, first_row=first)
        n, d = rows.shape
        if d != n_features:
            found = f"the data has {counted(d, 'feature')}, but the certificate speaks of {n_features:,}"
            return Verification(False, (found,))
        labels = inputs.labels(y, n)
        for scan in scans.values():
            sides = scan.sides(labels, first)
            for part, block in canonical.blocks(rows):
                scan.look_at(block, sides[part], first + part.start)
        first += n
    verdicts = {name: scan.verdict() for name, scan in scans.items()}
    if "" in verdicts:
        return verdicts[""]
    reasons = tuple(f"{name}: {verdict.why}" for name, verdict in verdicts.items() if not verdict)
    return Verification(not reasons, reasons, f"all {len(verdicts)} certificates of the table are")


# The pass -----------------------------------------------------------------------------------------------------------


class Scan:
    """One pass over the rows: each claim about all of them is checked as they go by, and the rows named are kept."""

    def __init__(self, certificate: Certificate) -> None:
        """Begin with no rows."""
        self.certificate = certificate
        self.digest: Any = Digest(certificate.data.n_features)
        self.planes: list[Any] = []
        self.radii: list[RadiusCheck] = []
        self.kept: dict[int, Point] = {}
        self.wanted_rows: list[int] = []
        self.strange_label: str | None = None
        self.begin()
        self.wanted = np.asarray(sorted(set(self.wanted_rows)), dtype=np.int64)

    # What a kind of certificate brings: which checks there are, the sides of rows, what the rows named must prove.

    def begin(self) -> None:
        """Say what is to be looked at."""
        _CLAIMS[self.certificate.separable][0](self.certificate, self)

    def sides(self, labels: NDArray[Any], first: int) -> NDArray[Any]:
        """The side of each row, 0 if the certificate does not speak of it."""
        data = self.certificate.data
        sides = canonical.signs(labels, data.negative, data.positive)
        if not sides.all():
            ignored = canonical.signs(labels, (), data.ignored)
            self.look_for_strange((sides == 0) & (ignored == 0), labels, first)
        return sides

    def look_at_planes(self, block: Block, sides: NDArray[Any], norms: FloatArray, first: int) -> None:
        """Check the claims about every row that have not failed."""
        planes = [check for check in self.planes if check.failure is None]
        scores = block.products(np.asarray([check.w for check in planes]))
        for check, column in zip(planes, scores.T, strict=True):
            check.look_at(block, sides, column, norms, first)

    def finish(self) -> list[str]:
        """Return what is wrong with what the rows named are to prove."""
        return _CLAIMS[self.certificate.separable][1](self.certificate, self.kept)  # type: ignore[no-any-return]

    def checked(self) -> str:
        """Return what was checked, in words."""
        data = self.certificate.data
        return _CHECKED[self.certificate.separable].format(n=data.n_rows, d=data.n_features)

    # What is common to all.

    def look_for_strange(self, strange: NDArray[np.bool_], labels: NDArray[Any], first: int) -> None:
        """Remember the first label that the certificate does not know."""
        if self.strange_label is None and strange.any():
            i = int(np.argmax(strange))
            name = labels[i].item() if hasattr(labels[i], "item") else labels[i]
            self.strange_label = f"row {first + i} has the label {name!r}, which the certificate does not know"

    def look_at(self, block: Block, sides: NDArray[Any], first: int) -> None:
        """Check some rows, and keep those that are named."""
        self.digest.update(block, sides)
        low, high = np.searchsorted(self.wanted, (first, first + len(block)))
        for row in self.wanted[low:high].tolist():
            columns, values = block.row(row - first)
            self.kept[row] = Point(columns, values, int(sides[row - first]))
        planes = [check for check in self.planes if check.failure is None]
        radii = [check for check in self.radii if check.failure is None]
        if not planes and not radii:
            return
        with np.errstate(all="ignore"):  # what overflows is not settled here, and goes to the integers
            squares = block.squared_norms()
            d = block.shape[1]
            norms = np.sqrt(squares + d * TINY) * (1 + 2 * (d + 8) * UNIT)
            active = sides != 0
            for radius in radii:
                radius.look_at(block, squares, active, first)
            if planes:
                self.look_at_planes(block, sides, norms, first)

    def verdict(self) -> Verification:
        """Return the answer, after all rows went by."""
        data, reasons = self.certificate.data, list[str]()
        if self.digest.n_rows != data.n_rows:
            reasons.append(
                f"the data has {counted(self.digest.n_rows, 'row')}, but the certificate speaks of {data.n_rows:,}"
            )
        elif self.digest.hexdigest() != data.digest:
            reasons.append(ANOTHER)
        if self.strange_label is not None:
            reasons.append(self.strange_label)
        if reasons:  # of other data all else is likely to be wrong too, and says nothing about the certificate
            return Verification(False, tuple(reasons))
        for plane in self.planes:
            reasons += plane.complaints()
        for radius in self.radii:
            reasons += radius.complaints()
        missing = [row for row in self.wanted.tolist() if row not in self.kept or self.kept[row].side == 0]
        if missing:
            reasons.append(f"row {missing[0]} is named, but the data has no such row with a label in question")
        else:
            try:
                reasons += self.finish()
            except OverflowError as error:
                reasons.append(str(error))
        if reasons:
            return Verification(False, tuple(reasons))
        return Verification(True, (), self.checked())


ANOTHER = (
    "this is another data set: its values or labels are not those that were certified; are the rows in another order, "
    "or the labels other ones?"
)

_CHECKED = {
    True: "all {n:,} rows are strictly on their sides, and the margin, its upper bound and the radius are as stated",
    False: "the named rows and weights prove that no hyperplane separates the {n:,} rows",
    None: "the bounds hold for the {n:,} rows; whether they can be separated is left open",
}


# What each kind of certificate claims -------------------------------------------------------------------------------


def _begin_separable(certificate: Separable, scan: Scan) -> None:
    stated = certificate.stated
    for margin in stated.margins.values():
        augmented = margin.kind == "augmented"
        lower = Fraction(margin.lower)
        what = f"the {margin.kind} margin"
        plane: Plane | None = None
        if margin.hyperplane is not None:
            plane = (margin.hyperplane.w, Fraction(margin.hyperplane.b))
            scan.planes.append(PlaneCheck(plane, lower, lower**2, what, augmented=augmented, strict=True))
        if margin.exact is not None:
            square = lower**2 if margin.squared is None else max(margin.squared, lower**2)
            exact: Plane = (margin.exact.w, margin.exact.b)
            name = f"the exact {margin.kind} margin"
            scan.planes.append(PlaneCheck(exact, lower, square, name, augmented=augmented, strict=True))
        scan.wanted_rows += margin.support.tolist()
    scan.radii.append(RadiusCheck(certificate.radius, None))
    if stated.centre is not None and stated.centred_radius is not None:
        scan.radii.append(RadiusCheck(stated.centred_radius, stated.centre))


def _finish_separable(certificate: Separable, kept: dict[int, Point]) -> list[str]:
    reasons = []
    for margin in certificate.stated.margins.values():
        if margin.kind == "origin" and not _through_origin(margin):
            reasons.append("its hyperplane for the margin through the origin does not pass through the origin")
        reasons += upper_bound(margin.kind, margin.upper, margin.squared, margin.support, margin.weights, kept)
    return reasons


def _through_origin(margin: Margin) -> bool:
    planes = (margin.hyperplane, margin.exact)
    return all(plane is None or plane.b == 0 for plane in planes)


def _begin_undecided(certificate: Undecided, scan: Scan) -> None:
    scan.wanted_rows = certificate.points.tolist()
    plane = certificate.hyperplane
    if plane is not None and certificate.lower > -math.inf:
        lower = Fraction(certificate.lower)
        exact = (plane.w, Fraction(plane.b))
        scan.planes.append(PlaneCheck(exact, lower, lower**2, "the lower bound", augmented=False, strict=False))


def _finish_undecided(certificate: Undecided, kept: dict[int, Point]) -> list[str]:
    if certificate.lower > -math.inf and certificate.hyperplane is None:
        return [f"it states a lower bound of {certificate.lower!r} without a hyperplane that has it"]
    if not certificate.fit_intercept and certificate.hyperplane is not None and certificate.hyperplane.b != 0:
        return ["its hyperplane does not pass through the origin"]
    kind = "free" if certificate.fit_intercept else "origin"
    return upper_bound(kind, certificate.upper, None, certificate.points, certificate.weights, kept)


def _begin_inseparable(certificate: Inseparable, scan: Scan) -> None:
    scan.wanted_rows = certificate.points.tolist()
    if certificate.weak is not None:
        plane: Plane = (certificate.weak.w, Fraction(certificate.weak.b))
        name = "the weakly separating hyperplane"
        scan.planes.append(PlaneCheck(plane, Fraction(0), Fraction(0), name, augmented=False, strict=False))
        scan.planes[-1].weak = True


def _finish_inseparable(certificate: Inseparable, kept: dict[int, Point]) -> list[str]:
    points = [kept[row] for row in certificate.points.tolist()]
    for row, point, sign in zip(certificate.points.tolist(), points, certificate.signs.tolist(), strict=True):
        if point.side != sign:
            return [f"row {row} is of the other class than the certificate says"]
    d, intercept = certificate.data.n_features, certificate.fit_intercept
    reasons = []
    found = witnesses.check(
        points, certificate.weights, d, intercept=intercept, interval=certificate.proof == "interval"
    )
    if found.failure is not None:
        reasons.append(found.failure)
    if certificate.duplicates and not witnesses.holds_duplicates(points):
        reasons.append("it says that two equal rows have opposite labels, but names no such rows")
    if certificate.weak is not None and not certificate.fit_intercept and certificate.weak.b != 0:
        reasons.append("the weakly separating hyperplane does not pass through the origin")
    if certificate.overlap and not (found.full_rank or witnesses.spans(points, d, intercept=intercept)):
        reasons.append(
            "it says that no hyperplane separates even weakly, but the rows named do not span the space, "
            "or it could not be shown that they do"
        )
    return reasons


_CLAIMS: dict[bool | None, tuple[Any, Any]] = {
    True: (_begin_separable, _finish_separable),
    False: (_begin_inseparable, _finish_inseparable),
    None: (_begin_undecided, _finish_undecided),
}


def upper_bound(
    kind: str,
    upper: float,
    squared: Fraction | None,
    support: IntArray,
    weights: Sequence[Fraction] | FloatArray,
    kept: dict[int, Point],
) -> list[str]:
    """No hyperplane has a margin above `upper`: the weights λ of the support rows must imply it."""
    points = [kept[row] for row in support.tolist()]
    if squared is not None:
        square = min(squared, Fraction(upper) ** 2) if upper < math.inf else squared
        stated = "the square of the margin"
    elif upper == math.inf:
        return []
    else:
        square, stated = Fraction(upper) ** 2, "the upper bound"
    why = witnesses.check_upper_bound(points, weights, square, kind, exactly=squared is not None)
    return [] if why is None else [f"{stated} of the {kind} margin does not follow: {why}"]
