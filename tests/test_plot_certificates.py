"""A certificate is drawn as what it proves: a street that holds no row, or two hulls with a point in common."""

import numpy as np
import pytest
from tests.drawings import legend, line_points, marked, part, parts, same_points, title

import rosenblatt as rb
from rosenblatt import plot
from rosenblatt.errors import InputError
from rosenblatt.plot import marks, style

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]


def clouds(seed, d=2, apart=6.0, n=25):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, d))
    X[n:, 0] += apart
    return X, np.repeat(["no", "yes"], n)


def corners(artist):
    """Of a hull: a polygon's, a segment's or a point's."""
    return artist.get_xy()[:-1] if hasattr(artist, "get_xy") else np.asarray(artist.get_xydata())


def is_inside(point, hull, tolerance=1e-7):
    """Whether a point is a mean of corners: on the inner side of every edge, or on the segment."""
    hull = marks.hull(np.asarray(hull))
    if len(hull) == 1:
        return np.linalg.norm(point - hull[0]) <= tolerance
    if len(hull) == 2:
        along = hull[1] - hull[0]
        share = (point - hull[0]) @ along / (along @ along)
        return -tolerance <= share <= 1 + tolerance and np.linalg.norm(hull[0] + share * along - point) <= tolerance
    following = np.roll(hull, -1, axis=0)
    turns = (following - hull)[:, 0] * (point - hull)[:, 1] - (following - hull)[:, 1] * (point - hull)[:, 0]
    return bool((turns >= -tolerance).all())


# Separable


@pytest.mark.parametrize("seed", range(4))
def test_the_street_is_as_wide_as_the_margin_and_its_support_is_on_its_edges(seed):
    X, y = clouds(seed)
    found = rb.certify(X, y)
    assert found.separable
    ax = plot.certificate(found, X, y)
    plane, size = found.hyperplane, np.linalg.norm(found.hyperplane.w)
    for sign in (+1, -1):
        edge = line_points(part(ax, f"margin{sign:+d}"))
        assert plane.score(edge) / size == pytest.approx(sign * found.margin)
    support = marked(ax, gid="support")
    assert same_points(support, X[found.support])
    assert np.abs(plane.score(support)) / size == pytest.approx(found.margin, rel=1e-5)
    assert "Separable" in title(ax)


@pytest.mark.parametrize("seed", range(4))
def test_the_nearest_points_of_the_hulls_are_two_margins_apart_and_inside_them(seed):
    X, y = clouds(seed)
    found = rb.certify(X, y)
    ax = plot.certificate(found, X, y)
    negative, positive = np.asarray(part(ax, "nearest").get_xydata())
    assert np.linalg.norm(positive - negative) == pytest.approx(2 * found.margin, rel=1e-5)
    assert is_inside(negative, X[y == "no"], 1e-6)
    assert is_inside(positive, X[y == "yes"], 1e-6)


def test_many_features_are_projected_and_the_street_keeps_its_width():
    X, y = clouds(1, d=7, apart=9.0)
    found = rb.certify(X, y)
    ax = plot.certificate(found, X, y)
    assert "Projection of 7 features on the plane of w" in title(ax)
    assert line_points(part(ax, "margin+1"))[:, 0] == pytest.approx(found.margin)
    ends = np.asarray(part(ax, "nearest").get_xydata())
    assert ends[:, 0] == pytest.approx([-found.margin, found.margin], rel=1e-5)
    assert ends[0, 1] == pytest.approx(ends[1, 1], abs=1e-4)  # the segment is along w


