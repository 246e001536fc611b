"""From the JSON and the arrays of a model file to the model: each thing checked, against the others, before its use."""

from __future__ import annotations

import importlib
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rosenblatt import inputs
from rosenblatt.errors import InputError, ModelFileError
from rosenblatt.perceptron_parameters import LIMITS

if TYPE_CHECKING:
    from rosenblatt.certificates import Separable

Tensors: TypeAlias = dict[str, NDArray[Any]]

# The models that a file can hold, and where they are: a table, so that a file cannot name anything else.
HOMES = {
    "AveragedPerceptron": "rosenblatt.perceptrons",
    "KernelPerceptron": "rosenblatt.kernel_perceptron",
    "MaxMargin": "rosenblatt.margin_classifiers",
    "Perceptron": "rosenblatt.perceptrons",
    "SoftMargin": "rosenblatt.soft_margin_classifiers",
    "SoftMarginCV": "rosenblatt.margin_paths",
    "VotedPerceptron": "rosenblatt.perceptrons",
}
READOUTS = {"Perceptron": "last", "AveragedPerceptron": "average", "VotedPerceptron": "vote"}
_STATE: dict[str, tuple[type, ...]] = {  # what the JSON holds, and of which type each entry is
    "format": (int,),
    "library": (str,),
    "estimator": (str,),
    "parameters": (dict,),
    "classes_": (list, type(None)),
    "classes_dtype": (str,),
    "feature_names_in_": (list, type(None)),
    "n_features_in_": (int,),
    "sha256": (str,),
}
_TRAINED: dict[str, tuple[type, ...]] = {  # beside that, what the JSON of a model from `train` holds
    "reading": (dict, type(None)),
    "training": (dict,),
    "hashed_names": (dict, type(None)),
}
_COUNTED: dict[str, tuple[type, ...]] = {  # and what is counted in `training`
    "rows": (int,),
    "counts": (list,),
    "progressive_right": (int, type(None)),
    "learned": (int,),
    "held_out": (int,),
    "held_out_right": (int, type(None)),
    "rejected": (int,),
    "sorted_by_label": (bool,),
}
_PARAMETERS = {*LIMITS, "random_state", "class_weight"}
_NEWER = {"margin": 0.0}  # parameters that older files do not have, as those models learned
_SUPPORT = {"coef", "intercept", "support", "dual_coef"}
MARGINS = {  # the arrays of a margin classifier: its attributes, but for the certificates, which are text
    "MaxMargin": _SUPPORT | {"margin", "certificates"},
    "SoftMargin": _SUPPORT | {"slack", "objective"},
    "SoftMarginCV": _SUPPORT | {"slack", "objective", "C", "Cs", "scores"},
}
_TENSORS = {"weights", "intercepts", "visits", "updates", "converged", "mistakes_per_pass"}
_MORE_TENSORS = {
    "last": set(),
    "average": {"late_weights", "late_intercepts"},
    "vote": {"first_weights", "first_intercepts", "mistakes_of_problem"}
    | {f"mistake_{name}" for name in ("row", "visit", "step", "up", "down")},
}
_DENSE_SUPPORT = {"support"}
_SPARSE_SUPPORT = {"support_values", "support_columns", "support_starts"}
_FLOATS, _INDICES = (np.float32, np.float64), (np.int32, np.int64)
LANES = 8  # weights are padded to a multiple of eight columns
WIDE = ("weights", "late_weights", "first_weights")  # arrays with a column for each feature
_MAX_LABELS = 1 << 26  # characters of all string classes, each as wide as the widest
_MAX_CLASSES = (1 << 15) - 1
_MAX_COUNT = 1 << 62


REMEDY = ". The file is damaged or was edited: take it from a backup, or fit and save the model again"


def damaged(what: str) -> ModelFileError:
    """The error for a file that is not as it was written."""
    return ModelFileError(what + REMEDY)


def require(fact: Any, what: str) -> None:
    """Raise if it is not a fact."""
    if not fact:
        raise damaged(what)


def short(value: Any) -> str:
    """A value from a file in at most a hundred characters."""
    text = str(value) if isinstance(value, (str, Exception)) else repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def entries_of(estimator: Any, *, trained: bool = False) -> dict[str, tuple[type, ...]]:
    """What the JSON of an estimator holds, and of which type each entry is."""
    if estimator not in MARGINS:
        learned = {"n_iter_": (int,), "converged_": (bool,), "separates_": (bool, type(None))}
    else:
        learned = {"gap_": (float,)} | ({"n_iter_": (int,)} if "slack" in MARGINS[estimator] else {})
    return _STATE | learned | (_TRAINED if trained else {})


