"""Certificates: the street between two classes, or the point where the hulls of a few rows meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt import inputs
from rosenblatt.certificate_table import CertificateTable
from rosenblatt.certificates import Inseparable, JointInseparable, JointSeparable, JointUndecided, Separable, Undecided
from rosenblatt.errors import InputError, counted
from rosenblatt.inputs import FloatArray
from rosenblatt.plot import marks, style
from rosenblatt.plot.boundaries import boundary, draw_plane, fitting_size, positions
from rosenblatt.plot.samples import SHOWN, Sample, dense, sample
from rosenblatt.plot.views import View, view_of, widest_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_PANELS = 12
_NAMED = 12  # rows of a witness that get their number


@style.drawn
def certificate(
    certificate: Any,
    X: Any,
    y: Any,
    *,
    ax: Any = None,
    names: Sequence[str] | None = None,
    max_points: int = SHOWN,
) -> Any:
    """Draw what a certificate proves.

    `Separable`: the hyperplane, the band of its margin, the rows it rests on, and the two nearest points of the
    classes' convex hulls, which are what keeps every other hyperplane from a larger margin. `Inseparable`: the few rows
    that prove it, as two hulls, and the point that both contain (through the origin: the origin inside the hull of the
    rows, those of the negative class reflected). `Undecided`: the best hyperplane so far. A `CertificateTable` has a
    panel for each class or pair.

    Parameters
    ----------
    certificate : Separable, Inseparable, Undecided, CertificateTable or joint
        What `certify` returned. Joint certificates are drawn for two features.
    X, y
        The data that it speaks of; it is not verified here.
    ax : Axes, optional
        Where to draw; for a table, an array of axes.
    names : sequence of str, optional
        The features' names; by default those of a data frame.
    max_points : int, default 2000
        Of more rows, that many are chosen, always those that the certificate names, and the title says so.

    Returns
    -------
    Axes
        For a table, a list of them.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from rosenblatt import plot
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> axes = plot.certificate(rb.certify(X, y), X, y)
    >>> axes.get_title(loc="left")
    'Not separable: the hulls of rows 1, 2 and 0, 3 meet'
    """
    if isinstance(certificate, CertificateTable):
        return _table(certificate, X, y, ax, names, max_points)
    if isinstance(certificate, (JointSeparable, JointInseparable, JointUndecided)):
        return _joint(certificate, X, y, ax, names, max_points)
    if not isinstance(certificate, (Separable, Inseparable, Undecided)):
        raise InputError(f"certificate must be what certify returned, got {type(certificate).__name__}")
    rows = inputs.rows(X, estimator="a plot")
    if rows.shape != (certificate.n_rows, certificate.n_features):
        raise InputError(
            f"the certificate speaks of {certificate.n_rows:,} rows and {certificate.n_features:,} features, "
            f"but X has {rows.shape[0]:,} and {rows.shape[1]:,}"
        )
    always = certificate.support if isinstance(certificate, Separable) else certificate.points
    shown = _two_sided(certificate, rows, X, y, always.tolist(), names, max_points)
    return draw_verdict(certificate, shown, ax)


def draw_verdict(certificate: Any, shown: Sample, ax: Any) -> Axes:
    """A certificate of two sides among rows that were chosen already; they get the names of its sides."""
    names = np.array([_side_name(certificate.data.negative), _side_name(certificate.data.positive)], dtype=object)
    shown = replace(shown, classes=names)
    if isinstance(certificate, Separable):
        return _separable(certificate, shown, ax)
    if isinstance(certificate, Inseparable):
        return (
            _through_origin(certificate, shown, ax)
            if not certificate.fit_intercept
            else _meeting(certificate, shown, ax)
        )
    return _undecided(certificate, shown, ax)


def _two_sided(
    certificate: Any, rows: inputs.Rows, X: Any, y: Any, always: list[int], names: Any, limit: int
) -> Sample:
    """A sample whose classes are the certificate's two sides; rows that it ignores are left out."""
    labels = inputs.labels(y, len(rows)).tolist()
    data = certificate.data
    side = dict.fromkeys(data.negative, -1) | dict.fromkeys(data.positive, +1)
    known = set(data.ignored)
    signs = np.array([side.get(label, 0) for label in labels], dtype=np.int8)
    unknown = [label for label, sign in zip(labels, signs.tolist(), strict=True) if sign == 0 and label not in known]
    if unknown:
        raise InputError(f"the label {unknown[0]!r} of y is none of which the certificate speaks: is it of this data?")
    spoken = np.flatnonzero(signs)
    shown = sample(
        X if len(spoken) == len(signs) else rows.take(spoken),
        signs[spoken],
        classes=np.array([-1, 1], np.int8),
        always=np.searchsorted(spoken, always).tolist(),
        limit=limit,
        names=names if names is not None else rows.feature_names,
    )
    return replace(shown, rows=spoken[shown.rows])


