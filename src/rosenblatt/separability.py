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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine, canonical, certificate_words, inputs, proofs, rationals, rounding, suppliers
from rosenblatt.canonical import Signs
from rosenblatt.certificates import (
    Data,
    Inseparable,
    Margin,
    RationalHyperplane,
    Separable,
    Undecided,
    Verification,
)
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray, Limit, Rows
from rosenblatt.suppliers import Supply

__all__ = ["CertificateTable", "certify"]

AnyCertificate: TypeAlias = Separable | Inseparable | Undecided

# Up to how many numbers something is done that is not needed for the verdict.
_TINY = 4_000  # the whole search in exact arithmetic
_SETTLED = 40_000  # the same, when floats did not decide
_DIAGNOSED = 100_000  # whether inseparable rows are separated weakly
_COMPARED = 2_000_000  # the margins of the other kinds, and what centring would do
_EXACT_FEATURES = 60  # features up to which these exact searches end soon
_MANY_FEATURES = 600  # features from which on equal rows are looked for first
_NEAREST = 2_000  # rows whose length is computed exactly, of those that may be the longest

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
    rows = _in_order(canonical.exact_rows(X))
    classes, codes = inputs.encode(inputs.labels(y, len(rows)))
    names = classes.tolist()
    if len(names) == 1:
        raise InputError(_one_class(names[0], bool(fit_intercept)))
    from joblib import effective_n_jobs

    choices = _Choices(bool(fit_intercept), float(gap), exact, None, int(effective_n_jobs(n_jobs)))

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


class CertificateTable(Mapping[Any, AnyCertificate]):
    """Certificates of several questions about one data set: by class (against the rest), or by pair of classes.

    `separable` is True if every one is, False if one is proved not to be, None otherwise.
    """

    def __init__(self, certificates: Mapping[Any, AnyCertificate]) -> None:
        """Keep the certificates, in their order."""
        self._certificates: dict[Any, AnyCertificate] = dict(certificates)

    def __getitem__(self, key: Any) -> AnyCertificate:
        return self._certificates[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._certificates)

    def __len__(self) -> int:
        return len(self._certificates)

    @property
    def separable(self) -> bool | None:
        """Whether all are separable: True or False if proved, else None."""
        verdicts = {certificate.separable for certificate in self.values()}
        return False if False in verdicts else None if None in verdicts else True

    def verify(self, X: Any, y: Any) -> dict[Any, Verification]:
        """Check every certificate against the data."""
        return {key: certificate.verify(X, y) for key, certificate in self.items()}

    def __str__(self) -> str:
        names = [" | ".join(map(str, key)) if isinstance(key, tuple) else f"{key} | rest" for key in self]
        width = max(map(len, names))
        lines = [f"{name:<{width}}  {_line(c)}" for name, c in zip(names, self.values(), strict=True)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        counts = [sum(c.separable is verdict for c in self.values()) for verdict in (True, False, None)]
        return f"<CertificateTable: {counts[0]} separable, {counts[1]} not, {counts[2]} undecided>"


def _line(certificate: AnyCertificate) -> str:
    if isinstance(certificate, Separable):
        return f"separable, margin {certificate_words.at_least(certificate.margin)}"
    if isinstance(certificate, Inseparable):
        count = len(certificate.points)
        return f"not separable, {'two equal rows' if certificate.duplicates else f'{count} rows'} prove it"
    return f"undecided, margin at most {certificate_words.at_most(certificate.upper)}"


# The question ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Choices:
    intercept: bool
    gap: float
    exact: bool | Literal["auto"]
    deadline: float | None
    threads: int

    def late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


@dataclass(frozen=True)
class _Question:
    """Rows of two sides, what they are a part of, and how to answer."""

    rows: Rows
    y: Signs  # -1 and +1
    ids: IntArray | None  # the numbers of the rows in the data, if they are not all of it
    data: Data
    choices: _Choices

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.rows) * self.rows.shape[1]

    def numbered(self, rows: IntArray) -> IntArray:
        """The rows' numbers in the data."""
        return rows if self.ids is None else self.ids[rows]

    def supply(self, rows: Rows | None = None, *, intercept: bool | None = None) -> Supply:
        """Candidates in floats, for these rows or others in their place; lower and upper only tell by their signs."""
        choices = self.choices
        rows = self.rows if rows is None else rows
        unit = _unit(rows)
        with np.errstate(all="ignore"):
            found = suppliers.supply(
                rows if unit == 1 else _scaled(rows, np.full(rows.shape[1], 1 / unit)),
                self.y,
                intercept=choices.intercept if intercept is None else intercept,
                gap=choices.gap,
                deadline=choices.deadline,
                threads=choices.threads,
            )
            found = replace(found, b=found.b * unit)
        if found.w is not None and not (np.isfinite(found.w).all() and math.isfinite(found.b)):
            found = replace(found, w=None, b=0.0, lower=-math.inf)
        good = np.isfinite(found.weights) & (found.weights > 0)
        return replace(found, rows=found.rows[good], weights=found.weights[good])


