"""``rosenblatt convert``: the same examples in another format."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.commands import output, output_files
from rosenblatt.commands.number_types import WholeNumber
from rosenblatt.commands.reading import FORMATS, ReadingCommand, reading_options
from rosenblatt.errors import counted


@click.command(
    cls=ReadingCommand,
    epilog="""\b
Examples:
  rosenblatt convert data.csv data.svm
  rosenblatt convert data.svm.gz data.parquet
  rosenblatt convert log.vw log.jsonl.zst
  rosenblatt convert data.parquet - --to vw | vw --loss_function hinge

\b
Exit codes:
  0  converted
  1  it failed, and the message says why; no output file is left
     (rosenblatt --help has the others)
""",
)
@click.argument("source", type=click.Path(), metavar="IN")
@click.argument("target", type=click.Path(), metavar="OUT")
@click.option("--to", "to", type=click.Choice(FORMATS), help="The format of OUT; found from its name if not given.")
@click.option("--threads", metavar="N", type=WholeNumber(1), help="At most so many.")
@output.quiet_option
@output.json_option
@reading_options
def convert(
    source: str,
    target: str,
    to: str | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    reading: dict[str, Any],
) -> None:
    """Write the examples of IN to OUT in another format, row by row.

    The names of both files say the formats and the compression (.gz, .xz, .zst); - is standard input or output.
    Numbers are written so that they read back as the same float64, and labels as they are. Between tables (CSV, TSV,
    Parquet, Arrow) the columns stay what they are; otherwise OUT has what training would see: numbers, and a feature
    for each value of a categorical column. OUT gets its name when all of it is written.
    """
    from rosenblatt.commands import conversion

    kind = conversion.target_format(target, to)
    output_files.require_writable(target, [source], "OUT")
    if as_json and target == output_files.STANDARD_OUTPUT:
        raise click.UsageError("--json and the data would both go to standard output: name a file as OUT")
    with output.waiting() as now:
        now(f"converting {source}")
        facts = conversion.convert(source, target, kind, reading, threads)
    for remark in facts["remarks"]:
        output.warn(remark)
    if as_json:
        output.say_json(facts)
    elif not quiet:
        say = output.note if target == output_files.STANDARD_OUTPUT else output.say
        width = counted(facts["columns"], "column") if "columns" in facts else counted(facts["features"], "feature")
        say(f"{counted(facts['rows'], 'row')}, {width}, from {facts['from']} to {kind}: {target}")
