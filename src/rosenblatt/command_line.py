"""The command ``rosenblatt``: a client of the public names, without mathematics of its own.

A command reads its arguments, calls the library and shows the answer: as a report for people, or with
``--json`` for programs. Whatever it needs is imported inside it, so that ``rosenblatt --help`` loads neither
numpy nor scikit-learn.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from rosenblatt import __version__
from rosenblatt.errors import RosenblattError

INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended

EXIT_CODES = """\b
Exit codes:
  0    done
  1    it failed, and the message says why
  2    the command was not understood: wrong name, option or argument
  130  interrupted with Ctrl-C
"""

EXAMPLES = """\b
Examples:
  rosenblatt demo                      four real data sets, what was learned
  rosenblatt demo --json > demo.json   the same facts for a program
  rosenblatt demo --help               what a command does, and its options
"""


class Commands(click.Group):
    """A group whose commands end foreseen errors with a message and an exit code, never with a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except RosenblattError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"{EXAMPLES}\n{EXIT_CODES}",
)
@click.version_option(__version__, "-V", "--version", prog_name="rosenblatt", message="%(prog)s %(version)s")
def commands() -> None:
    """Learn linear classifiers from their mistakes."""


@commands.command(
    epilog="""\b
Examples:
  rosenblatt demo
  rosenblatt demo --passes 1000000     a longer run on breast cancer
  rosenblatt demo --json | jq '.data_sets[].held_out'

\b
Exit codes:
  0  done, whether or not the data could be separated
     (rosenblatt --help has the others)
"""
)
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON, for programs.")
@click.option(
    "--passes",
    metavar="N",
    type=click.IntRange(1, 10_000_000),
    default=100_000,
    show_default=True,
    help="Passes over breast cancer; its standardised features get ten times as many.",
)
def demo(as_json: bool, passes: int) -> None:
    """Learn four real data sets, and report what was learned.

    Iris, breast cancer and digits come with scikit-learn, so nothing is downloaded. For each: passes,
    mistakes, whether learning converged, whether the hyperplane separates and by what margin, and the
    accuracy on held-out rows of the last vector, the average and the vote. Seeded: every run gives the same
    facts, and only the times differ.
    """
    from rich.console import Console

    from rosenblatt import demo as demonstration

    with Console(stderr=True).status("") as status:  # silent unless standard error is a terminal
        facts = demonstration.measure(passes, progress=lambda step: status.update(f"learning {step}"))
    if as_json:
        click.echo(facts.to_json())
    else:
        demonstration.show(facts, _console())


def _console() -> Any:
    """Standard output: as wide as the terminal, within reason, or 80 columns of plain text."""
    from rich.console import Console

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a character that cannot be shown must not end it
    console = Console(highlight=False)
    console.width = min(console.width, 100) if console.is_terminal else 80
    return console


def main() -> None:
    """The entry point of the command."""
    commands(prog_name="rosenblatt")
