"""Certificates, traces and fitted models show pictures by themselves, and words where they cannot."""

import base64
import re
import sys

import numpy as np
import pytest
from sklearn.base import clone

import rosenblatt as rb
from rosenblatt import notebooks
from rosenblatt.checking import sketches

pytest.importorskip("matplotlib")

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
AND = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]


def pictures(html):
    """The SVG texts that the HTML holds."""
    return [base64.b64decode(data).decode() for data in re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)]


def clouds(n=30, d=2, apart=6.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2 * n, d))
    X[n:, 0] += apart
    return X, np.repeat(["<no>", "yes"], n)


@pytest.mark.parametrize(
    ("data", "alt"), [(XOR, "Not separable: the hulls"), (AND, "Separable: the largest margin is 0.354")]
)
def test_a_certificate_shows_its_words_and_its_picture(data, alt):
    html = rb.certify(*data)._repr_html_()
    (picture,) = pictures(html)
    assert picture.lstrip().startswith("<?xml") and "<path" in picture
    assert alt in html
    assert "separa" in html.partition("<img")[0]
    assert "http" not in re.sub(r'src="[^"]+"', "", html)


def test_labels_cannot_write_html():
    X, y = clouds()
    html = rb.certify(X, y)._repr_html_()
    assert "<no>" not in html and "&lt;no&gt;" in html


def test_a_table_shows_a_picture_of_each():
    X, y = clouds()
    y = np.where(X[:, 1] > 1.2, "high", y)
    assert len(pictures(rb.certify(X, y)._repr_html_())) == 3


def test_the_picture_of_a_large_data_set_is_drawn_from_few_rows_that_hold_all_it_is_about():
    X, y = clouds(n=20_000, d=6, apart=12.0)
    found = rb.certify(X, y)
    sketch = found._sketch
    assert len(sketch.rows) <= 400
    assert set(found.support.tolist()) <= set(sketch.rows.tolist())
    assert np.array_equal(sketch.X, X[sketch.rows])
    assert np.array_equal(rb.certify(X, y)._sketch.rows, sketch.rows)
    html = found._repr_html_()
    assert len(html) < 400_000
    assert "of 40,000 rows shown" in html
    assert "later" in found.__dict__ and found.later is not None  # nothing long was computed for it


def test_rows_that_would_need_much_memory_are_not_kept():
    from rosenblatt import inputs

    X = np.zeros((500, 2000))
    sides = np.where(np.arange(500) % 2, 1, -1).astype(np.int8)
    assert sketches.sketch(inputs.rows(X), sides, np.arange(290)) is None
    few = sketches.sketch(inputs.rows(X), sides, np.arange(3))
    assert few is not None and few.X.size <= 2 * 100_000 + 3 * 2000


def test_the_sketch_is_no_part_of_the_certificate():
    found = rb.certify(*XOR)
    again = rb.certificate_from_json(found.to_json())
    assert again == found and hash(again) == hash(found)
    assert not hasattr(again, "_sketch")
    assert "<img" not in again._repr_html_() and "Not separable" in again._repr_html_()


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (rb.Perceptron(random_state=0), 1),
        (rb.AveragedPerceptron(random_state=0), 1),
        (rb.VotedPerceptron(random_state=0), 1),
        (rb.MaxMargin(), 1),
        (rb.SoftMargin(), 1),
    ],
)
def test_a_fitted_model_shows_a_picture_under_scikit_learns_diagram(model, count):
    X, y = clouds()
    model = clone(model)
    before = model._repr_mimebundle_()["text/html"]
    assert not pictures(before) and "sk-container" in before
    model.fit(X, y)
    for html in (model._repr_mimebundle_()["text/html"], model._repr_html_()):
        assert "sk-container" in html
        assert len(pictures(html)) == count
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_a_model_of_several_classes_shows_its_mistakes():
    X, y = clouds()
    y = np.where(X[:, 1] > 1.0, "high", y)
    html = rb.AveragedPerceptron(random_state=0).fit(X, y)._repr_html_()
    assert "mistakes in 10 passes" in html


def test_with_the_text_display_there_is_no_html():
    from sklearn import config_context

    X, y = clouds()
    model = rb.Perceptron(random_state=0).fit(X, y)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_without_matplotlib_the_words_stand_alone(monkeypatch):
    found, model = rb.certify(*XOR), rb.MaxMargin().fit(*AND)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<img" not in found._repr_html_() and "Not separable" in found._repr_html_()
    assert "sk-container" in model._repr_html_() and not pictures(model._repr_html_())


def test_what_cannot_be_drawn_has_no_picture():
    assert notebooks.picture(object()) == ""
    table = rb.certify([[0, 0, 0], [1, 0, 0], [0, 1, 0]], list("abc"), multi_class="joint")
    assert "Jointly separable" in table._repr_html_() and "<img" not in table._repr_html_()


def test_nothing_is_left_open_and_no_setting_is_changed():
    import matplotlib.pyplot as plt

    plt.close("all")
    before = dict(plt.rcParams)
    rb.certify(*XOR)._repr_html_()
    assert plt.get_fignums() == []
    assert dict(plt.rcParams) == before


def test_a_trace_shows_its_table_and_its_updates():
    html = rb.trace(*AND, shuffle=False)._repr_html_()
    assert "<table" in html
    assert len(pictures(html)) == 1
