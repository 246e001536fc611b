"""Mistakes, weights and slacks are drawn as the numbers that they are."""

import numpy as np
import pytest
from tests.drawings import legend, line_points, part, parts, rings, same_points, title

import rosenblatt as rb
from rosenblatt import plot
from rosenblatt.errors import InputError

plt = pytest.importorskip("matplotlib.pyplot")

AND = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1])


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def noisy(seed=0, n=30, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, d))
    X[n:, 0] += 2.0
    return X, np.repeat([0, 1], n)


# Mistakes


def test_bars_are_the_mistakes_of_each_pass_and_the_line_is_all_so_far():
    model = rb.Perceptron(shuffle=False).fit(*AND)
    ax = plot.mistakes(model)
    assert [bar.get_height() for bar in ax.patches] == model.mistakes_per_pass_.tolist()
    line = np.asarray(part(ax, "so far").get_xydata())
    assert line[:, 0].tolist() == list(range(1, model.n_iter_ + 1))
    assert line[:, 1].tolist() == np.cumsum(model.mistakes_per_pass_).tolist()
    assert line[-1, 1] == model.n_updates_


def test_the_bound_of_a_certificate_is_a_line_above_all_mistakes():
    model = rb.Perceptron(shuffle=False).fit(*AND)
    bound = rb.certify(*AND).mistake_bound
    ax = plot.mistakes(model, bound=rb.certify(*AND))
    assert set(np.asarray(part(ax, "bound").get_ydata()).tolist()) == {float(bound)}
    assert ax.get_ylim()[0] == 0 and ax.get_ylim()[1] > bound >= model.n_updates_
    assert f"bound: {bound}" in legend(ax)
    assert title(ax) == f"{model.n_updates_} mistakes in {model.n_iter_ - 1} passes, then none; at most {bound}"


def test_a_run_with_a_margin_takes_its_bound_from_a_proof():
    trace, certificate = rb.trace(*AND, shuffle=False, margin=0.5), rb.certify(*AND)
    bound = trace.proof(certificate).bound
    assert bound >= 2 * certificate.mistake_bound and title(plot.mistakes(trace, bound=bound)).endswith(str(bound))


def test_a_far_bound_gets_a_logarithmic_axis_that_still_shows_zero():
    model = rb.Perceptron(shuffle=False).fit(*AND)
    ax = plot.mistakes(model, bound=10_000)
    assert ax.get_yscale() == "symlog" and ax.get_ylim()[0] == 0
    assert plot.mistakes(model, bound=20).get_yscale() == "linear"


def test_many_passes_are_summed_up_and_the_line_ends_at_the_total():
    X, y = noisy()
    model = rb.AveragedPerceptron(max_iter=500, random_state=0).fit(X, y)
    ax = plot.mistakes(model)
    assert not ax.patches and ax.get_xscale() == "log"
    line = np.asarray(part(ax, "so far").get_xydata())
    assert line[-1].tolist() == [500, model.n_updates_]
    (area,) = ax.collections
    heights = area.get_paths()[0].vertices[:, 1]
    assert heights.max() <= model.mistakes_per_pass_.max() and heights.min() >= model.mistakes_per_pass_.min()


def test_a_bound_that_is_too_large_for_a_float_is_told_and_not_drawn():
    X, y = np.array([[1.0], [1e-200], [-1e-200]]), [1, 1, -1]
    traced = rb.trace(X, y, fit_intercept=False)
    certificate = rb.certify(X, y, fit_intercept=False)
    ax = plot.mistakes(traced, bound=certificate)
    assert ax.get_title(loc="left").endswith("at most 10^401") and not [a for a in ax.lines if a.get_gid() == "bound"]
    assert plot.proof(traced, certificate).get_title(loc="left").endswith("no bound is stated")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.mistakes(rb.Perceptron()), "has no mistakes_per_pass_"),
        (lambda: plot.mistakes(rb.Perceptron().fit(*AND), bound=-1), "bound must be 0 or more"),
        (lambda: plot.mistakes(rb.Perceptron().fit(*AND), bound="many"), "bound must be a number or a certificate"),
        *(
            (
                lambda learn=learn: plot.mistakes(learn(*AND), bound=rb.certify(*AND)),
                r"is that of margin=0, and this run had margin=0.5: give bound=trace\(X, y, ...\).proof",
            )
            for learn in (
                rb.Perceptron(margin=0.5).fit,
                lambda X, y: rb.trace(X, y, margin=0.5),
                lambda X, y: rb.train((X, y), margin=0.5),
            )
        ),
    ],
)
def test_mistakes_that_cannot_be_drawn_are_said(call, message):
    with pytest.raises(InputError, match=message):
        call()


# Weights


def test_the_largest_weights_come_first_under_their_names():
    w = np.array([0.5, -3.0, 0.0, 2.0, -0.1])
    ax = plot.weights(rb.Hyperplane(w), names=list("abcde"), top=3)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b", "d", "a"]
    assert [bar.get_width() for bar in ax.patches] == [-3.0, 2.0, 0.5]
    assert title(ax) == "The 3 largest of 5 weights"
    assert ax.yaxis.get_inverted()


def test_negative_weights_are_hatched_so_that_they_are_seen_in_grey():
    ax = plot.weights(rb.Hyperplane([1.0, -2.0]))
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [True, False]


