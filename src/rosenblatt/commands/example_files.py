"""Examples written as libsvm, Vowpal Wabbit's text or JSON lines, a batch at a time.

Numbers are written in the shortest form that reads back as the same float64.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rosenblatt.errors import InputError


@dataclass(frozen=True)
class Rows:
    """Some examples: a CSR or dense array, the label of each as text (None: it has none), and how much each counts."""

    X: Any
    labels: list[str | None]
    weights: list[float] | None

    def each(self) -> Iterator[tuple[list[int], list[float]]]:
        """Columns and values of each row, as stored; of a dense row those that are not 0."""
        import numpy as np

        if isinstance(self.X, np.ndarray):
            for row in self.X:
                (columns,) = np.nonzero(row)
                yield columns.tolist(), row[columns].tolist()
            return
        starts, columns, values = self.X.indptr.tolist(), self.X.indices.tolist(), self.X.data.tolist()
        for first, end in itertools.pairwise(starts):
            yield columns[first:end], values[first:end]

    def dense(self, width: int) -> Any:
        """The rows with all their zeros."""
        import numpy as np

        if isinstance(self.X, np.ndarray):
            return self.X
        out = np.zeros((len(self.labels), width))
        for place, (columns, values) in enumerate(self.each()):
            np.add.at(out[place], columns, values)
        return out


def number(value: float) -> str:
    """A float64 in the fewest digits that give it back.

    >>> number(1.0), number(0.1), number(-2.5e-300)
    ('1', '0.1', '-2.5e-300')
    """
    text = repr(value)
    return text.removesuffix(".0")


Writer = Callable[[Rows], bytes]


def libsvm_lines(first_index: int) -> Writer:
    """``label index:value ...``, the first column being `first_index`."""

    def lines(rows: Rows) -> bytes:
        out = []
        for label, (columns, values) in zip(rows.labels, rows.each(), strict=True):
            pairs = sorted(zip(columns, values, strict=True))
            text = " ".join([f"{column + first_index}:{number(value)}" for column, value in pairs])
            out.append(f"{_one_word(label, 'libsvm')} {text}".rstrip())
        return "".join(f"{line}\n" for line in out).encode()

    return lines


def vw_lines(name_of: Callable[[int], str]) -> Writer:
    """``label weight | name:value ...``; VW has no way to write a space or a colon in a name, so they become _."""
    known: dict[int, str] = {}
    owners: dict[str, int] = {}

    def name(column: int) -> str:
        if column not in known:
            text = "".join("_" if sign in " \t\n\r:|" else sign for sign in name_of(column))
            if owners.setdefault(text, column) != column:
                raise InputError(
                    f"the features {name_of(owners[text])!r} and {name_of(column)!r} would both be {text!r} in Vowpal "
                    "Wabbit's text, which has no spaces, colons and bars in names: rename one"
                )
            known[column] = text
        return known[column]

    def lines(rows: Rows) -> bytes:
        out = []
        weights = rows.weights or [1.0] * len(rows.labels)
        for label, weight, (columns, values) in zip(rows.labels, weights, rows.each(), strict=True):
            start = "" if label is None else _one_word(label, "Vowpal Wabbit's text")
            start += f" {number(weight)}" if weight != 1.0 and start else ""
            pairs = [
                name(column) if value == 1.0 else f"{name(column)}:{number(value)}"
                for column, value in zip(columns, values, strict=True)
            ]
            out.append(" ".join([start, "|", *pairs]).lstrip())
        return "".join(f"{line}\n" for line in out).encode()

    return lines


def json_lines(name_of: Callable[[int], str], value_of: Callable[[str], Any]) -> Writer:
    """``{"label": ..., "features": {name: value}}``; weights, where there are any, under "weight"."""

    def lines(rows: Rows) -> bytes:
        out = []
        weights: list[float] | list[None] = rows.weights or [None] * len(rows.labels)
        for label, weight, (columns, values) in zip(rows.labels, weights, rows.each(), strict=True):
            record: dict[str, Any] = {} if label is None else {"label": value_of(label)}
            if weight is not None:
                record["weight"] = _plain(weight)
            record["features"] = {name_of(c): _plain(v) for c, v in zip(columns, values, strict=True)}
            out.append(json.dumps(record, ensure_ascii=False, allow_nan=False))
        return "".join(f"{line}\n" for line in out).encode()

    return lines


def _plain(value: float) -> float | int:
    """A whole number without its .0, if that says the same."""
    return int(value) if value.is_integer() and abs(value) < 2**53 and str(value) != "-0.0" else value


def _one_word(label: str | None, kind: str) -> str:
    if label is None:
        raise InputError(
            f"a row has no label, and {kind} needs one: convert to csv or json, or name the column of the labels with "
            "--label COLUMN (-1 is the last)"
        )
    if not label or label.startswith("'") or any(sign in label for sign in " \t\r\n|#:"):
        raise InputError(
            f"the label {label!r} cannot be written as {kind}, where it must be one word: rename the class"
        )
    return label
