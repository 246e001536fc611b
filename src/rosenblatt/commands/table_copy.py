"""A table copied to a table of another format, cell by cell: no column is interpreted beyond its type."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import IO, TYPE_CHECKING, Any

from rosenblatt.commands.table_files import FILE_OF, table_file
from rosenblatt.errors import FileFormatError, InputError, missing_extra

if TYPE_CHECKING:
    from rosenblatt.reading.sources import Source

RECORDS = ("parquet", "arrow")
_OF_CSV = ("header", "delimiter", "quotes")
_AT_ONCE = 10_000  # rows
_WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,17})")  # 007 is a name, not a number
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MISSING = frozenset({"", "NA", "NaN", "nan", "null"})


def copy_table(source: Source, found: str, file: IO[bytes], kind: str, reading: dict[str, Any]) -> dict[str, Any]:
    """Write the table in an open `source`, a `found`, to `file` as a `kind`; how many rows and columns it has."""
    from rosenblatt.reading.options import ReadingOptions

    ReadingOptions(
        format=found, **{name: reading[name] for name in _OF_CSV if name in reading}
    )  # raises if for nothing
    table: _Text | _Records
    try:
        table = _Records(source, found, reading) if found in RECORDS else _Text(source, found, reading)
    except BaseException:
        source.close()
        raise
    with closing(table):
        ignored = {table.place(column) for column in reading.get("ignore", ())}
        if "label" in reading:
            table.place(reading["label"])  # it must be there, and keeps its name as all columns do
        kept = [place for place in range(len(table.names)) if place not in ignored]
        types = table.types() if kind in RECORDS else ["U"] * len(table.names)
        out = table_file(file, kind, [table.names[place] for place in kept], [types[place] for place in kept])
        typed, rows = found not in RECORDS and kind in RECORDS, 0
        for columns in table.batches():
            rows += len(columns[0])
            out.write([_values(columns[place], types[place]) if typed else columns[place] for place in kept])
        out.close()
    return {"rows": rows, "columns": len(kept), "remarks": []}


class _Table:
    """Columns by name or number."""

    source: str
    names: list[str]

    def close(self) -> None:
        """Close what is open."""

    def place(self, column: str | int) -> int:
        """The number of a column."""
        if isinstance(column, int) and -len(self.names) <= column < len(self.names):
            return column % len(self.names)
        if column not in self.names:
            shown = ", ".join(map(repr, self.names[:20]))
            raise FileFormatError(f"{self.source}: there is no column {column!r}. It has {shown}", self.source)
        return self.names.index(str(column))


class _Text(_Table):
    """CSV and TSV, read twice where the types of the columns are needed."""

    def __init__(self, opened: Source, found: str, reading: dict[str, Any]) -> None:
        from rosenblatt.reading.csv_header import read_header
        from rosenblatt.reading.options import ReadingOptions
        from rosenblatt.reading.sources import HEAD

        self.source, self._compression = opened.name, reading.get("compression")
        given = {name: reading[name] for name in _OF_CSV if name in reading}
        self._rewindable = opened.rewindable
        head = read_header(
            opened.path, opened.name, opened.head, ReadingOptions(format=found, **given), whole=len(opened.head) < HEAD
        )
        self._path = opened.path
        self._first: Source | None = opened
        self._delimiter, self._told = head.delimiter, head.header.told
        self._quoting: Any = csv.QUOTE_MINIMAL if reading.get("quotes", True) else csv.QUOTE_NONE
        self.names = [name if self._told else f"column_{name}" for name in head.header.names]

    def close(self) -> None:
        """Close the file, if nobody has read it."""
        if self._first is not None:
            self._first.close()

    def types(self) -> list[str]:
        """Whole numbers, numbers or text: what all cells of a column are."""
        if not self._rewindable:
            raise InputError("the types of columns are known only at the end of the input: save it to a file first")
        types = ["i"] * len(self.names)
        for columns in self.batches():
            for place, cells in enumerate(columns):
                types[place] = _type(cells, types[place])
        return types

    def batches(self) -> Iterator[list[list[str]]]:
        """Some rows at a time, by columns."""
        rows: list[list[str]] = []
        lines = (row for row in self._lines() if row)
        if self._told:
            next(lines, None)  # the names
        for row in lines:
            rows.append(row)
            if len(rows) == _AT_ONCE:
                yield list(map(list, zip(*rows, strict=True)))
                rows = []
        if rows:
            yield list(map(list, zip(*rows, strict=True)))

    def _lines(self) -> Iterator[list[str]]:
        from rosenblatt.reading.sources import Source

        opened = self._first or Source(self._path, self._compression)
        self._first = None
        lines = self._decoded(io.BufferedReader(_Bytes(opened)))
        reader = csv.reader(lines, delimiter=self._delimiter, quoting=self._quoting, strict=True)
        try:
            for row in reader:
                if row and len(row) != len(self.names):
                    raise self._fault(reader.line_num, f"found {len(row)} cells, expected {len(self.names)}")
                yield row
        except csv.Error as error:
            raise self._fault(reader.line_num, str(error)) from None
        finally:
            opened.close()

    def _decoded(self, file: IO[bytes]) -> Iterator[str]:
        """The lines as text, each with its end."""
        for number, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise self._fault(number, "this is not UTF-8 text: convert the file to UTF-8 first") from None

    def _fault(self, line: int, what: str) -> FileFormatError:
        return FileFormatError(f"{self.source}, line {line}: {what}", self.source, line)


def _values(cells: list[Any], of: str) -> list[Any]:
    """Cells of text as a record has them: an empty one is missing, and among numbers also what says so."""
    missing = _MISSING if of in "fi" else {""}
    return [None if cell in missing else cell for cell in cells]


def _type(cells: Sequence[str], so_far: str) -> str:
    for of, pattern in (("i", _WHOLE), ("f", _NUMBER)):
        if (so_far, of) != ("f", "i") and so_far != "U" and all(c in _MISSING or pattern.fullmatch(c) for c in cells):
            return of
    return "U"


class _Bytes(io.RawIOBase):
    """The unpacked bytes of a source as a file."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = self._source.read(len(buffer))
        buffer[: len(got)] = got
        return len(got)


