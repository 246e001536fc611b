"""What a prover is given, checked: labels, normals, numbers of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray, Rows


def signs_of(rows: Rows, y: ArrayLike) -> FloatArray:
    """The labels, which must be -1 and +1."""
    given = np.asarray(y)
    signs = given.astype(np.float64)
    if given.shape != (len(rows),) or not ((given == 1) | (given == -1)).all():
        raise InputError(f"y must be -1 and +1, one for each of the {len(rows)} rows")
    return signs


def normal_of(rows: Rows, w: ArrayLike) -> FloatArray:
    """The normal of a hyperplane, which must have a number for each feature."""
    vector = np.ascontiguousarray(w, dtype=np.float64)
    if vector.shape != (rows.shape[1],):
        raise InputError(f"w must have shape ({rows.shape[1]},), got {vector.shape}")
    return vector


def row_numbers(rows: Rows, ids: Any) -> IntArray:
    """Numbers of rows, which must be different ones that exist."""
    found = np.asarray(ids, dtype=np.int64).reshape(-1)
    if len(np.unique(found)) != len(found) or (found < 0).any() or (found >= len(rows)).any():
        raise InputError(f"support must be different row numbers below {len(rows)}")
    return found
