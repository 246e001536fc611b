"""A hyperplane among points in space: the plane, its margins, and the walls behind tinted by side."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray
from rosenblatt.plot import marks, style
from rosenblatt.plot.samples import Sample, dense
from rosenblatt.plot.views import in_range


def draw(ax: Any, plane: Hyperplane, shown: Sample, band: float | None, normal: bool) -> list[Any]:
    """All but the rings; what a legend says of it."""
    points = dense(shown.X)
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    low, high = low - 0.08 * span, high + 0.08 * span
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_zlim(low[2], high[2])
    if max(span) <= 4 * min(span):
        # Of one scale, w is seen at right angles to the plane. Small axes leave their labels more room.
        ax.set_box_aspect(tuple(high - low), zoom=0.86 if style.unit(ax) < 0.9 else 1.1)
    ax.computed_zorder = False  # the walls are behind all else, and points are never hidden
    ax.view_init(elev=18, azim=_azimuth(plane.w))
    from matplotlib.ticker import MaxNLocator

    small = style.unit(ax) < 0.9
    size = style.points(style.library().rcParams["axes.labelsize"])
    away = 0.8 * size if small else max(4.0, 1.7 * size - 11.4)  # numbers of larger axes stand farther out
    for number, setter in enumerate((ax.set_xlabel, ax.set_ylabel, ax.set_zlabel)):
        setter(style.short(shown.feature(number), 24), labelpad=away)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        if small:
            axis.set_major_locator(MaxNLocator(4))
        axis.set_pane_color((1, 1, 1, 0))
        axis._axinfo["grid"].update(color="#E2E2E2", linewidth=0.5)
    handles = marks.draw_points(ax, points, shown, (style.NEGATIVE, style.POSITIVE))
    for points_of_class in handles:
        points_of_class.set_alpha(1.0)
    if not plane.w.any():
        return handles
    plane = in_range(plane)
    _draw_walls(ax, plane, low, high)
    size = float(np.linalg.norm(plane.w))
    _draw_section(ax, plane.w, plane.b, low, high, style.INK, 0.16, "-", "boundary")
    if band is not None and band > 0:
        for sign in (+1, -1):
            shifted = plane.b - sign * band * size
            _draw_section(ax, plane.w, shifted, low, high, style.GREY, 0.0, (0, (4, 3)), f"margin{sign:+d}")
        from matplotlib.lines import Line2D

        handles.append(Line2D([], [], color=style.GREY, lw=0.9, ls=(0, (4, 3)), label=f"margin {style.number(band)}"))
    if normal:
        start = plane.project((low + high) / 2)
        step = plane.w / size * 0.3 * float(np.linalg.norm(high - low)) / np.sqrt(3)
        ax.quiver(*start, *step, color=style.INK, linewidth=1.8, arrow_length_ratio=0.22, gid="normal", zorder=6)
        ax.text(*(start + 1.18 * step), "w", color=style.INK, weight="bold", zorder=7, path_effects=marks.halo())
    return handles


def section(w: FloatArray, b: float, low: FloatArray, high: FloatArray) -> FloatArray:
    """The polygon that a plane cuts out of a box, its corners in order; empty if it misses the box."""
    corners = []
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        for ends in itertools.product((0, 1), repeat=2):
            start = np.empty(3)
            start[others] = [(low, high)[end][other] for end, other in zip(ends, others, strict=True)]
            if w[axis] == 0:
                continue
            start[axis] = 0.0
            value = -(w @ start + b) / w[axis]
            if low[axis] <= value <= high[axis]:
                start[axis] = value
                corners.append(start)
    if len(corners) < 3:
        return np.empty((0, 3))
    points = np.array(corners)
    middle = points.mean(axis=0)
    along = points[0] - middle
    across = np.cross(w, along)
    angles = np.arctan2((points - middle) @ across / max(np.linalg.norm(across), 1e-300), (points - middle) @ along)
    return np.asarray(points[np.argsort(angles)])


def _draw_section(
    ax: Any, w: FloatArray, b: float, low: FloatArray, high: FloatArray, colour: str, fill: float, dashes: Any, gid: str
) -> None:
    from matplotlib.colors import to_rgba
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    corners = section(w, b, low, high)
    if len(corners) == 0:
        return
    polygon = Poly3DCollection([corners], facecolors=[to_rgba(colour, fill)], edgecolors=[colour], gid=gid, zorder=1)
    polygon.set_linewidth(1.3 if fill else 0.9)
    polygon.set_linestyle(dashes)
    ax.add_collection3d(polygon)


def _draw_walls(ax: Any, plane: Hyperplane, low: FloatArray, high: FloatArray) -> None:
    """The floor and the two walls behind, each part in the tint of its side."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    angle = np.deg2rad(ax.azim)
    behind = [low[0] if np.cos(angle) > 0 else high[0], low[1] if np.sin(angle) > 0 else high[1], low[2]]
    for axis in range(3):
        one, other = (i for i in range(3) if i != axis)
        wall = np.empty((4, 3))
        wall[:, axis] = behind[axis]
        wall[:, one] = [low[one], high[one], high[one], low[one]]
        wall[:, other] = [low[other], low[other], high[other], high[other]]
        for sign, look in style.SIDES.items():
            part = marks.clipped(wall, sign * plane.w, sign * plane.b)
            if len(part) >= 3:
                ax.add_collection3d(
                    Poly3DCollection([part], facecolors=[look.tint], edgecolors="none", zorder=0, gid=f"side{sign:+d}")
                )


def _azimuth(w: FloatArray) -> float:
    """From where the plane is seen almost from its edge."""
    return float(np.rad2deg(np.arctan2(w[1], w[0]))) - 62 if w[:2].any() else -60.0
