"""A fitted model as one file that any language can read, and back, without pickle.

The file is in the safetensors format: arrays, and JSON that says what they are. It is written beside the old
one and renamed, so that a crash leaves the old model. Whatever a file claims is checked before it is used:
reading one can end in an error, but never runs code, and needs memory of the order of the file's own size.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import json
import math
import os
import re
import secrets
import stat
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load
from safetensors.numpy import save as to_bytes

import rosenblatt
from rosenblatt.errors import InputError, ModelFileError

FORMAT_VERSION = 1

Tensors: TypeAlias = dict[str, NDArray[Any]]
Path: TypeAlias = str | os.PathLike[str]

# The models that a file can hold, and where they are: a table, so that a file cannot name anything else.
_HOMES = {
    "AveragedPerceptron": "rosenblatt.perceptrons",
    "Perceptron": "rosenblatt.perceptrons",
    "VotedPerceptron": "rosenblatt.perceptrons",
}
_STATE = {  # what the JSON holds, and of which type each entry is
    "format": (int,),
    "library": (str,),
    "estimator": (str,),
    "parameters": (dict,),
    "classes_": (list, type(None)),
    "classes_dtype": (str,),
    "feature_names_in_": (list, type(None)),
    "n_features_in_": (int,),
    "n_iter_": (int,),
    "converged_": (bool,),
    "separates_": (bool,),
    "sha256": (str,),
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
_DTYPES = set("F64 F32 F16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL".split())  # noqa: SIM905 - in safetensors' words
_FLOATS, _INDICES = (np.float32, np.float64), (np.int32, np.int64)
_LANES = 8  # weights are padded to a multiple of eight columns
_MAX_HEADER = 32 << 20  # bytes: room for the names of a million features
_MAX_LISTS = 1 << 17  # lists and objects in the JSON: a weight for each of all classes, and some more
_MAX_LABELS = 1 << 26  # characters of all string classes, each as wide as the widest
_MAX_CLASSES = (1 << 15) - 1
_MAX_COUNT = 1 << 62


# Saving and loading -----------------------------------------------------------------------------------------


def save(model: Any, path: Path) -> None:
    """Write a fitted model to a file.

    The old file, if there is one, is replaced in one step when the new one is safely on disk.

    Parameters
    ----------
    model : Perceptron, AveragedPerceptron or VotedPerceptron
        A fitted model. A ``random_state`` that is a generator and not a number is not kept.
    path : str or path
        The file; any name will do, ``.safetensors`` says what it is.

    Examples
    --------
    >>> import rosenblatt as rb, tempfile
    >>> model = rb.Perceptron().fit([[-1.0], [1.0]], ["left", "right"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rb.save(model, f"{folder}/model.safetensors")
    ...     rb.load_model(f"{folder}/model.safetensors").predict([[3.0]]).tolist()
    ['right']
    """
    state, tensors = _state_of(model)
    try:
        _assemble(state, tensors)
    except ModelFileError as error:
        raise InputError(
            f"this {state['estimator']} does not fit together ({str(error).removesuffix(_REMEDY)}). "
            "Was a parameter or an attribute changed after fit? Fit it again, or change it back"
        ) from None
    text = _canonical(state | {"sha256": _digest(state, tensors)})
    if len(json.dumps(text)) > _MAX_HEADER - (1 << 16):
        raise InputError(
            f"the names of the features and classes take more than {_MAX_HEADER >> 20} MB: "
            "fit on an array, which has no feature names, or on shorter names"
        )
    write_atomically(path, to_bytes(tensors, {"rosenblatt": text}))


def load_model(path: Path) -> Any:
    """Read a model that `save` wrote: ready to predict, and to go on learning exactly where it was.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Perceptron, AveragedPerceptron or VotedPerceptron

    Raises
    ------
    ModelFileError
        The file is damaged or was edited, is not a model, or was written by a newer version.
    """
    try:
        text, tensors = _read(path)
        state = _parse(text)
        checksum = state.pop("sha256")
        _require(_digest(state, tensors) == checksum, "its contents do not have the checksum that it states")
        return _assemble(state, tensors)
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def estimator_name(model: Any) -> str | None:
    """The class of the model, if it is one of ours (not of a subclass, which a file could not restore)."""
    name = type(model).__name__
    return name if _HOMES.get(name) == type(model).__module__ else None


def write_atomically(path: Path, content: bytes) -> None:
    """Write a temporary file in the same directory, see it safely on disk, and only then give it its name."""
    target = os.path.realpath(path)
    mode = _mode_of_old_file(target, path)
    folder = os.path.dirname(target)
    temporary = os.path.join(folder, f".rosenblatt-{secrets.token_hex(8)}.tmp")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, flags, 0o666)  # less the umask
    except OSError as error:
        why = f"{error.strerror} (the directory must exist, and you must be allowed to write there)"
        raise OSError(error.errno, why, os.fspath(path)) from None
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if os.name == "posix":  # the new name is on disk when the directory is
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _mode_of_old_file(target: str, path: Path) -> int | None:
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "this is a directory; name a file in it", os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "this is a device or a pipe; name an ordinary file", os.fspath(path))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is there and is read-only", os.fspath(path))
    return stat.S_IMODE(mode)


# From a model to JSON and arrays ----------------------------------------------------------------------------


def _state_of(model: Any) -> tuple[dict[str, Any], Tensors]:
    name = estimator_name(model)
    if name is None:
        raise InputError(
            f"save takes one of {', '.join(_HOMES)}, got {type(model).__name__}. "
            "A pipeline or another model can be saved with skops.io or joblib"
        )
    if "_learner" not in vars(model):
        raise InputError(f"this {name} is not fitted yet: call fit or partial_fit before save")
    classes, names = model.classes_, getattr(model, "feature_names_in_", None)
    tensors = dict(model._learner.to_arrays()) | {"mistakes_per_pass": model.mistakes_per_pass_}
    labels = None
    if classes.dtype.kind in "iufb" and classes.dtype != np.longdouble:
        tensors["classes"] = classes
    elif classes.dtype.kind in "UO":
        labels = [_plain(label, "a class") for label in classes]
    else:
        raise InputError(f"classes of dtype {classes.dtype} cannot be saved: use str, int, float or bool")
    state = {
        "format": FORMAT_VERSION,
        "library": rosenblatt.__version__,
        "estimator": name,
        "parameters": _parameters_of(model),
        "classes_": labels,
        "classes_dtype": "str" if classes.dtype.kind == "U" else classes.dtype.name,
        "feature_names_in_": None if names is None else [str(feature) for feature in names],
        "n_features_in_": int(model.n_features_in_),
        "n_iter_": int(model.n_iter_),
        "converged_": bool(model.converged_),
        "separates_": bool(model.separates_),
    }
    return state, {key: np.ascontiguousarray(a, a.dtype.newbyteorder("=")) for key, a in tensors.items()}


def _parameters_of(model: Any) -> dict[str, Any]:
    values = dict(model.get_params(deep=False))
    if not isinstance(values["random_state"], (int, np.integer)):
        values["random_state"] = None  # a generator: its state is not the model's
    weights = values.pop("class_weight")
    if isinstance(weights, dict):  # as pairs: the keys of a JSON object would all become strings
        weights = [[_plain(key, "a key of class_weight"), _number(w)] for key, w in weights.items()]
    else:
        weights = _plain(weights, "class_weight")
    plain = {name: _plain(_number(value), f"the parameter {name}") for name, value in values.items()}
    return plain | {"class_weight": weights}


def _plain(value: Any, what: str) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise InputError(f"{what} is {value!r}, which cannot be saved: use a number, a string, a bool or None")


def _number(value: Any) -> Any:
    """An infinity as a string, because JSON has none; anything else as it is."""
    infinite = isinstance(value, (float, np.floating)) and math.isinf(value)
    return ("Infinity" if value > 0 else "-Infinity") if infinite else value


def _canonical(state: Any) -> str:
    return json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _digest(state: dict[str, Any], tensors: Tensors) -> str:
    """SHA-256 of the JSON (without this sum) and, in the order of their names, of all arrays."""
    total = hashlib.sha256(_canonical(state).encode())
    for name, array in sorted(tensors.items()):
        total.update(f"\n{name} {array.dtype.name} {'x'.join(map(str, array.shape))}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


# From a file to JSON and arrays -----------------------------------------------------------------------------


_REMEDY = ". The file is damaged or was edited: take it from a backup, or fit and save the model again"


def _damaged(what: str) -> ModelFileError:
    return ModelFileError(what + _REMEDY)


def _foreign(what: str) -> ModelFileError:
    return ModelFileError(f"this is not a model file: {what}. load_model reads what rosenblatt.save wrote")


def _require(fact: Any, what: str) -> None:
    if not fact:
        raise _damaged(what)


def _read(path: Path) -> tuple[str, Tensors]:
    """The JSON text and the arrays of a file, no more of it read than its header allows."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise _foreign("it is a directory, a device or a pipe")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8:
            raise _damaged(f"it has only {size} bytes")
        if length > _MAX_HEADER:
            raise _foreign(f"its header would be {length} bytes long, and at most {_MAX_HEADER} are read")
        _require(8 + length <= size, f"its header should have {length} bytes, but the whole file has {size}")
        text = _metadata(file.read(length))
        file.seek(0)
        data = file.read(size)
    try:
        tensors = load(data)
    except (SafetensorError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise _damaged(f"its arrays cannot be read ({_short(error)})") from None
    return text, {name: np.require(array, requirements="W") for name, array in tensors.items()}


def _metadata(header: bytes) -> str:
    entries = _json(header, "its header is")
    metadata = entries.pop("__metadata__", None) if isinstance(entries, dict) else None
    text = metadata.get("rosenblatt") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise _foreign("it says nothing of rosenblatt")
    for name, entry in entries.items():
        dtype = entry.get("dtype") if isinstance(entry, dict) else None
        _require(isinstance(dtype, str) and dtype in _DTYPES, f"array {_short(name)} has dtype {_short(dtype)}")
    return text


def _json(text: str | bytes, what: str) -> Any:
    """What the JSON says, unless it nests without end, has very many lists (memory) or says it twice."""
    try:
        text = text.decode() if isinstance(text, bytes) else text
        outside_strings = re.sub(r'"(?:[^"\\]++|\\.)*+"', "", text)
        if outside_strings.count("[") + outside_strings.count("{") > _MAX_LISTS:
            raise ValueError("too many lists")
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise _damaged(f"{what} not valid JSON ({_short(error)})") from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _parse(text: str) -> dict[str, Any]:
    """The JSON, if it has what version 1 has, and is to the letter what `save` would write."""
    state: dict[str, Any] = _json(text, "its metadata are")
    version = state.get("format") if isinstance(state, dict) else None
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFileError(
            f"it has format version {_short(version)}, written by rosenblatt {_short(state.get('library'))}; "
            f"this is rosenblatt {rosenblatt.__version__}, which reads version {FORMAT_VERSION}: "
            "pip install --upgrade rosenblatt"
        )
    _require(type(version) is int and version == FORMAT_VERSION, "its metadata state no known format version")
    try:
        unchanged = _canonical(state) == text
    except (ValueError, RecursionError):  # a NaN, or an integer without end
        unchanged = False
    _require(unchanged, "its metadata are not as they were written")
    _require(state.keys() == _STATE.keys(), f"its metadata should have {', '.join(_STATE)}")
    for name, types in _STATE.items():
        _require(type(state[name]) in types, f"{name} is {_short(state[name])}")
    return state


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, (str, Exception)) else repr(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


# From JSON and arrays to a model ----------------------------------------------------------------------------


def _assemble(state: dict[str, Any], tensors: Tensors) -> Any:
    """The model, after everything in it has been checked, each thing against the others."""
    model = _with_parameters(state)
    arrays = dict(tensors)
    model.classes_ = _classes(state, arrays)
    model.n_features_in_ = d = state["n_features_in_"]
    joint = model.multi_class == "joint" and len(model.classes_) > 2
    _check_tensors(arrays, len(model.classes_), d, joint=joint, readout=model._readout)
    names = state["feature_names_in_"]
    if names is not None:
        one_each = len(names) == d and all(type(name) is str for name in names)
        _require(one_each, "it has not a name for each feature")
        model.feature_names_in_ = np.asarray(names, dtype=object)
    model.mistakes_per_pass_, model.n_iter_ = arrays.pop("mistakes_per_pass"), state["n_iter_"]
    _require(model.n_iter_ == len(model.mistakes_per_pass_), "n_iter_ is not the number of its passes")
    model.converged_, model.separates_ = state["converged_"], state["separates_"]
    model.updates_per_class_ = arrays["updates"].copy()
    model.n_updates_ = int(arrays["updates"].sum())
    model._learner = model._learner_of(arrays)
    return model


def _with_parameters(state: dict[str, Any]) -> Any:
    name = state["estimator"]
    _require(name in _HOMES, f"it holds a {_short(name)}, not one of {', '.join(_HOMES)}")
    estimator = getattr(importlib.import_module(_HOMES[name]), name)
    values = dict(state["parameters"])
    unknown = values.keys() - estimator().get_params(deep=False).keys()
    if unknown:
        raise ModelFileError(
            f"it has a parameter that this version does not know, {_short(min(unknown))}: "
            f"it was written by rosenblatt {_short(state['library'])}; pip install --upgrade rosenblatt"
        )
    for parameter, value in values.items():
        if value in ("Infinity", "-Infinity"):
            values[parameter] = float(value)
    if "class_weight" in values:
        values["class_weight"] = _class_weight(values["class_weight"])
    _require(type(values.get("random_state")) in (int, type(None)), "random_state is not a number")
    model = estimator(**values)
    try:
        model._check_parameters()
    except InputError as error:
        raise _damaged(_short(error)) from None
    return model


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
    _require(pairs, "class_weight is not a weight for each class")
    weights = {key: float(weight) if isinstance(weight, str) else weight for key, weight in stored}
    _require(len(weights) == len(stored), "class_weight names a class twice")
    return weights


def _classes(state: dict[str, Any], tensors: Tensors) -> NDArray[Any]:
    """The classes, strictly ascending: numbers from an array, strings and objects from the JSON."""
    labels, dtype = state["classes_"], state["classes_dtype"]
    if labels is None:
        classes = tensors.pop("classes", np.empty(0))
        _require(classes.dtype.name == dtype and classes.ndim == 1, "its classes are not an array of their dtype")
        if dtype == "bool":
            _require(classes.view(np.uint8).tolist() == [0, 1], "its classes are not False and True")
        _require(dtype[0] != "f" or np.isfinite(classes).all(), "a class is NaN or infinite")
    else:
        allowed = {"str": (str,), "object": (str, int, float, bool)}.get(dtype, ())
        _require(all(type(label) in allowed for label in labels), "a class is not a label")
        if dtype == "str":
            widest = max(map(len, labels), default=0)
            _require(widest * len(labels) <= _MAX_LABELS, "its classes have very long names")
        classes = np.asarray(labels, dtype=dtype)
        _require(classes.tolist() == labels, "a class is not a label")
    _require(2 <= len(classes) <= _MAX_CLASSES, f"it has {len(classes)} classes")
    try:
        ascending = bool((classes[:-1] < classes[1:]).all())
    except TypeError:
        ascending = False
    _require(ascending, "its classes are not in order")
    return classes


def _check_tensors(tensors: Tensors, n_classes: int, d: int, *, joint: bool, readout: str) -> None:
    """Check that exactly the arrays of such a model are there, and that they fit together."""
    expected = _TENSORS | _MORE_TENSORS[readout]
    if readout == "vote":
        expected |= next((kind for kind in (_DENSE_SUPPORT, _SPARSE_SUPPORT) if kind & tensors.keys()), set())
    odd = expected ^ tensors.keys()
    for name in sorted(odd):
        raise _damaged(f"array {_short(name)} is {'missing' if name in expected else 'not expected'}")
    n_vectors = 1 if n_classes == 2 else n_classes
    n_problems = 1 if joint else n_vectors
    for name in sorted(expected & {"weights", "late_weights", "first_weights"}):
        array = _checked(tensors, name, (n_vectors, -(-d // _LANES) * _LANES), np.float64)
        _require(d >= 1 and not array[:, d:].any(), f"{name} is not zero beyond the last feature")
    for name in sorted(expected & {"intercepts", "late_intercepts", "first_intercepts"}):
        _checked(tensors, name, (n_vectors,), np.float64)
    for name in sorted(expected & {"visits", "updates", "mistakes_of_problem"}):
        _counts(tensors, name, (n_problems,))
    _checked(tensors, "converged", (n_problems,), np.bool_)
    _counts(tensors, "mistakes_per_pass", (None,))
    visits = tensors["visits"]
    _require((tensors["updates"] <= visits).all(), "it has more updates than visits")
    if readout == "average":
        with np.errstate(over="ignore", invalid="ignore"):
            sums = visits[:, np.newaxis] * tensors["weights"] - tensors["late_weights"]
        _require(np.isfinite(sums).all(), "the average of its weights is NaN or infinite")
    if readout == "vote":
        _check_mistakes(tensors, n_classes, _check_support(tensors, d), joint=joint)


def _checked(tensors: Tensors, name: str, shape: tuple[int | None, ...], *dtypes: Any) -> NDArray[Any]:
    """The array, if it has the shape (None is any length) and one of the dtypes, and only finite numbers."""
    array = tensors[name]
    fits = len(shape) == array.ndim and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    wanted = " × ".join("any" if n is None else str(n) for n in shape)
    _require(fits, f"{name} has shape {array.shape}, expected {wanted}")
    _require(array.dtype in dtypes, f"{name} has dtype {array.dtype}, expected {np.dtype(dtypes[0])}")
    _require(array.dtype.kind != "f" or np.isfinite(array).all(), f"{name} has a NaN or an infinity")
    return array


def _counts(tensors: Tensors, name: str, shape: tuple[int | None, ...]) -> None:
    array = _checked(tensors, name, shape, np.int64)
    _require(((array >= 0) & (array < _MAX_COUNT)).all(), f"{name} has a number that counts nothing")


def _check_support(tensors: Tensors, d: int) -> int:
    """Check the rows that mistakes were made on, dense or CSR; how many there are."""
    if "support" in tensors:
        return len(_checked(tensors, "support", (None, d), *_FLOATS))
    if "support_starts" not in tensors:
        return 0
    starts = _checked(tensors, "support_starts", (None,), *_INDICES)
    n_values = len(_checked(tensors, "support_values", (None,), *_FLOATS))
    columns = _checked(tensors, "support_columns", (n_values,), *_INDICES)
    _require(
        len(starts) > 0 and starts[0] == 0 and starts[-1] == n_values and (starts[:-1] <= starts[1:]).all(),
        "support_starts does not divide the values into rows",
    )
    _require(((columns >= 0) & (columns < d)).all(), "support_columns has a column that is no feature")
    return len(starts) - 1


def _check_mistakes(tensors: Tensors, n_classes: int, n_support: int, *, joint: bool) -> None:
    """Check the mistakes of all problems, one after the other: rows that exist, at ever later visits."""
    row = _checked(tensors, "mistake_row", (None,), np.int32)
    up = _checked(tensors, "mistake_up", row.shape, np.int32)
    down = _checked(tensors, "mistake_down", row.shape, np.int32)
    visit = _checked(tensors, "mistake_visit", row.shape, np.int64)
    _checked(tensors, "mistake_step", row.shape, np.float64)
    _require(((row >= 0) & (row < n_support)).all(), "mistake_row has a row that is not in the support")
    low, high = (0, n_classes) if joint else (-1, 0)
    inside = (up >= low) & (up < high) & (down >= low) & (down < high)
    _require(inside.all() and not (joint and (up == down).any()), "mistake_up or mistake_down is no class")
    lengths = tensors["mistakes_of_problem"].tolist()
    for_each = lengths == tensors["updates"].tolist() and sum(lengths) == len(row)
    _require(for_each, "it has not a mistake for each update")
    end = 0
    for length, last in zip(lengths, tensors["visits"].tolist(), strict=True):
        mine, end = visit[end : end + length], end + length
        _require(
            not length or (mine[0] >= 1 and mine[-1] <= last and (mine[:-1] < mine[1:]).all()),
            "mistake_visit is not in order",
        )
