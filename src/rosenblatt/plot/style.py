"""How every picture looks: colours that the colour-blind tell apart, shapes that print in grey, sizes that fit.

The colours are those of Okabe and Ito. Nothing is said by colour alone: a class also has its marker, a side its tint, a
line its dashes. A picture on axes of one's own follows one's own settings of matplotlib; new axes get those of here.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from rosenblatt.errors import InputError, missing_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

P = ParamSpec("P")
R = TypeVar("R")

INK, GREY, PALE = "#222222", "#6A6A6A", "#C8C8C8"
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"


@dataclass(frozen=True)
class Look:
    """How a class is drawn: its points, the tint of its side, and words about it."""

    colour: str
    tint: str
    marker: str
    edge: str = "white"


# The tints differ in lightness, so that the sides are told apart in grey too.
POSITIVE, NEGATIVE = Look(BLUE, "#C9DFEE", "o"), Look(VERMILLION, "#FDF0E6", "^")
SIDES = {+1: POSITIVE, -1: NEGATIVE}
SEVERAL = (
    Look("#0072B2", "#C9DFEE", "o"),
    Look("#D55E00", "#FBE3D2", "^"),
    Look("#009E73", "#CDEBE1", "s"),
    Look("#CC79A7", "#F6E4EE", "D"),
    Look("#E69F00", "#FBEBC8", "v"),
    Look("#56B4E9", "#DDF0FB", "P"),
    Look("#6A6A6A", "#E6E6E6", "X"),
    Look("#B8A900", "#F8F4C4", "*"),
)

SETTINGS: dict[str, Any] = {  # what is a float grows with the words
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlepad": 7.0,
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "text.color": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
    "hatch.linewidth": 0.5,
}


def library() -> Any:
    """matplotlib, or an error that says how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise missing_extra("plot", "matplotlib") from None
    return matplotlib


def drawn(function: Callable[P, R]) -> Callable[P, R]:
    """Give a function that draws the look of this library, unless it draws on axes of the caller."""

    @functools.wraps(function)
    def draw(*arguments: P.args, **named: P.kwargs) -> R:
        own = library().rc_context(SETTINGS) if named.get("ax") is None else contextlib.nullcontext()
        with own:
            return function(*arguments, **named)

    return draw


def look(text: float = 9.0) -> Any:
    """The settings that new axes get, as a context: for axes of one's own that are to look like them.

    Parameters
    ----------
    text : float, default 9
        The size of words, in points: 9 suits a page and a column of print, 16 a slide of 10 inches.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> with look():
    ...     figure, axes = plt.subplots(figsize=(3.3, 2.6), layout="constrained")  # a column of print
    >>> with look(text=16):
    ...     figure, axes = plt.subplots(figsize=(10, 5.6), layout="constrained")  # a slide
    """
    if not text > 0:
        raise InputError(f"text must be above 0, got {text}: it is the size of words in points")
    return library().rc_context(settings(text))


def settings(text: float) -> dict[str, Any]:
    """The settings with words of another size, and lines and gaps in proportion."""
    scale = text / SETTINGS["font.size"]
    return {name: round(scale * value, 3) if isinstance(value, float) else value for name, value in SETTINGS.items()}


# Axes -----------------------------------------------------------------------------------------------------------------


