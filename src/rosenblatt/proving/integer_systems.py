"""Linear systems in integers, solved exactly: by fraction-free elimination, or, larger ones, by p-adic lifting."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import FloatArray

Matrix: TypeAlias = Sequence[Sequence[int | Fraction]]

_ELIMINATED = 16  # systems up to this size by elimination, larger ones by lifting: about equal times, measured
LARGE_PRIME = 2**31 - 1


class OutOfTime(Exception):
    """The deadline passed before the system was solved."""


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
    for prime in primes(LARGE_PRIME):
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


def independent(vectors: Sequence[Sequence[int]], prime: int = LARGE_PRIME) -> tuple[list[int], list[int]]:
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


def solve_integers(
    A: list[list[int]], B: list[list[int]], deadline: float | None = None
) -> tuple[list[list[int]], int] | None:
    """Integers X and a positive d with A(X/d) = B, for square A; None if A is singular.

    ``deadline`` is of `time.monotonic`: large systems look at it now and then, and raise `OutOfTime`.
    """
    if len(A) <= _ELIMINATED:
        return eliminate(A, B)
    solutions = []
    for j in range(len(B[0])):
        solution = lift(A, [row[j] for row in B], deadline)
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


def lift(A: list[list[int]], b: list[int], deadline: float | None = None) -> tuple[list[int], int] | None:
    """Dixon's p-adic lifting (Numer. Math. 1982): digits of the solution base p, from one inverse modulo p.

    Digits are found with float64 products of integers below 2⁵³, so they are exact; the fractions are reconstructed
    when p^steps exceeds twice the square of Hadamard's bound, so they are the solution.
    """
    limit = math.isqrt(2**53 // len(A))
    for tries, prime in enumerate(primes(limit)):
        inverse = _inverse(np.array([[v % prime for v in row] for row in A], dtype=np.int64), prime, deadline)
        if inverse is not None:
            return _lifted(A, b, prime, inverse, deadline)
        if tries == 3 and null_vector(A) is not None:
            break
    return None


def _lifted(
    A: list[list[int]], b: list[int], prime: int, inverse: FloatArray, deadline: float | None
) -> tuple[list[int], int]:
    m, columns = len(A), zip(*A, strict=True)
    width = 52 - prime.bit_length() - m.bit_length()  # bits of A in one float64 product
    limbs = _limbs(A, width)
    bits = int(sum(math.log2(max(1, sum(v * v for v in column))) for column in columns) / 2) + 2  # of det A: Hadamard
    largest = 1 << bits + int(math.log2(max(1, sum(v * v for v in b))) / 2) + 2  # a numerator: Cramer
    steps = int((bits + largest.bit_length() + 4) / math.log2(prime)) + 2
    digits, rest = [], list(b)
    for _ in range(steps):
        _look_at_the_clock(deadline)
        digit = np.mod(inverse @ np.array([v % prime for v in rest], dtype=np.float64), prime)
        digits.append(digit.astype(np.int64).tolist())
        product, *lower = (limbs @ digit).astype(np.int64).tolist()
        for part in lower:
            product = [(high << width) + low for high, low in zip(product, part, strict=True)]
        rest = [(r - v) // prime for r, v in zip(rest, product, strict=True)]
    residues, modulus = _combine(digits, prime)
    return _reconstruct(residues, modulus, largest)


def _inverse(A: NDArray[np.int64], prime: int, deadline: float | None) -> FloatArray | None:
    """The inverse modulo a prime below 2²⁷, by Gauss-Jordan."""
    m = len(A)
    M = np.hstack([A, np.eye(m, dtype=np.int64)])
    for k in range(m):
        _look_at_the_clock(deadline)
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


def primes(below: int) -> Iterable[int]:
    """Primes downwards: there are always more than anyone will ask for."""
    candidate = below if below % 2 else below - 1
    while candidate > 2:
        if all(candidate % q for q in range(3, math.isqrt(candidate) + 1, 2)):
            yield candidate
        candidate -= 2


def _look_at_the_clock(deadline: float | None) -> None:
    if deadline is not None and time.monotonic() > deadline:
        raise OutOfTime


def _whole(row: Sequence[int | Fraction]) -> list[int]:
    scale = math.lcm(*(v.denominator for v in row))
    return [v.numerator * (scale // v.denominator) for v in row]
