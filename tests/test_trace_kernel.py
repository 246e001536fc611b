"""The trace of a kernel perceptron: the textbook's terms, and the coefficients of the fit at its end, to the bit."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import noisy, problems, stored

import rosenblatt as rb
from rosenblatt import textbook as tb
from rosenblatt.errors import InputError

CIRCLE = {"algorithm": "kernel", "degree": 2, "gamma": 1.0, "coef0": 1.0}


@settings(max_examples=60, deadline=None)
@given(problems(st.sampled_from((2, 3)), first_guess=False, margin=False))
def test_the_mistakes_are_the_textbook_s(problem):
    data, setting = problem
    options = {name: value for name, value in setting.parameters().items() if name not in ("fit_intercept", "margin")}
    X, kernel = setting.stored(data.X), tb.polynomial_kernel(2)
    trace = rb.trace(X, data.codes, sample_weight=setting.weights, keep="visits", **CIRCLE, **options)
    for k, positive in enumerate(data.positives):
        given = setting.for_the_textbook()
        del given["fit_intercept"], given["margin"]
        run = tb.kernel_perceptron(data.X, data.signs(positive), kernel, **given)
        own = trace.updates(k)
        mistakes = list(zip((trace.pass_[own] - 1).tolist(), trace.row[own].tolist()))
        assert mistakes == run.mistakes
        assert trace.survival(k).tolist() == run.survival
        assert trace.step[own].tolist() == [step for _, step in run.terms]
        steps = trace.steps.some(trace.steps.problem == k)
        for row, learned, score in zip(steps.row.tolist(), steps.learned.tolist(), steps.score.tolist()):
            assert score == tb.expansion(run.terms[:learned], kernel, data.X[row])
        assert trace.norm[own].tolist() == [np.sqrt(kernel(data.X[row], data.X[row])) for _, row in run.mistakes]


@pytest.mark.parametrize("readout", ["last", "average"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("storage", ["dense", "csr_array int32"])
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_it_ends_with_the_coefficients_of_the_fit(readout, multi_class, storage, kernel):
    X, y = noisy(120, 5, seed=0, n_classes=3)
    X = stored(X, "float64", storage)
    options = {"kernel": kernel, "multi_class": multi_class, "random_state": 1, "max_iter": 4, "readout": readout}
    trace = rb.trace(X, y, algorithm="kernel", **options)
    model = rb.KernelPerceptron(**options).fit(X, y)
    assert trace.support.tolist() == model.support_.tolist() and trace.n_updates == model.n_updates_
    assert not np.any(trace.weights(0)[0])
    ends = [trace.average(-1, p) if readout == "average" else trace.weights(-1, p) for p in range(trace.n_problems)]
    assert np.atleast_2d(np.squeeze([w for w, _ in ends])).tobytes() == model.dual_coef_.tobytes()


def test_scores_are_those_that_learning_saw():
    X, y = noisy(300, 4, seed=3)
    trace = rb.trace(X, y, algorithm="kernel", kernel="rbf", random_state=0, max_iter=5, keep="visits")
    side = 2 * y[trace.steps.row] - 1
    assert ((side * trace.steps.score <= 0) == trace.steps.mistake).all()
    assert (trace.score == trace.steps.score[trace.steps.mistake]).all()
    half = rb.trace(X, y, algorithm="kernel", kernel="rbf", random_state=0, max_iter=5, max_steps=20)
    assert half.truncated and half.row.tolist() == trace.row[:20].tolist()
    assert half.score.tolist() == trace.score[:20].tolist()


def test_it_is_shown_and_kept():
    rows, labels = [[-2], [-1], [1], [2]], [1, 0, 0, 1]
    trace = rb.trace(rows, labels, shuffle=False, **CIRCLE)
    assert trace.row.tolist() == [0, 1, 2, 3, 1, 2, 1, 2]  # textbook.kernel_perceptron's example
    assert str(trace).splitlines()[0].split()[-2:] == ["coefficients", "survived"]
    content = json.loads(trace.to_json())
    assert content["support"] == [0, 1, 2, 3] and content["last"]["w"] == [[1.0, -3.0, -3.0, 1.0]]
    assert trace.path()[0].shape == (9, 4)


def test_what_a_kernel_has_not():
    rows, labels = [[-2], [-1], [1], [2]], [1, 0, 0, 1]
    with pytest.raises(InputError, match="a kernel perceptron begins with 0: leave coef_init and intercept_init out"):
        rb.trace(rows, labels, coef_init=[1.0], **CIRCLE)
    with pytest.raises(InputError, match="which a trace keeps: set max_support=None"):
        rb.trace(rows, labels, max_support=2, readout="last", **CIRCLE)
    trace = rb.trace(rows, labels, shuffle=False, **CIRCLE)
    with pytest.raises(InputError, match="certify knows no kernel"):
        trace.proof("any")
    with pytest.raises(InputError, match="a kernel has none"):
        trace.to_frame(weights=True)


def test_it_is_drawn_by_its_mistakes_and_not_by_vectors():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from rosenblatt import plot

    trace = rb.trace([[-2], [-1], [1], [2]], [1, 0, 0, 1], shuffle=False, **CIRCLE)
    with pytest.raises(InputError, match="a kernel perceptron has no vector to draw"):
        plot.trace(trace)
    assert "<table" in trace._repr_html_() and "<img" not in trace._repr_html_()
    axes = plot.mistakes(trace, ax=Figure().add_subplot())
    assert axes.get_title(loc="left").startswith(f"{trace.n_updates} mistakes in ")


def test_a_kernel_perceptron_is_drawn_by_what_it_predicts():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from rosenblatt import plot, reports

    angle = np.linspace(0, 6, 40)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1) * np.where(np.arange(40) % 2, 3.0, 1.0)[:, None]
    y = np.arange(40) % 2
    model = rb.KernelPerceptron(kernel="poly", degree=2, coef0=1.0, random_state=0, max_iter=50).fit(X, y)
    axes = plot.boundary(model, X, y, ax=Figure().add_subplot())
    assert axes.get_title(loc="left").startswith(f"KernelPerceptron: {int((model.predict(X) != y).sum())} of 40 rows")
    (circle,) = [path for lines in axes.collections for path in lines.get_paths() if len(path.vertices) > 100]
    radii = np.linalg.norm(circle.vertices, axis=1)
    assert radii.min() > 1.0 and radii.max() < 3.0  # the boundary lies between the two rings
    assert reports.training_report(model, X, y).count("<img") == 2  # the boundary, and the mistakes