class _Records(_Table):
    """Parquet and Arrow, whose columns have types."""

    def __init__(self, opened: Source, found: str, reading: dict[str, Any]) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet
        except ImportError:
            raise missing_extra("parquet", "pyarrow") from None
        self.source, self._arrow, self._opened = opened.name, pa, opened
        file = self._opened.open_whole()
        try:
            self._file: Any = pyarrow.parquet.ParquetFile(file) if found == "parquet" else pa.ipc.open_file(file)
        except pa.ArrowInvalid as error:
            raise FileFormatError(f"{self.source} is not {FILE_OF[found]}: {error}", opened.path) from None
        self._parquet = found == "parquet"
        self._schema = self._file.schema_arrow if self._parquet else self._file.schema
        self.names = list(self._schema.names)

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def types(self) -> list[str]:
        """Whole numbers, numbers or text."""
        types = self._arrow.types
        return [
            "i" if types.is_integer(field.type) else "f" if types.is_floating(field.type) else "U"
            for field in self._schema
        ]

    def batches(self) -> Iterator[list[list[Any]]]:
        """A batch at a time, by columns."""
        if self._parquet:
            parts = self._file.iter_batches(_AT_ONCE)
        else:
            parts = (self._file.get_batch(number) for number in range(self._file.num_record_batches))
        for part in parts:
            yield [[_plain(value) for value in column.to_pylist()] for column in part.columns]


def _plain(value: Any) -> Any:
    """A value of a record as a cell can have it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (bytes, list, dict)):
        raise InputError(
            f"a column has values such as {value!r:.60}, which a cell of a table cannot hold: leave it out"
        )
    return value if value is None or isinstance(value, (int, float, str)) else str(value)
