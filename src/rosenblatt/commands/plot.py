"""``rosenblatt plot``: the rows of a file, with what was proved or learned of them, as a picture."""

from __future__ import annotations

import re
from typing import Any

import click

from rosenblatt.commands import output, output_files
from rosenblatt.commands.number_types import POSITIVE, ParameterType, WholeNumber
from rosenblatt.commands.reading import ReadingCommand, reading_options

KINDS = ("boundary", "certificate", "mistakes", "proof", "soft-margin", "trace", "weights")
OF_A_MODEL = ("boundary", "mistakes", "weights")
PICTURES = (".png", ".svg", ".pdf")
FILMS = (".gif", ".mp4", ".html")


class PairType(ParameterType):
    """Two numbers with an x between them."""

    name = "pair"

    def __init__(self, words: str, number: type) -> None:
        """What they are, for messages, and whether they are whole."""
        self.words, self.number = words, number

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Both numbers."""
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)x(\d+(?:\.\d+)?)", value)
        try:
            pair = tuple(self.number(part) for part in found.groups()) if found else ()
        except ValueError:
            pair = ()
        if len(pair) != 2 or min(pair) <= 0:
            self.fail(f"{value!r} is not {self.words}", param, ctx)
        return pair


@click.command(
    cls=ReadingCommand,
    short_help="Draw the rows of DATA, and what was proved or learned of them.",
    epilog="""\b
Examples:
  rosenblatt plot flowers.csv -o picture.png --label kind
  rosenblatt plot flowers.csv -o line.pdf --model flowers.model
  rosenblatt plot flowers.csv -o updates.gif --kind trace --class setosa
  rosenblatt plot digits.svm -o weights.png --kind weights --shape 8x8

\b
Exit codes:
  0  the picture is written
  1  it failed, and the message says why; no picture is left
     (rosenblatt --help has the others)
""",
)
@click.argument("data", type=click.Path(), nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    type=click.Path(),
    required=True,
    help="The picture: .png, .svg, .pdf; a trace also .gif, .mp4, .html.",
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    help="What to draw (boundary with --model, else certificate).",
)
@click.option("--model", metavar="MODEL", type=click.Path(), help="Of this model: boundary, mistakes or weights.")
@click.option("--class", "one_class", metavar="LABEL", help="This class against all others.")
@click.option(
    "-C", "--cost", "costs", metavar="C", type=POSITIVE, multiple=True, help="Soft margin: a panel for each C (1)."
)
@click.option(
    "--passes", metavar="N", type=WholeNumber(1), default=100, show_default=True, help="Of a perceptron, at most."
)
@click.option(
    "--seed", metavar="N", type=WholeNumber(0), default=0, show_default=True, help="Of the order of its rows."
)
@click.option("--no-intercept", is_flag=True, help="Through the origin.")
@click.option("--top", metavar="N", type=WholeNumber(1), default=20, show_default=True, help="How many of the weights.")
@click.option(
    "--shape",
    metavar="HxW",
    type=PairType("rows x columns of an image, such as 28x28", int),
    help="Weights as an image.",
)
@click.option(
    "--size",
    metavar="WxH",
    type=PairType("inches x inches, such as 3.3x2.6", float),
    help="In inches: 3.3x2.6 suits a column of print, 10x5.6 a slide.",
)
@click.option("--title", metavar="TEXT", help="In place of what is found out.")
@click.option("--threads", metavar="N", type=WholeNumber(1), help="At most so many; the picture is the same.")
@output.quiet_option
@output.json_option
@reading_options
def plot(
    data: tuple[str, ...],
    path: str,
    kind: str | None,
    model: str | None,
    quiet: bool,
    as_json: bool,
    reading: dict[str, Any],
    **given: Any,
) -> None:
    """Draw the rows of DATA, and what was proved or learned of them, as a picture.

    certificate: the widest street between two classes, or the rows whose hulls meet. boundary and weights: of a model,
    or of a soft margin. mistakes, trace and proof: of a perceptron, beside the most mistakes there can be. Of more than
    two features the plane of w and the largest remaining variance is shown. DATA is read whole into memory.
    """
    chosen = kind or ("boundary" if model else "certificate")
    _require_sense(chosen, model, path)
    output_files.require_writable(path, [*data, *([model] if model else [])])
    from rosenblatt.commands.picture import draw

    words = draw(chosen, data, path, model, given, reading)
    if as_json:
        output.say_json({"data": list(data), "kind": chosen, "model": model, "picture": path, "title": words})
    elif not quiet:
        output.say(output.wrapped(f"{path}: {words}"))


def _require_sense(kind: str, model: str | None, path: str) -> None:
    """Refuse what cannot be drawn before anything is read."""
    if model is not None and kind not in OF_A_MODEL:
        raise click.UsageError(
            f"--kind {kind} is not drawn of a model: leave --model out, or use {', '.join(OF_A_MODEL)}"
        )
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    if ending in FILMS and kind != "trace":
        raise click.UsageError(f"only --kind trace is written as {ending}: use {', '.join(PICTURES)}")
    if ending not in PICTURES + FILMS:
        raise click.UsageError(f"a picture is written as {', '.join(PICTURES)}, and {path} ends with none of them")
