"""The convergence proof at work: two lemmas that leave a run less and less room, and none beyond the bound."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.errors import InputError, counted
from rosenblatt.inputs import FloatArray
from rosenblatt.plot import style
from rosenblatt.traces import Trace
from rosenblatt.tracing.proof import Proof

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAR = 6.0  # how many times the mistakes made the bound may be before the axes are logarithms
_FARTHEST = 1e15


@style.drawn
def proof(trace: Any, certificate: Any = None, *, problem: int = 0, ax: Axes | None = None) -> Axes:
    """Draw both lemmas of the convergence proof beside a run, and where they leave no room.

    With w* of length 1, w*·w is never more than ‖w‖. The first lemma is a floor under it, w*·w₀ + γk, the second a
    ceiling over ‖w‖, √(‖w₀‖² + R²k): where they cross there is no room left, and that is the bound on the mistakes.
    A run with a `margin` has (1 + 2 margin) R² in place of R².

    Parameters
    ----------
    trace : Trace or Proof
        What `rosenblatt.trace` returned, or the `proof` of it.
    certificate : Separable or JointSeparable, optional
        What `certify` proved of the same data, with the same ``fit_intercept``; by default that of the trace.
    problem : int, default 0
        The number of the class in one-against-rest, else 0.
    ax : Axes, optional
        Where to draw; new axes if not given.

    Returns
    -------
    Axes
    """
    shown = trace.proof(certificate, problem) if isinstance(trace, Trace) else trace
    if not isinstance(shown, Proof):
        raise InputError(f"trace must be what rosenblatt.trace returned, or its proof, got {type(trace).__name__}")
    if shown.n_updates == 0:
        raise InputError("the run made no mistake, so there is nothing that the lemmas could bound")
    ax = style.axes_for(ax, (5.2, 3.7))
    made = shown.n_updates
    bound = math.inf if shown.bound is None or shown.bound > _FARTHEST else float(shown.bound)
    known = bound <= _FARTHEST
    logarithmic = known and not bound <= _FAR * made
    end = (bound if known else made) * (1.6 if logarithmic else 1.12 if known else 1.0)
    along = np.geomspace(1, max(end, 2), 200) if logarithmic else np.linspace(0, end, 200)
    if not known:  # with weights the lemmas are no lines: as far as the run went
        along = np.asarray(shown.k, dtype=np.float64)
    floor, ceiling = _lemmas(shown, along)
    handles = _draw_lemmas(ax, along, floor, ceiling)
    first = 1 if logarithmic else 0
    k = np.asarray(shown.k)[first:]
    norms = np.sqrt(np.asarray(shown.squared_norm))[first:]
    dots = {"marker": "o", "ms": 3.0} if made <= 40 else {}
    (length,) = ax.plot(k, norms, color=style.VERMILLION, lw=1.5, label="‖w‖", gid="norm", zorder=4, **dots)
    marks: dict[str, Any] = {"marker": "s", "ms": 2.8} if made <= 40 else {}
    projection = np.asarray(shown.projection)[first:]
    (inner,) = ax.plot(
        k, projection, color=style.BLUE, lw=1.5, ls=(0, (4, 1.2)), label="w*·w", gid="projection", zorder=4, **marks
    )
    if known:
        handles.append(_draw_bound(ax, shown, bound))
    _scale(ax, logarithmic, along, floor, ceiling, projection)
    ax.set_xlabel("mistakes")
    ax.set_ylabel("length")
    room = f"the lemmas leave room for {_figures(bound)} at most" if known else "no bound is stated"
    style.title(ax, f"{counted(made, 'mistake')}; {room}")
    style.legend_below(ax, [length, inner, *handles])
    return ax


def _lemmas(shown: Any, k: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The floor and the ceiling at any k: both lemmas are linear, the second in the square."""
    lower, upper = np.asarray(shown.projection_bound), np.asarray(shown.squared_norm_bound)
    if len(k) == len(lower) and np.array_equal(k, shown.k):
        return lower, np.sqrt(upper)
    floor = lower[0] + (lower[-1] - lower[0]) / (len(lower) - 1) * k
    square = upper[0] + (upper[-1] - upper[0]) / (len(upper) - 1) * k
    return floor, np.sqrt(np.maximum(square, 0))


def _draw_lemmas(ax: Axes, k: FloatArray, floor: FloatArray, ceiling: FloatArray) -> list[Any]:
    (low,) = ax.plot(k, floor, color=style.BLUE, lw=1.0, label="floor: γk (lemma 1)", gid="floor", zorder=3)
    (high,) = ax.plot(
        k,
        ceiling,
        color=style.VERMILLION,
        lw=1.0,
        ls=(0, (7, 1.5)),
        label="ceiling: R√k (lemma 2)",
        gid="ceiling",
        zorder=3,
    )
    room = ceiling >= floor
    ax.fill_between(k, floor, ceiling, where=room.tolist(), color="#EFEFEF", lw=0, zorder=1)
    return [low, high]


def _draw_bound(ax: Axes, shown: Any, bound: float) -> Any:
    floor, _ = _lemmas(shown, np.array([bound]))
    return ax.plot(
        bound,
        floor[0],
        marker="*",
        ms=13 * style.unit(ax),
        mfc="#F0E442",
        mec=style.INK,
        mew=1.0,
        ls="none",
        label=f"no room: the bound, {_figures(bound)}",
        gid="bound",
        zorder=6,
        clip_on=False,
    )[0]


def _scale(
    ax: Axes, logarithmic: bool, k: FloatArray, floor: FloatArray, ceiling: FloatArray, projection: FloatArray
) -> None:
    ax.set_xlim(k[0], k[-1])
    if not logarithmic:
        ax.set_ylim(min(0.0, float(floor.min())), 1.05 * float(max(ceiling.max(), floor.max())))
        return
    from matplotlib.ticker import FuncFormatter

    plain = FuncFormatter(lambda value, _: f"{value:,.10g}" if value < 1e6 else style.number(value))
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(plain)
    positive = np.concatenate([floor[floor > 0], projection[projection > 0]])
    if len(positive) and math.isfinite(float(positive.min())):
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(plain)
        ax.set_ylim(0.7 * float(positive.min()), 1.6 * float(max(ceiling.max(), floor.max())))


def _figures(value: float) -> str:
    return f"{math.floor(value):,}" if value < 1e7 else style.number(value)
