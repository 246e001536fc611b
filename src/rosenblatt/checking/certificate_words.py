"""Certificates in plain language: the verdict, the numbers, how it was proved, and what to do next."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rosenblatt.checking import mistake_bounds, rounding

if TYPE_CHECKING:
    from rosenblatt.certificates import Inseparable, Separable, Undecided
    from rosenblatt.checking.statements import Certificate
    from rosenblatt.joint_certificates import JointInseparable, JointSeparable, JointUndecided

_PROOFS = {
    "filter": "Proved in float64 with every rounding error bounded",
    "interval": "Proved in float64 with every rounding error bounded (exact weights exist near those stated)",
    "rational": "Proved in exact fractions",
}
_SHOWN_ROWS = 12
_WIDTH = 80  # of a printed line
_PATIENCE = 10_000_000  # mistakes: whoever may have to wait for more is told not to


def text(certificate: Certificate) -> str:
    """The whole certificate, in lines that fit a terminal."""
    return wrapped(sentences(certificate))


def sentences(certificate: Certificate) -> list[str]:
    """What it says, a thought to a line, whatever its length: the verdict, its numbers or reason, and so on."""
    return _IN_WORDS[hasattr(certificate, "rivals"), certificate.separable](certificate)


def wrapped(lines: Iterable[str]) -> str:
    """Lines broken between words, so that they fit a terminal."""
    broken = [textwrap.wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False) for line in lines]
    return "\n".join(part for parts in broken for part in parts)


# Two sides ------------------------------------------------------------------------------------------------------------


def _separable(certificate: Separable) -> list[str]:
    """A hyperplane separates, by how much, and what learning costs."""
    every = "the rows with" if certificate.data.ignored else f"all {certificate.n_rows:,} rows,"
    lines = [
        f"Separable: a hyperplane separates {every} "
        f"label {certificate.data.side_name(+1)} from label {certificate.data.side_name(-1)}.",
        _margin("Its margin is", certificate),
    ]
    if len(certificate.support):
        lines.append(f"It rests on {_row_list(certificate.support.tolist())}.")
    bound = certificate.mistake_bound
    kind = f"Perceptron(fit_intercept={certificate.fit_intercept})"
    lines.append(f"A {kind} makes at most {mistake_bounds.count(bound)} mistakes on it, from 0, in any order.")
    better = _better_bounds(certificate)
    lines += [f"With the rows {name}: at most {mistake_bounds.count(value)}." for name, value in better.items()]
    lines.append(_how(certificate))
    if not certificate.separates_in_floats:
        lines.append(
            "Only a hyperplane in fractions was found: rounded to floats, as .hyperplane is, it does not separate. So "
            "small a margin comes from rounding, often of features that are sums or multiples of others."
        )
        lines.append("Next: leave out such features, or treat the classes as overlapping (SoftMargin).")
    elif bound <= _PATIENCE:
        lines.append("Next: a Perceptron converges here if max_iter allows; .hyperplane already separates.")
    else:
        model = "MaxMargin" if certificate.fit_intercept else "MaxMargin(fit_intercept=False)"
        name = min(better, key=lambda name: better[name], default="")
        if name and better[name] <= _PATIENCE:
            instead = f"a Perceptron converges on the rows {name}"
        else:
            scaling = ", or scale the features first (StandardScaler)" if certificate.fit_intercept else ""
            instead = f"do not wait for a Perceptron{scaling}"
        lines.append(f"Next: use .hyperplane, which already separates, or {model}; {instead}.")
    return lines


def _better_bounds(certificate: Separable) -> dict[str, int | float]:
    """The bounds on the mistakes for rows that are moved or scaled first, where that halves them at least."""
    if not certificate.fit_intercept:
        return {}
    bounds = {name: bound.value for name, bound in certificate.mistake_bounds.items() if bound.value < math.inf}
    names = ("scaled", "centred", "centred and scaled")
    return {name: bounds[name] for name in names if name in bounds and 2 * bounds[name] <= certificate.mistake_bound}


def _margin(its: str, certificate: Separable | JointSeparable) -> str:
    """The margin between its bounds, or exactly."""
    upper, square = certificate.margin_upper_bound, certificate.margin_squared
    if square is not None:
        digits = at_least(rounding.root_down(square))
        if digits == "0":
            digits = "too small for a float"
        elif Fraction(digits) ** 2 != square:
            digits = f"about {digits}" if "e" in digits else f"{digits}..."
        return f"{its} {digits}, the largest (its square is {_short(square)})."
    above = f"; none has more than {at_most(upper)} (gap {certificate.gap:.1e})" if upper < math.inf else ""
    return f"{its} at least {at_least(certificate.margin)}{above}."


def _inseparable(certificate: Inseparable) -> list[str]:
    """No hyperplane separates, and which rows show it."""
    rows = certificate.points.tolist()
    through = "" if certificate.fit_intercept else " through the origin"
    lines = [
        f"Not separable: {_row_list(rows)} cannot be separated by any hyperplane{through}, so neither can the data."
    ]
    one, other = (certificate.points[certificate.signs == side].tolist() for side in (+1, -1))
    if certificate.duplicates:
        lines.append("Two of them are equal, with opposite labels.")
    elif certificate.fit_intercept and one and other:
        lines.append(
            f"A weighted mean of {_row_list(one)} (label {certificate.data.side_name(+1)}) is the same point as one of "
            f"{_row_list(other)} (label {certificate.data.side_name(-1)})."
        )
    elif not certificate.fit_intercept:
        lines.append("A weighted sum of them, each times -1 or +1 by its label, is zero.")
    if certificate.weak is not None:
        lines.append(
            f"A hyperplane{through} still separates weakly, with some rows on it (quasi-complete separation): "
            "logistic regression has no finite fit."
        )
    elif certificate.overlap:
        lines.append(f"No hyperplane{through} separates even weakly: the classes overlap.")
    lines.append(_how(certificate))
    if certificate.duplicates:
        lines.append(
            "Next: look at these rows; one of the labels may be wrong, or a feature that tells them apart missing. "
            "suspects(X, y) ranks all labels."
        )
    elif not certificate.fit_intercept:
        lines.append("Next: ask again with fit_intercept=True, as a hyperplane with an offset may separate them.")
    else:
        lines.append(
            f"Next: a Perceptron would never stop on these {certificate.n_rows:,} rows. SoftMargin and "
            "AveragedPerceptron are made for such data; suspects(X, y) ranks the labels that may be wrong."
        )
    return lines


def _undecided(certificate: Undecided) -> list[str]:
    """Neither was proved: what is known all the same."""
    lines = [
        f"Undecided whether a hyperplane separates the {certificate.n_rows:,} rows"
        + (f": {printable(certificate.why)}." if certificate.why else ".")
    ]
    if certificate.upper < math.inf:
        relative = f", {certificate.upper / certificate.radius:.1e} of the radius" if certificate.radius else ""
        lines.append(f"If it is separable, its margin is at most {at_most(certificate.upper)}{relative}.")
    if certificate.hyperplane is not None and certificate.lower > -math.inf:
        lines.append(f"The best hyperplane found has a margin of at least {at_least(certificate.lower)}.")
    lines.append("Next: give it more time, ask for exact=True, or look for features on very different scales.")
    return lines


# Several classes at once ----------------------------------------------------------------------------------------------


def _jointly_separable(certificate: JointSeparable) -> list[str]:
    """One W has all rows right, by how much, and what learning costs."""
    length = "‖W‖ = 1, intercepts included" if certificate.fit_intercept else "‖W‖ = 1"
    lines = [
        f"Jointly separable: one W gives each of the {certificate.n_rows:,} rows the highest score for its own class "
        f"({_class_list(certificate)}).",
        _margin(f"Its margin, the least lead over a rival with {length}, is", certificate),
    ]
    if len(certificate.support):
        lines.append(f"It rests on {_pair_list(certificate.support, 'against')}.")
    kind = f'Perceptron(multi_class="joint", fit_intercept={certificate.fit_intercept})'
    count = mistake_bounds.count(certificate.mistake_bound)
    lines.append(f"A {kind} makes at most {count} mistakes on it, from 0, in any order.")
    lines.append(_how(certificate))
    if certificate.mistake_bound <= _PATIENCE:
        lines.append("Next: a joint Perceptron converges here if max_iter allows; .coef and .intercept have it.")
    else:
        lines.append("Next: use .coef and .intercept, which have every row right; do not wait for a joint Perceptron.")
    return lines


def _jointly_inseparable(certificate: JointInseparable) -> list[str]:
    """No W has all rows right, and which pairs of a row and a rival show it."""
    through = "" if certificate.fit_intercept else " without intercepts"
    rows = list(dict.fromkeys(row for row, _ in certificate.pairs))
    own = "its own class" if len(rows) == 1 else "their own classes"
    lines = [f"Not jointly separable: no W{through} gives {_row_list(rows)} the highest scores for {own}."]
    if certificate.duplicates:
        lines.append("Two of these rows are equal, with different labels.")
    else:
        leads = _pair_list(certificate.pairs, "over")
        lines.append(f"Weighted, the leads of {leads} add up to 0, whatever W is: not all are positive.")
    lines.append(_how(certificate))
    if certificate.duplicates:
        lines.append(
            "Next: look at these rows; one of the labels may be wrong, or a feature that tells them apart missing. "
            "suspects(X, y == label) ranks the labels of a class."
        )
    elif not certificate.fit_intercept:
        lines.append("Next: ask again with fit_intercept=True, as scores with an offset may have them right.")
    else:
        lines.append(
            f"Next: a joint Perceptron would never stop on these {certificate.n_rows:,} rows. SoftMargin and "
            "AveragedPerceptron are made for such data; multi_class='ovo' says which pairs of classes can be "
            "separated, and suspects(X, y == label) which labels may be wrong."
        )
    return lines


def _jointly_undecided(certificate: JointUndecided) -> list[str]:
    """Neither was proved: what is known all the same."""
    lines = [
        f"Undecided whether one W has all {certificate.n_rows:,} rows right"
        + (f": {printable(certificate.why)}." if certificate.why else ".")
    ]
    if certificate.upper < math.inf:
        relative = f", {certificate.upper / certificate.radius:.1e} of the radius" if certificate.radius else ""
        lines.append(f"If the data is jointly separable, its margin is at most {at_most(certificate.upper)}{relative}.")
    if certificate.hyperplane is not None and certificate.lower > -math.inf:
        lines.append(f"The best W found has a margin of at least {at_least(certificate.lower)}.")
    lines.append("Next: give it more time, ask for exact=True, or look for features on very different scales.")
    return lines


_IN_WORDS: dict[tuple[bool, bool | None], Callable[[Any], list[str]]] = {
    (False, True): _separable,
    (False, False): _inseparable,
    (False, None): _undecided,
    (True, True): _jointly_separable,
    (True, False): _jointly_inseparable,
    (True, None): _jointly_undecided,
}


def line(certificate: Any) -> str:
    """The verdict and its number, for a table."""
    if certificate.separable:
        return f"separable, margin {at_least(certificate.margin)}"
    if certificate.separable is None:
        return f"undecided, margin at most {at_most(certificate.upper)}"
    what = "pairs (row, rival)" if hasattr(certificate, "rivals") else "rows"
    return (
        f"not separable, {'two equal rows' if certificate.duplicates else f'{len(certificate.points)} {what}'} prove it"
    )


# Parts of sentences ---------------------------------------------------------------------------------------------------


def at_least(value: float) -> str:
    """Six digits of a lower bound, rounded down so that the words stay true."""
    return _six_digits(value, ROUND_FLOOR)


def at_most(value: float) -> str:
    """Six digits of an upper bound, rounded up."""
    return _six_digits(value, ROUND_CEILING)


def _six_digits(value: float, rounding: str) -> str:
    nearest = f"{value:.6g}"
    if float(nearest) == value:
        return nearest
    return f"{float(Context(prec=6, rounding=rounding).create_decimal(Decimal(value))):.6g}"


def printable(text: str) -> str:
    """What a text from outside may put on a terminal."""
    return "".join(character if character.isprintable() else " " for character in text[:500])


def _how(certificate: Certificate) -> str:
    return f"{_PROOFS[certificate.proof]}; check it with verify(X, y)."


def _row_list(rows: list[int]) -> str:
    """rows 17, 203, 511 and 640."""
    if len(rows) == 1:
        return f"row {rows[0]}"
    if len(rows) > _SHOWN_ROWS:
        shown = ", ".join(map(str, rows[: _SHOWN_ROWS - 2]))
        return f"rows {shown} and {len(rows) - _SHOWN_ROWS + 2:,} others"
    return f"rows {', '.join(map(str, rows[:-1]))} and {rows[-1]}"


def _pair_list(pairs: tuple[tuple[int, Any], ...], word: str) -> str:
    """row 3 above 'b', row 7 above 'a' and 2 others."""
    shown = [f"row {row} {word} {printable(repr(rival))}" for row, rival in pairs]
    if len(shown) > _SHOWN_ROWS // 2:
        shown = [*shown[: _SHOWN_ROWS // 2 - 1], f"{len(shown) - _SHOWN_ROWS // 2 + 1} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _class_list(certificate: Certificate) -> str:
    names = [printable(repr(name)) for name in certificate.labels]
    return f"{len(names)} classes" if len(names) > 5 else f"{', '.join(names[:-1])} or {names[-1]}"


def _short(value: Fraction) -> str:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) <= 64:
        return f"{value} exactly"
    return "known exactly"