def _answer(
    rows: Rows, codes: NDArray[Any], names: list[Any], negative: list[int], positive: list[int], choices: _Choices
) -> AnyCertificate:
    sides = np.where(np.isin(codes, positive), 1, np.where(np.isin(codes, negative), -1, 0)).astype(np.int8)
    ignored = [c for c in range(len(names)) if c not in negative and c not in positive]
    (n, d), parts = rows.shape, (negative, positive, ignored)
    named = [tuple(names[c] for c in part) for part in parts]
    data = Data(n, d, named[0], named[1], canonical.digest(rows, sides, threads=choices.threads), named[2])
    ids = None
    if ignored:
        ids = np.flatnonzero(sides)
        rows, sides = _some(rows, ids), sides[ids]
    return _decide(_Question(rows, sides, ids, data, choices))


def _decide(question: _Question) -> AnyCertificate:
    rows, y, choices = question.rows, question.y, question.choices
    looked = rows.sparse is not None or rows.shape[1] >= _MANY_FEATURES
    if looked:
        pair = _equal_rows(rows, y)
        if pair is not None:
            return _duplicates(question, pair)
    first = question.supply()
    if choices.exact is True or (choices.exact == "auto" and question.size <= _TINY):
        answer = _exactly(question, first)
        if answer is not None:
            return answer
    found, tried = _proved(question, first), [first]
    if found is None and not choices.late():
        scales = _column_scales(rows, choices.intercept)
        if scales is not None:
            second = question.supply(_scaled(rows, scales))
            second = _mapped_back(second, scales)
            found = _proved(question, second)
            tried.append(second)
    settled = choices.exact == "auto" and question.size <= _SETTLED and rows.shape[1] <= _EXACT_FEATURES
    coarse = found is None or (isinstance(found, Separable) and found.gap > choices.gap)
    if coarse and settled and not choices.late():
        exactly = _exactly(question, tried[-1])
        found = found if exactly is None else exactly
    return _undecided(question, tried) if found is None else found


def _exactly(question: _Question, first: Supply) -> AnyCertificate | None:
    """The answer in fractions; None if time ran out."""
    choices = question.choices
    answer = rationals.min_norm_point(
        question.rows, question.y, intercept=choices.intercept, start=first.rows.tolist(), deadline=choices.deadline
    )
    if answer is None:
        return None
    if answer.separable:
        kind = "free" if choices.intercept else "origin"
        return _separable(question, _exact_margin(question, kind, answer, first), "rational", exactly=True)
    return _inseparable(question, answer.rows, tuple(answer.weights), "rational", None)


def _proved(question: _Question, found: Supply) -> AnyCertificate | None:
    """What a candidate proves about the rows, if anything."""
    rows, y, choices = question.rows, question.y, question.choices
    if found.w is not None and found.w.any() and (found.lower > 0 or not found.collapsed):
        plane = proofs.prove_plane(rows, y, found.w, found.b)
        if plane is not None:
            kind = "free" if choices.intercept else "origin"
            upper = proofs.prove_upper(rows, y, found.rows, found.weights, intercept=choices.intercept)
            margin = _margin(question, kind, Hyperplane(found.w, found.b), plane.margin, upper, found)
            return _separable(question, margin, plane.proof, exactly=False)
    if found.collapsed:
        witness = proofs.prove_witness(
            rows, y, found.rows, found.weights, intercept=choices.intercept, exact=choices.exact
        )
        if witness is not None:
            weights = witness.floats if witness.weights is None else tuple(witness.weights)
            return _inseparable(question, witness.rows, weights, witness.proof, witness.overlap)
    return None


# Separable ------------------------------------------------------------------------------------------------------------


