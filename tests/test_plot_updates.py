"""Updates are drawn as they were made, and the lemmas of the proof where they are."""

import re

import numpy as np
import pytest
from tests.drawings import arrows, legend, line_points, part, parts, rings, same_points, title

import rosenblatt as rb
from rosenblatt import plot
from rosenblatt.errors import InputError
from rosenblatt.plot import animations

plt = pytest.importorskip("matplotlib.pyplot")

NOTE_001 = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]), np.array([-1, 1, 1, -1, -1, 1])


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def note_001(**parameters):
    return rb.trace(*NOTE_001, **({"shuffle": False, "tie": "positive", "fit_intercept": False} | parameters))


def clouds(seed=0, d=2, apart=4.0, n=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, d))
    X[n:, 0] += apart
    return X, np.repeat(["no", "yes"], n)


# Panels


def test_each_panel_shows_the_old_w_the_added_row_and_the_new_w_head_to_tail():
    X, y = NOTE_001
    trace = note_001()
    axes = plot.trace(trace)
    assert len(axes) == trace.n_updates == 3
    for k, ax in enumerate(axes, 1):
        old, new = trace.weights(k - 1)[0], trace.weights(k)[0]
        row = int(trace.row[k - 1])
        drawn = {tuple(np.round(np.concatenate(ends), 9)) for ends in arrows(ax)}
        expected = {(*old, *(old + y[row] * X[row])), (0.0, 0.0, *new)}
        expected |= {(0.0, 0.0, *old)} if old.any() else set()
        assert drawn == {tuple(np.round(ends, 9)) for ends in expected}
        assert same_points(rings(ax), [X[row]])
        assert f"Update {k} of 3: row {row}, pass 1" in title(ax)


def test_the_dashed_line_is_the_old_boundary_and_the_full_one_the_new():
    X, y = clouds()
    trace = rb.trace(X, y, shuffle=False)
    for k, ax in enumerate(plot.trace(trace)[:3], 1):
        for gid, after in (("old", k - 1), ("new", k)):
            w, b = trace.weights(after)
            if w.any():
                assert rb.Hyperplane(w, b).score(line_points(part(ax, gid))) == pytest.approx(0, abs=1e-9)
            else:
                assert not parts(ax, gid)
        sides = part(ax, "side+1").get_xy()
        assert (rb.Hyperplane(*trace.weights(k)).score(sides) >= -1e-6).all()


def test_an_update_that_undershot_says_so():
    X, y = [[5.0, 1.0], [0.1, 0.1], [4.0, 2.0]], [1, 0, 1]
    trace = rb.trace(X, y, shuffle=False, fit_intercept=False, max_iter=30)
    assert trace.undershot.any()
    k = int(np.argmax(trace.undershot)) + 1
    _, ax = plt.subplots()
    assert plot.trace(trace, updates=[k], ax=ax) is ax
    assert "undershot: still wrong" in title(ax)


def test_of_many_updates_the_first_and_the_last_are_shown():
    X, y = clouds(apart=1.5)
    trace = rb.trace(X, y, random_state=0, max_iter=20)
    axes = plot.trace(trace)
    assert [int(re.match(r"Update (\d+)", title(ax))[1]) for ax in axes] == [*range(1, 9), trace.n_updates]


def test_many_features_are_seen_in_the_plane_of_w_and_the_row_where_sides_are_exact():
    X, y = clouds(d=5, apart=3.0)
    trace = rb.trace(X, y, random_state=0, max_iter=5)
    k = next(k for k in range(2, trace.n_updates + 1) if trace.weights(k - 1)[0].any())
    _, ax = plt.subplots()
    plot.trace(trace, updates=[k], ax=ax)
    assert "Plane of w and the row, in 5 features" in title(ax)
    row = int(trace.row[k - 1])
    (w0, b0), (w1, b1) = trace.weights(k - 1), trace.weights(k)
    ringed = rings(ax)[0]
    assert np.linalg.norm(ringed) == pytest.approx(np.linalg.norm(X[row]))  # the row lies in the plane
    for gid, w, b in (("old", w0, b0), ("new", w1, b1)):
        start, tip = line_points(part(ax, gid))
        along = (tip - start) / np.linalg.norm(tip - start)
        gap = ringed - start
        distance = abs(gap[0] * along[1] - gap[1] * along[0])
        assert distance == pytest.approx(rb.Hyperplane(w, b).distance(X[row]))


