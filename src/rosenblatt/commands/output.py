"""What a command shows, and where: the answer on standard output, everything else on standard error.

Plain text unless it is a terminal; on one that knows only ASCII, signs are spelled out.
"""

from __future__ import annotations

import codecs
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

WIDTH = 80

_SPELLED = {
    "‖": "||", "γ": "gamma", "ρ": "rho", "τ": "tau", "²": "^2", "−": "-", "–": "-", "—": "-", "…": "...",
    "≥": ">=", "≤": "<=", "×": "x", "·": "*", "√": "sqrt", "“": '"', "”": '"', "‘": "'", "’": "'", "─": "-", "ŷ": "y^",
}  # fmt: skip


def _spell(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    unknown = error.object[error.start : error.end]
    return "".join(_SPELLED.get(sign, "?") for sign in unknown), error.end


codecs.register_error("rosenblatt.spelled", _spell)

json_option = click.option("--json", "as_json", is_flag=True, help="Print the facts as one JSON document.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Only errors and warnings, no report.")


def say(text: str = "") -> None:
    """A line of the answer."""
    _show_any_text(sys.stdout)
    print(text)  # click.echo would write UTF-8 to a terminal that knows only ASCII


def note(text: str = "") -> None:
    """A line beside the answer: a warning, or a report where the answer is data."""
    _show_any_text(sys.stderr)
    print(text, file=sys.stderr)


def warn(text: str) -> None:
    """Something that the user should know, although the command goes on."""
    note(f"Warning: {text}")


def say_json(facts: dict[str, Any]) -> None:
    """The facts as one document; signs beyond ASCII are escaped, so that any terminal and any program can read it."""
    import json

    click.echo(json.dumps(facts, indent=2, allow_nan=False))


NO_BREAK = "\N{NO-BREAK SPACE}"  # in text to wrap: a space that stays within a line


def wrapped(text: str, indent: int = 0) -> str:
    """Text broken between words to fit 80 columns; lines after the first are indented."""
    import textwrap

    lines = textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(NO_BREAK, " ")


def command_lines(words: Sequence[str], indent: int = 6) -> list[str]:
    """A command that can be copied, after "Next: " or as many spaces, broken before options where it is long."""
    parts: list[str] = []
    for word in words:
        quoted = shlex.quote(word)
        if parts and not (word.startswith("-") and not re.fullmatch(r"-[0-9.]*", word)):
            parts[-1] += f" {quoted}"
        else:
            parts.append(quoted)
    lines = [parts[0]]
    for part in parts[1:]:
        if indent + len(lines[-1]) + len(part) + 3 <= WIDTH:
            lines[-1] += f" {part}"
        else:
            lines[-1] += " \\"
            lines.append(f"{' ' * (indent + 2)}{part}")
    return lines


def shortened(text: str, most: int) -> str:
    """Text from a file as a terminal may show it: printable, in one line, and not long."""
    text = "".join(sign if sign.isprintable() else " " for sign in text[: most + 1])
    return text if len(text) <= most else text[: most - 3] + "..."


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], flush: str = "<") -> list[str]:
    """Lines of a table, two spaces between columns. `flush` has < or > for each column; the last holds for the rest."""
    everything = [list(heading), *map(list, rows)]
    widths = [max(len(row[place]) for row in everything) for place in range(len(heading))]
    sides = flush + flush[-1] * (len(widths) - len(flush))
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in everything
    ]


def classes_in_words(count: int, sizes: Sequence[str], label: str | int | None) -> str:
    """How many classes, of which column unless it has a usual name, and, if there are `sizes`, each with its rows.

    >>> classes_in_words(2, ["ham 4827", "spam 747"], "kind")
    '2 classes of kind: ham 4827, spam 747'
    """
    from rosenblatt.reading.table_columns import LABEL_NAMES

    usual = label is None or (isinstance(label, str) and label.lower() in LABEL_NAMES)
    of = "" if usual else f" of column {label}" if isinstance(label, int) else f" of {shortened(str(label), 30)}"
    return f"{count:,} classes{of}" + (f": {', '.join(sizes)}" if sizes else "")


def files_in_words(data: Sequence[str]) -> str:
    """Names of files, the first of many."""
    first = "standard input" if data[0] == "-" else data[0]
    return first if len(data) == 1 else f"{first} and {len(data) - 1} more"


def width() -> int:
    """The columns of the terminal; 80 where there is none."""
    import shutil

    return max(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH


def heading(text: str) -> str:
    """A heading, bold where the terminal can."""
    return click.style(text, bold=True) if _coloured(sys.stdout) else text


@contextmanager
def waiting() -> Iterator[Callable[[str], None]]:
    """A line that says what is being done, while it is done; silent unless standard error is a terminal."""
    from rosenblatt.commands.progress_bar import StatusLine

    line = StatusLine()
    try:
        yield line.show
    finally:
        line.show("")


def console() -> Any:
    """Standard output for rich: as wide as the terminal, within reason, or 80 columns of plain text."""
    from rich.console import Console

    _show_any_text(sys.stdout)
    found = Console(highlight=False)
    found.width = min(found.width, 100) if found.is_terminal else WIDTH
    return found


def _coloured(file: Any) -> bool:
    import os

    return bool(file.isatty()) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _show_any_text(file: Any) -> None:
    """A character that cannot be shown must not end the command."""
    if hasattr(file, "reconfigure"):
        file.reconfigure(errors="rosenblatt.spelled")
