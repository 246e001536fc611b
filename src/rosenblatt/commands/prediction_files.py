"""Predictions as text, CSV, TSV or Parquet, written batch by batch."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import IO, Any, Protocol

from rosenblatt.errors import missing_extra


class PredictionFile(Protocol):
    """Takes predictions in the order of the rows."""

    def write(self, labels: Any, scores: Any) -> None:
        """Write a batch: labels of shape (n,) and scores of shape (n,) or (n, classes), or None where not asked for."""

    def close(self) -> None:
        """Write what is still to be written."""


def format_of(path: str | None) -> str:
    """The format that the name of a file asks for."""
    for ending in ("csv", "tsv", "parquet"):
        if path is not None and path.lower().endswith(f".{ending}"):
            return ending
    return "text"


def prediction_file(file: IO[bytes], kind: str, what: str, classes: Sequence[str]) -> PredictionFile:
    """A writer of that format; `what` is labels, scores or both, `classes` those that the scores are of."""
    columns = ["prediction"] if what != "scores" else []
    if what != "labels":
        columns += ["score"] if len(classes) <= 2 else [f"score_{name}" for name in classes]
    if kind == "parquet":
        return _Parquet(file, columns)
    return _Lines(file, columns, {"csv": ",", "tsv": "\t", "text": "\t"}[kind], heading=kind != "text")


class _Lines:
    """A line for each row. In CSV and TSV with names on top, and quotes where they are needed."""

    def __init__(self, file: IO[bytes], columns: Sequence[str], delimiter: str, *, heading: bool) -> None:
        self._file = file
        self._text = io.StringIO(newline="")
        self._csv = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._plain = not heading
        if heading:
            self._csv.writerow(columns)
            self._flush()

    def write(self, labels: Any, scores: Any) -> None:
        parts = _cells(labels, scores)
        if self._plain:  # a label is a line as it is
            lines = ("\t".join(row) for row in zip(*parts, strict=True))
            self._file.write("".join(f"{line}\n" for line in lines).encode())
            return
        self._csv.writerows(zip(*parts, strict=True))
        self._flush()

    def _flush(self) -> None:
        self._file.write(self._text.getvalue().encode())
        self._text.seek(0)
        self._text.truncate()

    def close(self) -> None:
        self._flush()


def _cells(labels: Any, scores: Any) -> list[list[str]]:
    """The columns as text: numbers in the shortest form that reads back as the same number."""
    columns = [] if labels is None else [[str(label) for label in labels.tolist()]]
    if scores is not None:
        each = [scores] if scores.ndim == 1 else list(scores.T)
        columns += [[repr(score) for score in column.tolist()] for column in each]
    return columns


class _Parquet:
    """A record for each row, with types; a row group for every batch."""

    def __init__(self, file: IO[bytes], columns: Sequence[str]) -> None:
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            raise missing_extra("parquet", "pyarrow") from None
        self._arrow = pyarrow
        self._file = file
        self._columns = list(columns)
        self._writer: Any = None

    def write(self, labels: Any, scores: Any) -> None:
        parts = [] if labels is None else [labels]
        if scores is not None:
            parts += [scores] if scores.ndim == 1 else list(scores.T)
        made = self._arrow.table([self._arrow.array(part) for part in parts], names=self._columns)
        if self._writer is None:
            self._writer = self._arrow.parquet.ParquetWriter(self._file, made.schema)
        self._writer.write_table(made)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
