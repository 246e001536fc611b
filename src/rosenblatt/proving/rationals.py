"""Exact arithmetic on the rows as stored: floats are dyadic rationals, so a question about them has an exact answer.

The minimum-norm point of a set of rows by a finite active-set method, which decides separability without any tolerance
and gives γ² as a fraction. Slow, and only ever needed for few rows at a time: the supports of hyperplanes and
witnesses, and tiny data. What it is made of, `dyadics` and `integer_systems`, can be had from here too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.proving.dyadics import Point, Sparse, dot, lifted, power, row_point
from rosenblatt.proving.enclosures import round_up, row_bounds, scores
from rosenblatt.proving.integer_systems import LARGE_PRIME, OutOfTime, independent, primes, rank, solve_integers

__all__ = ["Cloud", "ExactAnswer", "Face", "LeastNorm", "least_norm", "min_norm_point", "power", "rank", "row_point"]

Signs: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class ExactAnswer:
    """Whether rows are separable, without rounding: a hyperplane of maximum margin, or a witness against all.

    The weights are positive; each class sums to 1, or all together without an intercept. If separable, they give the
    point of least norm, w = Σ λ_i y_i x_i; if not, that sum is 0.
    """

    separable: bool
    w: list[Fraction]
    b: Fraction
    margin_squared: Fraction
    rows: IntArray
    weights: list[Fraction]
    steps: int


@dataclass(frozen=True)
class Face:
    """The vectors orthogonal to some points: the pivots' coordinates as combinations of the others.

    v is orthogonal to them if v_J = −Σ_f v_f T_f / scale, J the pivots; T_f is 0 for all columns not listed.
    """

    pivots: list[int]
    columns: dict[int, list[int]]
    scale: int

    @staticmethod
    def of(points: Sequence[Point], deadline: float | None = None) -> Face:
        """The face of all vectors orthogonal to these; `OutOfTime` if the deadline passes."""
        used = sorted({j for point in points for j in point.values})
        lines = [[point.values.get(j, 0) for j in used] for point in points]  # each at its own scale, as it may be
        for prime in primes(LARGE_PRIME):
            kept, places = independent(lines, prime)
            pivots = set(places)
            free = [place for place in range(len(used)) if place not in pivots]
            solution: tuple[list[list[int]], int] | None = ([[] for _ in kept], 1)
            if kept and free:
                square = [[lines[i][place] for place in places] for i in kept]
                solution = solve_integers(square, [[lines[i][place] for place in free] for i in kept], deadline)
            assert solution is not None  # the square has an inverse modulo the prime
            T, scale = solution
            columns = {used[place]: [line[q] for line in T] for q, place in enumerate(free)}
            face = Face([used[place] for place in places], {f: t for f, t in columns.items() if any(t)}, scale)
            if not any(face.project(point).values for point in points):
                return face
        raise AssertionError("unreachable")

    def project(self, point: Point) -> Point:
        """Coordinates of a point modulo those that define the face: empty if it depends on them."""
        inside = [point.values.get(j, 0) for j in self.pivots]
        values = {f: v * self.scale for f, v in point.values.items()}
        for j in self.pivots:
            values.pop(j, None)
        if any(inside):
            for f, t in self.columns.items():
                values[f] = values.get(f, 0) - sum(a * c for a, c in zip(t, inside, strict=True) if c)
        return Point({f: v for f, v in values.items() if v}, point.exponent)

    def lift(self, x: Sparse) -> Sparse:
        """The vector v of the face with v · z = x · project(z) for every z."""
        v = {f: value * self.scale for f, value in x.items()}
        for q, j in enumerate(self.pivots):
            v[j] = -sum(t[q] * x[f] for f, t in self.columns.items() if f in x)
        return {j: value for j, value in v.items() if value}


class Cloud:
    """Signed points y_i x_i, or y_i (x_i, 1) modulo a face: exact one by one, scanned in floats all together."""

    def __init__(self, rows: Rows, y: Signs, *, classes: int, face: Face | None = None, constant: bool = False) -> None:
        """Points of one class (their weights sum to 1), or of two (each sums to 1)."""
        self.rows, self.classes, self.face, self.constant = rows, classes, face, constant
        self.y = np.asarray(y, dtype=np.float64)
        self._points: dict[int, Point] = {}

    def part(self, i: int) -> int:
        """The class whose weights row i counts in."""
        return int(self.classes == 2 and self.y[i] < 0)

    def point(self, i: int) -> Point:
        """The signed point of row i, exactly."""
        if i not in self._points:
            point = row_point(self.rows, i, int(self.y[i]), constant=self.constant)
            self._points[i] = point if self.face is None else self.face.project(point)
        return self._points[i]

    def value(self, i: int, x: Sparse) -> Fraction:
        """x · point, exactly."""
        point = self.point(i)
        return dot(point.values, x) * power(point.exponent)

    def functional(self, x: Sparse) -> tuple[FloatArray, float, int]:
        """Nearest floats of (w, b)/2^k, with that k, where x · point = y(w · x + b)."""
        v = x if self.face is None else self.face.lift(x)
        k = max((abs(value).bit_length() for value in v.values()), default=0)
        d = self.rows.shape[1]
        w = np.zeros(d + 1)
        for j, value in v.items():
            w[j] = value / (1 << k)
        return w[:d], float(w[d]), k

    def below(self, x: Sparse, least: Sequence[Fraction]) -> IntArray:
        """The rows that floats cannot show to have x · point >= least of their class, lowest first."""
        w, b, k = self.functional(x)
        limit = np.array([round_up(value / (1 << k)) for value in least])
        parts = (self.y < 0).astype(np.int64) if self.classes == 2 else np.zeros(len(self.y), np.int64)
        ids, values = [], []
        for part, score, bound in scores(self.rows, w, b, rounded=True):
            score *= self.y[part]
            with np.errstate(all="ignore"):
                open_rows = np.flatnonzero(~(score - bound >= limit[parts[part]]))
            ids.append(open_rows + part.start)
            values.append(score[open_rows])
        rows, found = np.concatenate(ids), np.concatenate(values)
        bounds = row_bounds(self.rows, rows, w, b, rounded=True)
        with np.errstate(all="ignore"):
            left = ~(found - bounds >= limit[parts[rows]])
            order = np.argsort(found[left] - limit[parts[rows[left]]], kind="stable")
        return np.asarray(rows[left][order], dtype=np.int64)


def min_norm_point(
    rows: Rows, y: Signs, *, intercept: bool, start: Iterable[int] | None = None, deadline: float | None = None
) -> ExactAnswer | None:
    """Decide separability exactly, with the exact square of the maximum margin; None if the deadline passed first.

    The finite active-set method of Wolfe (Math. Prog. 1976), with one or two equality constraints: min |Σ λ_i y_i x_i|
    over weights that sum to 1 in each class (or all together, without an intercept). ``start`` are row numbers to begin
    with: those of a float solver's support usually leave one step to do. ``deadline`` is of `time.monotonic`.
    """
    cloud = Cloud(rows, y, classes=2 if intercept else 1)
    if intercept and not (np.any(cloud.y > 0) and np.any(cloud.y < 0)):
        raise InputError("all rows are of one class: with an intercept, nothing is left to decide")
    found = least_norm(cloud, start, deadline)
    if found is None:
        return None
    x, unit, least = found.x, found.unit, found.least
    square = dot(x, x) * unit * unit
    w = [Fraction(0)] * rows.shape[1]
    for j, value in x.items():
        w[j] = value * unit
    b = (least[1] - least[0]) * unit / 2 if intercept else Fraction(0)
    ids = sorted(found.weights)
    return ExactAnswer(
        separable=bool(x),
        w=w,
        b=b if x else Fraction(0),
        margin_squared=square / 4 if intercept else square,
        rows=np.array(ids, dtype=np.int64),
        weights=[found.weights[i] for i in ids],
        steps=found.steps,
    )


@dataclass(frozen=True)
class LeastNorm:
    """The point of least norm is x · unit; least is the least x · point of each class."""

    x: Sparse
    unit: Fraction
    least: list[Fraction]
    weights: dict[int, Fraction]
    steps: int


def least_norm(cloud: Cloud, start: Iterable[int] | None, deadline: float | None) -> LeastNorm | None:
    """Wolfe's method on the points of a cloud; None if the deadline passed first."""
    try:
        return _least_norm(cloud, start, deadline)
    except OutOfTime:
        return None


