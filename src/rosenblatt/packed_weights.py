"""Weights in a file without the features that nothing was learned of. Hashed words leave most columns at zero.

A file stays near the size of what it stands for, so that a small one cannot ask for all memory: it is unpacked to at
most 64 MB, or 16 times its own numbers. Of a larger model some columns of zeros are kept to that end.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.model_checks import LANES, WIDE, Tensors, damaged, require

_FEWEST = 1024  # columns: smaller models stay as plain as they are
_MOST_BYTES = 1 << 26
_MOST_TIMES = 16


def pack(tensors: Tensors) -> Tensors:
    """The same arrays, the wide ones without columns of zeros if these are half of them or more."""
    wide = {name: tensors[name] for name in WIDE if name in tensors}
    if not wide:
        return tensors
    # Their bits tell, so that -0.0 is kept.
    bits = reduce(np.bitwise_or, (np.bitwise_or.reduce(array.view(np.int64), axis=0) for array in wide.values()))
    kept, width, n_vectors = bits != 0, len(bits), len(next(iter(wide.values())))
    missing = -(-width // _MOST_TIMES) - int(np.count_nonzero(kept))
    if missing > 0 and not _bearable(len(wide), n_vectors, width, 0):
        kept[np.flatnonzero(~kept)[:missing]] = True
    columns = np.flatnonzero(kept)
    if width < _FEWEST or 2 * len(columns) > width:
        return tensors
    packed = {name: np.ascontiguousarray(array[:, columns]) for name, array in wide.items()}
    return tensors | packed | {"columns": columns.astype(np.int64)}


def unpack(state: dict[str, Any], tensors: Tensors) -> Tensors:
    """The reverse, for the arrays of a file, of which nothing is sure."""
    if "columns" not in tensors:
        return tensors
    wide = {name: tensors[name] for name in WIDE if name in tensors}
    columns: NDArray[Any] = tensors["columns"]
    width = -(-int(state["n_features_in_"]) // LANES) * LANES
    require(bool(wide), "it has columns and no weights")
    require(columns.ndim == 1 and columns.dtype == np.int64, "columns is not a list of numbers")
    inside = not len(columns) or (columns[0] >= 0 and columns[-1] < width and bool((np.diff(columns) > 0).all()))
    require(inside, "columns is not a list of features in order")
    for name, array in wide.items():
        fits = array.ndim == 2 and len(array) > 0 and array.shape[1] == len(columns) and array.dtype == np.float64
        require(fits, f"{name} has shape {array.shape}, expected a column for each of the {len(columns)} columns")
        if not _bearable(len(wide), len(array), width, len(columns)):
            raise damaged(f"{name} would be {width / max(1, len(columns)):,.0f} times as large as in the file")
    unpacked = {}
    for name, array in wide.items():
        unpacked[name] = np.zeros((len(array), width))
        unpacked[name][:, columns] = array
    return {name: array for name, array in (tensors | unpacked).items() if name != "columns"}


def _bearable(n_arrays: int, n_vectors: int, width: int, n_columns: int) -> bool:
    return 8 * n_arrays * n_vectors * width <= max(_MOST_BYTES, _MOST_TIMES * 8 * n_arrays * n_vectors * n_columns)
