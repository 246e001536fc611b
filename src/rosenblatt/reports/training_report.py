"""What a model learned, on one page: how it went, what it is right and wrong about, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rosenblatt import inputs
from rosenblatt.errors import InputError, counted
from rosenblatt.plot import shown
from rosenblatt.plot.boundaries import boundary
from rosenblatt.plot.coefficients import weights
from rosenblatt.plot.passes import mistakes
from rosenblatt.plot.samples import SHOWN
from rosenblatt.plot.subjects import name_of
from rosenblatt.reports import page

_TOP = 20
_MOST_CLASSES = 20  # of a table of who was taken for whom
_MOST_PANELS = 4  # classes whose weights are drawn


def training_report(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    source: str | None = None,
    names: Sequence[str] | None = None,
    facts: Iterable[tuple[str, Any]] = (),
    n_rows: int | None = None,
    max_points: int = SHOWN,
) -> str:
    """A page about a fitted model, as HTML.

    Parameters
    ----------
    model : a fitted classifier
        Any of ours; those of scikit-learn work too.
    X, y
        Rows with their labels, to draw and to count on: those it learned from, others, or some of them.
    title : str, optional
        In place of the model's name.
    source : str, optional
        Where the data is from, such as the name of its file.
    names : sequence of str, optional
        The features' names; by default those of the model.
    facts : pairs of a name and a value, optional
        More to say about the run, such as the accuracy on rows kept apart.
    n_rows : int, optional
        How many rows it learned from, if X has only some of them: the page says so.
    max_points : int, default 2000
        Of more rows that many are drawn, and the page says so; the size of the page is bounded so.

    Returns
    -------
    str
        To be written with `rosenblatt.reports.write`.
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise InputError(f"this {type(model).__name__} is not fitted yet: call fit(X, y) first")
    rows = inputs.rows(X, estimator="a report")
    labels = inputs.labels(y, len(rows))
    name = name_of(model)
    predicted = np.asarray(model.predict(X))
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    some = n_rows is not None and n_rows > len(rows)
    parts = [
        page.heading(title or f"{name}: what was learned", source, *_verdict(model)),
        page.paragraphs(_words(model, labels, predicted, some)),
        _pictures(model, X, y, names, max_points, len(rows)),
        page.section("The run", page.facts([*_of_run(model), *facts])),
        page.section("The data", _data(rows, labels, n_rows, max_points)),
        page.section("Right and wrong", _taken_for(classes, labels, predicted, some)),
        page.section("Parameters", page.facts(_parameters(model))),
    ]
    return page.page(f"{name}{f': {source}' if source else ''}", parts)


def _verdict(model: Any) -> tuple[str, str]:
    separates = getattr(model, "separates_", None)
    if separates is None:
        return "", ""
    return ("Separates every row", "yes") if separates else ("Does not separate all rows", "no")


def _words(model: Any, labels: Any, predicted: Any, some: bool) -> list[str]:
    wrong = int(np.count_nonzero(predicted != labels))
    right = len(labels) - wrong
    of_what = f"{len(labels):,} rows that were chosen from the data" if some else f"all {len(labels):,} rows"
    lines = [f"It is right about {right:,} of {of_what} ({right / len(labels):.2%})."]
    if getattr(model, "mistakes_per_pass_", None) is not None:
        total, passes = int(model.n_updates_), int(model.n_iter_)
        what = "update" if getattr(model, "margin", 0) else "mistake"  # with a margin, rows that are right are learned
        run = f"Learning took {passes:,} pass{'' if passes == 1 else 'es'} and {counted(total, what)}"
        ended = "; the last pass made none." if model.converged_ else "; it ended before a pass without one."
        lines.append(run + ended)
    if getattr(model, "gap_", None) is not None:
        lines.append(f"No other hyperplane is better by more than {model.gap_:.1e}, relatively.")
    return lines