def _separable(question: _Question, margin: Margin, proof: str, *, exactly: bool) -> Separable:
    intercept = question.choices.intercept
    margins = {margin.kind: margin}
    if question.size <= _COMPARED and not question.choices.late():
        for kind in ("free", "origin", "augmented"):
            if kind not in margins:
                other = _other_margin(question, kind, exactly)
                if other is not None:
                    margins[kind] = other
    centre, centred = _centred_radius(question.rows) if question.size <= _COMPARED else (None, None)
    return Separable(
        question.data, margins, _radius(question.rows), intercept, proof, centre=centre, centred_radius=centred
    )


def _margin(question: _Question, kind: str, plane: Hyperplane, lower: float, upper: float, found: Supply) -> Margin:
    if upper == math.inf:
        return Margin(kind, plane, lower)
    return Margin(kind, plane, lower, upper, question.numbered(found.rows), found.weights)


def _exact_margin(question: _Question, kind: str, answer: rationals.ExactAnswer, found: Supply) -> Margin:
    """The margin of an exact answer, and beside its hyperplane one in floats, if one separates."""
    augmented = kind == "augmented"
    w, b = (answer.w[:-1], answer.w[-1]) if augmented else (answer.w, answer.b)
    exact = RationalHyperplane(tuple(w), b)
    squared = answer.margin_squared
    plane, lower = None, rounding.root_down(squared)
    candidates = []
    if any(w):
        rounded = exact.rounded()
        candidates.append((rounded.w, rounded.b))
    if found.w is not None:
        candidates.append((found.w[:-1], float(found.w[-1])) if augmented else (found.w, found.b))
    for normal, offset in candidates:
        if not normal.any():
            continue
        proof = proofs.prove_plane(question.rows, question.y, normal, offset)
        if proof is not None:
            own = _augmented_margin(proof.numerator, normal, offset) if augmented else proof.margin
            plane, lower = Hyperplane(normal, offset), min(lower, own)
            break
    support = question.numbered(answer.rows)
    return Margin(kind, plane, lower, rounding.root_up(squared), support, tuple(answer.weights), exact, squared)


def _other_margin(question: _Question, kind: str, exactly: bool) -> Margin | None:
    """The margin of another kind than was asked for; None if there is none, or none was proved."""
    rows, y, deadline = question.rows, question.y, question.choices.deadline
    intercept, augmented = kind == "free", kind == "augmented"
    asked = _with_constant(rows) if augmented else rows
    found = question.supply(asked, intercept=intercept)
    if exactly:
        answer = rationals.min_norm_point(asked, y, intercept=intercept, start=found.rows.tolist(), deadline=deadline)
        if answer is None or not answer.separable or (augmented and not any(answer.w[:-1])):
            return None
        return _exact_margin(question, kind, answer, found)
    if found.w is None or not found.lower > 0:
        return None
    w, b = (found.w[:-1], float(found.w[-1])) if augmented else (found.w, found.b)
    proof = proofs.prove_plane(rows, y, w, b) if w.any() else None
    if proof is None:
        return None
    lower = _augmented_margin(proof.numerator, w, b) if augmented else proof.margin
    upper = proofs.prove_upper(asked, y, found.rows, found.weights, intercept=intercept)
    return _margin(question, kind, Hyperplane(w, b), lower, upper, found)


def _augmented_margin(numerator: Fraction, w: FloatArray, b: float) -> float:
    return rounding.root_down(numerator**2 / (rounding.squared_norm(w) + Fraction(b) ** 2))


def _radius(rows: Rows) -> float:
    """The length of the longest row, rounded up."""
    d = rows.shape[1]
    relative = 4 * (d + 8) * 2.0**-53
    squares = np.empty(len(rows))
    with np.errstate(all="ignore"):
        for part, block in canonical.blocks(rows):
            squares[part] = block.squared_norms()
        longest = float(squares.max())
        ids = np.flatnonzero(~(squares * (1 + relative) + d * 2.0**-1074 < longest * (1 - relative)))
    if not math.isfinite(longest) or (len(ids) <= _NEAREST and len(ids) * d <= 100 * _NEAREST):
        exact = max(_squared_length(rows, int(i)) for i in ids)
        radius = rounding.root_up(exact)
        if radius == math.inf:
            raise InputError(
                f"row {int(ids[0])} of X is longer than float64 can say: divide the features by 2**10 or more"
            )
        return radius
    return math.nextafter(math.sqrt(longest * (1 + 2 * relative) + d * 2.0**-1074), math.inf)


