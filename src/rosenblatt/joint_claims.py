"""Which data a joint certificate speaks of: rows and their classes, in an order; and pairs of a row and a rival class.

The digest is that of the rows, and of the class numbers in the order of the names.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt import canonical, inputs
from rosenblatt.canonical import Block, Digest, Label
from rosenblatt.claims import frozen, require_digest, require_labels, require_shape
from rosenblatt.errors import InputError
from rosenblatt.inputs import Codes


@dataclass(frozen=True)
class JointData:
    """Which data a joint certificate speaks of: its shape, the classes in the order of their numbers, its digest."""

    n_rows: int
    n_features: int
    classes: tuple[Label, ...]
    digest: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", require_labels(self.classes))
        require_shape(self.n_rows, self.n_features)
        if len(self.classes) < 2:
            raise InputError("a joint certificate needs at least two classes")
        if len(self.classes) > inputs.MAX_CLASSES:
            raise InputError(f"there can be at most {inputs.MAX_CLASSES} classes")
        require_digest(self.digest)

    @classmethod
    def of(cls, X: Any, y: Any) -> JointData:
        """Describe data with any labels, in sorted order."""
        rows = canonical.exact_rows(X)
        classes, codes = inputs.encode(inputs.labels(y, len(rows)))
        return cls(*rows.shape, tuple(classes.tolist()), digest(rows, codes))


class ClassDigest:
    """SHA-256 of rows and the numbers of their classes, fed in order and in pieces of any size."""

    def __init__(self, n_features: int) -> None:
        """Begin with no rows."""
        self._rows = Digest(n_features)
        self._numbers = hashlib.sha256()

    @property
    def n_rows(self) -> int:
        """How many rows there were so far."""
        return self._rows.n_rows

    def update(self, block: Block, numbers: NDArray[Any]) -> None:
        """Take some more rows; classes are numbered from 1."""
        self._rows.update(block, np.zeros(len(block), np.int8))
        self._numbers.update(np.ascontiguousarray(numbers, "<i2").data)

    def hexdigest(self) -> str:
        """The digest of all rows so far."""
        return _combined(self._rows.hexdigest(), self._numbers.hexdigest())


def digest(rows: inputs.Rows, codes: Codes, *, threads: int = 1) -> str:
    """The digest of checked rows and their classes, numbered from 0; the same for any number of threads."""
    of_rows = canonical.digest(rows, np.zeros(len(rows), np.int8), threads=threads)
    return _combined(of_rows, hashlib.sha256(np.ascontiguousarray(codes + 1, "<i2").data).hexdigest())


def _combined(rows: str, numbers: str) -> str:
    return hashlib.sha256(f"rosenblatt classes 1\n{rows}\n{numbers}".encode()).hexdigest()


def keep_rivals(owner: Any, rows_name: str) -> None:
    """Class numbers as a read-only int64 array, one for each of the rows named."""
    rivals, rows = np.asarray(owner.rivals), getattr(owner, rows_name)
    if rivals.size == 0:
        rivals = rivals.astype(np.int64)
    if rivals.dtype.kind not in "iu" or rivals.shape != rows.shape:
        raise InputError(f"rivals must be a list of class numbers, one for each of the {rows_name}")
    if len(rivals) and not (rivals.min() >= 0 and rivals.max() < len(owner.data.classes)):
        raise InputError(f"rivals must be numbers of classes, from 0 to {len(owner.data.classes) - 1}")
    object.__setattr__(owner, "rivals", frozen(rivals.astype(np.int64)))
