"""Rows that no witness can use are struck out first: what is left decides, and of sparse rows often little is left.

Weights λ ≥ 0 with Σ λ_i y_i x_ij = 0 in a feature j where no y_i x_ij is negative must be 0 on every row where x_ij is
not 0; so too where none is positive. Without those rows other features become one-sided, and so on: linear programming
knows this as presolve. No rounding takes part. What is left, the core, is separable exactly when all rows are: its
witness is one of all rows, and a hyperplane that separates it can be extended to the rows struck out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.searching.candidates import Task


@dataclass(frozen=True)
class Round:
    """Rows that were struck out together, because of one-sided features, and the side of these."""

    rows: IntArray
    features: IntArray  # an offset counts as the last feature, 1 in every row
    sides: FloatArray  # ±1: the sign of y_i x_ij where it is not 0


@dataclass(frozen=True)
class Core:
    """The rows that are left, and how the others went."""

    rows: IntArray
    rounds: list[Round]
    signed: Any  # CSR: y_i x_i, and y_i in a last column if there is an offset

    def features(self, d: int) -> IntArray:
        """The features of the data, of which there are d, that the core's rows use; the first if they use none."""
        used = np.unique(self.signed[self.rows].indices)
        return np.asarray(used[used < d] if (used < d).any() else [0], dtype=np.int64)

    def extended(self, normal: FloatArray) -> FloatArray | None:
        """A hyperplane (w, and b) that separates the core, or 0 if nothing is left, extended to all rows.

        The rows of a round are 0 in the one-sided features of earlier rounds, and not all 0 and on one side in those
        of their own. So from the last round to the first, enough of its own features is added to get its rows right;
        rows that are right already do not feel it. None if floats cannot hold the numbers.
        """
        normal = normal.copy()
        if len(self.rows):
            lowest = float((self.signed[self.rows] @ normal).min())
            if not lowest > 0:
                return None
            normal /= lowest
        with np.errstate(all="ignore"):
            for struck in reversed(self.rounds):
                part = self.signed[struck.rows]
                direction = np.zeros(len(normal))
                direction[struck.features] = struck.sides
                steps = (1.0 - part @ normal) / (part @ direction)
                normal += max(0.0, float(steps.max())) * direction
            length = float(np.linalg.norm(normal))
        return normal if np.isfinite(length) else None


def core(task: Task) -> Core:
    """Strike rows out until no feature is one-sided. Of sparse rows; each number is looked at twice."""
    signed = _signed(task)
    columns = signed.tocsc()
    width = signed.shape[1]
    ups, downs = (np.bincount(signed.indices[signed.data * side > 0], minlength=width) for side in (1, -1))
    left = np.ones(signed.shape[0], dtype=bool)
    rounds: list[Round] = []
    while not task.late():
        features = np.flatnonzero((ups > 0) != (downs > 0))
        if not len(features):
            break
        touched = columns[:, features].indices
        rows = np.unique(touched[left[touched]]).astype(np.int64)
        rounds.append(Round(rows, features, np.where(ups[features] > 0, 1.0, -1.0)))
        left[rows] = False
        gone = signed[rows]
        ups -= np.bincount(gone.indices[gone.data > 0], minlength=width)
        downs -= np.bincount(gone.indices[gone.data < 0], minlength=width)
    return Core(np.flatnonzero(left), rounds, signed)


def _signed(task: Task) -> Any:
    """The rows times their labels, as CSR without stored zeros."""
    n = len(task.rows)
    signs = task.signs(np.arange(n))
    signed = sparse.csr_array(task.rows.sparse, dtype=np.float64, copy=True)
    signed.sum_duplicates()
    signed.data *= np.repeat(signs, np.diff(signed.indptr))
    signed.eliminate_zeros()
    if not task.intercept:
        return signed
    return sparse.hstack([signed, sparse.csr_array(signs[:, np.newaxis])], format="csr")
