"""Pictures fit where they are put: a page, a column of print, a slide."""

import numpy as np
import pytest
from tests.drawings import title

import rosenblatt as rb
from rosenblatt import plot
from rosenblatt.errors import InputError

plt = pytest.importorskip("matplotlib.pyplot")

NOTE_001 = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def clouds(d=2, apart=2.5):
    X = np.random.default_rng(0).normal(size=(60, d))
    X[30:] += apart
    return X, np.repeat(["no", "yes"], 30)


def new_axes(width, height, **parts):
    return plt.figure(figsize=(width, height), layout="constrained").add_subplot(**parts)


def inside(artist, figure):
    """Whether something is drawn within its figure, give or take a pixel."""
    box = artist.get_window_extent()
    return box.x0 >= -1 and box.y0 >= -1 and box.x1 <= figure.bbox.x1 + 1 and box.y1 <= figure.bbox.y1 + 1


def test_words_of_another_size():
    with plot.look(text=18):
        assert plt.rcParams["font.size"] == 18
        assert plt.rcParams["legend.fontsize"] == 16
        assert plt.rcParams["axes.labelcolor"] == "#222222"
    with plot.look():
        assert plt.rcParams["font.size"] == 9
    with pytest.raises(InputError, match=r"text must be above 0, got -1: it is the size of words in points"):
        plot.look(text=-1)


@pytest.mark.parametrize(("width", "text"), [(3.3, 9), (5, 9), (10, 16)])
def test_no_mark_in_a_legend_is_larger_than_its_line_and_all_of_it_is_seen(width, text):
    X, y = clouds(apart=1.0)
    with plot.look(text):
        ax = new_axes(width, 0.7 * width)
        plot.boundary(rb.AveragedPerceptron(random_state=0).fit(X, y), X, y, ax=ax)
        ax.figure.draw_without_rendering()
        legend = ax.get_legend()
        size = plt.rcParams["legend.fontsize"]
    assert "wrong side" in legend.get_texts()[-1].get_text()
    areas = [float(area) for handle in legend.legend_handles for area in handle.get_sizes()]
    assert max(areas) <= size**2
    assert all(inside(artist, ax.figure) for artist in (legend, ax.title, ax._left_title, ax.xaxis.label))


@pytest.mark.parametrize("width", [3.3, 5])
def test_long_names_of_weights_leave_room_for_the_title(width):
    names = [f"worst fractal dimension {k}" for k in range(20)]
    with plot.look():
        ax = new_axes(width, 3)
        plot.weights(rb.Hyperplane(np.arange(1.0, 21.0), 0.0), names=names, top=12, ax=ax)
        ax.figure.draw_without_rendering()
    assert title(ax).replace("\n", " ") == "The 12 largest of 20 weights"
    assert inside(ax._left_title, ax.figure)


def test_in_a_column_of_print_the_labels_of_space_are_seen():
    X, y = clouds(d=3)
    with plot.look():
        ax = new_axes(3.3, 3.4, projection="3d")
        plot.boundary(rb.Perceptron(random_state=0).fit(X, y), X, y, names=["petal length (cm)"] * 3, ax=ax)
        ax.figure.canvas.draw()
    assert all(inside(axis.label, ax.figure) for axis in (ax.xaxis, ax.yaxis, ax.zaxis))


def test_panels_of_one_scale_are_not_wider_than_their_points_need():
    X, y = clouds()
    axes = plot.soft_margin(X, y)
    axes[0].figure.draw_without_rendering()
    for ax in axes:
        spans = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
        assert (spans / np.ptp(X, axis=0)).min() < 1.35


def test_the_legend_of_panels_is_under_all_of_them():
    trace = rb.trace(*NOTE_001, **rb.textbook.variant("001") | {"fit_intercept": False})
    axes = plot.trace(trace)
    figure = axes[0].figure
    assert all(ax.get_legend() is None for ax in axes)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "label −1 (3)", "label 1 (3)", "old boundary", "new boundary", "the mistake",
    ]  # fmt: skip


def test_in_a_figure_with_other_axes_the_legend_is_under_the_lowest_panel():
    trace = rb.trace(*NOTE_001, **rb.textbook.variant("001") | {"fit_intercept": False})
    grid = plt.figure(figsize=(6, 8), layout="constrained").subplots(4, 1)
    axes = plot.trace(trace, ax=list(grid[1:]))
    assert [ax.get_legend() is not None for ax in axes] == [False, False, True]
    assert not grid[0].figure.legends
