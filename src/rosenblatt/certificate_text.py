"""Certificates as JSON and back, without rounding: floats in hexadecimal, fractions as two integers.

Text comes from outside, so its size, shape and every number are checked before use. What it claims is not: a
certificate that was read is as good as its verification.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.claims import Data, Margin, RationalHyperplane
from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane

if TYPE_CHECKING:
    from rosenblatt.certificates import Certificate

FORMAT = "rosenblatt certificate"
VERSION = 1

MAX_TEXT = 1 << 27  # characters
MAX_LIST = 1 << 24  # numbers in a list
MAX_LABELS = 1 << 15
MAX_COUNT = 1 << 62
_DECIMAL_DIGITS = 300  # fractions with longer parts are written in hexadecimal, which is read in linear time
_MAX_DIGITS = 1 << 20
_HEX_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|-?0x0\.0p\+0|-?inf")
_NATURAL = re.compile(r"[0-9]{1,400}|0x[0-9a-f]+")
_FRACTION = re.compile(r"-?(?:[0-9]{1,400}|0x[0-9a-f]+)(?:/(?:[0-9]{1,400}|0x[0-9a-f]+))?")


# Writing ------------------------------------------------------------------------------------------------------------


def to_json(certificate: Certificate) -> str:
    """The whole certificate as one JSON object."""
    verdict = {True: "separable", False: "inseparable", None: "undecided"}[certificate.separable]
    head = {"format": FORMAT, "version": VERSION, "verdict": verdict}
    return json.dumps(head | _common(certificate) | _WRITERS[verdict](certificate), indent=1)


def _common(certificate: Certificate) -> dict[str, Any]:
    data = certificate.data
    return {
        "data": {
            "rows": data.n_rows,
            "features": data.n_features,
            "negative": [_label_text(name) for name in data.negative],
            "positive": [_label_text(name) for name in data.positive],
            "ignored": [_label_text(name) for name in data.ignored],
            "blake3": data.digest,
        },
        "fit_intercept": certificate.fit_intercept,
        "proof": certificate.proof,
    }


def _write_separable(certificate: Any) -> dict[str, Any]:
    return {
        "margins": {kind: _write_margin(margin) for kind, margin in certificate.margins.items()},
        "radius": certificate.radius.hex(),
        "centre": None if certificate.centre is None else _number_list(certificate.centre),
        "centred_radius": None if certificate.centred_radius is None else certificate.centred_radius.hex(),
        "mistake_bound": _bound_text(certificate.mistake_bound),
    }


def _write_margin(margin: Margin) -> dict[str, Any]:
    return {
        "hyperplane": _write_plane(margin.hyperplane),
        "lower": margin.lower.hex(),
        "upper": margin.upper.hex(),
        "support": margin.support.tolist(),
        "weights": _number_list(margin.weights),
        "exact": _write_plane(margin.exact),
        "squared": None if margin.squared is None else _number_text(margin.squared),
    }


def _write_inseparable(certificate: Any) -> dict[str, Any]:
    return {
        "points": certificate.points.tolist(),
        "signs": certificate.signs.tolist(),
        "weights": _number_list(certificate.weights),
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
        "weights": _number_list(certificate.weights),
        "why": certificate.why,
        "radius": None if certificate.radius is None else certificate.radius.hex(),
    }


_WRITERS = {"separable": _write_separable, "inseparable": _write_inseparable, "undecided": _write_undecided}


def _write_plane(plane: Hyperplane | RationalHyperplane | None) -> dict[str, Any] | None:
    if plane is None:
        return None
    return {"w": _number_list(plane.w), "b": _number_text(plane.b)}


def _number_list(numbers: Any) -> list[str]:
    return [_number_text(number) for number in (numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)]


def _number_text(number: float | Fraction) -> str:
    if isinstance(number, float):
        return number.hex()
    top, bottom = number.numerator, number.denominator
    if max(abs(top), bottom).bit_length() > 3 * _DECIMAL_DIGITS:
        return f"{top:#x}/{bottom:#x}"
    return f"{top}/{bottom}"


def _label_text(label: Any) -> Any:
    return {"float": label.hex()} if isinstance(label, float) else label


def _bound_text(bound: int | float) -> str:
    # An integer may be longer than JSON's readers take, so it is a text.
    return "infinity" if bound == math.inf else f"{int(bound):#x}" if bound >= 10**300 else str(bound)


# Reading ------------------------------------------------------------------------------------------------------------


def from_json(text: str | bytes) -> tuple[str, dict[str, Any], int | float]:
    """The verdict, the arguments of its class, and the mistake bound stated (else 0); or InputError."""
    try:
        return _read(text)
    except InputError as error:
        raise InputError(f"not a certificate: {error}") from None


def _read(text: str | bytes) -> tuple[str, dict[str, Any], int | float]:
    if not isinstance(text, (str, bytes)):
        raise InputError(f"expected text, got {type(text).__name__}")
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
        raise InputError(f"it is not JSON: {str(error)[:200]}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f'it does not begin with "format": "{FORMAT}"')
    version = found.get("version")
    if type(version) is not int or version < 1:
        raise InputError(f"its version is {_show(version)}")
    if version > VERSION:
        raise InputError(f"it has version {version}, and this library reads up to {VERSION}: use a newer one")
    verdict = found.get("verdict")
    if verdict not in ("separable", "inseparable", "undecided"):
        raise InputError(f"its verdict is {_show(verdict)}")
    keys = {"format", "version", "verdict", "data", "fit_intercept", "proof"}
    own = {"separable": _read_separable, "inseparable": _read_inseparable, "undecided": _read_undecided}[verdict]
    common = {
        "data": _read_data(found.get("data")),
        "fit_intercept": _flag(found, "fit_intercept"),
        "proof": _string(found, "proof"),
    }
    bound = _bound(found.get("mistake_bound")) if verdict == "separable" else 0
    return verdict, common | own(found, keys), bound


def _bound(value: Any) -> int | float:
    if value == "infinity":
        return math.inf
    if not isinstance(value, str) or len(value) > _MAX_DIGITS or not _NATURAL.fullmatch(value):
        raise InputError(f"mistake_bound is {_show(value)}, not a whole number as text")
    return _integer(value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise InputError("a key occurs twice")
    return result


def _no_number(text: str) -> Any:
    raise InputError(f"the number {text[:40]} is not an integer: floats are hexadecimal texts")


def _read_data(found: Any) -> Data:
    part = _object(found, {"rows", "features", "negative", "positive", "ignored", "blake3"}, "data")
    labels = {
        side: tuple(map(_read_label, _list(part, side, MAX_LABELS))) for side in ("negative", "positive", "ignored")
    }
    return Data(_count(part, "rows"), _count(part, "features"), digest=_string(part, "blake3"), **labels)


def _read_label(found: Any) -> Any:
    if isinstance(found, dict):
        return _float(_object(found, {"float"}, "a label")["float"], "a label")
    if not isinstance(found, (str, int)):
        raise InputError(f"a label is {_show(found)}")
    return found


def _read_separable(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    _object(found, keys | {"margins", "radius", "centre", "centred_radius", "mistake_bound"}, "the certificate")
    margins = found["margins"]
    if not isinstance(margins, dict):
        raise InputError(f"margins is {_show(margins)}")
    centre = None if found["centre"] is None else np.asarray(_floats(found, "centre"))
    return {
        "margins": {kind: _read_margin(kind, margin) for kind, margin in margins.items()},
        "radius": _float(found["radius"], "radius"),
        "centre": centre,
        "centred_radius": _optional_float(found, "centred_radius"),
    }


def _read_margin(kind: str, found: Any) -> Margin:
    keys = {"hyperplane", "lower", "upper", "support", "weights", "exact", "squared"}
    part = _object(found, keys, f"the {kind[:20]} margin")
    hyperplane, exact = _read_plane(part, "hyperplane"), _read_plane(part, "exact")
    if isinstance(hyperplane, RationalHyperplane) or isinstance(exact, Hyperplane):
        raise InputError("a hyperplane has floats, an exact one has fractions")
    return Margin(
        kind,
        hyperplane,
        _float(part["lower"], "lower"),
        _float(part["upper"], "upper"),
        _row_numbers(part, "support"),
        _numbers(part, "weights"),
        exact,
        None if part["squared"] is None else _fraction(part["squared"], "squared"),
    )


def _read_inseparable(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    _object(found, keys | {"points", "signs", "weights", "duplicates", "weak", "overlap"}, "the certificate")
    signs = _list(found, "signs", MAX_LIST)
    if not all(type(sign) is int and abs(sign) == 1 for sign in signs):
        raise InputError("signs must be -1 or 1")
    return {
        "points": _row_numbers(found, "points"),
        "signs": np.asarray(signs, np.int8),
        "weights": _numbers(found, "weights"),
        "duplicates": _flag(found, "duplicates"),
        "weak": _read_plane(found, "weak"),
        "overlap": None if found["overlap"] is None else _flag(found, "overlap"),
    }


def _read_undecided(found: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    own = {"lower", "upper", "hyperplane", "points", "weights", "why", "radius"}
    _object(found, keys | own, "the certificate")
    plane = _read_plane(found, "hyperplane")
    if isinstance(plane, RationalHyperplane):
        raise InputError("its hyperplane must have floats")
    return {
        "lower": _float(found["lower"], "lower"),
        "upper": _float(found["upper"], "upper"),
        "hyperplane": plane,
        "points": _row_numbers(found, "points"),
        "weights": _numbers(found, "weights"),
        "why": _string(found, "why"),
        "radius": _optional_float(found, "radius"),
    }


def _read_plane(found: dict[str, Any], name: str) -> Hyperplane | RationalHyperplane | None:
    if found[name] is None:
        return None
    part = _object(found[name], {"w", "b"}, name)
    w, b = _list(part, "w", MAX_LIST), part["b"]
    if not w:
        raise InputError(f"w of {name} is empty")
    if _is_float(b):
        return Hyperplane(_floats(part, "w"), _float(b, "b"))
    return RationalHyperplane(tuple(_fraction(value, "w") for value in w), _fraction(b, "b"))


# One value ----------------------------------------------------------------------------------------------------------


def _object(found: Any, keys: set[str], what: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(f"{what} is {_show(found)}")
    if missing := sorted(keys - found.keys()):
        raise InputError(f"{what} lacks {missing[0]!r}")
    if unknown := sorted(found.keys() - keys):
        raise InputError(f"{what} has {unknown[0][:40]!r}, which is not known")
    return found


def _list(found: dict[str, Any], name: str, most: int) -> list[Any]:
    value = found[name]
    if not isinstance(value, list) or len(value) > most:
        raise InputError(f"{name} must be a list of at most {most} entries")
    return value


def _flag(found: dict[str, Any], name: str) -> bool:
    value = found.get(name)
    if not isinstance(value, bool):
        raise InputError(f"{name} is {_show(value)}, not true or false")
    return value


def _string(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or len(value) > _MAX_DIGITS:
        raise InputError(f"{name} is {_show(value)}, not a text")
    return value


def _count(found: dict[str, Any], name: str) -> int:
    value = found[name]
    if type(value) is not int or not 0 <= value < MAX_COUNT:
        raise InputError(f"{name} is {_show(value)}, not a number of things")
    return value


def _row_numbers(found: dict[str, Any], name: str) -> Any:
    rows = _list(found, name, MAX_LIST)
    if not all(type(row) is int and 0 <= row < MAX_COUNT for row in rows):
        raise InputError(f"{name} must be row numbers")
    return np.asarray(rows, np.int64)


def _is_float(value: Any) -> bool:
    return isinstance(value, str) and ("p" in value or value.endswith("inf"))


def _float(value: Any, name: str) -> float:
    if not isinstance(value, str) or not _HEX_FLOAT.fullmatch(value):
        raise InputError(f"{name} is {_show(value)}, not a hexadecimal float such as 0x1.8000000000000p+0")
    try:
        return float.fromhex(value)
    except (OverflowError, ValueError):
        raise InputError(f"{name} is {_show(value)}, beyond float64") from None


def _optional_float(found: dict[str, Any], name: str) -> float | None:
    return None if found[name] is None else _float(found[name], name)


def _floats(found: dict[str, Any], name: str) -> list[float]:
    return [_float(value, name) for value in _list(found, name, MAX_LIST)]


def _fraction(value: Any, name: str) -> Fraction:
    if not isinstance(value, str) or len(value) > _MAX_DIGITS or not _FRACTION.fullmatch(value):
        raise InputError(f"{name} is {_show(value)}, not a fraction such as 1/3")
    top, _, bottom = value.partition("/")
    denominator = _integer(bottom) if bottom else 1
    if denominator == 0:
        raise InputError(f"{name} is {_show(value)}, a fraction over zero")
    return Fraction(_integer(top), denominator)


def _integer(digits: str) -> int:
    return int(digits, 16 if "x" in digits else 10)


def _numbers(found: dict[str, Any], name: str) -> Any:
    """A list of floats as an array, or one of fractions as a tuple."""
    values = _list(found, name, MAX_LIST)
    if values and _is_float(values[0]):
        return np.asarray([_float(value, name) for value in values])
    return tuple(_fraction(value, name) for value in values)


def _show(value: Any) -> str:
    return repr(value)[:60] if isinstance(value, (str, int, float, type(None))) else type(value).__name__
