"""Certificates of several questions about one data set, as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rosenblatt import certificate_text, certificate_words
from rosenblatt.errors import InputError
from rosenblatt.joint_certificates import JointCertificate
from rosenblatt.statements import Certificate
from rosenblatt.verification import Verification


class CertificateTable(Mapping[Any, Any]):
    """Certificates of several questions about one data set: by class (against the rest), or by pair of classes.

    `separable` is True if every one is, False if one is proved not to be, None otherwise. `joint` answers for all
    classes at once.
    """

    def __init__(
        self,
        certificates: Mapping[Any, Certificate],
        joint: JointCertificate | Callable[[], JointCertificate] | None = None,
    ) -> None:
        """Keep the certificates, in their order, and the joint one or what finds it."""
        self._certificates: dict[Any, Certificate] = dict(certificates)
        self._joint = joint

    def __getitem__(self, key: Any) -> Any:
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

    @property
    def joint(self) -> JointCertificate:
        """Whether one W has every row right, for all classes at once; on large data found when first asked for."""
        if self._joint is None:
            raise InputError("this table was kept without a joint certificate: certify(X, y, multi_class='joint')")
        if not isinstance(self._joint, JointCertificate):
            self._joint = self._joint()
        return self._joint

    def verify(self, X: Any, y: Any) -> dict[Any, Verification]:
        """Check every certificate of the table against the data; `joint` has a `verify` of its own."""
        return {key: certificate.verify(X, y) for key, certificate in self.items()}

    def to_json(self) -> str:
        """As text, without rounding; the joint certificate is in it if it was found."""
        return certificate_text.table_to_json(self._certificates, self._found())

    def _found(self) -> JointCertificate | None:
        return self._joint if isinstance(self._joint, JointCertificate) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CertificateTable) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __str__(self) -> str:
        names = [" | ".join(map(str, key)) if isinstance(key, tuple) else f"{key} | rest" for key in self]
        lines = [certificate_words.line(certificate) for certificate in self.values()]
        if self._joint is not None:
            names.append("all at once")
            found = self._found()
            lines.append("ask .joint" if found is None else certificate_words.line(found))
        width = max(map(len, names))
        return "\n".join(f"{name:<{width}}  {line}" for name, line in zip(names, lines, strict=True))

    def __repr__(self) -> str:
        counts = [sum(c.separable is verdict for c in self.values()) for verdict in (True, False, None)]
        return f"<CertificateTable: {counts[0]} separable, {counts[1]} not, {counts[2]} undecided>"
