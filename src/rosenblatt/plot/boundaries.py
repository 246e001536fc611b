"""The boundary of a classifier among its points: in the plane, in space, or projected from more features."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rosenblatt.errors import InputError, counted
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray
from rosenblatt.plot import marks, solids, style
from rosenblatt.plot.samples import SHOWN, Sample, dense, sample
from rosenblatt.plot.subjects import Subject, subject_of
from rosenblatt.plot.views import View, in_range, view_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 320  # points across the picture at which a curved boundary is looked up


@style.drawn
def boundary(
    model: Any,
    X: Any,
    y: Any,
    *,
    ax: Axes | None = None,
    margin: float | bool | None = None,
    support: npt.ArrayLike | bool | None = None,
    mistakes: bool = True,
    normal: bool = True,
    names: Sequence[str] | None = None,
    title: str | None = None,
    max_points: int = SHOWN,
) -> Axes:
    """Draw a classifier's boundary among the points: its sides, its normal vector, its mistakes and its margin.

    Two features are drawn as they are; three in space (on axes with ``projection="3d"``, or new ones). More, or three
    on flat axes, are projected on the plane of w and of the largest variance that remains, and the title says so: the
    first coordinate is then the signed distance to the hyperplane, so sides and margins are exact.

    Parameters
    ----------
    model : Hyperplane, Separable or classifier
        Any fitted classifier will do, scikit-learn's too: with `coef_` of two classes it is a hyperplane, else it is
        drawn by its predictions, for two features.
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        The rows.
    y : array of shape (n_rows,)
        Their labels. Of a `Hyperplane` the larger label is the side that w points to.
    ax : Axes, optional
        Where to draw; new axes if not given.
    margin : float or bool, optional
        Half the width of the band: by default that of a margin classifier, or the distance of the nearest row if all
        are on their sides. False for no band.
    support : array of row numbers or bool, optional
        The rows to outline, by default those of the model. False for none.
    mistakes : bool, default True
        Whether rows on the wrong side, or on the boundary, are ringed.
    normal : bool, default True
        Whether w is drawn, an arrow towards the positive side.
    names : sequence of str, optional
        The features' names; by default those of a data frame.
    title : str, optional
        In place of what is found out: how many rows are on the wrong side, or the margin.
    max_points : int, default 2000
        Of more rows, that many are chosen (always the same) and the title says so.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from rosenblatt import plot
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> axes = plot.boundary(rb.MaxMargin().fit(X, y), X, y)
    >>> axes.get_title(loc="left")
    'MaxMargin: all 4 rows on their sides, margin 0.354'
    """
    subject = subject_of(model)
    always = _row_numbers(support, subject)
    shown = sample(X, y, classes=subject.classes, always=always, limit=max_points, names=names)
    if len(shown.classes) < 2:
        raise InputError(f"y has one class only, {shown.classes[0]!r}: there is no boundary to draw")
    if subject.plane is None:
        return _regions(subject, X, y, shown, ax, title, mistakes)
    if len(shown.classes) != 2:
        raise InputError(
            f"a hyperplane has two sides, and y has {len(shown.classes)} classes: compare one with the rest, y == label"
        )
    plane = _fitting(subject.plane, shown)
    wrong, nearest = against(plane, X, y, shown)
    band = _band_width(margin, subject, len(wrong), nearest)
    solid = style.is_solid(ax) or (ax is None and shown.n_features == 3)
    if solid and shown.n_features != 3:
        raise InputError(f"axes of three dimensions need three features, got {shown.n_features}: leave ax out")
    view = None if solid else view_of(shown, plane)
    drawn = dense(shown.X) if view is None else positions(view, shown)
    ax = style.axes_for(ax, (5.2, 4.3) if view is None else fitting_size(drawn, view), solid=solid)
    ringed = shown.places(wrong) if mistakes else np.empty(0, np.int64)
    outlined = shown.places(always)
    words = title or _in_words(subject.name, shown, len(wrong), nearest)
    if view is None:
        handles = solids.draw(ax, plane, shown, band, normal)
    else:
        handles = draw_plane(ax, view, drawn, plane, shown, band, normal)
    if len(outlined):
        looks = (style.NEGATIVE, style.POSITIVE)
        handles.append(marks.draw_outlines(ax, drawn[outlined], shown.codes[outlined], looks, shown=len(drawn)))
    if mistakes and len(wrong):
        label = f"wrong side ({len(wrong):,})"
        handles.append(marks.draw_rings(ax, drawn[ringed], label, shown=len(drawn)))
    style.title(ax, words, "" if view is None else view.note, shown.note)
    style.legend_below(ax, handles)
    return ax


# Parts that other pictures draw too -----------------------------------------------------------------------------------


def positions(view: View, shown: Sample) -> FloatArray:
    """Where the points are drawn; of one feature, spread so that they do not hide one another."""
    points = view.points(shown.X)
    if view.flat:
        jitter = np.random.default_rng(0).uniform(-0.32, 0.32, len(points))
        points[:, 1] = np.where(shown.codes == 1, 0.45, -0.45) + jitter
    return points


def fitting_size(points: FloatArray, view: View) -> tuple[float, float]:
    """The size of a new figure, in inches, in which points of one scale leave little room empty."""
    if view.flat or not view.equal:
        return 5.0, 2.6 if view.flat else 4.1
    across, up = np.maximum(np.ptp(points, axis=0), 1e-300)
    share = up / across if max(across, up) <= 4 * min(across, up) else 0.7
    return 5.0, min(4.9, max(3.0, 4.3 * share + 1.2))


def draw_plane(
    ax: Axes,
    view: View,
    points: FloatArray,
    plane: Hyperplane,
    shown: Sample,
    band: float | None,
    normal: bool,
    *,
    around: FloatArray | None = None,
) -> list[Any]:
    """Sides, band, line, points and normal vector; what a legend says of them. `around` is what must be seen."""
    marks.frame(ax, points if around is None else np.concatenate([points, around]), flat=view.flat, equal=view.equal)
    ax.set_xlabel(style.short(view.labels[0], 40))
    ax.set_ylabel(style.short(view.labels[1], 40))
    handles: list[Any] = []
    a, c = view.line(in_range(plane))
    if a.any():
        marks.draw_sides(ax, a, c)
        if band is not None and band > 0:
            handles.append(marks.draw_band(ax, a, c, band))
        marks.draw_line(ax, a, c, color=style.INK, lw=1.6, gid="boundary", zorder=2)
    handles = marks.draw_points(ax, points, shown, (style.NEGATIVE, style.POSITIVE)) + handles
    if normal and a.any():
        marks.draw_normal(ax, a, c, points)
    return handles


def against(plane: Hyperplane, X: Any, y: Any, shown: Sample) -> tuple[npt.NDArray[np.int64], float]:
    """The rows (of all) that are not strictly on their side, and the least signed distance."""
    if not plane.w.any():
        return np.arange(shown.n_rows), 0.0
    from rosenblatt import inputs

    rows = inputs.rows(X, estimator="a plot")
    signs = 2.0 * inputs.encode_known(inputs.labels(y, len(rows)), shown.classes) - 1
    scores = np.empty(len(rows))
    for block, products in rows.products(plane.w[None, :]):
        scores[block] = products[:, 0] + plane.b
    agreements = signs * scores
    if not np.isfinite(agreements).all():
        rows.require_finite()
    return np.flatnonzero(~(agreements > 0)), float(agreements.min() / np.linalg.norm(plane.w))


def _row_numbers(support: npt.ArrayLike | bool | None, subject: Subject) -> list[int]:
    if support is False:
        return []
    if support is None or support is True:
        return [] if subject.support is None else list(subject.support.tolist())
    return list(np.asarray(support, np.int64).tolist())


def _fitting(plane: Hyperplane, shown: Sample) -> Hyperplane:
    if len(plane.w) != shown.n_features:
        raise InputError(f"w has {counted(len(plane.w), 'weight')}, but X has {counted(shown.n_features, 'feature')}")
    return plane


def _band_width(margin: float | bool | None, subject: Subject, wrong: int, nearest: float) -> float | None:
    if margin is False:
        return None
    if margin is None or margin is True:
        own = subject.margin if subject.margin is not None else nearest if wrong == 0 else None
        if margin is True and own is None:
            raise InputError(f"{wrong} rows are on the wrong side, so there is no margin: give its width as a number")
        return own
    if not float(margin) > 0:
        raise InputError(f"margin must be above 0, got {margin}: it is half the width of the band")
    return float(margin)


def _in_words(name: str, shown: Sample, wrong: int, nearest: float) -> str:
    if wrong:
        return f"{name}: {wrong:,} of {counted(shown.n_rows, 'row')} on the wrong side"
    return f"{name}: all {shown.n_rows:,} rows on their sides, margin {style.number(nearest)}"


# Several classes, and boundaries that are no hyperplane ---------------------------------------------------------------


def _regions(subject: Subject, X: Any, y: Any, shown: Sample, ax: Any, title: str | None, mistakes: bool) -> Axes:
    """Regions by what is predicted at the points of a grid."""
    if shown.n_features != 2:
        raise InputError(
            f"this {subject.name} is not one hyperplane, and is drawn for two features only, got {shown.n_features}. "
            "Of several classes, one is: Hyperplane(model.coef_[k], model.intercept_[k]) with y == model.classes_[k]"
        )
    looks = looks_for(len(shown.classes))
    view = view_of(shown, None)
    points = positions(view, shown)
    ax = style.axes_for(ax, fitting_size(points, view))
    marks.frame(ax, points, equal=True)
    ax.set_xlabel(style.short(shown.feature(0), 40))
    ax.set_ylabel(style.short(shown.feature(1), 40))
    _draw_regions(ax, subject, looks)
    handles = marks.draw_points(ax, points, shown, looks)
    from rosenblatt import inputs

    predicted = np.asarray(subject.predictor.predict(X))
    wrong = np.flatnonzero(predicted != inputs.labels(y, len(predicted)))
    if mistakes and len(wrong):
        places = shown.places(wrong)
        handles.append(marks.draw_rings(ax, points[places], f"wrong ({len(wrong):,})", shown=len(points)))
    words = f"{subject.name}: {len(wrong):,} of {counted(shown.n_rows, 'row')} wrong"
    style.title(ax, title or words, shown.note)
    style.legend_below(ax, handles)
    return ax


def looks_for(classes: int) -> tuple[style.Look, ...]:
    """A look for each class; those of the two sides if there are two."""
    if classes == 2:
        return style.NEGATIVE, style.POSITIVE
    return tuple(style.SEVERAL[number % len(style.SEVERAL)] for number in range(classes))


def _draw_regions(ax: Axes, subject: Subject, looks: Sequence[style.Look]) -> None:
    from matplotlib.colors import ListedColormap

    assert subject.classes is not None
    ax.apply_aspect()  # axes of equal scale get the limits that they will have
    across = np.linspace(*_wider(ax.get_xlim()), _GRID)
    up = np.linspace(*_wider(ax.get_ylim()), _GRID)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    predicted = np.asarray(_asked(subject.predictor.predict, grid))
    codes = np.searchsorted(subject.classes, predicted).reshape(_GRID, _GRID)
    with style.fixed_limits(ax):
        ax.pcolormesh(
            across,
            up,
            codes,
            cmap=ListedColormap([look.tint for look in looks]),
            vmin=-0.5,
            vmax=len(looks) - 0.5,
            shading="nearest",
            rasterized=True,
            zorder=0,
        )
        for heights in _heights(subject.predictor, grid, codes.reshape(-1), len(looks)):
            if heights.min() < 0 < heights.max():
                ax.contour(
                    across, up, heights.reshape(_GRID, _GRID), levels=[0.0], colors=style.INK, linewidths=1.4, zorder=2
                )


def _heights(predictor: Any, grid: FloatArray, codes: npt.NDArray[Any], classes: int) -> Iterator[FloatArray]:
    """For each class but the first, numbers above 0 where it is predicted: scores if there are any, for smoothness."""
    if hasattr(predictor, "decision_function"):
        scores = np.asarray(_asked(predictor.decision_function, grid))
        if scores.ndim == 1:
            yield scores
            return
        if scores.shape[1] == classes:
            for number in range(1, classes):
                yield scores[:, number] - np.delete(scores, number, axis=1).max(axis=1)
            return
    for number in range(1, classes):
        yield np.where(codes == number, 0.5, -0.5)


def _asked(function: Any, grid: FloatArray) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # the grid is no data frame
        return function(grid)


def _wider(limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    return low - 0.6 * (high - low), high + 0.6 * (high - low)
