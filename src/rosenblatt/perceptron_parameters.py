"""The parameters that all perceptrons share, and what each may be; a model file is checked without scikit-learn."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from rosenblatt.inputs import Limit, flag, integer, number

LIMITS: dict[str, Limit] = {
    "penalty": Limit(choices=(None,), instead="For a regularised hyperplane use SoftMargin"),
    "fit_intercept": flag(),
    "max_iter": integer(1),
    "max_updates": integer(1, none=True),
    "tol": number(-np.inf, none=True),
    "shuffle": flag(),
    "restart": flag(),
    "verbose": Limit(choices=(True, False), kind=Integral, low=0),
    "eta0": Limit(
        kind=Real, low=0, open_low=True, high=float(np.finfo(np.float64).max), words="a finite number above 0"
    ),
    "tie": Limit(choices=("mistake", "positive", "negative")),
    "multi_class": Limit(choices=("ovr", "joint")),
    "n_jobs": Limit(choices=(None,), kind=Integral),
    "early_stopping": flag(),
    "validation_fraction": number(0, high=1, above=True),
    "n_iter_no_change": integer(1),
    "warm_start": flag(),
    "margin": Limit(kind=Real, low=0, high=float(np.finfo(np.float64).max), words="a finite number of at least 0"),
}