def is_fitted(model: Any) -> bool:
    """Whether one of our models has learned something."""
    return "_learner" in vars(model) or "coef_" in vars(model)


def assemble(state: dict[str, Any], tensors: Tensors) -> Any:
    """The model, after everything in it has been checked, each thing against the others."""
    model = _with_parameters(state)
    arrays = dict(tensors)
    model.classes_ = classes_of(state, arrays)
    model.n_features_in_ = state["n_features_in_"]
    names = _names(state)
    if names is not None:
        model.feature_names_in_ = np.asarray(names, dtype=object)
    if "training" in state:
        model.reading_ = _trained_entries(state, len(model.classes_))
        model._trained = {entry: state[entry] for entry in _TRAINED}
    if state["estimator"] in MARGINS:
        _restore_margins(model, state, arrays)
    else:
        _restore_learner(model, state, arrays)
    return model


def _names(state: dict[str, Any]) -> list[str] | None:
    names: list[str] | None = state["feature_names_in_"]
    if names is not None:
        one_each = len(names) == state["n_features_in_"] and all(type(name) is str for name in names)
        require(one_each, "it has not a name for each feature")
    return names


def check_trained(state: dict[str, Any], tensors: Tensors) -> dict[str, Any]:
    """Check a model in a file without scikit-learn: its parts, under the names of a `TrainedModel`."""
    if state["estimator"] in MARGINS:
        return _check_margins(state, dict(tensors))
    arrays = dict(tensors)
    classes, parameters, d = classes_of(state, arrays), _parameters(state), state["n_features_in_"]
    joint = parameters["multi_class"] == "joint" and len(classes) > 2
    _check_tensors(arrays, len(classes), d, joint=joint, readout=READOUTS[state["estimator"]])
    return checked_parts(state, parameters, classes, arrays)


def checked_parts(
    state: dict[str, Any], parameters: dict[str, Any], classes: NDArray[Any], arrays: Tensors
) -> dict[str, Any]:
    """The parts of a perceptron whose arrays are right, under the names of a `TrainedModel`."""
    mistakes = arrays.pop("mistakes_per_pass")
    require(state["n_iter_"] == len(mistakes), "n_iter_ is not the number of its passes")
    trained = "training" in state
    return {
        "estimator": state["estimator"],
        "parameters": parameters,
        "classes": classes,
        "arrays": arrays,
        "n_features": state["n_features_in_"],
        "mistakes_per_pass": mistakes,
        "converged": state["converged_"],
        "separates": state["separates_"],
        "feature_names": _names(state),
        "reading": _trained_entries(state, len(classes)) if trained else None,
        "training": state["training"] if trained else None,
        "names_of_hashes": _hashed_names(state["hashed_names"]) if trained else {},
    }


