"""Tables written column by column, a batch at a time: CSV, TSV, Parquet or Arrow."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import IO, Any, Protocol

from rosenblatt.commands.example_files import number
from rosenblatt.errors import InputError, missing_extra

FILE_OF = {"csv": "a CSV file", "tsv": "a TSV file", "parquet": "a Parquet file", "arrow": "an Arrow file"}


class TableFile(Protocol):
    """Takes rows by columns."""

    def write(self, columns: Sequence[Any]) -> None:
        """Write a batch: a list or an array for each column; None is a missing value."""

    def close(self) -> None:
        """Write what is still to be written."""


def table_file(file: IO[bytes], kind: str, names: Sequence[str], types: Sequence[str]) -> TableFile:
    """A table with these columns; types as numpy's: "f" floats, "i" whole numbers, others text."""
    if kind in ("parquet", "arrow"):
        return _Records(file, kind, names, types)
    return _Lines(file, names, "\t" if kind == "tsv" else ",")


class _Lines:
    def __init__(self, file: IO[bytes], names: Sequence[str], delimiter: str) -> None:
        self._file = file
        self._text = io.StringIO(newline="")
        self._csv = csv.writer(self._text, delimiter=delimiter, lineterminator="\n")
        self._csv.writerow(names)

    def write(self, columns: Sequence[Any]) -> None:
        self._csv.writerows(zip(*map(_cells, columns), strict=True))
        self._flush()

    def close(self) -> None:
        self._flush()

    def _flush(self) -> None:
        self._file.write(self._text.getvalue().encode())
        self._text.seek(0)
        self._text.truncate()


def _cells(column: Any) -> list[str]:
    values = column.tolist() if hasattr(column, "tolist") else column
    return ["" if value is None else number(value) if isinstance(value, float) else str(value) for value in values]


class _Records:
    def __init__(self, file: IO[bytes], kind: str, names: Sequence[str], types: Sequence[str]) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet
        except ImportError:
            raise missing_extra("parquet", "pyarrow") from None
        known = {"f": pa.float64(), "i": pa.int64()}
        self._arrow = pa
        self._types = list(types)
        self._schema = pa.schema([(name, known.get(of, pa.string())) for name, of in zip(names, types, strict=True)])
        make = pyarrow.parquet.ParquetWriter if kind == "parquet" else pa.ipc.new_file
        self._writer: Any = make(file, self._schema)

    def write(self, columns: Sequence[Any]) -> None:
        arrays = [self._array(*each) for each in zip(columns, self._types, self._schema, strict=True)]
        self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))

    def _array(self, column: Any, of: str, field: Any) -> Any:
        try:
            return self._arrow.array(_typed(column, of), field.type)
        except (self._arrow.ArrowInvalid, OverflowError) as error:
            raise InputError(f"the column {field.name!r} cannot be written as {field.type}: {error}") from None

    def close(self) -> None:
        self._writer.close()


def _typed(column: Any, of: str) -> Any:
    """Text as the numbers that it spells, where the column has numbers."""
    if not isinstance(column, list) or of not in "fi":
        return column
    return [None if value is None else (int if of == "i" else float)(value) for value in column]
