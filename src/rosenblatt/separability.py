"""Can a hyperplane separate two classes? `certify` answers with a proof: a certificate that others can check.

The solvers (`suppliers`) hand over candidates in floating point; `proofs` and `rationals` turn them into claims about
the rows as stored, or refuse to. What neither proves is `Undecided`, with the bounds reached. Nothing here checks a
finished certificate: that is for `verification`, which knows none of this.

>>> certificate = certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
>>> certificate.separable, certificate.margin_squared
(True, Fraction(1, 8))
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np

from rosenblatt import inputs, row_forms
from rosenblatt.certificate_table import CertificateTable
from rosenblatt.certificates import AnyCertificate, Data, Inseparable, JointData, Separable, Undecided
from rosenblatt.checking import canonical, joint_claims, sketches
from rosenblatt.checking.canonical import Signs
from rosenblatt.deciding import joint_separability, row_measures, verdicts
from rosenblatt.deciding.joint_search import JointQuestion
from rosenblatt.deciding.questions import Choices, Question
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, Limit
from rosenblatt.joint_certificates import JointCertificate
from rosenblatt.proving import proofs, rationals
from rosenblatt.proving.near_rows import near_rows
from rosenblatt.searching.suppliers import Supply

__all__ = ["CertificateTable", "certify"]

TwoSided: TypeAlias = Separable | Inseparable | Undecided

# Up to how many numbers something is done that is not needed for the verdict.
_TINY = 4_000  # the whole search in exact arithmetic
_MANY_FEATURES = 600  # features from which on equal rows are looked for first

_LIMITS: dict[str, Limit] = {
    "fit_intercept": inputs.flag(),
    "gap": inputs.number(0, above=True, high=1),
    "exact": Limit(choices=("auto", True, False)),
    "time_limit": inputs.number(0, none=True),
    "multi_class": Limit(choices=("ovr", "ovo", "joint")),
    "n_jobs": Limit(choices=(None,), kind=Integral),
}


def certify(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    gap: float = 1e-6,
    exact: bool | Literal["auto"] = "auto",
    time_limit: float | None = None,
    n_jobs: int | None = None,
    multi_class: Literal["ovr", "ovo", "joint"] = "ovr",
) -> AnyCertificate | CertificateTable:
    """Prove that a hyperplane separates the classes, or that none does.

    With three classes or more: for each against the rest, for each pair, or for all at once.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        The rows. Numbers that float64 cannot hold exactly (2**53 + 1 is the first such integer) are refused: a proof
        about a rounded number is not one about the number.
    y : array of shape (n_rows,)
        The labels: any two, or more (see `multi_class`).
    fit_intercept : bool, default=True
        Whether the hyperplane may have an offset, or must pass through the origin.
    gap : float, default=1e-6
        How near the margin found is to be to the maximum, relatively. The verdict does not depend on it; if the bounds
        cannot be brought so near in float64, the certificate states the gap reached.
    exact : "auto", True or False, default="auto"
        True: answer in exact fractions, with the exact square of the maximum margin; slow unless the data is small.
        False: floats with error bounds only. "auto": exact for tiny data, and for small data where floats do not
        decide, or do not reach the gap.
    time_limit : float, optional
        Seconds after which the search ends, for each of the certificates; then `Undecided` has the bounds reached.
    n_jobs : int, optional
        Threads; -1 for all processors. The answer is the same for any number.
    multi_class : "ovr", "ovo" or "joint", default="ovr"
        With three classes or more: each against the rest, each pair, or all at once: is there one W that gives every
        row the highest score for its own class? With two classes all of these are one question.

    Returns
    -------
    Separable, Inseparable or Undecided
        For two classes. `Separable` and `Inseparable` are returned only when proved.
    CertificateTable
        For three classes or more: a mapping from each class, or pair of classes, to its certificate. Its `joint` is
        the certificate for all at once: found with the others on small data, else when it is first asked for.
    JointSeparable, JointInseparable or JointUndecided
        For three classes or more with ``multi_class="joint"``.

    Examples
    --------
    >>> print(certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
    Not separable: rows 0, 1, 2 and 3 cannot be separated by any hyperplane, so neither can the data.
    ...
    >>> certify([[0, 0], [2, 1], [1, 3]], ["a", "b", "c"], multi_class="joint")
    <JointSeparable: 3 rows, 3 classes, margin 0.825722 to 0.825723>
    """
    given = {"fit_intercept": fit_intercept, "gap": gap, "exact": exact, "time_limit": time_limit}
    inputs.check_parameters("certify", given | {"multi_class": multi_class, "n_jobs": n_jobs}, _LIMITS)
    rows = row_forms.in_order(canonical.exact_rows(X))
    classes, codes = inputs.encode(inputs.labels(y, len(rows)))
    if len(classes) > 2:
        inputs.require_classes(classes)
    names = classes.tolist()
    if len(names) == 1:
        raise InputError(_one_class(names[0], bool(fit_intercept)))
    threads = inputs.threads(n_jobs)
    choices = Choices(bool(fit_intercept), float(gap), exact, time_limit, threads)
    known = canonical.rows_digest(rows, threads=threads)

    def answer(negative: list[int], positive: list[int]) -> TwoSided:
        side = np.zeros(len(names), np.int8)
        side[negative], side[positive] = -1, +1
        sides = side.take(codes)
        parts = [tuple(names[c] for c in np.flatnonzero(side == which)) for which in (-1, +1, 0)]
        data = Data(*rows.shape, parts[0], parts[1], canonical.digest(rows, sides, known=known), parts[2])
        return _with_sketch(_decide(Question(rows, sides, data, choices.started())), rows, sides)

    if len(names) == 2:
        return answer([0], [1])
    of_classes = JointData(*rows.shape, tuple(names), joint_claims.digest(rows, codes, known=known))
    joint = JointQuestion(rows, codes, of_classes, choices)
    if multi_class == "joint":
        return joint_separability.answer(replace(joint, choices=choices.started()))
    every = range(len(names))
    table: dict[Any, Any] = {}
    if multi_class == "ovr":
        for c in every:
            table[names[c]] = answer([other for other in every if other != c], [c])
    else:
        for a, b in itertools.combinations(every, 2):
            table[names[a], names[b]] = answer([a], [b])

    def jointly() -> JointCertificate:
        return joint_separability.answer(replace(joint, choices=choices.started()), table)

    if joint_separability.is_quick(joint, table):
        return CertificateTable(table, jointly())

    def jointly_later() -> JointCertificate:
        if joint_claims.digest(rows, codes, threads=choices.threads) != of_classes.digest:
            raise InputError("X was changed after it was certified: certify it again to have the joint answer")
        return jointly()

    return CertificateTable(table, jointly_later)


def _with_sketch(certificate: TwoSided, rows: inputs.Rows, sides: Signs) -> TwoSided:
    """The certificate, with some rows for a picture: no part of what it claims, of its text or of its comparison."""
    always = certificate.support if isinstance(certificate, Separable) else certificate.points
    object.__setattr__(certificate, "_sketch", sketches.sketch(rows, sides, always))
    return certificate


# The question ---------------------------------------------------------------------------------------------------------


def _decide(question: Question) -> TwoSided:
    rows, choices = question.rows, question.choices
    if (rows.sparse is not None or rows.shape[1] >= _MANY_FEATURES) and question.equal_rows is not None:
        return verdicts.duplicates_found(question, question.equal_rows)
    first = question.supply()
    if _searches_exactly(question):
        answer = _exactly(question, first)
        if answer is not None:
            return answer
    found, tried = _proved(question, first), [first]
    if found is None and not choices.late():
        scales = row_forms.column_scales(rows, choices.intercept)
        if scales is not None:
            second = question.supply(row_forms.scaled(rows, scales))
            second = _mapped_back(second, scales)
            found = _proved(question, second)
            tried.append(second)
    open_still = found is None and choices.exact == "auto" and question.has_time_for_fractions
    coarse = isinstance(found, Separable) and found.gap > choices.gap and question.settles
    if open_still or coarse:
        exactly = _exactly(question, tried[-1])
        found = found if exactly is None else exactly
    return _undecided(question, tried) if found is None else found


def _searches_exactly(question: Question) -> bool:
    exact = question.choices.exact
    return exact is True or (exact == "auto" and question.size <= _TINY)


def _exactly(question: Question, first: Supply) -> TwoSided | None:
    """The answer in fractions; None if time ran out."""
    choices = question.choices
    answer = rationals.min_norm_point(
        question.rows, question.y, intercept=choices.intercept, start=first.rows.tolist(), deadline=choices.deadline
    )
    if answer is None:
        return None
    if answer.separable:
        kind = "free" if choices.intercept else "origin"
        margin = verdicts.exact_margin(question, kind, answer, first)
        return verdicts.separable(question, margin, "rational", exactly=_searches_exactly(question))
    return verdicts.inseparable(question, answer.rows, tuple(answer.weights), "rational", None)


def _proved(question: Question, found: Supply) -> TwoSided | None:
    """What a candidate proves about the rows, if anything."""
    rows, y, choices = question.rows, question.y, question.choices
    if found.w is not None and found.w.any() and (found.lower > 0 or not found.collapsed):
        look = near_rows(rows, y, found.w, found.b, threads=choices.threads)
        plane = proofs.prove_plane(rows, y, found.w, found.b, look=look)
        if plane is not None:
            kind = "free" if choices.intercept else "origin"
            upper = proofs.prove_upper(rows, y, found.rows, found.weights, intercept=choices.intercept)
            margin = verdicts.found_margin(question, kind, Hyperplane(found.w, found.b), plane.margin, upper, found)
            return verdicts.separable(question, margin, plane.proof, exactly=False, look=look)
    return _witness(question, found, choices.exact)


def _witness(question: Question, found: Supply, exact: bool | Literal["auto"]) -> Inseparable | None:
    """What a candidate proves against separation, if anything."""
    if not found.collapsed:
        return None
    choices = question.choices
    witness = proofs.prove_witness(
        question.rows,
        question.y,
        found.rows,
        found.weights,
        intercept=choices.intercept,
        exact=exact,
        deadline=choices.deadline,
        threads=choices.threads,
    )
    if witness is None:
        return None
    weights = witness.floats if witness.weights is None else tuple(witness.weights)
    return verdicts.inseparable(question, witness.rows, weights, witness.proof, witness.overlap)


def find_witness(question: Question) -> tuple[Inseparable | None, bool]:
    """A proof that no hyperplane separates, if one is found; and whether there is none otherwise, as far as is known.

    With a gap of 1 the search ends at the first hyperplane that separates.
    """
    first = question.supply()
    found = _witness(question, first, "auto")
    if found is None and not first.lower > 0 and not question.choices.late():
        scales = row_forms.column_scales(question.rows, question.choices.intercept)
        if scales is not None:
            found = _witness(question, question.supply(row_forms.scaled(question.rows, scales)), "auto")
        if found is None and question.has_time_for_fractions:
            answer = rationals.min_norm_point(
                question.rows,
                question.y,
                intercept=question.choices.intercept,
                start=first.rows.tolist(),
                deadline=question.choices.deadline,
            )
            if answer is not None and answer.separable:
                return None, True
            if answer is not None:
                found = verdicts.inseparable(question, answer.rows, tuple(answer.weights), "rational", None)
    return found, found is not None or first.lower > 0


# Undecided ------------------------------------------------------------------------------------------------------------


def _undecided(question: Question, tried: list[Supply]) -> Undecided | Inseparable:
    rows, y, choices = question.rows, question.y, question.choices
    uppers = [proofs.prove_upper(rows, y, s.rows, s.weights, intercept=choices.intercept) for s in tried]
    best = int(np.argmin(uppers))
    upper, found = uppers[best], tried[best]
    if upper == 0:  # the weights are a witness as they are
        return verdicts.inseparable(question, found.rows, _normalised(found, y, choices.intercept), "rational", None)
    radius = row_measures.radius(rows)
    bounds = [
        (row_measures.certain_lower(rows, y, s.w, s.b, radius), s) for s in tried if s.w is not None and s.w.any()
    ]
    lower, plane = -math.inf, None
    for low, candidate in bounds:
        if low > lower:
            assert candidate.w is not None
            lower, plane = low, Hyperplane(candidate.w, candidate.b)
    if choices.late():
        why = "the time limit was reached"
    elif found.collapsed:
        why = "weights that seem to exclude every hyperplane were found, but could not be proved to"
    else:
        why = "the bounds could not be brought further in float64"
    none = upper == math.inf
    return Undecided(
        question.data,
        lower,
        upper,
        plane,
        np.empty(0, np.int64) if none else question.numbered(found.rows),
        () if none else found.weights,
        choices.intercept,
        why,
        radius,
    )


def _normalised(found: Supply, y: Signs, intercept: bool) -> tuple[Fraction, ...]:
    weights = [Fraction(v) for v in found.weights.tolist()]
    classes = y[found.rows].tolist() if intercept else [1] * len(weights)
    sums = {c: sum(v for v, own in zip(weights, classes, strict=True) if own == c) for c in set(classes)}
    return tuple(v / sums[c] for v, c in zip(weights, classes, strict=True))


def _one_class(name: Any, intercept: bool) -> str:
    if intercept:
        return (
            f"y has one class, {name!r}: with an intercept any hyperplane that has all rows on one side separates, "
            "by any margin, so there is nothing to certify. Two labels at least are needed"
        )
    return (
        f"y has one class, {name!r}, and a certificate speaks of two. Through the origin, a row and its negative with "
        "the other label ask the same: give some rows as -x with another label"
    )


def _mapped_back(found: Supply, scales: FloatArray) -> Supply:
    """The hyperplane of scaled rows as one of the rows themselves: powers of two, so nothing is rounded."""
    if found.w is None:
        return found
    w, shift = row_forms.unscaled(found.w, scales)
    with np.errstate(all="ignore"):
        b = float(np.ldexp(found.b, shift))
    return replace(found, w=w, b=b) if math.isfinite(b) else replace(found, w=None, b=0.0, lower=-math.inf)
