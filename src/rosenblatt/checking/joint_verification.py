"""The check of a joint certificate: the pass of `verification`, with classes for sides and rivals for planes.

What the pairs (row, rival) prove is checked on Kesler's vectors: a row x of class c and a rival r make the vector that
has +x in block c, -x in block r and 0 in the others, where x has a last feature 1 if there are intercepts. One W has
all rows right if and only if its product with all of these is positive: the question of one hyperplane through the
origin, and `witnesses` has the proofs against it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.checking import canonical, witnesses
from rosenblatt.checking.canonical import Block, Digest
from rosenblatt.checking.joint_checks import RivalCheck
from rosenblatt.checking.row_checks import RadiusCheck
from rosenblatt.checking.verification import Scan, upper_bound
from rosenblatt.checking.witnesses import Point
from rosenblatt.inputs import FloatArray, IntArray

if TYPE_CHECKING:
    from rosenblatt.joint_certificates import JointCertificate


class JointScan(Scan):
    """One pass over the rows: every row against all rivals, and the pairs named at the end."""

    certificate: JointCertificate

    def begin(self) -> None:
        """Say what is to be looked at."""
        about: Any = self.certificate
        self.digest = Digest(about.n_features, classes=True)
        self.points: IntArray = about.points if about.separable is not True else about.bounds.support
        self.wanted_rows = self.points.tolist()
        if about.separable is True:
            bounds, lower = about.bounds, Fraction(about.bounds.lower)
            if bounds.hyperplane is not None:
                self._claim(bounds.hyperplane.w, lower, lower**2, "the margin")
            if bounds.exact is not None:
                square = lower**2 if bounds.squared is None else max(bounds.squared, lower**2)
                self._claim(bounds.exact.w, lower, square, "the exact margin")
            self.radii.append(RadiusCheck(about.radius, None))
        elif about.separable is None and about.hyperplane is not None and about.lower > -math.inf:
            lower = Fraction(about.lower)
            self._claim(about.hyperplane.w, lower, lower**2, "the lower bound")

    def _claim(self, W: Any, lower: Fraction, square: Fraction, name: str) -> None:
        d, intercept = self.certificate.n_features, self.certificate.fit_intercept
        strict = self.certificate.separable is True
        self.planes.append(RivalCheck(W, d, lower, square, name, intercept=intercept, strict=strict))

    def sides(self, labels: NDArray[Any], first: int) -> NDArray[Any]:
        """The number of each row's class, from 1; 0 if the certificate does not know it."""
        sides = np.zeros(len(labels), np.int16)
        for number, name in enumerate(self.certificate.classes, 1):
            sides[canonical.equal(labels, name)] = number
        self.look_for_strange(sides == 0, labels, first)
        return sides

    def look_at_planes(self, block: Block, sides: NDArray[Any], norms: FloatArray, first: int) -> None:
        """Check every row against all rivals."""
        for check in self.planes:
            if check.failure is None:
                check.look_at_rows(block, sides, norms, first)

    def finish(self) -> list[str]:
        """Return what is wrong with what the pairs named are to prove."""
        about: Any = self.certificate
        pairs = list(zip(self.points.tolist(), about.rivals.tolist(), strict=True))
        for row, rival in pairs:
            if self.kept[row].side == rival + 1:
                return [f"row {row} is named against {about.classes[rival]!r}, which is its own class"]
        if about.separable is False:
            return self._finish_witness(pairs)
        if about.separable is None and about.lower > -math.inf and about.hyperplane is None:
            return [f"it states a lower bound of {about.lower!r} without a W that has it"]
        vectors = dict(enumerate(self._vectors(pairs, set())))
        support = np.arange(len(pairs))
        if about.separable is None:
            return upper_bound("joint", about.upper, None, support, about.weights, vectors)
        bounds = about.bounds
        return upper_bound("joint", bounds.upper, bounds.squared, support, bounds.weights, vectors)

    def _finish_witness(self, pairs: list[tuple[int, int]]) -> list[str]:
        about: Any = self.certificate
        vectors = self._vectors(pairs, self._redundant(pairs))
        interval = about.proof == "interval"
        found = witnesses.check(vectors, about.weights, 0, intercept=False, interval=interval)
        reasons = [] if found.failure is None else [f"its (row, rival) pairs prove nothing: {found.failure}"]
        if about.duplicates and not witnesses.holds_duplicates([self.kept[row] for row, _ in pairs]):
            reasons.append("it says that two equal rows have different labels, but names no such rows")
        return reasons

    @property
    def _width(self) -> int:
        return self.certificate.n_features + int(self.certificate.fit_intercept)

    def _vectors(self, pairs: list[tuple[int, int]], without: set[int]) -> list[Point]:
        """Kesler's vectors of the pairs, without some blocks."""
        d, width, intercept = self.certificate.n_features, self._width, self.certificate.fit_intercept
        vectors = []
        for row, rival in pairs:
            point = self.kept[row]
            columns = np.append(point.columns, d) if intercept else point.columns
            values = np.append(point.values, 1.0) if intercept else point.values
            signed = [(block, sign) for block, sign in ((point.side - 1, 1.0), (rival, -1.0)) if block not in without]
            vectors.append(
                Point(
                    np.concatenate([columns[:0], *(columns + block * width for block, _ in signed)]),
                    np.concatenate([values[:0], *(values * sign for _, sign in signed)]),
                    +1,
                )
            )
        return vectors

    def _redundant(self, pairs: list[tuple[int, int]]) -> set[int]:
        """Of classes that the pairs connect, one each: the blocks of a vector sum to 0, so the others say it.

        Only without such a block can the vectors be independent, as a proof in floats needs them.
        """
        first: dict[int, int] = {}
        for row, rival in pairs:
            own = self.kept[row].side - 1
            one, other = first.setdefault(own, own), first.setdefault(rival, rival)
            first.update({k: min(one, other) for k, v in first.items() if v in (one, other)})
        return set(first.values())

    def checked(self) -> str:
        """Return what was checked, in words."""
        return _CHECKED[self.certificate.separable].format(n=self.certificate.n_rows)


_CHECKED = {
    True: "all {n:,} rows have the highest score for their own class, and the margin, its upper bound and the radius "
    "are as stated",
    False: "the named rows, rivals and weights prove that no W has all {n:,} rows right",
    None: "the bounds hold for the {n:,} rows; whether one W has all of them right is left open",
}