def test_one_feature_has_a_street_too():
    X, y = [[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1]
    ax = plot.certificate(rb.certify(X, y), X, y)
    assert line_points(part(ax, "margin+1"))[:, 0] == pytest.approx(3.0)


# Not separable


@pytest.mark.parametrize("seed", range(6))
def test_the_hulls_of_a_witness_meet_at_the_star(seed):
    X, y = clouds(seed, apart=1.0)
    found = rb.certify(X, y)
    assert found.separable is False
    ax = plot.certificate(found, X, y)
    star = np.asarray(part(ax, "meeting").get_xydata())[0]
    for sign in (+1, -1):
        own = X[found.points[found.signs == sign]]
        drawn = corners(part(ax, f"hull{sign:+d}"))
        assert same_points(drawn, marks.hull(own))
        assert is_inside(star, drawn)
    assert same_points(marked(ax, gid="support"), X[found.points])
    assert f"rows that prove it ({len(found.points)})" in legend(ax)


@pytest.mark.parametrize("d", [3, 5])
def test_the_hulls_meet_in_a_projection_too(d):
    X, y = clouds(2, d=d, apart=0.5, n=40)
    found = rb.certify(X, y)
    assert found.separable is False
    ax = plot.certificate(found, X, y)
    assert f"Projection of {d} features on the plane in which these rows vary most" in title(ax)
    star = np.asarray(part(ax, "meeting").get_xydata())[0]
    for sign in (+1, -1):
        assert is_inside(star, corners(part(ax, f"hull{sign:+d}")), 1e-6)


def test_xor_is_two_diagonals_that_cross_in_the_middle():
    ax = plot.certificate(rb.certify(*XOR), *XOR)
    assert np.asarray(part(ax, "meeting").get_xydata())[0] == pytest.approx([0.5, 0.5])
    assert same_points(corners(part(ax, "hull+1")), [[0, 1], [1, 0]])
    assert same_points(corners(part(ax, "hull-1")), [[0, 0], [1, 1]])


def test_equal_rows_with_opposite_labels_are_named_together():
    X, y = [[0, 0], [1, 1], [1, 1], [2, 0]], [0, 0, 1, 1]
    ax = plot.certificate(rb.certify(X, y), X, y)
    assert "rows 1 and 2 are equal, with opposite labels" in title(ax)
    assert "1 = 2" in [text.get_text() for text in ax.texts]
    assert np.asarray(part(ax, "meeting").get_xydata())[0] == pytest.approx([1, 1])


def test_through_the_origin_the_origin_is_in_the_hull_of_the_reflected_rows():
    X, y = clouds(0)
    found = rb.certify(X, y, fit_intercept=False)
    assert found.separable is False
    ax = plot.certificate(found, X, y)
    hull = corners(part(ax, "hull"))
    assert same_points(hull, marks.hull(X[found.points] * found.signs[:, None]))
    assert is_inside(np.zeros(2), hull)
    assert np.asarray(part(ax, "meeting").get_xydata())[0] == pytest.approx([0, 0])
    assert "reflected" in title(ax)


# Others


def test_an_undecided_certificate_shows_its_bounds_and_its_best_hyperplane():
    from rosenblatt.certificates import Data, Undecided

    X, y = clouds(0)
    plane = rb.Hyperplane([1.0, 0.0], -3.0)
    found = Undecided(Data.of(X, y), -0.5, 2.0, plane, why="asked to")
    ax = plot.certificate(found, X, y)
    assert "Undecided: if separable, the margin is at most 2.00" in title(ax)
    assert plane.score(line_points(part(ax, "boundary"))) == pytest.approx(0)


def test_a_table_has_a_panel_for_each_class_with_its_own_sides():
    X, y = clouds(0)
    y = np.where(X[:, 1] > 1.2, "high", y)
    table = rb.certify(X, y)
    axes = plot.certificate(table, X, y)
    assert len(axes) == len(table) == 3
    for ax, (name, own) in zip(axes, table.items()):
        assert legend(ax)[1].startswith(name)
        assert ("Not separable" in title(ax)) is not own.separable


def test_pairs_leave_out_the_rows_of_other_classes():
    X, y = clouds(0)
    y = np.where(X[:, 1] > 1.2, "high", y)
    table = rb.certify(X, y, multi_class="ovo")
    ax = plot.certificate(table[("no", "yes")], X, y)
    shown = np.concatenate([marked(ax, face=look.colour) for look in (style.POSITIVE, style.NEGATIVE)])
    assert same_points(shown, X[y != "high"])


def test_a_joint_certificate_is_drawn_by_its_highest_scores():
    X = np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]], 2, axis=0) + np.linspace(0, 0.5, 6)[:, None]
    y = list("aabbcc")
    found = rb.certify(X, y, multi_class="joint")
    ax = plot.certificate(found, X, y)
    assert "Jointly separable" in title(ax)
    wrong = rb.certify([[0, 0], [0, 0], [1, 1]], ["a", "b", "c"], multi_class="joint")
    ax = plot.certificate(wrong, [[0, 0], [0, 0], [1, 1]], ["a", "b", "c"])
    assert "no W has rows 0 and 1 right" in title(ax)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.certificate("yes", *XOR), "certificate must be what certify returned, got str"),
        (
            lambda: plot.certificate(rb.certify(*XOR), [[1, 2]], [0]),
            "speaks of 4 rows and 2 features, but X has 1 and 2",
        ),
        (lambda: plot.certificate(rb.certify(*XOR), XOR[0], [5, 1, 1, 5]), "the label 5 of y is none of which"),
        (
            lambda: plot.certificate(
                rb.certify([[0, 0, 0], [1, 0, 0], [0, 1, 0]], list("abc"), multi_class="joint"),
                [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
                list("abc"),
            ),
            "a joint certificate is drawn for two features",
        ),
        (
            lambda: plot.certificate(rb.certify([[0], [1], [2]], list("abc")), [[0], [1], [2]], list("abc"), ax=[None]),
            "ax has 1 axes for 3 panels",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_no_hull_is_drawn_where_the_margin_has_none():
    X, y = clouds(3)
    X = X + np.array([3.0, 0.0])  # away from the origin, so that a hyperplane through it may exist or not
    found = rb.certify(X, y, fit_intercept=False)
    ax = plot.certificate(found, X, y)
    assert not parts(ax, "nearest")
