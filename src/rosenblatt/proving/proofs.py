"""From floats to proved claims: a hyperplane that separates, a bound on every margin, a witness against separation.

Whoever found (w, b) or the weights λ is not believed: each function returns what it proved about the rows as stored,
or says that it proved nothing. Floats with error bounds do most of the work (`enclosures`), exact arithmetic the rest
(`rationals`). See Gordan's theorem and Kirchberger's: either a hyperplane separates, or a convex combination of one
class equals one of the other, of at most d + 2 rows in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.proving.dyadics import Sparse, dot, dyadic, lifted, power, row_point
from rosenblatt.proving.enclosures import gamma, positive_solution, root_down, root_up, row_bounds
from rosenblatt.proving.evidence import normal_of, row_numbers, signs_of
from rosenblatt.proving.integer_systems import OutOfTime, independent, solve_integers
from rosenblatt.proving.near_rows import NearRows, near_rows
from rosenblatt.proving.rationals import min_norm_point
from rosenblatt.proving.weak_separation import WeakSeparation, weakly_separates

__all__ = [
    "PlaneProof",
    "WeakSeparation",
    "WitnessProof",
    "prove_plane",
    "prove_upper",
    "prove_witness",
    "weakly_separates",
]

_TOGETHER = 64  # rows that are evaluated exactly together
_EXACT_WITNESS = 300  # points: exact weights up to here unless asked for; some seconds
_EXACT_SEARCH = 60  # points among which the whole search is done in rationals, when weights do not fit
_EXACT_SUM = 1_000_000  # numbers: up to here a combination of rows is summed exactly; about half a second


# A hyperplane that separates ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlaneProof:
    """Every row has y(w · x + b) > 0, proved. The least of these numbers is known exactly."""

    numerator: Fraction  # min y(w · x + b)
    row: int  # where it is
    margin: float  # numerator / ‖w‖, rounded down
    proof: Literal["filter", "rational"]  # whether floats with error bounds sufficed for all signs
    n_filtered: int  # rows that the first bound, one for many, left open
    n_exact: int  # rows evaluated in exact arithmetic, for their sign or for the minimum


def prove_plane(
    rows: Rows, y: ArrayLike, w: ArrayLike, b: float, *, look: NearRows | None = None, threads: int = 1
) -> PlaneProof | None:
    """Prove y(w · x + b) > 0 for every row, or return None: then some row has y(w · x + b) <= 0, proved as well.

    Three levels. One look at all rows settles most by floats with one bound on the error of many (`near_rows`; `look`
    is that look, if it was taken). The rows it leaves open get their own, γ_{d+5}(|x| · |w| + |b|) + (d + 4)2⁻¹⁰⁷⁴
    (`enclosures`), and what is still open, in its sign or as the minimum, is evaluated in integers.
    """
    y, w, b = signs_of(rows, y), normal_of(rows, w), float(b)
    if not (np.isfinite(w).all() and math.isfinite(b)):
        raise InputError("w and b must be finite")
    look = near_rows(rows, y, w, b, threads=threads) if look is None else look
    ids, near = look.ids, look.values
    with np.errstate(all="ignore"):
        sharp = row_bounds(rows, ids, w, b)
        if (near + sharp < 0).any():
            return None
        highest = float(np.fmin.reduce(near + sharp, initial=math.inf))
        left = ~(near - sharp > max(highest, 0.0))
        doubtful = ~(near - sharp > 0)
    order = np.argsort(near[left], kind="stable")
    numerator, row = _least_value(rows, y, w, b, ids[left][order])
    if numerator <= 0:
        return None
    return PlaneProof(
        numerator=numerator,
        row=row,
        margin=_margin(numerator, w),
        proof="rational" if doubtful.any() else "filter",
        n_filtered=len(ids),
        n_exact=int(left.sum()),
    )


def _least_value(rows: Rows, y: FloatArray, w: FloatArray, b: float, ids: IntArray) -> tuple[Fraction, int]:
    """The exact least y(w · x + b) of some rows, and its row; the first that is not positive ends the search."""
    least: tuple[Fraction, int] | None = None
    for i, value in _exact_values(rows, y, w, b, ids):
        if least is None or (value, i) < least:
            least = value, i
        if value <= 0:
            break
    assert least is not None  # the row with the lowest upper bound is always among them
    return least


def _exact_values(rows: Rows, y: FloatArray, w: FloatArray, b: float, ids: IntArray) -> Iterator[tuple[int, Fraction]]:
    """Each row and its y(w · x + b), exactly; equal rows are evaluated once, dense ones some at a time."""
    whole, exponent = dyadic([*w.tolist(), b])
    if rows.dense is None:
        weights = {j: v for j, v in enumerate(whole) if v}
        for i in ids.tolist():
            point = row_point(rows, i, int(y[i]), constant=True)
            yield i, dot(point.values, weights) * power(point.exponent + exponent)
        return
    seen: dict[bytes, Fraction] = {}
    factors = np.array(whole, dtype=object)
    for first in range(0, len(ids), _TOGETHER):
        part = ids[first : first + _TOGETHER]
        keys = [rows.dense[i].tobytes() for i in part.tolist()]
        new = {key: q for q, key in enumerate(keys) if key not in seen}
        if new:
            values, low = dyadic(
                np.insert(rows.dense[part[list(new.values())]].astype(np.float64), len(w), 1, axis=1).ravel()
            )
            products = np.array(values, dtype=object).reshape(len(new), -1) @ factors
            seen |= {key: v * power(low + exponent) for key, v in zip(new, products.tolist(), strict=True)}
        for i, key in zip(part.tolist(), keys, strict=True):
            yield i, seen[key] if y[i] > 0 else -seen[key]


def _margin(numerator: Fraction, w: FloatArray) -> float:
    """numerator / ‖w‖, rounded down; infinite for w = 0, where every point of space is on the right side."""
    whole, exponent = dyadic(w)
    square = sum(v * v for v in whole)
    return root_down(numerator * numerator / (square * power(2 * exponent))) if square else math.inf


# A bound on every margin ----------------------------------------------------------------------------------------------


def prove_upper(rows: Rows, y: ArrayLike, support: ArrayLike, weights: ArrayLike, *, intercept: bool) -> float:
    """A number that no hyperplane's margin exceeds, rounded up: |Σ λ_i y_i x_i|, and with an intercept half of it.

    Any weights >= 0 prove a bound: they are divided by their exact sums, class by class with an intercept. Exact up to
    `_EXACT_SUM` numbers; beyond, floats with their error bounds added.
    """
    y, ids = signs_of(rows, y), row_numbers(rows, support)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != ids.shape or not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("weights must be finite, not negative, and one for each support row")
    ids, weights = ids[weights > 0], weights[weights > 0]
    classes = [y[ids] > 0, y[ids] < 0] if intercept else [np.ones(len(ids), dtype=bool)]
    if not all(members.any() for members in classes):
        return math.inf
    numbers = ids.size * rows.shape[1] if rows.dense is not None else int(np.diff(rows.sparse.indptr)[ids].sum())
    if numbers > _EXACT_SUM:
        return _upper_floats(rows, y, ids, weights, classes)
    means = [_mean(rows, y, ids[members], weights[members]) for members in classes]
    columns = {j for mean, _ in means for j in mean}
    total = math.prod(unit.denominator for _, unit in means)
    units = [int(unit * total) for _, unit in means]
    square = sum(sum(mean.get(j, 0) * unit for (mean, _), unit in zip(means, units, strict=True)) ** 2 for j in columns)
    return root_up(Fraction(square, (total * len(classes)) ** 2))


def _mean(rows: Rows, y: FloatArray, ids: IntArray, weights: FloatArray) -> tuple[Sparse, Fraction]:
    """Σ λ_i y_i x_i / Σ λ_i as integers times a unit."""
    whole, _ = dyadic(weights)
    if rows.dense is not None:
        block = rows.take(ids)
        values, low = dyadic(block.ravel())
        signed = np.array([v if y[i] > 0 else -v for v, i in zip(whole, ids.tolist(), strict=True)], dtype=object)
        total = signed @ np.array(values, dtype=object).reshape(block.shape)
        return {j: v for j, v in enumerate(total.tolist()) if v}, power(low) / sum(whole)
    points = [row_point(rows, i, int(y[i])) for i in ids.tolist()]
    low = min(point.exponent for point in points)
    mean: Sparse = {}
    for weight, point in zip(whole, points, strict=True):
        factor = weight << point.exponent - low
        for j, v in point.values.items():
            mean[j] = mean.get(j, 0) + factor * v
    return mean, power(low) / sum(whole)


def _upper_floats(
    rows: Rows, y: FloatArray, ids: IntArray, weights: FloatArray, classes: list[NDArray[np.bool_]]
) -> float:
    """The same in floats, wrong by at most γ_{3(m+4)} Σ λ_i|x_i|: m roundings of sums, m of weights that sum to 1.

    Underflow adds at most 2⁻¹⁰⁷⁴|x_i| for each weight, and a little for each product.
    """
    share = weights.copy()
    for members in classes:
        share[members] /= share[members].max()
        share[members] /= math.fsum(share[members])
    d, terms = rows.shape[1], len(ids) + 4
    total, size, lost = np.zeros(d), np.zeros(d), np.zeros(d)
    step = max(1, (1 << 22) // d)
    with np.errstate(all="ignore"):
        for first in range(0, len(ids), step):
            part = slice(first, first + step)
            block = rows.take(ids[part]).astype(np.float64)
            total += (y[ids[part]] * share[part]) @ block
            size += share[part] @ abs(block)
            lost += np.asarray((abs(block) * 2.0**-30).sum(axis=0)).reshape(-1)
        bound = np.abs(total) + (gamma(3 * terms) * size * (1 + 2 * gamma(3 * terms)) + 2 * terms * 2.0**-1074)
        bound += lost * 2.0**-1043
        largest = float(bound.max())
        if not math.isfinite(largest) or largest == 0:
            return largest if largest == 0 else math.inf
        scale = math.ldexp(1.0, min(1000, max(-1000, math.frexp(largest)[1])))
        scaled = bound / scale
        length = math.sqrt(math.fsum((scaled * scaled + 2.0**-1074).tolist())) * scale
    return math.nextafter(length / len(classes) * (1 + 2.0**-50), math.inf)


# A witness against every hyperplane -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class WitnessProof:
    """Positive weights with which one class's rows and the other's have the same mean: no hyperplane separates them.

    Each class's weights sum to 1 (without an intercept all of them do, and Σ λ_i y_i x_i = 0). An "interval" proof
    shows that such weights exist within a proved distance of ``floats``; a "rational" one has them.
    """

    rows: IntArray
    weights: list[Fraction] | None
    floats: FloatArray
    proof: Literal["interval", "rational"]
    overlap: bool | None  # True: proved that no hyperplane separates even weakly; None: not examined


def prove_witness(
    rows: Rows,
    y: ArrayLike,
    support: ArrayLike,
    weights: ArrayLike,
    *,
    intercept: bool,
    exact: bool | Literal["auto"] = "auto",
    deadline: float | None = None,
    threads: int = 1,
) -> WitnessProof | None:
    """Prove that some weights > 0 on the support, near the given ones or not, witness inseparability; else None.

    First an enclosure in floats, which needs d + 2 points (d + 1 without an intercept) in general position, where d
    leaves out features that are constant on them or copies of others; then exact arithmetic, which needs no position
    but few points. ``exact=True`` wants the fractions in any case, ``False`` only the enclosure. The given weights
    serve to leave out rows of weight 0, and to choose which rows to try first when there are too many. Exact work ends
    without a proof when the ``deadline``, of `time.monotonic`, has passed.
    """
    y, ids = signs_of(rows, y), row_numbers(rows, support)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != ids.shape:
        raise InputError("weights must be one for each support row")
    ids, weights = ids[weights > 0], weights[weights > 0]
    ids = ids[np.argsort(-weights, kind="stable")]
    if not len(ids) or (intercept and len(np.unique(y[ids])) < 2):
        return None
    enclosed = None if exact is True else _enclosed_witness(rows, y, ids, intercept, threads)
    if enclosed is not None or exact is False:
        return enclosed
    if exact is True or len(ids) <= _EXACT_WITNESS:
        try:
            return _exact_witness(rows, y, ids, intercept, deadline)
        except OutOfTime:
            return None
    return None


def _enclosed_witness(rows: Rows, y: FloatArray, ids: IntArray, intercept: bool, threads: int) -> WitnessProof | None:
    k, m = (2 if intercept else 1), len(ids)
    if m > rows.shape[1] + k:
        return None
    points = _dense(rows, ids, m - k, intercept)
    if points is None:
        return None
    ends = np.vstack([y[ids] > 0, y[ids] < 0] if intercept else [np.ones(m)]).astype(np.float64)
    A = np.vstack([(points * y[ids, None]).T, ends])
    solution = positive_solution(A, np.r_[np.zeros(m - k), np.ones(k)], threads=threads)
    if solution is None:
        return None
    order = np.argsort(ids)
    overlap = True if m == rows.shape[1] + k else None
    return WitnessProof(ids[order], None, solution.x[order], "interval", overlap)


def _dense(rows: Rows, ids: IntArray, wanted: int, intercept: bool) -> FloatArray | None:
    """The rows' features that can matter, if there are just so many: an equation of a copy, or 0 = 0, is left out."""
    taken = rows.take(ids)
    if rows.dense is None:
        if not taken.has_canonical_format:
            taken = taken.copy()
            taken.sort_indices()
            if not taken.has_canonical_format:
                return None  # a feature stored twice is a sum, which floats would round
        used = np.unique(taken.indices)
        taken = taken[:, used].toarray()
    taken = np.asarray(taken, dtype=np.float64)
    if taken.shape[1] > wanted:
        # With an intercept a constant feature says again that both classes sum to the same.
        known = taken[0] if intercept else np.zeros(taken.shape[1])
        taken = taken[:, (taken != known).any(axis=0)]
        if taken.shape[1] > wanted:
            taken = taken[:, np.sort(np.unique(taken + 0.0, axis=1, return_index=True)[1])]
    return taken if taken.shape[1] == wanted else None


