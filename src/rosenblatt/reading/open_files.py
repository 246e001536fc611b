"""One open file of a stream: what it is, its reader, and what its messages say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import FileFormatError, InputError, counted
from rosenblatt.reading.formats_found import find_format, format_of_name
from rosenblatt.reading.options import ColumnRef, ReadingOptions
from rosenblatt.reading.sources import Source
from rosenblatt.reading.table_columns import Header, MissingColumnError
from rosenblatt.reading.text_files import Beginning, Layout, open_text, text_layout

if TYPE_CHECKING:
    from rosenblatt import _engine

BINARY = ("parquet", "arrow")
_IN_COLUMN = re.compile(r"in column ('.*')")


@dataclass
class OpenFile:
    """One file of a stream, open."""

    reader: Any  # an engine's Reader, or what has the same methods
    source: Source
    number: int
    order: list[int] | None  # of numeric columns, if it is not the model's
    text: bool  # it has lines
    names_line: int  # of which one looks like names, though it is told to be a row; 0: none does

    def next(self) -> Any:
        """The next batch, or None."""
        try:
            return self.reader.next()
        except RuntimeError as error:  # the descriptor could not be read
            raise InputError(f"{self.source.name} cannot be read: {error}") from None

    def ordered(self, raw: Any) -> Any:
        """The batch with the columns where the model has them."""
        if self.order is None:
            return raw
        from rosenblatt.reading.table_batches import reordered

        return reordered(raw, self.order)

    def words(self, fault: _engine.Fault) -> str:
        """Where a bad line is, and what is wrong with it."""
        line, column, _, found, expected = fault
        where = f"line {line:,}, column {column}" if self.text else f"row {line - 1:,} (the first is row 0)"
        return f"{self.source.name}, {where}: found {found.decode(errors='replace')}, expected {expected}"

    def fault_error(self, fault: _engine.Fault) -> FileFormatError:
        """The error that a bad line ends with."""
        instead = _remedy(fault, names=fault[0] == self.names_line)
        remedy = instead + "pass over such lines: bad_lines='skip' (--bad-lines skip)"
        if fault[4].startswith("lines of at most"):  # where the next one begins, nobody knows
            remedy = "Break the line up; of CSV, look for a quote that is never closed"
        return FileFormatError(f"{self.words(fault)}. {remedy}", self.source.path, fault[0], fault[1])

    def bytes_read(self) -> int:
        """Of the file on disk, so far."""
        counted_by_rows = getattr(self.reader, "bytes_read", None)
        return int(counted_by_rows()) if counted_by_rows is not None else self.source.bytes_read()

    def close(self) -> None:
        """Stop its threads, and close it."""
        self.source.stop()
        self.reader.close()
        self.source.close()


def describe(layout: Layout, files: Sequence[str]) -> str:
    """What was found out about a file, in a line."""
    options, columns = layout.options, layout.columns
    parts = [str(options.format)]
    if columns is not None:
        with_header = "" if options.format in BINARY else f" with{'' if columns.header.told else 'out'} a header"
        parts.append(f"{counted(len(columns.header.names), 'column')}{with_header}")
    if (label := options.label) is not None:
        parts.append(f"label {label!r}" if isinstance(label, str) else f"label in column {label}")
    if (weight := options.weight) is not None:
        parts.append(f"weight {weight!r}" if isinstance(weight, str) else f"weight in column {weight}")
    if options.categorical:
        how = f"hashed into 2**{options.bits}" if options.hashed else "one-hot"
        parts.append(f"{counted(len(options.categorical), 'categorical column')} {how}")
    if options.text:
        parts.append(f"{counted(len(options.text), 'text column')} hashed into 2**{options.bits}")
    elif options.hashed and not options.categorical:
        parts.append(f"names hashed into 2**{options.bits}")
    if options.index_base is not None:
        parts.append(f"indices from {options.index_base}")
    if len(files) > 1:
        parts.append(f"{len(files)} files")
    return ", ".join(parts)


# What is expected where a quote of CSV does not do what quotes do.
_OF_QUOTES = ("a quote that ends the field", "a delimiter after the quote")


def _remedy(fault: _engine.Fault, *, names: bool) -> str:
    """What to do about a bad line, from what was expected there; `names`: it looks like the names of the columns."""
    expected = fault[4]
    column = _IN_COLUMN.search(expected)
    if names:
        return "It looks like the names of the columns: say header=True (--header), or "
    if expected.startswith("no features beside") and (key := _key_at(fault)) is not None:
        return (
            f"If it is how much the row counts, say weight={key!r} (--weight {key}); "
            f"if it is to be left out, ignore={key!r} (--ignore {key}); or "
        )
    if expected.startswith(_OF_QUOTES):
        return "Mend the line, take quotes for signs like any other: quotes=False (--no-quotes), or "
    if "none is missing" in expected:
        return "Fill it in, take missing values for 0: missing='zero' (--missing zero), or "
    if column is not None and expected.startswith("a finite number"):
        name = column[1]
        return f"Mend it, read the column as categories: categorical={name} (--categorical {name}), or "
    return "Convert the file to UTF-8, or " if "UTF-8" in expected else "Mend the line, or "


def _key_at(fault: _engine.Fault) -> str | None:
    """The key of an object that a bad line of JSON has where it is bad; None if it is not among the bytes kept."""
    import json

    try:
        key, _ = json.JSONDecoder().raw_decode(fault[2][fault[1] - 1 :].decode(errors="replace"))
    except ValueError:
        return None
    return key if isinstance(key, str) else None


def open_file(
    source: Source, layout: Layout, number: int, beginning: Beginning, *, labelled: bool, threads: int, chunk: int
) -> OpenFile:
    """Start the reader of one file. It begins to parse at once, in threads of its own."""
    reader: Any
    if layout.options.format in BINARY:
        from rosenblatt.reading.tables import open_table

        reader = open_table(source, layout, beginning, labelled=labelled, threads=threads, chunk=chunk)
    else:
        reader = open_text(source, layout, beginning, labelled=labelled, threads=threads, chunk=chunk)
    numbers = layout.columns is not None and layout.columns.numeric_only and not layout.options.hashed
    order = layout.columns.order if numbers and layout.columns is not None else None
    return OpenFile(reader, source, number, order, layout.options.format not in BINARY, layout.names_line)


def layout_of(source: Source, options: ReadingOptions, labelled: bool | None) -> Layout:
    """What a file is. What the user says holds, but nobody wants a binary file read as text."""
    found = find_format(source.path, source.head, source.name) if _must_find(source, options) else options.format
    if options.format is not None and found != options.format:
        raise FileFormatError(
            f"{source.name} is {str(found).capitalize()} by its first bytes, not {options.format}: leave format= out, "
            f"or say format={found!r}",
            source.path,
        )
    options = replace(options, format=found)
    if found in BINARY:
        from rosenblatt.reading.tables import table_layout

        return table_layout(source, options, labelled=labelled)
    return text_layout(source, options, labelled=labelled)


def _must_find(source: Source, options: ReadingOptions) -> bool:
    return options.format is None or source.head.startswith((b"PAR1", b"ARROW1"))


def require_one_format(files: Sequence[str], options: ReadingOptions) -> None:
    """Raise if the names of the files tell different formats."""
    if options.format is not None:
        return
    known: dict[str, str] = {}
    for file in files:
        if (name := format_of_name(file)) is not None:
            known.setdefault(name, file)
    if len(known) > 1:
        named = " and ".join(f"{file} ({name})" for name, file in known.items())
        raise InputError(f"files that are read as one must have one format, got {named}")


@contextmanager
def must_agree(first: Layout) -> Iterator[None]:
    """Say of a column that only the first of several files has that they must agree."""
    try:
        yield
    except MissingColumnError as error:
        assert first.columns is not None
        raise _disagrees(error.header, error.name, first.columns.header) from None


def _disagrees(header: Header, missing: ColumnRef, other: Header) -> FileFormatError:
    return header.error(f"it has no column {missing!r}, but {other.where} has: files read as one must agree")


def require_same_columns(first: Layout, other: Layout) -> None:
    """Raise if two files do not have the same columns, in whatever order."""
    if first.columns is None or other.columns is None:
        return
    ours, theirs = first.columns.header, other.columns.header
    if sorted(ours.names) == sorted(theirs.names):
        return
    for name in theirs.names:
        if name not in ours.names:
            raise theirs.error(f"it has a column {name!r} that {ours.where} has not: files read as one must agree")
    missing = next((name for name in ours.names if name not in theirs.names), ours.names[-1])
    raise _disagrees(theirs, missing, ours)