def test_the_old_vector_the_row_and_the_new_vector_close_a_triangle_in_any_scale():
    X, y = clouds(d=4, apart=3.0)
    trace = rb.trace(10 * X + 30, y, random_state=0, max_iter=3)
    _, ax = plt.subplots()
    plot.trace(trace, updates=[3], ax=ax)
    (old, added, new) = arrows(ax)
    assert old[0] == pytest.approx(new[0])
    assert added[0] == pytest.approx(old[1])
    assert added[1] == pytest.approx(new[1])


def test_jointly_learned_updates_show_the_boundary_to_the_rival():
    X, y = clouds()
    y = np.where(X[:, 1] > 0.7, "high", y)
    trace = rb.trace(X, y, multi_class="joint", random_state=0, max_iter=3)
    _, ax = plt.subplots()
    plot.trace(trace, updates=[2], ax=ax)
    (w, b), up, down = trace.weights(2), trace.up[1], trace.down[1]
    plane = rb.Hyperplane(w[up] - w[down], b[up] - b[down])
    assert plane.score(line_points(part(ax, "new"))) == pytest.approx(0, abs=1e-9)
    names = legend(ax)
    assert names[0].startswith(str(trace.classes_[down])) and names[1].startswith(str(trace.classes_[up]))


def test_a_class_against_the_rest_is_drawn_by_its_problem():
    X, y = clouds()
    y = np.where(X[:, 1] > 0.7, "high", y)
    trace = rb.trace(X, y, random_state=0, max_iter=3)
    _, ax = plt.subplots()
    plot.trace(trace, updates=[1], problem=2, ax=ax)
    w, b = trace.weights(1, 2)
    assert rb.Hyperplane(w, b).score(line_points(part(ax, "new"))) == pytest.approx(0, abs=1e-9)
    assert legend(ax)[1].startswith(str(trace.classes_[2]))


# Animations


def test_an_animation_is_written_as_a_gif_with_a_frame_for_each_update(tmp_path):
    from PIL import Image

    moving = plot.trace(note_001(), kind="animation", path=tmp_path / "updates.gif", seconds=0.5)
    assert type(moving).__name__ == "FuncAnimation"
    with Image.open(tmp_path / "updates.gif") as picture:
        assert picture.n_frames == 3
        assert picture.info["duration"] == 500
    assert [path.name for path in tmp_path.iterdir()] == ["updates.gif"]


def test_an_animation_in_html_holds_all_frames_and_loads_nothing(tmp_path):
    plot.trace(note_001(), kind="animation", path=tmp_path / "updates.html")
    page = (tmp_path / "updates.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 3
    assert "http" not in page


def test_an_mp4_needs_ffmpeg_and_says_so(tmp_path, monkeypatch):
    from matplotlib.animation import FFMpegWriter

    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    with pytest.raises(InputError, match="written by ffmpeg, which is not installed"):
        plot.trace(note_001(), kind="animation", path=tmp_path / "updates.mp4")
    assert not list(tmp_path.iterdir())


def test_an_animation_is_written_as_an_mp4_where_ffmpeg_is(tmp_path):
    from matplotlib.animation import FFMpegWriter

    if not FFMpegWriter.isAvailable():
        pytest.skip("no ffmpeg on this machine: apt-get install ffmpeg (Debian) has it")
    plot.trace(note_001(), kind="animation", path=tmp_path / "updates.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["updates.mp4"]
    assert (tmp_path / "updates.mp4").read_bytes()[4:8] == b"ftyp"


def test_a_failed_animation_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "updates.html"
    path.write_text("old", encoding="utf-8")

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr(animations, "_player", fail)
    with pytest.raises(OSError, match="disk full"):
        plot.trace(note_001(), kind="animation", path=path)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("updates.html", "old")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "film"}, "kind must be 'panels' or 'animation'"),
        ({"updates": [4]}, "updates must be numbers from 1 to 3"),
        ({"problem": 1}, "problem must be from 0 to 0"),
        ({"kind": "animation", "path": "a.mov"}, "written as .gif, .mp4 or .html"),
        ({"kind": "animation", "seconds": 0}, "seconds must be above 0"),
    ],
)
def test_what_cannot_be_drawn_is_said(arguments, message):
    with pytest.raises(InputError, match=message):
        plot.trace(note_001(), **arguments)
    with pytest.raises(InputError, match=r"what rosenblatt\.trace returned"):
        plot.trace(rb.Hyperplane([1]))


