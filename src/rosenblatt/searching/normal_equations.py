"""Large positive definite systems: factored in float32, solved in float64.

A Cholesky factor in float32 costs half of one in float64. It is not the solution but a preconditioner: conjugate
gradients, which only need products with the matrix that is meant, are then done in a few steps, to the accuracy of
float64. Systems too ill conditioned for that need a factor in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import FloatArray

WIDE = 1000  # unknowns: from here on float32 is tried first
RIDGES = (1e-6, 1e-4)  # what float32 may need
_SINGULAR = 1e-12  # a pivot of this part of the mean diagonal may be all rounding
_STEPS = 40
_ENOUGH = 1e-9  # of the right side: conjugate gradients fail if they did not come below this


class Cholesky:
    """The factor of a matrix of float32 or float64 that is given by its upper triangle.

    `failed` if there is none, `singular` if it may be that of a singular matrix. A ridge, a part of the mean diagonal,
    is put on the diagonal: the first that will do.
    """

    def __init__(self, gram: NDArray[Any], ridges: tuple[float, ...]) -> None:
        """Factor; the diagonal of the matrix is changed."""
        from scipy.linalg import lapack

        letter = "s" if gram.dtype == np.float32 else "d"
        factor, self._solve = (getattr(lapack, letter + name) for name in ("potrf", "potrs"))
        self._dtype = gram.dtype
        self.failed = True
        diagonal = gram.diagonal().copy()
        mean = float(diagonal.mean())
        for ridge in ridges if np.isfinite(mean) else ():
            np.fill_diagonal(gram, diagonal + self._dtype.type(ridge * mean))
            self._factor, info = factor(gram.T, lower=1, clean=0)
            if info == 0:
                self.failed = False
                pivot = float(np.square(self._factor.diagonal()).min())
                self.singular = pivot <= _SINGULAR * mean
                return

    def solve(self, right: FloatArray) -> FloatArray:
        """The solution, to the accuracy of the factor."""
        size = float(np.abs(right).max(initial=0.0)) or 1.0
        found = self._solve(self._factor, (right / size).astype(self._dtype), lower=1)[0]
        return np.asarray(found, dtype=np.float64).reshape(-1) * size


def conjugate_gradients(
    apply: Callable[[FloatArray], FloatArray], factor: Cholesky, right: FloatArray, reached: float = 1e-13
) -> FloatArray | None:
    """Solve G x = b, given products with G and the factor of nearly G; None if that does not go well.

    The residual is to be this part of the right side, or at least near to that.
    """
    x, rest, direction = np.zeros_like(right), right.copy(), np.zeros_like(right)
    wanted = size = float(np.linalg.norm(right))
    before = 1.0
    for _ in range(_STEPS):
        if size <= reached * wanted:
            break
        step = factor.solve(rest)
        now = float(rest @ step)
        direction = step + now / before * direction
        image = apply(direction)
        curvature = float(direction @ image)
        if not (curvature > 0 and now > 0):
            break
        x += now / curvature * direction
        rest -= now / curvature * image
        before, size = now, float(np.linalg.norm(rest))
    return x if float(np.linalg.norm(right - apply(x))) <= max(_ENOUGH, 2 * reached) * wanted else None
