"""What a notebook shows by itself: small pictures, from few rows, as text that holds all of them."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt.certificate_table import CertificateTable
from rosenblatt.certificates import Inseparable, Separable, Undecided
from rosenblatt.plot import style
from rosenblatt.plot.coefficients import weights
from rosenblatt.plot.passes import mistakes
from rosenblatt.plot.samples import Sample
from rosenblatt.plot.updates import trace as draw_updates
from rosenblatt.plot.verdict_pictures import draw_verdict
from rosenblatt.traces import Trace

_TOP = 12  # weights
_MOST = 4  # certificates of a table, updates of a trace


def picture(thing: Any) -> str:
    """An <img> of a certificate, a table of them, a trace or a fitted model; empty if there is nothing to draw."""
    if isinstance(thing, CertificateTable):
        return "".join(picture(certificate) for certificate in list(thing.values())[:_MOST])
    if isinstance(thing, (Separable, Inseparable, Undecided)):
        return _certificate(thing)
    if isinstance(thing, Trace):
        return _trace(thing)
    return _model(thing) if hasattr(thing, "classes_") else ""


def image(figure: Any, words: str, *, width: str = "") -> str:
    """A figure as an <img> that holds it: drawn as vectors, letters as their outlines."""
    buffer = io.BytesIO()
    with style.library().rc_context({"svg.fonttype": "path", "svg.hashsalt": "rosenblatt"}):
        figure.draw_without_rendering()  # ticks may change with the layout, and then the layout with the ticks
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    data = base64.b64encode(buffer.getvalue()).decode()
    shape = f"width:{width};" if width else ""
    return (
        f'<img style="{shape}max-width:100%;height:auto" alt="{html.escape(words, quote=True)}" '
        f'src="data:image/svg+xml;base64,{data}">'
    )


def new_figure(width: float, height: float) -> Any:
    """A figure without pyplot: nothing global is touched, and nothing is left open."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def drawn_image(size: tuple[float, float], draw: Callable[[Any], Any], columns: int = 1) -> str:
    """What `draw` leaves on new axes (a list of them for several columns), with its title as the words for it."""
    with style.look():
        figure = new_figure(*size)
        axes = [figure.add_subplot(1, columns, place + 1) for place in range(columns)]
        draw(axes[0] if columns == 1 else axes)
        words = " ".join(ax.get_label() for ax in axes)
        return image(figure, words)


def _certificate(certificate: Any) -> str:
    sketch = getattr(certificate, "_sketch", None)
    if sketch is None or not len(sketch.rows):
        return ""
    rows = sketch.X.astype(np.float64)
    codes = (sketch.signs.astype(np.int64) + 1) // 2
    counts = np.array(sketch.counts, np.int64)
    shown = Sample(rows, codes, sketch.rows, np.array(["", ""], object), counts, sketch.feature_names)
    return drawn_image((4.6, 3.9), lambda ax: draw_verdict(certificate, shown, ax))


def _model(model: Any) -> str:
    drawings: list[Callable[[Any], Any]] = []
    coef = getattr(model, "coef_", None)
    if coef is not None and np.shape(coef)[0] == 1:
        drawings.append(lambda ax: weights(model, top=_TOP, ax=ax))
    if getattr(model, "mistakes_per_pass_", None) is not None and len(model.mistakes_per_pass_):
        drawings.append(lambda ax: mistakes(model, ax=ax))
    if not drawings:
        return ""

    def draw(axes: Any) -> None:
        for ax, drawing in zip(axes if isinstance(axes, list) else [axes], drawings, strict=True):
            drawing(ax)

    return drawn_image((3.9 * len(drawings), 3.0), draw, len(drawings))


def _trace(trace: Trace) -> str:
    first = np.flatnonzero(np.asarray(trace.problem) == 0)
    if not len(first):
        return ""
    updates = list(range(1, min(_MOST, len(first) + 1)))
    if len(first) >= _MOST:
        updates.append(len(first))
    columns = len(updates)
    return drawn_image((2.7 * columns, 3.1), lambda axes: draw_updates(trace, updates=updates, ax=axes), columns)
