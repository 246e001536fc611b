"""Mistakes: of each pass, in all, and beside the most that there can be."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.certificates import JointSeparable, Separable
from rosenblatt.checking import mistake_bounds
from rosenblatt.errors import InputError, counted
from rosenblatt.inputs import IntArray
from rosenblatt.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BARS = 60  # passes that are drawn one by one
_LARGEST = 1e300  # bound that is drawn; a larger one need not be a float, and is only told
_FAR = 6.0  # how many times the mistakes made the bound may be before the axis is a logarithm


@style.drawn
def mistakes(model: Any, *, bound: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the mistakes of each pass, and all so far, beside the most that the data allows.

    Parameters
    ----------
    model : a fitted perceptron, or a Trace
        What made the mistakes: `Perceptron`, `AveragedPerceptron`, `VotedPerceptron`, `KernelPerceptron`.
    bound : number, Separable or JointSeparable, optional
        The most mistakes that there can be; of a certificate its `mistake_bound`, which holds for a run from 0 with
        the certificate's `fit_intercept`, without weights and margin, in any order.
    ax : Axes, optional
        Where to draw; new axes if not given.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from rosenblatt import plot
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    >>> model = rb.Perceptron(shuffle=False).fit(X, y)
    >>> axes = plot.mistakes(model, bound=rb.certify(X, y))
    >>> axes.get_title(loc="left")
    '18 mistakes in 8 passes, then none; at most 51'
    """
    counts = _counts(model)
    most = _bound(bound, _margin(model))
    total = int(counts.sum())
    ax = style.axes_for(ax, (5.0, 3.3))
    handles = _draw_counts(ax, counts)
    if most is not None and most < _LARGEST:
        line = ax.axhline(float(most), color=style.VERMILLION, lw=1.4, ls=(0, (6, 3)), gid="bound")
        line.set_label(f"bound: {_in_figures(most)}")
        handles.append(line)
    _scale(ax, counts, total, most)
    ax.set_xlabel("pass over the rows")
    ax.set_ylabel("mistakes")
    _entitle(ax, counts, total, most, getattr(model, "converged_", getattr(model, "converged", None)))
    style.legend_below(ax, handles)
    return ax


def _counts(model: Any) -> IntArray:
    counts = getattr(model, "mistakes_per_pass_", getattr(model, "mistakes_per_pass", None))
    if counts is None:
        raise InputError(
            f"{type(model).__name__} has no mistakes_per_pass_: give a fitted perceptron (fit it first), or a Trace"
        )
    counts = np.asarray(counts, dtype=np.int64)
    if len(counts) == 0:
        raise InputError("no pass was made, so there are no mistakes to draw")
    return counts


def _margin(model: Any) -> float:
    """The parameter of an estimator, of a Trace or of a TrainedModel."""
    parameters = getattr(model, "parameters", {})
    return float(parameters.get("margin", 0.0) if parameters else getattr(model, "margin", 0.0))


def _bound(bound: Any, margin: float) -> float | int | None:
    if isinstance(bound, (Separable, JointSeparable)):
        if margin:
            raise InputError(
                f"the mistake bound of a certificate is that of margin=0, and this run had margin={margin:g}: give "
                "bound=trace(X, y, ...).proof(certificate).bound"
            )
        return bound.mistake_bound
    if bound is None:
        return None
    try:
        right = bool(bound >= 0)
    except (TypeError, ValueError):
        raise InputError(f"bound must be a number or a certificate of separability, got {bound!r}") from None
    if not right:
        raise InputError(f"bound must be 0 or more, got {bound}")
    return bound  # type: ignore[no-any-return]


def _draw_counts(ax: Axes, counts: IntArray) -> list[Any]:
    passes, so_far = np.arange(1, len(counts) + 1), np.cumsum(counts)
    if len(counts) <= _BARS:
        bars = ax.bar(passes, counts, width=0.72, color="#9CC7E0", label="in the pass", zorder=2)
        (line,) = ax.plot(
            passes, so_far, color=style.INK, lw=1.6, marker="o", ms=3.2, label="so far", gid="so far", zorder=3
        )
        from matplotlib.ticker import MaxNLocator

        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8))
        ax.set_xlim(0.4, len(counts) + 0.6)
        return [bars, line]
    # Too many to show each: the fewest, the median and the most of neighbours on a logarithmic axis.
    edges = np.unique(np.geomspace(1, len(counts) + 1, 80).astype(int))
    groups = [counts[first - 1 : last - 1] for first, last in pairwise(edges)]
    low, middle, high = np.array([(g.min(), np.median(g), g.max()) for g in groups]).T
    centres = np.sqrt(edges[:-1] * np.maximum(edges[1:] - 1, edges[:-1]))
    area = ax.fill_between(
        centres, low, high, color="#9CC7E0", lw=0, label="in a pass: fewest to most of neighbours", zorder=2
    )
    (median,) = ax.plot(centres, middle, color=style.BLUE, lw=1.3, label="median", zorder=2.5)
    picked = np.unique(np.concatenate([edges[:-1], [len(counts)]])) - 1
    (line,) = ax.plot(passes[picked], so_far[picked], color=style.INK, lw=1.6, label="so far", gid="so far", zorder=3)
    ax.set_xscale("log")
    ax.set_xlim(0.9, len(counts) * 1.12)
    from matplotlib.ticker import FuncFormatter

    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return [area, median, line]


def _scale(ax: Axes, counts: IntArray, total: int, most: float | int | None) -> None:
    """A logarithm, which begins with 0 all the same, where the numbers are far apart."""
    top = max([total, *([float(most)] if most is not None and most < _LARGEST else [])])
    spread = top / max(1, float(np.median(counts[counts > 0])) if (counts > 0).any() else 1)
    from matplotlib.ticker import FuncFormatter

    if top > _FAR * max(total, 1) or spread > 200:
        ax.set_yscale("symlog", linthresh=1, linscale=0.5)
        ax.set_ylim(0, top * 2.2)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _in_figures(value)))
    else:
        from matplotlib.ticker import MaxNLocator

        ax.set_ylim(0, max(top, 1) * 1.08)
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _in_figures(value)))


def _entitle(ax: Axes, counts: IntArray, total: int, most: float | int | None, converged: bool | None) -> None:
    words = f"{counted(total, 'mistake')} in {len(counts):,} pass{'' if len(counts) == 1 else 'es'}"
    if converged and counts[-1] == 0 and total:
        before = len(counts) - 1
        words = f"{counted(total, 'mistake')} in {before:,} pass{'' if before == 1 else 'es'}, then none"
    if most is not None:
        words += f"; at most {_in_figures(most)}" if most < math.inf else "; no bound is known"
    style.title(ax, words)


def _in_figures(value: float | int) -> str:
    if value >= _LARGEST:
        return mistake_bounds.count(value)
    return f"{int(value):,}" if value < 1e7 else style.number(float(value))