def _exact_witness(
    rows: Rows, y: FloatArray, ids: IntArray, intercept: bool, deadline: float | None
) -> WitnessProof | None:
    """The exact weights of independent points, checked on every feature; of dependent ones, by the exact search."""
    points = [row_point(rows, i, int(y[i])) for i in ids.tolist()]
    lines = lifted(points, [[int(y[i] > 0), int(y[i] < 0)] if intercept else [1] for i in ids.tolist()])
    kept, pivots = independent(lines)
    basis = [ids.tolist()[q] for q in kept]
    found = _weights([lines[q] for q in kept], pivots, 2 if intercept else 1, deadline)
    if found is None and len(ids) <= _EXACT_SEARCH:
        return _searched_witness(rows, y, ids, intercept, deadline)
    if found is None:
        return None
    numerators, denominator = found
    pairs = sorted((i, v) for i, v in zip(basis, numerators, strict=True) if v)
    fractions = [Fraction(v, denominator) for _, v in pairs]
    full = len(kept) == rows.shape[1] + (2 if intercept else 1) and all(numerators)
    return WitnessProof(
        np.array([i for i, _ in pairs], dtype=np.int64),
        fractions,
        np.array([float(v) for v in fractions]),
        "rational",
        True if full else None,
    )


def _weights(lines: list[list[int]], pivots: list[int], k: int, deadline: float | None) -> tuple[list[int], int] | None:
    """The only weights with Σ λ_i line_i = (1, 0), by the pivots' equations; None unless all hold, and λ >= 0."""
    system = [[line[j] for line in lines] for j in pivots]
    solution = solve_integers(system, [[int(j < k)] for j in pivots], deadline)
    if solution is None:
        return None
    numerators, denominator = [row[0] for row in solution[0]], solution[1]
    if min(numerators) < 0:
        return None
    for j in range(len(lines[0])):
        if sum(line[j] * v for line, v in zip(lines, numerators, strict=True) if line[j]) != (
            denominator if j < k else 0
        ):
            return None
    return numerators, denominator


def _searched_witness(
    rows: Rows, y: FloatArray, ids: IntArray, intercept: bool, deadline: float | None
) -> WitnessProof | None:
    part = _some(rows, ids)
    answer = min_norm_point(part, y[ids], intercept=intercept, start=range(len(ids)), deadline=deadline)
    if answer is None or answer.separable:
        return None
    order = np.argsort(ids[answer.rows])
    weights = [answer.weights[q] for q in order.tolist()]
    full = len(order) == rows.shape[1] + (2 if intercept else 1)
    return WitnessProof(
        ids[answer.rows][order], weights, np.array([float(v) for v in weights]), "rational", True if full else None
    )


def _some(rows: Rows, ids: IntArray) -> Rows:
    """A few of the rows as rows of their own."""
    taken = rows.take(ids)
    return Rows(taken, None, rows.view) if rows.dense is not None else Rows(None, taken, rows.view)
