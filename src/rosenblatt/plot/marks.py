"""What pictures in the plane are made of: points, sides, lines, bands, arrows and rings.

A line is given as (a, c): the points p with a·p + c = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.inputs import FloatArray, IntArray
from rosenblatt.plot import style
from rosenblatt.plot.samples import Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STRETCHED = 4.0  # between the ranges of two features, up to which they have one scale
_BEYOND = 8.0  # how far sides are drawn beyond the limits, which axes of equal scale may widen


# Points ---------------------------------------------------------------------------------------------------------------


def frame(ax: Axes, points: FloatArray, *, flat: bool = False, equal: bool = False) -> None:
    """Set limits around the points, if asked for with one scale for both axes where that leaves something to see."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    if flat:
        low[1], high[1], span[1] = -1.0, 1.0, 0.6
        ax.yaxis.set_visible(False)
        ax.spines["left"].set_visible(False)
    # As data and not as fixed limits: axes of one scale may then widen them without a word in the log.
    ax.margins(0)
    ax.update_datalim([tuple(low - 0.1 * span), tuple(high + 0.1 * span)])
    ax.autoscale_view()
    if equal and max(span) <= _STRETCHED * min(span):
        ax.set_aspect("equal", adjustable="datalim")
        ax.apply_aspect()


def marker_size(ax: Axes, count: int) -> float:
    """The area of a marker, in square points: smaller where there are many."""
    crowd = min(1.25, max(0.42, (120 / max(count, 1)) ** 0.25))
    return float((6.0 * style.unit(ax) * crowd) ** 2)


def draw_points(ax: Any, points: FloatArray, shown: Sample, looks: Sequence[style.Look]) -> list[Any]:
    """The points by class; what a legend says of them."""
    handles = []
    area, many = marker_size(ax, len(points)), len(points) > 800
    for number, (name, look) in enumerate(zip(shown.classes.tolist(), looks, strict=True)):
        own = points[shown.codes == number]
        handles.append(
            ax.scatter(
                *own.T,
                s=area * (1.15 if look.marker in "^v*" else 1.0),  # of equal area a triangle looks smaller
                c=look.colour,
                marker=look.marker,
                edgecolors=look.edge,
                linewidths=0.25 if many else 0.5,
                alpha=0.75 if many else None,
                label=f"{style.label_name(name)} ({shown.counts[number]:,})",
                zorder=3,
            )
        )
    return handles


def draw_rings(ax: Any, points: FloatArray, label: str, *, shown: int = 0) -> Any:
    """A ring around each of the points."""
    area = marker_size(ax, max(shown, len(points)))
    return ax.scatter(
        *points.T,
        s=area * 4.0,
        facecolors="none",
        edgecolors=style.INK,
        linewidths=ring_width(ax),
        label=label,
        zorder=4,
    )


def ring_width(ax: Axes) -> float:
    """Of a ring, in points."""
    return 1.1 * min(1.2, style.unit(ax))


def draw_outlines(ax: Any, points: FloatArray, codes: IntArray, looks: Sequence[style.Look], *, shown: int) -> Any:
    """The points once more, larger, with a heavy black outline: those on which something rests."""
    few = len(points) <= 12
    area, width = marker_size(ax, shown) * (1.9 if few else 1.25), (1.5 if few else 1.0) * min(1.0, style.unit(ax))
    for number, look in enumerate(looks):
        own = points[codes == number]
        ax.scatter(
            *own.T,
            s=area,
            c=look.colour,
            marker=look.marker,
            edgecolors=style.INK,
            linewidths=width,
            zorder=5,
            gid="support",
        )
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        linestyle="none",
        marker="s",
        markersize=6,
        markerfacecolor="white",
        markeredgecolor=style.INK,
        markeredgewidth=width,
        label=f"support ({len(points):,})",
    )


# Lines and sides ------------------------------------------------------------------------------------------------------


def foot(a: FloatArray, c: float, point: FloatArray) -> FloatArray:
    """The point of the line that is nearest to a point."""
    return np.asarray(point - (a @ point + c) / (a @ a) * a)


def draw_line(ax: Axes, a: FloatArray, c: float, **look: Any) -> Any:
    """The whole line, however far the axes reach."""
    start = foot(a, c, centre(ax))
    along = np.array([-a[1], a[0]]) / np.linalg.norm(a) * reach(ax)
    with style.fixed_limits(ax):
        return ax.axline(tuple(start), tuple(start + along), **look)


def draw_sides(ax: Axes, a: FloatArray, c: float) -> None:
    """The two halfplanes, tinted."""
    for sign, look in style.SIDES.items():
        part = clipped(_wide_box(ax), sign * a, sign * c)
        if len(part) >= 3:
            _add_polygon(ax, part, facecolor=look.tint, gid=f"side{sign:+d}", zorder=0)


def draw_band(ax: Axes, a: FloatArray, c: float, width: float) -> Any:
    """The points at most `width` from the line: a street without tint, dashed along its edges; for the legend."""
    shift = width * float(np.linalg.norm(a))
    strip = clipped(clipped(_wide_box(ax), a, c + shift), -a, shift - c)
    if len(strip) >= 3:
        _add_polygon(ax, strip, facecolor="white", gid="band", zorder=0.5)
    for sign in (+1, -1):
        edge = draw_line(ax, a, c - sign * shift, color=style.INK, lw=0.9, ls=(0, (5, 3)), zorder=2)
        edge.set_gid(f"margin{sign:+d}")
    edge.set_label(f"margin {style.number(width)}")
    return edge


