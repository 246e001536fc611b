"""The rows that decide about a hyperplane, from one look at all of them: the nearest to it, and the longest.

The scores are floats with a bound on their error, so what is left out here is settled: those rows are on their side,
and not the nearest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.inputs import FloatArray, IntArray, Rows
from rosenblatt.proving.enclosures import gamma, scores
from rosenblatt.searching.candidates import padded

_TINY = 2.0**-1074


@dataclass(frozen=True)
class NearRows:
    """Rows that one look at all rows left open."""

    ids: IntArray  # those that may have the least y(w · x + b), or one that is not positive
    values: FloatArray  # theirs, in floats
    longest: IntArray | None  # those that may be the longest; None where that is not known
    square: float  # the squared length of the longest, in floats


def near_rows(rows: Rows, y: NDArray[Any], w: FloatArray, b: float, *, threads: int = 1) -> NearRows:
    """Look at all rows once.

    fl(w · x + b) is wrong by at most γ_{t+5}(‖x‖ ‖w‖ + |b|) + (t + 4)2⁻¹⁰⁷⁴ for a row of t terms, by the bound of
    `enclosures` and Cauchy and Schwarz; the engine takes the longest ‖x‖ of 64 rows for all of them. One more rounding,
    of the comparison, is paid for.
    """
    if rows.sparse is not None and not rows.sparse.has_canonical_format:
        return _in_python(rows, y, w, b)
    terms = rows.shape[1] if rows.sparse is None else int(np.diff(rows.sparse.indptr).max(initial=0))
    roundings = gamma(terms + 5) * (1 + 2 * gamma(terms + 5))
    ids, values, _, longest, square = _engine.nearest(
        rows.view,
        (y > 0).astype(np.int16),
        padded(w),
        b=b,
        norm=math.hypot(*w.tolist()) * (1 + 2.0**-40) + _TINY,
        roundings=roundings,
        underflow=(terms + 4) * _TINY,
        likeness=4 * roundings,
        threads=threads,
    )
    certain = 1e-280 < square < math.inf  # underflow is then far below a rounding
    return NearRows(ids, values, longest if certain else None, square)


def _in_python(rows: Rows, y: NDArray[Any], w: FloatArray, b: float) -> NearRows:
    """The same where a number may be stored in parts, which the engine's lengths do not know of."""
    values, bounds, closest = np.empty(len(rows)), np.empty(len(rows)), math.inf
    for part, score, bound in scores(rows, w, b):
        np.multiply(score, y[part], out=values[part])
        bounds[part] = bound
        highest = float(np.fmin.reduce(values[part])) + bound
        closest = min(closest, highest) if math.isfinite(highest) else closest
    with np.errstate(all="ignore"):
        ids = np.flatnonzero(~(values - bounds > max(closest, 0.0)))
    return NearRows(ids, values[ids], None, math.nan)
