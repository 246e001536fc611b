"""``rosenblatt train``: from a file of labelled examples to a model."""

from __future__ import annotations

import os
from typing import Any

import click

from rosenblatt.commands import output, output_files, pages
from rosenblatt.commands.number_types import AT_LEAST_0, POSITIVE, SHARE, ParameterType, RealNumber, WholeNumber
from rosenblatt.commands.reading import ReadingCommand, reading_options
from rosenblatt.errors import counted

READOUTS = {"perceptron": "last", "averaged": "average", "voted": "vote"}
IN_MEMORY = ("max-margin", "soft-margin")

# Options that one kind of algorithm has and the other has not, by the name of the argument.
_ONLY_STREAMING = {
    "passes": "--passes",
    "max_updates": "--max-updates",
    "tie": "--tie",
    "eta0": "--eta0",
    "margin": "--margin",
    "multi_class": "--multi-class",
    "classes": "--classes",
    "shuffle": "--shuffle",
    "shuffle_rows": "--shuffle-rows",
    "seed": "--seed",
    "hold_out": "--hold-out",
    "early_stopping": "--early-stopping",
    "patience": "--patience",
    "cache": "--cache",
    "checkpoint": "--checkpoint",
    "every": "--every",
    "start": "--from",
}
_ONLY_IN_MEMORY = {"cost": "--cost", "gap": "--gap", "time_limit": "--time-limit"}


class ClassWeightType(ParameterType):
    """The word balanced, or LABEL=WEIGHT."""

    name = "weight"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A word, or a pair."""
        if not isinstance(value, str) or value == "balanced":
            return value
        label, equals, weight = value.rpartition("=")
        if not equals:
            self.fail(f"{value!r} is neither balanced nor LABEL=WEIGHT, such as spam=2", param, ctx)
        return label, RealNumber(least=0).convert(weight, param, ctx)


@click.command(
    cls=ReadingCommand,
    epilog="""\b
Examples:
  rosenblatt train data.svm -o model.safetensors
  rosenblatt train reviews.csv -o model --text review --label mood --average
  rosenblatt train flowers.csv -o model --passes 20 --report report.html
  rosenblatt train 'part-*.svm.gz' -o model --passes 10 --shuffle
  rosenblatt train big.svm -o model --checkpoint run.state --every 1000000
  zcat log.gz | rosenblatt train - -o model --format vw

\b
Exit codes:
  0  trained, whether or not it converged
  1  it failed, and the message says why
     (rosenblatt --help has the others)