def axes_for(ax: Axes | None, size: tuple[float, float] = (5.0, 4.0), *, solid: bool = False) -> Axes:
    """The axes given, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection="3d") if solid else figure.add_subplot()


def panels(ax: Any, count: int, *, columns: int = 3, panel: tuple[float, float] = (2.9, 2.7)) -> list[Axes]:
    """As many axes as there are things to draw: those given, or a new grid of them."""
    if ax is not None:
        given = list(ax.flat) if hasattr(ax, "flat") else list(ax) if isinstance(ax, Sequence) else [ax]
        if len(given) < count:
            raise InputError(f"ax has {len(given)} axes for {count} panels: give as many, or leave ax out")
        for unused in given[count:]:
            unused.set_axis_off()
        return given[:count]
    import matplotlib.pyplot as plt

    across = min(columns, count)
    down = math.ceil(count / across)
    _, grid = plt.subplots(
        down, across, figsize=(panel[0] * across, panel[1] * down), layout="constrained", squeeze=False
    )
    for ax in grid.flat:  # how wide they are is asked for before they are drawn, so it is that beside a label
        ax.set(ylabel="label", yticks=[0.0], yticklabels=["−0.00"])
    lay_out(list(grid.flat))
    for ax in grid.flat:
        ax.clear()
    return panels(grid, count)


def lay_out(axes: Sequence[Axes]) -> None:
    """Give axes the place that they will have, where their figure arranges them."""
    figure: Any = axes[0].figure.figure
    if _is_laid_out(figure):
        figure.get_layout_engine().execute(figure)


def _is_laid_out(figure: Any) -> bool:
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine)


def fit_limits(axes: Sequence[Axes]) -> None:
    """Set limits anew for the place that axes have in the end: those of one scale were widened for an earlier one."""
    lay_out(axes)
    for ax in axes:
        ax.autoscale_view()


def is_solid(ax: Any) -> bool:
    """Whether axes have three dimensions."""
    return getattr(ax, "name", "") == "3d"


def unit(ax: Axes) -> float:
    """How large axes are beside those of a page: about 1 at 4 inches, less in a column of print, more on a slide."""
    box = ax.get_window_extent()
    inches = math.sqrt(float(box.width) * float(box.height)) / float(ax.figure.dpi)
    return float(min(1.6, max(0.7, (inches / 3.6) ** 0.55)))


# Words ----------------------------------------------------------------------------------------------------------------


def title(ax: Axes, *lines: str) -> None:
    """Lines above the axes, from their left edge, broken so that they fit; unbroken they are the label of the axes."""
    ax.set_label(" ".join(line if line.endswith(".") else f"{line}." for line in lines if line))
    size = points(library().rcParams["axes.titlesize"])
    width = _width(ax)
    broken = [part for line in lines if line for part in _broken(line, width, size)]
    ax.set_title("\n".join(broken), loc="left", linespacing=1.25)


def _broken(line: str, width: float, size: float) -> list[str]:
    """A line broken between words where it would be wider than the axes."""
    parts = [""]
    for word in line.split():
        longer = f"{parts[-1]} {word}".strip()
        if parts[-1] and _length(longer, size) > width:
            parts.append(word)
        else:
            parts[-1] = longer
    return parts


def _width(ax: Axes) -> float:
    """The width of axes in points."""
    return 72 * float(ax.get_window_extent().width) / float(ax.figure.dpi)


@functools.lru_cache(maxsize=2000)
def _length(words: str, size: float) -> float:
    """How long words are when written, in points."""
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), words, size=size).get_extents().width) if words.strip() else 0.0


def legend_below(ax: Axes, handles: Sequence[Any]) -> None:
    """What the marks mean, under the axes and their label, where no point is covered."""
    if not handles:
        return
    from matplotlib.transforms import ScaledTranslation

    current = library().rcParams
    size = points(current["legend.fontsize"])
    figure: Any = ax.figure
    space = 8 + 1.3 * points(ax.xaxis.label.get_size()) * bool(ax.get_xlabel()) if not is_solid(ax) else 0
    space += 8 + 1.3 * points(current["xtick.labelsize"]) * (not is_solid(ax))
    down = ScaledTranslation(0, -space / 72, figure.dpi_scale_trans)
    legend = ax.legend(
        handles=list(handles),
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=ax.transAxes + down,
        ncols=_columns(handles, size, _width(ax)),
        borderaxespad=0,
        borderpad=0,
        **_LEGEND,
    )
    _fit_marks(legend, size)


_LEGEND: dict[str, Any] = {"handletextpad": 0.5, "columnspacing": 1.4, "frameon": False}


def legend_across(axes: Sequence[Axes], handles: Sequence[Any]) -> None:
    """What the marks of several panels mean, under all of them if the figure has no others, else under the lowest."""
    figure: Any = axes[0].figure
    others = {ax for ax in figure.axes if ax.axison} - set(axes)
    if len(axes) == 1 or others or not _is_laid_out(figure):
        legend_below(_lowest(axes), handles)
        return
    size = points(library().rcParams["legend.fontsize"])
    columns = _columns(handles, size, 72 * 0.95 * float(figure.get_figwidth()))
    _fit_marks(figure.legend(handles=list(handles), loc="outside lower left", ncols=columns, **_LEGEND), size)


def _lowest(axes: Sequence[Axes]) -> Axes:
    """The first panel of the last row."""
    lows = [round(float(ax.get_position().y0), 3) for ax in axes]
    return axes[lows.index(min(lows))]


def _fit_marks(legend: Any, size: float) -> None:
    """No mark in a legend is larger than its line."""
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([min(float(area), (0.95 * size) ** 2) for area in handle.get_sizes()])
        elif hasattr(handle, "set_markersize"):
            handle.set_markersize(min(float(handle.get_markersize()), 1.15 * size))


def _columns(handles: Sequence[Any], size: float, width: float) -> int:
    """How many columns of a legend fit in a width, in points; they are filled one after the other."""
    lengths = [_length(str(handle.get_label()), size) for handle in handles]
    for columns in range(len(lengths), 1, -1):
        fewest, more = divmod(len(lengths), columns)  # the first columns have one more, if they are not equal
        starts = [column * fewest + min(column, more) for column in range(columns + 1)]
        used = [max(lengths[start:end]) for start, end in pairwise(starts)]
        if sum(length + 3.9 * size for length in used) <= width:  # a mark, and the space between columns
            return columns
    return 1


def label_name(label: Any) -> str:
    """A label in a legend: a name as it is, a number with a word before it."""
    return short(label) if isinstance(label, str) else f"label {short(label)}".replace("-", "−")


def short(text: Any, length: int = 28) -> str:
    """A name, cut if it is long; what matplotlib would read as mathematics is taken literally."""
    words = " ".join(str(text).split())
    words = words if len(words) <= length else f"{words[: length - 1]}…"
    return words.replace("$", r"\$")


def number(value: float) -> str:
    """Three digits, as one would write them."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
        return f"{value:,.{digits}f}"
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    power = f"10{''.join(_RAISED[digit] for digit in str(int(exponent)))}"
    return power if mantissa == "1.00" else f"{mantissa} × {power}"


_RAISED = dict(zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True))


def points(size: Any) -> float:
    """A size of text in points; matplotlib also knows it in words."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=size).get_size_in_points())


@contextlib.contextmanager
def fixed_limits(ax: Any) -> Iterator[None]:
    """What is drawn inside does not count among the data to which axes fit their limits."""
    kept = ax.dataLim.frozen().get_points()
    yield
    ax.dataLim.set_points(kept)
