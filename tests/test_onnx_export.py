"""The exported graph, run by onnxruntime, gives the labels that the model gives."""

import builtins
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, load_iris

import rosenblatt as rb
from rosenblatt.errors import InputError, MissingExtraError

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

DATA = {"iris": load_iris(return_X_y=True), "digits": load_digits(return_X_y=True)}
LINEAR = (rb.Perceptron, rb.AveragedPerceptron)
TIES = ("mistake", "positive", "negative")


def run(proto, rows):
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["label", "scores"], {"X": rows})


def fitted(estimator, rows, labels, **parameters):
    return estimator(**({"random_state": 0, "max_iter": 3} | parameters)).fit(rows, labels)


def assert_same_answers(model, rows, dtype="float64"):
    label, scores = run(rb.to_onnx(model, dtype=dtype), rows)
    assert label.tolist() == model.predict(rows).tolist()
    assert scores.dtype == np.float64
    assert scores.shape == model.decision_function(rows).shape
    np.testing.assert_allclose(scores, model.decision_function(rows), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("estimator", LINEAR)
def test_same_labels_on_real_data(estimator, multi_class, data, dtype):
    X, y = DATA[data]
    X = X.astype(dtype)
    for labels in (y, y == 1):
        assert_same_answers(fitted(estimator, X, labels, multi_class=multi_class), X, dtype)


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_that_are_equal_follow_the_tie_rule(n_classes, multi_class, tie):
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, (400, 3)).astype(np.float64)
    model = fitted(rb.Perceptron, rows, rng.integers(0, n_classes, 400), tie=tie, multi_class=multi_class)
    every = np.stack(np.meshgrid(*[np.arange(-3.0, 4)] * 3), axis=-1).reshape(-1, 3)
    scores = np.sort(model.decision_function(every).reshape(len(every), -1), axis=1)
    assert (scores == 0).any() if n_classes == 2 else (scores[:, -1] == scores[:, -2]).any()
    assert_same_answers(model, every)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from(TIES), st.sampled_from(["ovr", "joint"]))
@settings(max_examples=40, deadline=None)
def test_same_labels_on_random_data(seed, n_classes, tie, multi_class):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, (30, 4)).astype(np.float64)
    labels = np.arange(30) % n_classes
    for estimator in LINEAR:
        model = fitted(estimator, rows, labels, tie=tie, multi_class=multi_class, max_iter=4)
        label, _ = run(rb.to_onnx(model), rows)
        scores = model.decision_function(rows).reshape(30, -1)
        top = np.sort(np.hstack([scores, np.zeros((30, 1))]) if n_classes == 2 else scores, axis=1)
        clear = (top[:, -1] - top[:, -2] > 1e-9) | (estimator is rb.Perceptron)  # an average is rounded
        assert label[clear].tolist() == model.predict(rows)[clear].tolist()


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_model_without_updates_or_intercept(fit_intercept):
    model = rb.Perceptron(fit_intercept=fit_intercept).fit([[-1.0], [1.0]], [3, 5], coef_init=[[2.0]])
    assert_same_answers(model, np.array([[0.0], [-1.0], [2.0]]))


@pytest.mark.parametrize(
    "labels, element",
    [
        (["ä", "b", "c"], "STRING"),
        (np.array(["x", "y", "z"], object), "STRING"),
        (np.array([1, 2, 3], object), "INT64"),
        ([-7, 0, 2**40], "INT64"),
        (np.array([0, 1, 255], np.uint8), "INT64"),
        ([-1.0, 0.0, 3.0], "DOUBLE"),
        (np.array([-1.0, 0.0, 3.0], np.float32), "DOUBLE"),
    ],
    ids=str,
)
def test_labels_keep_their_kind(labels, element):
    X, y = DATA["iris"]
    for codes in (y, (y == 0).astype(int)):
        model = fitted(rb.Perceptron, X, np.asarray(labels)[codes])
        (label, _) = rb.to_onnx(model).graph.output
        assert label.type.tensor_type.elem_type == getattr(onnx.TensorProto, element)
        assert_same_answers(model, X)


