"""Labels as they are written in files, and the classes that they mean.

A file says '1', '+1' or '1.0' and means one class. Classes are numbered in the order in which a stream first shows
them, because a stream cannot know what comes later.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_CLASSES = 32_766  # a code is an int16, and one more stands for the class that was never seen

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"-?[0-9]+")
_EXACT = 2**53  # whole numbers up to here are themselves in float64


class ClassTable:
    """Classes in the order of their first appearance.

    Parameters
    ----------
    classes : iterable of labels, optional
        Classes that are known beforehand: numbers, strings, bools, or keys of another table.

    Examples
    --------
    >>> table = ClassTable()
    >>> [table.code(raw) for raw in (b"+1", b"-1", b"1.0", b"-1", b"1e0")]
    [0, 1, 0, 1, 0]
    >>> table.keys, table.values().tolist()
    (['1', '-1'], [1, -1])
    """

    def __init__(self, classes: Iterable[Any] = ()) -> None:
        """Number the classes that are known."""
        self.keys: list[str] = []
        self._codes: dict[str, int] = {}
        for label in classes:
            self._number(key_of(label))

    def __len__(self) -> int:
        return len(self.keys)

    def code(self, raw: bytes) -> int:
        """The number of the class that a file's label means; a new class gets the next one."""
        try:
            return self._number(canonical(raw.decode()))
        except UnicodeDecodeError:
            raise InputError(f"the label {raw[:40]!r} is not UTF-8 text") from None

    def _number(self, key: str) -> int:
        code = self._codes.get(key)
        if code is None:
            if len(self.keys) == MAX_CLASSES:
                raise InputError(
                    f"there are more than {MAX_CLASSES:,} different labels, the last of them {key!r:.60}: "
                    "this looks like a column of measurements or names, not of classes. Say which column has the labels"
                )
            code = self._codes[key] = len(self.keys)
            self.keys.append(key)
        return code

    @property
    def numeric(self) -> bool:
        """Whether all classes are numbers."""
        return all(is_number(key) for key in self.keys)

    def values(self) -> NDArray[Any]:
        """The labels in the order of their appearance: int64 if all are whole numbers, float64 if numbers, else str."""
        import numpy as np

        if not self.keys:
            return np.empty(0, np.int64)
        if all(_is_whole(key) for key in self.keys):
            return np.asarray([int(key) for key in self.keys], np.int64)
        if self.numeric:
            return np.asarray([float(key) for key in self.keys], np.float64)
        return np.asarray(self.keys, np.str_)


def canonical(text: str) -> str:
    """One spelling for all spellings of a number; other text is itself.

    >>> canonical("+1.0"), canonical("-0"), canonical("0.50"), canonical("1,5"), canonical(" a"), canonical("nan")
    ('1', '0', '0.5', '1,5', ' a', 'nan')
    """
    if not _NUMBER.fullmatch(text):
        return text
    value = float(text)
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    if "." not in text and "e" not in text.lower():
        return text  # a long number, such as an account's: float64 would confuse it with its neighbours
    return repr(value) if abs(value) < float("inf") else text


def key_of(label: Any) -> str:
    """The key of a label as a program has it: a number, a string or a bool."""
    if type(label).__module__ == "numpy" and hasattr(label, "item"):
        label = label.item()
    if isinstance(label, str):
        return canonical(label)
    if isinstance(label, bool):
        return "true" if label else "false"
    if isinstance(label, numbers.Integral):
        return str(int(label))
    if isinstance(label, numbers.Real):
        return canonical(repr(float(label)))
    raise InputError(f"a class must be a number, a string or a bool, got {label!r:.80}")


def _is_whole(key: str) -> bool:
    return _WHOLE.fullmatch(key) is not None and abs(float(key)) < _EXACT


def is_number(key: str) -> bool:
    """Whether the class with this key is a number."""
    if not _NUMBER.fullmatch(key) or abs(float(key)) == float("inf"):
        return False
    return _is_whole(key) or not _WHOLE.fullmatch(key)
