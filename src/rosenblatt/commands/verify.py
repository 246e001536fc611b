"""``rosenblatt verify``: is a certificate true of a file? One pass, by code that knows no solver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from rosenblatt.commands import output
from rosenblatt.commands.reading import ReadingCommand, reading_options
from rosenblatt.errors import InputError

FALSE = 1


@click.command(
    cls=ReadingCommand,
    epilog="""\b
Examples:
  rosenblatt verify certificate.json data.svm
  rosenblatt verify certificate.json data.svm --json | jq .true

\b
Exit codes:
  0  the certificate is true of the data
  1  it is not: it was altered, or the data is another
     (rosenblatt --help has the others)
""",
)
@click.argument("certificate", type=click.Path())
@click.argument("data", type=click.Path(), nargs=-1, required=True)
@output.quiet_option
@output.json_option
@reading_options
def verify(certificate: str, data: tuple[str, ...], quiet: bool, as_json: bool, reading: dict[str, Any]) -> None:
    """Check a CERTIFICATE that certify wrote against DATA, in one pass.

    Nothing in the certificate is believed: every row is checked, and what its numbers imply is worked out anew. DATA
    must be read with the options that certify was given.
    """
    import rosenblatt as rb

    claimed = _certificate(certificate)
    with output.waiting() as now:
        now("checking every row")
        verdict = rb.verify_batches(claimed, _batches(claimed, data, reading))
    if as_json:
        facts = {"true": verdict.ok, "why": verdict.why, "certificate": certificate, "data": list(data)}
        output.say_json(facts | {"separable": claimed.separable})
    elif not quiet:
        # Of a table the sentence ends with "are", and what they are is said before it.
        end = " true." if verdict and hasattr(claimed, "values") else "" if verdict.why.endswith("?") else "."
        output.say(output.wrapped(f"{'True' if verdict else 'False'}: {verdict.why}{end}"))
        if not verdict:
            advice = "Next: give the data and the reading options that the certificate was made from; if you did, the"
            output.say(output.wrapped(f"{advice} certificate is not what certify wrote."))
    if not verdict:
        raise click.exceptions.Exit(FALSE)


def _certificate(path: str) -> Any:
    import rosenblatt as rb

    try:
        return rb.certificate_from_json(Path(path).read_bytes())
    except InputError as error:
        what, not_json, _ = str(error).partition("; if that is the name of a file")
        order = " The certificate comes first, then the data" if not_json else ""
        raise InputError(f"{path}: {what}.{order}") from None


def _batches(claimed: Any, data: tuple[str, ...], reading: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """The rows as the certificate speaks of them: as many features, and labels of its types."""
    import numpy as np
    import scipy.sparse as sp

    import rosenblatt as rb

    one = next(iter(claimed.values())) if hasattr(claimed, "values") else claimed
    n_features, labels = one.n_features, _labels(one.data)
    by_text = {str(label): label for label in labels}
    for batch in rb.read(list(data), classes=labels, **reading):
        X, y = batch.X, np.asarray(batch.y)
        if sp.issparse(X) and X.shape[1] < n_features:
            X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_features))
        found, places = np.unique(y, return_inverse=True)
        known = [by_text.get(str(label), label) for label in found.tolist()]
        yield X, np.asarray(known, dtype=object if len({type(label) for label in known}) > 1 else None)[places]


def _labels(data: Any) -> tuple[Any, ...]:
    if hasattr(data, "classes"):
        return tuple(data.classes)
    return (*data.negative, *data.positive, *data.ignored)
