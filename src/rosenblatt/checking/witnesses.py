"""What a few weighted rows prove: that no hyperplane separates, that no margin is larger, that they span the space.

Gordan's theorem: weights λ > 0 with Σ λ y x = 0 (and Σ λ y = 0 if the hyperplane has an offset) exclude every w with
y(w·x + b) > 0. With any λ >= 0, ‖Σ λ y x‖ / Σ λ bounds every margin through the origin from above; with an offset it
is half the distance between the two classes' weighted means. Checked in integers, or, where these would be too long,
in float64 with all rounding errors bounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from rosenblatt.checking import rounding
from rosenblatt.inputs import FloatArray, IntArray

_U = 2.0**-53
_EXACT_VALUES = 2_000_000  # values in the rows up to which sums are taken in integers at once
_EXACT_WORK = 100_000_000  # and up to which they are when floats do not settle it
_DENSE_VALUES = 200_000_000  # values of a dense matrix of rows
_RANK_WORK = 200_000_000  # steps of an elimination modulo a prime
_PRIMES = (2147483647, 2147483629)
_SLACK = 1.001  # pays for the rounding of a sum of positive terms, of which there are fewer than 2⁴⁰


@dataclass(frozen=True)
class Point:
    """A row that a certificate names: its columns and values without zeros, and its side."""

    columns: IntArray
    values: FloatArray
    side: int


@dataclass(frozen=True)
class Finding:
    """What was found about a witness: why it proves nothing, or None; and whether it was seen to span the space."""

    failure: str | None
    full_rank: bool = False


Weights = Sequence[Fraction] | FloatArray


def check(points: list[Point], weights: Weights, n_features: int, *, intercept: bool, interval: bool) -> Finding:
    """Whether these rows with these weights (or, if `interval`, exact ones near them) exclude every hyperplane."""
    if not points:
        return Finding("it names no rows")
    if not all(weight > 0 for weight in weights):
        return Finding("a weight is not positive")
    if not interval or not isinstance(weights, np.ndarray):
        return Finding(_exact_witness(points, weights, intercept))
    finding = _enclosed_witness(points, np.asarray(weights, np.float64), n_features, intercept)
    if (
        finding.failure is not None
        and _size(points) <= _EXACT_VALUES
        and _exact_witness(points, weights, intercept) is None
    ):
        return Finding(None)  # the floats are exact already, which also is a proof
    return finding


def _exact_witness(points: list[Point], weights: Weights, intercept: bool) -> str | None:
    numbers, _ = rounding.integers(weights)
    if intercept and sum(number * point.side for number, point in zip(numbers, points, strict=True)) != 0:
        return "the weights of the two classes have different sums"
    sums, _ = _exact_sums(points, [number * point.side for number, point in zip(numbers, points, strict=True)])
    wrong = [column for column, total in sums.items() if total != 0]
    if wrong:
        return f"the weighted sum of the rows is not zero: feature {min(wrong)} differs"
    return None


def holds_duplicates(points: list[Point]) -> bool:
    """Whether two equal rows have opposite sides."""
    seen: dict[bytes, int] = {}
    for point in points:
        key = point.columns.astype(np.int64).tobytes() + point.values.tobytes()
        if seen.setdefault(key, point.side) != point.side:
            return True
    return False


# Upper bounds of margins --------------------------------------------------------------------------------------------


def check_upper_bound(
    points: list[Point], weights: Weights, square: Fraction, kind: str, *, exactly: bool = False
) -> str | None:
    """Why λ does not imply that no margin of this kind has a square above `square`; None if it does."""
    if not points:
        return "it names no support rows"
    if not all(weight >= 0 for weight in weights):
        return "a weight is negative"
    numbers, _ = rounding.integers(weights)
    total = [sum(n for n, p in zip(numbers, points, strict=True) if p.side == side) for side in (-1, +1)]
    if kind == "free":
        if not all(total):
            return "the weights name one class only"
        # Both means over one denominator: Σ₊ λ x / Λ₊ - Σ₋ λ x / Λ₋ = Σ y λ Λ₋ᵧ x / (Λ₊ Λ₋), and half of its length.
        signed = [n * p.side * total[0 if p.side > 0 else 1] for n, p in zip(numbers, points, strict=True)]
        limit = 4 * square * (total[0] * total[1]) ** 2
        constant = 0
    else:
        if not any(total):
            return "all weights are zero"
        signed = [n * p.side for n, p in zip(numbers, points, strict=True)]
        limit = square * sum(total) ** 2
        constant = sum(signed) if kind == "augmented" else 0
    limit -= constant**2
    smaller = "the weights imply only a larger bound"
    size = _size(points)
    if not exactly and size > _EXACT_VALUES:
        scale = Fraction(1, max(map(abs, signed)))
        rounded = np.asarray([float(n * scale) for n in signed])
        slack = np.full(len(points), 2 * _U)  # |rounded - n scale| <= slack |rounded|, underflow apart
        above = _float_square_above(points, rounded, slack)
        if above is not None and above <= limit * scale**2:
            return None
        if size > _EXACT_WORK:
            return smaller + ", as far as float64 can tell"
    sums, unit = _exact_sums(points, signed)
    return None if sum(v * v for v in sums.values()) * unit**2 <= limit else smaller


def _exact_sums(points: list[Point], signed: list[int]) -> tuple[dict[int, int], Fraction]:
    """Σ n x in each column that is not zero everywhere: integers and their unit."""
    lowest = min((int(np.frexp(p.values)[1].min()) for p in points if len(p.values)), default=0) - 53
    sums: dict[int, int] = {}
    for point, number in zip(points, signed, strict=True):
        whole, own = rounding.integers(point.values)
        factor = number * int(own / Fraction(2) ** lowest)
        for column, value in zip(point.columns.tolist(), whole, strict=True):
            sums[column] = sums.get(column, 0) + factor * value
    unit = Fraction(2) ** lowest
    return sums, unit


def _float_square_above(points: list[Point], signed: FloatArray, slack: FloatArray) -> Fraction | None:
    """An upper bound of ‖Σ n x‖² for numbers n that differ from `signed` by at most slack |signed|; None: no answer."""
    if len(points) * len(np.unique(np.concatenate([point.columns for point in points]))) > _DENSE_VALUES:
        return None
    matrix = _matrix(points, side=False)[0]
    high, low, error = _compensated_sums(matrix, signed)
    error = (error + (slack * np.abs(signed)) @ np.abs(matrix) + len(points) * 2.0**-1000) * _SLACK
    if not all(np.isfinite(part).all() for part in (high, low, error)):
        return None
    total = Fraction(0)
    for h, lo, e in zip(high.tolist(), low.tolist(), error.tolist(), strict=True):
        total += (abs(Fraction(h) + Fraction(lo)) + Fraction(e)) ** 2
    return total


# Sums in twice the precision ----------------------------------------------------------------------------------------


def _compensated_sums(matrix: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """weights @ matrix as high + low, and a bound of the error, column by column.

    Each product is split into itself and its rounding error (Dekker), each addition likewise (Knuth), and the errors
    are added up in float64. With A = Σ |λ x|: the n errors of products sum to at most u A, those of additions to
    n u A, both up to a factor 1 + O(n u); adding them takes at most n + 2 roundings each. Hence (n + 3)² u² A, and a
    little for underflow.
    """
    n, d = matrix.shape
    high, low = np.zeros(d), np.zeros(d)
    with np.errstate(all="ignore"):
        for row, weight in zip(matrix, weights.tolist(), strict=True):
            product = weight * row
            rest = _product_error(weight, row, product)
            total = high + product
            back = total - high
            lost = (high - (total - back)) + (product - back)
            high = total
            low = low + (lost + rest)
        sizes = np.abs(weights) @ np.abs(matrix) * _SLACK
    return high, low, 1.1 * (n + 3) ** 2 * _U**2 * sizes + n * 2.0**-1000


def _product_error(a: float, b: FloatArray, product: FloatArray) -> FloatArray:
    a_high, a_low = _split(np.asarray(a))
    b_high, b_low = _split(b)
    return a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _split(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    t = 134217729.0 * a  # 2²⁷ + 1
    high = t - (t - a)
    return high, a - high


def _matrix(points: list[Point], *, side: bool) -> tuple[FloatArray, IntArray]:
    """The rows (times their sides) as a dense matrix of the columns that are not zero everywhere, and these."""
    columns = np.unique(np.concatenate([point.columns for point in points]))
    matrix = np.zeros((len(points), len(columns)))
    for i, point in enumerate(points):
        matrix[i, np.searchsorted(columns, point.columns)] = point.values * (point.side if side else 1)
    return matrix, columns.astype(np.int64)


def _size(points: list[Point]) -> int:
    return sum(len(point.columns) for point in points)


# Weights near the stated ones that are exact: a verified enclosure --------------------------------------------------


def _enclosed_witness(points: list[Point], weights: FloatArray, n_features: int, intercept: bool) -> Finding:
    """Whether an exact positive solution of A λ = e exists near the stated weights.

    A has a row for each feature (Σ λ y x = 0) and one for each sum that is to be 1. We look for λ = λ̂ + B μ with
    (A B) μ = r = e - A λ̂, where B is the identity if A is square, and else the floats of Λ̂² Aᵀ, so that small weights
    move least. If R is about the inverse of C = A B and the rows of |I - R C| sum to at most α < 1, then C is
    nonsingular and |μ| <= |R r| + α / (1 - α) max |R r| (Rump, Acta Numerica 19, 2010). All of it bounded with γₙ.
    """
    A, n_columns, failure = _system(points, intercept)
    if failure is not None:
        return Finding(failure)
    D, m = A.shape
    if m < D:
        return Finding(
            f"{m} rows in {n_columns} features with float weights cannot be verified: their weights must be fractions"
        )
    one_sums = 2 if intercept else 1
    target = np.zeros(D)
    target[-one_sums:] = 1.0
    with np.errstate(all="ignore"):
        high, low, error = _compensated_sums(np.ascontiguousarray(A.T), weights)
        residual = (np.abs(high - target) + np.abs(low) + error) * _SLACK
        B = None if m == D else np.ascontiguousarray((weights**2)[:, None] * A.T)
        inverse, alpha = _verified_inverse(A, B)
        if inverse is None or not alpha < 0.99:
            return Finding("its rows are too near to a smaller dimension for float64 to prove that exact weights exist")
        z = np.abs(inverse) @ residual * _SLACK
        mu = (z + alpha / (1 - alpha) * z.max()) * _SLACK
        change = mu if B is None else np.abs(B) @ mu * _SLACK
        positive = bool((weights - change * _SLACK > 0).all())
    if not positive:
        return Finding("float64 cannot prove that exact positive weights exist near the stated ones")
    return Finding(None, full_rank=n_columns == n_features)


def _system(points: list[Point], intercept: bool) -> tuple[FloatArray, int, str | None]:
    """A, its features scaled by powers of two to about 1 (which changes no solution), and their number.

    Left out are features whose equation says nothing new: copies of others, and with an intercept those that have one
    value in all rows, as Σ λ y = 0 is asked for anyway.
    """
    matrix, columns = _matrix(points, side=True)
    if matrix.shape[1] + (2 if intercept else 1) > len(points):
        if intercept:
            sides = np.asarray([[point.side] for point in points])
            matrix = matrix[:, (matrix * sides != matrix[:1] * sides[0]).any(axis=0)]
        matrix = matrix[:, np.sort(np.unique(matrix + 0.0, axis=1, return_index=True)[1])]
        columns = columns[: matrix.shape[1]]
    if matrix.size:
        exponents = np.frexp(np.abs(matrix).max(axis=0))[1]
        scaled = np.ldexp(matrix, -exponents)
        if not np.array_equal(np.ldexp(scaled, exponents), matrix):
            return matrix, len(columns), "the values of a feature differ by more than float64's range"
        matrix = scaled
    sides = np.asarray([point.side for point in points])
    sums = [(sides > 0), (sides < 0)] if intercept else [np.ones(len(points), np.bool_)]
    A = np.vstack([matrix.T, *(s.astype(np.float64)[None, :] for s in sums)])
    return np.ascontiguousarray(A), len(columns), None


def _verified_inverse(A: FloatArray, B: FloatArray | None) -> tuple[FloatArray | None, float]:
    """R, an approximate inverse of C = A B (or of A), and a bound of the largest row sum of |I - R C|."""
    D, m = A.shape
    C = A if B is None else A @ B
    try:
        R: FloatArray = np.asarray(np.linalg.inv(C), np.float64)
    except np.linalg.LinAlgError:
        return None, math.inf
    G = R @ C
    G[np.diag_indices(D)] -= 1.0
    ones = np.ones(D)
    absolute = np.abs(R)
    rows = np.abs(G) @ ones + (D + 4) * _U * (absolute @ (np.abs(C) @ ones)) + 4 * _U
    if B is not None:  # what rounding did to C itself
        rows = rows + (m + 4) * _U * (absolute @ (np.abs(A) @ (np.abs(B) @ ones)))
        rows = rows + m * 2.0**-1000 * (absolute @ ones) * D
    alpha = float(rows.max() * 1.01 + D * D * 2.0**-1000)
    return (R, alpha) if np.isfinite(alpha) else (None, math.inf)


# Rank ---------------------------------------------------------------------------------------------------------------


def spans(points: list[Point], n_features: int, *, intercept: bool) -> bool:
    """Whether the rows (x, 1), or x without intercept, were seen to have full rank d + 1, or d."""
    if not points:
        return False
    matrix, columns = _matrix(points, side=False)
    if len(columns) != n_features:
        return False
    if intercept:
        matrix = np.hstack([matrix, np.ones((len(points), 1))])
    m, D = matrix.shape
    if m < D:
        return False
    if D * D * m <= _RANK_WORK:
        return any(_rank_modulo(matrix, prime) == D for prime in _PRIMES)
    A, _, failure = _system(points, intercept)  # its rows span what those of the matrix span, and perhaps one more
    if failure is not None or m < len(A):
        return False
    with np.errstate(all="ignore"):
        inverse, alpha = _verified_inverse(A, None if m == len(A) else np.ascontiguousarray(A.T))
    return inverse is not None and alpha < 0.99


def _rank_modulo(matrix: FloatArray, prime: int) -> int:
    """The rank modulo a prime, which is never above the true rank: floats are integers times powers of two."""
    mantissas, exponents = np.frexp(matrix)
    rest: NDArray[np.int64] = np.ldexp(mantissas, 53).astype(np.int64) % prime
    for exponent in np.unique(exponents).tolist():
        chosen = exponents == exponent
        rest[chosen] = rest[chosen] * pow(2, exponent - 53, prime) % prime
    rank = 0
    for column in range(rest.shape[1]):
        candidates = np.flatnonzero(rest[rank:, column])
        if len(candidates) == 0:
            continue
        pivot = rank + int(candidates[0])
        rest[[rank, pivot]] = rest[[pivot, rank]]
        rest[rank] = rest[rank] * pow(int(rest[rank, column]), -1, prime) % prime
        below = rest[rank + 1 :]
        below -= below[:, column : column + 1] * rest[rank] % prime
        below %= prime
        rank += 1
        if rank == len(rest):
            break
    return rank