def draw_normal(ax: Axes, a: FloatArray, c: float, points: FloatArray, *, name: str = "w") -> None:
    """An arrow from the line along w, where it hides few points."""
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
    along, up = np.array([-a[1], a[0]]), a
    along, up = (step / float(np.linalg.norm(step / size)) for step in (along, up))  # as long as the axes are wide
    middle = foot(a, c, centre(ax))
    best, room = None, -1.0
    for place in np.linspace(-0.6, 0.6, 17):
        start = middle + place * along
        tip = start + 0.19 * up
        if not all(_inside(ax, end) for end in (start, tip + 0.06 * up)):
            continue
        stations = np.stack([start + share * (tip - start) for share in (0.15, 0.5, 0.8, 1.0, 1.25)])
        gaps = np.linalg.norm((points[:, None, :] - stations[None, :, :]) / size, axis=2)
        nearest = float(gaps.min()) if len(points) else 1.0
        if nearest > room + 1e-9:
            best, room = (start, tip), nearest
    if best is None:
        return
    draw_arrow(ax, *best, colour=style.INK, name=name)


def draw_arrow(
    ax: Axes, start: FloatArray, tip: FloatArray, *, colour: str, name: str = "", dashes: Any = "-", width: float = 1.6
) -> Any:
    """An arrow, in bold letters what it is."""
    arrow = ax.annotate(
        "",
        xy=tuple(tip),
        xytext=tuple(start),
        arrowprops={
            "arrowstyle": "-|>,head_width=0.28,head_length=0.55",
            "color": colour,
            "lw": width,
            "ls": dashes,
            "mutation_scale": 10 * min(1.3, style.unit(ax)),
            "shrinkA": 0,
            "shrinkB": 0,
            "joinstyle": "miter",
        },
        zorder=6,
        annotation_clip=False,
    )
    if name:
        step = (tip - start) / np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
        write_beside(ax, tip, step, name, colour)
    return arrow


def write_beside(ax: Axes, point: FloatArray, away: FloatArray, words: str, colour: str) -> None:
    """Bold words on one side of a point; `away` says on which, in parts of the axes."""
    across, up = away / max(float(np.linalg.norm(away)), 1e-12)
    ax.annotate(
        words,
        xy=(float(point[0]), float(point[1])),
        xytext=(4 * across, 4 * up),
        textcoords="offset points",
        ha="left" if across > 0.4 else "right" if across < -0.4 else "center",
        va="bottom" if up > 0.4 else "top" if up < -0.4 else "center",
        color=colour,
        weight="bold",
        zorder=7,
        path_effects=halo(),
    )


def halo(width: float = 2.5) -> list[Any]:
    """White around letters, so that they are read on anything."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=width, foreground="white", alpha=0.85)]


def draw_hull(ax: Axes, points: FloatArray, *, colour: str, gid: str, fill: float = 0.0, width: float = 1.2) -> Any:
    """The convex hull of points in the plane: a polygon, a segment or a point."""
    corners = hull(points)
    if len(corners) < 3:
        return ax.plot(*corners.T, color=colour, lw=2.2 * width, solid_capstyle="round", gid=gid, zorder=2.5)[0]
    from matplotlib.colors import to_rgba

    return _add_polygon(
        ax, corners, facecolor=to_rgba(colour, fill), edgecolor=colour, linewidth=width, gid=gid, zorder=2.5
    )


# Geometry of the plane ------------------------------------------------------------------------------------------------


def centre(ax: Axes) -> FloatArray:
    """The middle of the axes."""
    return np.array([np.mean(ax.get_xlim()), np.mean(ax.get_ylim())])


def reach(ax: Axes) -> float:
    """The diagonal of the axes."""
    return float(np.hypot(np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())))


def clipped(polygon: FloatArray, a: FloatArray, c: float) -> FloatArray:
    """The part of a convex polygon (in any dimension) where a·p + c >= 0."""
    if len(polygon) == 0:
        return polygon
    heights = polygon @ a + c
    kept: list[FloatArray] = []
    for i in range(len(polygon)):
        j = (i + 1) % len(polygon)
        if heights[i] >= 0:
            kept.append(polygon[i])
        if (heights[i] >= 0) != (heights[j] >= 0):
            share = heights[i] / (heights[i] - heights[j])
            kept.append(polygon[i] + share * (polygon[j] - polygon[i]))
    return np.array(kept).reshape(-1, polygon.shape[1])


def hull(points: FloatArray) -> FloatArray:
    """The corners of the convex hull, counter-clockwise (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered

    def chain(run: NDArray[Any]) -> list[FloatArray]:
        kept: list[FloatArray] = []
        for point in run:
            while len(kept) >= 2 and _turn(kept[-2], kept[-1], point) <= 0:
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _turn(p: FloatArray, q: FloatArray, r: FloatArray) -> float:
    return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))


def _inside(ax: Axes, point: FloatArray) -> bool:
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    return bool(left <= point[0] <= right and low <= point[1] <= high)


def _wide_box(ax: Axes) -> FloatArray:
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    more, higher = _BEYOND * (right - left), _BEYOND * (high - low)
    left, right, low, high = left - more, right + more, low - higher, high + higher
    return np.array([[left, low], [right, low], [right, high], [left, high]])


def _add_polygon(ax: Axes, corners: FloatArray, **look: Any) -> Any:
    from matplotlib.patches import Polygon

    polygon = Polygon(corners, closed=True, **({"linewidth": 0} | look))
    return ax.add_artist(polygon)  # and not add_patch, which would count it among the data
