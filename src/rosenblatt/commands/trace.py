"""``rosenblatt trace``: every mistake of a perceptron on a file, as the table of the lecture notes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.commands import output, output_files
from rosenblatt.commands.number_types import AT_LEAST_0, POSITIVE, WholeNumber
from rosenblatt.commands.reading import ReadingCommand, reading_options
from rosenblatt.commands.train import READOUTS, ClassWeightType

if TYPE_CHECKING:
    from rosenblatt.commands.examples import Examples

_NOTES = ("000", "001", "002", "003", "004")
_OPTIONS = {  # what the table of the library says, for those who type commands
    "table(max_rows=None) has all": "--all shows all",
    "ended by max_iter=": "ended by --passes ",
    "ended by max_updates=": "ended by --max-updates ",
    "ended by max_steps=": "ended by --max-steps ",
    "too little for margin=": "too little for --margin ",
}
_BY_NOTE = {"tie": "--tie", "shuffle": "--shuffle", "restart": "--restart"}


@click.command(
    cls=ReadingCommand,
    short_help="Show every mistake that a perceptron makes, and w after it.",
    epilog="""\b
Examples:
  rosenblatt trace flowers.csv --label kind
  rosenblatt trace data.csv --note 001 --no-intercept --keep visits --passes 1
  rosenblatt trace data.svm --shuffle --prove
  rosenblatt trace data.svm --json -o trace.json

\b
Exit codes:
  0  traced, whether or not it converged
  1  it failed, and the message says why
     (rosenblatt --help has the others)
""",
)
@click.argument("data", type=click.Path(), nargs=-1, required=True)
@click.option("-o", "--output", "path", metavar="FILE", type=click.Path(), help="Write the whole trace (JSON).")
@click.option("--keep", type=click.Choice(["mistakes", "visits"]), help="Mistakes only, or all visits (mistakes).")
@click.option("--max-steps", metavar="N", type=WholeNumber(1), help="Stop after so many of them (of a class).")
@click.option("--all", "everything", is_flag=True, help="Show every step, not only the first and the last.")
@click.option("--prove", is_flag=True, help="Also certify, and show the convergence proof at work.")
@click.option("--note", type=click.Choice(_NOTES), help="The perceptron of a lecture note: its ties and its order.")
@click.option("--algorithm", type=click.Choice([*READOUTS]), help="What to learn (perceptron).")
@click.option("--passes", metavar="N", type=WholeNumber(1), help="Passes at most (100); one without mistakes ends it.")
@click.option("--max-updates", metavar="N", type=WholeNumber(1), help="Stop after so many updates (of a class).")
@click.option("--tie", type=click.Choice(["mistake", "positive", "negative"]), help="What a score of 0 is (mistake).")
@click.option("--no-intercept", is_flag=True, help="Learn no offset.")
@click.option("--eta0", metavar="STEP", type=POSITIVE, help="The size of a step (1).")
@click.option("--margin", metavar="M", type=AT_LEAST_0, help="Learn also from rows that are right by too little (0).")
@click.option("--multi-class", type=click.Choice(["ovr", "joint"]), help="Each class against the rest, or all at once.")
@click.option(
    "--class-weight",
    metavar="WEIGHT",
    type=ClassWeightType(),
    multiple=True,
    help="LABEL=WEIGHT, for each class that counts more or less, or balanced.",
)
@click.option("--restart", is_flag=True, help="Start again at the first row after every mistake (note 000).")
@click.option("--shuffle", is_flag=True, help="Visit the rows in another order in each pass.")
@click.option("--seed", metavar="N", type=WholeNumber(0, 2**32 - 1), help="Of the order (0).")
@output.quiet_option
@output.json_option
@reading_options
def trace(
    data: tuple[str, ...],
    path: str | None,
    everything: bool,
    prove: bool,
    quiet: bool,
    as_json: bool,
    reading: dict[str, Any],
    **given: Any,
) -> None:
    """Show every mistake that a perceptron makes on DATA, and w after it.

    The table of the lecture notes: the features, what was predicted, what was true, whether it was a mistake, and the
    vector after each mistake. DATA (one file, several, a glob, or - for standard input) is read whole into memory.
    """
    import rosenblatt as rb
    from rosenblatt.commands.examples import load_examples

    given = {key: value for key, value in given.items() if not (value is None or value is False or value == ())}
    _require_sense(given)
    output_files.require_writable(path, data)
    if as_json and path == output_files.STANDARD_OUTPUT:
        raise click.UsageError("--json and the trace would both go to standard output: name a file with -o")
    with output.waiting() as now:
        now("reading")
        examples = load_examples(data, reading, None)
        now(f"learning {len(examples.y):,} rows")
        found: Any = rb.trace(examples.X, examples.y, sample_weight=examples.weights, **_arguments(given))
        found.feature_names = examples.names
        proofs = _proofs(found, examples, now) if prove else []
    if path is not None:
        with output_files.written(path) as file:
            file.write(f"{found.to_json()}\n".encode())
    if as_json:
        click.echo(json.dumps(_facts(found, examples, path, proofs), allow_nan=False))
    elif not quiet:
        _report(found, examples, path, proofs, everything=everything)


def _require_sense(given: dict[str, Any]) -> None:
    if "note" in given:
        for key, option in _BY_NOTE.items():
            if key in given:
                raise click.UsageError(f"--note {given['note']} says what {option} would: leave one of them out")
    if "restart" in given and "shuffle" in given:
        raise click.UsageError("--restart goes back to the first row, so the rows have one order: leave --shuffle out")
    if "seed" in given and "shuffle" not in given:
        raise click.UsageError("--seed needs --shuffle")


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the command as `rosenblatt.trace` calls them."""
    from rosenblatt import textbook

    named = {"shuffle": False, "max_iter": given.get("passes", 100), "random_state": given.get("seed", 0)}
    named |= {
        key: value
        for key, value in given.items()
        if key not in ("passes", "seed", "note", "no_intercept", "class_weight")
    }
    if "note" in given:
        named |= textbook.variant(given["note"])
    if "no_intercept" in given:
        named["fit_intercept"] = False
    if "class_weight" in given:
        from rosenblatt.commands.train_from_stream import class_weight

        named["class_weight"] = class_weight(given["class_weight"])
    return named


