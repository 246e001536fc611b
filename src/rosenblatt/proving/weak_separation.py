"""Whether rows that no hyperplane separates are separated weakly: all on the right side or on it, not all on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.inputs import rows as rows_of
from rosenblatt.proving.dyadics import Sparse, dyadic, row_point
from rosenblatt.proving.enclosures import scores
from rosenblatt.proving.evidence import row_numbers, signs_of
from rosenblatt.proving.integer_systems import OutOfTime
from rosenblatt.proving.rationals import Cloud, Face, least_norm


@dataclass(frozen=True)
class WeakSeparation:
    """Whether inseparable rows are separated weakly: y(w · x + b) >= 0 everywhere and > 0 somewhere.

    "weak" has such a hyperplane, exactly, with as few rows on it as can be (quasi-complete separation); "overlap" is
    proved to have none; "unknown" ran out of time.
    """

    status: Literal["weak", "overlap", "unknown"]
    w: list[Fraction] | None = None
    b: Fraction | None = None
    on: IntArray | None = None  # the rows found to lie on the hyperplane

    def floats(self) -> tuple[FloatArray, float] | None:
        """The hyperplane as floats, if some multiple of it has no rounding in it."""
        if self.w is None or self.b is None:
            return None
        scale = math.lcm(*(v.denominator for v in [*self.w, self.b]))
        whole = [int(v * scale) for v in [*self.w, self.b]]
        common = math.gcd(*whole) or 1
        try:
            numbers = [float(v // common) for v in whole]
        except OverflowError:
            return None
        if any(int(number) != v // common for number, v in zip(numbers, whole, strict=True)):
            return None
        return np.array(numbers[:-1]), numbers[-1]


Guess: TypeAlias = Callable[[Rows, FloatArray], tuple[FloatArray | None, IntArray]]


def weakly_separates(
    rows: Rows,
    y: ArrayLike,
    witness: ArrayLike,
    *,
    intercept: bool,
    guess: Guess | None = None,
    deadline: float | None = None,
) -> WeakSeparation:
    """Decide whether some hyperplane separates weakly, given the rows of a witness that none does strictly.

    Facial reduction: with z = y(x, 1), v · z >= 0 for all and Σ λ_i z_i = 0 with λ > 0 give v · z_i = 0 on the witness.
    So v is sought in the face orthogonal to those: either it is positive on all rows that do not depend on the witness,
    or they have a witness of their own, which joins the first. Each round adds at least 1 to the rank; when every row
    depends on the witness, nothing is left to separate. All in exact arithmetic but for the scans.

    ``guess`` is asked first where there is more than a little to search: given rows and labels, it returns a w that it
    believes to separate them through the origin, or None, and rows to begin the exact search with. It is not believed.
    """
    y, active = signs_of(rows, y), list(row_numbers(rows, witness).tolist())
    size = rows.shape[1] + int(intercept)
    while True:
        points = [row_point(rows, i, int(y[i]), constant=intercept) for i in active]
        try:
            face = Face.of(points, deadline)
        except OutOfTime:
            return WeakSeparation("unknown")
        if len(face.pivots) == size:
            return WeakSeparation("overlap")
        cloud = Cloud(rows, y, classes=1, face=face, constant=intercept)
        first = _outside(cloud)
        if first is None:
            return WeakSeparation("overlap")
        start = np.array([first])
        if guess is not None:
            x, start = _guessed(cloud, guess)
            if x and _is_strict(cloud, x):
                return _weak_plane(cloud, face.lift(x), intercept)
            start = np.r_[start, first]  # which is known to be none of the face's points; the others may be
        found = least_norm(cloud, start.tolist(), deadline)
        if found is None:
            return WeakSeparation("unknown")
        if found.x:
            return _weak_plane(cloud, face.lift(found.x), intercept)
        active += sorted(found.weights)


def _outside(cloud: Cloud) -> int | None:
    """A row that does not depend on the face's points: one far from a random hyperplane through them, or any."""
    rng = np.random.default_rng(0)
    assert cloud.face is not None
    x = {j: int(v) for j, v in enumerate(rng.integers(1, 1 << 20, cloud.rows.shape[1] + int(cloud.constant)))}
    x = {j: v for j, v in x.items() if j not in set(cloud.face.pivots)}
    w, b, _ = cloud.functional(x)
    best = 0.0
    row: int | None = None
    for part, score, bound in scores(cloud.rows, w, b, rounded=True):
        clear = np.nan_to_num(np.abs(score) - bound, nan=0.0)
        i = int(np.argmax(clear))
        if clear[i] > best:
            best, row = float(clear[i]), part.start + i
    if row is not None:
        return row
    return next((i for i in range(len(cloud.rows)) if cloud.point(i).values), None)


def _guessed(cloud: Cloud, guess: Guess) -> tuple[Sparse, IntArray]:
    """A guess on the rows modulo the face's points, in floats: rounding costs at worst a guess that fails."""
    face, rows = cloud.face, cloud.rows
    assert face is not None
    n, d = rows.shape
    size = d + int(cloud.constant)
    free = np.setdiff1d(np.arange(size), face.pivots)
    T = np.zeros((len(face.pivots), len(face.columns)))
    for q, t in enumerate(face.columns.values()):
        T[:, q] = [v / face.scale for v in t]
    places = np.searchsorted(free, np.array(list(face.columns), dtype=np.int64))
    ones = np.ones((n, size - d))
    if rows.dense is not None:
        Z = np.hstack([rows.dense, ones]).astype(np.float64)
        projected = Z[:, free]
        projected[:, places] -= Z[:, face.pivots] @ T
        reach = np.abs(projected).max(axis=1)
    else:
        Z = sparse.csr_array(sparse.hstack([rows.sparse, sparse.csr_array(ones)], format="csr"), dtype=np.float64)
        whole = sparse.csr_array(
            (T.ravel(), (np.repeat(np.arange(len(T)), len(places)), np.tile(places, len(T)))), shape=(len(T), len(free))
        )
        projected = sparse.csr_array(Z[:, free] - Z[:, face.pivots] @ whole)
        reach = abs(projected).max(axis=1).toarray().ravel()
    kept = np.flatnonzero(reach > 1e-9 * reach.max())
    w, start = guess(rows_of(projected[kept]), cloud.y[kept])
    x: Sparse = {}
    if w is not None and np.isfinite(w).all():
        x = {int(j): v for j, v in zip(free, dyadic(w)[0], strict=True) if v}
    return x, kept[start]


def _is_strict(cloud: Cloud, x: Sparse) -> bool:
    """Whether x is positive on every point that is not 0, proved."""
    return all(cloud.value(i, x) > 0 or not cloud.point(i).values for i in cloud.below(x, [Fraction(0)]).tolist())


def _weak_plane(cloud: Cloud, v: Sparse, intercept: bool) -> WeakSeparation:
    d = cloud.rows.shape[1]
    w = [Fraction(v.get(j, 0)) for j in range(d)]
    plane = Cloud(cloud.rows, cloud.y, classes=1, constant=intercept)
    on = [i for i in plane.below(v, [Fraction(0)]).tolist() if plane.value(i, v) == 0]
    return WeakSeparation("weak", w, Fraction(v.get(d, 0)), np.array(sorted(on), dtype=np.int64))
