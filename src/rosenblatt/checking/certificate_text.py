"""Certificates as JSON and back, without rounding: floats in hexadecimal, fractions as two integers.

Text comes from outside, so its size, shape and every number are checked before use. What it claims is not: a
certificate that was read is as good as its verification.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rosenblatt.checking import json_values
from rosenblatt.checking.claims import Data, Margin, RationalHyperplane
from rosenblatt.checking.joint_claims import JointData
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane

if TYPE_CHECKING:
    from rosenblatt.checking.statements import Certificate

FORMAT = "rosenblatt certificate"
VERSION = 1

MAX_TEXT = 1 << 27  # characters
MAX_LABELS = 1 << 15
MAX_TABLE = 1 << 20  # certificates
_THE_TEXT = "if that is the name of a file, give its text, Path(name).read_text()"
_NATURAL = re.compile(r"[0-9]{1,400}|0x[0-9a-f]+")
_VERDICTS = {True: "separable", False: "inseparable", None: "undecided"}


# Writing ------------------------------------------------------------------------------------------------------------


def to_json(certificate: Certificate) -> str:
    """The whole certificate as one JSON object."""
    return json.dumps(_write(certificate), indent=1)


def table_to_json(certificates: Mapping[Any, Certificate], joint: Certificate | None) -> str:
    """A table of certificates, by class or pair of classes, as one JSON object."""
    rows = [{"key": _write_key(key), "certificate": _write(own)} for key, own in certificates.items()]
    body = {"certificates": rows, "joint": None if joint is None else _write(joint)}
    return json.dumps({"format": FORMAT, "version": VERSION, "verdict": "table"} | body, indent=1)


def _write_key(key: Any) -> Any:
    return [json_values.label_text(name) for name in key] if isinstance(key, tuple) else json_values.label_text(key)


def _write(certificate: Certificate) -> dict[str, Any]:
    joint = isinstance(certificate.data, JointData)
    verdict = ("jointly " if joint else "") + _VERDICTS[certificate.separable]
    common = {
        "data": _write_classes(certificate.data) if joint else _write_data(certificate.data),
        "fit_intercept": certificate.fit_intercept,
        "proof": certificate.proof,
    }
    return {"format": FORMAT, "version": VERSION, "verdict": verdict} | common | _WRITERS[verdict](certificate)


def _write_data(data: Data) -> dict[str, Any]:
    return {
        "rows": data.n_rows,
        "features": data.n_features,
        "negative": [json_values.label_text(name) for name in data.negative],
        "positive": [json_values.label_text(name) for name in data.positive],
        "ignored": [json_values.label_text(name) for name in data.ignored],
        "blake3": data.digest,
    }


def _write_classes(data: JointData) -> dict[str, Any]:
    return {
        "rows": data.n_rows,
        "features": data.n_features,
        "classes": [json_values.label_text(name) for name in data.classes],
        "blake3": data.digest,
    }


def _write_separable(certificate: Any) -> dict[str, Any]:
    return {
        "margins": {kind: _write_margin(margin) for kind, margin in certificate.margins.items()},
        "radius": certificate.radius.hex(),
        "centre": None if certificate.centre is None else json_values.number_list(certificate.centre),
        "centred_radius": None if certificate.centred_radius is None else certificate.centred_radius.hex(),
        "mistake_bound": _bound_text(certificate.mistake_bound),
    }


def _write_margin(margin: Margin) -> dict[str, Any]:
    return {
        "hyperplane": _write_plane(margin.hyperplane),
        "lower": margin.lower.hex(),
        "upper": margin.upper.hex(),
        "support": margin.support.tolist(),
        "weights": json_values.number_list(margin.weights),
        "exact": _write_plane(margin.exact),
        "squared": None if margin.squared is None else json_values.number_text(margin.squared),
    }


def _write_inseparable(certificate: Any) -> dict[str, Any]:
    return {
        "points": certificate.points.tolist(),
        "signs": certificate.signs.tolist(),
        "weights": json_values.number_list(certificate.weights),
        "duplicates": bool(certificate.duplicates),
        "weak": _write_plane(certificate.weak),
        "overlap": certificate.overlap,
    }


def _write_undecided(certificate: Any) -> dict[str, Any]:
    return {
        "lower": certificate.lower.hex(),
        "upper": certificate.upper.hex(),
        "hyperplane": _write_plane(certificate.hyperplane),
        "points": certificate.points.tolist(),
        "weights": json_values.number_list(certificate.weights),
        "why": certificate.why,
        "radius": None if certificate.radius is None else certificate.radius.hex(),
    }


def _write_jointly_separable(certificate: Any) -> dict[str, Any]:
    return {
        "margin": _write_margin(certificate.bounds),
        "rivals": certificate.rivals.tolist(),
        "radius": certificate.radius.hex(),
        "mistake_bound": _bound_text(certificate.mistake_bound),
    }


def _write_jointly_inseparable(certificate: Any) -> dict[str, Any]:
    return {
        "points": certificate.points.tolist(),
        "rivals": certificate.rivals.tolist(),
        "weights": json_values.number_list(certificate.weights),
        "duplicates": bool(certificate.duplicates),
    }


def _write_jointly_undecided(certificate: Any) -> dict[str, Any]:
    return _write_undecided(certificate) | {"rivals": certificate.rivals.tolist()}


_WRITERS = {
    "separable": _write_separable,
    "inseparable": _write_inseparable,
    "undecided": _write_undecided,
    "jointly separable": _write_jointly_separable,
    "jointly inseparable": _write_jointly_inseparable,
    "jointly undecided": _write_jointly_undecided,
}


def _write_plane(plane: Hyperplane | RationalHyperplane | None) -> dict[str, Any] | None:
    if plane is None:
        return None
    return {"w": json_values.number_list(plane.w), "b": json_values.number_text(plane.b)}


def _bound_text(bound: int | float) -> str:
    # An integer may be longer than JSON's readers take, so it is a text.
    return "infinity" if bound == math.inf else f"{int(bound):#x}" if bound >= 10**300 else str(bound)


# Reading ------------------------------------------------------------------------------------------------------------


Parts: TypeAlias = tuple[str, dict[str, Any], int | float]


def from_json(text: str | bytes) -> Parts:
    """The verdict, the arguments of its class, and the mistake bound stated (else 0); or InputError.

    The verdict "table" has the parts of each certificate by key, and those of the joint one or None.
    """
    try:
        found = _read(text)
        return _read_table(found) if found.get("verdict") == "table" else _read_certificate(found)
    except InputError as error:
        raise InputError(f"not a certificate: {error}") from None


def _read(text: Any) -> dict[str, Any]:
    if not isinstance(text, (str, bytes)):
        hint = f"; {_THE_TEXT}" if isinstance(text, os.PathLike) else ""
        raise InputError(f"expected text, got {type(text).__name__}{hint}")
    if len(text) > MAX_TEXT:
        raise InputError(f"the text has {len(text)} characters, more than {MAX_TEXT}")
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number, parse_float=_no_number)
    except UnicodeDecodeError:
        raise InputError("the text is not UTF-8") from None
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:
        hint = f"; {_THE_TEXT}" if "{" not in text and len(text) < 4096 else ""  # a name, it seems
        raise InputError(f"it is not JSON: {str(error)[:200]}{hint}") from None
    return _require_head(found)


def _require_head(found: Any) -> dict[str, Any]:
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f'it does not begin with "format": "{FORMAT}"')
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"its version is {json_values.show(version)}")
    if version > VERSION:
        raise InputError(f"it has version {version}, and this library reads up to {VERSION}: use a newer one")
    return found


def _read_table(found: dict[str, Any]) -> Parts:
    json_values.mapping(found, {"format", "version", "verdict", "certificates", "joint"}, "the table")
    certificates: dict[Any, Parts] = {}
    for entry in json_values.entries(found, "certificates", MAX_TABLE):
        part = json_values.mapping(entry, {"key", "certificate"}, "an entry of the table")
        key = part["key"]
        key = tuple(map(json_values.label, key)) if isinstance(key, list) else json_values.label(key)
        if key in certificates:
            raise InputError(f"the table has two entries of {json_values.show(key)}")
        certificates[key] = _read_certificate(_require_head(part["certificate"]))
    if not certificates:
        raise InputError("the table has no certificates")
    joint = None if found["joint"] is None else _read_certificate(_require_head(found["joint"]))
    return "table", {"certificates": certificates, "joint": joint}, 0


def _read_certificate(found: dict[str, Any]) -> Parts:
    verdict = found.get("verdict")
    if not isinstance(verdict, str) or verdict not in _READERS:
        raise InputError(f"its verdict is {json_values.show(verdict)}")
    joint = verdict.startswith("jointly")
    common = {
        "data": _read_classes(found.get("data")) if joint else _read_data(found.get("data")),
        "fit_intercept": json_values.flag(found, "fit_intercept"),
        "proof": json_values.string(found, "proof"),
    }
    bound = _bound(found.get("mistake_bound")) if verdict in ("separable", "jointly separable") else 0
    keys = {"format", "version", "verdict", "data", "fit_intercept", "proof"}
    return verdict, common | _READERS[verdict](found, keys), bound


def _bound(value: Any) -> int | float:
    if value == "infinity":
        return math.inf
    if not isinstance(value, str) or len(value) > json_values.MAX_DIGITS or not _NATURAL.fullmatch(value):
        raise InputError(f"mistake_bound is {json_values.show(value)}, not a whole number as text")
    return json_values.integer(value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise InputError("a key occurs twice")
    return result


def _no_number(text: str) -> Any:
    raise InputError(f"the number {text[:40]} is not an integer: floats are hexadecimal texts")


def _read_data(found: Any) -> Data:
    part = json_values.mapping(found, {"rows", "features", "negative", "positive", "ignored", "blake3"}, "data")
    labels = {
        side: tuple(map(json_values.label, json_values.entries(part, side, MAX_LABELS)))
        for side in ("negative", "positive", "ignored")
    }
    return Data(
        json_values.count(part, "rows"),
        json_values.count(part, "features"),
        digest=json_values.string(part, "blake3"),
        **labels,
    )


def _read_classes(found: Any) -> JointData:
    part = json_values.mapping(found, {"rows", "features", "classes", "blake3"}, "data")
    classes = tuple(map(json_values.label, json_values.entries(part, "classes", MAX_LABELS)))
    n, d = json_values.count(part, "rows"), json_values.count(part, "features")
    return JointData(n, d, classes, json_values.string(part, "blake3"))


def _read_separable(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    json_values.mapping(
        found, keys | {"margins", "radius", "centre", "centred_radius", "mistake_bound"}, "the certificate"
    )
    margins = found["margins"]
    if not isinstance(margins, dict):
        raise InputError(f"margins is {json_values.show(margins)}")
    centre = None if found["centre"] is None else np.asarray(json_values.float64s(found, "centre"))
    return {
        "margins": {kind: _read_margin(kind, margin) for kind, margin in margins.items()},
        "radius": json_values.float64(found["radius"], "radius"),
        "centre": centre,
        "centred_radius": json_values.optional_float64(found, "centred_radius"),
    }


def _read_margin(kind: str, found: Any) -> Margin:
    keys = {"hyperplane", "lower", "upper", "support", "weights", "exact", "squared"}
    part = json_values.mapping(found, keys, f"the {kind[:20]} margin")
    hyperplane, exact = _read_plane(part, "hyperplane"), _read_plane(part, "exact")
    if isinstance(hyperplane, RationalHyperplane) or isinstance(exact, Hyperplane):
        raise InputError("a hyperplane has floats, an exact one has fractions")
    return Margin(
        kind,
        hyperplane,
        json_values.float64(part["lower"], "lower"),
        json_values.float64(part["upper"], "upper"),
        json_values.row_numbers(part, "support"),
        json_values.numbers(part, "weights"),
        exact,
        None if part["squared"] is None else json_values.fraction(part["squared"], "squared"),
    )


def _read_inseparable(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    json_values.mapping(
        found, keys | {"points", "signs", "weights", "duplicates", "weak", "overlap"}, "the certificate"
    )
    signs = json_values.entries(found, "signs", json_values.MAX_LIST)
    if not all(type(sign) is int and abs(sign) == 1 for sign in signs):
        raise InputError("signs must be -1 or 1")
    return {
        "points": json_values.row_numbers(found, "points"),
        "signs": np.asarray(signs, np.int8),
        "weights": json_values.numbers(found, "weights"),
        "duplicates": json_values.flag(found, "duplicates"),
        "weak": _read_plane(found, "weak"),
        "overlap": None if found["overlap"] is None else json_values.flag(found, "overlap"),
    }


def _read_undecided(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    own = {"lower", "upper", "hyperplane", "points", "weights", "why", "radius"}
    json_values.mapping(found, keys | own, "the certificate")
    plane = _read_plane(found, "hyperplane")
    if isinstance(plane, RationalHyperplane):
        raise InputError("its hyperplane must have floats")
    return {
        "lower": json_values.float64(found["lower"], "lower"),
        "upper": json_values.float64(found["upper"], "upper"),
        "hyperplane": plane,
        "points": json_values.row_numbers(found, "points"),
        "weights": json_values.numbers(found, "weights"),
        "why": json_values.string(found, "why"),
        "radius": json_values.optional_float64(found, "radius"),
    }


def _read_plane(found: dict[str, Any], name: str) -> Hyperplane | RationalHyperplane | None:
    if found[name] is None:
        return None
    part = json_values.mapping(found[name], {"w", "b"}, name)
    w, b = json_values.entries(part, "w", json_values.MAX_LIST), part["b"]
    if not w:
        raise InputError(f"w of {name} is empty")
    if json_values.is_float(b):
        return Hyperplane(json_values.float64s(part, "w"), json_values.float64(b, "b"))
    return RationalHyperplane(tuple(json_values.fraction(value, "w") for value in w), json_values.fraction(b, "b"))


def _read_jointly_separable(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    json_values.mapping(found, keys | {"margin", "rivals", "radius", "mistake_bound"}, "the certificate")
    return {
        "bounds": _read_margin("origin", found["margin"]),
        "rivals": json_values.row_numbers(found, "rivals"),
        "radius": json_values.float64(found["radius"], "radius"),
    }


def _read_jointly_inseparable(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    json_values.mapping(found, keys | {"points", "rivals", "weights", "duplicates"}, "the certificate")
    return {
        "points": json_values.row_numbers(found, "points"),
        "rivals": json_values.row_numbers(found, "rivals"),
        "weights": json_values.numbers(found, "weights"),
        "duplicates": json_values.flag(found, "duplicates"),
    }


def _read_jointly_undecided(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    own = _read_undecided(found, keys | {"rivals"})
    return own | {"rivals": json_values.row_numbers(found, "rivals")}


_READERS = {
    "separable": _read_separable,
    "inseparable": _read_inseparable,
    "undecided": _read_undecided,
    "jointly separable": _read_jointly_separable,
    "jointly inseparable": _read_jointly_inseparable,
    "jointly undecided": _read_jointly_undecided,
}
