"""Single values as JSON and back, without rounding: floats in hexadecimal, fractions as two integers, labels.

What is read comes from outside: its kind, its length and its form are checked, and an error names it.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.errors import InputError

MAX_LIST = 1 << 24  # numbers in a list
MAX_COUNT = 1 << 62
MAX_DIGITS = 1 << 20
_DECIMAL_DIGITS = 300  # fractions with longer parts are written in hexadecimal, which is read in linear time
_HEX_FLOAT = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-][0-9]{1,4}|-?0x0\.0p\+0|-?inf")
_FRACTION = re.compile(r"-?(?:[0-9]{1,400}|0x[0-9a-f]+)(?:/(?:[0-9]{1,400}|0x[0-9a-f]+))?")


# Writing ------------------------------------------------------------------------------------------------------------


def number_list(numbers: Any) -> list[str]:
    """Floats or fractions, each as text."""
    return [number_text(number) for number in (numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)]


def number_text(number: float | Fraction) -> str:
    """A float in hexadecimal, or a fraction."""
    if isinstance(number, float):
        return number.hex()
    top, bottom = number.numerator, number.denominator
    if max(abs(top), bottom).bit_length() > 3 * _DECIMAL_DIGITS:
        return f"{top:#x}/{bottom:#x}"
    return f"{top}/{bottom}"


def label_text(label: Any) -> Any:
    """A label; a float is told from a text by its braces."""
    return {"float": label.hex()} if isinstance(label, float) else label


# Reading ------------------------------------------------------------------------------------------------------------


def mapping(found: Any, keys: set[str], what: str) -> dict[str, Any]:
    """An object with just these keys."""
    if not isinstance(found, dict):
        raise InputError(f"{what} is {show(found)}")
    if missing := sorted(keys - found.keys()):
        raise InputError(f"{what} lacks {missing[0]!r}")
    if unknown := sorted(found.keys() - keys):
        raise InputError(f"{what} has {unknown[0][:40]!r}, which is not known")
    return found


def entries(found: dict[str, Any], name: str, most: int) -> list[Any]:
    """A list that is not too long."""
    value = found[name]
    if not isinstance(value, list) or len(value) > most:
        raise InputError(f"{name} must be a list of at most {most} entries")
    return value


def flag(found: dict[str, Any], name: str) -> bool:
    """True or false."""
    value = found.get(name)
    if not isinstance(value, bool):
        raise InputError(f"{name} is {show(value)}, not true or false")
    return value


def string(found: dict[str, Any], name: str) -> str:
    """A text that is not too long."""
    value = found.get(name)
    if not isinstance(value, str) or len(value) > MAX_DIGITS:
        raise InputError(f"{name} is {show(value)}, not a text")
    return value


def count(found: dict[str, Any], name: str) -> int:
    """A number of things."""
    value = found[name]
    if type(value) is not int or not 0 <= value < MAX_COUNT:
        raise InputError(f"{name} is {show(value)}, not a number of things")
    return value


def row_numbers(found: dict[str, Any], name: str) -> Any:
    """A list of row numbers, or of class numbers."""
    rows = entries(found, name, MAX_LIST)
    if not all(type(row) is int and 0 <= row < MAX_COUNT for row in rows):
        raise InputError(f"{name} must be row numbers" if name != "rivals" else "rivals must be numbers of classes")
    return np.asarray(rows, np.int64)


def is_float(value: Any) -> bool:
    """Whether a text is meant as a float, not as a fraction."""
    return isinstance(value, str) and ("p" in value or value.endswith("inf"))


def float64(value: Any, name: str) -> float:
    """A float."""
    if not isinstance(value, str) or not _HEX_FLOAT.fullmatch(value):
        raise InputError(f"{name} is {show(value)}, not a hexadecimal float such as 0x1.8000000000000p+0")
    try:
        return float.fromhex(value)
    except (OverflowError, ValueError):
        raise InputError(f"{name} is {show(value)}, beyond float64") from None


def optional_float64(found: dict[str, Any], name: str) -> float | None:
    """A float or null."""
    return None if found[name] is None else float64(found[name], name)


def float64s(found: dict[str, Any], name: str) -> list[float]:
    """A list of floats."""
    return [float64(value, name) for value in entries(found, name, MAX_LIST)]


def fraction(value: Any, name: str) -> Fraction:
    """A fraction."""
    if not isinstance(value, str) or len(value) > MAX_DIGITS or not _FRACTION.fullmatch(value):
        raise InputError(f"{name} is {show(value)}, not a fraction such as 1/3")
    top, _, bottom = value.partition("/")
    denominator = integer(bottom) if bottom else 1
    if denominator == 0:
        raise InputError(f"{name} is {show(value)}, a fraction over zero")
    return Fraction(integer(top), denominator)


def integer(digits: str) -> int:
    """An integer, whose form was checked before."""
    return int(digits, 16 if "x" in digits else 10)


def numbers(found: dict[str, Any], name: str) -> Any:
    """A list of floats as an array, or one of fractions as a tuple."""
    values = entries(found, name, MAX_LIST)
    if values and is_float(values[0]):
        return np.asarray([float64(value, name) for value in values])
    return tuple(fraction(value, name) for value in values)


def show(value: Any) -> str:
    """The beginning of a value, for an error."""
    return repr(value)[:60] if isinstance(value, (str, int, float, type(None))) else type(value).__name__


def label(found: Any) -> Any:
    """A label."""
    if isinstance(found, dict):
        return float64(mapping(found, {"float"}, "a label")["float"], "a label")
    if not isinstance(found, (str, int)):
        raise InputError(f"a label is {show(found)}")
    return found
