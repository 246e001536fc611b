"""Is there one W whose highest score is right for every row? Answered as one question through the origin (`kesler`).

What the search (`joint_search`) hands over is proved as for two classes, on the vectors of the pairs that matter, or
it is not believed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt import row_forms
from rosenblatt.certificates import (
    Inseparable,
    JointInseparable,
    JointSeparable,
    JointUndecided,
    Margin,
    RationalHyperplane,
    Separable,
)
from rosenblatt.checking import rounding
from rosenblatt.deciding import joint_search, kesler, row_measures
from rosenblatt.deciding.joint_search import Candidate, JointQuestion
from rosenblatt.deciding.kesler import Pairs
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.proving import enclosures, proofs, rationals

_QUICK = 1_000_000  # numbers in all vectors, and in one, up to which a table is given the joint answer at once
_QUICK_LENGTH = 300
_MANY_FEATURES = 600  # features from which on equal rows are looked for first
# Up to how many numbers in all vectors, and in one, the search is done in exact arithmetic.
_TINY = 4_000
_SETTLED = 40_000
_EXACT_LENGTH = 60


def answer(
    question: JointQuestion, table: Mapping[Any, Any] | None = None
) -> JointSeparable | JointInseparable | JointUndecided:
    """The joint certificate; a table of the same data may have proved it already.

    A pair of classes that cannot be separated is a witness as it is. Hyperplanes that separate each class from the
    rest have all rows right, if not by the largest margin: they are tried when nothing else is proved.
    """
    rows, choices = question.rows, question.choices
    if table is not None:
        known = _from_pairs(question, table)
        if known is not None:
            return known
    if rows.sparse is not None or rows.shape[1] >= _MANY_FEATURES:
        pair = row_measures.equal_rows(rows, question.codes)
        if pair is not None:
            return _duplicates(question, pair)
    first = joint_search.search(question, rows)
    if choices.exact is True or (choices.exact == "auto" and _is_small(question, _TINY)):
        exactly = _exactly(question, first)
        if exactly is not None:
            return exactly
    found, tried = _proved(question, first), [first]
    if found is None and not choices.late():
        scales = row_forms.column_scales(rows, choices.intercept)
        if scales is not None:
            tried.append(joint_search.scaled_search(question, scales))
            found = _proved(question, tried[-1])
    coarse = found is None or (isinstance(found, JointSeparable) and found.gap > choices.gap)
    if coarse and choices.exact == "auto" and _is_small(question, _SETTLED) and not choices.late():
        exactly = _exactly(question, tried[-1])
        found = found if exactly is None else exactly
    if found is None and table is not None:
        found = _from_rest(question, table, first)
    return _undecided(question, tried) if found is None else found


def is_quick(question: JointQuestion, table: Mapping[Any, Any]) -> bool:
    """Whether the answer is found in about a second, or is known from the table."""
    known = any(certificate.separable is False and certificate.data.ignored for certificate in table.values())
    return known or (question.size <= _QUICK and question.n_classes * question.width <= _QUICK_LENGTH)


def _is_small(question: JointQuestion, most: int) -> bool:
    return question.size <= most and question.n_classes * question.width <= _EXACT_LENGTH


# Proofs ---------------------------------------------------------------------------------------------------------------


def _proved(question: JointQuestion, found: Candidate) -> JointSeparable | JointInseparable | None:
    """What a candidate proves about the rows, if anything."""
    if found.w is not None:
        proof = _prove_margin(question, found.w)
        if proof is not None:
            upper = _prove_upper(question, found)
            plane = Hyperplane(found.w)
            if upper == math.inf:
                return _separable(question, Margin("origin", plane, proof.margin), Pairs(*_NONE), proof.proof)
            margin = Margin("origin", plane, proof.margin, upper, found.pairs.rows, found.weights)
            return _separable(question, margin, found.pairs, proof.proof)
    return _prove_witness(question, found.pairs, found.weights) if found.collapsed else None


_NONE = np.empty(0, np.int64), np.empty(0, np.int64)


def _leads(question: JointQuestion, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The lead of each row's own class over the highest rival, in floats, and a bound of its error."""
    n = len(question.rows)
    own, highest, bounds = np.empty(n), np.full(n, -math.inf), np.zeros(n)
    W, b = question.table(w)
    with np.errstate(all="ignore"):
        for k in range(question.n_classes):
            for part, values, bound in enclosures.scores(question.rows, W[k], float(b[k])):
                mine = question.codes[part] == k
                own[part][mine] = values[mine]
                values[mine] = -math.inf
                np.maximum(highest[part], values, out=highest[part])
                np.maximum(bounds[part], bound, out=bounds[part])
        return own - highest, 2 * bounds  # each of the two has room for a rounding


