"""The parameters of a kernel perceptron, and what each may be; a model file is checked without scikit-learn."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.inputs import Limit, integer, number
from rosenblatt.kernels import budgets
from rosenblatt.kernels import functions as kernels
from rosenblatt.kernels.budgets import BudgetLearner
from rosenblatt.kernels.expansions import KernelLearner
from rosenblatt.perceptron_parameters import LIMITS as SHARED_LIMITS

_LARGEST = float(np.finfo(np.float64).max)
LIMITS: dict[str, Limit] = {
    "degree": integer(1),
    "gamma": Limit(
        choices=("auto", "scale"),
        kind=Real,
        low=0,
        open_low=True,
        high=_LARGEST,
        words="'auto', 'scale' or a finite number above 0",
    ),
    "coef0": number(-_LARGEST, high=_LARGEST),
    "readout": Limit(choices=("vote", "average", "last")),
    "max_support": integer(1, none=True),
    "budget": Limit(choices=budgets.NAMES),
} | {name: limit for name, limit in SHARED_LIMITS.items() if name not in ("penalty", "fit_intercept", "margin")}


def check_kernel_parameters(estimator: str, values: dict[str, Any]) -> None:
    """Raise `InputError` if a parameter is out of its range, or if two do not go together."""
    kernel = values["kernel"]
    if not (callable(kernel) or (isinstance(kernel, str) and kernel in kernels.NAMES)):
        allowed = " or ".join(map(repr, kernels.NAMES))
        raise InputError(
            f"The 'kernel' parameter of {estimator} must be {allowed} or a function of two sets of rows. "
            f"Got {kernel!r} instead"
        )
    inputs.check_parameters(estimator, values, LIMITS)
    if values["max_support"] is not None:
        _check_budget(values)


def _check_budget(values: dict[str, Any]) -> None:
    readout, budget = values["readout"], values["budget"]
    last = "a row that is dropped is forgotten in every vector: set readout='last'"
    if budget == "project":
        last = "its vectors cannot all be kept: set readout='average' or 'last'"
    why = {
        "readout": (
            readout == "vote" or (readout == "average" and budget != "project"),
            last + (", or budget='project' for an average" if readout == "average" else ""),
        ),
        "multi_class": (values["multi_class"] == "joint", "a budget is that of binary problems: set multi_class='ovr'"),
        "restart": (values["restart"], "the scores of all rows would have to be kept: set restart=False"),
        "early_stopping": (values["early_stopping"], "the rows of the best vector may be gone: watch scores yourself"),
    }
    for name, (used, reason) in why.items():
        if used:
            raise InputError(
                f"{name}={values[name]!r} does not work with max_support={values['max_support']}: {reason}"
            )


def new_learner(
    values: dict[str, Any], n_classes: int, n_features: int, *, gamma: float, seed: int = 0
) -> KernelLearner:
    """A learner with these parameters that has learned nothing; `gamma` is the number that the parameter means."""
    kernel = kernels.kernel_of(
        values["kernel"], degree=int(values["degree"]), gamma=gamma, coef0=float(values["coef0"])
    )
    learner: KernelLearner
    if values["max_support"] is None:
        joint = values["multi_class"] == "joint"
        learner = KernelLearner(n_classes, n_features, kernel=kernel, joint=joint, readout=values["readout"])
    else:
        learner = BudgetLearner(
            n_classes,
            n_features,
            kernel=kernel,
            readout=values["readout"],
            budget=values["budget"],
            max_support=int(values["max_support"]),
            seed=seed,
        )
    learner.gamma = gamma
    return learner
