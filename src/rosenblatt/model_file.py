"""A fitted model as one file that any language can read, and back, without pickle.

The file is in the safetensors format: arrays, and JSON that says what they are. It is written beside the old
one and renamed, so that a crash leaves the old model. Whatever a file claims is checked before it is used:
reading one can end in an error, but never runs code, and needs memory of the order of the file's own size, or of
what zeros it leaves out (`packed_weights`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load
from safetensors.numpy import save as to_bytes

import rosenblatt
from rosenblatt.errors import InputError, ModelFileError
from rosenblatt.model_checks import (
    HOMES,
    MARGINS,
    REMEDY,
    Tensors,
    assemble,
    check_trained,
    damaged,
    entries_of,
    is_fitted,
    require,
    short,
)
from rosenblatt.packed_weights import pack, unpack

FORMAT_VERSION = 1

Path: TypeAlias = str | os.PathLike[str]

_DTYPES = set("F64 F32 F16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL".split())  # noqa: SIM905 - in safetensors' words
_MAX_HEADER = 32 << 20  # bytes: room for the names of a million features
_MAX_LISTS = 1 << 17  # lists and objects in the JSON: a weight for each of all classes, and some more


# Saving and loading -----------------------------------------------------------------------------------------


def save(model: Any, path: Path) -> None:
    """Write a fitted model to a file.

    The old file, if there is one, is replaced in one step when the new one is safely on disk.

    Parameters
    ----------
    model : any of the estimators, or a `TrainedModel`
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
        check_trained(state, tensors) if hasattr(model, "to_state") else assemble(state, tensors)
    except ModelFileError as error:
        raise InputError(
            f"this {state['estimator']} does not fit together ({str(error).removesuffix(REMEDY)}). "
            "Was a parameter or an attribute changed after fit? Fit it again, or change it back"
        ) from None
    tensors = pack(tensors)
    text = canonical(state | {"sha256": digest(state, tensors)})
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
    The estimator that was saved.

    Raises
    ------
    ModelFileError
        The file is damaged or was edited, is not a model, or was written by a newer version.
    """
    return read_with(assemble, path)


def read_with(build: Callable[[dict[str, Any], Tensors], Any], path: Path) -> Any:
    """What `build` makes of the JSON and the arrays of a model file, whose checksum is right."""
    try:
        text, tensors = read_tensors(path)
        state = _parse(text)
        checksum = state.pop("sha256")
        require(digest(state, tensors) == checksum, "its contents do not have the checksum that it states")
        return build(state, unpack(state, tensors))
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None


def estimator_name(model: Any) -> str | None:
    """The class of the model, if it is one of ours (not of a subclass, which a file could not restore)."""
    name = type(model).__name__
    return name if HOMES.get(name) == type(model).__module__ else None


def write_atomically(path: Path, content: bytes, *, temporary: str | None = None) -> None:
    """Write a temporary file in the same directory, see it safely on disk, and only then give it its name.

    Who names the temporary file is the only one who writes it, and finds again what a process that was killed has left.
    """
    target = os.path.realpath(path)
    mode = _mode_of_old_file(target, path)
    folder = os.path.dirname(target)
    new = os.O_TRUNC if temporary else os.O_EXCL
    temporary = temporary or os.path.join(folder, f".rosenblatt-{os.urandom(8).hex()}.tmp")
    flags = os.O_CREAT | new | os.O_WRONLY | getattr(os, "O_BINARY", 0)
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
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # of the name that was asked for; writing knows of none
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
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
    if hasattr(model, "to_state"):
        more, tensors = model.to_state()
        return _with_classes(more, tensors, model.classes_)
    name = estimator_name(model)
    if name is None:
        raise InputError(
            f"save takes a TrainedModel or one of {', '.join(HOMES)}, got {type(model).__name__}. "
            "A pipeline or another model can be saved with skops.io or joblib"
        )
    if not is_fitted(model):
        raise InputError(f"this {name} is not fitted yet: call fit before save")
    classes, names = model.classes_, getattr(model, "feature_names_in_", None)
    more, tensors = _learned(model)
    state = {
        "estimator": name,
        "parameters": _parameters_of(model),
        "feature_names_in_": None if names is None else [str(feature) for feature in names],
        "n_features_in_": int(model.n_features_in_),
    }
    return _with_classes(state | more | trained_entries(model), tensors, classes)


def trained_entries(model: Any) -> dict[str, Any]:
    """How the rows were read and what was counted, if the model comes from `train`."""
    return dict(vars(model).get("_trained", {}))


def _with_classes(state: dict[str, Any], tensors: Tensors, classes: NDArray[Any]) -> tuple[dict[str, Any], Tensors]:
    labels = None
    if classes.dtype.kind in "iufb" and classes.dtype != np.longdouble:
        tensors["classes"] = classes
    elif classes.dtype.kind in "UO":
        labels = [_plain(label, "a class") for label in classes]
    else:
        raise InputError(f"classes of dtype {classes.dtype} cannot be saved: use str, int, float or bool")
    about = {
        "format": FORMAT_VERSION,
        "library": rosenblatt.__version__,
        "classes_": labels,
        "classes_dtype": "str" if classes.dtype.kind == "U" else classes.dtype.name,
    }
    return about | state, {key: np.ascontiguousarray(a, a.dtype.newbyteorder("=")) for key, a in tensors.items()}


def _learned(model: Any) -> tuple[dict[str, Any], Tensors]:
    """What a fit has set beside the classes and the names of the features: entries of the JSON, and arrays."""
    if estimator_name(model) not in MARGINS:
        entries = {"n_iter_": int(model.n_iter_), "converged_": bool(model.converged_)}
        tensors = dict(model._learner.to_arrays()) | {"mistakes_per_pass": model.mistakes_per_pass_}
        separates = None if model.separates_ is None else bool(model.separates_)
        return entries | {"separates_": separates}, tensors
    names = MARGINS[estimator_name(model) or ""]
    tensors = {name: np.atleast_1d(np.asarray(getattr(model, f"{name}_"))) for name in sorted(names - {"certificates"})}
    if "certificates" in names:
        texts = canonical([certificate.to_json() for certificate in model._certificates()])
        tensors["certificates"] = np.frombuffer(texts.encode(), np.uint8)
    return {"gap_": float(model.gap_)} | ({"n_iter_": int(model.n_iter_)} if "slack" in names else {}), tensors


def _parameters_of(model: Any) -> dict[str, Any]:
    values = dict(model.get_params(deep=False))
    if not isinstance(values.get("random_state", 0), (int, np.integer)):
        values["random_state"] = None  # a generator: its state is not the model's
    weights, grid = values.get("class_weight"), values.get("Cs")
    if isinstance(weights, dict):  # as pairs: the keys of a JSON object would all become strings
        del values["class_weight"]
        weights = {"class_weight": [[_plain(key, "a key of class_weight"), _number(w)] for key, w in weights.items()]}
    else:
        weights = {}
    if isinstance(grid, (list, tuple, np.ndarray)):
        del values["Cs"]
        weights["Cs"] = [float(C) for C in grid]
    return {name: _plain(_number(value), f"the parameter {name}") for name, value in values.items()} | weights


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


def canonical(state: Any) -> str:
    """The one way in which JSON is written here."""
    return json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(state: dict[str, Any], tensors: Tensors) -> str:
    """SHA-256 of the JSON (without this sum) and, in the order of their names, of all arrays."""
    total = hashlib.sha256(canonical(state).encode())
    for name, array in sorted(tensors.items()):
        total.update(f"\n{name} {array.dtype.name} {'x'.join(map(str, array.shape))}\n".encode())
        total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


# From a file to JSON and arrays -----------------------------------------------------------------------------


def _foreign(what: str) -> ModelFileError:
    return ModelFileError(f"this is not a model file: {what}. load_model reads what rosenblatt.save wrote")


def read_tensors(path: Path) -> tuple[str, Tensors]:
    """The JSON text and the arrays of a file, no more of it read than its header allows."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise _foreign("it is a directory, a device or a pipe")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if size < 8:
            raise damaged(f"it has only {size} bytes")
        if length > _MAX_HEADER:
            raise _foreign("it does not begin as a model does")
        require(8 + length <= size, f"its header should have {length} bytes, but the whole file has {size}")
        text = _metadata(file.read(length))
        file.seek(0)
        data = file.read(size)
    try:
        tensors = load(data)
    except (SafetensorError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise damaged(f"its arrays cannot be read ({short(error)})") from None
    return text, {name: np.require(array, requirements="W") for name, array in tensors.items()}


def _metadata(header: bytes) -> str:
    entries = _json(header, "its header is")
    metadata = entries.pop("__metadata__", None) if isinstance(entries, dict) else None
    text = metadata.get("rosenblatt") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise _foreign("it says nothing of rosenblatt")
    for name, entry in entries.items():
        dtype = entry.get("dtype") if isinstance(entry, dict) else None
        require(isinstance(dtype, str) and dtype in _DTYPES, f"array {short(name)} has dtype {short(dtype)}")
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
        raise damaged(f"{what} not valid JSON ({short(error)})") from None


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
            f"it has format version {short(version)}, written by rosenblatt {short(state.get('library'))}; "
            f"this is rosenblatt {rosenblatt.__version__}, which reads version {FORMAT_VERSION}: "
            "pip install --upgrade rosenblatt"
        )
    require(type(version) is int and version == FORMAT_VERSION, "its metadata state no known format version")
    try:
        unchanged = canonical(state) == text
    except (ValueError, RecursionError):  # a NaN, or an integer without end
        unchanged = False
    require(unchanged, "its metadata are not as they were written")
    name = state.get("estimator")
    require(not isinstance(name, str) or name in HOMES, f"it holds a {short(name)}, not one of {', '.join(HOMES)}")
    expected = entries_of(name, trained=isinstance(state, dict) and "training" in state)
    require(state.keys() == expected.keys(), f"its metadata should have {', '.join(expected)}")
    for entry, types in expected.items():
        require(type(state[entry]) in types, f"{entry} is {short(state[entry])}")
    return state
