"""Predictions as text, CSV, TSV or Parquet, written batch by batch."""

from __future__ import annotations

from typing import IO, Any

import click

from rosenblatt.commands.table_files import table_file

FORMATS = ("text", "csv", "tsv", "parquet")


def format_of(path: str | None) -> str:
    """The format that the name of a file asks for, under the ending of a compression."""
    from rosenblatt.reading.formats_found import format_of_name

    found = None if path is None else format_of_name(path)
    if found in (None, *FORMATS):
        return found or "text"
    raise click.UsageError(
        f"{path} is {found} by its name, and predictions are {', '.join(FORMATS[:-1])} or {FORMATS[-1]}: name another "
        "file, or say --output-format"
    )


class PredictionFile:
    """Takes predictions in the order of the rows, and writes of them what was asked for."""

    def __init__(self, file: IO[bytes], kind: str, what: str, classes: Any) -> None:
        """Begin a file; `what` is labels, scores or both, `classes` those of the model."""
        self._file, self._labels, self._scores = file, what != "scores", what != "labels"
        self._numbers = classes.dtype.kind in "if"
        names, types = [], []
        if self._labels:
            names, types = ["prediction"], [classes.dtype.kind]
        if self._scores:
            each = ["score"] if len(classes) <= 2 else [f"score_{name}" for name in classes.tolist()]
            names, types = names + each, types + ["f"] * len(each)
        self._table = None if kind == "text" else table_file(file, kind, names, types)

    def write(self, labels: Any, scores: Any) -> None:
        """Write a batch: labels of shape (n,), scores of shape (n,) or (n, classes)."""
        columns = []
        if self._labels:
            columns.append(labels if self._numbers else [self._cell(str(label)) for label in labels.tolist()])
        if self._scores:
            columns += [scores] if scores.ndim == 1 else list(scores.T)
        if self._table is not None:
            self._table.write(columns)
            return
        # Numbers are in the shortest form that gives them back.
        cells = [column if isinstance(column, list) else map(repr, column.tolist()) for column in columns]
        self._file.write("".join("\t".join(row) + "\n" for row in zip(*cells, strict=True)).encode())

    def _cell(self, label: str) -> str:
        """Text has no quotes: a label stands there as it is, unless it would not be one cell of one line."""
        if self._table is not None or not any(sign in label for sign in "\n\r\t"):
            return label
        import json

        return json.dumps(label, ensure_ascii=False)

    def close(self) -> None:
        """Write what is still to be written."""
        if self._table is not None:
            self._table.close()
