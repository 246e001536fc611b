"""HiGHS through scipy: is there a w with y(w·x + b) >= 1 for every row? The whole linear programme."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

LIMIT = 60.0


def verdict(X: Any, y: Any) -> bool | None:
    """True: separable; False: not; None: not finished within the limit, or no verdict."""
    n, d = X.shape
    signed = np.column_stack([X, np.ones(n)]) * -np.where(y > 0, 1.0, -1.0)[:, np.newaxis]
    free = [(None, None)] * (d + 1)
    found = linprog(np.zeros(d + 1), signed, -np.ones(n), bounds=free, method="highs", options={"time_limit": LIMIT})
    return {0: True, 2: False}.get(found.status)
