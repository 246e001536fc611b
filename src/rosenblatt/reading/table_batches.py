"""Batches of rows that come from arrays and not from the engine's parsers, in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine


@dataclass
class TableBatch:
    """Dense rows with what an engine's batch has."""

    values: NDArray[np.float64]
    labels: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    lines: int
    end: int
    rejected: list[_engine.Fault] = field(default_factory=list)
    fault: _engine.Fault | None = None
    names: Sequence[tuple[int, bytes]] = ()
    dense: bool = True
    smallest: int = -1

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.values)

    @property
    def n_features(self) -> int:
        """How many features."""
        return int(self.values.shape[1])

    @property
    def data(self) -> NDArray[np.float64]:
        """The values, row after row."""
        return self.values.reshape(-1)

    @property
    def rows(self) -> _engine.DenseRows:
        """The engine's view."""
        return _engine.DenseRows(self.values)


def reordered(raw: Any, order: Sequence[int]) -> TableBatch:
    """A dense batch with its columns in another order."""
    values = np.ascontiguousarray(raw.data.reshape(raw.n_rows, raw.n_features)[:, order])
    return TableBatch(values, raw.labels, raw.weights, raw.lines, raw.end)
