"""Files of text: what the engine must be told to parse one, found from its first bytes or told by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from rosenblatt import _engine
from rosenblatt.errors import FileFormatError
from rosenblatt.reading.formats_found import BOM, first_lines, require_pairs
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.sources import HEAD, Source
from rosenblatt.reading.table_columns import LABEL_NAMES, Columns, Kind, columns_of


class Layout(NamedTuple):
    """How one file is laid out: the options with everything found filled in, its columns, and where its rows begin."""

    options: ReadingOptions
    columns: Columns | None = None
    offset: int = 0
    line: int = 0
    remarks: tuple[str, ...] = ()  # what a user may not expect


class Beginning(NamedTuple):
    """Where to begin to read, and the names that have columns already."""

    offset: int = 0
    line: int = 0
    dictionary: Sequence[bytes] = ()


def text_layout(source: Source, options: ReadingOptions, *, labelled: bool) -> Layout:
    """Look at a file's first bytes: all that is needed to parse it. `options` must have the format."""
    start = len(BOM) if source.head.startswith(BOM) else 0
    if options.format in ("csv", "tsv"):
        from rosenblatt.reading.csv_header import read_header  # a libsvm file is read without it

        found = read_header(source.path, source.name, source.head, options, whole=len(source.head) < HEAD)
        columns, resolved = columns_of(found.header, found.kinds, options, labelled=labelled)
        resolved = replace(resolved, header=found.header.told, delimiter=found.delimiter)
        told = {found.header.find(ref, "categorical") for ref in options.categorical}
        mixed = [place for place in columns.places(Kind.CATEGORY) if place in found.mixed and place not in told]
        remarks = tuple(f"{source.name}: {found.mixed[place]}" for place in mixed)
        return Layout(resolved, columns, found.offset, found.line, remarks)
    if options.format == "json":
        names = "hash" if options.text or options.interactions else options.names or "columns"
        return Layout(replace(options, label=_json_label(source, options, labelled), names=names), offset=start)
    if options.format == "libsvm":
        require_pairs(source.head, source.name, source.path)
    return Layout(options, offset=start)


def open_text(
    source: Source, layout: Layout, beginning: Beginning, *, labelled: bool, threads: int, chunk: int
) -> _engine.Reader:
    """An engine's reader of the file; it begins to parse at once."""
    offset = beginning.offset or layout.offset
    return _engine.Reader(
        source.feed(offset),
        parse_options(layout, labelled=labelled),
        threads=threads,
        chunk=chunk,
        dictionary=beginning.dictionary,
        line=beginning.line or layout.line,
        offset=offset,
    )


def parse_options(
    layout: Layout, *, labelled: bool, table: Sequence[tuple[str, Kind]] | None = None
) -> _engine.ParseOptions:
    """What the engine is told. `table`: names and kinds of columns, if they are not all those of the file."""
    options, columns = layout.options, layout.columns
    if table is None and columns is not None:
        table = list(zip(columns.header.names, columns.kinds, strict=True))
    return _engine.ParseOptions(
        "csv" if options.is_table else options.format or "",
        index_base=options.index_base or 0,
        delimiter=options.delimiter or ",",
        quotes=options.quotes or options.format not in ("csv", "tsv"),
        kinds=[int(kind) for _, kind in table or ()],
        names=[name.encode() for name, _ in table or ()],
        label_key=str(options.label or "label").encode(),
        weight_key=str(options.weight or "").encode() if options.format == "json" else b"",
        text_keys=[str(ref).encode() for ref in options.text] if options.format == "json" else (),
        ignored_keys=[str(ref).encode() for ref in options.ignore] if options.format == "json" else (),
        hashed=options.hashed,
        bits=options.bits,
        ngrams=options.ngrams,
        word_counts=options.word_values == "count",
        interactions=options.interactions,
        missing_is_zero=options.missing == "zero",
        keep_names=options.keeps_names,
        require_label=labelled,
        skip_bad_lines=options.bad_lines == "skip",
    )


def _json_label(source: Source, options: ReadingOptions, labelled: bool) -> str | None:
    """The key of the label: told, or the first of the usual names that the first object has."""
    if options.label is not None:
        return str(options.label)
    import json

    try:
        first = json.loads(first_lines(source.head)[0])
    except (IndexError, ValueError, RecursionError):
        return None  # the engine says what is wrong with it, and where
    keys: list[str] = list(first) if isinstance(first, dict) else []
    usual = [key for key in keys if key.lower() in LABEL_NAMES]
    if usual:
        return min(usual, key=lambda key: LABEL_NAMES.index(key.lower()))
    if labelled and isinstance(first, dict):
        raise FileFormatError(
            f"{source.name}, line 1: no key is called {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}. "
            f"There are {', '.join(repr(key) for key in keys[:20]) or 'none'}. "
            "Say which one has the label: label= (--label NAME)",
            source.path,
            1,
        )
    return None
