"""How many mistakes a perceptron can make at most, as whole numbers that are never too small.

Everything is computed in fractions from a margin that is not too large and a radius that is not too small, so that
the bound holds as stated. "003 eq. 15" is equation 15 of note 003.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from rosenblatt.checking import rounding
from rosenblatt.inputs import FloatArray

Exact = Sequence[Fraction] | FloatArray


@dataclass(frozen=True)
class MistakeBound:
    """At most `value` mistakes, by `formula`, in the setting named.

    Attributes
    ----------
    value : int or float
        So many mistakes at most: an int, or infinity if the margin is too small for a float.
    formula : str
        Where it comes from; R is the radius and γ a margin.
    setting : str
        For which perceptron, on which rows, it holds.
    """

    value: int | float
    formula: str
    setting: str

    def __str__(self) -> str:
        return f"at most {count(self.value)} mistakes = {self.formula}: {self.setting}"


def count(value: int | float) -> str:
    """A number of mistakes for people: digits in groups, or its size if it is long."""
    if value == math.inf:
        return "finitely many"
    if value < 10**300:
        return f"{value:,}" if value < 10**15 else f"{float(value):.4g}"
    return f"10^{math.ceil(int(value).bit_length() * 0.30103)}"  # not below it, as log10(2) < 0.30103


def through_origin(radius2: Fraction, margin2: Fraction) -> int | float:
    """(R / γ)² with the margin through the origin, from 0 without intercept (000 eq. 3.15; 002; 004)."""
    return math.floor(radius2 / margin2) if margin2 > 0 else math.inf


def with_intercept(radius2: Fraction, margin2: Fraction) -> int | float:
    """(R² + 1) / γ², with the margin of the points (x, 1): 003 eq. 15, and what 001 should say."""
    return through_origin(radius2 + 1, margin2)


def augmented_margin2(w: Exact, b: Fraction, margin2: Fraction) -> Fraction:
    """The squared margin of (w, b) among the points (x, 1), from its margin² among the x."""
    w2 = rounding.squared_norm(w)
    return margin2 * w2 / (w2 + b * b)


def best_scale(radius2: Fraction, w: Exact, b: Fraction, margin2: Fraction) -> int | float:
    """((R + |b|) / γ)² with a unit normal: what the best constant in place of 1, s² = R |b|, makes of the bound."""
    if margin2 <= 0:
        return math.inf
    offset2 = b * b / rounding.squared_norm(w)
    # (R + |b|)² = R² + b² + 2 √(R² b²), the root rounded up
    return math.floor((radius2 + offset2 + 2 * rounding.root_above(radius2 * offset2)) / margin2)


def from_first_guess(
    radius2: Fraction, theta: Sequence[Fraction], margin2: Fraction, first_guess: Sequence[Fraction]
) -> int | float:
    """003 eq. 14 solved for m, from any first guess θ₀ (already divided by eta0).

    m <= [T²τ² - 2aρ + T √(T²τ⁴ - 4aρτ² + 4ρ²‖θ₀‖²)] / (2ρ²), with T = ‖θ‖, a = θ₀·θ, τ = max ‖z‖, ρ = min z·θ. Any ρ
    that is not too large and any τ that is not too small give a true bound, so ρ may be rounded down and the root up.
    """
    T2, a, start2 = rounding.squared_norm(theta), rounding.dot(first_guess, theta), rounding.squared_norm(first_guess)
    rho2 = margin2 * T2
    if rho2 <= 0:
        return math.inf
    rho = 1 / rounding.root_above(1 / rho2, 128)
    under_root = T2 * (T2 * radius2**2 - 4 * a * rho * radius2 + 4 * rho**2 * start2)
    return max(0, math.floor((T2 * radius2 - 2 * a * rho + rounding.root_above(under_root, 128)) / (2 * rho**2)))
