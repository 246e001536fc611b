"""What ``rosenblatt plot`` draws: a client of `rosenblatt.plot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rosenblatt.commands import output, output_files
from rosenblatt.commands.plot import FILMS

_DOTS = 200  # per inch
_PAGE = 20.0  # square inches; on a slide, which is larger, so are the words


@dataclass
class Drawing:
    """What is drawn, and how."""

    X: Any
    y: Any
    names: Any
    model: Any
    given: dict[str, Any]
    path: str

    @property
    def intercept(self) -> bool:
        """Whether there may be an offset."""
        return not self.given["no_intercept"]


def draw(
    kind: str, data: Sequence[str], path: str, model: str | None, given: dict[str, Any], reading: dict[str, Any]
) -> str:
    """Read, draw and write it; its title."""
    from rosenblatt.plot import style

    style.library().use("Agg")
    with output.waiting() as now, style.look(), _closed():
        now("reading")
        drawing = _read(data, path, model, given, reading)
        now("drawing")
        axes = _KINDS[kind](drawing)
        first = axes[0] if isinstance(axes, list) else axes
        if given["title"]:
            first.set_title(given["title"], loc="left")
        if path.lower().endswith(FILMS):
            return f"a film, which ends with {first.get_label()}"
        _write(first.figure, path)
    panels = f"{len(axes)} panels, the first: " if isinstance(axes, list) and len(axes) > 1 else ""
    return f"{panels}{given['title'] or first.get_label()}"


@contextmanager
def _closed() -> Iterator[None]:
    """Leave no figure open."""
    import matplotlib.pyplot as plt

    try:
        yield
    finally:
        plt.close("all")


def _read(data: Sequence[str], path: str, model: str | None, given: dict[str, Any], reading: dict[str, Any]) -> Drawing:
    from rosenblatt.commands import row_sample
    from rosenblatt.commands.examples import load_examples

    if model is None:
        examples = load_examples(data, reading, given["threads"], unweighted="a picture")
        return Drawing(examples.X, _sides(examples.y, given["one_class"]), examples.names, None, given, path)
    import rosenblatt as rb
    from rosenblatt.readers import load_stream

    trained = rb.load_trained(model)
    X, y, _ = load_stream(row_sample.opened(trained, data, reading, given["threads"]))
    X = row_sample.fitted(X, trained)
    return Drawing(
        X, _sides(y, given["one_class"]), trained.feature_names, _one(trained, given["one_class"]), given, path
    )


def _sides(y: Any, label: str | None) -> Any:
    """The labels, or one of them against all others."""
    if label is None:
        return y
    import numpy as np

    own = np.array([str(value) == label for value in y.tolist()])
    _require_class(label, y, bool(own.any()))
    return np.where(own, label, f"not {label}")


def _require_class(label: str, labels: Any, found: bool) -> None:
    if not found:
        from rosenblatt.errors import InputError

        known = ", ".join(sorted({str(value) for value in labels.tolist()})[:10])
        raise InputError(f"--class {label}: no row has this label; there are {known}")


def _one(trained: Any, label: str | None) -> Any:
    """The model, or the hyperplane of one of its classes, as a classifier of this class against all others."""
    if label is None or len(trained.classes_) == 2:
        return trained
    import numpy as np

    names = [str(value) for value in trained.classes_.tolist()]
    _require_class(label, trained.classes_, label in names)
    place = names.index(label)
    others = f"not {label}"
    sign = 1.0 if label > others else -1.0  # the later name is the positive class
    return OneClass(
        np.array(sorted([label, others])),
        sign * trained.coef_[[place]],
        sign * trained.intercept_[[place]],
        trained.mistakes_per_pass_,
        trained.converged_,
        f"{trained.estimator} for {label}",
    )


@dataclass
class OneClass:
    """One class of a model against all others."""

    classes_: Any
    coef_: Any
    intercept_: Any
    mistakes_per_pass_: Any
    converged_: bool
    estimator: str

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        return self.classes_[(X @ self.coef_[0] + self.intercept_[0] > 0).astype(int)]


def _write(figure: Any, path: str) -> None:
    import io

    from rosenblatt.plot import style

    ending = path[path.rfind(".") + 1 :].lower()
    figure.draw_without_rendering()
    buffer = io.BytesIO()
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)  # the same picture of the same data
    with style.library().rc_context({"svg.hashsalt": "rosenblatt"}):
        figure.savefig(buffer, format=ending, dpi=_DOTS, metadata=metadata)
    with output_files.written(path) as file:
        file.write(buffer.getvalue())


# Each kind ------------------------------------------------------------------------------------------------------------


def _axes(drawing: Drawing, *, solid: bool = False) -> Any:
    """Axes of the size asked for; None lets the picture choose."""
    size = drawing.given["size"]
    if size is None:
        return None
    import matplotlib.pyplot as plt

    from rosenblatt.plot import style

    larger = min(2.0, max(1.0, (size[0] * size[1] / _PAGE) ** 0.5))
    plt.rcParams.update(style.settings(larger * style.SETTINGS["font.size"]))  # until the picture is done
    figure = plt.figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection="3d" if solid else None)


def _panels(drawing: Drawing, axes: Any) -> Any:
    if drawing.given["size"] is not None:
        axes[0].figure.set_size_inches(drawing.given["size"])
    return axes


def _subject(drawing: Drawing) -> Any:
    """The model, or a soft margin."""
    if drawing.model is not None:
        return drawing.model
    import rosenblatt as rb

    cost = drawing.given["costs"][0] if drawing.given["costs"] else 1.0
    return rb.SoftMargin(C=cost, fit_intercept=drawing.intercept, n_jobs=drawing.given["threads"]).fit(
        drawing.X, drawing.y
    )


def _boundary(drawing: Drawing) -> Any:
    from rosenblatt import plot

    solid = drawing.X.shape[1] == 3
    _require_two(drawing)
    return plot.boundary(
        _subject(drawing), drawing.X, drawing.y, names=drawing.names, support=False, ax=_axes(drawing, solid=solid)
    )


def _require_two(drawing: Drawing) -> None:
    """Several classes are drawn in two features, or one at a time."""
    import numpy as np

    from rosenblatt.errors import InputError

    classes, d = len(np.unique(drawing.y)), drawing.X.shape[1]
    if classes > 2 and d != 2:
        raise InputError(
            f"a boundary of {classes} classes is drawn for two features, and these are {d}: choose one class against "
            "all others with --class LABEL"
        )


def _certificate(drawing: Drawing) -> Any:
    import rosenblatt as rb
    from rosenblatt import plot

    found: Any = rb.certify(drawing.X, drawing.y, fit_intercept=drawing.intercept, n_jobs=drawing.given["threads"])
    if hasattr(found, "items"):
        return _panels(drawing, plot.certificate(found, drawing.X, drawing.y, names=drawing.names))
    return plot.certificate(found, drawing.X, drawing.y, names=drawing.names, ax=_axes(drawing))


def _mistakes(drawing: Drawing) -> Any:
    from rosenblatt import plot

    if drawing.model is not None:
        return plot.mistakes(drawing.model, ax=_axes(drawing))
    return plot.mistakes(_traced(drawing), bound=_bound(drawing), ax=_axes(drawing))


def _proof(drawing: Drawing) -> Any:
    import rosenblatt as rb
    from rosenblatt import plot

    return plot.proof(
        _traced(drawing), rb.certify(drawing.X, drawing.y, fit_intercept=drawing.intercept), ax=_axes(drawing)
    )


def _trace(drawing: Drawing) -> Any:
    from rosenblatt import plot

    traced = _traced(drawing)
    if drawing.path.lower().endswith(FILMS):
        axes = _axes(drawing)
        moving = plot.trace(traced, kind="animation", path=drawing.path, ax=axes)
        return moving._fig.axes[0]
    return _panels(drawing, plot.trace(traced))


def _soft_margin(drawing: Drawing) -> Any:
    from rosenblatt import plot

    costs = drawing.given["costs"] or (0.01, 1.0, 100.0)
    axes = plot.soft_margin(drawing.X, drawing.y, Cs=costs, names=drawing.names, fit_intercept=drawing.intercept)
    return _panels(drawing, axes)


def _weights(drawing: Drawing) -> Any:
    from rosenblatt import plot

    model, given = _subject(drawing), drawing.given
    several = len(getattr(model, "coef_", [None])) > 1
    axes = plot.weights(
        model, names=drawing.names, top=given["top"], shape=given["shape"], ax=None if several else _axes(drawing)
    )
    return _panels(drawing, axes) if several else axes


def _traced(drawing: Drawing) -> Any:
    import warnings

    import rosenblatt as rb

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is in the picture
        return rb.trace(
            drawing.X,
            drawing.y,
            max_iter=drawing.given["passes"],
            random_state=drawing.given["seed"],
            fit_intercept=drawing.intercept,
        )


def _bound(drawing: Drawing) -> Any:
    """What the data allows at most, if it is separable."""
    import rosenblatt as rb

    found: Any = rb.certify(drawing.X, drawing.y, fit_intercept=drawing.intercept)
    return None if hasattr(found, "items") or found.separable is not True else found


_KINDS = {
    "boundary": _boundary,
    "certificate": _certificate,
    "mistakes": _mistakes,
    "proof": _proof,
    "soft-margin": _soft_margin,
    "trace": _trace,
    "weights": _weights,
}
