"""What a parameter may be, as data, and the one function that words the message: name, allowed, got.

Apart from `inputs`, and without numpy, because the options of reading a file are checked before numpy is loaded.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from rosenblatt.errors import InputError

_MOST_THREADS = 8  # unless somebody asks for more


class Limit(NamedTuple):
    """What a parameter may be: one of some choices, or a number within bounds."""

    choices: tuple[Any, ...] = ()
    kind: type | None = None  # numbers.Integral or numbers.Real
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    instead: str = ""  # what to do instead
    words: str = ""  # what is allowed, where it is said best in words

    def allows(self, value: Any) -> bool:
        """Whether the value is within the limit."""
        if any(value is choice or (isinstance(choice, str) and choice == value) for choice in self.choices):
            return True
        if self.kind is None or isinstance(value, bool) or not isinstance(value, self.kind):
            return False
        try:
            size = float(value)  # type: ignore[arg-type]
        except OverflowError:
            return False
        return (size > self.low if self.open_low else size >= self.low) and size <= self.high

    def __str__(self) -> str:
        if self.words:
            return self.words
        parts = [repr(choice) for choice in self.choices]
        if self.kind is not None:
            what = "an integer" if self.kind is numbers.Integral else "a number"
            if self.low > -math.inf:
                what += f" {'above' if self.open_low else 'of at least'} {self.low:g}"
            if self.high < math.inf:
                what += f"{' and' if self.low > -math.inf else ''} at most {self.high:g}"
            parts.append(what)
        return " or ".join(parts)


def flag() -> Limit:
    """True or False (numpy's too, and 0 or 1 as scikit-learn's verbose)."""
    return Limit(choices=(True, False), kind=numbers.Integral, low=0, high=1, words="True or False")


def integer(low: int, *, none: bool = False) -> Limit:
    """An integer of at least `low`."""
    return Limit(choices=(None,) if none else (), kind=numbers.Integral, low=low)


def number(low: float, *, high: float = math.inf, above: bool = False, none: bool = False) -> Limit:
    """A number of at least (or above) `low`."""
    return Limit(choices=(None,) if none else (), kind=numbers.Real, low=low, high=high, open_low=above)


def check_parameters(owner: str, values: Mapping[str, Any], limits: Mapping[str, Limit]) -> None:
    """Check parameters against their limits. The one place that words the message: name, allowed, got."""
    for name, limit in limits.items():
        value = values[name]
        if type(value).__module__ == "numpy" and value.ndim == 0 and value.dtype.kind == "b":
            value = bool(value)
        if not limit.allows(value):
            instead = f". {limit.instead}" if limit.instead else ""
            raise InputError(f"The {name!r} parameter of {owner} must be {limit}. Got {value!r} instead{instead}")


def most_threads(owner: str, threads: int | None) -> int:
    """How many threads may be used: as many as are asked for, else one for each processor, up to eight."""
    check_parameters(owner, {"threads": threads}, {"threads": integer(1, none=True)})
    if threads is not None:
        return int(threads)
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # only Linux knows
        count = os.cpu_count() or 1
    return min(count, _MOST_THREADS)