# The proof


@pytest.mark.parametrize("seed", range(3))
def test_the_run_is_drawn_between_the_lemmas_which_cross_at_the_bound(seed):
    X, y = clouds(seed, apart=6.0)
    trace, found = rb.trace(X, y, random_state=seed), rb.certify(X, y)
    proof = trace.proof(found)
    ax = plot.proof(trace, found)
    floor, ceiling = (np.asarray(part(ax, gid).get_xydata()) for gid in ("floor", "ceiling"))
    projection, norm = (np.asarray(part(ax, gid).get_xydata()) for gid in ("projection", "norm"))
    assert norm[:, 1] == pytest.approx(np.sqrt(proof.squared_norm[-len(norm) :]))
    assert projection[:, 1] == pytest.approx(proof.projection[-len(projection) :])
    k = projection[:, 0]
    slack = 1e-9 * norm[:, 1].max()
    assert (projection[:, 1] >= proof.margin * k - slack).all()
    assert (projection[:, 1] <= norm[:, 1] + slack).all()
    assert (norm[:, 1] <= proof.radius * np.sqrt(k) + slack).all()
    assert floor[:, 1] == pytest.approx(proof.margin * floor[:, 0])
    assert ceiling[:, 1] == pytest.approx(proof.radius * np.sqrt(ceiling[:, 0]))
    star = np.asarray(part(ax, "bound").get_xydata())[0]
    assert star[0] == proof.bound
    crossing = floor[np.argmax(floor[:, 1] > ceiling[:, 1]), 0]
    assert crossing >= proof.bound * 0.99
    assert f"leave room for {proof.bound:,} at most" in title(ax)


def test_a_near_bound_has_plain_axes_and_a_far_one_logarithms():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    trace, found = rb.trace(X, y, shuffle=False), rb.certify(X, y)
    assert plot.proof(trace, found).get_xscale() == "linear"
    X, y = clouds(apart=8.0)
    ax = plot.proof(rb.trace(X, y, random_state=0), rb.certify(X, y))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_with_weights_the_lemmas_are_drawn_as_far_as_the_run_went():
    X, y = clouds(apart=6.0)
    trace = rb.trace(X, y, random_state=0, sample_weight=np.linspace(1, 2, len(y)))
    ax = plot.proof(trace, rb.certify(X, y))
    assert "no bound is stated" in title(ax)
    assert not parts(ax, "bound")
    floor = np.asarray(part(ax, "floor").get_xydata())
    assert floor[:, 1] == pytest.approx(trace.proof(rb.certify(X, y)).projection_bound)


def test_a_proof_may_be_given_itself_and_must_have_mistakes():
    X, y = clouds(apart=6.0)
    found = rb.certify(X, y)
    trace = rb.trace(X, y, random_state=0)
    _, ax = plt.subplots()
    assert plot.proof(trace.proof(found), ax=ax) is ax
    with pytest.raises(InputError, match=r"what rosenblatt\.trace returned, or its proof"):
        plot.proof(found)
    w = found.hyperplane
    none = rb.trace(X, y, coef_init=w.w, intercept_init=w.b)
    with pytest.raises(InputError, match="made no mistake"):
        plot.proof(none, found)
    with pytest.raises(InputError, match="made no mistake"):
        plot.trace(none)


def test_mistakes_of_a_trace_are_those_of_its_passes():
    trace = note_001()
    ax = plot.mistakes(trace)
    assert [bar.get_height() for bar in ax.patches] == trace.mistakes_per_pass.tolist()
