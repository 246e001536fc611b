"""Draw the picture of the README, docs/images/mistakes.png: two perceptrons, and what they really did.

Run it as ``python examples/readme_picture.py [FILE]``.
"""

import sys
import warnings
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import sklearn.linear_model
from matplotlib.ticker import FuncFormatter
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import rosenblatt as rb

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"  # told apart by the colour-blind, and in grey
DEFAULT = Path(__file__).resolve().parent.parent / "docs" / "images" / "mistakes.png"


def draw_iris(axes):
    """Two measurements of iris, and the line that the perceptron ends with."""
    X, kind = load_iris(return_X_y=True)
    X, setosa = X[:, 2:], kind == 0
    model = rb.Perceptron(random_state=0).fit(X, setosa)
    plane, y = model.hyperplane_, np.where(setosa, 1, -1)
    margin = plane.margin(X, y)
    for rows, colour, marker in (
        (setosa, BLUE, "o"),
        (~setosa, ORANGE, "^"),
    ):
        axes.scatter(*X[rows].T, s=16, c=colour, marker=marker, linewidths=0)
    across = np.array([0.0, 7.5])
    for shift, style in ((0, "-"), (margin, ":"), (-margin, ":")):
        offset = plane.b + shift * np.linalg.norm(plane.w)
        width = 1.6 if shift == 0 else 0.9
        axes.plot(across, -(plane.w[0] * across + offset) / plane.w[1], style, color="black", lw=width)
    axes.set(xlim=(0.5, 7.2), ylim=(-0.1, 2.7), xlabel="petal length (cm)", ylabel="petal width (cm)")
    axes.set_title(f"Iris: {model.n_updates_} mistakes, then none; margin {margin:.2f} cm")
    axes.text(1.5, 0.72, "setosa", color=BLUE, ha="center")
    axes.text(5.3, 0.72, "versicolor and virginica", color=ORANGE, ha="center")


def draw_breast_cancer(axes):
    """Mistakes of each pass over standardised breast cancer, up to the pass without one."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = rb.Perceptron(max_iter=1_000_000, random_state=0).fit(X, y)
    assert model.separates_
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        theirs = sklearn.linear_model.Perceptron(random_state=0).fit(X, y)
    errors = int((theirs.predict(X) != y).sum())
    assert errors and not caught
    mistakes, passes = model.mistakes_per_pass_, np.arange(1, model.n_iter_ + 1)
    # Too many passes to show each: the median, the fewest and the most of neighbours on the axis.
    edges = np.unique(np.geomspace(1, len(passes), 60).astype(int))
    groups = [mistakes[first - 1 : last - 1] for first, last in pairwise(edges)]
    low, middle, high = np.array([(g.min(), np.median(g), g.max()) for g in groups]).T
    centres = np.sqrt(edges[:-1] * np.maximum(edges[1:] - 1, edges[:-1]))
    axes.fill_between(centres, low, high, color=BLUE, alpha=0.2, lw=0, label="fewest to most")
    axes.plot(centres, middle, color=BLUE, lw=1.6, label="median of neighbouring passes")
    axes.plot(passes[-1], 0, "o", color=BLUE, ms=7, clip_on=False, zorder=5)
    axes.annotate(
        f"rosenblatt: pass {model.n_iter_:,} makes none,\nall rows are separated",
        (passes[-1], 0), (2.9e5, 21), ha="right", va="center", color=BLUE,
        arrowprops={"arrowstyle": "-", "color": BLUE, "lw": 0.8, "shrinkB": 5, "relpos": (0.93, 0)},
    )  # fmt: skip
    axes.plot(theirs.n_iter_, errors, "X", color=ORANGE, ms=8, zorder=5)
    axes.annotate(
        f"scikit-learn's Perceptron stops at pass {theirs.n_iter_},\n{errors} rows wrong, no warning",
        (theirs.n_iter_, errors), (11, 25.5), va="center", color=ORANGE,
        arrowprops={"arrowstyle": "-", "color": ORANGE, "lw": 0.8, "shrinkB": 5, "relpos": (0, 0)},
    )  # fmt: skip
    axes.legend(frameon=False, loc="upper right")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set(xlim=(0.9, 3e5), ylim=(0, 36), xlabel="pass over the 569 rows", ylabel="mistakes in the pass")
    axes.set_title("Breast cancer, 30 standardised features")


def main():
    plt.rcParams.update({"font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", width_ratios=(1, 1.35))
    draw_iris(left)
    draw_breast_cancer(right)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else DEFAULT, dpi=160, facecolor="white")


if __name__ == "__main__":
    main()