def _least_norm(cloud: Cloud, start: Iterable[int] | None, deadline: float | None) -> LeastNorm | None:
    """Wolfe's method.

    Invariant: the points (y_i x_i, e_class) of the active set are independent, so its system has one solution. A row
    with x · point below its class's least is independent of them, and lowers the norm: no set comes twice. Points that
    are 0 (they lie in the face's span) are left out: no vector of the face tells them from the hyperplane.
    """
    active = _first(cloud, start)
    counts = [sum(cloud.part(i) == c for i in active) for c in range(cloud.classes)]
    weights = {i: Fraction(1, counts[cloud.part(i)]) for i in active}
    products: dict[tuple[int, int], int] = {}
    steps = 0
    while True:
        steps += 1
        while True:
            if deadline is not None and time.monotonic() > deadline:
                return None
            wanted = _affine_minimum(cloud, list(weights), products, deadline)
            falling = [i for i, v in wanted.items() if v <= 0]
            if not falling:
                weights = wanted
                break
            step = min(weights[i] / (weights[i] - wanted[i]) for i in falling)
            weights = {i: v + step * (wanted[i] - v) for i, v in weights.items()}
            weights = {i: v for i, v in weights.items() if v}
        x, unit = _combination(cloud, weights)
        if not x:
            return LeastNorm(x, unit, [Fraction(0)] * cloud.classes, weights, steps)
        least = [cloud.value(next(i for i in weights if cloud.part(i) == c), x) for c in range(cloud.classes)]
        lower = _lower_row(cloud, x, least, weights, deadline)
        if lower is None:
            return LeastNorm(x, unit, least, weights, steps)
        if lower < 0:
            return None
        weights[lower] = Fraction(0)


