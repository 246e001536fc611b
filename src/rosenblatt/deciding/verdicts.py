"""From what was proved to a certificate: all that it says beside the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from rosenblatt import row_forms
from rosenblatt.certificates import Inseparable, Margin, RationalHyperplane, Separable
from rosenblatt.checking import canonical, rounding
from rosenblatt.checking.canonical import Signs
from rosenblatt.checking.claims import KINDS, Comparison
from rosenblatt.deciding import row_measures
from rosenblatt.deciding.questions import EXACT_FEATURES, Question
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.proving import proofs, rationals
from rosenblatt.proving.near_rows import NearRows
from rosenblatt.searching.suppliers import Supply

# Up to how many numbers something is done that is not needed for the verdict.
_DIAGNOSED = 100_000  # whether inseparable rows are separated weakly
_COMPARED_AT_ONCE = 100_000  # the margins of the other kinds, and what centring would do, with the verdict
_COMPARED = 20_000_000  # the same, when asked for
_COMPARED_WIDE = 2_000_000  # the same, with so many features that a margin takes long
_EVEN = 2.0**40  # between the sizes of features, up to which fractions serve the other margins: beyond they grow long
_MANY_FEATURES = 600


def separable(
    question: Question, margin: Margin, proof: str, *, exactly: bool, look: NearRows | None = None
) -> Separable:
    """The certificate of a proved margin, and the other margins: at once, when asked for, or never, by the size."""
    data, intercept, size = question.data, question.choices.intercept, question.size
    margins, radius = {margin.kind: margin}, row_measures.radius(question.rows, look)
    if size > (_COMPARED if question.rows.shape[1] <= _MANY_FEATURES else _COMPARED_WIDE):
        return Separable(data, margins, radius, intercept, proof)
    if size > _COMPARED_AT_ONCE:
        return Separable(data, margins, radius, intercept, proof, later=_when_asked(question, margin.kind, exactly))
    if question.choices.late():
        return Separable(data, margins, radius, intercept, proof)
    beside = _compared(question, margin.kind, exactly)
    margins |= beside.margins
    return Separable(
        data, margins, radius, intercept, proof, centre=beside.centre, centred_radius=beside.centred_radius
    )


def _when_asked(question: Question, kind: str, exactly: bool) -> Callable[[], Comparison]:
    """What `_compared` finds, later, if the data is still what it was."""
    whole, sides, data, choices = question.whole, question.sides, question.data, question.choices

    def compare() -> Comparison:
        if canonical.digest(whole, sides, threads=choices.threads) != data.digest:
            raise InputError(
                "X was changed in place after it was certified, so its other margins and mistake bounds can no longer "
                "be computed: certify it anew, or ask for .margins before X is changed"
            )
        return _compared(Question(whole, sides, data, choices.started()), kind, exactly)

    return compare


def _compared(question: Question, asked: str, exactly: bool) -> Comparison:
    """The margins of the other kinds, and what centring would do."""
    margins = {}
    for kind in KINDS:
        other = None if kind == asked else _other_margin(question, kind, exactly)
        if other is not None:
            margins[kind] = other
    return Comparison(margins, *row_measures.centred_radius(question.rows))


def found_margin(question: Question, kind: str, plane: Hyperplane, lower: float, upper: float, found: Supply) -> Margin:
    """The margin of a proved hyperplane, and the upper bound if there is one."""
    if upper == math.inf:
        return Margin(kind, plane, lower)
    return Margin(kind, plane, lower, upper, question.numbered(found.rows), found.weights)


def exact_margin(question: Question, kind: str, answer: rationals.ExactAnswer, found: Supply) -> Margin:
    """The margin of an exact answer, and beside its hyperplane one in floats, if one separates."""
    augmented = kind == "augmented"
    w, b = (answer.w[:-1], answer.w[-1]) if augmented else (answer.w, answer.b)
    exact = RationalHyperplane(tuple(w), b)
    squared = answer.margin_squared
    plane, lower = None, rounding.root_down(squared)
    candidates = []
    if any(w):
        candidates.append(exact.rounded())
    if found.w is not None:
        candidates.append(Hyperplane(found.w[:-1], float(found.w[-1])) if augmented else Hyperplane(found.w, found.b))
    if any(w):  # where rounding decides, a multiple may be rounded better
        candidates += [RationalHyperplane(tuple(k * v for v in w), k * b).rounded() for k in range(3, 33, 2)]
    for candidate in candidates:
        normal, offset = candidate.w, candidate.b
        if not normal.any():
            continue
        proof = proofs.prove_plane(question.rows, question.y, normal, offset, threads=question.choices.threads)
        if proof is not None:
            own = _augmented_margin(proof.numerator, normal, offset) if augmented else proof.margin
            plane, lower = Hyperplane(normal, offset), min(lower, own)
            break
    support = question.numbered(answer.rows)
    return Margin(kind, plane, lower, rounding.root_up(squared), support, tuple(answer.weights), exact, squared)


def _other_margin(question: Question, kind: str, exactly: bool) -> Margin | None:
    """The margin of another kind than was asked for; None if there is none, or none was proved."""
    rows, y, choices = question.rows, question.y, question.choices
    intercept, augmented = kind == "free", kind == "augmented"
    asked = row_forms.with_constant(rows) if augmented else rows
    found = question.supply(asked, intercept=intercept)
    if not exactly:
        if found.w is None or not found.lower > 0:
            return None
        w, b = (found.w[:-1], float(found.w[-1])) if augmented else (found.w, found.b)
        proof = proofs.prove_plane(rows, y, w, b, threads=choices.threads) if w.any() else None
        if proof is None:
            return None
        lower = _augmented_margin(proof.numerator, w, b) if augmented else proof.margin
        upper = proofs.prove_upper(asked, y, found.rows, found.weights, intercept=intercept)
        margin = found_margin(question, kind, Hyperplane(w, b), lower, upper, found)
        if margin.gap <= choices.gap or not (question.settles and _is_even(question)):
            return margin
    answer = rationals.min_norm_point(
        asked, y, intercept=intercept, start=found.rows.tolist(), deadline=choices.deadline
    )
    if answer is None or not answer.separable or (augmented and not any(answer.w[:-1])):
        return None if exactly else margin
    return exact_margin(question, kind, answer, found)


def _is_even(question: Question) -> bool:
    scales = row_forms.column_scales(question.rows, intercept=False)
    return scales is None or float(scales.max()) <= _EVEN * float(scales.min())


def _augmented_margin(numerator: Fraction, w: FloatArray, b: float) -> float:
    return rounding.root_down(numerator**2 / (rounding.squared_norm(w) + Fraction(b) ** 2))


def inseparable(question: Question, points: IntArray, weights: Any, proof: str, overlap: bool | None) -> Inseparable:
    """The certificate of a proved witness; if there are equal rows with opposite labels, of these."""
    pair = question.equal_rows
    if pair is not None:
        return duplicates_found(question, pair)
    return _witness(question, points, weights, proof, overlap, duplicates=False)


def duplicates_found(question: Question, pair: IntArray) -> Inseparable:
    """The certificate of two equal rows with opposite labels."""
    one = Fraction(1) if question.choices.intercept else Fraction(1, 2)
    return _witness(question, pair, (one, one), "rational", None, duplicates=True)


def _witness(
    question: Question, points: IntArray, weights: Any, proof: str, overlap: bool | None, *, duplicates: bool
) -> Inseparable:
    rows, y, choices = question.rows, question.y, question.choices
    weak: Hyperplane | RationalHyperplane | None = None
    small = question.size <= _DIAGNOSED and rows.shape[1] <= EXACT_FEATURES
    if overlap is None and small and choices.exact is not False and not choices.late():
        found = proofs.weakly_separates(rows, y, points, intercept=choices.intercept, deadline=choices.deadline)
        if found.status == "weak" and found.w is not None and found.b is not None and any(found.w):
            floats = found.floats()
            weak = RationalHyperplane(tuple(found.w), found.b) if floats is None else Hyperplane(*floats)
        elif found.status == "overlap" and _span_the_space(rows, y, points, choices.intercept):
            overlap = True
    return Inseparable(
        question.data,
        question.numbered(points),
        y[points],
        weights,
        choices.intercept,
        proof,
        duplicates,
        weak,
        overlap,
    )


def _span_the_space(rows: Rows, y: Signs, points: IntArray, intercept: bool) -> bool:
    size = rows.shape[1] + int(intercept)
    if len(points) < size:
        return False
    named = [rationals.row_point(rows, int(i), constant=intercept) for i in points]
    return rationals.rank([[point.values.get(j, 0) for j in range(size)] for point in named]) == size
