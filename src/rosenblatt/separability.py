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
import time
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import canonical, inputs, proofs, rationals, row_forms, row_measures, verdicts
from rosenblatt.canonical import Signs
from rosenblatt.certificate_table import AnyCertificate, CertificateTable
from rosenblatt.certificates import Data, Inseparable, Separable, Undecided
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, Limit, Rows
from rosenblatt.questions import Choices, Question
from rosenblatt.suppliers import Supply

__all__ = ["CertificateTable", "certify"]

# Up to how many numbers something is done that is not needed for the verdict.
_TINY = 4_000  # the whole search in exact arithmetic
_SETTLED = 40_000  # the same, when floats did not decide
_EXACT_FEATURES = 60  # features up to which these exact searches end soon
_MANY_FEATURES = 600  # features from which on equal rows are looked for first

_LIMITS: dict[str, Limit] = {
    "fit_intercept": inputs.flag(),
    "gap": inputs.number(0, above=True, high=1),
    "exact": Limit(choices=("auto", True, False)),
    "time_limit": inputs.number(0, none=True),
    "multi_class": Limit(choices=("ovr", "ovo")),
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
    multi_class: Literal["ovr", "ovo"] = "ovr",
) -> Separable | Inseparable | Undecided | CertificateTable:
    """Prove that a hyperplane separates the classes, or that none does.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        The rows. Numbers that float64 cannot hold exactly (integers beyond 2**53) are refused: a proof about a rounded
        number is not one about the number.
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
    multi_class : "ovr" or "ovo", default="ovr"
        With three classes or more: each against the rest, or each pair.

    Returns
    -------
    Separable, Inseparable or Undecided
        For two classes. `Separable` and `Inseparable` are returned only when proved.
    CertificateTable
        For three classes or more: a mapping from each class, or pair of classes, to its certificate.

    Examples
    --------
    >>> print(certify([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]))
    Not separable: rows 0, 1, 2 and 3 cannot be separated by any hyperplane, so neither can the data.
    ...
    """
    given = {"fit_intercept": fit_intercept, "gap": gap, "exact": exact, "time_limit": time_limit}
    inputs.check_parameters("certify", given | {"multi_class": multi_class, "n_jobs": n_jobs}, _LIMITS)
    rows = row_forms.in_order(canonical.exact_rows(X))
    classes, codes = inputs.encode(inputs.labels(y, len(rows)))
    names = classes.tolist()
    if len(names) == 1:
        raise InputError(_one_class(names[0], bool(fit_intercept)))
    from joblib import effective_n_jobs

    choices = Choices(bool(fit_intercept), float(gap), exact, None, int(effective_n_jobs(n_jobs)))

    def answer(negative: list[int], positive: list[int]) -> AnyCertificate:
        started = replace(choices, deadline=None if time_limit is None else time.monotonic() + time_limit)
        return _answer(rows, codes, names, negative, positive, started)

    if len(names) == 2:
        return answer([0], [1])
    every = range(len(names))
    table: dict[Any, AnyCertificate] = {}
    if multi_class == "ovr":
        for c in every:
            table[names[c]] = answer([other for other in every if other != c], [c])
    else:
        for a, b in itertools.combinations(every, 2):
            table[names[a], names[b]] = answer([a], [b])
    return CertificateTable(table)


# The question ---------------------------------------------------------------------------------------------------------


def _answer(
    rows: Rows, codes: NDArray[Any], names: list[Any], negative: list[int], positive: list[int], choices: Choices
) -> AnyCertificate:
    sides = np.where(np.isin(codes, positive), 1, np.where(np.isin(codes, negative), -1, 0)).astype(np.int8)
    ignored = [c for c in range(len(names)) if c not in negative and c not in positive]
    (n, d), parts = rows.shape, (negative, positive, ignored)
    named = [tuple(names[c] for c in part) for part in parts]
    data = Data(n, d, named[0], named[1], canonical.digest(rows, sides, threads=choices.threads), named[2])
    ids = None
    if ignored:
        ids = np.flatnonzero(sides)
        rows, sides = row_forms.some_rows(rows, ids), sides[ids]
    return _decide(Question(rows, sides, ids, data, choices))


