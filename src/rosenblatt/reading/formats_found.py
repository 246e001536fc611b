"""Which format a file has, from its name and its first bytes.

A binary format says so in its first bytes, whatever the name. Of text the name decides if it has a known ending;
else the first lines do.
"""

from __future__ import annotations

import os
import re

from rosenblatt.errors import FileFormatError
from rosenblatt.reading.options import FORMATS
from rosenblatt.reading.sources import SUFFIXES

ENDINGS = {
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".libsvm": "libsvm",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".vw": "vw",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
DELIMITERS = ",\t;|"
BOM = b"\xef\xbb\xbf"  # of UTF-8

_BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_LIBSVM = re.compile(rb"\s*[^\s:,;|{\"]+(\s+(qid|\d+):\S+)*\s*(#.*)?")
_PAIR = re.compile(rb"\s\d+:\S")
_VW = re.compile(rb"\s*([-+.\deE]+\s+)*('?[^\s|]*)?\|\S*(\s.*)?", re.DOTALL)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?")
_LINES = 100  # lines that are looked at


def format_of_name(path: str) -> str | None:
    """The format that a file's name tells, under the ending of a compression.

    >>> format_of_name("a/train.svm.gz"), format_of_name("train.txt")
    ('libsvm', None)
    """
    stem, ending = os.path.splitext(path.lower())
    if ending in SUFFIXES:
        ending = os.path.splitext(stem)[1]
    return ENDINGS.get(ending)


def find_format(path: str, head: bytes, name: str) -> str:
    """The format of a file whose first bytes are `head`; `name` is for messages."""
    binary = next((found for magic, found in _BINARY.items() if head.startswith(magic)), None)
    if binary is not None:
        return binary
    if head.startswith(_UTF_16):
        raise FileFormatError(f"{name} is UTF-16 text: convert it to UTF-8 first (iconv -f UTF-16 -t UTF-8)", path)
    lines = first_lines(head)
    if lines and lines[0].lstrip().startswith(b"[") and format_of_name(path) in (None, "json"):
        raise FileFormatError(
            f"{name} begins with '[': it looks like one JSON array, but JSON lines are read, an object in each line. "
            "jq -c '.[]' makes them",
            path,
            1,
            1,
        )
    found = format_of_name(path) or _format_of_text(lines)
    if found is None and not head.strip():
        raise FileFormatError(f"{name} is empty: there are no rows in it", path)
    if found is None:
        raise FileFormatError(
            f"the format of {name} cannot be told from its name or its first lines: "
            f"say format= (--format), one of {', '.join(FORMATS)}",
            path,
        )
    return found


def first_lines(head: bytes) -> list[bytes]:
    """The first lines that are neither blank nor comments, without the last if it may be cut."""
    lines = head.removeprefix(BOM).splitlines(keepends=True)
    if len(lines) > 1 and not lines[-1].endswith((b"\n", b"\r")):
        lines.pop()
    kept = (line.rstrip(b"\r\n") for line in lines if line.strip() and not line.lstrip().startswith(b"#"))
    return [line for line, _ in zip(kept, range(_LINES), strict=False)]


def _format_of_text(lines: list[bytes]) -> str | None:
    if not lines:
        return None
    if lines[0].lstrip().startswith(b"{"):
        return "json"
    if all(_VW.fullmatch(line) for line in lines) and any(re.search(rb"(^|\s)\S*\|\S*\s", line) for line in lines):
        return "vw"
    if all(_LIBSVM.fullmatch(line) for line in lines) and any(_PAIR.search(line) for line in lines):
        return "libsvm"
    delimiter = find_delimiter(lines)
    if delimiter is None:
        return None
    return "tsv" if delimiter == "\t" else "csv"


def require_pairs(head: bytes, name: str, path: str) -> None:
    """Raise if a file that is to be libsvm begins as a table does: whole lines would be taken for labels."""
    lines = first_lines(head)
    delimiter = None if any(_PAIR.search(line) for line in lines) else find_delimiter(lines)
    if delimiter is not None:
        raise FileFormatError(
            f"{name} is to be read as libsvm, but its first lines have no index:value. They look like columns with "
            f"{delimiter!r} between them: say format='csv' (--format csv)",
            path,
            1,
            1,
        )


def find_delimiter(lines: list[bytes]) -> str | None:
    """What separates cells: the character that is equally often in every line, outside quotes; the commonest.

    Commas within numbers between semicolons separate nothing: they are decimal commas.
    """
    if lines and all(map(_has_decimal_commas, lines)):
        lines = [line.replace(b",", b"") for line in lines]
    best, most = None, 0
    for delimiter in DELIMITERS:
        counts = {outside_quotes(line).count(delimiter.encode()) for line in lines if line.count(b'"') % 2 == 0}
        if len(counts) == 1 and (count := counts.pop()) > most:
            best, most = delimiter, count
    return best


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell is a number that is written with a decimal comma.

    >>> has_decimal_comma("-0,5"), has_decimal_comma("1,234,567"), has_decimal_comma("5")
    (True, False, False)
    """
    return _DECIMAL_COMMA.fullmatch(cell.strip()) is not None


def _has_decimal_commas(line: bytes) -> bool:
    """Whether a line has cells between semicolons, and all that have commas are numbers."""
    cells = line.decode(errors="replace").split(";")
    return len(cells) > 1 and b"," in line and all(has_decimal_comma(cell) for cell in cells if "," in cell)


def outside_quotes(line: bytes) -> bytes:
    """A line without what stands in quotes."""
    return re.sub(rb'"[^"]*"', b"", line)