def _pictures(model: Any, X: Any, y: Any, names: Any, limit: int, n: int) -> str:
    images = [
        (
            _or_none((4.8, 4.4), lambda ax: boundary(model, X, y, ax=ax, names=names, max_points=limit)),
            "The boundary among the rows; those on its wrong side are ringed.",
        )
    ]
    if getattr(model, "mistakes_per_pass_", None) is not None and len(model.mistakes_per_pass_):
        images.append(
            (_or_none((4.8, 3.5), lambda ax: mistakes(model, ax=ax)), "Mistakes of each pass, and all so far.")
        )
    coef = getattr(model, "coef_", None)
    if coef is not None:
        d = int(np.shape(coef)[1])
        top = min(_TOP, d)
        size = (4.8, 1.0 + 0.19 * top)
        labels = [None] if np.shape(coef)[0] == 1 else model.classes_.tolist()[:_MOST_PANELS]
        images += [
            (_or_none(size, _weights_drawing(model, names, top, label)), _caption(model, label)) for label in labels
        ]
    return page.pictures(images)


def _weights_drawing(model: Any, names: Any, top: int, label: Any) -> Callable[[Any], Any]:
    return lambda ax: weights(model, names=names, top=top, label=label, ax=ax)


def _caption(model: Any, label: Any) -> str:
    if label is not None:
        return f"The largest weights of {label}: to the right they speak for it, to the left against it."
    negative, positive = model.classes_.tolist()
    return f"The largest weights: to the right they speak for {positive}, to the left for {negative}."


def _or_none(size: tuple[float, float], draw: Any) -> str:
    try:
        return shown.drawn_image(size, draw)
    except InputError:  # several classes in more than two features have no picture
        return ""


def _of_run(model: Any) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for attribute, name in (
        ("n_iter_", "passes" if hasattr(model, "mistakes_per_pass_") else "steps of the solver"),
        ("n_updates_", "mistakes learned from"),
        ("converged_", "the last pass made no mistake"),
        ("separates_", "every row on its side"),
        ("margin_", "margin"),
        ("objective_", "objective"),
        ("gap_", "duality gap"),
    ):
        value = getattr(model, attribute, None)
        if value is not None:
            pairs.append((name, _in_words(value)))
    return pairs


def _in_words(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    if np.ndim(value):
        return ", ".join(f"{float(one):.6g}" for one in np.ravel(value)[:20])
    return f"{float(value):.6g}"


def _data(rows: inputs.Rows, labels: Any, n_rows: int | None, limit: int) -> str:
    n, d = rows.shape
    classes, counts = np.unique(labels, return_counts=True)
    shares = ", ".join(
        f"{name}: {count:,}" for name, count in zip(classes.tolist()[:10], counts.tolist()[:10], strict=True)
    )
    total = n if n_rows is None else n_rows
    shown_rows = min(n, limit)
    return page.facts(
        [
            ("rows", f"{total:,}"),
            ("features", f"{d:,}"),
            ("labels", shares + (f" and {len(classes) - 10} more" if len(classes) > 10 else "")),
            ("rows counted here", f"{n:,} of {total:,}, chosen with a fixed seed" if n < total else None),
            ("rows drawn", f"{shown_rows:,} of {total:,}, chosen with a fixed seed" if shown_rows < total else None),
        ]
    )


def _taken_for(classes: Any, labels: Any, predicted: Any, some: bool) -> str:
    """How often each label was taken for which."""
    names = list(classes.tolist())
    known = np.isin(labels, classes)
    if len(names) > _MOST_CLASSES:
        wrong = {name: int(np.count_nonzero((labels == name) & (predicted != name))) for name in names}
        worst = sorted(wrong, key=lambda name: -wrong[name])[:_MOST_CLASSES]
        return page.table(["label", "wrong"], [(name, wrong[name]) for name in worst])
    lines = []
    for name in names:
        own = predicted[known & (labels == name)]
        lines.append([name, *(int(np.count_nonzero(own == other)) for other in names)])
    return page.table(["label ↓ taken for →", *names], lines)


def _parameters(model: Any) -> list[tuple[str, Any]]:
    given = model.get_params(deep=False) if hasattr(model, "get_params") else getattr(model, "parameters", {})
    return [(name, repr(value)[:200]) for name, value in sorted(given.items())]
