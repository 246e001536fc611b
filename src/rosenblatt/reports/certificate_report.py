"""What was proved about a data set, on one page: the verdict in words, its picture, and how to check it."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rosenblatt import inputs
from rosenblatt.certificate_table import CertificateTable
from rosenblatt.certificates import Inseparable, JointSeparable, Separable
from rosenblatt.checking import certificate_words, mistake_bounds
from rosenblatt.errors import InputError
from rosenblatt.plot import shown, style
from rosenblatt.plot.coefficients import weights
from rosenblatt.plot.samples import SHOWN
from rosenblatt.plot.verdict_pictures import certificate as draw_certificate
from rosenblatt.reports import page

_SHOWN_ROWS = 30
_SHOWN_FEATURES = 12
_MOST_PICTURES = 12
_ATTACHED = 400_000  # characters of a certificate that the page carries

_VERDICTS = {True: ("Separable", "yes"), False: ("Not separable", "no"), None: ("Undecided", "")}


def certificate_report(
    certificate: Any,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    source: str | None = None,
    names: Sequence[str] | None = None,
    check: str | None = None,
    max_points: int = SHOWN,
) -> str:
    """A page about a certificate and its data, as HTML.

    Parameters
    ----------
    certificate : what `certify` returned
        `Separable`, `Inseparable`, `Undecided`, a table of them, or a joint one.
    X, y
        The data of which it speaks.
    title : str, optional
        In place of the question.
    source : str, optional
        Where the data is from, such as the name of its file.
    names : sequence of str, optional
        The features' names; by default those of a data frame.
    check : str, optional
        How to check the certificate, as a command; by default the call of `verify`.
    max_points : int, default 2000
        Of more rows that many are drawn, and the page says so; the size of the page is bounded so.

    Returns
    -------
    str
        To be written with `rosenblatt.reports.write`.
    """
    rows = inputs.rows(X, estimator="a report")
    labels = inputs.labels(y, len(rows))
    names = names if names is not None else rows.feature_names
    verdict, kind = _VERDICTS[certificate.separable]
    parts = [page.heading(title or "Can a hyperplane separate these classes?", source, verdict, kind)]
    if isinstance(certificate, CertificateTable):
        parts.append(_of_table(certificate))
        each = list(zip(certificate._names(), certificate.values(), strict=True))[:_MOST_PICTURES]
    else:
        parts.append(page.paragraphs(_words(certificate)))
        each = [("", certificate)]
    many = len(each) > 1
    parts.append(_pictures(each, X, y, names, max_points))
    parts.append(page.section("The data", _data(certificate, rows, labels, max_points)))
    for name, own in each:
        parts.append(_numbers(own, rows, labels, names, f" ({name})" if many else ""))
    parts.append(page.section("Check it", _how_to_check(certificate, check)))
    return page.page(f"{verdict}{f': {source}' if source else ''}", parts)


def _words(certificate: Any) -> list[str]:
    """What it says, without the advice to those who have Python at hand."""
    lines = [line for line in certificate_words.sentences(certificate) if not line.startswith("Next: ")]
    return [line.replace("; check it with verify(X, y).", ": see below how to check it.") for line in lines]


def _of_table(table: CertificateTable) -> str:
    lines = [certificate_words.line(own) for own in table.values()]
    joint = table._found()
    names = table._names() + ([] if joint is None else ["all at once"])
    lines += [] if joint is None else [certificate_words.line(joint)]
    return page.table(["classes", "verdict"], zip(names, lines, strict=True))


def _pictures(each: list[tuple[str, Any]], X: Any, y: Any, names: Any, limit: int) -> str:
    images = []
    for name, own in each:
        image = _picture(own, X, y, names, limit if len(each) == 1 else min(limit, 600))
        images.append((image, f"{name}: {_caption(own)}" if name else _caption(own)))
    if len(each) == 1 and isinstance(each[0][1], Separable):
        own = each[0][1]
        size = 4.8, 1.0 + 0.19 * min(20, own.n_features)
        words = "The weights of the hyperplane, the largest first: features on larger scales have smaller ones."
        images.append((shown.drawn_image(size, lambda ax: weights(own, names=names, top=20, ax=ax)), words))
    return page.pictures(images)


def _picture(certificate: Any, X: Any, y: Any, names: Any, limit: int) -> str:
    try:
        return shown.drawn_image(
            (4.8, 4.4), lambda ax: draw_certificate(certificate, X, y, ax=ax, names=names, max_points=limit)
        )
    except InputError:  # a joint certificate of more than two features has no picture
        return ""


def _caption(certificate: Any) -> str:
    if isinstance(certificate, Separable):
        return (
            "The line is the hyperplane; the white street around it holds no row. The rows on its edges hold it where "
            "it is: no hyperplane leaves a wider one."
        )
    if isinstance(certificate, Inseparable) and certificate.fit_intercept:
        return (
            "The rows with a black outline prove it. The star is a mean of those of one class, and also of the other: "
            "whatever line is drawn, it cannot have the star on both sides."
        )
    if isinstance(certificate, Inseparable):
        return (
            "One class is reflected through the origin, so that a hyperplane through it must have all rows on one "
            "side. The origin is inside the hull of the outlined rows: none has."
        )
    return ""


def _data(certificate: Any, rows: inputs.Rows, labels: Any, limit: int) -> str:
    n, d = rows.shape
    classes, counts = np.unique(labels, return_counts=True)
    shown_classes = ", ".join(
        f"{name}: {count:,}" for name, count in zip(classes.tolist()[:10], counts.tolist()[:10], strict=True)
    )
    more = f" and {len(classes) - 10} more" if len(classes) > 10 else ""
    drawn = f"{limit:,} of {n:,}, chosen with a fixed seed, and those that the certificate names" if n > limit else None
    digest = None if isinstance(certificate, CertificateTable) else certificate.digest
    return page.facts(
        [
            ("rows", f"{n:,}"),
            ("features", f"{d:,}"),
            ("labels", shown_classes + more),
            ("rows drawn", drawn),
            ("digest (BLAKE3)", digest),
        ]
    )


def _numbers(certificate: Any, rows: inputs.Rows, labels: Any, names: Any, suffix: str) -> str:
    if isinstance(certificate, (Separable, JointSeparable)):
        return (
            _margin(certificate, suffix)
            + _bounds(certificate, suffix)
            + _rows(f"The rows it rests on{suffix}", certificate, rows, labels, names)
        )
    if certificate.separable is False:
        return _rows(f"The rows that prove it{suffix}", certificate, rows, labels, names)
    return ""


def _margin(certificate: Any, suffix: str) -> str:
    exact = certificate.margin_squared
    long = exact is not None and exact.numerator.bit_length() + exact.denominator.bit_length() > 200
    return page.section(
        f"The margin{suffix}",
        page.facts(
            [
                ("at least", certificate_words.at_least(certificate.margin)),
                ("at most, for any hyperplane", _bound(certificate.margin_upper_bound)),
                ("its square, exactly", None if exact is None or long else str(exact)),
                ("relative gap", f"{certificate.gap:.1e}" if certificate.gap else "none"),
            ]
        ),
    )


def _bound(value: float) -> str:
    return certificate_words.at_most(value) if value < math.inf else "not known"


def _bounds(certificate: Any, suffix: str) -> str:
    if not isinstance(certificate, Separable):
        return ""
    lines = [
        (mistake_bounds.count(bound.value), bound.formula, bound.setting)
        for bound in certificate.mistake_bounds.values()
    ]
    return page.section(f"The most mistakes of a perceptron{suffix}", page.table(["at most", "from", "for"], lines))


def _rows(title: str, certificate: Any, rows: inputs.Rows, labels: Any, names: Any) -> str:
    """The rows that a certificate names, with their weights and the first features."""
    if hasattr(certificate, "rivals"):
        numbers = list(
            dict.fromkeys(row for row, _ in (certificate.support if certificate.separable else certificate.pairs))
        )
        given: list[Any] = []
    elif certificate.separable:
        numbers, given = certificate.support.tolist(), list(certificate.support_weights)
    else:
        numbers, given = certificate.points.tolist(), list(certificate.weights)
    if not numbers:
        return ""
    some = np.asarray(numbers[:_SHOWN_ROWS], dtype=np.int64)
    values = rows.take(some)
    values = values[:, :_SHOWN_FEATURES]
    values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, np.float64)
    columns = ["row", "label", *(["weight"] if given else [])]
    columns += [str(names[k]) if names is not None else f"x{k + 1}" for k in range(values.shape[1])]
    lines = []
    for place, number in enumerate(some.tolist()):
        weight = [_weight(given[place])] if given else []
        lines.append([number, labels[number], *weight, *(f"{value:.6g}" for value in values[place])])
    notes = []
    if len(numbers) > _SHOWN_ROWS:
        notes.append(f"{_SHOWN_ROWS} of {len(numbers):,} rows.")
    if rows.shape[1] > _SHOWN_FEATURES:
        notes.append(f"{_SHOWN_FEATURES} of {rows.shape[1]:,} features.")
    return page.section(title, page.table(columns, lines), page.paragraphs([" ".join(notes)] if notes else []))


def _weight(weight: Any) -> str:
    words = str(weight)
    return words if "/" in words and len(words) <= 12 else style.number(float(weight))


def _how_to_check(certificate: Any, check: str | None) -> str:
    words = page.paragraphs(
        [
            "The proof is checked by a program that shares no code with the one that found it, against any copy of the "
            "data: a certificate altered into a false one is rejected."
        ]
    )
    code = check or (
        "import rosenblatt as rb\n"
        'certificate = rb.certificate_from_json(open("certificate.json").read())\n'
        "certificate.verify(X, y)"
    )
    kept = certificate.to_json()
    link = ""
    if len(kept) <= _ATTACHED:
        data = f"data:application/json;base64,{base64.b64encode(kept.encode()).decode()}"
        link = f'<a download="certificate.json" href="{data}">Save the certificate</a>'
        link = f'<p class="screen">{link} ({len(kept):,} bytes, in this page).</p>'
    return f"{words}<pre>{page.text(code)}</pre>{link}"
