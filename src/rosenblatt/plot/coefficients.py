"""The weights of a linear model: the largest by name, or all of them as the image that they weigh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.errors import InputError
from rosenblatt.hyperplane import Hyperplane
from rosenblatt.inputs import FloatArray
from rosenblatt.plot import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_PANELS = 12


@style.drawn
def weights(
    model: Any,
    *,
    names: Sequence[str] | None = None,
    shape: tuple[int, int] | None = None,
    top: int = 20,
    label: Any = None,
    ax: Any = None,
) -> Any:
    """Draw the weights of a linear model: the largest with their names, or all as an image.

    Parameters
    ----------
    model : Hyperplane, Separable or linear classifier
        Of three classes or more each has its weights: a panel for each, or that of `label` alone.
    names : sequence of str, optional
        The features' names; by default those with which the model was fitted.
    shape : (int, int), optional
        Rows and columns of the image whose pixels are the features: the weights are drawn as that image, negative ones
        with a dash, so that they are told apart in grey too.
    top : int, default 20
        How many of the largest, by absolute value.
    label : optional
        The class, of three or more.
    ax : Axes or array of Axes, optional
        Where to draw; new axes if not given.

    Returns
    -------
    Axes
        A list of them for several classes.

    Examples
    --------
    >>> import rosenblatt as rb
    >>> from rosenblatt import plot
    >>> axes = plot.weights(rb.Hyperplane([1.0, -3.0, 2.0], 0.5), names=["a", "b", "c"])
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['b', 'c', 'a']
    """
    each, names = _weights_of(model, names)
    if label is not None:
        if label not in each:
            raise InputError(f"label must be one of {list(each)!r}, got {label!r}")
        each = {label: each[label]}
    if len(each) > _MOST_PANELS:
        raise InputError(f"the model has {len(each)} classes: choose one with label=")
    d = len(next(iter(each.values())))
    if shape is not None and (len(shape) != 2 or shape[0] * shape[1] != d):
        raise InputError(f"an image of shape {shape} has {math.prod(shape)} pixels, but there are {d} weights")
    if top < 1:
        raise InputError(f"top must be at least 1, got {top}")
    if names is not None and len(names) != d:
        raise InputError(f"names has {len(names)} names for {d} weights")
    shown = min(top, d)
    several = len(each) > 1
    if shape is not None:
        panel = (1.7, 2.0) if several else (4.2, 4.2)
    else:
        panel = (3.0 if several else 5.0, 0.9 + 0.19 * shown)
    axes = style.panels(ax, len(each), columns=5 if shape is not None else 3, panel=panel)
    for own, w in zip(axes, each.values(), strict=True):
        if shape is not None:
            largest = max(float(np.abs(other).max()) for other in each.values())
            _image(own, w.reshape(shape), largest or 1.0, colourbar=not several)
        else:
            _bars(own, w, names, shown)
    if shape is not None and several:
        axes[-1].set_xlabel("dash: negative", loc="right")
    style.lay_out(axes)  # names take room from the bars, and so from the title above them
    for own, name in zip(axes, each, strict=True):
        _entitle(own, name, len(each), shown, d, shape is not None)
    return axes if several else axes[0]


def _weights_of(model: Any, names: Sequence[str] | None) -> tuple[dict[Any, FloatArray], Sequence[str] | None]:
    """The weights of each class, under None for two."""
    if isinstance(model, Hyperplane):
        return {None: model.w}, names
    plane = getattr(model, "hyperplane", None)
    if isinstance(plane, Hyperplane):
        return {None: plane.w}, names
    coef = getattr(model, "coef_", None)
    if coef is None:
        raise InputError(
            f"{type(model).__name__} has no weights to draw: a Hyperplane, a Separable or a fitted linear model has"
        )
    table = np.atleast_2d(np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64))
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    classes = getattr(model, "classes_", range(len(table)))
    if len(table) == 1:
        return {None: table[0]}, names
    return {_plain(name): row for name, row in zip(classes, table, strict=True)}, names


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _bars(ax: Axes, w: FloatArray, names: Sequence[str] | None, shown: int) -> None:
    from matplotlib.ticker import MaxNLocator

    order = np.argsort(-np.abs(w), kind="stable")[:shown]
    heights = w[order]
    colours = [style.BLUE if value > 0 else style.VERMILLION for value in heights]
    places = np.arange(shown)
    bars = ax.barh(places, heights, color=colours, height=0.72)
    for bar, value in zip(bars, heights, strict=True):
        if value < 0:  # told apart in grey too
            bar.set(hatch="//////", edgecolor="white", linewidth=0)
    ax.axvline(0, color=style.INK, lw=0.8)
    labels = [_feature(names, number) for number in order.tolist()]
    ax.set_yticks(places, labels)
    ax.set_ylim(shown - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5))
    ax.ticklabel_format(axis="x", scilimits=(-2, 4), useMathText=True)
    ax.set_xlabel("weight")


def _feature(names: Sequence[str] | None, number: int) -> str:
    return f"feature {number}" if names is None else style.short(names[number], 30)


def _image(ax: Axes, pixels: FloatArray, largest: float, *, colourbar: bool) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap

    colours = ["#8A3C00", style.VERMILLION, "#F6C7A5", "#FFFFFF", "#A6CDE6", style.BLUE, "#003F66"]
    cmap = LinearSegmentedColormap.from_list("weights", colours)
    picture = ax.imshow(pixels, cmap=cmap, vmin=-largest, vmax=largest, interpolation="nearest")
    down, across = np.nonzero(pixels < -0.12 * largest)
    dashes = [[(x - 0.22, y), (x + 0.22, y)] for x, y in zip(across.tolist(), down.tolist(), strict=True)]
    width = 0.09 * ax.get_window_extent().width / ax.figure.dpi * 72 / pixels.shape[1]
    ax.add_collection(LineCollection(dashes, colors="white", linewidths=width, gid="negative"), autolim=False)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(True)
    if colourbar:
        bar = ax.figure.colorbar(picture, ax=ax, shrink=0.8, aspect=25, pad=0.03)
        bar.set_label("weight (dash: negative)")
        bar.outline.set_visible(False)


def _entitle(ax: Axes, name: Any, classes: int, shown: int, d: int, image: bool) -> None:
    if name is not None:
        words = style.label_name(name) if classes > 1 else f"Weights of {style.label_name(name)}"
    elif image:
        words = f"The {d:,} weights as an image"
    else:
        words = f"The {d} weights" if shown == d else f"The {shown} largest of {d:,} weights"
    style.title(ax, words)
