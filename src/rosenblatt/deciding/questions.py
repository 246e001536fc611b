"""A question of separability: rows of two sides, what they are a part of, and how to answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import row_forms
from rosenblatt.certificates import Data
from rosenblatt.checking.canonical import Signs
from rosenblatt.deciding import row_measures
from rosenblatt.inputs import IntArray, Rows
from rosenblatt.searching import suppliers
from rosenblatt.searching.suppliers import Supply

# Numbers and features up to which exact searches end soon: for a margin nearer to the maximum, and for a verdict.
_SETTLED = 40_000
_DECIDED = 20_000_000
EXACT_FEATURES = 60


@dataclass(frozen=True)
class Choices:
    """How to answer."""

    intercept: bool
    gap: float
    exact: bool | Literal["auto"]
    time_limit: float | None
    threads: int
    deadline: float | None = None

    def started(self) -> Choices:
        """The same, with the time running from now on."""
        return replace(self, deadline=None if self.time_limit is None else time.monotonic() + self.time_limit)

    def remaining(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline


@dataclass(frozen=True)
class Question:
    """Rows of two sides, what they are a part of, and how to answer."""

    whole: Rows  # all rows of the data
    sides: Signs  # theirs: -1 and +1, or 0 for rows that are not spoken of
    data: Data
    choices: Choices

    @cached_property
    def ids(self) -> IntArray | None:
        """The numbers in the data of the rows spoken of, if they are not all of it."""
        return None if self.sides.all() else np.flatnonzero(self.sides)

    @cached_property
    def rows(self) -> Rows:
        """The rows spoken of."""
        return self.whole if self.ids is None else row_forms.some_rows(self.whole, self.ids)

    @cached_property
    def y(self) -> Signs:
        """Their sides: -1 and +1."""
        return self.sides if self.ids is None else self.sides[self.ids]

    @cached_property
    def equal_rows(self) -> IntArray | None:
        """Two equal rows with opposite labels, or None."""
        return row_measures.equal_rows(self.rows, self.y)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.rows) * self.rows.shape[1]

    @property
    def settles(self) -> bool:
        """Whether fractions are to bring a margin nearer to the maximum than floats did."""
        return self.choices.exact == "auto" and self.size <= _SETTLED and self.has_time_for_fractions

    @property
    def has_time_for_fractions(self) -> bool:
        """Whether fractions are to decide what floats did not: rows that depend on each other but for rounding."""
        return self.size <= _DECIDED and self.rows.shape[1] <= EXACT_FEATURES and not self.choices.late()

    def numbered(self, rows: IntArray) -> IntArray:
        """The rows' numbers in the data."""
        return rows if self.ids is None else self.ids[rows]

    def supply(self, rows: Rows | None = None, *, intercept: bool | None = None) -> Supply:
        """Candidates in floats, for these rows or others in their place; lower and upper only tell by their signs."""
        choices = self.choices
        rows = self.rows if rows is None else rows
        return supply(rows, self.y, choices, intercept=choices.intercept if intercept is None else intercept)


def supply(
    rows: Rows,
    y: NDArray[Any],
    choices: Choices,
    *,
    intercept: bool,
    supplier: Callable[..., Supply] = suppliers.supply,
) -> Supply:
    """Candidates in floats; lower and upper only tell by their signs and their ratio, as extreme rows are scaled."""
    unit = row_forms.unit(rows)
    with np.errstate(all="ignore"):
        found = supplier(
            rows if unit == 1 else row_forms.scaled(rows, np.full(rows.shape[1], 1 / unit)),
            y,
            intercept=intercept,
            gap=choices.gap,
            deadline=choices.deadline,
            threads=choices.threads,
        )
        found = replace(found, b=found.b * unit)
    if found.w is not None and not (np.isfinite(found.w).all() and math.isfinite(found.b)):
        found = replace(found, w=None, b=0.0, lower=-math.inf)
    good = np.isfinite(found.weights) & (found.weights > 0)
    return replace(found, rows=found.rows[good], weights=found.weights[good])
