"""In which file and on which line a row stands, for files that can be read again."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any

_TABLES_OF_RECORDS = ("parquet", "arrow")


def look_again(data: Sequence[str], reading: dict[str, Any], rows: Sequence[int]) -> dict[int, tuple[str, int]]:
    """The file and the line of some rows (sorted), by reading the files once more.

    A batch knows on which lines it begins and ends. If every line of it is a row, that is enough; else its lines are
    looked at. A row that cannot be placed is left out.
    """
    from rosenblatt.readers import open_stream
    from rosenblatt.reading.options import ReadingOptions

    stream = open_stream(list(data), ReadingOptions(**reading))
    found: dict[int, tuple[str, int]] = {}
    before: Any = None
    for batch in stream.batches():
        end = batch.position
        file, first_row = stream.files[end.file], end.rows - batch.n_rows
        wanted = rows[bisect_left(rows, first_row) : bisect_left(rows, end.rows)]
        if wanted:
            begin = (before.offset, before.line) if before is not None and before.file == end.file else (0, 0)
            lines = _lines_of(batch, file, begin, stream.options)
            found |= {row: (file, lines[row - first_row]) for row in wanted if lines}
        before = end
    return found


def _lines_of(batch: Any, file: str, begin: tuple[int, int], options: Any) -> Sequence[int]:
    """The line of each row of a batch; none if they cannot be told."""
    offset, line = begin
    if options.format in _TABLES_OF_RECORDS:
        return range(batch.position.offset - batch.n_rows + 1, batch.position.offset + 1)  # records have no lines
    if batch.position.line - line == batch.n_rows:
        return range(line + 1, batch.position.line + 1)
    text = _bytes_of(file, offset, batch.position.offset)
    bad = {fault[0] for fault in batch.raw.rejected}
    lines = [number for number in starts_of_rows(text, line, options.format) if number not in bad]
    if line == 0 and options.header:
        lines = lines[1:]
    return lines if len(lines) == batch.n_rows else []


def starts_of_rows(text: bytes, line: int, kind: str) -> Iterator[int]:
    r"""The number of each line that begins a row, after `line` lines.

    >>> list(starts_of_rows(b"# a comment\n1 1:2\n\n1 1:3\n", 0, "libsvm"))
    [2, 4]
    >>> list(starts_of_rows(b'a,"b\nc"\nd,e\n', 0, "csv"))
    [1, 3]
    """
    quoted = False
    for number, content in enumerate(text.split(b"\n"), line + 1):
        stripped = content.strip()
        comment = kind == "libsvm" and stripped.startswith(b"#")
        if stripped and not comment and not quoted:
            yield number
        if kind in ("csv", "tsv") and content.count(b'"') % 2:
            quoted = not quoted


def _bytes_of(file: str, first: int, end: int) -> bytes:
    """Some unpacked bytes of a file."""
    from rosenblatt.reading.sources import Source

    source = Source(file)
    try:
        if source.compression == "none":
            with open(file, "rb") as plain:
                plain.seek(first)
                return plain.read(end - first)
        parts, place = [], 0
        while place < end and (part := source.read(min(1 << 20, end - place))):
            if place + len(part) > first:
                parts.append(part[max(0, first - place) :])
            place += len(part)
        return b"".join(parts)
    finally:
        source.close()
