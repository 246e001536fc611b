"""The mistakes behind a vote, collected from passes over a cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import IntArray
from rosenblatt.learner import Learner
from rosenblatt.runs.row_batches import RowBatch
from rosenblatt.runs.shuffling import Piece
from rosenblatt.runs.stream_scores import scipy_rows
from rosenblatt.voting import Places


class VotedRows:
    """Hands the mistakes of each piece to the votes of a learner, rows numbered as in the cache."""

    def __init__(self, learner: Learner) -> None:
        self.learner, self.places = learner, Places()

    def extend(self, piece: Piece, logs: list[dict[str, NDArray[Any]]]) -> None:
        """Take the mistakes of a piece."""
        assert self.learner.votes is not None and piece.numbers is not None
        numbered = [log | {"row": piece.numbers[log["row"]]} for log in logs]
        self.learner.votes.extend(_Numbered(piece.batch, piece.numbers, self.learner.n_features), numbered, self.places)

    def sort(self) -> None:
        """Bring the rows into the order of the cache, whatever the order of the visits was."""
        assert self.learner.votes is not None
        self.learner.votes.sort_support(self.places)


class _Numbered:
    """Rows that are asked for by their number in the cache."""

    def __init__(self, batch: RowBatch, numbers: IntArray, n_features: int) -> None:
        self._batch, self._numbers, self._n_features = batch.as_wide_as(n_features), numbers, n_features

    def take(self, ids: IntArray) -> Any:
        """Copies of some rows, as float64."""
        order = np.argsort(self._numbers, kind="stable")
        found = order[np.searchsorted(self._numbers, ids, sorter=order)]
        rows = scipy_rows(self._batch.take(found), self._n_features)
        return rows.take(np.arange(len(found))).astype(np.float64)