def _side_name(labels: Sequence[Any]) -> str:
    shown = " or ".join(style.label_name(label) if k == 0 else style.short(label) for k, label in enumerate(labels[:3]))
    return shown if len(labels) <= 3 else "the rest"


# Separable ------------------------------------------------------------------------------------------------------------


def _separable(certificate: Separable, shown: Sample, ax: Any) -> Axes:
    plane = certificate.hyperplane
    view = view_of(shown, plane)
    points = positions(view, shown)
    ax = style.axes_for(ax, fitting_size(points, view))
    handles = draw_plane(ax, view, points, plane, shown, certificate.margin, normal=False)
    support = shown.places(certificate.support)
    if len(support) and not view.flat:
        ends = _nearest_points(certificate, shown, view)
        if ends is not None:
            for sign, code in ((-1, 0), (+1, 1)):
                own = points[support][shown.codes[support] == code]
                marks.draw_hull(ax, own, colour=style.SIDES[sign].colour, gid=f"hull{sign:+d}", fill=0.12)
            (line,) = ax.plot(*ends.T, color=style.INK, lw=1.3, marker=".", ms=5, gid="nearest", zorder=5.5)
            line.set_label("nearest points of the hulls")
            handles.append(line)
    if len(support):
        looks = (style.NEGATIVE, style.POSITIVE)
        handles.append(marks.draw_outlines(ax, points[support], shown.codes[support], looks, shown=len(points)))
    through = "" if certificate.fit_intercept else " through the origin"
    words = f"Separable{through}: margin at least {style.number(certificate.margin)}, no hyperplane has more than "
    words += f"{style.number(certificate.margin_upper_bound)}"
    if certificate.margin_upper_bound == float("inf"):
        words = f"Separable{through}: margin at least {style.number(certificate.margin)}"
    elif style.number(certificate.margin) == style.number(certificate.margin_upper_bound):
        words = f"Separable{through}: the largest margin is {style.number(certificate.margin)}"
    style.title(ax, words, view.note, shown.note)
    style.legend_below(ax, handles)
    return ax


def _nearest_points(certificate: Separable, shown: Sample, view: View) -> FloatArray | None:
    """The two points, one of each class's hull, that the support's weights name; None if not all rows are there."""
    places = shown.places(certificate.support)
    if not certificate.fit_intercept or len(places) != len(certificate.support):
        return None
    order = np.argsort(certificate.support)
    weights = np.array([float(weight) for weight in certificate.support_weights])[order]
    ends = []
    for code in (0, 1):
        own = shown.codes[places] == code
        total = weights[own].sum()
        if not own.any() or not total > 0:
            return None
        ends.append(weights[own] / total @ dense(shown.X[places[own]]))
    return view.points(np.array(ends))


# Not separable --------------------------------------------------------------------------------------------------------


def _meeting(certificate: Inseparable, shown: Sample, ax: Any) -> Axes:
    places = shown.places(certificate.points)
    view = _witness_view(shown, dense(shown.X[places]))
    points = positions(view, shown)
    if view.flat:
        points[places, 1] = 0.0  # on one line, where they meet
    common = meeting_point(certificate, shown)
    here = view.points(common[None, :])[0]
    ax = style.axes_for(ax, fitting_size(points, view))
    _frame(ax, view, points)
    handles = marks.draw_points(ax, points, shown, (style.NEGATIVE, style.POSITIVE))
    for points_of_class in handles:
        points_of_class.set_alpha(0.35)
    for sign, code in ((-1, 0), (+1, 1)):
        own = places[shown.codes[places] == code]
        marks.draw_hull(ax, points[own], colour=style.SIDES[sign].colour, gid=f"hull{sign:+d}", fill=0.18, width=1.6)
    looks = (style.NEGATIVE, style.POSITIVE)
    outlined = marks.draw_outlines(ax, points[places], shown.codes[places], looks, shown=len(points))
    outlined.set_label(f"rows that prove it ({len(places)})")
    handles += [outlined, _draw_meeting_point(ax, here, "in both hulls")]
    _name_rows(ax, points[places], shown.rows[places], here)
    style.title(ax, _witness_words(certificate), view.note, shown.note)
    style.legend_below(ax, handles)
    return ax


