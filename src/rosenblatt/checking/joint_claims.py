"""Which data a joint certificate speaks of: rows and their classes, in an order; and pairs of a row and a rival class.

The digest is that of the rows, and of the class numbers in the order of the names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rosenblatt import inputs
from rosenblatt.checking import canonical
from rosenblatt.checking.canonical import Label
from rosenblatt.checking.claims import frozen, require_digest, require_labels, require_shape
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


def digest(rows: inputs.Rows, codes: Codes, *, threads: int = 1, known: bytes | None = None) -> str:
    """The digest of checked rows and their classes; `known` is the part of the rows, if it is known."""
    numbers = np.asarray(codes + 1, np.int16)  # from 1 on, so that 0 can stand for a label unknown to the checker
    return canonical.digest(rows, numbers, classes=True, threads=threads, known=known)


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
