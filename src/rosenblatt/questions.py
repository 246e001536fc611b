"""A question of separability: rows of two sides, what they are a part of, and how to answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt import row_forms, suppliers
from rosenblatt.canonical import Signs
from rosenblatt.certificates import Data
from rosenblatt.inputs import IntArray, Rows
from rosenblatt.suppliers import Supply


@dataclass(frozen=True)
class Choices:
    """How to answer."""

    intercept: bool
    gap: float
    exact: bool | Literal["auto"]
    deadline: float | None
    threads: int

    def remaining(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.monotonic() >= self.deadline


@dataclass(frozen=True)
class Question:
    """Rows of two sides, what they are a part of, and how to answer."""

    rows: Rows
    y: Signs  # -1 and +1
    ids: IntArray | None  # the numbers of the rows in the data, if they are not all of it
    data: Data
    choices: Choices

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.rows) * self.rows.shape[1]

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
