"""Updates, one by one: the old w, the row that is added to it, and the new w with its boundary (note 003, Fig. 2)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.plot import animations, marks, style
from rosenblatt.plot.boundaries import positions
from rosenblatt.plot.samples import Sample, dense, sample
from rosenblatt.plot.views import View, in_range, plane_view, view_of
from rosenblatt.traces import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = 9
_FRAMES = 120
_SHOWN = 400  # points: an update is about one of them


@style.drawn
def trace(
    trace: Trace,
    *,
    kind: Literal["panels", "animation"] = "panels",
    path: str | os.PathLike[str] | None = None,
    updates: Sequence[int] | None = None,
    problem: int = 0,
    columns: int = 3,
    seconds: float = 1.2,
    ax: Any = None,
    max_points: int = _SHOWN,
) -> Any:
    """Draw the updates of a run: in each the old w, the row times its label that is added, and the new w.

    The mistaken row is ringed; the dashed line is the old boundary, the full line the new one, whose sides are tinted.
    Of more than two features each picture shows the plane of the old w and the row, which contains all three vectors:
    on which side of either boundary a point lies is seen exactly.

    Parameters
    ----------
    trace : Trace
        What `rosenblatt.trace` returned. Learned jointly, the boundary is that between the true class and its rival.
    kind : {"panels", "animation"}, default "panels"
        A panel for each update, or one picture that moves.
    path : str or path, optional
        Where to write it: a picture (.png, .svg, .pdf) of the panels; an animation as .gif, .mp4 (which needs ffmpeg),
        or .html (one file, for a browser).
    updates : sequence of int, optional
        Which updates, from 1. By default all, but not more than 9 panels (the first 8 and the last) or 120 frames.
    problem : int, default 0
        The number of the class in one-against-rest, else 0.
    columns : int, default 3
        Panels beside each other.
    seconds : float, default 1.2
        How long an animation shows each update.
    ax : Axes or array of Axes, optional
        One for each panel, or one for the animation.
    max_points : int, default 400
        Of more rows, that many are shown, and the title says so.

    Returns
    -------
    list of Axes, or for an animation matplotlib's FuncAnimation
        The axes alone if `ax` is one.
    """
    if kind not in ("panels", "animation"):
        raise InputError(f"kind must be 'panels' or 'animation', got {kind!r}")
    if kind == "animation":
        animations.require_writable(path, seconds)
    count = _n_updates(trace, problem)
    if count == 0:
        raise InputError("the run made no mistake, so there is no update to draw")
    chosen = _chosen(updates, count, _PANELS if kind == "panels" else _FRAMES)
    if kind == "animation":
        ax = style.axes_for(ax, (5.0, 4.6))
        moving = animations.animation(
            ax,
            lambda k: style.legend_below(ax, _draw(ax, _update(trace, k, problem, max_points), count)),
            chosen,
            seconds,
        )
        if path is not None:
            animations.write(moving, path, seconds, f"{count} updates")
        return moving
    height = 3.0 if trace.X.shape[1] <= 2 else 3.7  # a projection needs words
    axes = style.panels(ax, len(chosen), columns=columns, panel=(3.0, height))
    for panel, k in zip(axes, chosen, strict=True):
        handles = _draw(panel, _update(trace, k, problem, max_points), count)
    style.legend_across(axes, handles)
    style.fit_limits(axes)
    if path is not None:
        axes[0].figure.savefig(path)
    return axes[0] if hasattr(ax, "scatter") else axes


# What happened --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Update:
    """One update of one hyperplane."""

    number: int
    pass_: int
    row: int
    sign: int
    x: FloatArray
    added: FloatArray
    before: tuple[FloatArray, float]
    after: tuple[FloatArray, float]
    undershot: bool
    shown: Sample


def _n_updates(trace: Any, problem: int) -> int:
    if not isinstance(trace, Trace):
        raise InputError(f"trace must be what rosenblatt.trace returned, got {type(trace).__name__}")
    if trace.support is not None:
        raise InputError(
            "a kernel perceptron has no vector to draw: plot.boundary shows what it predicts, plot.mistakes its run"
        )
    if not 0 <= problem < trace.n_problems:
        raise InputError(f"problem must be from 0 to {trace.n_problems - 1}, got {problem}")
    return int(np.count_nonzero(np.asarray(trace.problem) == problem))


def _chosen(updates: Sequence[int] | None, count: int, most: int) -> list[int]:
    if updates is not None:
        wrong = [k for k in updates if not 1 <= k <= count]
        if wrong or not len(updates):
            raise InputError(f"updates must be numbers from 1 to {count}, got {list(updates)!r}")
        return list(updates)
    if count <= most:
        return list(range(1, count + 1))
    if most == _PANELS:
        return [*range(1, most), count]
    return [int(k) for k in np.unique(np.linspace(1, count, most).round())]


def _update(trace: Any, k: int, problem: int, limit: int) -> Update:
    place = int(np.flatnonzero(np.asarray(trace.problem) == problem)[k - 1])
    row = int(trace.row[place])
    before, after = trace.weights(k - 1, problem), trace.weights(k, problem)
    codes = np.searchsorted(trace.classes_, trace.y)
    x = dense(trace.X[[row]])[0]
    if trace.joint:
        up, down = int(trace.up[place]), int(trace.down[place])
        before, after = ((w[up] - w[down], float(b[up] - b[down])) for w, b in (before, after))
        shown = _of_sides(trace, np.where(codes == up, 1, np.where(codes == down, -1, 0)), row, limit, (down, up))
        sign, added = 1, 2 * abs(float(trace.step[place])) * x
        undershot = bool(trace.undershot[place])
    else:
        positive = 1 if len(trace.classes_) == 2 else problem
        signs = np.where(codes == positive, 1, -1)
        shown = _of_sides(trace, signs, row, limit, (0, 1) if len(trace.classes_) == 2 else (None, positive))
        sign, added = int(signs[row]), float(trace.step[place]) * x
        undershot = _wrong(sign, float(after[0] @ x + after[1]), str(trace.parameters["tie"]))
    return Update(k, int(trace.pass_[place]), row, sign, x, added, before, after, undershot, shown)


def _wrong(sign: int, score: float, tie: str) -> bool:
    """Whether a row is still a mistake: of one row, so that a long trace need not be looked through for it."""
    if score == 0:
        return tie == "mistake" or (sign > 0) == (tie == "negative")
    return sign * score < 0


def _of_sides(trace: Any, signs: IntArray, row: int, limit: int, names: tuple[int | None, int]) -> Sample:
    """The rows of two sides, of which the mistaken one is always shown."""
    spoken = np.flatnonzero(signs)
    some = trace.X if len(spoken) == len(signs) else trace.X[spoken]
    shown = sample(
        some,
        signs[spoken],
        classes=np.array([-1, 1]),
        always=[int(np.searchsorted(spoken, row))],
        limit=limit,
        names=trace.feature_names,
    )
    labels = [
        style.label_name("rest") if name is None else style.label_name(_plain(trace.classes_[name])) for name in names
    ]
    return Sample(shown.X, shown.codes, spoken[shown.rows], np.array(labels, object), shown.counts, shown.feature_names)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


# How it is drawn ------------------------------------------------------------------------------------------------------


def _draw(ax: Axes, update: Update, count: int) -> list[Any]:
    """One update; what a legend says of it."""
    from matplotlib.lines import Line2D

    view = _view(update)
    shown = update.shown
    points = positions(view, shown)
    (w0, b0), (w1, b1) = update.before, update.after
    vectors = view.directions @ np.stack([w0, update.added, w1]).T  # (2, 3)
    anchor, scale = _anchor(view, points, vectors.T)
    tips = anchor + scale * np.stack([vectors[:, 0], vectors[:, 2]])
    marks.frame(ax, np.concatenate([points, tips, anchor[None, :]]), flat=view.flat, equal=True)
    ax.set_xlabel(style.short(view.labels[0], 30))
    ax.set_ylabel(style.short(view.labels[1], 30))
    handles = marks.draw_points(ax, points, shown, (style.NEGATIVE, style.POSITIVE))
    for points_of_class in handles:
        points_of_class.set_alpha(0.6 if len(points) > 60 else 1.0)
    lines = [
        (w0, b0, {"color": style.GREY, "lw": 1.1, "ls": (0, (5, 3)), "gid": "old", "label": "old boundary"}),
        (w1, b1, {"color": style.INK, "lw": 1.6, "gid": "new", "label": "new boundary"}),
    ]
    for w, b, look in lines:
        a, c = view.line(in_range(Hyperplane(w, b)))
        if a.any():
            marks.draw_line(ax, a, c, zorder=2, **look)
        handles.append(Line2D([], [], **look))  # a first w of 0 has no boundary, and yet the legend explains it
    a, c = view.line(in_range(Hyperplane(w1, b1)))
    if a.any():
        marks.draw_sides(ax, a, c)
    ringed = points[shown.places([update.row])]
    handles.append(marks.draw_rings(ax, ringed, "the mistake", shown=len(points)))
    _draw_vectors(ax, anchor, scale * vectors.T, update.sign, flat=view.flat)
    first = f"Update {update.number} of {count:,}: row {update.row}, pass {update.pass_}"
    offset = "" if b0 == b1 else f"b {b0:g} → {b1:g}".replace("-", "−")
    scaled = "" if scale == 1 else f"vectors × {scale:g}"
    second = "; ".join(part for part in ("undershot: still wrong" if update.undershot else "", offset, scaled) if part)
    style.title(ax, first, second, view.note, shown.note)
    return handles


def _view(update: Update) -> View:
    """The features, or the plane of the old w and the row, in which all three vectors lie."""
    (w0, _), (w1, b1) = update.before, update.after
    if update.shown.n_features <= 2:
        return view_of(update.shown, None)
    note = f"Plane of w and the row, in {len(w0):,} features."
    view = plane_view(w0, update.x, ("along the old w", "across it"), note)
    if view is not None:
        return view
    plane = Hyperplane(w1, b1)
    along = view_of(update.shown, plane)
    return View(along.directions, np.zeros(len(w1)), ("along w", along.labels[1]), along.note)


def _anchor(view: View, points: FloatArray, vectors: FloatArray) -> tuple[FloatArray, float]:
    """Where the vectors start, the origin if it is near the points; and how much they are scaled to fit."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    origin = view.points(np.zeros((1, view.directions.shape[1])))[0]
    near = bool(((origin >= low - 0.6 * span) & (origin <= high + 0.6 * span)).all()) or view.flat
    anchor = origin if near else (low + high) / 2
    longest = float(np.abs(vectors[[0, 2]] / span.max()).max())
    room = 0.75 if near else 0.4
    if 0.08 <= longest <= room * 1.34 or longest == 0:
        return anchor, 1.0
    scale = room / longest
    return anchor, float(f"{scale:.1g}")


def _draw_vectors(ax: Axes, anchor: FloatArray, vectors: FloatArray, sign: int, *, flat: bool) -> None:
    old, added, new = vectors
    lift = np.array([0.0, 0.14]) if flat else np.zeros(2)  # on one line they would hide one another
    if old.any():
        marks.draw_arrow(ax, anchor + lift, anchor + old + lift, colour=style.GREY, name="w", width=1.4)
    if added.any():
        start = anchor + old + lift
        colour = style.SIDES[sign].colour
        marks.draw_arrow(ax, start, start + added, colour=colour, name="", width=1.6)
        tip, name = start + added, "+ x" if sign > 0 else "− x"
        marks.write_beside(ax, (start + tip) / 2, _outward(ax, start, tip, anchor + lift), name, colour)
    if new.any():
        marks.draw_arrow(ax, anchor - lift, anchor + new - lift, colour=style.INK, name="new w", width=1.9)


def _outward(ax: Axes, start: FloatArray, tip: FloatArray, third: FloatArray) -> FloatArray:
    """Across an arrow, away from the third corner of its triangle, in parts of the axes."""
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    step, inward = (tip - start) / size, (third - start) / size
    across = np.array([-step[1], step[0]])
    return across if across @ inward <= 0 else -across
