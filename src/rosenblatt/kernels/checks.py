"""The arrays of a kernel perceptron in a model file, each checked against the others before its use."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.kernels.expansions import KernelLearner
from rosenblatt.kernels.parameters import LIMITS, check_kernel_parameters, new_learner
from rosenblatt.model_checks import (
    Tensors,
    _check_mistakes,
    _checked,
    _counts,
    _require_names,
    checked_parts,
    classes_of,
    damaged,
    readable_parameters,
    require,
    short,
)

PARAMETERS = {*LIMITS, "kernel", "random_state", "class_weight"}

_SHARED = {"visits", "updates", "converged", "mistakes_per_pass", "gamma"}
_SUPPORT = {"support_codes", "support_numbers", "rows_seen"}
_ROWS = {"support_values", "support_columns", "support_starts", "support_dense"}
_MISTAKES = {"mistakes_of_problem"} | {f"mistake_{name}" for name in ("row", "visit", "step", "up", "down")}
_KEPT = {"kept_row", "kept_coefficient", "kept_state", "kept_gram", "kept_mistaken", "seed"}


def check_kernel_model(state: dict[str, Any], tensors: Tensors) -> tuple[dict[str, Any], KernelLearner]:
    """Check a kernel perceptron in a file without scikit-learn: its parts, as `check_trained` has them, and itself."""
    arrays = dict(tensors)
    values, classes, d = readable_parameters(state, PARAMETERS), classes_of(state, arrays), state["n_features_in_"]
    try:
        check_kernel_parameters(state["estimator"], values)
    except (InputError, KeyError) as error:
        raise damaged(short(error)) from None
    joint = values["multi_class"] == "joint" and len(classes) > 2
    check_kernel_tensors(arrays, values, len(classes), d, joint=joint)
    learner = new_learner(values, len(classes), d, gamma=float(arrays["gamma"][0]))
    learner.take_arrays(arrays)
    return checked_parts(state, values, classes, arrays), learner


def check_kernel_tensors(tensors: Tensors, values: dict[str, Any], n_classes: int, d: int, *, joint: bool) -> None:
    """Check that exactly the arrays of a model with these parameters are there, and that they fit together."""
    precomputed, average = values["kernel"] == "precomputed", values["readout"] == "average"
    max_support, budget = values["max_support"], values["budget"]
    expected = _SHARED | _SUPPORT | ({"support_ids"} if precomputed else _ROWS)
    expected |= _MISTAKES if max_support is None else _KEPT | ({"kept_late"} if average else set())
    _require_names(tensors, expected)
    n_problems = 1 if joint or n_classes == 2 else n_classes
    for name in ("visits", "updates"):
        _counts(tensors, name, (n_problems,))
    require((tensors["updates"] <= tensors["visits"]).all(), "it has more updates than visits")
    _checked(tensors, "converged", (n_problems,), np.bool_)
    _counts(tensors, "mistakes_per_pass", (None,))
    _counts(tensors, "rows_seen", (1,))
    require(_checked(tensors, "gamma", (1,), np.float64)[0] > 0, "gamma is not above 0")
    n_support = _check_support(tensors, n_classes, d, precomputed=precomputed)
    if max_support is None:
        _counts(tensors, "mistakes_of_problem", (n_problems,))
        _check_mistakes(tensors, n_classes, n_support, joint=joint)
    else:
        _check_kept(tensors, n_problems, n_support, max_support, with_gram=budget != "random", average=average)


def _check_support(tensors: Tensors, n_classes: int, d: int, *, precomputed: bool) -> int:
    codes = _checked(tensors, "support_codes", (None,), np.int16)
    require(((codes >= 0) & (codes < n_classes)).all(), "support_codes has a number that is no class")
    n = len(codes)
    _counts(tensors, "support_numbers", (n,))
    if precomputed:
        ids = _checked(tensors, "support_ids", (n,), np.int64)
        require(((ids >= 0) & (ids < d)).all(), "support_ids has a row that the fit did not have")
        return n
    _checked(tensors, "support_dense", (1,), np.bool_)
    starts = _checked(tensors, "support_starts", (n + 1,), np.int64)
    n_values = len(_checked(tensors, "support_values", (None,), np.float32, np.float64))
    columns = _checked(tensors, "support_columns", (n_values,), np.int32)
    require(
        starts[0] == 0 and starts[-1] == n_values and (starts[:-1] <= starts[1:]).all(),
        "support_starts does not divide the values into rows",
    )
    require(((columns >= 0) & (columns < d)).all(), "support_columns has a column that is no feature")
    ascending = np.ones(n_values, bool)
    ascending[1:] = columns[1:] > columns[:-1]
    ascending[starts[:-1][starts[:-1] < n_values]] = True
    require(ascending.all() and (tensors["support_values"] != 0).all(), "a row of the support is not in order")
    return n


def _check_kept(
    tensors: Tensors, n_problems: int, n_support: int, max_support: int, *, with_gram: bool, average: bool
) -> None:
    rows = _checked(tensors, "kept_row", (n_support,), np.int32)
    require(n_support <= max_support, "it keeps more rows than max_support")
    require((np.sort(rows) == np.arange(n_support)).all(), "kept_row does not have each row of the support once")
    for name in ("kept_coefficient", *(("kept_late",) if average else ())):
        _checked(tensors, name, (n_problems, n_support), np.float64)
    _checked(tensors, "kept_state", (n_problems + 1,), np.float64)
    _checked(tensors, "kept_gram", (n_support, n_support) if with_gram else (0, 0), np.float64)
    _counts(tensors, "kept_mistaken", (1,))
    _counts(tensors, "seed", (1,))
