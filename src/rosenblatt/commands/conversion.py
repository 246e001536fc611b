"""What ``rosenblatt convert`` does: from one format to another, row by row, in constant memory.

A table that becomes a table is copied cell by cell (`table_copy`). Everything else goes the way that training would
see it: features with numbers or names, and labels (`_convert_examples`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any

import click

from rosenblatt.commands import example_files, output_files
from rosenblatt.commands.compressed_files import opened_output
from rosenblatt.commands.example_files import Rows
from rosenblatt.commands.table_files import FILE_OF
from rosenblatt.errors import InputError

TABLES = tuple(FILE_OF)
_NAMED = ("json", "vw")
_MOST_COLUMNS = 16_384
_APART = (
    ", so that files converted one by one do not fit together: convert them as one ('part-*.csv'), "
    "or to json or vw, which have names"
)
_ENDINGS = ".svm, .csv, .tsv, .jsonl, .vw, .parquet or .arrow"


def target_format(target: str, told: str | None) -> str:
    """The format of the output: told, or from its name."""
    from rosenblatt.reading.formats_found import format_of_name

    found = told or format_of_name(target)
    if found is None:
        what = "standard output has no name" if target == output_files.STANDARD_OUTPUT else f"the name {target}"
        tells = f"{what} that tells its format" if target == "-" else f"{what} does not tell its format"
        raise click.UsageError(f"{tells}: say --to FORMAT, or end the name with {_ENDINGS}")
    return found


def convert(source: str, target: str, kind: str, reading: dict[str, Any], threads: int | None) -> dict[str, Any]:
    """Convert a file; the facts of the report."""
    table = _table_in(source, kind, reading) if kind in TABLES else None
    facts: dict[str, Any] = {"input": source, "output": target, "from": None, "to": kind}
    if table is not None:
        from rosenblatt.commands.table_copy import copy_table

        opened, facts["from"] = table
        with opened_output(target) as file:
            return facts | copy_table(opened, facts["from"], file, kind, reading) | {"bad_lines": 0}
    stream = _opened(source, kind, reading, threads)
    facts |= {"from": stream.options.format} | _convert_examples(stream, source, target, kind)
    facts["remarks"][:0] = _remarks_on_label(stream, reading)
    if stream.rejected:
        facts["remarks"].append(stream.rejected_words())
    return facts | {"bad_lines": stream.rejected}


def _table_in(source: str, kind: str, reading: dict[str, Any]) -> tuple[Any, str] | None:
    """A table that can be copied as it is, open, and its format; None if it is none, or its columns are interpreted."""
    from rosenblatt.reading.formats_found import find_format, format_of_name
    from rosenblatt.reading.sources import Source

    if set(reading) - {"format", "header", "delimiter", "quotes", "compression", "ignore", "label"}:
        return None
    found = reading.get("format") or format_of_name(source)
    if found not in (None, *TABLES):
        return None
    opened = Source(source, reading.get("compression"))
    found = found or find_format(source, opened.head, opened.name)
    if found in TABLES:
        return opened, found
    if not opened.rewindable:
        raise _not_rewindable(kind)
    opened.close()
    return None


def _opened(source: str, kind: str, reading: dict[str, Any], threads: int | None) -> Any:
    """The input, with the names of all features kept where the output can hold them."""
    from rosenblatt.readers import open_stream
    from rosenblatt.reading.options import ReadingOptions

    given = dict(reading)
    hashes = given.get("text") or given.get("interactions")
    if not hashes:
        given.setdefault("categories", "one-hot")
        if kind != "libsvm":  # which has no names: features keep the numbers that VW gives them
            given.setdefault("names", "columns")
    if kind in _NAMED:
        given.setdefault("keep_names", True)
    stream = open_stream(source, ReadingOptions(**given), threads=threads, labelled=None)
    stream.require_told(reading)
    return stream


def _remarks_on_label(stream: Any, reading: dict[str, Any]) -> list[str]:
    """What is said of the label of a table, if nobody has named it and it has no usual name."""
    label = stream.options.label
    if not stream.options.is_table or "label" in reading or isinstance(label, str):
        return []
    if label is None:
        return [
            "no column is known to be the label, so that all are features: name it with --label COLUMN (-1 is the last)"
        ]
    return [
        f"the columns have no names, and the last one, {label}, is taken for the label: --label COLUMN says it of "
        "another (from 0; -1 is the last)"
    ]


def _convert_examples(stream: Any, source: str, target: str, kind: str) -> dict[str, Any]:
    """Write the examples as training sees them."""
    if kind in TABLES:
        return _to_table(stream, source, target, kind)
    names = _names(stream)
    if kind == "libsvm":
        write = example_files.libsvm_lines(stream.options.index_base or 0 if stream.options.format == "libsvm" else 1)
    elif kind == "vw":
        write = example_files.vw_lines(names)
    else:
        write = example_files.json_lines(names, _json_label)
    count = _Count()
    with opened_output(target) as file:
        for rows in _rows(stream, count):
            file.write(write(rows))
    return count.facts(stream, kind)


def _to_table(stream: Any, source: str, target: str, kind: str) -> dict[str, Any]:
    """Write a column for each feature: how many there are, and which classes, is known only after a first reading."""
    if not stream.rewindable:
        raise _not_rewindable(kind)
    first = _Count()
    for _ in _rows(stream, first):
        pass
    shift = _shift(stream)
    width, names = first.features - shift, _names(stream)
    if width > _MOST_COLUMNS:
        raise InputError(
            f"{source} has {width:,} features, and {FILE_OF[kind]} would have a column for each, nearly all of them "
            f"0: convert to libsvm, json or vw, which leave the zeros out{_unhashed(stream)}"
        )
    columns = [_column_name(names(place + shift)) for place in range(width)]
    count, write = _Count(), None
    with opened_output(target) as file:
        write = _table_writer(file, kind, columns, stream.classes.values())
        for rows in _rows(stream, count, shift):
            write(rows)
        write(None)
    return count.facts(stream, kind)


def _not_rewindable(kind: str) -> InputError:
    return InputError(
        f"{FILE_OF[kind]} begins with the names of all its columns, which are known only at the end of the input: "
        "save standard input to a file first, or convert to libsvm or json"
    )


def _unhashed(stream: Any) -> str:
    """What else may help, as the end of a sentence."""
    names = stream.options.format in _NAMED and stream.options.names == "hash"
    return ", or give each name a column: --names columns" if names else ""


def _table_writer(file: IO[bytes], kind: str, columns: list[str], labels: Any) -> Callable[[Rows | None], None]:
    """What takes rows, and None at the end."""
    from rosenblatt.commands.table_files import table_file

    table = table_file(file, kind, ["label", *columns], [labels.dtype.kind, *"f" * len(columns)])

    def write(rows: Rows | None) -> None:
        if rows is None:
            table.close()
            return
        dense = rows.dense(len(columns))
        table.write([rows.labels, *(dense[:, place] for place in range(len(columns)))])

    return write


class _Count:
    """What went by."""

    def __init__(self) -> None:
        self.rows = self.features = 0
        self.weighted = False

    def facts(self, stream: Any, kind: str) -> dict[str, Any]:
        remarks = list(stream.remarks)
        if self.weighted and kind not in _NAMED:
            remarks.append(f"the rows have weights, which {kind} cannot hold: they are left out")
        if stream.feature_names is not None and kind == "libsvm":
            apart = "" if stream.width is not None else _APART
            remarks.append(
                f"libsvm has numbers and no names for features: they are numbered from 1 as they come{apart}"
            )
        if self.weighted and kind == "json":
            remarks.append('the weights of the rows are under the key "weight": read them with --weight weight')
        if stream.names_of_hashes:
            return {"rows": self.rows, "features": len(stream.names_of_hashes), "remarks": remarks}
        return {"rows": self.rows, "features": self.features - _shift(stream), "remarks": remarks}


def _shift(stream: Any) -> int:
    """1 if a libsvm file, all of it read, turned out to number its features from 1."""
    finds_base = stream.options.format == "libsvm" and stream.options.index_base is None
    return int(finds_base and stream.smallest_index > 0)


def _rows(stream: Any, count: _Count, shift: int = 0) -> Iterator[Rows]:
    from scipy.sparse import csr_array

    for batch in stream.batches():
        raw = batch.raw
        if raw.dense:
            X = raw.data.reshape(raw.n_rows, raw.n_features)
        else:
            X = csr_array((raw.data, raw.columns - shift, raw.starts), shape=(raw.n_rows, max(raw.n_features, 1)))
        keys = stream.classes.keys
        labels = [keys[code] if code >= 0 else None for code in batch.codes.tolist()]
        count.rows += batch.n_rows
        count.features = max(count.features, batch.n_features)
        count.weighted = count.weighted or batch.weights is not None
        yield Rows(X, labels, None if batch.weights is None else batch.weights.tolist())


def _names(stream: Any) -> Callable[[int], str]:
    """What a column is called: its name, or its number as the file has it."""
    known: list[str] = []
    base = stream.options.index_base or 0

    def name(column: int) -> str:
        if column >= len(known):
            known[:] = stream.feature_names or []
        if column < len(known):
            return known[column]
        hashed = stream.names_of_hashes.get(column)
        if hashed is not None and "\ufffd" in hashed:
            raise InputError(f"the feature {hashed!r} is not UTF-8 text: convert the file to UTF-8 first")
        return str(column + base) if hashed is None else str(hashed)

    return name


def _column_name(name: str) -> str:
    """A number is no name: it would make the first line look like data."""
    return f"f{name}" if name.isdigit() else name


def _json_label(key: str) -> Any:
    """A label as JSON has it: whole numbers and fractions are numbers, all else is text."""
    from rosenblatt.reading.class_table import ClassTable

    table = ClassTable([key])
    return table.values()[0].item() if table.numeric else key