def _squared_length(rows: Rows, i: int) -> Fraction:
    point = rationals.row_point(rows, i)
    return sum(v * v for v in point.values.values()) * rationals.power(2 * point.exponent)


def _centred_radius(rows: Rows) -> tuple[FloatArray | None, float | None]:
    """The middle of the features' ranges, and a bound of the rows' distances to it; nothing for sparse rows."""
    if rows.dense is None:
        return None, None
    d = rows.shape[1]
    with np.errstate(all="ignore"):
        low, high = (np.asarray(f(rows.dense, axis=0), np.float64) for f in (np.min, np.max))
        centre = low / 2 + high / 2
        shifted = rows.dense - centre
        longest = float(np.einsum("ij,ij->i", shifted, shifted).max())
    if not math.isfinite(longest):
        return None, None
    return centre, math.nextafter(math.sqrt(longest * (1 + 8 * (d + 8) * 2.0**-53) + 2 * d * 2.0**-1074), math.inf)


# Not separable --------------------------------------------------------------------------------------------------------


def _inseparable(question: _Question, points: IntArray, weights: Any, proof: str, overlap: bool | None) -> Inseparable:
    pair = _equal_rows(question.rows, question.y)
    if pair is not None:
        return _duplicates(question, pair)
    return _witness(question, points, weights, proof, overlap, duplicates=False)


def _duplicates(question: _Question, pair: IntArray) -> Inseparable:
    one = Fraction(1) if question.choices.intercept else Fraction(1, 2)
    return _witness(question, pair, (one, one), "rational", None, duplicates=True)


def _witness(
    question: _Question, points: IntArray, weights: Any, proof: str, overlap: bool | None, *, duplicates: bool
) -> Inseparable:
    rows, y, choices = question.rows, question.y, question.choices
    weak: Hyperplane | RationalHyperplane | None = None
    small = question.size <= _DIAGNOSED and rows.shape[1] <= _EXACT_FEATURES
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


