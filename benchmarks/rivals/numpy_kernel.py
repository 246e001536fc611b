"""A kernel perceptron in numpy, as one writes it: blocks of 500 rows, one ``X @ S.T`` each, a Python loop inside.

One class against the rest with the kernel (1 + x·z)^degree, one pass in the order of the rows, all in the type of X.
Each support row is stored once, and all classes share the kernel values, as with ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 500


def one_pass(X: NDArray[Any], y: NDArray[Any], n_classes: int, degree: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The rows of the support and their coefficients (support × classes) after one pass."""
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
    return np.asarray(support), np.asarray(alpha)
