"""Large dense products and solves in pieces of fixed size: the same bits for any number of threads.

A BLAS that runs several threads cuts a product up by their number, and rounds accordingly. Here it is held to one
thread, and the pieces, whose size does not depend on anything, are spread over ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIECE = 512  # rows or columns: enough for a BLAS to run at its full speed

Matrix = NDArray[Any]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold the BLAS to one thread, and let it go as it was. Takes milliseconds: for large problems only."""
    import scipy.linalg.blas  # noqa: F401  (a library that is not loaded yet would not be held)
    from threadpoolctl import ThreadpoolController

    with ThreadpoolController().limit(limits=1, user_api="blas"):
        yield


def spread(work: Callable[[slice], object], size: int, threads: int) -> None:
    """Do some work for each piece of 0 … size."""
    pieces = [slice(first, min(first + PIECE, size)) for first in range(0, size, PIECE)]
    if threads == 1 or len(pieces) == 1:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, pieces):
            pass


def product(a: Matrix, b: Matrix, threads: int) -> Matrix:
    """A B."""
    out = np.empty((a.shape[0], b.shape[1]), dtype=np.result_type(a, b))
    spread(lambda rows: np.matmul(a[rows], b, out=out[rows]), len(a), threads)
    return out


def add_gram(total: Matrix, a: Matrix, threads: int) -> None:
    """Add A'A to the upper triangle of a matrix; what is below the diagonal is left as it may be."""

    def piece(rows: slice) -> None:
        total[rows, rows.start :] += a[:, rows].T @ a[:, rows.start :]

    spread(piece, len(total), threads)


class Factors:
    """The LU factors of a square matrix, of float32 or float64; `singular` if it has none."""

    def __init__(self, matrix: Matrix) -> None:
        from scipy.linalg import lapack

        self.dtype = matrix.dtype
        letter = "s" if self.dtype == np.float32 else "d"
        self._solve, self._condition = (getattr(lapack, letter + name) for name in ("getrs", "gecon"))
        with np.errstate(all="ignore"):
            self._norm = float(np.abs(matrix).sum(axis=0).max())
        self._lu, self._pivots, info = getattr(lapack, letter + "getrf")(np.asfortranarray(matrix))
        self.singular = info != 0

    def reciprocal_condition(self) -> float:
        """About 1 / (‖A‖₁ ‖A⁻¹‖₁)."""
        return float(self._condition(self._lu, self._norm)[0])

    def solve(self, right: Matrix, threads: int) -> Matrix:
        """A⁻¹B, in column order."""
        out = np.asfortranarray(right, dtype=self.dtype)
        out = out.copy(order="F") if out is right else out

        def piece(columns: slice) -> None:
            pivots = self._pivots.copy()  # the wrapper counts them up and down again: not for two at a time
            out[:, columns] = self._solve(self._lu, pivots, out[:, columns], overwrite_b=1)[0]

        spread(piece, out.shape[1], threads)
        return out
