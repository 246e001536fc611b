"""Parquet and Arrow files, through pyarrow, batch by batch in constant memory.

A table of numbers becomes rows directly. One with categories or text is handed to the engine's CSV parser, so that its
features have the very columns that the same table as CSV has.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rosenblatt import _engine
from rosenblatt.errors import FileFormatError, missing_extra
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.sources import Source
from rosenblatt.reading.table_columns import Columns, Header, Kind, columns_of
from rosenblatt.reading.text_files import Beginning, Layout, parse_options

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt.reading.table_batches import TableBatch

_MOST_ROWS = 1 << 16  # in a batch
_BUFFER = 1 << 20  # bytes that pyarrow reads at once, instead of whole column chunks
_INDEX = re.compile(r"__index_level_\d+__")  # pandas keeps the index of a frame so: it is not a feature
_NO_LABEL = ("", "nan", "+nan", "-nan")  # they say that there is none, as a null does and as in files of text
_ARROW_STREAM = b"\xff\xff\xff\xff"


def table_layout(source: Source, options: ReadingOptions, *, labelled: bool | None) -> Layout:
    """The columns of a table, by their names and types."""
    table = _open(source, options)
    header = Header(source.path, source.name, tuple(table.schema.names), True)
    kinds = [
        Kind.IGNORED if _INDEX.fullmatch(column.name) else _kind(column.type) or Kind.NUMBER for column in table.schema
    ]
    columns, resolved = columns_of(header, kinds, options, labelled=labelled)
    _check_types(columns, table.schema)
    return Layout(resolved, columns)


def open_table(
    source: Source, layout: Layout, beginning: Beginning, *, labelled: bool, threads: int, chunk: int
) -> NumberReader | MixedReader:
    """A reader of the rows from `beginning.offset` on (a number of rows), like the engine's."""
    table, columns = source.opened, layout.columns
    assert columns is not None
    n_rows = max(1, min(_MOST_ROWS, chunk // (8 * len(columns.kinds))))
    pieces = table.pieces(beginning.offset, n_rows, [place for place, kind in enumerate(columns.kinds) if kind])
    if columns.numeric_only and not layout.options.hashed:
        return NumberReader(source, layout, pieces, beginning, labelled=labelled)
    return MixedReader(source, layout, pieces, beginning, labelled=labelled, threads=threads, chunk=chunk)


# Opening ------------------------------------------------------------------------------------------------------------


class _Parquet:
    def __init__(self, file: Any) -> None:
        from pyarrow import parquet

        self.file = parquet.ParquetFile(file, buffer_size=_BUFFER)
        self.schema = self.file.schema_arrow
        self.n_rows: int | None = self.file.metadata.num_rows

    def pieces(self, skip: int, n_rows: int, places: list[int]) -> Iterator[Any]:
        """Some columns of the rows behind the first `skip`; whole row groups before them are not read."""
        groups: list[int] = []
        names = [self.schema.names[place] for place in places]
        for group in range(self.file.metadata.num_row_groups):
            size = self.file.metadata.row_group(group).num_rows
            if not groups and skip >= size:
                skip -= size
            else:
                groups.append(group)
        if not groups:
            return
        for piece in self.file.iter_batches(n_rows, row_groups=groups, columns=names):
            behind = piece.slice(skip)
            skip -= piece.num_rows - behind.num_rows
            if behind.num_rows:
                yield behind


class _Arrow:
    def __init__(self, file: Any, *, streamed: bool) -> None:
        import pyarrow as pa

        opener = pa.ipc.open_stream if streamed else pa.ipc.open_file
        self.reader, self.streamed = opener(file), streamed
        self.schema = self.reader.schema
        self.n_rows: int | None = None

    def pieces(self, skip: int, n_rows: int, places: list[int]) -> Iterator[Any]:
        """Some columns of the rows behind the first `skip`."""
        stored = self.reader if self.streamed else map(self.reader.get_batch, range(self.reader.num_record_batches))
        for whole in stored:
            piece = whole.select(places)
            for first in range(min(skip, piece.num_rows), piece.num_rows, n_rows):
                yield piece.slice(first, n_rows)
            skip = max(0, skip - piece.num_rows)


def _open(source: Source, options: ReadingOptions) -> Any:
    """The open table; it stays with its source, because a pipe cannot be opened twice."""
    try:
        import pyarrow as pa
    except ImportError:
        raise missing_extra("parquet", "pyarrow") from None
    try:
        if options.format == "parquet":
            source.opened = _Parquet(source.open_whole())
        elif source.head.startswith(_ARROW_STREAM):
            plain = source.rewindable and source.compression == "none"
            file = source.open_whole() if plain else pa.PythonFile(_Readable(source), mode="r")
            source.opened = _Arrow(file, streamed=True)
        else:
            source.opened = _Arrow(source.open_whole(), streamed=False)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(source, options, error) from None
    return source.opened


class _Readable(io.RawIOBase):
    """The bytes of a source as pyarrow wants them."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def readable(self) -> bool:
        return True

    def read(self, count: int = -1) -> bytes:
        parts: list[bytes] = []
        while count > 0 and (part := self.source.read(count)):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _damaged(source: Source, options: ReadingOptions, error: Exception) -> FileFormatError:
    what = str(error).splitlines()[0] if str(error) else type(error).__name__
    return FileFormatError(f"{source.name} cannot be read as {options.format}: {what}", source.path)


# Types --------------------------------------------------------------------------------------------------------------


def _kind(type_: Any) -> Kind | None:
    """What a column of this type is, None if it can be neither a feature nor a label."""
    import pyarrow.types as t

    if t.is_dictionary(type_):
        return _kind(type_.value_type)
    if t.is_integer(type_) or t.is_floating(type_) or t.is_decimal(type_) or t.is_boolean(type_) or t.is_null(type_):
        return Kind.NUMBER
    is_view = getattr(t, "is_string_view", t.is_string)  # new in pyarrow 16
    return Kind.CATEGORY if t.is_string(type_) or t.is_large_string(type_) or is_view(type_) else None


def _check_types(columns: Columns, schema: Any) -> None:
    header = columns.header
    for name, kind, column in zip(header.names, columns.kinds, schema, strict=True):
        found = _kind(column.type)
        if kind is Kind.IGNORED:
            continue
        if found is None:
            raise header.error(
                f"column {name!r} has the type {column.type}, which is neither number, bool nor text: convert it, or "
                f"leave it out with ignore={name!r} (--ignore {name})"
            )
        if kind in (Kind.NUMBER, Kind.WEIGHT) and found is not Kind.NUMBER:
            raise header.error(f"column {name!r} has the type {column.type}: it cannot be read as numbers")
        if kind is Kind.TEXT and found is Kind.NUMBER:
            raise header.error(f"column {name!r} has the type {column.type}: it cannot be read as text")


def _plain(column: Any) -> Any:
    """A column without a dictionary."""
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


# Readers ------------------------------------------------------------------------------------------------------------


class _TableReader:
    """What both readers share: the pieces of the table, and how far they are read."""

    n_labels = 0
    n_names = 0

    def __init__(self, source: Source, layout: Layout, pieces: Iterator[Any], beginning: Beginning) -> None:
        assert layout.columns is not None
        self.source, self.options, self.columns = source, layout.options, layout.columns
        self.kinds = [kind for kind in layout.columns.kinds if kind]
        self.names = [name for name, kind in zip(self.columns.header.names, self.columns.kinds, strict=True) if kind]
        self.pieces, self.rows = pieces, beginning.offset

    def next_piece(self) -> Any:
        """The next rows as pyarrow has them, or None."""
        import pyarrow as pa

        try:
            return next(self.pieces, None)
        except (pa.ArrowException, OSError) as error:
            raise _damaged(self.source, self.options, error) from None

    def bytes_read(self) -> int:
        """Of the file, in proportion to the rows."""
        total = self.source.opened.n_rows
        return self.source.bytes_read() if not total else (self.source.size or 0) * self.rows // total


class NumberReader(_TableReader):
    """Rows of a table whose features are numbers."""

    def __init__(
        self, source: Source, layout: Layout, pieces: Iterator[Any], beginning: Beginning, *, labelled: bool
    ) -> None:
        """Begin at the first of the pieces."""
        super().__init__(source, layout, pieces, beginning)
        self.labelled = labelled
        self._tokens: dict[str, int] = {}

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """How many labels were met."""
        return len(self._tokens)

    def labels(self, first: int = 0) -> list[bytes]:
        """The labels in the order of their first appearance."""
        return [token.encode() for token in list(self._tokens)[first:]]

    def dictionary(self, first: int = 0) -> list[bytes]:
        """No names: the columns have them."""
        return []

    def close(self) -> None:
        """Nothing runs in the background."""

    def next(self) -> TableBatch | None:
        """The next rows, or None."""
        import numpy as np

        from rosenblatt.reading.table_batches import TableBatch

        piece = self.next_piece()
        if piece is None:
            return None
        places = [k for k, kind in enumerate(self.kinds) if kind is Kind.NUMBER]
        values = np.empty((piece.num_rows, len(places)))
        for k, place in enumerate(places):
            values[:, k] = _numbers(piece.column(place))
        weights = _numbers(piece.column(self.kinds.index(Kind.WEIGHT))) if Kind.WEIGHT in self.kinds else None
        labels, tokens = self._labels_of(piece)
        if self.options.missing == "zero":
            values[np.isnan(values)] = 0.0
        good, rejected = self._faults(values, weights, labels, [self.names[place] for place in places])
        fault = None
        if rejected and self.options.bad_lines != "skip":
            fault, rejected = rejected[0], []
            good = np.arange(len(good)) < fault[0] - 1 - self.rows
        if not good.all():
            values, labels = values[good], labels[good]
            weights = None if weights is None else weights[good]
        self.rows += piece.num_rows
        return TableBatch(values, self._codes(labels, tokens), weights, self.rows, self.rows, rejected, fault)

    def _labels_of(self, piece: Any) -> tuple[NDArray[np.int32], list[str]]:
        """The label of each row as a number of these tokens; −1: it has none."""
        import numpy as np
        import pyarrow as pa

        if Kind.LABEL not in self.kinds:
            return np.full(piece.num_rows, -1, np.int32), []
        column = _plain(piece.column(self.kinds.index(Kind.LABEL)))
        encoded = column.cast(pa.string()).dictionary_encode()
        tokens = encoded.dictionary.to_pylist()
        numbers = encoded.indices.fill_null(len(tokens)).to_numpy(zero_copy_only=False)
        said = [-1 if token.lower() in _NO_LABEL else number for number, token in enumerate(tokens)]
        labels: NDArray[np.int32] = np.asarray([*said, -1], np.int32)[numbers]
        return labels, tokens

    def _codes(self, labels: NDArray[np.int32], tokens: list[str]) -> NDArray[np.int32]:
        """The labels of the rows that are left, numbered in the order in which these rows show them."""
        import numpy as np

        used, first = np.unique(labels, return_index=True)
        codes = np.full(len(tokens) + 1, -1, np.int32)
        for number in used[np.argsort(first)].tolist():
            if number >= 0:
                codes[number] = self._tokens.setdefault(tokens[number], len(self._tokens))
        return codes[labels]

    def _faults(
        self, values: NDArray[Any], weights: NDArray[Any] | None, labels: NDArray[Any], names: list[str]
    ) -> tuple[NDArray[np.bool_], list[_engine.Fault]]:
        """Which rows are good, and what is wrong with the others."""
        import numpy as np

        bad = ~np.isfinite(values)
        columns = {row: (place, names[place]) for row, place in reversed(np.argwhere(bad).tolist())}
        good: NDArray[np.bool_] = ~bad.any(axis=1)
        if weights is not None:
            good &= np.isfinite(weights) & (weights >= 0)
        if self.labelled:
            good &= labels >= 0
        faults = []
        for row in np.flatnonzero(~good).tolist():
            if row in columns:
                place, name = columns[row]
                number, expected = values[row, place], f"a finite number in column {name!r}"
            elif self.labelled and labels[row] < 0:
                number, expected = float("nan"), f"a label in column {self.names[self.kinds.index(Kind.LABEL)]!r}"
            else:
                number = float("nan") if weights is None else weights[row]
                expected = f"a weight, 0 or more, in column {self.names[self.kinds.index(Kind.WEIGHT)]!r}"
            found = b"nothing" if number != number else str(number).encode()
            if row in columns and number != number:
                expected = expected.replace("a finite number", "a number, and none is missing,")
            faults.append((self.rows + row + 1, 1, b"", found, expected))
        return good, faults


def _numbers(column: Any) -> NDArray[np.float64]:
    """A column as float64, NaN where there is nothing."""
    import numpy as np
    import pyarrow as pa

    plain = _plain(column)
    if pa.types.is_boolean(plain.type):
        plain = plain.cast(pa.int8())
    if pa.types.is_null(plain.type):
        return np.full(len(plain), np.nan)
    return np.asarray(plain.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), np.float64)


class MixedReader(_TableReader):
    """Rows of a table with categories or text: written as CSV, and parsed by the engine."""

    def __init__(
        self,
        source: Source,
        layout: Layout,
        pieces: Iterator[Any],
        beginning: Beginning,
        *,
        labelled: bool,
        threads: int,
        chunk: int,
    ) -> None:
        """Begin to parse at the first of the pieces, in the background."""
        super().__init__(source, layout, pieces, beginning)
        self._pending = b""
        used = [(name, kind) for name, kind in zip(self.names, self.kinds, strict=True)]
        self.reader = _engine.Reader(
            self._read,
            parse_options(layout, labelled=labelled, table=used),
            threads=threads,
            chunk=chunk,
            dictionary=beginning.dictionary,
            line=beginning.line,
        )

    def _read(self, count: int) -> bytes:
        """The table as CSV, at most `count` bytes at a time. Called by the engine's threads, one at a time."""
        while not self._pending:
            piece = self.next_piece()
            if piece is None:
                return b""
            self._pending = _as_csv(piece, self.kinds)
        got, self._pending = self._pending[:count], self._pending[count:]
        return got

    def next(self) -> _RowsCounted | None:
        """The next rows, or None."""
        batch = self.reader.next()
        if batch is None:
            return None
        before, fault = self.rows, batch.fault
        self.rows += batch.n_rows + len(batch.rejected)
        if fault is not None:
            fault = (before + batch.n_rows + 1, *fault[1:])
        return _RowsCounted(batch, self.rows, fault)

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """How many labels were met."""
        return self.reader.n_labels

    @property
    def n_names(self) -> int:  # type: ignore[override]
        """How many columns got names."""
        return self.reader.n_names

    def labels(self, first: int = 0) -> list[bytes]:
        """The labels in the order of their first appearance."""
        return self.reader.labels(first)

    def dictionary(self, first: int = 0) -> list[bytes]:
        """The names of the columns in the order of their first appearance."""
        return self.reader.dictionary(first)

    def close(self) -> None:
        """Stop the threads."""
        self.reader.close()


class _RowsCounted:
    """An engine's batch that counts rows of the table where the engine counts bytes of CSV."""

    def __init__(self, batch: _engine.Batch, end: int, fault: _engine.Fault | None) -> None:
        self._batch, self.end, self.fault = batch, end, fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)


def _as_csv(piece: Any, kinds: list[Kind]) -> bytes:
    import pyarrow as pa
    from pyarrow import csv

    columns = []
    for kind, column in zip(kinds, piece.columns, strict=True):
        plain = _plain(column)
        if kind in (Kind.NUMBER, Kind.WEIGHT) and pa.types.is_boolean(plain.type):
            plain = plain.cast(pa.int8())
        elif kind in (Kind.NUMBER, Kind.WEIGHT) and not pa.types.is_integer(plain.type):
            plain = plain.cast(pa.float64(), safe=False)  # a float32 is written in full, not rounded to its few digits
        columns.append(plain)
    out = io.BytesIO()
    options = csv.WriteOptions(include_header=False)
    csv.write_csv(pa.RecordBatch.from_arrays(columns, names=[str(i) for i in range(len(columns))]), out, options)
    return out.getvalue()
