"""A trace as a data frame and as JSON: the same facts, from which the run can be replayed."""

import importlib.util
import json
import math
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from strategies import noisy, stored

import rosenblatt as rb
from rosenblatt.errors import InputError, MissingExtraError

X001 = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
Y001 = [-1, +1, +1, -1, -1, +1]
NOTE_001 = {"tie": "positive", "shuffle": False, "fit_intercept": False, "max_iter": 1}


def numbers(text):
    """JSON as it is read where NaN and infinity are no numbers."""

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


# ---- Data frames ----
@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_a_frame_of_the_library_asked_for(library, kind):
    frame = rb.trace(X001, Y001, keep="visits", **NOTE_001).to_frame(library)
    assert isinstance(frame, kind)
    assert list(frame.columns) == [
        "number", "pass", "visit", "row", "label", "prediction", "score", "mistake", "undershot", "norm", "step",
    ]  # fmt: skip
    assert frame["row"].to_list() == [0, 1, 2, 3, 4, 5]
    assert frame["prediction"].to_list() == [1, 1, -1, -1, 1, 1]
    assert frame["mistake"].to_list() == [True, False] * 3
    assert frame["step"].to_list() == [-1, 0, 1, 0, -1, 0]


def test_weights_as_columns():
    frame = rb.trace(X001, Y001, keep="visits", **NOTE_001).to_frame("polars", weights=True)
    assert frame["w_1"].to_list() == [1, 1, 2, 2, 3, 3] and frame["w_2"].to_list() == [-2, -2, -1, -1, 1, 1]
    named = pd.DataFrame(X001, columns=["length", "width"])
    trace = rb.trace(named, Y001, keep="visits", **NOTE_001)
    assert trace.to_frame("pandas", weights=True).columns[-3:].tolist() == ["w_length", "w_width", "b"]
    assert str(trace).splitlines()[0].split() == ["length", "width", "ŷ", "y", "Mistake?", "w"]


def test_several_problems():
    X, y = noisy(40, 3, seed=0, n_classes=3)
    names = np.asarray(["a", "b", "c"])[y]
    trace = rb.trace(X, names, random_state=0, max_iter=3)
    frame = trace.to_frame("polars", weights=True)
    for problem, name in enumerate("abc"):
        own = frame.filter(pl.col("class") == name)
        w, b = trace.weights(-1, problem)
        assert own[-1, "b"] == b and [own[-1, f"w_{j + 1}"] for j in range(3)] == w.tolist()
    joint = rb.trace(X, names, random_state=0, max_iter=3, multi_class="joint")
    frame = joint.to_frame("polars")
    assert frame["up"].to_list() == joint.classes_[joint.up].tolist()
    assert frame["down"].to_list() == joint.classes_[joint.down].tolist()
    with pytest.raises(InputError, match="joint learning has a vector for each class"):
        joint.to_frame(weights=True)


def test_a_library_that_is_not_there_is_named(monkeypatch):
    trace = rb.trace(X001, Y001, **NOTE_001)
    with pytest.raises(InputError, match="library must be 'polars' or 'pandas', got 'dask'"):
        trace.to_frame("dask")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="to_frame needs polars or pandas: pip install polars"):
        trace.to_frame()
    with pytest.raises(MissingExtraError, match="to_frame needs pandas: pip install pandas"):
        trace.to_frame("pandas")


# ---- JSON ----
def replayed(content):
    """The last vectors, from the JSON alone: the additions of the run in its order."""
    W, b = np.array(content["first_guess"]["w"]), np.array(content["first_guess"]["b"])
    if "x" in content["rows"]:
        rows = dict(zip(content["rows"]["numbers"], np.array(content["rows"]["x"])))
    else:
        rows = {}
        for i, columns, values in zip(*(content["rows"][name] for name in ("numbers", "columns", "values"))):
            rows[i] = np.zeros(content["n_features"])
            rows[i][columns] = values
    steps = content["steps"]
    intercept = content["parameters"]["fit_intercept"]
    for t, (row, step) in enumerate(zip(steps["row"], steps["step"])):
        moves = [(steps["problem"][t], step)]
        if "up" in steps:
            moves = [(steps["up"][t], step), (steps["down"][t], -step)] if step else []
        for vector, size in moves:
            W[vector] += size * rows[row]
            b[vector] += size if intercept else 0
    return {"w": W.tolist(), "b": b.tolist()}


