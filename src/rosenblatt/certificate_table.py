"""Certificates of several questions about one data set, as a table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rosenblatt import notebooks
from rosenblatt.checking import certificate_text, certificate_words
from rosenblatt.checking.claims import Data
from rosenblatt.checking.statements import Certificate
from rosenblatt.checking.verification import Scan, Verification, verify, verify_batches
from rosenblatt.errors import InputError
from rosenblatt.joint_certificates import JointCertificate


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
        classes = _require_table(self._certificates)
        found = self._found()
        if found is not None and set(found.data.classes) != classes:
            raise InputError("the joint certificate of a table must speak of the same classes")

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

    def verify(self, X: Any, y: Any) -> Verification:
        """Check every certificate of the table, the joint one too if it was found: truthy if all are true."""
        return verify(self, X, y)

    def verify_batches(self, batches: Iterable[tuple[Any, Any]]) -> Verification:
        """The same in one pass over batches (X, y)."""
        return verify_batches(self, batches)

    def scans(self) -> dict[str, Scan]:
        """Begin a pass over the data that checks each, by its name."""
        found = self._found()
        names = self._names() + ([] if found is None else ["all at once"])
        each = [*self.values()] + ([] if found is None else [found])
        return {name: certificate.scan() for name, certificate in zip(names, each, strict=True)}

    def to_json(self) -> str:
        """As text, without rounding; the joint certificate is in it if it was found."""
        return certificate_text.table_to_json(self._certificates, self._found())

    def _found(self) -> JointCertificate | None:
        return self._joint if isinstance(self._joint, JointCertificate) else None

    def _names(self) -> list[str]:
        names = (" | ".join(map(str, key)) if isinstance(key, tuple) else f"{key} | rest" for key in self)
        return [certificate_words.printable(name) for name in names]

    def _repr_html_(self) -> str:
        return notebooks.beside(str(self), self)

    def __bool__(self) -> bool:
        if self.separable is None:
            raise InputError(
                "it is undecided whether all can be separated; look at .separable, and at each certificate"
            )
        return self.separable

    def __eq__(self, other: object) -> bool:
        # Whether the joint answer was asked for by now makes no difference.
        return isinstance(other, CertificateTable) and self._certificates == other._certificates

    def __hash__(self) -> int:
        return hash(tuple(self._certificates.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return CertificateTable, (self._certificates, self._found())  # without what would find the joint one

    def __str__(self) -> str:
        names = self._names()
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


def _require_table(certificates: Mapping[Any, Certificate]) -> set[Any]:
    """Raise unless the certificates are those of all classes, or of all pairs, of one data set; the classes."""
    data = [certificate.data for certificate in certificates.values()]
    if not data or not all(isinstance(one, Data) for one in data):
        raise InputError("a table has a certificate of two sides for each class, or for each pair of classes")
    classes = {*data[0].negative, *data[0].positive, *data[0].ignored}
    for key, one in zip(certificates, data, strict=True):
        negative, positive, ignored = set(one.negative), set(one.positive), set(one.ignored)
        pair = isinstance(key, tuple)
        sides = ({key[0]}, {key[1]}) if pair and len(key) == 2 else (classes - {key}, {key})
        right = (negative, positive) == sides and negative | positive | ignored == classes
        if not right or (one.n_rows, one.n_features) != (data[0].n_rows, data[0].n_features):
            raise InputError(f"the certificate under {key!r} in a table speaks of something else")
    pairs = {key for key in certificates if isinstance(key, tuple)}
    n = len(classes)
    if len(certificates) != (n * (n - 1) // 2 if pairs else n) or {frozenset(pair) for pair in pairs} != {
        frozenset(pair) for pair in (itertools.combinations(classes, 2) if pairs else ())
    }:
        raise InputError("a table must have a certificate for each class, or for each pair of classes")
    return classes