def test_names_are_those_of_the_fit():
    pd = pytest.importorskip("pandas")
    X, y = noisy()
    model = rb.AveragedPerceptron(random_state=0).fit(pd.DataFrame(X, columns=["length", "width"]), y)
    names = {text.get_text() for text in plot.weights(model).get_yticklabels()}
    assert names == {"length", "width"}


def test_pixels_are_drawn_as_their_image_with_dashes_where_negative():
    w = np.arange(-6.0, 6.0)
    ax = plot.weights(rb.Hyperplane(w), shape=(3, 4))
    assert np.array_equal(np.asarray(ax.images[0].get_array()), w.reshape(3, 4))
    low, high = ax.images[0].get_clim()
    assert (low, high) == (-6.0, 6.0)  # 0 is in the middle of the colours
    dashes = [np.mean(segment, axis=0) for segment in part(ax, "negative").get_segments()]
    strong = [(place % 4, place // 4) for place in range(12) if w[place] < -0.12 * 6]
    assert same_points(dashes, strong)


def test_each_class_has_a_panel_or_one_is_chosen():
    X, y = noisy(d=4)
    y = y + (X[:, 1] > 0.5)
    model = rb.AveragedPerceptron(random_state=0).fit(X, y)
    axes = plot.weights(model)
    assert [title(ax) for ax in axes] == ["label 0", "label 1", "label 2"]
    alone = plot.weights(model, label=2)
    assert sorted(bar.get_width() for bar in alone.patches) == sorted(model.coef_[2].tolist())
    images = plot.weights(model, shape=(2, 2))
    for k, ax in enumerate(images):
        assert np.array_equal(np.asarray(ax.images[0].get_array()), model.coef_[k].reshape(2, 2))
    assert len({ax.images[0].get_clim() for ax in images}) == 1  # one scale for all


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.weights(rb.Hyperplane([1, 2]), shape=(3, 3)), "has 9 pixels, but there are 2 weights"),
        (lambda: plot.weights(rb.Hyperplane([1, 2]), names=["a"]), "names has 1 names for 2 weights"),
        (lambda: plot.weights(rb.Hyperplane([1, 2]), top=0), "top must be at least 1"),
        (lambda: plot.weights(rb.Hyperplane([1, 2]), label="a"), "label must be one of"),
        (lambda: plot.weights(rb.VotedPerceptron().fit(*AND)), "VotedPerceptron has no weights to draw"),
    ],
)
def test_weights_that_cannot_be_drawn_are_said(call, message):
    with pytest.raises(InputError, match=message):
        call()


# Slacks


def test_a_segment_leads_from_each_row_with_slack_to_its_margin():
    X, y = noisy()
    ax = plot.soft_margin(X, y, Cs=1.0)
    model = rb.SoftMargin(C=1.0).fit(X, y)
    segments = np.array(part(ax, "slack").get_segments())
    behind = model.slack_ > 1e-9
    assert same_points(segments[:, 0], X[behind])
    scores = model.hyperplane_.score(segments[:, 1])
    assert np.abs(scores) == pytest.approx(1)  # the end is on a margin line, that of its class
    order = np.lexsort(X[behind].T[::-1])
    assert np.array_equal(np.sign(scores)[np.lexsort(segments[:, 0].T[::-1])], (2 * y[behind] - 1)[order])
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    assert sorted(lengths) == pytest.approx(sorted(model.slack_[behind] / np.linalg.norm(model.coef_)))


def test_each_C_has_its_panel_with_its_band_and_its_mistakes():
    X, y = noisy()
    Cs = (0.01, 10.0)
    axes = plot.soft_margin(X, y, Cs=Cs)
    for ax, C in zip(axes, Cs):
        model = rb.SoftMargin(C=C).fit(X, y)
        assert model.hyperplane_.score(line_points(part(ax, "margin+1"))) == pytest.approx(1)
        wrong = (2 * y - 1) * model.hyperplane_.score(X) <= 0
        assert same_points(rings(ax), X[wrong])
        assert title(ax).startswith(f"C = {C:g}: margin ")


def test_several_C_on_one_picture_are_lines_of_different_dashes():
    X, y = noisy()
    _, ax = plt.subplots()
    assert plot.soft_margin(X, y, Cs=[0.1, 10], ax=ax) is ax
    for C in (0.1, 10):
        plane = rb.SoftMargin(C=C).fit(X, y).hyperplane_
        assert plane.score(line_points(part(ax, f"C={C:g}"))) == pytest.approx(0, abs=1e-9)
    assert len({str(line._dash_pattern) for line in ax.lines}) == 2
    assert not parts(ax, "band")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.soft_margin(*noisy(), Cs=[]), "Cs must be numbers above 0"),
        (lambda: plot.soft_margin(*noisy(), Cs=[1, -1]), "Cs must be numbers above 0"),
        (lambda: plot.soft_margin(*noisy(d=3), ax=plt.subplots()[1]), "need two features, got 3 features"),
        (lambda: plot.soft_margin(noisy()[0], np.arange(60) % 3), "y has 3"),
    ],
)
def test_soft_margins_that_cannot_be_drawn_are_said(call, message):
    with pytest.raises(InputError, match=message):
        call()