def _first(cloud: Cloud, start: Iterable[int] | None) -> list[int]:
    """Independent points to begin with, of each class at least one."""
    ids = list(dict.fromkeys(int(i) for i in start)) if start is not None else []
    if cloud.face is None:
        for c in range(cloud.classes):
            if not any(cloud.part(i) == c for i in ids):
                ids.append(next(i for i in range(len(cloud.y)) if cloud.part(i) == c))
    else:
        ids = [i for i in ids if cloud.point(i).values]
    ends = [[int(cloud.part(i) == c) for c in range(cloud.classes)] for i in ids]
    return [ids[q] for q in independent(lifted([cloud.point(i) for i in ids], ends))[0]]


def _affine_minimum(
    cloud: Cloud, active: list[int], products: dict[tuple[int, int], int], deadline: float | None
) -> dict[int, Fraction]:
    """The weights of least norm that sum to 1 in each class, of any sign: λ in [G E; E' 0](λ, ν) = (0, 1)."""
    exponent = [cloud.point(i).exponent for i in active]
    low = min(exponent)
    shift = [e - low for e in exponent]
    k = cloud.classes
    lines: list[list[int]] = []
    for p, i in enumerate(active):
        line = []
        for q, j in enumerate(active):
            key = (i, j) if i < j else (j, i)
            if key not in products:
                products[key] = dot(cloud.point(i).values, cloud.point(j).values)
            line.append(products[key] << shift[p] + shift[q])
        lines.append(line + [int(cloud.part(i) == c) for c in range(k)])
    lines += [[int(cloud.part(i) == c) for i in active] + [0] * k for c in range(k)]
    solution = solve_integers(lines, [[0]] * len(active) + [[1]] * k, deadline)
    assert solution is not None  # the points are independent
    numerators, denominator = solution
    return {i: Fraction(numerators[p][0], denominator) for p, i in enumerate(active)}


def _combination(cloud: Cloud, weights: dict[int, Fraction]) -> tuple[Sparse, Fraction]:
    """Σ λ_i point_i as integers times one unit."""
    scale = math.lcm(*(v.denominator for v in weights.values()))
    low = min(cloud.point(i).exponent for i in weights)
    x: Sparse = {}
    for i, weight in weights.items():
        point = cloud.point(i)
        factor = weight.numerator * (scale // weight.denominator) << point.exponent - low
        for j, v in point.values.items():
            x[j] = x.get(j, 0) + factor * v
    common = math.gcd(*x.values()) or 1
    return {j: v // common for j, v in x.items() if v}, power(low) * Fraction(common, scale)


def _lower_row(
    cloud: Cloud, x: Sparse, least: list[Fraction], weights: dict[int, Fraction], deadline: float | None
) -> int | None:
    """A row below the least of its class, or None if there is none; -1 if the deadline passed."""
    for count, row in enumerate(cloud.below(x, least).tolist()):
        if row in weights:
            continue
        if deadline is not None and count % 64 == 63 and time.monotonic() > deadline:
            return -1
        if cloud.value(row, x) < least[cloud.part(row)] and (cloud.face is None or cloud.point(row).values):
            return int(row)
    return None
