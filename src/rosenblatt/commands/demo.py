"""``rosenblatt demo``: four real data sets, learned and reported."""

from __future__ import annotations

import click

from rosenblatt.commands import output


@click.command(
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
@click.option(
    "--passes",
    metavar="N",
    type=click.IntRange(1, 10_000_000),
    default=100_000,
    show_default=True,
    help="Passes over breast cancer; its standardised features get ten times as many.",
)
@output.json_option
def demo(passes: int, as_json: bool) -> None:
    """Learn four real data sets, and report what was learned.

    Iris, breast cancer and digits come with scikit-learn, so nothing is downloaded. For each: passes,
    mistakes, whether learning converged, whether the hyperplane separates and by what margin, and the
    accuracy on held-out rows of the last vector, the average and the vote. Seeded: every run gives the same
    facts, and only the times differ.
    """
    from rosenblatt import demo as demonstration

    with output.waiting() as now:
        facts = demonstration.measure(passes, progress=lambda step: now(f"learning {step}"))
    if as_json:
        click.echo(facts.to_json())
    else:
        demonstration.show(facts, output.console())
