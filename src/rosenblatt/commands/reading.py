"""The options of every command that reads a file of examples: how its bytes become rows."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from rosenblatt.commands.number_types import ParameterType, WholeNumber

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("libsvm", "csv", "tsv", "json", "vw", "parquet", "arrow")


class ColumnType(ParameterType):
    """A column by its name, or by its number from 0 (negative: from the end)."""

    name = "column"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str | int:
        """A number if it is one, else the name."""
        return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value) else value


class DelimiterType(ParameterType):
    r"""A single character; \t, or tab, for the tabulator, which is hard to type."""

    name = "character"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The character."""
        value = {"\\t": "\t", "tab": "\t"}.get(value, value)
        if len(value) != 1 or not value.isascii():
            self.fail(f"{value!r} is not a single ASCII character; use \\t for the tabulator", param, ctx)
        return str(value)


class ReadingOption(click.Option):
    """An option of reading, which the help shows apart from the command's own."""


class ReadingCommand(click.Command):
    """A command whose help has its own options first, then those of reading."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both lists."""
        own: list[tuple[str, str]] = []
        reading: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                (reading if isinstance(parameter, ReadingOption) else own).append(record)
        for title, records in (("Options", own), ("Reading the data", reading)):
            with formatter.section(title):
                formatter.write_dl(records)


COLUMN = ColumnType()


def _columns(name: str, text: str) -> Callable[[Command], Command]:
    return _option(f"--{name}", metavar="COLUMN", type=COLUMN, multiple=True, help=f"{text}; repeatable.")


_option = functools.partial(click.option, cls=ReadingOption)


# Each sets the field of ReadingOptions of the same name; left out, it is found from the file.
_OPTIONS = (
    _option("--format", type=click.Choice(FORMATS), help="Of the data; found from name and content if not given."),
    _option(
        "--label",
        metavar="COLUMN",
        type=COLUMN,
        help="The label: a column by name or number (from 0; -1 the last), or a JSON key.",
    ),
    _option("--weight", metavar="COLUMN", type=COLUMN, help="How much each row counts."),
    _option("--index-base", type=click.Choice([0, 1]), help="libsvm: the number of the first feature."),
    _option("--header/--no-header", default=None, help="CSV: whether the first line has the names."),
    _option("--delimiter", metavar="CHAR", type=DelimiterType(), help="CSV: what stands between columns."),
    _option("--quotes/--no-quotes", default=None, help="CSV: whether quotes enclose values, or are signs like others."),
    _columns("numeric", "Read this column as numbers"),
    _columns("categorical", "Each value of this column is a feature"),
    _columns("text", "Each word of this column is a feature (hashed)"),
    _columns("ignore", "Leave this column out"),
    _option("--others", type=click.Choice(["find", "ignore"]), help="What becomes of columns that are not named."),
    _option("--categories", type=click.Choice(["hash", "one-hot"]), help="How values become features."),
    _option("--names", type=click.Choice(["columns", "hash"]), help="JSON, VW: how names become features."),
    _option("--bits", metavar="B", type=WholeNumber(1, 30), help="Hash into 2^B features (18)."),
    _option("--ngrams", metavar="N", type=WholeNumber(1, 16), help="Also sequences of up to N words (1)."),
    _option("--word-values", type=click.Choice(["presence", "count"]), help="What a word of a text is worth."),
    _option("--interactions", is_flag=True, default=None, help="Also pairs of features (hashed)."),
    _option("--missing", type=click.Choice(["error", "zero"]), help="What an empty value is."),
    _option(
        "--keep-names/--no-keep-names",
        default=None,
        help="Keep the names behind hashed features. [categories: kept; text: not]",
    ),
    _option(
        "--bad-lines",
        type=click.Choice(["error", "skip"]),
        help="Stop at a line that cannot be read, or go on and write it to FILE.rejected.",
    ),
    _option(
        "--compression",
        type=click.Choice(["gzip", "zstd", "xz", "none"]),
        help="Found by the first bytes if not given.",
    ),
)

FIELDS = (
    *("format", "label", "weight", "index_base", "header", "delimiter", "quotes", "numeric", "categorical", "text"),
    *(
        "ignore",
        "others",
        "categories",
        "names",
        "bits",
        "ngrams",
        "word_values",
        "interactions",
        "missing",
        "keep_names",
    ),
    *("bad_lines", "compression"),
)


def reading_options(command: Command) -> Command:
    """Add the reading options to a command, which gets those that were given as one argument, `reading`."""

    @functools.wraps(command)
    def with_reading(**arguments: Any) -> Any:
        given = {name: arguments.pop(name) for name in FIELDS}
        given = {name: value for name, value in given.items() if value is not None and value != ()}
        return command(reading=given, **arguments)

    decorated: Any = with_reading
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def as_arguments(reading: dict[str, Any]) -> list[str]:
    """The options as they would be typed, for commands that a report suggests."""
    words: list[str] = []
    for field, value in reading.items():
        name = f"--{field.replace('_', '-')}"
        if value is True:
            words.append(name)
        elif value is False:
            words.append(f"--no-{name[2:]}")
        elif isinstance(value, tuple):
            for one in value:
                words += [name, str(one)]
        else:
            words += [name, "\\t" if value == "\t" else str(value)]
    return words


def told(options: Any) -> dict[str, Any]:
    """Reading options as facts, without those that are as they always are."""
    usual = type(options)().to_plain()
    return {name: value for name, value in options.to_plain().items() if value != usual[name]}
