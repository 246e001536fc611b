"""What is counted while the rows of a stream are read for the first time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rosenblatt.runs.row_batches import RowBatch


@dataclass
class Tally:
    """Counts of the rows; classes are in the order of their appearance."""

    rows: int = 0
    learned: int = 0  # of these, neither held out nor of weight 0
    counts: list[int] = field(default_factory=list)  # rows of each class
    changes: int = 0  # rows whose class is not that of the row before
    last: int = -1
    weighted: bool = False

    def add(self, batch: RowBatch, n_classes: int) -> None:
        """Count a batch."""
        codes = batch.codes
        if n_classes == 2:  # the usual case, and the quickest count
            ones = int(np.count_nonzero(codes))
            more = [len(codes) - ones, ones]
        else:
            more = np.bincount(codes, minlength=n_classes).tolist()
        self.counts += [0] * (n_classes - len(self.counts))
        self.counts = [a + b for a, b in zip(self.counts, more, strict=True)]
        self.changes += int(np.count_nonzero(codes[1:] != codes[:-1])) + int(self.rows > 0 and codes[0] != self.last)
        self.last = int(codes[-1])
        self.rows += len(batch)
        self.weighted = self.weighted or batch.weights is not None

    @property
    def changes_if_mixed(self) -> float:
        """How many changes a random order would have, on average."""
        return self.rows - sum(count * count for count in self.counts) / max(1, self.rows)

    def sorted_by_label(self) -> bool:
        """Whether the classes come in long runs: far fewer changes than a random order would have."""
        return self._changes_at_most(0.05)

    def in_runs(self) -> bool:
        """Whether neighbours are often of one class, so that who has just learned from one knows the next."""
        return self._changes_at_most(0.5)

    def _changes_at_most(self, share: float) -> bool:
        expected = self.changes_if_mixed
        return self.rows >= 100 and expected > 20 and self.changes < share * expected