def meeting_point(certificate: Inseparable, shown: Sample) -> FloatArray:
    """The point that the hulls of both classes' rows contain: their weighted mean, the same of either class."""
    places = shown.places(certificate.points)
    order = np.argsort(certificate.points)
    weights = np.array([float(weight) for weight in certificate.weights])[order]
    own = certificate.signs[order] > 0
    return np.asarray(weights[own] / weights[own].sum() @ dense(shown.X[places[own]]))


def _through_origin(certificate: Inseparable, shown: Sample, ax: Any) -> Axes:
    """Through the origin: y·x for x, and a hull that contains the origin."""
    places = shown.places(certificate.points)
    signed = shown.X.multiply(shown.signs[:, None]).tocsr() if hasattr(shown.X, "multiply") else None
    reflected = replace(shown, X=shown.X * shown.signs[:, None] if signed is None else signed)
    view = _witness_view(reflected, dense(reflected.X[places]))
    points = positions(view, reflected)
    if view.flat:
        points[places, 1] = 0.0
    here = view.points(np.zeros((1, shown.n_features)))[0]
    ax = style.axes_for(ax, fitting_size(points, view))
    _frame(ax, view, np.concatenate([points, here[None, :]]))
    handles = marks.draw_points(ax, points, reflected, (style.NEGATIVE, style.POSITIVE))
    for points_of_class in handles:
        points_of_class.set_alpha(0.35)
    marks.draw_hull(ax, points[places], colour=style.INK, gid="hull", fill=0.08, width=1.6)
    looks = (style.NEGATIVE, style.POSITIVE)
    outlined = marks.draw_outlines(ax, points[places], shown.codes[places], looks, shown=len(points))
    outlined.set_label(f"rows that prove it ({len(places)})")
    handles += [outlined, _draw_meeting_point(ax, here, "the origin, in their hull")]
    _name_rows(ax, points[places], shown.rows[places], here)
    words = "Not separable through the origin: with the rows of "
    words += f"{shown.classes[0]} reflected, the hull of {_rows_named(certificate.points.tolist())} contains it"
    style.title(ax, words, view.note, shown.note)
    style.legend_below(ax, handles)
    return ax


def _witness_view(shown: Sample, witness: FloatArray) -> View:
    """The plane in which the rows of a witness are farthest apart."""
    if shown.n_features <= 2:
        return view_of(shown, None)
    note = f"Projection of {shown.n_features:,} features on the plane in which these rows vary most."
    return widest_view(witness, note)


def _frame(ax: Axes, view: View, points: FloatArray) -> None:
    marks.frame(ax, points, flat=view.flat, equal=view.equal)
    ax.set_xlabel(style.short(view.labels[0], 40))
    ax.set_ylabel(style.short(view.labels[1], 40))


def _draw_meeting_point(ax: Axes, point: FloatArray, label: str) -> Any:
    return ax.plot(
        *point,
        marker="*",
        ms=15 * style.unit(ax),
        mfc="#F0E442",
        mec=style.INK,
        mew=1.1,
        ls="none",
        label=label,
        gid="meeting",
        zorder=8,
    )[0]


def _name_rows(ax: Axes, points: FloatArray, rows: Any, away_from: FloatArray) -> None:
    """The numbers of rows beside them, on the side away from where they meet."""
    if len(rows) > _NAMED:
        return
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    named: dict[tuple[float, ...], str] = {}
    for point, row in zip(points.tolist(), rows.tolist(), strict=True):
        place = tuple(point)
        named[place] = f"{named[place]} = {row}" if place in named else str(row)
    for place, name in named.items():
        point = np.array(place)
        step = (point - away_from) / size
        length = float(np.linalg.norm(step))
        step = step / length if length > 1e-9 else np.array([0.0, 1.0])
        ax.annotate(
            name,
            xy=place,
            xytext=tuple((13 + 2 * (len(name) > 3)) * step * max(0.8, style.unit(ax))),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize="small",
            zorder=9,
            path_effects=marks.halo(),
        )


