"""Files of text: what the engine must be told to parse one, found from its first bytes or told by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from rosenblatt import _engine
from rosenblatt.errors import FileFormatError
from rosenblatt.reading.formats_found import BOM, first_lines, require_pairs
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.sources import HEAD, Source
from rosenblatt.reading.table_columns import LABEL_NAMES, Columns, Kind, columns_of, has_texts, is_prose


class Layout(NamedTuple):
    """How one file is laid out: the options with everything found filled in, its columns, and where its rows begin."""

    options: ReadingOptions
    columns: Columns | None = None
    offset: int = 0
    line: int = 0
    remarks: tuple[str, ...] = ()  # what a user may not expect
    keys: tuple[str, ...] | None = None  # JSON: of the first object
    names_line: int = 0  # CSV: the line that looks like names, though it is told to be a row


class Beginning(NamedTuple):
    """Where to begin to read, and the names that have columns already."""

    offset: int = 0
    line: int = 0
    dictionary: Sequence[bytes] = ()


def text_layout(source: Source, options: ReadingOptions, *, labelled: bool | None) -> Layout:
    """Look at a file's first bytes: all that is needed to parse it. `options` must have the format."""
    start = len(BOM) if source.head.startswith(BOM) else 0
    if options.format in ("csv", "tsv"):
        from rosenblatt.reading.csv_header import has_decimal_commas, read_header  # a libsvm file needs none of it

        found = read_header(source.path, source.name, source.head, options, whole=len(source.head) < HEAD)
        columns, resolved = columns_of(found.header, found.kinds, options, labelled=labelled)
        resolved = replace(resolved, header=found.header.told, delimiter=found.delimiter)
        told = {found.header.find(ref, "categorical") for ref in options.categorical}
        guessed = [place for place in columns.places(Kind.CATEGORY) if place not in told]
        odd = [found.odd[place] for place in guessed if place in found.odd]
        if commas := [place for place in guessed if place in found.commas]:
            odd.append(has_decimal_commas(found, commas))
        remarks = tuple(f"{source.name}: {what}" for what in odd)
        return Layout(resolved, columns, found.offset, found.line, remarks, names_line=found.names_line)
    if options.format == "json":
        names = "hash" if options.text or options.interactions else options.names or "columns"
        first = _first_object(source)
        label = _json_label(source, first, options, labelled)
        remarks = _unknown_keys(source, first, options) + _keys_with_texts(source, options, label)
        keys = None if first is None else tuple(first)
        return Layout(replace(options, label=label, names=names), offset=start, remarks=remarks, keys=keys)
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


def _first_object(source: Source) -> dict[str, Any] | None:
    """The first line of JSON; None if it is no object: the engine says what is wrong with it, and where."""
    return next((_object_in(line) for line in first_lines(source.head)), None)


def _object_in(line: bytes) -> dict[str, Any] | None:
    import json

    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _keys_with_texts(source: Source, options: ReadingOptions, label: str | None) -> tuple[str, ...]:
    """What is told of keys whose strings are texts, by the first lines, if nobody has said what they are."""
    told = {label, options.weight, *options.text, *options.ignore}
    values: dict[str, list[str]] = {}
    for line in first_lines(source.head):
        found = _object_in(line) or {}
        features = found.get("features")
        for key, value in (found | features if isinstance(features, dict) else found).items():
            if isinstance(value, str) and key not in told:
                values.setdefault(key, []).append(value)
    return tuple(f"{source.name}: {has_texts('key', key, key)}" for key, cells in values.items() if is_prose(cells))


def _json_label(
    source: Source, first: dict[str, Any] | None, options: ReadingOptions, labelled: bool | None
) -> str | None:
    """The key of the label: told, or the first of the usual names that the first object has."""
    if first is None:
        return None if options.label is None else str(options.label)
    if options.label is not None:
        if labelled and options.bad_lines != "skip":
            require_key(source.name, tuple(first), str(options.label))
        return str(options.label)
    usual = [key for key in first if key.lower() in LABEL_NAMES]
    if usual:
        return min(usual, key=lambda key: LABEL_NAMES.index(key.lower()))
    if not labelled:
        return None
    what = f"no key is called {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}. {_there_are(tuple(first))}"
    raise FileFormatError(
        f"{source.name}, line 1: {what}. Say which one has the label: label= (--label NAME)", source.path, 1
    )


def require_key(name: str, keys: Sequence[str], label: str) -> None:
    """Raise if the first object of a JSON file has no key of that name."""
    if label not in keys:
        what = f"no key is called {label!r}. {_there_are(keys)}. Correct label= (--label NAME)"
        raise FileFormatError(f"{name}, line 1: {what}", name, 1)


def _there_are(keys: Sequence[str]) -> str:
    return f"There are {', '.join(map(repr, keys[:20])) or 'none'}"


def _unknown_keys(source: Source, first: dict[str, Any] | None, options: ReadingOptions) -> tuple[str, ...]:
    """What is told of keys that the first object has not: others may have them, but it may be an error of writing."""
    features = (first or {}).get("features")
    known = {*(first or {}), *(features if isinstance(features, dict) else ())}
    told = [("weight", options.weight), *(("text", key) for key in options.text)]
    return tuple(
        f"{source.name}: the first object has no key {str(key)!r}, which {option}= (--{option}) names"
        for option, key in told
        if first is not None and key is not None and str(key) not in known
    )