def _check_margins(state: dict[str, Any], arrays: Tensors) -> dict[str, Any]:
    """The same of a margin classifier: its hyperplanes as the vectors of a perceptron, which predict alike."""
    classes = classes_of(state, arrays)
    found = SimpleNamespace(classes_=classes, n_features_in_=state["n_features_in_"], _keep_certificates=lambda each: 0)
    _restore_margins(found, state, arrays)
    k, d = found.coef_.shape
    weights = np.zeros((k, -(-d // LANES) * LANES))
    weights[:, :d] = found.coef_
    nothing = np.zeros(k, np.int64)
    vectors = {"weights": weights, "intercepts": found.intercept_, "visits": nothing, "updates": nothing.copy()}
    trained = "training" in state
    return {
        "estimator": state["estimator"],
        "parameters": {"tie": "mistake", "fit_intercept": True, "multi_class": "ovr"},
        "classes": classes,
        "arrays": vectors | {"converged": np.zeros(k, np.bool_)},
        "n_features": d,
        "mistakes_per_pass": np.zeros(0, np.int64),
        "converged": False,
        "separates": None,
        "feature_names": _names(state),
        "reading": _trained_entries(state, len(classes)) if trained else None,
        "training": state["training"] if trained else None,
        "names_of_hashes": _hashed_names(state["hashed_names"]) if trained else {},
    }


def _parameters(state: dict[str, Any]) -> dict[str, Any]:
    values = _NEWER | readable_parameters(state)
    try:
        inputs.check_parameters(state["estimator"], values, LIMITS)
    except (InputError, KeyError) as error:
        raise damaged(short(error)) from None
    return values


def _trained_entries(state: dict[str, Any], n_classes: int) -> Any:
    """Check what a model from `train` says beside the rest; its reading options, if it has any."""
    counted = state["training"]
    require(counted.keys() == _COUNTED.keys(), f"training should have {', '.join(_COUNTED)}")
    for entry, types in _COUNTED.items():
        value = counted[entry]
        require(type(value) in types, f"{entry} is {short(value)}")
        for number in value if isinstance(value, list) else [value or 0]:
            require(type(number) in (int, bool) and 0 <= number < _MAX_COUNT, f"{entry} is {short(value)}")
    require(len(counted["counts"]) == n_classes, "it has not a count for each class")
    _hashed_names(state["hashed_names"])
    if state["reading"] is None:
        return None
    from rosenblatt.reading.options import ReadingOptions

    try:
        return ReadingOptions.from_plain(state["reading"])
    except InputError as error:
        raise damaged(short(error)) from None


def _hashed_names(stored: Any) -> dict[int, str]:
    if stored is None:
        return {}
    pairs = stored.keys() == {"columns", "names"} and all(type(part) is list for part in stored.values())
    require(pairs and len(stored["columns"]) == len(stored["names"]), "hashed_names are not columns with names")
    columns = all(type(column) is int and column >= 0 for column in stored["columns"])
    require(columns and all(type(name) is str for name in stored["names"]), "hashed_names are not columns with names")
    return dict(zip(stored["columns"], stored["names"], strict=True))


def _restore_learner(model: Any, state: dict[str, Any], arrays: Tensors) -> None:
    joint = model.multi_class == "joint" and len(model.classes_) > 2
    if state["estimator"] == "KernelPerceptron":
        model._check_arrays(arrays, joint=joint)
    else:
        _check_tensors(arrays, len(model.classes_), model.n_features_in_, joint=joint, readout=model._readout)
    model.mistakes_per_pass_, model.n_iter_ = arrays.pop("mistakes_per_pass"), state["n_iter_"]
    require(model.n_iter_ == len(model.mistakes_per_pass_), "n_iter_ is not the number of its passes")
    model.converged_, model.separates_ = state["converged_"], state["separates_"]
    model.updates_per_class_ = arrays["updates"].copy()
    model.n_updates_ = int(arrays["updates"].sum())
    model._learner = model._learner_of(arrays)


def _with_parameters(state: dict[str, Any]) -> Any:
    name = state["estimator"]
    estimator = getattr(importlib.import_module(HOMES[name]), name)
    values = readable_parameters(state, set(estimator().get_params(deep=False)))
    model = estimator(**values)
    try:
        model._check_parameters()
    except InputError as error:
        raise damaged(short(error)) from None
    for parameter in values.keys() & {"cv", "scoring"}:  # which may be anything for fit, but not in a file
        require(type(values[parameter]) in (type(None), int, str), f"{parameter} is {short(values[parameter])}")
    return model


def readable_parameters(state: dict[str, Any], known: set[str] = _PARAMETERS) -> dict[str, Any]:
    """The parameters, of which this version must know each, as Python has them."""
    values = dict(state["parameters"])
    unknown = values.keys() - known
    if unknown:
        raise ModelFileError(
            f"it has a parameter that this version does not know, {short(min(unknown))}: "
            f"it was written by rosenblatt {short(state['library'])}; pip install --upgrade rosenblatt"
        )
    for parameter, value in values.items():
        if value in ("Infinity", "-Infinity"):
            values[parameter] = float(value)
    if "class_weight" in values:
        values["class_weight"] = _class_weight(values["class_weight"])
    require(type(values.get("random_state")) in (int, type(None)), "random_state is not a number")
    return values


def _class_weight(stored: Any) -> Any:
    if stored is None or stored == "balanced":
        return stored
    pairs = isinstance(stored, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and type(pair[0]) in (str, int, float, bool)
        and (type(pair[1]) in (int, float) or pair[1] in ("Infinity", "-Infinity"))
        for pair in stored
    )
    require(pairs, "class_weight is not a weight for each class")
    weights = {key: float(weight) if isinstance(weight, str) else weight for key, weight in stored}
    require(len(weights) == len(stored), "class_weight names a class twice")
    return weights


def classes_of(state: dict[str, Any], tensors: Tensors) -> NDArray[Any]:
    """The classes, strictly ascending: numbers from an array, strings and objects from the JSON."""
    labels, dtype = state["classes_"], state["classes_dtype"]
    if labels is None:
        classes = tensors.pop("classes", np.empty(0))
        require(classes.dtype.name == dtype and classes.ndim == 1, "its classes are not an array of their dtype")
        if dtype == "bool":
            require(classes.view(np.uint8).tolist() == [0, 1], "its classes are not False and True")
        require(dtype[0] != "f" or np.isfinite(classes).all(), "a class is NaN or infinite")
    else:
        allowed = {"str": (str,), "object": (str, int, float, bool)}.get(dtype, ())
        require(all(type(label) in allowed for label in labels), "a class is not a label")
        if dtype == "str":
            widest = max(map(len, labels), default=0)
            require(widest * len(labels) <= _MAX_LABELS, "its classes have very long names")
        classes = np.asarray(labels, dtype=dtype)
        require(classes.tolist() == labels, "a class is not a label")
    require(2 <= len(classes) <= _MAX_CLASSES, f"it has {len(classes)} classes")
    try:
        ascending = bool((classes[:-1] < classes[1:]).all())
    except TypeError:
        ascending = False
    require(ascending, "its classes are not in order")
    return classes


# The hyperplanes of a margin classifier -----------------------------------------------------------------------------


def _restore_margins(model: Any, state: dict[str, Any], arrays: Tensors) -> None:
    expected = MARGINS[state["estimator"]]
    _require_names(arrays, expected)
    k, d = 1 if len(model.classes_) == 2 else len(model.classes_), model.n_features_in_
    require(0 <= state["gap_"] < np.inf, "gap_ is not a gap")
    model.gap_ = state["gap_"]
    model.coef_ = _checked(arrays, "coef", (k, d), np.float64)
    model.intercept_ = _checked(arrays, "intercept", (k,), np.float64)
    model.support_ = _checked(arrays, "support", (None,), np.int64)
    model.dual_coef_ = _checked(arrays, "dual_coef", (k, len(model.support_)), np.float64)
    rows = model.support_
    require((rows >= 0).all() and (rows[:-1] < rows[1:]).all(), "support is not a list of rows in order")
    for name in sorted(expected & {"margin", "objective"}):
        values = _checked(arrays, name, (k,), np.float64)
        require((values >= 0).all(), f"{name} is negative")
        setattr(model, f"{name}_", float(values[0]) if k == 1 else values)
    if "certificates" in expected:
        model._keep_certificates(_certificates(model, _checked(arrays, "certificates", (None,), np.uint8)))
    if "slack" in expected:
        model.n_iter_ = state["n_iter_"]
        model.slack_ = _checked(arrays, "slack", (None,) if k == 1 else (None, k), np.float64)
        require(model.n_iter_ >= 0 and (model.slack_ >= 0).all(), "n_iter_ or slack is negative")
        require(not len(rows) or rows[-1] < len(model.slack_), "support has a row that has no slack")
    if "scores" in expected:
        model.Cs_ = _checked(arrays, "Cs", (None,), np.float64)
        model.scores_ = _checked(arrays, "scores", (None, len(model.Cs_)), np.float64)
        model.C_ = float(_checked(arrays, "C", (1,), np.float64)[0])
        require((model.Cs_ > 0).all() and model.C_ in model.Cs_, "C is not one of those that were tried")


def _certificates(model: Any, text: NDArray[Any]) -> list[Separable]:
    """The certificates of a maximum margin: each of a hyperplane that the model has, in canonical form."""
    from rosenblatt.certificates import Separable, certificate_from_json

    try:
        stored = json.loads(text.tobytes())
        one_each = isinstance(stored, list) and len(stored) == len(model.coef_)
        require(one_each and all(type(one) is str for one in stored), "it has not a certificate for each hyperplane")
        found = [certificate_from_json(one) for one in stored]
        planes = [one.canonical for one in found if isinstance(one, Separable)]
    except (ValueError, RecursionError) as error:
        raise damaged(f"its certificates cannot be read ({short(error)})") from None
    ours = len(planes) == len(found) and all(
        np.array_equal(plane.w, w) and plane.b == b
        for plane, w, b in zip(planes, model.coef_, model.intercept_, strict=True)
    )
    require(ours, "a certificate is not one of its hyperplanes")
    return [one for one in found if isinstance(one, Separable)]


# The state of a perceptron ------------------------------------------------------------------------------------------


def _check_tensors(tensors: Tensors, n_classes: int, d: int, *, joint: bool, readout: str) -> None:
    """Check that exactly the arrays of such a model are there, and that they fit together."""
    expected = _TENSORS | _MORE_TENSORS[readout]
    if readout == "vote":
        expected |= next((kind for kind in (_DENSE_SUPPORT, _SPARSE_SUPPORT) if kind & tensors.keys()), set())
    _require_names(tensors, expected)
    n_vectors = 1 if n_classes == 2 else n_classes
    n_problems = 1 if joint else n_vectors
    for name in sorted(expected & set(WIDE)):
        array = _checked(tensors, name, (n_vectors, -(-d // LANES) * LANES), np.float64)
        require(d >= 1 and not array[:, d:].any(), f"{name} is not zero beyond the last feature")
    for name in sorted(expected & {"intercepts", "late_intercepts", "first_intercepts"}):
        _checked(tensors, name, (n_vectors,), np.float64)
    for name in sorted(expected & {"visits", "updates", "mistakes_of_problem"}):
        _counts(tensors, name, (n_problems,))
    _checked(tensors, "converged", (n_problems,), np.bool_)
    _counts(tensors, "mistakes_per_pass", (None,))
    visits = tensors["visits"]
    require((tensors["updates"] <= visits).all(), "it has more updates than visits")
    if readout == "average":
        of_vectors = np.broadcast_to(visits, n_vectors)
        with np.errstate(over="ignore", invalid="ignore"):
            for n, last, late in zip(of_vectors, tensors["weights"], tensors["late_weights"], strict=True):
                require(np.isfinite(n * last - late).all(), "the average of its weights is NaN or infinite")
    if readout == "vote":
        _check_mistakes(tensors, n_classes, _check_support(tensors, d), joint=joint)


def _require_names(tensors: Tensors, expected: set[str]) -> None:
    for name in sorted(expected ^ tensors.keys()):
        raise damaged(f"array {short(name)} is {'missing' if name in expected else 'not expected'}")


def _checked(tensors: Tensors, name: str, shape: tuple[int | None, ...], *dtypes: Any) -> NDArray[Any]:
    """The array, if it has the shape (None is any length) and one of the dtypes, and only finite numbers."""
    array = tensors[name]
    fits = len(shape) == array.ndim and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    wanted = " × ".join("any" if n is None else str(n) for n in shape)
    require(fits, f"{name} has shape {array.shape}, expected {wanted}")
    require(array.dtype in dtypes, f"{name} has dtype {array.dtype}, expected {np.dtype(dtypes[0])}")
    require(array.dtype.kind != "f" or np.isfinite(array).all(), f"{name} has a NaN or an infinity")
    return array


def _counts(tensors: Tensors, name: str, shape: tuple[int | None, ...]) -> None:
    array = _checked(tensors, name, shape, np.int64)
    require(((array >= 0) & (array < _MAX_COUNT)).all(), f"{name} has a number that counts nothing")


def _check_support(tensors: Tensors, d: int) -> int:
    """Check the rows that mistakes were made on, dense or CSR; how many there are."""
    if "support" in tensors:
        return len(_checked(tensors, "support", (None, d), *_FLOATS))
    if "support_starts" not in tensors:
        return 0
    starts = _checked(tensors, "support_starts", (None,), *_INDICES)
    n_values = len(_checked(tensors, "support_values", (None,), *_FLOATS))
    columns = _checked(tensors, "support_columns", (n_values,), *_INDICES)
    require(
        len(starts) > 0 and starts[0] == 0 and starts[-1] == n_values and (starts[:-1] <= starts[1:]).all(),
        "support_starts does not divide the values into rows",
    )
    require(((columns >= 0) & (columns < d)).all(), "support_columns has a column that is no feature")
    return len(starts) - 1


def _check_mistakes(tensors: Tensors, n_classes: int, n_support: int, *, joint: bool) -> None:
    """Check the mistakes of all problems, one after the other: rows that exist, at ever later visits."""
    row = _checked(tensors, "mistake_row", (None,), np.int32)
    up = _checked(tensors, "mistake_up", row.shape, np.int32)
    down = _checked(tensors, "mistake_down", row.shape, np.int32)
    visit = _checked(tensors, "mistake_visit", row.shape, np.int64)
    _checked(tensors, "mistake_step", row.shape, np.float64)
    require(((row >= 0) & (row < n_support)).all(), "mistake_row has a row that is not in the support")
    low, high = (0, n_classes) if joint else (-1, 0)
    inside = (up >= low) & (up < high) & (down >= low) & (down < high)
    require(inside.all() and not (joint and (up == down).any()), "mistake_up or mistake_down is no class")
    lengths = tensors["mistakes_of_problem"].tolist()
    for_each = lengths == tensors["updates"].tolist() and sum(lengths) == len(row)
    require(for_each, "it has not a mistake for each update")
    end = 0
    for length, last in zip(lengths, tensors["visits"].tolist(), strict=True):
        mine, end = visit[end : end + length], end + length
        require(
            not length or (mine[0] >= 1 and mine[-1] <= last and (mine[:-1] < mine[1:]).all()),
            "mistake_visit is not in order",
        )