""",
)
@click.argument("data", type=click.Path(), nargs=-1, required=True)
@click.option(
    "-o", "--output", "path", metavar="MODEL", type=click.Path(), required=True, help="The model file to write."
)
@click.option(
    "--algorithm",
    type=click.Choice([*READOUTS, *IN_MEMORY]),
    help="What to learn (perceptron). The margins read the whole file into memory.",
)
@click.option("--average", is_flag=True, help="Short for --algorithm averaged.")
@click.option("--vote", is_flag=True, help="Short for --algorithm voted, whose price grows with the mistakes.")
@click.option("--report", metavar="FILE", type=click.Path(), help="Write a page (HTML) with pictures, for a browser.")
@click.option("--passes", metavar="N", type=WholeNumber(1), help="Passes at most (1); one without mistakes ends it.")
@click.option("--max-updates", metavar="N", type=WholeNumber(1), help="Stop after so many updates (of a class).")
@click.option("--tie", type=click.Choice(["mistake", "positive", "negative"]), help="What a score of 0 is (mistake).")
@click.option("--no-intercept", is_flag=True, help="Learn no offset.")
@click.option("--eta0", metavar="STEP", type=POSITIVE, help="The size of a step (1).")
@click.option("--margin", metavar="M", type=AT_LEAST_0, help="Learn also from rows that are right by too little (0).")
@click.option("--multi-class", type=click.Choice(["ovr", "joint"]), help="Each class against the rest, or all at once.")
@click.option(
    "--classes", metavar="LABELS", multiple=True, help='All classes, such as a,b,"c, d", where they must be known.'
)
@click.option(
    "--class-weight",
    metavar="WEIGHT",
    type=ClassWeightType(),
    multiple=True,
    help="LABEL=WEIGHT, for each class that counts more or less, or balanced.",
)
@click.option("--shuffle", is_flag=True, default=None, help="Visit the rows in another order in each pass.")
@click.option("--shuffle-rows", metavar="N", type=WholeNumber(1), help="How many rows to mix in memory (131072).")
@click.option("--seed", metavar="N", type=WholeNumber(0), help="Of the order and of the rows held out (0).")
@click.option("--hold-out", metavar="SHARE", type=SHARE, help="Keep this share apart, to measure.")
@click.option("--early-stopping", type=click.Choice(["progressive", "hold-out"]), help="Stop when this gets no better.")
@click.option("--patience", metavar="N", type=WholeNumber(1), help="For so many passes (5).")
@click.option("--cache", metavar="FILE", type=click.Path(), help="Keep the rows in binary form, for the next run.")
@click.option(
    "--checkpoint", metavar="FILE", type=click.Path(), help="Save the state here; the same command goes on from it."
)
@click.option("--every", metavar="N", type=WholeNumber(1), help="Save it after so many rows (1048576).")
@click.option(
    "--from",
    "start",
    metavar="MODEL",
    type=click.Path(),
    help="Go on learning from this model, in one pass, with its options.",
)
@click.option("-C", "--cost", metavar="C", type=POSITIVE, help="soft-margin: what a unit of slack costs (1).")
@click.option("--gap", metavar="G", type=POSITIVE, help="Margins: how near the best (1e-6).")
@click.option("--time-limit", metavar="SECONDS", type=POSITIVE, help="Margins: stop after that.")
@click.option("--threads", metavar="N", type=WholeNumber(1), help="At most so many; the model is the same.")
@output.quiet_option
@output.json_option
@reading_options
def train(
    data: tuple[str, ...],
    path: str,
    algorithm: str | None,
    average: bool,
    vote: bool,
    report: str | None,
    quiet: bool,
    as_json: bool,
    reading: dict[str, Any],
    **given: Any,
) -> None:
    """Learn a linear model from DATA, and write it to MODEL.

    DATA is one file, several, a glob, or - for standard input, of any size: rows go by, and only the model is in
    memory. Each row is predicted before it is learned from, so the report has an honest accuracy even after one pass.
    """
    name = _algorithm(algorithm, average=average, vote=vote)
    if given["start"] is not None and (algorithm or average or vote):
        raise click.UsageError("--from goes on with the algorithm of the model: leave --algorithm out")
    given = {key: value for key, value in given.items() if not (value is None or value is False or value == ())}
    _require_its_own(name, given, reading)
    written = _files_of(path, report, given)
    for file, option in written:
        output_files.require_writable(file, data, option, device=option == "--report")
    for number, (file, option) in enumerate(written):
        for other, also in written[:number]:
            if os.path.realpath(file) == os.path.realpath(other):
                raise click.UsageError(f"{option} and {also} are both to be written to {file}: name different files")
    if report is not None:
        pages.require_writable(report, data, path, given.get("checkpoint"), given.get("cache"), read_again=True)
    facts = _learn(name, given)(name, data, path, given, reading, quiet=quiet)
    if report is not None:
        pages.write_training_page(report, path, data, reading, given.get("threads"))
        facts["report"] = report
    if as_json:
        output.say_json(facts)
    elif not quiet:
        from rosenblatt.commands.train_report import lines

        for line in lines(facts):
            output.say(line)
    elif facts["rejected_lines"]:
        kept = ", ".join(facts["rejected_files"])
        output.warn(f"{counted(facts['rejected_lines'], 'bad line')} left out, and kept in {kept}")


def _files_of(path: str, report: str | None, given: dict[str, Any]) -> list[tuple[str, str]]:
    """All files that may be written, with the option that says so; some come beside those that are named."""
    checkpoint, cache = given.get("checkpoint"), given.get("cache")
    rows = cache or (f"{checkpoint}.cache" if checkpoint else None)
    beside = "the rows beside --checkpoint"
    named = [
        (path, "-o"),
        (report, "--report"),
        (checkpoint, "--checkpoint"),
        (f"{checkpoint}.tmp" if checkpoint else None, "what comes beside --checkpoint"),
        (rows, "--cache" if cache else beside),
        (f"{rows}.held-out" if rows else None, "the rows held out beside --cache" if cache else beside),
    ]
    return [(file, option) for file, option in named if file is not None]


def _learn(name: str, given: dict[str, Any]) -> Any:
    """What learns: row by row, from a model on, or with all rows in memory."""
    if "start" in given:
        from rosenblatt.commands import train_further

        return train_further.learn
    if name in READOUTS:
        from rosenblatt.commands import train_from_stream

        return train_from_stream.learn
    from rosenblatt.commands import train_in_memory

    return train_in_memory.learn


def _algorithm(algorithm: str | None, *, average: bool, vote: bool) -> str:
    told = {f"--algorithm {algorithm}": algorithm} if algorithm else {}
    told |= {"--average": "averaged"} if average else {}
    told |= {"--vote": "voted"} if vote else {}
    if len(set(told.values())) > 1:
        raise click.UsageError(f"{' and '.join(told)} contradict each other: give one")
    return next(iter(told.values()), "perceptron")


def _require_its_own(name: str, given: dict[str, Any], reading: dict[str, Any]) -> None:
    """Refuse options that would be without effect."""
    wrong, other = (_ONLY_IN_MEMORY, "a margin") if name in READOUTS else (_ONLY_STREAMING, "a perceptron")
    for key, option in wrong.items():
        if key in given:
            raise click.UsageError(f"{option} is an option of {other}, not of --algorithm {name}: leave it out")
    if name == "max-margin" and ("cost" in given or "class_weight" in given):
        option = "--cost" if "cost" in given else "--class-weight"
        raise click.UsageError(f"{option} is an option of --algorithm soft-margin: a hard margin knows no cost")
    if name == "max-margin" and "weight" in reading:
        raise click.UsageError(
            "--weight means nothing to --algorithm max-margin: a hard margin knows no cost. "
            f"--ignore {reading['weight']} keeps this column out of the features"
        )
    needs = {"every": "checkpoint", "shuffle_rows": "shuffle", "patience": "early_stopping"}
    for key, needed in needs.items():
        if key in given and needed not in given:
            raise click.UsageError(f"--{key.replace('_', '-')} needs --{needed.replace('_', '-')}")
    if "seed" in given and "shuffle" not in given and "hold_out" not in given:
        raise click.UsageError("--seed needs --shuffle or --hold-out, which it decides")
    if given.get("early_stopping") == "hold-out" and "hold_out" not in given:
        raise click.UsageError("--early-stopping hold-out needs --hold-out SHARE, such as --hold-out 0.1")
    if "early_stopping" in given and "passes" not in given:
        raise click.UsageError("--early-stopping needs --passes N: one pass is made unless more are allowed")
    weights = given.get("class_weight", ())
    if "balanced" in weights and len(weights) > 1:
        raise click.UsageError("--class-weight is either balanced, or LABEL=WEIGHT (repeated)")
