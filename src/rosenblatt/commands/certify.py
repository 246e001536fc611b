"""``rosenblatt certify``: can a hyperplane separate the classes of a file? The answer comes with its proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rosenblatt.commands import output, output_files, pages
from rosenblatt.commands.number_types import WholeNumber
from rosenblatt.commands.reading import ReadingCommand, as_arguments, reading_options

if TYPE_CHECKING:
    from rosenblatt.commands.examples import Examples

NOT_SEPARABLE = 1
_PASSES = 1000  # that one can wait for
_WIDE = 1000  # features


@click.command(
    cls=ReadingCommand,
    short_help="Prove that a hyperplane separates the classes, or that none does.",
    epilog="""\b
Examples:
  rosenblatt certify flowers.csv --label kind
  rosenblatt certify data.svm -o certificate.json
  rosenblatt certify flowers.csv --report report.html
  rosenblatt certify data.svm --check --quiet && echo separable

\b
Exit codes:
  0  answered, or undecided; with --check: separable
  1  with --check: not separable, or undecided
     (rosenblatt --help has the others)
""",
)
@click.argument("data", type=click.Path(), nargs=-1, required=True)
@click.option(
    "-o", "--output", "path", metavar="FILE", type=click.Path(), help="Write the certificate (JSON), for verify."
)
@click.option("--report", metavar="FILE", type=click.Path(), help="Write a page (HTML) with pictures, for a browser.")
@click.option("--check", is_flag=True, help="Exit with 1 unless it is proved separable.")
@click.option(
    "--multi-class",
    type=click.Choice(["ovr", "ovo", "joint"]),
    default="ovr",
    show_default=True,
    help="Three classes or more: each against the rest, each pair, or all at once.",
)
@click.option("--no-intercept", is_flag=True, help="Only hyperplanes through the origin.")
@click.option("--gap", metavar="G", type=float, default=1e-6, show_default=True, help="How near the largest margin.")
@click.option("--exact/--no-exact", default=None, help="In exact fractions, or never; found by size if not given.")
@click.option("--time-limit", metavar="SECONDS", type=float, help="Undecided after that, with the bounds reached.")
@click.option("--threads", metavar="N", type=WholeNumber(1), help="At most so many; the answer is the same for any.")
@output.quiet_option
@output.json_option
@reading_options
def certify(
    data: tuple[str, ...],
    path: str | None,
    report: str | None,
    check: bool,
    multi_class: Any,
    no_intercept: bool,
    gap: float,
    exact: bool | None,
    time_limit: float | None,
    threads: int | None,
    quiet: bool,
    as_json: bool,
    reading: dict[str, Any],
) -> None:
    """Prove that a hyperplane separates the classes of DATA, or that none does.

    Separable: the margin between proved bounds, the rows it rests on, and the most mistakes that a perceptron can
    make. Not separable: a few rows that no hyperplane separates. DATA (one file, several, a glob, or - for standard
    input) is read whole into memory.
    """
    import rosenblatt as rb
    from rosenblatt.commands.examples import SHOWN_ROWS, load_examples

    output_files.require_writable(path, data)
    if as_json and path == output_files.STANDARD_OUTPUT:
        raise click.UsageError("--json and the certificate would both go to standard output: name a file with -o")
    if report is not None:
        pages.require_writable(report, data, path)
    with output.waiting() as now:
        now("reading")
        examples = load_examples(data, reading, threads, unweighted="a proof")
        now(f"looking for a proof about {len(examples.y):,} rows")
        certificate: Any = rb.certify(
            examples.X,
            examples.y,
            fit_intercept=not no_intercept,
            gap=gap,
            exact="auto" if exact is None else exact,
            time_limit=time_limit,
            n_jobs=threads,
            multi_class=multi_class,
        )
    if path is not None:
        with output_files.written(path) as file:
            file.write(f"{certificate.to_json()}\n".encode())
    if report is not None:
        pages.write_certificate_page(report, certificate, examples, path)
    if as_json or not quiet:
        most = None if as_json else SHOWN_ROWS
        examples.locate([row for _, rows in _rows_named(certificate) for row in rows[:most]])
    if as_json:
        output.say_json(_facts(certificate, examples, path) | ({} if report is None else {"report": report}))
    elif not quiet:
        _report(certificate, examples, data, path, report, reading)
    if check and certificate.separable is not True:
        raise click.exceptions.Exit(NOT_SEPARABLE)


# For people -----------------------------------------------------------------------------------------------------------


def _report(
    certificate: Any,
    examples: Examples,
    data: tuple[str, ...],
    path: str | None,
    page: str | None,
    reading: dict[str, Any],
) -> None:
    say = output.note if path == output_files.STANDARD_OUTPUT else output.say
    say(output.wrapped(examples.in_words()))
    say()
    for line in _verdict(certificate):
        say(line)
    for title, numbers in _rows_named(certificate):
        say()
        say(output.heading(title))
        for line in examples.shown(numbers):
            say(line)
    say()
    if page is not None:
        say(f"All of this, with pictures, is in {page}, for a browser.")
        say()
    for line in _next(certificate, data, path, reading, wide=examples.X.shape[1] > _WIDE):
        say(line)


def _verdict(certificate: Any) -> list[str]:
    """What is proved, without the advice for those who write Python."""
    from rosenblatt.checking import certificate_words

    if hasattr(certificate, "items"):
        return str(certificate).replace("ask .joint", "ask with --multi-class joint").splitlines()
    sentences = [line for line in certificate_words.sentences(certificate) if not line.startswith("Next: ")]
    return certificate_words.wrapped(
        line.replace("; check it with verify(X, y).", ".") for line in sentences
    ).splitlines()


def _next(
    certificate: Any, data: tuple[str, ...], path: str | None, reading: dict[str, Any], *, wide: bool
) -> list[str]:
    """What to do now, as commands."""
    words, why = _advice(certificate, data, reading, wide=wide)
    first, *more = output.command_lines(["rosenblatt", *words])
    lines = [f"Next: {first}", *more, *output.wrapped(f"      ({why})", 7).splitlines()]
    if path in (None, output_files.STANDARD_OUTPUT):
        return [*lines, "      -o FILE keeps the certificate, for rosenblatt verify"]
    first, *more = output.command_lines(["rosenblatt", "verify", str(path), *data, *as_arguments(reading)])
    return [*lines, f"      {first}", *more, "      (anyone can check the certificate)"]


def _unweighted(reading: dict[str, Any]) -> dict[str, Any]:
    """The same rows for a hard margin, which knows no weights."""
    if "weight" not in reading:
        return reading
    others = {name: value for name, value in reading.items() if name != "weight"}
    return others | {"ignore": (*others.get("ignore", ()), reading["weight"])}


def _advice(certificate: Any, data: tuple[str, ...], reading: dict[str, Any], *, wide: bool) -> tuple[list[str], str]:
    """A command, and why. `wide`: there are so many features that a maximum margin may take long to find."""
    same = [*data, *as_arguments(reading)]
    one = next(iter(certificate.values())) if hasattr(certificate, "values") else certificate
    joint = ["--multi-class", "joint"] if hasattr(certificate, "rivals") else []
    model = ["train", *same, "-o", "MODEL"]
    if certificate.separable is None:
        every = list(certificate.values()) if hasattr(certificate, "values") else [certificate]
        if any("time limit" in getattr(some, "why", "") for some in every):
            return ["certify", *same], "with more time: a longer --time-limit, or none"
        return ["certify", *same, "--exact"], "exact fractions decide what floats do not, given time"
    if certificate.separable and _mistake_bound(certificate) < _PASSES:  # each pass but the last has a mistake
        return [*model, "--passes", str(_PASSES), *joint], "a perceptron comes to rest on these rows"
    if certificate.separable and wide:
        why = "with so small a margin a perceptron may take longer; --algorithm max-margin needs all rows in memory"
        return [*model, "--passes", str(_PASSES), "--shuffle", *joint], why
    if certificate.separable:
        hard = ["train", *data, *as_arguments(_unweighted(reading)), "-o", "MODEL", "--algorithm", "max-margin"]
        return hard, "with so small a margin a perceptron may take very long"
    if not one.fit_intercept:
        return ["certify", *same], "without --no-intercept: a hyperplane with an offset may separate them"
    average = [*model, "--average", "--passes", "10", "--shuffle", *joint]
    if getattr(certificate, "duplicates", False):
        return average, "but look at these rows first: a label may be wrong, or a feature missing"
    return average, "the average is made for rows that cannot be separated; so is --algorithm soft-margin"


def _mistake_bound(certificate: Any) -> int | float:
    """The most mistakes that a perceptron can make; of a table those of the worst question."""
    if hasattr(certificate, "values"):
        return max(_mistake_bound(own) for own in certificate.values())
    bound: int | float = certificate.mistake_bound  # an int may be too large for a float
    return bound


def _rows_named(certificate: Any) -> list[tuple[str, list[int]]]:
    """The rows that prove it, under a title; of a table those of each class that cannot be separated."""
    if hasattr(certificate, "items"):
        return [
            (f"The rows that prove it of {_question(key)}", own.points.tolist())
            for key, own in certificate.items()
            if own.separable is False
        ]
    if certificate.separable is False:
        pairs = getattr(certificate, "pairs", None)
        rows = certificate.points.tolist() if pairs is None else list(dict.fromkeys(row for row, _ in pairs))
        return [("The rows that prove it", rows)]
    if certificate.separable:
        support = certificate.support
        if len(support) == 0:
            return []
        rows = list(dict.fromkeys(row for row, _ in support)) if isinstance(support, tuple) else support.tolist()
        return [("The rows that it rests on", rows)]
    return []


def _question(key: Any) -> str:
    names = [output.shortened(str(name), 30) for name in (key if isinstance(key, tuple) else (key,))]
    return " and ".join(names) if len(names) > 1 else f"{names[0]} and the rest"


# For programs ---------------------------------------------------------------------------------------------------------


def _facts(certificate: Any, examples: Examples, path: str | None) -> dict[str, Any]:
    facts: dict[str, Any] = examples.facts() | {"separable": certificate.separable, "certificate": path}
    if hasattr(certificate, "items"):
        keys = [list(map(_plain, key)) if isinstance(key, tuple) else _plain(key) for key in certificate]
        each = [_facts_of(own, examples) for own in certificate.values()]
        return facts | {"certificates": [{"classes": key} | own for key, own in zip(keys, each, strict=True)]}
    return facts | _facts_of(certificate, examples)


def _facts_of(certificate: Any, examples: Examples) -> dict[str, Any]:
    facts = {"separable": certificate.separable, "proof": certificate.proof, "text": str(certificate)}
    if certificate.separable is None:
        bounds = {"margin_at_least": certificate.lower, "margin_at_most": certificate.upper}
        return facts | {name: _finite(value) for name, value in bounds.items()} | {"why": certificate.why}
    ((_, rows),) = _rows_named(certificate) or [("", [])]
    named = [examples.fact_of_row(row) for row in rows]
    if certificate.separable is False:
        return facts | {"rows_that_prove_it": named, "weights": [str(weight) for weight in certificate.weights]}
    return facts | {
        "margin_at_least": certificate.margin,
        "margin_at_most": _finite(certificate.margin_upper_bound),
        "mistake_bound": _finite(certificate.mistake_bound),
        "support": named,
    }


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None  # JSON has no infinity


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label