def _decide(question: Question) -> AnyCertificate:
    rows, y, choices = question.rows, question.y, question.choices
    looked = rows.sparse is not None or rows.shape[1] >= _MANY_FEATURES
    if looked:
        pair = row_measures.equal_rows(rows, y)
        if pair is not None:
            return verdicts.duplicates_found(question, pair)
    first = question.supply()
    if choices.exact is True or (choices.exact == "auto" and question.size <= _TINY):
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
    settled = choices.exact == "auto" and question.size <= _SETTLED and rows.shape[1] <= _EXACT_FEATURES
    coarse = found is None or (isinstance(found, Separable) and found.gap > choices.gap)
    if coarse and settled and not choices.late():
        exactly = _exactly(question, tried[-1])
        found = found if exactly is None else exactly
    return _undecided(question, tried) if found is None else found


def _exactly(question: Question, first: Supply) -> AnyCertificate | None:
    """The answer in fractions; None if time ran out."""
    choices = question.choices
    answer = rationals.min_norm_point(
        question.rows, question.y, intercept=choices.intercept, start=first.rows.tolist(), deadline=choices.deadline
    )
    if answer is None:
        return None
    if answer.separable:
        kind = "free" if choices.intercept else "origin"
        return verdicts.separable(
            question, verdicts.exact_margin(question, kind, answer, first), "rational", exactly=True
        )
    return verdicts.inseparable(question, answer.rows, tuple(answer.weights), "rational", None)


def _proved(question: Question, found: Supply) -> AnyCertificate | None:
    """What a candidate proves about the rows, if anything."""
    rows, y, choices = question.rows, question.y, question.choices
    if found.w is not None and found.w.any() and (found.lower > 0 or not found.collapsed):
        plane = proofs.prove_plane(rows, y, found.w, found.b)
        if plane is not None:
            kind = "free" if choices.intercept else "origin"
            upper = proofs.prove_upper(rows, y, found.rows, found.weights, intercept=choices.intercept)
            margin = verdicts.found_margin(question, kind, Hyperplane(found.w, found.b), plane.margin, upper, found)
            return verdicts.separable(question, margin, plane.proof, exactly=False)
    return _witness(question, found, choices.exact)


def _witness(question: Question, found: Supply, exact: bool | Literal["auto"]) -> Inseparable | None:
    """What a candidate proves against separation, if anything."""
    if not found.collapsed:
        return None
    witness = proofs.prove_witness(
        question.rows, question.y, found.rows, found.weights, intercept=question.choices.intercept, exact=exact
    )
    if witness is None:
        return None
    weights = witness.floats if witness.weights is None else tuple(witness.weights)
    return verdicts.inseparable(question, witness.rows, weights, witness.proof, witness.overlap)


def find_witness(question: Question) -> Inseparable | None:
    """A proof that no hyperplane separates, if one is found; if none is, nothing is said.

    With a gap of 1 the search ends at the first hyperplane that separates.
    """
    first = question.supply()
    found = _witness(question, first, "auto")
    if found is None and not first.lower > 0 and not question.choices.late():
        scales = row_forms.column_scales(question.rows, question.choices.intercept)
        if scales is not None:
            found = _witness(question, question.supply(row_forms.scaled(question.rows, scales)), "auto")
    return found


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
    exponents = np.frexp(found.w)[1] + np.frexp(scales)[1]
    shift = -int(exponents[found.w != 0].max(initial=0))  # the largest weight becomes about 1
    with np.errstate(all="ignore"):
        w, b = np.ldexp(found.w, np.frexp(scales)[1] - 1 + shift), float(np.ldexp(found.b, shift))
    return replace(found, w=w, b=b) if math.isfinite(b) else replace(found, w=None, b=0.0, lower=-math.inf)