def test_bool_labels_stay_bool():
    X, y = DATA["iris"]
    model = fitted(rb.Perceptron, X, y == 0)
    assert run(rb.to_onnx(model), X)[0].dtype == bool
    assert_same_answers(model, X)


def test_float32_rows_are_scored_in_double_precision():
    """The products differ by less than float32 can tell apart."""
    model = rb.Perceptron().fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1], coef_init=[[1.0, -1.0]], intercept_init=[1e-12])
    rows = np.array([[1e6, 1e6], [1e6 + 1, 1e6]], np.float32)
    label, scores = run(rb.to_onnx(model, dtype="float32"), rows)
    assert scores.tolist() == model.decision_function(rows).tolist()
    assert label.tolist() == model.predict(rows).tolist()
    assert 0 < scores[0] < 1e-6


def test_the_graph_says_who_made_it():
    made = rb.to_onnx(fitted(rb.AveragedPerceptron, *DATA["iris"]))
    onnx.checker.check_model(made, full_check=True)
    assert (made.producer_name, made.producer_version) == ("rosenblatt", rb.__version__)
    props = {prop.key: prop.value for prop in made.metadata_props}
    assert props == {"estimator": "AveragedPerceptron", "rosenblatt": rb.__version__}
    assert [node.op_type for node in made.graph.node] == ["MatMul", "Add", "ArgMax", "Gather"]


def test_one_row_and_no_row():
    X, y = DATA["iris"]
    proto = rb.to_onnx(fitted(rb.Perceptron, X, y))
    assert run(proto, X[:1])[0].shape == (1,)
    assert run(proto, X[:0])[0].shape == (0,)


def test_the_file_is_the_graph_and_a_crash_leaves_the_old_one(tmp_path, monkeypatch):
    X, y = DATA["iris"]
    made = rb.to_onnx(fitted(rb.Perceptron, X, y), tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == made

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="No space left"):
        rb.to_onnx(fitted(rb.Perceptron, X, y == 0), tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == made
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


# What cannot be exported ----------------------------------------------------------------------------------


def test_a_vote_is_refused_and_told_what_to_export():
    with pytest.raises(InputError, match="fit an AveragedPerceptron on the same data and export that"):
        rb.to_onnx(fitted(rb.VotedPerceptron, *DATA["iris"]))


def test_what_is_not_a_fitted_linear_model_is_refused():
    with pytest.raises(InputError, match="this Perceptron is not fitted yet"):
        rb.to_onnx(rb.Perceptron())
    with pytest.raises(InputError, match="to_onnx takes a linear model of rosenblatt, got dict"):
        rb.to_onnx({})


def test_other_types_are_refused(monkeypatch):
    model = fitted(rb.Perceptron, *DATA["iris"])
    with pytest.raises(InputError, match='dtype must be "float64" or "float32", got \'float16\''):
        rb.to_onnx(model, dtype="float16")
    monkeypatch.setattr("rosenblatt.onnx_export._LARGEST", 10)
    with pytest.raises(InputError, match=r"the coefficients take 96 bytes.*use rosenblatt\.save"):
        rb.to_onnx(model)
    model.classes_ = np.array([1, 2, 2**64 - 1], np.uint64)
    with pytest.raises(InputError, match="classes of dtype uint64 have no type in ONNX"):
        rb.to_onnx(model)


def test_without_onnx_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without_onnx(name, *given):
        if name == "onnx":
            raise ImportError(name)
        return real(name, *given)

    monkeypatch.setattr(builtins, "__import__", without_onnx)
    with pytest.raises(MissingExtraError, match=r'this needs onnx, from the extra "onnx": pip install'):
        rb.to_onnx(rb.Perceptron())