def _equal_rows(rows: Rows, y: Signs) -> IntArray | None:
    """Two equal rows with opposite labels, or None: their hashes are compared, and where these agree the rows."""
    hashes = np.empty(len(rows), np.uint64)
    factors = np.random.default_rng(0).integers(0, 1 << 63, rows.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(
        1
    )
    for part, block in canonical.blocks(rows):
        if block.sparse is None:
            hashes[part] = (_mixed(block.dense) * factors).sum(axis=1, dtype=np.uint64)
        else:
            terms = np.append(_mixed(block.sparse.data) * factors[block.sparse.indices], np.uint64(0))
            starts = block.sparse.indptr
            sums = np.add.reduceat(terms, starts[:-1], dtype=np.uint64)
            hashes[part] = np.where(starts[1:] > starts[:-1], sums, np.uint64(0))
    shared = np.intersect1d(hashes[y > 0], hashes[y < 0])
    if not len(shared):
        return None
    seen: dict[tuple[bytes, bytes], dict[int, int]] = {}
    for i in np.flatnonzero(np.isin(hashes, shared)).tolist():
        columns, values = canonical.Block(rows.block(slice(i, i + 1))).row(0)
        sides = seen.setdefault((columns.tobytes(), values.tobytes()), {})
        sides.setdefault(int(y[i]), i)
        if len(sides) == 2:
            return np.array(sorted(sides.values()), dtype=np.int64)
    return None


def _mixed(values: FloatArray) -> NDArray[np.uint64]:
    """The bits of each number, well mixed; 0 for 0."""
    bits = np.ascontiguousarray(values).view(np.uint64).copy()
    bits ^= bits >> np.uint64(32)
    bits *= np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(29)
    return bits


# Undecided ------------------------------------------------------------------------------------------------------------


def _undecided(question: _Question, tried: list[Supply]) -> Undecided | Inseparable:
    rows, y, choices = question.rows, question.y, question.choices
    uppers = [proofs.prove_upper(rows, y, s.rows, s.weights, intercept=choices.intercept) for s in tried]
    best = int(np.argmin(uppers))
    upper, found = uppers[best], tried[best]
    if upper == 0:  # the weights are a witness as they are
        return _inseparable(question, found.rows, _normalised(found, y, choices.intercept), "rational", None)
    radius = _radius(rows)
    bounds = [(_certain_lower(rows, y, s.w, s.b, radius), s) for s in tried if s.w is not None and s.w.any()]
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


def _certain_lower(rows: Rows, y: Signs, w: FloatArray, b: float, radius: float) -> float:
    """A number that is not above min y(w·x + b) / ‖w‖, near it; -infinity if floats cannot say."""
    d = rows.shape[1]
    with np.errstate(all="ignore"):
        least = min(float((y[part] * (scores[:, 0] + b)).min()) for part, scores in rows.products(w[np.newaxis]))
        length = float(np.linalg.norm(w))
        error = 4 * (d + 8) * 2.0**-53 * (radius * length + abs(b) + abs(least)) + (1 + radius) * d * 2.0**-1000
        low = (least - error) / length if length > 0 else -math.inf
    return float(low - abs(low) * 2.0**-50) if math.isfinite(low) else -math.inf


# Rows in other forms --------------------------------------------------------------------------------------------------


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


def _in_order(rows: Rows) -> Rows:
    """Sparse rows with sorted features, each stored once; anything else as it is."""
    if rows.sparse is None or rows.sparse.has_canonical_format:
        return rows
    ordered = rows.sparse.copy()
    ordered.sort_indices()
    if not ordered.has_canonical_format:
        ordered = ordered.astype(np.float64)
        ordered.sum_duplicates()
    return _sparse(ordered)


def _sparse(matrix: Any) -> Rows:
    view = _engine.SparseRows(matrix.data, matrix.indices, matrix.indptr, n_features=matrix.shape[1])
    return Rows(None, matrix, view)


def _dense(array: NDArray[Any]) -> Rows:
    array = np.ascontiguousarray(array)
    return Rows(array, None, _engine.DenseRows(array))


def _some(rows: Rows, ids: IntArray) -> Rows:
    return _dense(rows.take(ids)) if rows.dense is not None else _sparse(rows.take(ids))


def _with_constant(rows: Rows) -> Rows:
    """The rows with a last feature 1."""
    if rows.dense is not None:
        return _dense(np.hstack([rows.dense, np.ones((len(rows), 1), rows.dense.dtype)]))
    from scipy.sparse import csr_matrix, hstack

    ones = csr_matrix(np.ones((len(rows), 1), rows.sparse.dtype))
    return _sparse(hstack([csr_matrix(rows.sparse), ones], format="csr"))


def _column_scales(rows: Rows, intercept: bool) -> FloatArray | None:
    """Powers of two that bring the features to one size; None if they are of one size."""
    if rows.dense is not None:
        low, high = (np.asarray(f(rows.dense, axis=0), np.float64) for f in (np.min, np.max))
    else:
        low, high = (f(axis=0).toarray().reshape(-1).astype(np.float64) for f in (rows.sparse.min, rows.sparse.max))
    with np.errstate(over="ignore"):
        sizes = high / 2 - low / 2 if intercept else np.maximum(np.abs(low), np.abs(high))
    exponents = np.where(sizes > 0, np.frexp(sizes)[1], 0)
    used = exponents[sizes > 0]
    if not len(used) or (used.max() == used.min() and abs(int(used.max())) < 300):
        return None
    return np.asarray(np.ldexp(1.0, -np.clip(exponents, -1000, 1000)))


def _mapped_back(found: Supply, scales: FloatArray) -> Supply:
    """The hyperplane of scaled rows as one of the rows themselves: powers of two, so nothing is rounded."""
    if found.w is None:
        return found
    exponents = np.frexp(found.w)[1] + np.frexp(scales)[1]
    shift = -int(exponents[found.w != 0].max(initial=0))  # the largest weight becomes about 1
    with np.errstate(all="ignore"):
        w, b = np.ldexp(found.w, np.frexp(scales)[1] - 1 + shift), float(np.ldexp(found.b, shift))
    return replace(found, w=w, b=b) if math.isfinite(b) else replace(found, w=None, b=0.0, lower=-math.inf)


def _unit(rows: Rows) -> float:
    """A power of two near the largest number, if squares of numbers of that size leave the range of float64; else 1."""
    values = rows.values
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, min(exponent, 1000)) if abs(exponent) > 300 and largest > 0 else 1.0


def _scaled(rows: Rows, scales: FloatArray) -> Rows:
    with np.errstate(all="ignore"):
        if rows.dense is not None:
            return _dense(rows.dense * scales)
        scaled = rows.sparse.astype(np.float64)
        scaled.data = scaled.data * scales[scaled.indices]
        return _sparse(scaled)
