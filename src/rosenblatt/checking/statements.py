"""What every certificate is: a statement about data that can be checked, kept as text, and compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from rosenblatt import notebooks
from rosenblatt.checking import certificate_text, certificate_words
from rosenblatt.checking.claims import Data
from rosenblatt.checking.joint_claims import JointData
from rosenblatt.checking.verification import Scan, Verification, verify, verify_batches
from rosenblatt.errors import InputError, counted


class Certificate:
    """What is common to `Separable`, `Inseparable` and `Undecided`, and to their joint kin."""

    separable: ClassVar[bool | None] = None
    data: Any  # a Data, or a JointData
    fit_intercept: bool
    proof: str

    @property
    def n_rows(self) -> int:
        """Rows of the data."""
        return int(self.data.n_rows)

    @property
    def n_features(self) -> int:
        """Features of the data."""
        return int(self.data.n_features)

    @property
    def _size(self) -> str:
        return f"{counted(self.n_rows, 'row')}, {counted(self.n_features, 'feature')}"

    @property
    def digest(self) -> str:
        """BLAKE3 hash of the canonical values of the data."""
        return str(self.data.digest)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The two labels, negative first; a side with several labels as a tuple."""
        negative, positive = self.data.negative, self.data.positive
        return (negative[0] if len(negative) == 1 else negative, positive[0] if len(positive) == 1 else positive)

    def scan(self) -> Scan:
        """Begin a pass over the data that checks it."""
        return Scan(self)

    def scans(self) -> dict[str, Scan]:
        """The passes that check it: one."""
        return {"": self.scan()}

    def verify(self, X: Any, y: Any) -> Verification:
        """Check it against the data: truthy if true, and `.why` in words. See `verify`."""
        return verify(self, X, y)

    def verify_batches(self, batches: Iterable[tuple[Any, Any]]) -> Verification:
        """Check it in one pass over batches (X, y). See `verify_batches`."""
        return verify_batches(self, batches)

    def to_json(self) -> str:
        """As text: floats in hexadecimal and fractions as such, so that nothing is rounded."""
        return certificate_text.to_json(self)

    def __str__(self) -> str:
        return certificate_words.text(self)

    def _repr_html_(self) -> str:
        # What is computed when asked for may take long: then the short form.
        return notebooks.beside(repr(self) if self.__dict__.get("later") is not None else str(self), self)

    def __bool__(self) -> bool:
        if self.separable is None:
            raise InputError("it is undecided whether the data can be separated; look at .separable, .lower and .upper")
        return self.separable

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and self.to_json() == other.to_json())

    def __hash__(self) -> int:
        return hash(self.to_json())


def keep_common(owner: Certificate, proofs: tuple[str, ...], data: type[Data] | type[JointData] = Data) -> None:
    """Check what every certificate has."""
    if owner.proof not in proofs:
        raise InputError(f"proof must be {' or '.join(map(repr, proofs))}, got {owner.proof!r}")
    if not isinstance(owner.data, data):
        raise InputError(f"data must be a {data.__name__}, got {type(owner.data).__name__}")
    object.__setattr__(owner, "fit_intercept", bool(owner.fit_intercept))
