"""``rosenblatt predict``: the label of each row of a file, by a model that knows how to read it."""

from __future__ import annotations

from typing import Any

import click

from rosenblatt.commands import output, output_files
from rosenblatt.commands.compressed_files import opened_output
from rosenblatt.commands.number_types import WholeNumber
from rosenblatt.commands.prediction_files import FORMATS
from rosenblatt.commands.reading import ReadingCommand, reading_options


@click.command(
    cls=ReadingCommand,
    short_help="Predict the rows of DATA with MODEL, in their order.",
    epilog="""\b
Examples:
  rosenblatt predict model new.svm
  rosenblatt predict model new.csv -o labels.csv --output both
  rosenblatt predict model test.svm.gz -o predicted.parquet
  rosenblatt predict model test.svm -o /dev/null --json | jq .accuracy

\b
Exit codes:
  0  every row was predicted, right or wrong
  1  it failed, and the message says why; no output file is left
     (rosenblatt --help has the others)
""",
)
@click.argument("model", type=click.Path())
@click.argument("data", type=click.Path(), nargs=-1, required=True)
@click.option(
    "-o",
    "--output-file",
    "path",
    metavar="FILE",
    type=click.Path(),
    help="Where to write; standard output if not given.",
)
@click.option(
    "--output",
    "what",
    type=click.Choice(["labels", "scores", "both"]),
    default="labels",
    show_default=True,
    help="What to write for each row.",
)
@click.option(
    "--output-format", type=click.Choice(FORMATS), help="Found from the name of FILE if not given; else text."
)
@click.option("--threads", metavar="N", type=WholeNumber(1), help="At most so many.")
@output.quiet_option
@output.json_option
@reading_options
def predict(
    model: str,
    data: tuple[str, ...],
    path: str | None,
    what: str,
    output_format: str | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    reading: dict[str, Any],
) -> None:
    """Predict the rows of DATA with MODEL, a line or record for each, in their order.

    The model knows how its data was read, so that no option is needed for a file of the same kind. Where DATA has
    labels, accuracy, precision and recall of each class and the confusion matrix go to standard error (with --json:
    to standard output).
    """
    from rosenblatt.commands import prediction

    output_files.require_writable(path, [model, *data])
    kind = output_format or prediction.format_of(path)
    if kind == "parquet" and path is None and not as_json:
        raise click.UsageError("Parquet is not for a terminal: name a file with -o")
    trained = prediction.loaded(model)
    stream = prediction.opened(trained, data, reading, threads)
    if as_json and path is None:
        facts = prediction.gathered(trained, stream, what)
        output.say_json({"model": model, "data": list(data)} | facts)
        return
    with opened_output(path) as file:
        metrics = prediction.write(trained, stream, file, kind, what)
    if as_json:
        facts = {"model": model, "data": list(data), "output": path, "bad_lines": stream.rejected}
        output.say_json(facts | metrics.facts())
    elif not quiet:
        for line in metrics.lines():
            output.note(line)
    if stream.rejected:
        output.warn(stream.rejected_words())
