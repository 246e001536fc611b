"""Every error that the library raises on purpose, so that a program can catch one kind or all.

    RosenblattError
    ├── InputError           (ValueError)       data or a parameter that cannot be used
    │   └── FileFormatError  (ValueError)       a file that cannot be read as what it should be: where, what, why
    ├── NotSeparableError    (ValueError)       asked for what only a separating hyperplane has
    ├── UndecidedError       (RuntimeError)     neither that it can be separated nor that it cannot was proved
    ├── ModelFileError       (ValueError)       a model file that is damaged, foreign or too new
    ├── CheckpointError      (ValueError)       a checkpoint or cache that is damaged, or of other data or options
    ├── WeightOverflowError  (ArithmeticError)  weights grew beyond float64 while learning
    └── MissingExtraError    (ImportError)      an optional package is not installed

Each also is the built-in error in brackets, so code that knows nothing of this library catches it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rosenblatt.certificates import Inseparable, Undecided

__all__ = [
    "CheckpointError",
    "FileFormatError",
    "InputError",
    "MissingExtraError",
    "ModelFileError",
    "NotSeparableError",
    "RosenblattError",
    "UndecidedError",
    "WeightOverflowError",
    "counted",
    "missing_extra",
]


class RosenblattError(Exception):
    """The root: ``except RosenblattError`` catches whatever this library raises on purpose."""


class InputError(RosenblattError, ValueError):
    """Data or a parameter that cannot be used; the message says where, what, and what to do."""


class FileFormatError(InputError):
    """A data file that is not what it should be. `path`, `line` and `column` (from 1) say where, None if unknown."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None, column: int | None = None):
        """Keep the message, and the place."""
        super().__init__(message)
        self.path, self.line, self.column = path, line, column


class NotSeparableError(RosenblattError, ValueError):
    """What was asked for exists only for a hyperplane that separates the data, and this one does not.

    `certificate`, if it is not None, proves that no hyperplane does.
    """

    def __init__(self, message: str, certificate: Inseparable | None = None) -> None:
        """Keep the message, and the proof if there is one."""
        super().__init__(message)
        self.certificate = certificate


class UndecidedError(RosenblattError, RuntimeError):
    """Neither was proved, that a hyperplane separates the data nor that none does; `certificate` has the bounds."""

    def __init__(self, message: str, certificate: Undecided | None = None) -> None:
        """Keep the message, and the bounds."""
        super().__init__(message)
        self.certificate = certificate


class ModelFileError(RosenblattError, ValueError):
    """A model file that is damaged, is not ours, or was written by a newer version."""


class CheckpointError(RosenblattError, ValueError):
    """A checkpoint or a cache of rows that is damaged, or that was made from other data or with other options."""


class WeightOverflowError(RosenblattError, ArithmeticError):
    """The weights left the range of float64 while learning: scale the features down."""


class MissingExtraError(RosenblattError, ImportError):
    """An optional package is not installed; the message says which extra brings it."""


def missing_extra(extra: str, package: str) -> MissingExtraError:
    """The error to raise when ``import package`` fails: it names the extra that brings the package.

    >>> str(missing_extra("plot", "matplotlib"))
    'this needs matplotlib, from the extra "plot": pip install "rosenblatt[plot]"'
    """
    message = f'this needs {package}, from the extra "{extra}": pip install "rosenblatt[{extra}]"'
    return MissingExtraError(message, name=package)


def counted(number: int, thing: str) -> str:
    """A number of things, for messages.

    >>> counted(1, "feature"), counted(1797, "row")
    ('1 feature', '1,797 rows')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
