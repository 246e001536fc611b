"""The soft margin: how far each row is on the wrong side of its margin, and what C makes of it (note 003, Fig. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InputError, counted
from rosenblatt.inputs import FloatArray
from rosenblatt.plot import marks, style
from rosenblatt.plot.boundaries import against, draw_plane, fitting_size, positions
from rosenblatt.plot.samples import SHOWN, Sample, sample
from rosenblatt.plot.subjects import Subject, require_linear
from rosenblatt.plot.views import view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", (0, (6, 2)), (0, (2, 2)), (0, (6, 2, 1.5, 2)), (0, (1, 1.2)))


@style.drawn
def soft_margin(
    X: Any,
    y: Any,
    *,
    Cs: float | Sequence[float] | npt.ArrayLike = (0.01, 1.0, 100.0),
    ax: Any = None,
    fit_intercept: bool = True,
    names: Sequence[str] | None = None,
    max_points: int = SHOWN,
) -> Any:
    """Draw soft margins of several C: the band where slack begins, and the slack of each row that has some.

    Parameters
    ----------
    X, y
        Rows and labels of two classes.
    Cs : float or sequence of float, default (0.01, 1, 100)
        What a unit of slack costs, a panel for each.
    ax : Axes or array of Axes, optional
        One for each C; or a single one for several, on which all boundaries are drawn, without their bands.
    fit_intercept : bool, default True
        Learn an offset.
    names : sequence of str, optional
        The features' names; by default those of a data frame.
    max_points : int, default 2000
        Of more rows, that many are shown, and the title says so.

    Returns
    -------
    list of Axes
        A panel for each C; the axes themselves if `ax` is one, or C is one number.
    """
    from rosenblatt.soft_margin_classifiers import SoftMargin

    grid = np.atleast_1d(np.asarray(Cs, dtype=np.float64))
    if grid.ndim != 1 or not len(grid) or not (np.isfinite(grid) & (grid > 0)).all():
        raise InputError(f"Cs must be numbers above 0, got {Cs!r}")
    models = [SoftMargin(C=float(C), fit_intercept=fit_intercept).fit(X, y) for C in grid]
    shown = sample(X, y, limit=max_points, names=names)
    if len(shown.classes) != 2:
        raise InputError(
            f"the picture is of two classes, and y has {len(shown.classes)}: compare one with the rest, y == label"
        )
    if hasattr(ax, "scatter") and len(models) > 1:
        return _together(ax, models, shown)
    first = view_of(shown, models[0].hyperplane_)
    size = fitting_size(positions(first, shown), first) if len(grid) == 1 else (3.2, 3.5)
    axes = style.panels(ax, len(grid), panel=size)
    for panel, model in zip(axes, models, strict=True):
        handles = _one(panel, model, X, y, shown)
        style.legend_below(panel, handles if panel is axes[0] else handles[2:])  # the classes need no second word
    style.fit_limits(axes)
    return axes[0] if np.ndim(Cs) == 0 or hasattr(ax, "scatter") else axes


def _one(ax: Axes, model: Any, X: Any, y: Any, shown: Sample) -> list[Any]:
    subject = require_linear(model)
    plane, slack = model.hyperplane_, np.asarray(model.slack_)[shown.rows]
    wrong, _ = against(plane, X, y, shown)
    view = view_of(shown, plane)
    points = positions(view, shown)
    handles = draw_plane(ax, view, points, plane, shown, subject.margin, normal=False)
    behind = np.flatnonzero(slack > 1e-9)
    if subject.margin is not None and len(behind):
        handles.append(_draw_slacks(ax, points[behind], shown.signs[behind], slack[behind], *view.line(plane)))
    places = shown.places(wrong)
    if len(wrong):
        handles.append(marks.draw_rings(ax, points[places], f"wrong side ({len(wrong):,})", shown=len(points)))
    words = f"C = {model.C:g}: {_margin_words(subject)}, slack {style.number(float(np.sum(model.slack_)))} in all"
    style.title(ax, words, view.note, shown.note)
    return handles


def _margin_words(subject: Subject) -> str:
    return "w = 0" if subject.margin is None else f"margin {style.number(subject.margin)}"


def _draw_slacks(ax: Axes, points: FloatArray, signs: Any, slack: FloatArray, a: FloatArray, c: float) -> Any:
    """From each row with slack ξ to its margin line, a segment of length ξ/‖w‖."""
    from matplotlib.collections import LineCollection

    ends = points + (signs * slack / (a @ a))[:, None] * a[None, :]
    lines = LineCollection(
        np.stack([points, ends], axis=1).tolist(), colors=style.PURPLE, linewidths=1.1, zorder=2.2, gid="slack"
    )
    lines.set_label(f"slack ({len(points):,})")
    ax.add_artist(lines)
    return lines


def _together(ax: Axes, models: Sequence[Any], shown: Sample) -> Axes:
    """All boundaries in one picture (note 003, Fig. 4), which is that of two features."""
    if shown.n_features != 2:
        raise InputError(
            f"several boundaries in one picture need two features, got {counted(shown.n_features, 'feature')}: "
            "each C has its own projection, so give as many axes, or leave ax out"
        )
    view = view_of(shown, None)
    points = positions(view, shown)
    marks.frame(ax, points, equal=True)
    ax.set_xlabel(style.short(view.labels[0], 40))
    ax.set_ylabel(style.short(view.labels[1], 40))
    handles = marks.draw_points(ax, points, shown, (style.NEGATIVE, style.POSITIVE))
    for number, model in enumerate(models):
        a, c = view.line(model.hyperplane_)
        if a.any():
            dashes = _DASHES[number % len(_DASHES)]
            line = marks.draw_line(ax, a, c, color=style.INK, lw=1.5, ls=dashes, zorder=2, gid=f"C={model.C:g}")
            line.set_label(f"C = {model.C:g}")
            handles.append(line)
    style.title(ax, f"Soft margins of {len(models)} values of C", shown.note)
    style.legend_below(ax, handles)
    return ax
