"""Weights in a file without their zeros. Hashed words leave most of them at zero, of many classes even more.

A file stays near the size of what it stands for, so that a small one cannot ask for all memory: it is unpacked to at
most 64 MB, or 16 times its own numbers. Of a larger model some zeros are kept to that end.
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
    """The same arrays; the wide ones as compressed sparse rows of one pattern if that halves them."""
    wide = {name: tensors[name] for name in WIDE if name in tensors}
    if not wide or (width := next(iter(wide.values())).shape[1]) < _FEWEST:
        return tensors
    # Their bits tell, so that -0.0 is kept.
    there = reduce(np.logical_or, (array.view(np.int64) != 0 for array in wide.values()))
    missing = -(-there.size // _MOST_TIMES) - int(np.count_nonzero(there))
    if missing > 0 and not _bearable(len(wide), there.size, 0):
        there.reshape(-1)[np.flatnonzero(~there)[:missing]] = True
    columns = [np.flatnonzero(row).astype(np.int32) for row in there]
    starts = np.cumsum([0, *map(len, columns)], dtype=np.int64)
    if 2 * (8 * len(wide) + 4) * int(starts[-1]) > 8 * len(wide) * len(columns) * width:
        return tensors
    packed = {
        name: np.concatenate([row[kept] for row, kept in zip(array, columns, strict=True)])
        for name, array in wide.items()
    }
    return tensors | packed | {"columns": np.concatenate(columns), "starts": starts}


def unpack(state: dict[str, Any], tensors: Tensors) -> Tensors:
    """The reverse, for the arrays of a file, of which nothing is sure."""
    if "columns" not in tensors:
        return tensors
    wide = {name: tensors[name] for name in WIDE if name in tensors}
    columns, starts = tensors["columns"], tensors.get("starts", np.zeros(0))
    width = -(-int(state["n_features_in_"]) // LANES) * LANES
    require(bool(wide), "it has columns and no weights")
    _check_pattern(columns, starts, width)
    n_vectors = len(starts) - 1
    for name, array in wide.items():
        fits = array.shape == columns.shape and array.dtype == np.float64
        require(fits, f"{name} has shape {array.shape}, expected a number for each of the {len(columns)} columns")
        if not _bearable(len(wide), n_vectors * width, len(columns)):
            times = n_vectors * width / max(1, len(columns))
            raise damaged(f"{name} would be {times:,.0f} times as large as in the file")
    vector_of = np.repeat(np.arange(n_vectors), np.diff(starts))
    unpacked = {}
    for name, array in wide.items():
        unpacked[name] = np.zeros((n_vectors, width))
        unpacked[name][vector_of, columns] = array
    return {name: array for name, array in (tensors | unpacked).items() if name not in ("columns", "starts")}


def _check_pattern(columns: NDArray[Any], starts: NDArray[Any], width: int) -> None:
    """Each vector's columns rise, between 0 and the width; starts says where those of each vector begin."""
    require(columns.ndim == 1 and columns.dtype == np.int32, "columns is not a list of numbers")
    require(starts.ndim == 1 and starts.dtype == np.int64 and len(starts) > 1, "starts is not a list of numbers")
    ends = starts[0] == 0 and starts[-1] == len(columns) and bool((starts[1:] >= starts[:-1]).all())
    require(ends, "starts does not say where the columns of each vector begin")
    inside = not len(columns) or (int(columns.min()) >= 0 and int(columns.max()) < width)
    rises = np.concatenate([[True], columns[1:] > columns[:-1], [True]])
    rises[starts] = True  # where another vector begins
    require(inside and bool(rises.all()), "columns is not a list of features in order")


def _bearable(n_arrays: int, n_cells: int, n_kept: int) -> bool:
    return 8 * n_arrays * n_cells <= max(_MOST_BYTES, _MOST_TIMES * 8 * n_arrays * n_kept)
