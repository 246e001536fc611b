"""Exact numbers from floats, and floats from exact numbers rounded to the side on which a claim stays true."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from rosenblatt.inputs import FloatArray

_MAX_BITS = 1 << 22  # of a common denominator; only a text made to be slow needs more

Exact = Sequence[Fraction] | FloatArray


def integers(values: Exact) -> tuple[list[int], Fraction]:
    """Integers and a positive unit with value = integer * unit, exactly."""
    if isinstance(values, np.ndarray):
        mantissas, exponents = np.frexp(values)
        whole = np.ldexp(mantissas, 53).astype(np.int64).tolist()
        powers = (exponents.astype(np.int64) - 53).tolist()
        lowest = min((power for power, m in zip(powers, whole, strict=True) if m), default=0)
        unit = Fraction(2) ** lowest
        return [m << (power - lowest) if m else 0 for m, power in zip(whole, powers, strict=True)], unit
    common = 1
    for value in values:
        common = math.lcm(common, value.denominator)
        if common.bit_length() > _MAX_BITS:
            raise OverflowError(f"the fractions have a common denominator of more than {_MAX_BITS} bits")
    return [value.numerator * (common // value.denominator) for value in values], Fraction(1, common)


def fractions(values: Iterable[float]) -> list[Fraction]:
    """Each float as the fraction it is."""
    return [Fraction(value) for value in values]


def squared_norm(values: Exact) -> Fraction:
    """Σ v², exactly."""
    whole, unit = integers(values)
    return sum(v * v for v in whole) * unit * unit


def dot(u: Exact, v: Exact) -> Fraction:
    """Σ u v, exactly."""
    (p, p_unit), (q, q_unit) = integers(u), integers(v)
    return sum(a * b for a, b in zip(p, q, strict=True)) * p_unit * q_unit


def down(value: Fraction) -> float:
    """The largest float that is not above the value."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.nextafter(math.inf, 0) if value > 0 else -math.inf
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)


def up(value: Fraction) -> float:
    """The smallest float that is not below the value."""
    return -down(-value)


def root_down(square: Fraction) -> float:
    """The largest float whose square is not above: √ rounded down."""
    if square <= 0:
        return 0.0
    # Two bits of the square for each of 64 bits of the root; the rest of the work is at most one step of nextafter.
    shift = max(0, 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    root = down(Fraction(math.isqrt((square.numerator << (2 * shift)) // square.denominator), 1 << shift))
    above = math.nextafter(root, math.inf)
    return above if above < math.inf and Fraction(above) ** 2 <= square else root


def root_up(square: Fraction) -> float:
    """The smallest float whose square is not below: √ rounded up."""
    root = root_down(square)
    return root if Fraction(root) ** 2 >= square else math.nextafter(root, math.inf)


def root_above(square: Fraction, bits: int = 64) -> Fraction:
    """A fraction that is not below √ of the square, and above it by less than one part in 2**bits."""
    if square <= 0:
        return Fraction(0)
    shift = max(0, bits + 1 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    root = math.isqrt((square.numerator << (2 * shift)) // square.denominator)
    return Fraction(root + 1, 1 << shift)