@pytest.mark.parametrize("keep", ["mistakes", "visits"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("storage", ["dense", "csr_array int32"])
def test_it_can_be_replayed_without_the_data(keep, multi_class, n_classes, storage):
    X, y = noisy(40, 5, seed=2, n_classes=n_classes)
    trace = rb.trace(
        stored(X, "float64", storage), y, keep=keep, multi_class=multi_class, random_state=1, max_iter=4, eta0=0.1
    )
    content = numbers(trace.to_json())
    assert (content["format"], content["version"]) == ("rosenblatt trace", 1)
    assert len(content["steps"]["row"]) == len(trace) and content["n_updates"] == trace.n_updates
    assert replayed(content) == content["last"]
    ends = [trace.weights(-1, problem) for problem in range(trace.n_problems)]
    assert content["last"]["w"] == (ends[0][0] if trace.joint else np.asarray([w for w, _ in ends])).tolist()
    assert content["survival"] == [trace.survival(problem).tolist() for problem in range(trace.n_problems)]
    assert "rows" not in numbers(trace.to_json(rows=False))


def test_what_json_has_no_form_for():
    X = [[1e200, 0.0], [-1.0, 1.0], [0.5, 2.0]]
    weights = {"a": 2.0, "b": 1.0}
    trace = rb.trace(
        X,
        ["b", "a", "a"],
        class_weight=weights,
        random_state=np.random.RandomState(0),
        max_iter=3,
        tol=-math.inf,
        keep="visits",
    )
    content = numbers(trace.to_json())
    assert content["parameters"]["random_state"] is None and content["seed"] == trace.seed
    assert content["parameters"]["class_weight"] == [2.0, 1.0] and content["parameters"]["tol"] == "-inf"
    assert None in content["steps"]["norm"]  # ‖x‖² is beyond float64
    days = np.asarray([date(2026, 1, 1), date(2026, 1, 2), date(2026, 1, 1)], dtype=object)
    assert numbers(rb.trace(X001[:3], days).to_json())["classes"] == ["2026-01-01", "2026-01-02"]


def test_labels_that_would_be_markup_are_escaped():
    trace = rb.trace([[1.0], [-1.0], [2.0]], ["<b>", "&", "c"], multi_class="joint", shuffle=False)
    page = trace._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;" in page and "&amp;" in page


# ---- Tables ----
def wide(**parameters):
    X, y = noisy(40, 4, seed=1, n_classes=3)
    frame = pd.DataFrame(X, columns=["sepal_length", "sepal_width", "petal_length", "petal_width"])
    return rb.trace(
        frame, np.asarray(["setosa", "versicolor", "virginica"])[y], random_state=0, max_iter=2, **parameters
    )


def test_a_table_leaves_out_what_does_not_fit():
    trace = wide()
    assert max(map(len, str(trace).splitlines())) > 100 and "sepal_width" in str(trace)
    lines = trace.table(width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ["class", "pass", "row", "ŷ", "y", "Mistake?", "w", "b"]
    assert "The features are left out, to fit 80 columns." in lines
    assert trace.table(width=200) == trace.table()
    full, short = lines[2], trace.table(width=60).splitlines()[2]
    first, last = full[full.index("(") + 1 : full.index(")")].split(", ")[::3]
    assert f"({first}, ..., {last})" in short


def test_two_vectors_that_are_moved_stand_below_each_other_where_they_do_not_fit():
    trace = wide(multi_class="joint")
    lines = trace.table(width=80).splitlines()
    assert max(map(len, lines)) <= 80
    step = trace[0]
    label, w = lines[0].index("y  "), lines[0].index(" w ") + 1
    for line, name in zip(lines[2:4], (step.up, step.down)):
        own = step.w_after[trace.classes_.tolist().index(name)]
        assert line[label:].startswith(name) and line[w:].startswith(f"({own[0]:.4g}, ..., {own[-1]:.4g})")
    assert "Under y: the rival, which moved down." in lines


def test_notes_under_a_table_are_broken_to_fit():
    X, y = noisy(30, 2, seed=0)
    assert max(map(len, rb.trace(X, y, random_state=0, algorithm="averaged").table(width=44).splitlines()[-3:])) <= 44
