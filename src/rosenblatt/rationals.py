"""Exact arithmetic on the rows as stored: floats are dyadic rationals, so a question about them has an exact answer.

Linear systems in integers, by fraction-free elimination or by p-adic lifting, and the minimum-norm point of a set of
rows by a finite active-set method, which decides separability without any tolerance and gives γ² as a fraction.
Slow, and only ever needed for few rows at a time: the supports of hyperplanes and witnesses, and tiny data.
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

from rosenblatt.enclosures import round_up, row_bounds, scores
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows

Matrix: TypeAlias = Sequence[Sequence[int | Fraction]]
Sparse: TypeAlias = dict[int, int]  # column: a nonzero integer
Signs: TypeAlias = NDArray[Any]

_ELIMINATED = 16  # systems up to this size by elimination, larger ones by lifting: about equal times, measured
_LARGE_PRIME = 2**31 - 1


# Floats as integers ---------------------------------------------------------------------------------------------------


def dyadic(values: Any) -> tuple[list[int], int]:
    """Integers and one exponent with values = integers · 2^exponent, exactly, the integers as small as can be.

    >>> dyadic([0.75, -2.0, 0.0])
    ([3, -8, 0], -2)
    """
    mantissas, exponents = np.frexp(np.asarray(values, dtype=np.float64))
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    used = whole != 0
    if not used.any():
        return [0] * len(whole), 0
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # at the end of each mantissa
    zeros[~used] = 0
    whole >>= zeros
    exponents = exponents.astype(np.int64) - 53 + zeros
    least = int(exponents[used].min())
    shifts = np.where(used, exponents - least, 0)
    if int(shifts.max()) <= 9:  # 53 bits and 9 more
        return [int(v) for v in (whole << shifts).tolist()], least
    return [v << s for v, s in zip(whole.tolist(), shifts.tolist(), strict=True)], least


@dataclass(frozen=True)
class Point:
    """A vector of dyadic rationals: values · 2^exponent."""

    values: Sparse
    exponent: int


def row_point(rows: Rows, i: int, sign: int = 1, *, constant: bool = False) -> Point:
    """Row i, exactly, times its sign; with a last feature 1 if wanted."""
    if rows.dense is not None:
        columns = np.flatnonzero(rows.dense[i])
        stored = rows.dense[i][columns]
    else:
        part = slice(int(rows.sparse.indptr[i]), int(rows.sparse.indptr[i + 1]))
        columns, stored = rows.sparse.indices[part], rows.sparse.data[part]
    ids, numbers = columns.tolist(), stored.tolist()
    if constant:
        ids, numbers = [*ids, rows.shape[1]], [*numbers, 1.0]
    whole, exponent = dyadic(numbers)
    values: Sparse = {}
    for j, v in zip(ids, whole, strict=True):
        values[j] = values.get(j, 0) + sign * v  # a feature stored twice is a sum
    return Point({j: v for j, v in values.items() if v}, exponent)


def dot(a: Sparse, b: Sparse) -> int:
    """The inner product of two sparse integer vectors."""
    if len(a) > len(b):
        a, b = b, a
    return sum(v * b[j] for j, v in a.items() if j in b)


def power(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


# Linear algebra -------------------------------------------------------------------------------------------------------


def solve(A: Matrix, b: Sequence[int | Fraction]) -> list[Fraction] | None:
    """The solution of a square system, or None if A is singular.

    >>> solve([[2, 1], [1, 3]], [1, 0])
    [Fraction(3, 5), Fraction(-1, 5)]
    """
    whole = [_whole([*row, right]) for row, right in zip(A, b, strict=True)]
    solution = solve_integers([row[:-1] for row in whole], [[row[-1]] for row in whole])
    if solution is None:
        return None
    numerators, denominator = solution
    return [Fraction(row[0], denominator) for row in numerators]


def rank(A: Matrix) -> int:
    """The rank, exactly."""
    return len(A[0]) - len(null_space(A)) if A and A[0] else 0


def null_vector(A: Matrix) -> list[Fraction] | None:
    """Some x != 0 with Ax = 0, or None if only 0 has that.

    >>> null_vector([[1, 2, 3], [4, 5, 6]])
    [Fraction(1, 1), Fraction(-2, 1), Fraction(1, 1)]
    """
    basis = null_space(A)
    return basis[0] if basis else None


def null_space(A: Matrix) -> list[list[Fraction]]:
    """A basis of {x : Ax = 0}: one vector for each column that depends on the pivots' columns.

    The pivots are found modulo a prime, which can only underrate the rank; each vector is then checked on every row
    of A, so that the rank cannot be underrated either.
    """
    whole = [_whole(row) for row in A]
    width = len(whole[0])
    for prime in _primes(_LARGE_PRIME):
        columns, lines = independent([list(column) for column in zip(*whole, strict=True)], prime)
        chosen = set(columns)
        free = [j for j in range(width) if j not in chosen]
        if not free:
            return []
        square = [[whole[i][j] for j in columns] for i in lines]
        rights = [[whole[i][j] for j in free] for i in lines]
        if not columns:
            solution: tuple[list[list[int]], int] | None = ([], 1)
        else:
            solution = solve_integers(square, rights)
        assert solution is not None  # it has an inverse modulo the prime
        numerators, denominator = solution
        basis = []
        for q, j in enumerate(free):
            vector = [Fraction(0)] * width
            vector[j] = Fraction(1)
            for p, column in enumerate(columns):
                vector[column] = Fraction(-numerators[p][q], denominator)
            basis.append(vector)
        if all(sum(a * v for a, v in zip(row, vector, strict=True) if a) == 0 for row in whole for vector in basis):
            return basis
    raise AssertionError("unreachable")


def independent(vectors: Sequence[Sequence[int]], prime: int = _LARGE_PRIME) -> tuple[list[int], list[int]]:
    """The vectors that do not depend on earlier ones modulo a prime, and a pivot coordinate of each.

    Independent modulo a prime is independent; the reverse fails only for the rare prime.
    """
    M = np.array([[v % prime for v in vector] for vector in vectors], dtype=np.int64).reshape(len(vectors), -1)
    kept: list[int] = []
    pivots: list[int] = []
    for i in range(len(M)):
        nonzero = np.flatnonzero(M[i])
        if not len(nonzero):
            continue
        j = int(nonzero[0])
        kept.append(i)
        pivots.append(j)
        M[i] = M[i] * pow(int(M[i, j]), -1, prime) % prime
        touched = i + 1 + np.flatnonzero(M[i + 1 :, j])
        M[touched] = (M[touched] - M[touched, j, None] * M[i]) % prime
    return kept, pivots


def solve_integers(A: list[list[int]], B: list[list[int]]) -> tuple[list[list[int]], int] | None:
    """Integers X and a positive d with A(X/d) = B, for square A; None if A is singular."""
    if len(A) <= _ELIMINATED:
        return eliminate(A, B)
    solutions = []
    for j in range(len(B[0])):
        solution = lift(A, [row[j] for row in B])
        if solution is None:
            return None
        solutions.append(solution)
    denominator = math.lcm(*(d for _, d in solutions))
    columns = [[v * (denominator // d) for v in x] for x, d in solutions]
    return [list(row) for row in zip(*columns, strict=True)], denominator


def eliminate(A: list[list[int]], B: list[list[int]]) -> tuple[list[list[int]], int] | None:
    """Bareiss's fraction-free elimination (Math. Comp. 1968): every division is exact, every entry a minor of A."""
    m = len(A)
    M = [[*row, *right] for row, right in zip(A, B, strict=True)]
    before = 1
    for k in range(m):
        place = next((i for i in range(k, m) if M[i][k]), None)
        if place is None:
            return None
        if place != k:
            M[k], M[place] = M[place], M[k]
        top, pivot = M[k], M[k][k]
        for i in range(m):
            if i != k:
                row, factor = M[i], M[i][k]
                M[i] = [(pivot * v - factor * t) // before for v, t in zip(row, top, strict=True)]
        before = pivot
    sign = 1 if before > 0 else -1
    return [[sign * v for v in row[m:]] for row in M], abs(before)


def lift(A: list[list[int]], b: list[int]) -> tuple[list[int], int] | None:
    """Dixon's p-adic lifting (Numer. Math. 1982): digits of the solution base p, from one inverse modulo p.

    Digits are found with float64 products of integers below 2⁵³, so they are exact; the fractions are reconstructed
    when p^steps exceeds twice the square of Hadamard's bound, so they are the solution.
    """
    limit = math.isqrt(2**53 // len(A))
    for tries, prime in enumerate(_primes(limit)):
        inverse = _inverse(np.array([[v % prime for v in row] for row in A], dtype=np.int64), prime)
        if inverse is not None:
            return _lifted(A, b, prime, inverse)
        if tries == 3 and null_vector(A) is not None:
            break
    return None


def _lifted(A: list[list[int]], b: list[int], prime: int, inverse: FloatArray) -> tuple[list[int], int]:
    m, columns = len(A), zip(*A, strict=True)
    width = 52 - prime.bit_length() - m.bit_length()  # bits of A in one float64 product
    limbs = _limbs(A, width)
    bits = int(sum(math.log2(max(1, sum(v * v for v in column))) for column in columns) / 2) + 2  # of det A: Hadamard
    largest = 1 << bits + int(math.log2(max(1, sum(v * v for v in b))) / 2) + 2  # a numerator: Cramer
    steps = int((bits + largest.bit_length() + 4) / math.log2(prime)) + 2
    digits, rest = [], list(b)
    for _ in range(steps):
        digit = np.mod(inverse @ np.array([v % prime for v in rest], dtype=np.float64), prime)
        digits.append(digit.astype(np.int64).tolist())
        product, *lower = (limbs @ digit).astype(np.int64).tolist()
        for part in lower:
            product = [(high << width) + low for high, low in zip(product, part, strict=True)]
        rest = [(r - v) // prime for r, v in zip(rest, product, strict=True)]
    residues, modulus = _combine(digits, prime)
    return _reconstruct(residues, modulus, largest)


def _inverse(A: NDArray[np.int64], prime: int) -> FloatArray | None:
    """The inverse modulo a prime below 2²⁷, by Gauss-Jordan."""
    m = len(A)
    M = np.hstack([A, np.eye(m, dtype=np.int64)])
    for k in range(m):
        nonzero = np.flatnonzero(M[k:, k])
        if not len(nonzero):
            return None
        place = k + int(nonzero[0])
        if place != k:
            M[[k, place]] = M[[place, k]]
        M[k] = M[k] * pow(int(M[k, k]), -1, prime) % prime
        factors = M[:, k].copy()
        factors[k] = 0
        M[:, k:] = (M[:, k:] - factors[:, None] * M[k, k:]) % prime
    return np.ascontiguousarray(M[:, m:], dtype=np.float64)


def _limbs(A: list[list[int]], width: int) -> FloatArray:
    """A cut into matrices of signed numbers of so many bits, the highest first."""
    count = max(1, max(v.bit_length() for row in A for v in row) // width + 1)
    mask = (1 << width) - 1
    limbs = np.empty((count, len(A), len(A)))
    for i, row in enumerate(A):
        for j, v in enumerate(row):
            sign, v = (-1, -v) if v < 0 else (1, v)
            for part in range(count):
                limbs[count - 1 - part, i, j] = sign * (v >> (width * part) & mask)
    return limbs


def _combine(digits: list[list[int]], prime: int) -> tuple[list[int], int]:
    """The numbers with these digits, lowest first, by halves: long products of equal lengths are the fast ones."""
    if len(digits) == 1:
        return digits[0], prime
    half = len(digits) // 2
    low, scale = _combine(digits[:half], prime)
    high, other = _combine(digits[half:], prime)
    return [a + scale * c for a, c in zip(low, high, strict=True)], scale * other


def _reconstruct(residues: list[int], modulus: int, largest: int) -> tuple[list[int], int]:
    """Fractions with numerators up to a bound and one denominator, from their values modulo a large enough modulus.

    The denominator found so far clears most of the later ones; where not, the continued fraction has the rest (Wang).
    """
    found: list[tuple[int, int]] = []
    denominator = 1
    for residue in residues:
        v = residue * denominator % modulus
        if min(v, modulus - v) > largest:
            r, s, t = modulus, 0, 1
            while v > largest:
                q = r // v
                r, v, s, t = v, r - q * v, t, s - q * t
            denominator *= abs(t)
            v = v if t > 0 else -v
        elif v > largest:
            v -= modulus
        found.append((v, denominator))
    return [v * (denominator // d) for v, d in found], denominator


def _primes(below: int) -> Iterable[int]:
    """Primes downwards: there are always more than anyone will ask for."""
    candidate = below if below % 2 else below - 1
    while candidate > 2:
        if all(candidate % q for q in range(3, math.isqrt(candidate) + 1, 2)):
            yield candidate
        candidate -= 2


def _whole(row: Sequence[int | Fraction]) -> list[int]:
    scale = math.lcm(*(v.denominator for v in row))
    return [v.numerator * (scale // v.denominator) for v in row]


# The minimum-norm point -----------------------------------------------------------------------------------------------


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
    def of(points: Sequence[Point]) -> Face:
        """The face of all vectors orthogonal to these."""
        used = sorted({j for point in points for j in point.values})
        lines = [[point.values.get(j, 0) for j in used] for point in points]  # each at its own scale, as it may be
        for prime in _primes(_LARGE_PRIME):
            kept, places = independent(lines, prime)
            pivots = set(places)
            free = [place for place in range(len(used)) if place not in pivots]
            solution: tuple[list[list[int]], int] | None = ([[] for _ in kept], 1)
            if kept and free:
                square = [[lines[i][place] for place in places] for i in kept]
                solution = solve_integers(square, [[lines[i][place] for place in free] for i in kept])
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
    """Wolfe's method on the points of a cloud.

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
            wanted = _affine_minimum(cloud, list(weights), products)
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


def lifted(points: Sequence[Point], ends: Sequence[Sequence[int]]) -> list[list[int]]:
    """Integer vectors (end, point) that depend on each other as those do: a feature has one power of two for all."""
    lowest: dict[int, int] = {}
    for point in points:
        for j, v in point.values.items():
            place = point.exponent + (v & -v).bit_length() - 1
            lowest[j] = min(place, lowest.get(j, place))
    used = sorted(lowest)
    vectors = []
    for point, end in zip(points, ends, strict=True):
        shifts = {j: point.exponent - lowest[j] for j in point.values}
        whole = {j: v << shifts[j] if shifts[j] >= 0 else v >> -shifts[j] for j, v in point.values.items()}
        vectors.append([*end, *(whole.get(j, 0) for j in used)])
    return vectors


def _affine_minimum(cloud: Cloud, active: list[int], products: dict[tuple[int, int], int]) -> dict[int, Fraction]:
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
    solution = solve_integers(lines, [[0]] * len(active) + [[1]] * k)
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
