"""The pages that ``--report`` writes: what was proved or learned, for someone who has only a browser."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from rosenblatt.commands import output, output_files
from rosenblatt.commands.reading import as_arguments

if TYPE_CHECKING:
    from rosenblatt.commands.examples import Examples


def require_writable(report: str, data: Sequence[str], *others: str | None, read_again: bool = False) -> None:
    """Raise before any work if the page cannot be drawn or written."""
    from rosenblatt.plot import style

    output_files.require_writable(report, data, "--report")
    if report in others:
        raise click.UsageError(f"--report {report} is the name of another output, too: name another file")
    if read_again and "-" in data:
        raise click.UsageError("--report reads the data once more, and standard input is gone by then: name a file")
    style.library()


def write_certificate_page(report: str, certificate: Any, examples: Examples, path: str | None) -> None:
    """What was proved, and the command that checks it."""
    from rosenblatt import reports

    kept = "certificate.json" if path in (None, output_files.STANDARD_OUTPUT) else str(path)
    words = ["rosenblatt", "verify", kept, *examples.data, *as_arguments(examples.reading)]
    page = reports.certificate_report(
        certificate,
        examples.X,
        examples.y,
        source=output.files_in_words(examples.data),
        names=examples.names,
        check=shlex.join(words),
    )
    _write(report, page)


def write_training_page(
    report: str, model: str, data: Sequence[str], reading: dict[str, Any], threads: int | None
) -> None:
    """What was learned, drawn and counted on some of the rows, which are read once more."""
    import rosenblatt as rb
    from rosenblatt import reports
    from rosenblatt.commands.row_sample import sampled

    trained = rb.load_trained(model)
    rows = sampled(trained, data, reading, threads)
    page = reports.training_report(
        trained,
        rows.X,
        rows.y,
        source=output.files_in_words(data),
        names=rows.names,
        n_rows=rows.n_rows,
        facts=[
            ("right before learned from (first pass)", _share(trained.progressive_accuracy)),
            ("right of those held out", _share(trained.hold_out_accuracy)),
        ],
    )
    _write(report, page)


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.2%}"


def _write(report: str, page: str) -> None:
    with output_files.written(report) as file:
        file.write(page.encode())