def _witness_words(certificate: Inseparable) -> str:
    if certificate.duplicates:
        return f"Not separable: {_rows_named(certificate.points.tolist())} are equal, with opposite labels"
    positive = certificate.points[certificate.signs > 0].tolist()
    negative = certificate.points[certificate.signs < 0].tolist()
    if len(positive) + len(negative) > _NAMED:
        return f"Not separable: the hulls of {counted(len(positive), 'row')} and {len(negative)} meet"
    return f"Not separable: the hulls of rows {', '.join(map(str, positive))} and {', '.join(map(str, negative))} meet"


def _rows_named(rows: list[int]) -> str:
    if len(rows) > _NAMED:
        return counted(len(rows), "row")
    return f"row {rows[0]}" if len(rows) == 1 else f"rows {', '.join(map(str, rows[:-1]))} and {rows[-1]}"


# Others ---------------------------------------------------------------------------------------------------------------


def _undecided(certificate: Undecided, shown: Sample, ax: Any) -> Axes:
    plane = certificate.hyperplane
    view = view_of(shown, plane)
    points = positions(view, shown)
    ax = style.axes_for(ax, fitting_size(points, view))
    if plane is not None:
        handles = draw_plane(ax, view, points, plane, shown, None, normal=True)
    else:
        _frame(ax, view, points)
        handles = marks.draw_points(ax, points, shown, (style.NEGATIVE, style.POSITIVE))
    upper = certificate.upper
    words = (
        "Undecided"
        if upper == float("inf")
        else f"Undecided: if separable, the margin is at most {style.number(upper)}"
    )
    style.title(ax, words, "The best hyperplane so far." if plane is not None else "", view.note, shown.note)
    style.legend_below(ax, handles)
    return ax


def _table(table: CertificateTable, X: Any, y: Any, ax: Any, names: Any, limit: int) -> list[Axes]:
    if len(table) > _MOST_PANELS:
        raise InputError(f"the table has {len(table)} certificates: draw one of them, certificate(table[key], X, y)")
    axes = style.panels(ax, len(table), panel=(3.7, 4.0))
    for panel, own in zip(axes, table.values(), strict=True):
        certificate(own, X, y, ax=panel, names=names, max_points=limit)
    style.fit_limits(axes)
    return axes


def _joint(certificate: Any, X: Any, y: Any, ax: Any, names: Any, limit: int) -> Axes:
    if certificate.n_features != 2:
        raise InputError(
            f"a joint certificate is drawn for two features, and this data has {certificate.n_features}: "
            "draw the pairs of classes instead, certificate(certify(X, y, multi_class='ovo'), X, y)"
        )
    if isinstance(certificate, JointSeparable):
        words = f"Jointly separable: the least lead is {style.number(certificate.margin)} with ‖W‖ = 1"
        return boundary(_Highest(certificate), X, y, ax=ax, names=names, title=words, max_points=limit)
    if isinstance(certificate, JointUndecided):
        raise InputError("of an undecided joint certificate there is nothing to draw")
    shown = sample(X, y, classes=np.array(certificate.classes), always=certificate.points, limit=limit, names=names)
    from rosenblatt.plot.boundaries import looks_for

    view = view_of(shown, None)
    points = positions(view, shown)
    ax = style.axes_for(ax, fitting_size(points, view))
    _frame(ax, view, points)
    looks = looks_for(len(shown.classes))
    handles = marks.draw_points(ax, points, shown, looks)
    places = shown.places(certificate.points)
    outlined = marks.draw_outlines(ax, points[places], shown.codes[places], looks, shown=len(points))
    outlined.set_label(f"rows that prove it ({len(places)})")
    style.title(ax, f"Not jointly separable: no W has {_rows_named(shown.rows[places].tolist())} right", shown.note)
    style.legend_below(ax, [*handles, outlined])
    return ax


class _Highest:
    """The class of the highest score, as a classifier that can be drawn."""

    def __init__(self, certificate: JointSeparable) -> None:
        self.classes_ = np.array(certificate.classes)
        self.coef_, self.intercept_ = certificate.coef, certificate.intercept

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(dense(X) @ self.coef_.T + self.intercept_)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.decision_function(inputs.rows(X).take(np.arange(len(X)))).argmax(axis=1)]
