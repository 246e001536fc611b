"""Certificates of several questions about one data set, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from rosenblatt import certificate_words
from rosenblatt.certificates import Inseparable, Separable, Undecided, Verification

AnyCertificate: TypeAlias = Separable | Inseparable | Undecided


class CertificateTable(Mapping[Any, AnyCertificate]):
    """Certificates of several questions about one data set: by class (against the rest), or by pair of classes.

    `separable` is True if every one is, False if one is proved not to be, None otherwise.
    """

    def __init__(self, certificates: Mapping[Any, AnyCertificate]) -> None:
        """Keep the certificates, in their order."""
        self._certificates: dict[Any, AnyCertificate] = dict(certificates)

    def __getitem__(self, key: Any) -> AnyCertificate:
        return self._certificates[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._certificates)

    def __len__(self) -> int:
        return len(self._certificates)

    @property
    def separable(self) -> bool | None:
        """Whether all are separable: True or False if proved, else None."""
        verdicts = {certificate.separable for certificate in self.values()}
        return False if False in verdicts else None if None in verdicts else True

    def verify(self, X: Any, y: Any) -> dict[Any, Verification]:
        """Check every certificate against the data."""
        return {key: certificate.verify(X, y) for key, certificate in self.items()}

    def __str__(self) -> str:
        names = [" | ".join(map(str, key)) if isinstance(key, tuple) else f"{key} | rest" for key in self]
        width = max(map(len, names))
        lines = [f"{name:<{width}}  {_line(c)}" for name, c in zip(names, self.values(), strict=True)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        counts = [sum(c.separable is verdict for c in self.values()) for verdict in (True, False, None)]
        return f"<CertificateTable: {counts[0]} separable, {counts[1]} not, {counts[2]} undecided>"


def _line(certificate: AnyCertificate) -> str:
    if isinstance(certificate, Separable):
        return f"separable, margin {certificate_words.at_least(certificate.margin)}"
    if isinstance(certificate, Inseparable):
        count = len(certificate.points)
        return f"not separable, {'two equal rows' if certificate.duplicates else f'{count} rows'} prove it"
    return f"undecided, margin at most {certificate_words.at_most(certificate.upper)}"
