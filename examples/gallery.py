"""Draw the pictures of docs/gallery.md, into docs/images/gallery.

Run it as ``python examples/gallery.py [FOLDER] [--width INCHES] [--grey]``. With --width every picture is drawn that
wide (3.3 inches is a column of print, 10 a slide), with --grey without colours: to look at how they fare there.
"""

import argparse
import io
import warnings
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb
from rosenblatt import plot

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DEFAULT = Path(__file__).resolve().parent.parent / "docs" / "images" / "gallery"
NOTE_001 = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]


def iris(features, kinds):
    X, kind = load_iris(return_X_y=True, as_frame=True)
    names = load_iris().target_names
    chosen = kind.isin(kinds)
    return X.loc[chosen].iloc[:, features], names[kind[chosen]]


def breast_cancer():
    data = load_breast_cancer(as_frame=True)
    X = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
    return X, data.target_names[data.target]


def noisy():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal([0, 0], 1.2, (40, 2)), rng.normal([3, 2], 1.2, (40, 2))])
    return X, np.repeat(["no", "yes"], 40)


def boundary(axes):
    X, y = iris([2, 3], [0, 1])
    return plot.boundary(rb.Perceptron(random_state=0).fit(X, y), X, y, ax=axes())


def boundary_max_margin(axes):
    X, y = iris([2, 3], [0, 1])
    return plot.boundary(rb.MaxMargin().fit(X, y), X, y, ax=axes())


def boundary_mistakes(axes):
    X, y = iris([2, 3], [1, 2])
    return plot.boundary(rb.AveragedPerceptron(random_state=0, max_iter=50).fit(X, y), X, y, ax=axes())


def boundary_space(axes):
    X, y = iris([1, 2, 3], [0, 1])
    return plot.boundary(rb.MaxMargin().fit(X, y), X, y, ax=axes(projection="3d"))


def boundary_projected(axes):
    X, y = breast_cancer()
    return plot.boundary(rb.SoftMargin(C=0.1).fit(X, y), X, y, support=False, ax=axes())


def boundary_classes(axes):
    X, y = iris([2, 3], [0, 1, 2])
    model = rb.AveragedPerceptron(multi_class="joint", max_iter=100, random_state=0).fit(X, y)
    return plot.boundary(model, X, y, ax=axes())


def trace(axes):
    parameters = rb.textbook.variant("001") | {"fit_intercept": False}
    return plot.trace(rb.trace(*NOTE_001, **parameters), ax=axes(columns=3))


def mistakes(axes):
    X, y = iris([0, 1], [0, 1])
    return plot.mistakes(rb.Perceptron(max_iter=10_000, random_state=0).fit(X, y), bound=rb.certify(X, y), ax=axes())


def proof(axes):
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    return plot.proof(rb.trace(X, y, shuffle=False), rb.certify(X, y), ax=axes())


def certificate_separable(axes):
    X, y = noisy()
    X = X + 1.3 * (y == "yes")[:, None]
    return plot.certificate(rb.certify(X, y), X, y, ax=axes())


def certificate_inseparable(axes):
    X, y = iris([2, 3], [1, 2])
    keep = ~(X.duplicated(keep=False)).to_numpy()  # equal rows with opposite labels would be the shortest proof
    X, y = X[keep], y[keep]
    return plot.certificate(rb.certify(X, y), X, y, ax=axes())


def soft_margin(axes):
    X, y = noisy()
    return plot.soft_margin(X, y, Cs=(0.01, 1, 100), ax=axes(columns=3))


def weights(axes):
    X, y = breast_cancer()
    return plot.weights(rb.SoftMargin(C=100).fit(X, y), top=12, ax=axes())


def weights_digits(axes):
    X, y = load_digits(return_X_y=True)
    model = rb.AveragedPerceptron(random_state=0).fit(X, y)
    return plot.weights(model, shape=(8, 8), ax=axes(columns=5, rows=2))


PICTURES = {
    boundary: (5.0, 3.4),
    boundary_max_margin: (5.0, 3.4),
    boundary_mistakes: (5.0, 3.4),
    boundary_space: (5.0, 4.3),
    boundary_projected: (5.0, 4.0),
    boundary_classes: (5.0, 3.4),
    trace: (8.6, 3.2),
    mistakes: (5.0, 3.4),
    proof: (5.0, 3.7),
    certificate_separable: (5.0, 4.2),
    certificate_inseparable: (5.0, 3.6),
    soft_margin: (9.0, 3.9),
    weights: (5.0, 3.3),
    weights_digits: (7.5, 3.6),
}


def axes_of(size):
    """A maker of axes in a figure of that size: one, or a grid of them."""

    def make(projection=None, columns=1, rows=1):
        if columns == 3 and size[0] < 5:  # panels one above the other
            return plt.figure(figsize=(size[0], 2.9 * size[0]), layout="constrained").subplots(3, 1)
        figure = plt.figure(figsize=size if rows == 1 else (size[0], 0.5 * size[0]), layout="constrained")
        if columns == 1:
            return figure.add_subplot(projection=projection)
        return figure.subplots(rows, columns)

    return make


def as_png(figure, dots, grey):
    """Few colours make a small file, and nobody sees the difference."""
    from PIL import Image

    figure.draw_without_rendering()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dots, facecolor="white")
    picture = Image.open(buffer).convert("RGB")
    return (
        picture.convert("L")
        if grey
        else picture.quantize(96, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--width", type=float, help="inches")
    parser.add_argument("--grey", action="store_true")
    choices = parser.parse_args()
    choices.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for draw, size in PICTURES.items():
        scale = choices.width / size[0] if choices.width else 1.0
        with plot.look(text=9 if scale <= 1 else 11 if scale < 1.5 else 16):
            axes = draw(axes_of((size[0] * scale, size[1] * max(scale, 0.8))))
            figure = (axes[0] if isinstance(axes, list) else axes).figure
            as_png(figure, 150 if scale <= 1 else 110, choices.grey).save(
                choices.folder / f"{draw.__name__}.png", optimize=True
            )
        plt.close(figure)
    if choices.width is None and not choices.grey:
        parameters = rb.textbook.variant("001") | {"fit_intercept": False}
        plot.trace(rb.trace(*NOTE_001, **parameters), kind="animation", path=choices.folder / "trace.gif")


if __name__ == "__main__":
    main()