def _prove_margin(question: JointQuestion, w: FloatArray) -> proofs.PlaneProof | None:
    """Prove that every row's own class leads, with the least lead exactly; None: some row's does not.

    Floats with error bounds leave few rows open; the vectors of these go to `proofs.prove_plane`.
    """
    leads, bounds = _leads(question, w)
    with np.errstate(all="ignore"):
        highest = leads + bounds
        if (highest < 0).any():
            return None
        closest = float(np.fmin.reduce(highest, initial=math.inf))
        ids = np.flatnonzero(~(leads - bounds > max(closest, 0.0)))
    step = max(1, len(leads) * joint_search.EXPANDED // max(1, question.size))
    best: proofs.PlaneProof | None = None
    for first in range(0, len(ids), step):
        pairs = kesler.all_pairs(ids[first : first + step], question.codes, question.n_classes)
        proof = proofs.prove_plane(question.vectors(pairs), np.ones(len(pairs)), w, 0.0)
        if proof is None:
            return None
        lower = proof if best is None or proof.numerator < best.numerator else best
        rational = "rational" in (proof.proof, "filter" if best is None else best.proof)
        best = replace(lower, proof="rational" if rational else "filter")
    return best


def _prove_upper(question: JointQuestion, found: Candidate) -> float:
    if len(found.pairs) == 0:
        return math.inf
    ids = np.arange(len(found.pairs))
    return proofs.prove_upper(question.vectors(found.pairs), np.ones(len(ids)), ids, found.weights, intercept=False)


def _prove_witness(question: JointQuestion, pairs: Pairs, weights: FloatArray) -> JointInseparable | None:
    vectors = kesler.independent_vectors(
        question.rows, question.codes, pairs, question.n_classes, intercept=question.choices.intercept
    )
    ids = np.arange(len(pairs))
    choices = question.choices
    proof = proofs.prove_witness(
        vectors,
        np.ones(len(ids)),
        ids,
        weights,
        intercept=False,
        exact=choices.exact,
        deadline=choices.deadline,
        threads=choices.threads,
    )
    if proof is None:
        return None
    proved: Any = proof.floats if proof.weights is None else tuple(proof.weights)
    return _inseparable(question, pairs.some(proof.rows), proved, proof.proof)


def _exactly(question: JointQuestion, found: Candidate) -> JointSeparable | JointInseparable | None:
    """The answer in fractions; None if time ran out."""
    K = question.n_classes
    pairs = kesler.all_pairs(np.arange(len(question.rows)), question.codes, K)
    start = np.searchsorted(pairs.numbers(), found.pairs.numbers())
    vectors, deadline = question.vectors(pairs), question.choices.deadline
    ones = np.ones(len(pairs))
    exact = rationals.min_norm_point(vectors, ones, intercept=False, start=start.tolist(), deadline=deadline)
    if exact is None:
        return None
    support = pairs.some(exact.rows)
    if not exact.separable:
        return _inseparable(question, support, tuple(exact.weights), "rational")
    squared, plane = exact.margin_squared, RationalHyperplane(tuple(exact.w))
    rounded, lower = None, rounding.root_down(squared)
    for w in (plane.rounded().w, found.w):
        proof = _prove_margin(question, w) if w is not None and w.any() else None
        if w is not None and proof is not None:
            rounded, lower = Hyperplane(w), min(lower, proof.margin)
            break
    weights, upper = tuple(exact.weights), rounding.root_up(squared)
    return _separable(
        question, Margin("origin", rounded, lower, upper, support.rows, weights, plane, squared), support, "rational"
    )


# What a table of two-sided certificates proves ------------------------------------------------------------------------


def _from_pairs(question: JointQuestion, table: Mapping[Any, Any]) -> JointInseparable | None:
    """The witness against a pair of classes, as one against all: each of its rows has the other class for a rival."""
    for certificate in table.values():
        if not isinstance(certificate, Inseparable) or not certificate.data.ignored:
            continue
        own = question.codes[certificate.points].astype(np.int64)
        classes = np.unique(own)
        if len(classes) != 2:
            continue
        pairs = Pairs(certificate.points, classes.sum() - own)
        parts = 2 if certificate.fit_intercept else 1  # the weights of each class sum to 1, or all together
        if certificate.duplicates or certificate.proof == "rational":
            weights = tuple(Fraction(weight) / parts for weight in certificate.weights)
            return _witness(question, pairs, weights, "rational", duplicates=certificate.duplicates)
        proved = _prove_witness(question, pairs, np.asarray(certificate.weights, np.float64) / parts)
        if proved is not None:
            return proved
    return None


def _from_rest(question: JointQuestion, table: Mapping[Any, Any], found: Candidate) -> JointSeparable | None:
    """Hyperplanes that separate each class from the rest: together they are a W that has all rows right."""
    planes = [table.get(name) for name in question.data.classes]
    if not all(isinstance(plane, Separable) and plane.margin > 0 for plane in planes):
        return None
    W = [np.append(p.w, p.b)[: question.width] for p in (plane.canonical for plane in planes if plane is not None)]
    certificate = _proved(question, replace(found, w=np.concatenate(W), collapsed=False))
    return certificate if isinstance(certificate, JointSeparable) else None


# Certificates ---------------------------------------------------------------------------------------------------------


def _separable(question: JointQuestion, margin: Margin, pairs: Pairs, proof: str) -> JointSeparable:
    radius = row_measures.radius(question.rows)
    return JointSeparable(question.data, margin, pairs.rivals, radius, question.choices.intercept, proof)


def _inseparable(question: JointQuestion, pairs: Pairs, weights: Any, proof: str) -> JointInseparable:
    """The certificate of a proved witness; if there are equal rows with different labels, of these."""
    equal = row_measures.equal_rows(question.rows, question.codes)
    if equal is not None:
        return _duplicates(question, equal)
    return _witness(question, pairs, weights, proof, duplicates=False)


def _duplicates(question: JointQuestion, pair: IntArray) -> JointInseparable:
    rivals = question.codes[pair[::-1]].astype(np.int64)
    half = Fraction(1, 2)
    return _witness(question, Pairs(pair, rivals), (half, half), "rational", duplicates=True)


def _witness(question: JointQuestion, pairs: Pairs, weights: Any, proof: str, *, duplicates: bool) -> JointInseparable:
    intercept = question.choices.intercept
    return JointInseparable(question.data, pairs.rows, pairs.rivals, weights, intercept, proof, duplicates)


def _undecided(question: JointQuestion, tried: list[Candidate]) -> JointUndecided | JointInseparable:
    choices = question.choices
    uppers = [_prove_upper(question, found) for found in tried]
    found, upper = tried[int(np.argmin(uppers))], min(uppers)
    if upper == 0:  # the weights are a witness as they are
        weights = [Fraction(v) for v in found.weights.tolist()]
        total = sum(weights)
        return _inseparable(question, found.pairs, tuple(v / total for v in weights), "rational")
    lower, plane = -math.inf, None
    for candidate in tried:
        if candidate.w is not None:
            leads, bounds = _leads(question, candidate.w)
            with np.errstate(all="ignore"):
                least = float((leads - bounds).min()) / float(np.linalg.norm(candidate.w))
                least -= abs(least) * 1e-12
            if math.isfinite(least) and least > lower:
                lower, plane = least, Hyperplane(candidate.w)
    if choices.late():
        why = "the time limit was reached"
    elif found.collapsed:
        why = "weights that seem to exclude every W were found, but could not be proved to"
    else:
        why = "the bounds could not be brought further in float64"
    none = upper == math.inf
    pairs = Pairs(*_NONE) if none else found.pairs
    weights_found: Any = () if none else found.weights
    radius = row_measures.radius(question.rows)
    return JointUndecided(
        question.data, lower, upper, plane, pairs.rows, pairs.rivals, weights_found, choices.intercept, why, radius
    )
