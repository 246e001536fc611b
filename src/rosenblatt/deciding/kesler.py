"""Kesler's vectors: the question of one W for several classes as that of one hyperplane through the origin.

A row x of class c and a rival r make the vector with +x in block c, -x in block r and 0 in the others, where x has a
last feature 1 if there are intercepts. A W has positive products with all of them if and only if every row's own class
has the highest score. (Nilsson, *Learning Machines*, 1965, after C. Kesler; Crammer and Singer's margin is this one.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rosenblatt.inputs import Codes, IntArray, Rows
from rosenblatt.row_forms import sparse_rows, with_constant


@dataclass(frozen=True)
class Pairs:
    """Pairs of a row and a rival class."""

    rows: IntArray
    rivals: IntArray

    def __len__(self) -> int:
        return len(self.rows)

    def some(self, ids: IntArray) -> Pairs:
        """Those at some places."""
        return Pairs(self.rows[ids], self.rivals[ids])

    def followed_by(self, other: Pairs) -> Pairs:
        """These and then others."""
        return Pairs(np.append(self.rows, other.rows), np.append(self.rivals, other.rivals))

    def numbers(self) -> IntArray:
        """One number for each pair."""
        return self.rows << 16 | self.rivals


def all_pairs(rows: IntArray, codes: Codes, n_classes: int) -> Pairs:
    """Every rival of some rows."""
    rivals = np.arange(n_classes - 1)[np.newaxis] + (np.arange(n_classes - 1) >= codes[rows, np.newaxis])
    return Pairs(np.repeat(rows, n_classes - 1), rivals.reshape(-1).astype(np.int64))


def vectors(rows: Rows, codes: Codes, pairs: Pairs, n_classes: int, *, intercept: bool) -> Rows:
    """The vectors of some pairs, as sparse rows; class after class, the constant last in each block."""
    from scipy.sparse import csr_matrix

    taken = csr_matrix(rows.take(pairs.rows), dtype=np.float64)
    if intercept:
        taken = csr_matrix(with_constant(sparse_rows(taken)).sparse)
    width = taken.shape[1]
    counts = np.diff(taken.indptr)

    def placed(blocks: IntArray) -> csr_matrix:
        columns = taken.indices.astype(np.int64) + np.repeat(blocks * width, counts)
        return csr_matrix((taken.data, columns, taken.indptr), shape=(len(pairs), n_classes * width))

    return sparse_rows(placed(codes[pairs.rows].astype(np.int64)) - placed(pairs.rivals))


def independent_vectors(rows: Rows, codes: Codes, pairs: Pairs, n_classes: int, *, intercept: bool) -> Rows:
    """The vectors without the blocks that say nothing new: one of every set of classes that the pairs connect.

    The blocks of a vector sum to 0, so what holds for a combination of the others holds for that one.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    own = codes[pairs.rows].astype(np.int64)
    graph = csr_matrix((np.ones(len(pairs)), (own, pairs.rivals)), shape=(n_classes, n_classes))
    _, parts = connected_components(graph, directed=False)
    _, redundant = np.unique(parts, return_index=True)
    every = vectors(rows, codes, pairs, n_classes, intercept=intercept)
    width = every.shape[1] // n_classes
    kept = np.setdiff1d(np.arange(n_classes), redundant)
    return sparse_rows(every.sparse[:, (kept[:, np.newaxis] * width + np.arange(width)).reshape(-1)])
