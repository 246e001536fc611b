"""A boundary is drawn where it is: the line, its sides and margins, the normal, mistakes and support."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from tests.drawings import arrows, legend, line_points, marked, matplotlib, part, parts, rings, same_points, title

import rosenblatt as rb
from rosenblatt import plot
from rosenblatt.errors import InputError, MissingExtraError
from rosenblatt.plot import solids, style

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def two_clouds(seed=0, n=30, d=2, apart=4.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, d))
    X[n:, 0] += apart
    return X, np.repeat(["left", "right"], n)


# In the plane


@pytest.mark.parametrize("seed", range(5))
def test_the_line_its_sides_and_its_margins_are_where_the_hyperplane_is(seed):
    X, y = two_clouds(seed, apart=6.0)
    rng = np.random.default_rng(seed)
    plane = rb.Hyperplane(rng.normal(size=2), rng.normal())
    ax = plot.boundary(plane, X, y, margin=0.3)
    size = np.linalg.norm(plane.w)
    assert plane.score(line_points(part(ax, "boundary"))) == pytest.approx(0, abs=1e-9 * size)
    for sign in (+1, -1):
        edge = line_points(part(ax, f"margin{sign:+d}"))
        assert plane.score(edge) / size == pytest.approx(sign * 0.3)
        side = part(ax, f"side{sign:+d}")
        assert (sign * plane.score(side.get_xy()) >= -1e-6 * size).all()
        assert matplotlib.colors.to_hex(side.get_facecolor()).upper() == style.SIDES[sign].tint
    band = part(ax, "band").get_xy()
    assert (np.abs(plane.score(band)) / size <= 0.3 + 1e-6).all()


def test_the_points_are_drawn_by_class_with_a_colour_and_a_marker_each():
    X, y = two_clouds()
    ax = plot.boundary(rb.Perceptron(random_state=0).fit(X, y), X, y, support=False)
    assert same_points(marked(ax, face=style.POSITIVE.colour), X[y == "right"])
    assert same_points(marked(ax, face=style.NEGATIVE.colour), X[y == "left"])
    assert style.POSITIVE.marker != style.NEGATIVE.marker
    assert legend(ax)[:2] == ["left (30)", "right (30)"]


def test_the_normal_starts_on_the_line_and_points_along_w_to_the_positive_side():
    X, y = two_clouds()
    model = rb.MaxMargin().fit(X, y)
    ax = plot.boundary(model, X, y)
    ((start, tip),) = arrows(ax)
    plane = model.hyperplane_
    assert plane.score(start) == pytest.approx(0, abs=1e-9)
    step = tip - start
    assert step @ plane.w == pytest.approx(np.linalg.norm(step) * np.linalg.norm(plane.w))


def test_rows_on_the_wrong_side_are_ringed_and_counted():
    X, y = two_clouds(apart=1.5)
    plane = rb.Hyperplane([1.0, 0.0], -0.75)
    signs = np.where(y == "right", 1, -1)
    wrong = signs * plane.score(X) <= 0
    ax = plot.boundary(plane, X, y)
    assert wrong.any()
    assert same_points(rings(ax), X[wrong])
    assert f"{wrong.sum()} of 60 rows on the wrong side" in title(ax)
    assert not parts(ax, "band")  # there is no margin
    assert not len(rings(plot.boundary(plane, X, y, mistakes=False)))


def test_a_row_on_the_boundary_is_a_mistake():
    ax = plot.boundary(rb.Hyperplane([1.0, 0.0], 0.0), [[-1, 0], [0, 0], [1, 0]], [0, 0, 1])
    assert same_points(rings(ax), [[0, 0]])


def test_support_vectors_are_outlined_and_lie_on_the_margins():
    X, y = two_clouds()
    model = rb.MaxMargin().fit(X, y)
    ax = plot.boundary(model, X, y)
    assert same_points(marked(ax, gid="support"), X[model.support_])
    assert f"support ({len(model.support_)})" in legend(ax)
    edges = [line_points(part(ax, f"margin{sign:+d}")) for sign in (+1, -1)]
    distance = np.abs(model.hyperplane_.score(np.concatenate(edges))) / np.linalg.norm(model.coef_)
    assert distance == pytest.approx(model.margin_)


def test_a_soft_margin_has_its_band_where_slack_begins():
    X, y = two_clouds(apart=2.0)
    model = rb.SoftMargin(C=1.0).fit(X, y)
    ax = plot.boundary(model, X, y)
    assert model.hyperplane_.score(line_points(part(ax, "margin+1"))) == pytest.approx(1)


def test_a_certificate_and_a_peer_are_drawn_too():
    from sklearn.linear_model import LogisticRegression

    X, y = two_clouds()
    found = rb.certify(X, y)
    ax = plot.boundary(found, X, y)
    assert found.hyperplane.score(line_points(part(ax, "boundary"))) == pytest.approx(0, abs=1e-9)
    theirs = LogisticRegression().fit(X, y)
    points = line_points(part(plot.boundary(theirs, X, y), "boundary"))
    assert theirs.decision_function(points) == pytest.approx(0, abs=1e-9)


def test_one_feature_is_drawn_along_an_axis():
    X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    model = rb.MaxMargin().fit(X, y)
    ax = plot.boundary(model, X, y)
    assert line_points(part(ax, "boundary"))[:, 0] == pytest.approx(2.0)
    assert sorted(marked(ax)[:, 0]) == pytest.approx([0, 1, 3, 4])


def test_features_of_one_scale_are_drawn_to_scale_and_others_are_not():
    X, y = two_clouds()
    assert plot.boundary(rb.Hyperplane([1, 1]), X, y).get_aspect() == 1
    assert plot.boundary(rb.Hyperplane([1, 1]), X * [1, 1000], y).get_aspect() == "auto"


# More features


def test_many_features_are_projected_on_w_and_the_largest_remaining_variance():
    X, y = two_clouds(d=6)
    X[:, 4] *= 5
    model = rb.MaxMargin().fit(X, y)
    ax = plot.boundary(model, X, y, support=False)
    assert "plane of w and the largest remaining variance" in title(ax)
    plane = model.hyperplane_
    distances = plane.score(X) / np.linalg.norm(plane.w)
    points = np.concatenate([marked(ax, face=look.colour) for look in (style.NEGATIVE, style.POSITIVE)])
    assert points[:, 0] == pytest.approx(distances)
    assert line_points(part(ax, "boundary"))[:, 0] == pytest.approx(0, abs=1e-12)
    assert line_points(part(ax, "margin+1"))[:, 0] == pytest.approx(model.margin_)
    u = plane.w / np.linalg.norm(plane.w)
    centred = X - X.mean(axis=0)
    remaining = centred - np.outer(centred @ u, u)
    largest = np.linalg.svd(remaining, compute_uv=False)[0] ** 2 / len(X)
    assert points[:, 1].var() == pytest.approx(largest, rel=1e-6)


def test_sparse_rows_are_drawn_as_dense_ones():
    X, y = two_clouds(d=5)
    X[np.abs(X) < 0.5] = 0
    plane = rb.Hyperplane([1.0, -0.5, 0.2, 0.0, 1.0], -1.0)
    dense, thin = plot.boundary(plane, X, y), plot.boundary(plane, sparse.csr_matrix(X), y)
    assert same_points(marked(dense), marked(thin), 1e-7)
    assert title(dense) == title(thin)


def test_three_features_are_drawn_in_space():
    X, y = two_clouds(d=3, apart=7.0)
    model = rb.MaxMargin().fit(X, y)
    ax = plot.boundary(model, X, y)
    assert ax.name == "3d"
    plane, size = model.hyperplane_, np.linalg.norm(model.coef_)
    low = np.array([ax.get_xlim()[0], ax.get_ylim()[0], ax.get_zlim()[0]])
    high = np.array([ax.get_xlim()[1], ax.get_ylim()[1], ax.get_zlim()[1]])
    for gid, height in (("boundary", 0.0), ("margin+1", model.margin_), ("margin-1", -model.margin_)):
        corners = corners_of(part(ax, gid))
        assert plane.score(corners) / size == pytest.approx(height, abs=1e-9)
        assert (corners >= low - 1e-9).all() and (corners <= high + 1e-9).all()
    for sign in (+1, -1):
        for wall in parts(ax, f"side{sign:+d}"):
            assert (sign * plane.score(corners_of(wall)) >= -1e-9).all()
    drawn = np.concatenate(
        [np.array(a._offsets3d).T for a in ax.collections if a.get_gid() is None and hasattr(a, "_offsets3d")]
    )
    assert same_points(drawn, X)
    assert len(parts(ax, "normal")) == 1


def corners_of(polygon):
    """matplotlib has no public name for the corners of a polygon in space, and two private ones."""
    if hasattr(polygon, "_faces"):
        return np.ma.getdata(polygon._faces)[0]
    return polygon._vec[:3].T


def test_a_section_of_a_box_has_its_corners_on_the_plane_and_on_edges():
    low, high = np.zeros(3), np.ones(3)
    corners = solids.section(np.array([1.0, 1.0, 1.0]), -1.5, low, high)
    assert len(corners) == 6  # the hexagon through the middle of a cube
    assert corners.sum(axis=1) == pytest.approx(1.5)
    assert len(solids.section(np.array([1.0, 0.0, 0.0]), 5.0, low, high)) == 0


def test_three_features_on_flat_axes_are_projected():
    X, y = two_clouds(d=3, apart=7.0)
    _, flat = plt.subplots()
    assert plot.boundary(rb.Hyperplane([1, 0, 0], -2), X, y, ax=flat) is flat
    assert "Projection of 3 features" in title(flat)
    _, solid = plt.subplots(subplot_kw={"projection": "3d"})
    with pytest.raises(InputError, match="three dimensions need three features, got 2"):
        plot.boundary(rb.Hyperplane([1, 0]), X[:, :2], y, ax=solid)


# Many rows


def test_of_many_rows_a_seeded_choice_is_shown_with_all_support_and_the_title_says_so():
    X, y = two_clouds(n=4000, apart=9.0)
    model = rb.MaxMargin().fit(X, y)
    first, second = (plot.boundary(model, X, y, max_points=500) for _ in range(2))
    shown = marked(first)
    assert 500 <= len(shown) <= 500 + len(model.support_)
    assert f"{len(shown)} of 8,000 rows shown" in title(first)
    assert np.array_equal(shown, marked(second))
    assert same_points(marked(first, gid="support"), X[model.support_])


def test_mistakes_are_counted_among_all_rows_though_few_are_shown():
    X, y = two_clouds(n=4000, apart=1.0)
    plane = rb.Hyperplane([1.0, 0.0], -0.5)
    wrong = int((np.where(y == "right", 1, -1) * plane.score(X) <= 0).sum())
    assert f"{wrong:,} of 8,000 rows" in title(plot.boundary(plane, X, y, max_points=300))


def test_a_rare_class_is_shown_among_many():
    X, y = two_clouds(n=5000)
    y[:] = "left"
    y[:25] = "right"
    ax = plot.boundary(rb.Hyperplane([1.0, 0.0]), X, y, max_points=400, mistakes=False)
    assert same_points(marked(ax, face=style.POSITIVE.colour), X[:25])


# Several classes, and curved boundaries


def test_regions_of_several_classes_are_those_of_the_predictions():
    X, y = two_clouds()
    X = np.concatenate([X, X[:30] + np.array([2, 5])])
    y = np.concatenate([y, np.repeat("top", 30)])
    model = rb.AveragedPerceptron(multi_class="joint", random_state=0).fit(X, y)
    ax = plot.boundary(model, X, y)
    (mesh,) = [artist for artist in ax.collections if type(artist).__name__ == "QuadMesh"]
    grid = np.asarray(mesh.get_coordinates())
    centres = (grid[:-1, :-1] + grid[1:, 1:]) / 2
    codes = np.asarray(mesh.get_array()).reshape(centres.shape[:2])
    assert np.array_equal(model.classes_[codes.astype(int)], model.predict(centres.reshape(-1, 2)).reshape(codes.shape))
    assert len(legend(ax)) >= 3


def test_a_vote_is_drawn_by_its_predictions():
    X, y = two_clouds()
    model = rb.VotedPerceptron(random_state=0).fit(X, y)
    ax = plot.boundary(model, X, y)
    wrong = model.predict(X) != y
    assert same_points(rings(ax), X[wrong])
    assert f"{wrong.sum()} of 60 rows wrong" in title(ax)


# Axes and looks


def test_the_axes_given_are_used_and_settings_are_left_alone():
    X, y = two_clouds()
    before = dict(plt.rcParams)
    _, ax = plt.subplots()
    assert plot.boundary(rb.Hyperplane([1, 0], -2), X, y, ax=ax) is ax
    plot.boundary(rb.Hyperplane([1, 0], -2), X, y)
    assert dict(plt.rcParams) == before
    with plot.look():
        assert plt.rcParams["axes.spines.top"] is False


def test_names_come_from_a_frame_or_are_given():
    pd = pytest.importorskip("pandas")
    X, y = two_clouds()
    ax = plot.boundary(rb.Hyperplane([1, 0], -2), pd.DataFrame(X, columns=["length", "width"]), y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    ax = plot.boundary(rb.Hyperplane([1, 0], -2), X, y, names=["a", "b"], title="Mine")
    assert (ax.get_xlabel(), title(ax)) == ("a", "Mine")


def test_the_two_sides_are_told_apart_without_colour():
    """In grey the tints differ, and so do the markers."""

    def lightness(colour):
        linear = np.array(matplotlib.colors.to_rgb(colour)) ** 2.2
        return float(linear @ [0.2126, 0.7152, 0.0722])

    assert abs(lightness(style.POSITIVE.tint) - lightness(style.NEGATIVE.tint)) > 0.1
    assert len({look.marker for look in style.SEVERAL}) == len(style.SEVERAL)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.65192, "0.652"),
        (12.345, "12.3"),
        (1234.5, "1,234"),
        (0.00139985, "0.00140"),
        (2.18e8, "2.18 × 10⁸"),
        (1e-7, "10⁻⁷"),
    ],
)
def test_numbers_are_written_with_three_digits(value, words):
    assert style.number(value) == words


# What cannot be drawn


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: plot.boundary(rb.Perceptron(), X, y), "this Perceptron is not fitted yet"),
        (
            lambda X, y: plot.boundary("model", X, y),
            "drawn of a Hyperplane, a Separable or a fitted classifier, got str",
        ),
        (lambda X, y: plot.boundary(rb.Hyperplane([1, 2, 3]), X, y), "w has 3 weights, but X has 2 features"),
        (lambda X, y: plot.boundary(rb.Hyperplane([1, 2]), X, y, margin=0), "margin must be above 0, got 0"),
        (lambda X, y: plot.boundary(rb.Hyperplane([-1, 0]), X, y, margin=True), "so there is no margin"),
        (lambda X, y: plot.boundary(rb.Hyperplane([1, 2]), X, y, names=["a"]), "names has 1 names for 2 features"),
        (lambda X, y: plot.boundary(rb.Hyperplane([1, 2]), X, ["a"] * len(X)), "y has one class only"),
        (lambda X, y: plot.boundary(rb.Hyperplane([1, 2]), X, np.arange(len(X)) % 3), "y has 3 classes"),
        (
            lambda X, y: plot.boundary(
                rb.AveragedPerceptron(random_state=0).fit(np.c_[X, X], np.arange(len(X)) % 3),
                np.c_[X, X],
                np.arange(len(X)) % 3,
            ),
            "drawn for two features only, got 4",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call(*two_clouds())


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'matplotlib, from the extra "plot": pip install "rosenblatt\[plot\]"'):
        plot.boundary(rb.Hyperplane([1, 0]), [[-1, 0], [1, 0]], [0, 1])


def test_importing_the_plots_does_not_import_matplotlib():
    code = "import sys, rosenblatt.plot, rosenblatt.reports; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "False"
