"""What the first bytes of a CSV file tell: the delimiter, whether the first line names the columns, and their kinds."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rosenblatt.errors import FileFormatError
from rosenblatt.reading.formats_found import BOM, find_delimiter, first_lines, has_decimal_comma, outside_quotes
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.table_columns import LABEL_NAMES, Header, Kind, has_texts, is_prose

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"})  # the engine's format_csv.cpp

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)  # among numbers: the engine says where it is
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_BLANKS = " \t"
_SAMPLE = 1000  # rows that are looked at
_NAMED = 8  # columns that a remark names
_FEW = 20  # one cell in so many may be no number by mistake


@dataclass(frozen=True)
class CsvHeader:
    """What was found at the beginning of a CSV file."""

    header: Header
    kinds: tuple[Kind, ...]
    delimiter: str
    offset: int  # of the first byte of data
    line: int  # lines before it
    odd: dict[int, str]  # of a column of categories, why it may have been meant to be another
    names_line: int  # the line that looks like names, though it is told to be a row; 0: there is none
    commas: dict[int, str]  # of a column of numbers with decimal commas, the first of them


def read_header(path: str, where: str, head: bytes, options: ReadingOptions, *, whole: bool) -> CsvHeader:
    """Look at the first bytes of a file.

    Parameters
    ----------
    path, where : str
        The file, and what messages call it.
    head : bytes
        Its first bytes.
    options : ReadingOptions
        What was told.
    whole : bool
        Whether `head` is all of the file.
    """
    start = len(BOM) if head.startswith(BOM) else 0
    quotes = options.quotes
    delimiter = options.delimiter or ("\t" if options.format == "tsv" else _delimiter(head, quotes))
    first, end, lines = _first_record(head, start, quotes)
    if b"\r" in (outside_quotes(first) if quotes else first):
        raise FileFormatError(
            f"{where}: its lines end with a carriage return alone, not with a newline. "
            "Make newlines of them first (tr '\\r' '\\n')",
            path,
            1,
        )
    if end == len(head) and not whole:
        raise FileFormatError(
            f"{where}: its first line is longer than {len(head):,} bytes, so that its columns cannot be found", path, 1
        )
    cells = _cells(first.decode(errors="replace"), delimiter, quotes)
    if not first.strip():
        raise FileFormatError(f"{where} has no lines: there is nothing to read", path)
    numbered = list(_rows(head[end:], delimiter, quotes, len(cells), whole))
    sample = [row for _, row in numbered]
    named = _names_columns(cells, sample, options)
    if named and not _is_text(first):
        raise FileFormatError(
            f"{where}, line {lines}: this is not UTF-8 text: convert the file to UTF-8 first", path, lines
        )
    names = tuple(cells) if named else tuple(str(i) for i in range(len(cells)))
    rows = sample if named else [cells, *sample]
    kinds = tuple(_kind([row[i] for row in rows]) for i in range(len(cells)))
    header = Header(path, where, names, named)
    odd: dict[int, str] = {}
    commas: dict[int, str] = {}
    for place in (place for place, kind in enumerate(kinds) if kind is Kind.CATEGORY):
        name = names[place]
        if why := _odd_cell(numbered, place, lines):
            odd[place] = f"column {name!r} is read as categories, because {why}"
        elif comma := _decimal_comma([row[place] for row in rows], delimiter):
            commas[place] = comma
        elif is_prose([row[place] for row in sample]):
            odd[place] = has_texts("column", name, header.ref(place))
    told_otherwise = options.header is False and _names_columns(cells, sample, ReadingOptions())
    begin = (end, lines) if named else (start, 0)
    return CsvHeader(header, kinds, delimiter, *begin, odd, lines if told_otherwise else 0, commas)


def has_decimal_commas(found: CsvHeader, places: Sequence[int]) -> str:
    """What is told of columns whose numbers have decimal commas, and are read as categories."""
    names = [repr(found.header.names[place]) for place in places[:_NAMED]]
    more = [f"{len(places) - _NAMED:,} more"] if len(places) > _NAMED else []
    are = f"columns {', '.join(names + more)} are" if len(places) > 1 else f"column {names[0]} is"
    how = "" if found.delimiter == "," else " (tr , . < FILE)"
    return (
        f"{are} read as categories, because there are decimal commas in {'their' if len(places) > 1 else 'its'} "
        f"numbers ({found.commas[places[0]]!r:.40}): write decimal points{how}"
    )


def _delimiter(head: bytes, quotes: bool) -> str:
    lines = first_lines(head)
    return find_delimiter(lines if quotes else [line.replace(b'"', b"") for line in lines]) or ","


def _first_record(head: bytes, start: int, quotes: bool) -> tuple[bytes, int, int]:
    """The first record that is not blank (a quoted cell may hold newlines), where it ends, and lines up to there."""
    lines, place = 0, start
    while place < len(head):
        end = place
        while True:
            newline = head.find(b"\n", end)
            end = len(head) if newline < 0 else newline + 1
            if end == len(head) or not quotes or head.count(b'"', place, end) % 2 == 0:
                break
        lines += max(1, head.count(b"\n", place, end))
        if head[place:end].strip():
            return head[place:end].rstrip(b"\r\n"), end, lines
        place = end
    return b"", len(head), lines


def _cells(record: str, delimiter: str, quotes: bool) -> list[str]:
    """The cells of one record, however long they are (the csv module sets a limit)."""
    cells, place = [], 0
    while True:
        quoted = _QUOTED.match(record, place) if quotes else None
        start = quoted.end() if quoted else place
        end = record.find(delimiter, start)
        rest = record[start : end if end >= 0 else len(record)]
        cells.append(quoted[1].replace('""', '"') + rest if quoted else rest)
        if end < 0:
            return cells
        place = end + 1


def _rows(data: bytes, delimiter: str, quotes: bool, width: int, whole: bool) -> Iterator[tuple[int, list[str]]]:
    """The first rows that have the right number of cells, each with the number of the line that it ends in."""
    if not whole:
        data = data[: data.rfind(b"\n") + 1]
    text = io.StringIO(data.decode(errors="replace"), newline="")
    try:
        reader = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
        for row, _ in zip(reader, range(_SAMPLE), strict=False):
            if len(row) == width:
                yield reader.line_num, row
    except csv.Error:  # the engine says where and why
        return


def _names_columns(cells: Sequence[str], sample: Sequence[Sequence[str]], options: ReadingOptions) -> bool:
    """Whether the first record names the columns, if nobody told."""
    if options.header is not None:
        return options.header
    refs = (options.label, options.weight, *options.numeric, *options.categorical, *options.text, *options.ignore)
    if any(isinstance(ref, str) for ref in refs):
        return True
    if _names_labels(cells, sample):
        return True
    values = any(_is_number(cell) or has_decimal_comma(cell) or (cell and cell in MISSING) for cell in cells)
    if values or len(set(cells)) < len(cells):
        return False
    if any(cell.strip().lower() in LABEL_NAMES for cell in cells):
        return True
    # A name does not come again as a value below it; and a column of numbers whose first cell is none has a name.
    return all(cell not in {row[i] for row in sample} for i, cell in enumerate(cells))


def _names_labels(cells: Sequence[str], sample: Sequence[Sequence[str]]) -> bool:
    """Whether a cell is a usual name of the labels and no label itself; then others may be numbers, or twice there."""
    for place, cell in enumerate(cells):
        if (name := cell.strip().lower()) in LABEL_NAMES:
            values = {row[place].strip().lower() for row in sample}
            if values and name not in values and (name != "y" or "n" not in values):  # above an n, a y is a yes
                return True
    return False


def _kind(cells: Sequence[str]) -> Kind:
    """Numbers if every cell is one, finite or not, or missing; else categories."""
    bare = [cell.strip(_BLANKS) for cell in cells]
    return (
        Kind.NUMBER if all(_is_number(c) or c in MISSING or _NOT_FINITE.fullmatch(c) for c in bare) else Kind.CATEGORY
    )


def _odd_cell(rows: Sequence[tuple[int, Sequence[str]]], place: int, before: int) -> str | None:
    """Which cell is the first that is no number, if the column begins with one and nearly all are."""
    if not rows or not _is_number(rows[0][1][place]):
        return None
    odd = [(line, row[place]) for line, row in rows if _kind([row[place]]) is Kind.CATEGORY]
    if not odd or len(odd) > max(1, len(rows) // _FEW):
        return None
    line, cell = odd[0]
    return f"{cell!r:.40} in line {before + line:,} is no number"


def _decimal_comma(cells: Sequence[str], delimiter: str) -> str | None:
    """The first of the cells with a comma, if all are numbers, some with what can only be a decimal comma."""
    bare = [cell for cell in (cell.strip(_BLANKS) for cell in cells) if cell not in MISSING]
    commas = [cell for cell in bare if has_decimal_comma(cell)]
    if not commas or len(commas) + sum(map(_is_number, bare)) - len(bare):
        return None
    between_thousands = delimiter == "," and all(_THOUSANDS.fullmatch(cell) for cell in commas)
    return None if between_thousands else commas[0]


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell.strip(_BLANKS)) is not None


def _is_text(record: bytes) -> bool:
    try:
        record.decode()
    except UnicodeDecodeError:
        return False
    return True
