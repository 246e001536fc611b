"""Which rows a picture shows: all of few, a seeded choice of many, and always those that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.checking.sketches import choose
from rosenblatt.errors import InputError
from rosenblatt.inputs import FloatArray, IntArray

SHOWN = 2000  # points, unless asked for more: beyond, they hide one another


@dataclass(frozen=True)
class Sample:
    """Rows that are drawn, with their classes, and their numbers among all."""

    X: Any  # dense float64, or CSR
    codes: NDArray[np.int64]  # class numbers
    rows: IntArray  # row numbers, ascending
    classes: NDArray[Any]
    counts: IntArray  # rows of each class, of all
    feature_names: Sequence[str] | None = None

    @property
    def n_rows(self) -> int:
        """All rows, shown or not."""
        return int(self.counts.sum())

    @property
    def n_features(self) -> int:
        """Features of a row."""
        return int(self.X.shape[1])

    @property
    def signs(self) -> NDArray[np.int64]:
        """−1 for the first of two classes, +1 for the second."""
        return 2 * self.codes - 1

    @property
    def note(self) -> str:
        """That not all are shown, if so."""
        return "" if len(self.rows) == self.n_rows else f"{len(self.rows):,} of {self.n_rows:,} rows shown"

    def places(self, rows: Iterable[int]) -> IntArray:
        """Where these rows are among those shown; rows that are not shown are left out."""
        wanted = np.unique(np.asarray(list(rows), dtype=np.int64))
        found = np.searchsorted(self.rows, wanted)
        inside = found < len(self.rows)
        found, wanted = found[inside], wanted[inside]
        return np.asarray(found[self.rows[found] == wanted])

    def feature(self, number: int) -> str:
        """The name of a feature, or x₁, x₂, ..."""
        if self.feature_names is not None:
            return str(self.feature_names[number])
        return "x" + "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number + 1))


def sample(
    X: Any,
    y: Any,
    *,
    classes: NDArray[Any] | None = None,
    always: Iterable[int] = (),
    limit: int = SHOWN,
    names: Sequence[str] | None = None,
) -> Sample:
    """Check X and y, and choose what is shown; the same of the same data in every run."""
    checked = inputs.rows(X, estimator="a plot")
    labels = inputs.labels(y, len(checked))
    codes: NDArray[Any]
    if classes is None:
        classes, codes = inputs.encode(labels)
    else:
        codes = inputs.encode_known(labels, classes)
    chosen = choose(codes, len(classes), always, limit)
    shown = checked.take(chosen)
    shown = shown.astype(np.float64)
    values = shown.data if checked.sparse is not None else shown
    if not np.isfinite(values).all():
        checked.require_finite()
    names = names if names is not None else checked.feature_names
    if names is not None and len(names) != checked.shape[1]:
        raise InputError(f"names has {len(names)} names for {checked.shape[1]} features")
    counts = np.bincount(codes, minlength=len(classes)).astype(np.int64)
    return Sample(shown, codes[chosen].astype(np.int64), chosen, classes, counts, names)


def dense(rows: Any) -> FloatArray:
    """Rows as an array; only ever asked of a few columns or a few rows."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
