"""A kernel perceptron in numpy, as one writes it: blocks of 500 rows, one ``X @ S.T`` each, a Python loop inside.

One class against the rest with the kernel (1 + x·z)^degree, one pass in the order of the rows, all in the type of X
(ours adds up in float64). Each support row is stored once, and all classes share the kernel values, as with ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import Data

BLOCK = 500


@dataclass(frozen=True)
class Run:
    """The rows of the support, and their coefficients (support × classes)."""

    support: NDArray[Any]
    alpha: NDArray[Any]

    @property
    def mistakes(self) -> int:
        """Of all classes: in one pass each has the coefficient 1 or -1."""
        return int(np.count_nonzero(self.alpha))

    def error(self, data: Data, degree: int) -> float:
        """On the rows held out."""
        scores = (1 + data.X_test @ data.X[self.support].T) ** degree @ self.alpha
        return float(np.mean(scores.argmax(axis=1) != data.y_test))


def one_pass(X: NDArray[Any], y: NDArray[Any], n_classes: int, degree: int) -> Run:
    """What one pass learns."""
    signs = np.where(y[:, np.newaxis] == np.arange(n_classes), 1, -1).astype(X.dtype)
    support: list[int] = []
    alpha: list[NDArray[Any]] = []
    for first in range(0, len(X), BLOCK):
        block = X[first : first + BLOCK]
        scores = np.zeros((len(block), n_classes), X.dtype)
        if support:
            scores = (1 + block @ X[support].T) ** degree @ np.asarray(alpha)
        own = (1 + block @ block.T) ** degree
        for i in range(len(block)):
            label = signs[first + i]
            wrong = label * scores[i] <= 0
            if wrong.any():
                step = np.where(wrong, label, 0)
                scores += np.outer(own[i], step)
                support.append(first + i)
                alpha.append(step)
    return Run(np.asarray(support), np.asarray(alpha))