def _proofs(found: Any, examples: Examples, now: Any) -> list[tuple[Any, Any]]:
    """The proof beside each certificate: the class, and what came of it, or why there is none."""
    import rosenblatt as rb
    from rosenblatt.errors import InputError

    now(f"looking for a proof about {len(examples.y):,} rows")
    multi_class: Any = "joint" if found.joint else "ovr"
    certificate = rb.certify(
        examples.X, examples.y, fit_intercept=bool(found.parameters["fit_intercept"]), multi_class=multi_class
    )
    proofs: list[tuple[Any, Any]] = []
    for problem in range(found.n_problems):
        name = found.classes_[problem].item() if found.n_problems > 1 else None
        try:
            proofs.append((name, found.proof(certificate, problem)))
        except InputError as error:
            proofs.append((name, str(error)))
    return proofs


def _report(
    found: Any, examples: Examples, path: str | None, proofs: list[tuple[Any, Any]], *, everything: bool
) -> None:
    say = output.note if path == output_files.STANDARD_OUTPUT else output.say
    say(output.wrapped(examples.in_words()))
    say()
    table = found.table(max_rows=None if everything else 30, width=output.width())
    for python, option in _OPTIONS.items():
        table = table.replace(python, option)
    say(table)
    for name, proof in proofs:
        say()
        title = "The convergence proof" + (
            "" if name is None else f" of {output.shortened(str(name), 30)} and the rest"
        )
        say(output.heading(title))
        say(str(proof) if not isinstance(proof, str) else output.wrapped(proof))
    if path is not None and path != output_files.STANDARD_OUTPUT:
        say()
        say(f"The whole trace is in {path}.")


def _facts(found: Any, examples: Examples, path: str | None, proofs: list[tuple[Any, Any]]) -> dict[str, Any]:
    read = {name: fact for name, fact in examples.facts().items() if name in ("data", "reading")}
    facts: dict[str, Any] = read | {"trace_file": path} | json.loads(found.to_json())
    if proofs:
        facts["proofs"] = [{"class": name} | _facts_of(proof) for name, proof in proofs]
    return facts


def _facts_of(proof: Any) -> dict[str, Any]:
    if isinstance(proof, str):
        return {"why_not": proof}
    arrays = ("k", "projection", "projection_bound", "squared_norm", "squared_norm_bound", "cosine", "cosine_bound")
    columns = {name: [value if value == value else None for value in getattr(proof, name).tolist()] for name in arrays}
    bound = proof.bound if proof.bound is None or proof.bound < float("inf") else None
    return columns | {"bound": bound, "margin": proof.margin, "radius": proof.radius, "holds": proof.holds}
