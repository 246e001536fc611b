"""Some rows of a stream with their classes, in the one form that is learned from, kept in a cache and shuffled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine
from rosenblatt.errors import InputError
from rosenblatt.inputs import Codes, FloatArray, IntArray

if TYPE_CHECKING:
    from rosenblatt.reading.streams import StreamBatch


class Sparse(NamedTuple):
    """Compressed sparse rows: row i owns the places starts[i] to starts[i + 1] of values and columns."""

    values: NDArray[Any]
    columns: NDArray[Any]
    starts: NDArray[Any]


class RowBatch:
    """Rows, dense or sparse, their class codes and weights.

    Codes number the classes in the order in which the stream first showed them. Nothing is copied: the
    memory may be used again by whoever made the batch, once the next one is asked for.
    """

    def __init__(
        self,
        codes: Codes,
        n_features: int,
        *,
        dense: NDArray[Any] | None = None,
        sparse: Sparse | None = None,
        weights: FloatArray | None = None,
        view: _engine.DenseRows | _engine.SparseRows | None = None,
    ) -> None:
        self.codes, self.n_features, self.weights = codes, n_features, weights
        self.dense, self.sparse = dense, sparse
        if view is not None:
            self.__dict__["view"] = view

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of_stream(cls, batch: StreamBatch, width: int = 0) -> RowBatch:
        """A batch as a stream of files delivers it; `width` features are known to be there."""
        return cls.of_raw(batch.raw, batch.codes, width, weights=batch.weights, view=batch.rows)

    @classmethod
    def of_raw(cls, raw: Any, codes: NDArray[np.int32], width: int = 0, **more: Any) -> RowBatch:
        """The rows that a reader of the engine gives, with the numbers of their classes."""
        codes16 = codes.astype(np.int16)
        if raw.dense:
            dense = raw.data.reshape(raw.n_rows, raw.n_features)
            return cls(codes16, raw.n_features, dense=dense, **more)
        sparse = Sparse(raw.data, raw.columns, raw.starts)
        return cls(codes16, max(width, raw.n_features), sparse=sparse, **more)

    @cached_property
    def view(self) -> _engine.DenseRows | _engine.SparseRows:
        """The rows as the engine reads them."""
        if self.dense is not None:
            return _engine.DenseRows(self.dense)
        assert self.sparse is not None
        return _engine.SparseRows(*self.sparse, n_features=max(1, self.n_features))

    @property
    def values(self) -> NDArray[Any]:
        """The stored numbers."""
        if self.dense is not None:
            return self.dense
        assert self.sparse is not None
        return self.sparse.values

    @property
    def n_values(self) -> int:
        """How many numbers are stored."""
        return int(self.values.size)

    def part(self, first: int, end: int) -> RowBatch:
        """The rows from `first` up to `end`, which share their memory with these."""
        codes, weights = self.codes[first:end], None if self.weights is None else self.weights[first:end]
        if self.dense is not None:
            return RowBatch(codes, self.n_features, dense=self.dense[first:end], weights=weights)
        assert self.sparse is not None
        values, columns, starts = self.sparse
        inside = slice(int(starts[first]), int(starts[end]))
        part = Sparse(values[inside], columns[inside], starts[first : end + 1] - starts[first])
        return RowBatch(codes, self.n_features, sparse=part, weights=weights)

    def take(self, ids: IntArray) -> RowBatch:
        """Copies of some rows."""
        codes, weights = self.codes[ids], None if self.weights is None else self.weights[ids]
        if self.dense is not None:
            return RowBatch(codes, self.n_features, dense=self.dense[ids], weights=weights)
        assert self.sparse is not None
        values, columns, starts = self.sparse
        lengths = starts[ids + 1] - starts[ids]
        ends = np.concatenate([np.zeros(1, starts.dtype), np.cumsum(lengths, dtype=starts.dtype)])
        places = np.repeat(starts[ids] - ends[:-1], lengths) + np.arange(ends[-1], dtype=starts.dtype)
        taken = Sparse(values[places], columns[places], ends)
        return RowBatch(codes, self.n_features, sparse=taken, weights=weights)

    def counting(self) -> RowBatch:
        """The rows whose weight is not 0."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def as_wide_as(self, n_features: int) -> RowBatch:
        """Dense rows filled up with zeros: the engine reads them in whole groups of eight columns."""
        if self.dense is None or self.n_features >= n_features:
            return self
        wide = np.zeros((len(self), n_features), self.dense.dtype)
        wide[:, : self.n_features] = self.dense
        return RowBatch(self.codes, n_features, dense=wide, weights=self.weights)

    def require_finite(self, first_row: int, names: Sequence[str] | None = None) -> None:
        """Raise if a value is NaN or infinite, naming its row (from 0, in the stream) and feature."""
        place = _engine.first_not_finite(np.ascontiguousarray(self.values))
        if place < 0:
            return
        if self.sparse is None:
            row, column = divmod(place, self.n_features)
        else:
            row = int(np.searchsorted(self.sparse.starts, place, side="right")) - 1
            column = int(self.sparse.columns[place])
        value = float(self.values.reshape(-1)[place])
        name = f" ({names[column]!r})" if names is not None and column < len(names) else ""
        raise InputError(
            f"the rows contain {'NaN' if math.isnan(value) else 'infinity'}: row {first_row + row:,} of the stream "
            f"(from 0), feature {column}{name} is {value}. Remove such rows or replace such values first"
        )


def joined(batches: Sequence[RowBatch]) -> RowBatch:
    """Several batches, all dense or all sparse, as one."""
    if len(batches) == 1:
        return batches[0]
    codes = np.concatenate([batch.codes for batch in batches])
    width = max(batch.n_features for batch in batches)
    weights = None
    if any(batch.weights is not None for batch in batches):
        ones = [np.ones(len(batch)) if batch.weights is None else batch.weights for batch in batches]
        weights = np.concatenate(ones)
    if batches[0].dense is not None:
        dense = np.concatenate([batch.as_wide_as(width).values for batch in batches])
        return RowBatch(codes, width, dense=dense, weights=weights)
    parts = [batch.sparse for batch in batches if batch.sparse is not None]
    ends = np.cumsum([0, *(len(part.values) for part in parts)])
    starts = [part.starts[:-1].astype(np.int64) + end for part, end in zip(parts, ends[:-1], strict=True)]
    whole = np.concatenate([*starts, ends[-1:]])
    index = np.int32 if whole[-1] < 1 << 31 and width < 1 << 31 else np.int64
    columns = np.concatenate([part.columns.astype(index, copy=False) for part in parts])
    values = np.concatenate([part.values for part in parts])
    return RowBatch(codes, width, sparse=Sparse(values, columns, whole.astype(index)), weights=weights)
