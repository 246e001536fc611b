"""A model that was saved and loaded is the same model; a file that is not whole is refused."""

import io
import json
import os
import pickle
import stat
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as file_of
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

import rosenblatt as rb
from rosenblatt import model_file, packed_weights
from rosenblatt.errors import InputError, ModelFileError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, y = load_iris(return_X_y=True)
X_SPARSE = sp.csr_matrix(np.where(X > 1.5, X, 0))
LABELS = {
    "str": np.array(["setosa", "versicolor", "größe"]),
    "object": np.array(["a", "b", "c"], dtype=object),
    "int": np.array([-5, 0, 7]),
    "uint8": np.array([1, 2, 255], dtype=np.uint8),
    "float": np.array([-1.0, 0.0, 4.0]),
    "float32": np.array([-1.0, 0.0, 4.0], dtype=np.float32),
}
ESTIMATORS = (rb.Perceptron, rb.AveragedPerceptron, rb.VotedPerceptron)


def fitted(estimator, labels=y, rows=X, **parameters):
    parameters = {"random_state": 0, "max_iter": 3, "shuffle": False} | parameters
    return estimator(**parameters).fit(rows, labels)


def save_and_load(model, folder):
    rb.save(model, folder / "model.safetensors")
    return rb.load_model(folder / "model.safetensors")


def assert_same_bits(one, other):
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert (name, array.dtype, array.shape) == (name, other[name].dtype, other[name].shape)
        assert array.tobytes() == other[name].tobytes(), name


def assert_same(one, other, rows=X):
    assert type(one) is type(other)
    assert one.get_params() == other.get_params()
    assert one.classes_.dtype.kind == other.classes_.dtype.kind
    assert one.classes_.tolist() == other.classes_.tolist()
    assert [type(label) for label in one.classes_] == [type(label) for label in other.classes_]
    for name in ("n_features_in_", "n_iter_", "n_updates_", "converged_", "separates_"):
        assert getattr(one, name) == getattr(other, name)
        assert type(getattr(one, name)) is type(getattr(other, name))
    for name in ("mistakes_per_pass_", "updates_per_class_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert_same_bits(one._learner.to_arrays(), other._learner.to_arrays())
    np.testing.assert_array_equal(one.decision_function(rows), other.decision_function(rows))
    np.testing.assert_array_equal(one.predict(rows), other.predict(rows))


def assert_goes_on_alike(one, other, rows, labels):
    assert_same(one.partial_fit(rows[::-1], labels[::-1]), other.partial_fit(rows[::-1], labels[::-1]))
    for model in (one, other):
        model.set_params(warm_start=True, max_iter=2, shuffle=True).fit(rows, labels)
    assert_same(one, other)


# A round trip ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [X, X.astype(np.float32), X_SPARSE], ids=["float64", "float32", "sparse"])
@pytest.mark.parametrize("labels", [y, y == 0], ids=["three classes", "two classes"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_loaded_model_predicts_and_goes_on_to_the_bit(estimator, multi_class, labels, rows, tmp_path):
    model = fitted(estimator, labels, rows, multi_class=multi_class)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    assert_goes_on_alike(model, loaded, rows, labels)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_come_back_with_their_type(estimator, labels, tmp_path):
    model = fitted(estimator, np.sort(labels)[y])
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    assert loaded.classes_.dtype == np.sort(labels).dtype


def test_bool_labels_come_back_as_bool(tmp_path):
    assert save_and_load(fitted(rb.Perceptron, y == 1), tmp_path).classes_.dtype == bool


def test_labels_that_are_objects_of_other_types_come_back(tmp_path):
    model = rb.Perceptron().partial_fit(X[:2], np.array([1, 2], object), classes=np.array([1, 2, 3.5], object))
    assert_same(model, save_and_load(model, tmp_path))


@pytest.mark.parametrize(
    "parameters",
    [
        {"early_stopping": True, "max_iter": 20},
        {"restart": True},
        {"max_updates": 5},
        {"fit_intercept": False, "tie": "positive", "eta0": 0.1, "margin": 0.5},
        {"tol": -np.inf, "n_jobs": np.int64(2), "fit_intercept": np.True_, "random_state": np.int32(3)},
        {"class_weight": "balanced"},
        {"class_weight": {0: 2.0, 1: 0.5, 2: 3}},
    ],
    ids=str,
)
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_come_back(estimator, parameters, tmp_path):
    model = fitted(estimator, **parameters)
    assert_same(model, save_and_load(model, tmp_path))


def test_the_keys_of_class_weight_keep_their_types(tmp_path):
    for labels, weights in (
        (np.array(["a", "b", "c"]), {"a": 1.0, "b": 2, "c": 3.5}),
        (np.array([0.0, 1.0, 2.0]), {0.0: 1.0, 1.0: 2, 2.0: 3.5}),
    ):
        back = save_and_load(fitted(rb.Perceptron, labels[y], class_weight=weights), tmp_path).class_weight
        assert [(type(k), k, type(w), w) for k, w in back.items()] == [
            (type(k), k, type(w), w) for k, w in weights.items()
        ]


def test_the_first_guess_comes_back(tmp_path):
    model = rb.VotedPerceptron().fit(X, y == 0, coef_init=[1, 2, 3, 4], intercept_init=[5])
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded)
    assert loaded._learner.first_weights[0, :4].tolist() == [1, 2, 3, 4]


def test_a_vote_without_mistakes_comes_back(tmp_path):
    model = rb.VotedPerceptron().fit([[-1.0], [1.0]], [0, 1], coef_init=[[1.0]])
    assert model.n_updates_ == 0
    assert_same(model, save_and_load(model, tmp_path), [[3.0], [-2.0]])


def test_feature_names_come_back_and_are_checked(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["länge", 'a "b"', "\n", "x[3]"])
    model = fitted(rb.AveragedPerceptron, rows=frame)
    loaded = save_and_load(model, tmp_path)
    assert_same(model, loaded, frame)
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[frame.columns[::-1]])


def test_a_generator_as_random_state_is_not_kept(tmp_path):
    model = fitted(rb.Perceptron, random_state=np.random.RandomState(0))
    assert save_and_load(model, tmp_path).random_state is None


def test_saving_twice_gives_the_same_bytes(tmp_path):
    model = fitted(rb.VotedPerceptron)
    rb.save(model, tmp_path / "one")
    rb.save(rb.load_model(tmp_path / "one"), str(tmp_path / "two"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def wide_model(estimator=rb.AveragedPerceptron, d=5000, **more):
    """A model that has learned of few of many features, as of hashed words."""
    rng = np.random.default_rng(0)
    rows = sp.random_array((90, d), density=0.001, rng=rng, format="csr")
    return fitted(estimator, np.arange(90) % 3, rows, **more), rows


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights_that_are_zero_take_no_room(estimator, tmp_path):
    model, rows = wide_model(estimator)
    assert_same(model, save_and_load(model, tmp_path), rows)
    kept = tensors_of((tmp_path / "model.safetensors").read_bytes())
    weights = sp.csr_array((kept["weights"], kept["columns"], kept["starts"]), shape=model._learner.weights.shape)
    assert (weights.toarray() == model._learner.weights).all()
    assert len(kept["columns"]) == np.count_nonzero(model._learner.weights) <= 3 * rows.nnz
    assert (tmp_path / "model.safetensors").stat().st_size < 200_000 < model._learner.weights.nbytes * 2


def test_a_zero_with_a_sign_is_kept(tmp_path):
    model, _ = wide_model()
    untouched = int(np.flatnonzero((model._learner.weights == 0).all(axis=0))[7])
    model._learner.weights[1, untouched] = -0.0
    assert np.signbit(save_and_load(model, tmp_path)._learner.weights[1, untouched])


def test_weights_that_are_mostly_there_are_kept_whole(tmp_path):
    rng = np.random.default_rng(0)
    model = fitted(rb.Perceptron, np.arange(30) % 3, rng.normal(size=(30, 2000)))
    assert_same(model, save_and_load(model, tmp_path), rng.normal(size=(5, 2000)))
    assert "columns" not in tensors_of((tmp_path / "model.safetensors").read_bytes())


def test_a_small_file_does_not_stand_for_a_large_model(tmp_path, monkeypatch):
    model, rows = wide_model()
    rb.save(model, tmp_path / "packed")
    monkeypatch.setattr(packed_weights, "_MOST_BYTES", 100_000)
    monkeypatch.setattr(packed_weights, "_MOST_TIMES", 4)
    assert_same(model, save_and_load(model, tmp_path), rows)
    kept = tensors_of((tmp_path / "model.safetensors").read_bytes())["weights"]  # zeros are among them
    assert len(kept) == 3750 and (kept == 0).any()
    with pytest.raises(ModelFileError, match="times as large as in the file"):
        rb.load_model(tmp_path / "packed")


def in_order_again(kept):
    """The columns of all vectors in one, as if there were but one vector."""
    return np.sort(kept["columns"])


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("columns", lambda kept: kept["columns"][::-1].copy(), "columns is not a list of features in order"),
        ("columns", in_order_again, "columns is not a list of features in order"),
        ("columns", lambda kept: kept["columns"] - kept["columns"][0] - 1, "columns is not a list of features in or"),
        ("columns", lambda kept: kept["columns"] + 5000, "columns is not a list of features in order"),
        ("columns", lambda kept: np.roll(kept["columns"], 1), "columns is not a list of features in order"),
        ("columns", lambda kept: kept["columns"][:-1].copy(), "starts does not say where the columns of each vector b"),
        ("columns", lambda kept: kept["columns"].astype(np.int64), "columns is not a list of numbers"),
        ("columns", lambda kept: kept["columns"][np.newaxis], "columns is not a list of numbers"),
        ("starts", lambda kept: kept["starts"].astype(np.int32), "starts is not a list of numbers"),
        ("starts", lambda kept: kept["starts"][:1].copy(), "starts is not a list of numbers"),
        ("starts", lambda kept: kept["starts"][[0, 2, 1, 3]], "starts does not say where"),
        ("starts", lambda kept: np.array([0, 3 << 61, -(5 << 60), kept["starts"][-1]]), "starts does not say where"),
        ("starts", lambda kept: kept["starts"][[0, 1, 3]], "columns is not a list of features in order"),
        ("starts", lambda kept: kept["starts"][[0, 0, 1, 2, 3]], "weights has shape"),
        ("weights", lambda kept: kept["weights"][:-1].copy(), "expected a number for each of the"),
        ("late_weights", lambda kept: kept["late_weights"].astype(np.float32), "expected a number for each of the"),
    ],
)
def test_forged_patterns_are_refused(name, change, message, tmp_path):
    rb.save(wide_model()[0], tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    (tmp_path / "forged").write_bytes(forged(content, lambda _, tensors: tensors.update({name: change(tensors)})))
    with pytest.raises(ModelFileError, match=message):
        rb.load_model(tmp_path / "forged")


@pytest.mark.parametrize("features", [1 << 40, 1 << 62, 0, -8])
def test_a_forged_number_of_features_takes_no_memory(features, tmp_path):
    rb.save(wide_model()[0], tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    (tmp_path / "forged").write_bytes(forged(content, put("n_features_in_", features)))
    with pytest.raises(ModelFileError):
        rb.load_model(tmp_path / "forged")


def test_columns_without_weights_are_refused():
    with pytest.raises(ModelFileError, match="columns and no weights"):
        packed_weights.unpack({"n_features_in_": 4}, {"columns": np.zeros(1, np.int32)})


def test_a_loaded_model_does_not_need_its_file(tmp_path):
    loaded = save_and_load(fitted(rb.VotedPerceptron), tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"")
    loaded.partial_fit(X, y).predict(X)


def test_the_file_can_be_read_with_safetensors_alone(tmp_path):
    model = fitted(rb.Perceptron)
    rb.save(model, tmp_path / "model")
    tensors = tensors_of((tmp_path / "model").read_bytes())
    np.testing.assert_array_equal(tensors["weights"][:, :4], model.coef_)
    np.testing.assert_array_equal(tensors["classes"], model.classes_)


def test_files_do_without_scikit_learn():
    code = "import sys, rosenblatt.model_file; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert not {"sklearn", "scipy", "torch", "pandas"} & set(loaded.split())


# What cannot be saved -------------------------------------------------------------------------------------


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(InputError, match="this VotedPerceptron is not fitted yet: call fit"):
        rb.save(rb.VotedPerceptron(), tmp_path / "model")
    assert not list(tmp_path.iterdir())


class Perceptron(rb.Perceptron):
    """Of the same name, but not ours."""


@pytest.mark.parametrize("model", [make_pipeline(rb.Perceptron()), None, rb.Perceptron, Perceptron()], ids=repr)
def test_something_else_is_not_saved(model, tmp_path):
    known = "save takes a TrainedModel or one of AveragedPerceptron, KernelPerceptron, MaxMargin, .*, got"
    with pytest.raises(InputError, match=known):
        rb.save(model, tmp_path / "model")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"multi_class": "joint"}, r"does not fit together \(updates has shape \(3,\), expected 1\)"),
        ({"class_weight": {0: None}}, "class_weight is not a weight for each class"),
        ({"class_weight": {(0, 1): 1.0}}, r"a key of class_weight is \(0, 1\), which cannot be saved"),
        ({"class_weight": [1, 2]}, r"class_weight is \[1, 2\], which cannot be saved"),
        ({"max_iter": 0}, "does not fit together .*'max_iter'"),
        ({"eta0": float("nan")}, "the parameter eta0 is nan, which cannot be saved"),
    ],
    ids=str,
)
def test_a_parameter_spoilt_after_fit_is_named(change, message, tmp_path):
    with pytest.raises(InputError, match=message):
        rb.save(fitted(rb.Perceptron).set_params(**change), tmp_path / "model")


def test_labels_that_a_file_cannot_hold_are_named(tmp_path):
    model = fitted(rb.Perceptron)
    model.classes_ = np.array(["2001", "2002", "2003"], "datetime64[Y]")
    with pytest.raises(InputError, match=r"classes of dtype datetime64\[Y\] cannot be saved"):
        rb.save(model, tmp_path / "model")
    model.classes_ = np.array([1, 2, (3,)], object)
    with pytest.raises(InputError, match=r"a class is \(3,\), which cannot be saved"):
        rb.save(model, tmp_path / "model")


def test_names_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(model_file, "_MAX_HEADER", 1 << 16)
    with pytest.raises(InputError, match="the names of the features and classes take more than"):
        rb.save(fitted(rb.Perceptron), tmp_path / "model")


# A crash leaves the old model -----------------------------------------------------------------------------


@pytest.mark.parametrize("function", ["replace", "fsync", "chmod"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_a_crash_leaves_the_old_model(function, error, tmp_path, monkeypatch):
    path = tmp_path / "model"
    old = fitted(rb.Perceptron)
    rb.save(old, path)

    def fails(*_):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(os, function, fails)
        with pytest.raises(type(error)):
            rb.save(fitted(rb.VotedPerceptron), path)
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    assert_same(old, rb.load_model(path))


def test_the_file_is_on_disk_before_it_gets_its_name(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *given, real=real, name=name: (calls.append(name), real(*given)))
    rb.save(fitted(rb.Perceptron), tmp_path / "model")
    assert calls == (["fsync", "replace", "fsync"] if os.name == "posix" else ["fsync", "replace"])


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_those_of_the_old_file_or_of_the_umask(tmp_path):
    path, model = tmp_path / "model", fitted(rb.Perceptron)
    before = os.umask(0o027)
    try:
        rb.save(model, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        rb.save(model, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "model")
    rb.save(fitted(rb.Perceptron), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    rb.load_model(tmp_path / "folder" / "model")


def test_paths_that_cannot_be_written(tmp_path, monkeypatch):
    model = fitted(rb.Perceptron)
    with pytest.raises(IsADirectoryError, match="this is a directory; name a file in it"):
        rb.save(model, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the directory must exist.*absent.model"):
        rb.save(model, tmp_path / "absent" / "model")
    rb.save(model, tmp_path / "model")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="the file is there and is read-only"):
        rb.save(model, tmp_path / "model")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_is_neither_written_nor_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device or a pipe; name an ordinary file"):
        rb.save(fitted(rb.Perceptron), tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="a directory, a device or a pipe"):
        rb.load_model(tmp_path / "pipe")


def test_paths_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        rb.load_model(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="this is not a model file: it is a directory"):
        rb.load_model(tmp_path)


# Damaged files --------------------------------------------------------------------------------------------


def bytes_of(model, folder):
    rb.save(model, folder / "whole")
    return (folder / "whole").read_bytes()


def load_bytes(data, folder):
    (folder / "part").write_bytes(data)
    return rb.load_model(folder / "part")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module", params=ESTIMATORS)
def whole(request, folder):
    """A small model of each kind, and its bytes."""
    rows = sp.csr_matrix(X[::10, :2])
    model = fitted(request.param, np.array(["a", "b", "c"])[y[::10]], rows, multi_class="joint")
    return model, bytes_of(model, folder)


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_truncated_file_is_refused(whole, folder, data):
    _, content = whole
    header = 8 + int.from_bytes(content[:8], "little")
    size = data.draw(
        st.one_of(
            st.integers(0, 16),
            st.integers(0, header),
            st.integers(header, len(content) - 1),
            st.just(len(content) - 1),
        )
    )
    with pytest.raises(ModelFileError, match="damaged or was edited"):
        load_bytes(content[:size], folder)


@given(data=st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_byte_is_noticed_or_does_not_matter(whole, folder, data):
    model, content = whole
    header = 8 + int.from_bytes(content[:8], "little")
    places = st.one_of(st.integers(0, 7), st.integers(8, header - 1), st.integers(header, len(content) - 1))
    changed = bytearray(content)
    for place in data.draw(st.lists(places, min_size=1, max_size=2)):
        changed[place] = data.draw(st.integers(0, 255))
    try:
        loaded = load_bytes(bytes(changed), folder)
    except ModelFileError:
        return
    assert_same(model, loaded, X[:, :2])


def test_every_byte_of_the_arrays_is_under_the_checksum(folder):
    content = bytes_of(rb.VotedPerceptron().fit([[-1.0], [1.0]], [0, 1]), folder)
    for place in range(8 + int.from_bytes(content[:8], "little"), len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        with pytest.raises(ModelFileError, match="do not have the checksum that it states"):
            load_bytes(bytes(changed), folder)


def test_bytes_after_the_end_are_refused(whole, folder):
    with pytest.raises(ModelFileError, match="its arrays cannot be read"):
        load_bytes(whole[1] + b"\0", folder)


@given(junk=st.binary(max_size=200))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_is_refused(junk, folder):
    with pytest.raises(ModelFileError):
        load_bytes(junk, folder)


# Hostile files: whole, with the right checksum, but with contents that no model has ------------------------


def with_header(header, body=b""):
    return len(header).to_bytes(8, "little") + header + body


def entry(dtype="F64", shape=(1,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "it has only 0 bytes"),
        (
            b"\xff" * 8 + b"{}",
            "this is not a model file: it does not begin as a model does",
        ),
        (
            (1 << 24).to_bytes(8, "little") + b"{}",
            "its header should have 16777216 bytes, but the whole file has 10",
        ),
        (with_header(b"[" * 1_000_000), "its header is not valid JSON"),
        (with_header(b"\xff\xfe{}"), "its header is not valid JSON"),
        (with_header(b"[]"), "this is not a model file: it says nothing of rosenblatt"),
        (with_header(b"{}"), "it says nothing of rosenblatt"),
        (with_header(b'{"__metadata__":{"format":"pt"}}'), "it says nothing of rosenblatt"),
        (with_header(b'{"__metadata__":{"rosenblatt":7}}'), "it says nothing of rosenblatt"),
        (with_header(b'{"a":{},"a":{}}'), "a name occurs twice"),
        (pickle.dumps({"weights": [1.0]}), "this is not a model file"),
    ],
    ids=range(11),
)
def test_headers_that_are_not_ours(content, message, folder):
    with pytest.raises(ModelFileError, match=message):
        load_bytes(content, folder)


@pytest.mark.parametrize(
    "entries, message",
    [
        ({"w": entry(shape=[-1])}, "its arrays cannot be read"),
        ({"w": entry(shape=[1 << 62, 1 << 62])}, "its arrays cannot be read"),
        ({"w": entry(shape=[1 << 40], offsets=(0, 1 << 43))}, "its arrays cannot be read"),
        ({"w": entry(), "v": entry()}, "its arrays cannot be read"),
        ({"w": entry(offsets=(8, 0))}, "its arrays cannot be read"),
        ({"w": entry(offsets=(0, 16))}, "its arrays cannot be read"),
        ({"w": entry("F8_E4M3")}, "array w has dtype F8_E4M3"),
        ({"w": entry(["F64"])}, r"array w has dtype \['F64'\]"),
        ({"w": 3}, "array w has dtype None"),
    ],
    ids=range(9),
)
def test_arrays_that_lie_about_their_place(entries, message, folder):
    header = json.dumps({"__metadata__": {"rosenblatt": "{}"}} | entries).encode()
    with pytest.raises(ModelFileError, match=message):
        load_bytes(with_header(header, bytes(8)), folder)


def test_only_the_header_of_another_file_is_read(folder, monkeypatch):
    monkeypatch.setattr(model_file, "load", lambda _: pytest.fail("the arrays were read"))
    with pytest.raises(ModelFileError, match="it says nothing of rosenblatt"):
        load_bytes(file_of({"w": np.zeros(1000)}, {"format": "np"}), folder)


def forged(content, change):
    """The file after a change of its state and arrays, with a checksum that is right again."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    state, tensors = json.loads(header["__metadata__"]["rosenblatt"]), tensors_of(content)
    del state["sha256"]
    change(state, tensors)
    tensors = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    state.setdefault("sha256", model_file.digest(state, tensors))
    return file_of(tensors, {"rosenblatt": model_file.canonical(state)})


def put(name, value):
    """A change of one entry of the state, or of a parameter."""

    def change(state, tensors):
        (state if name in state else state["parameters"])[name] = value

    return change


def array(name, place, value):
    """A change of one number of an array."""

    def change(state, tensors):
        tensors[name][place] = value

    return change


def replaced(name, make):
    """Another array in place of one."""

    def change(state, tensors):
        tensors[name] = make(tensors[name])

    return change


def removed(name):
    def change(state, tensors):
        del (tensors if name in tensors else state)[name]

    return change


HOSTILE_STATE = [
    (
        put("estimator", "Pipeline"),
        "it holds a Pipeline, not one of AveragedPerceptron, KernelPerceptron, MaxMargin",
    ),
    (put("estimator", "../../etc/passwd"), "it holds a ../../etc/passwd"),
    (put("estimator", "os.system"), "it holds a os.system"),
    (put("estimator", "Perceptron"), "array first_intercepts is not expected"),
    (put("estimator", "AveragedPerceptron"), "array first_intercepts is not expected"),
    (put("format", 2), "it has format version 2, written by .*: pip install --upgrade rosenblatt"),
    (put("format", 10**300), "it has format version 1000.*…, written by"),
    (put("format", 0), "state no known format version"),
    (put("format", True), "state no known format version"),
    (put("format", None), "state no known format version"),
    (lambda state, _: state.update(sha256="0" * 64), "do not have the checksum that it states"),
    (lambda state, _: state.update(sha256=None), "sha256 is None"),
    (removed("n_iter_"), "its metadata should have format, library"),
    (put("parameters", []), r"parameters is \[\]"),
    (put("converged_", 1), "converged_ is 1"),
    (put("n_features_in_", 3.0), "n_features_in_ is 3.0"),
    (put("n_features_in_", -1), r"has shape"),
    (put("n_features_in_", 0), r"has shape"),
    (put("n_features_in_", 10**15), r"first_weights has shape \(3, 8\), expected 3 × 1000000000000000"),
    (put("n_features_in_", 1), "first_weights is not zero beyond|weights is not zero beyond|has shape"),
    (put("n_iter_", 4), "n_iter_ is not the number of its passes"),
    (put("n_iter_", -3), "n_iter_ is not the number of its passes"),
    (put("max_iter", 0), "'max_iter' parameter of VotedPerceptron must be an integer of at least 1"),
    (put("max_iter", "x" * 10_000), r"'max_iter' parameter.*…\. The file is damaged"),
    (put("tie", ["mistake"]), "'tie' parameter of VotedPerceptron"),
    (put("verbose", {"a": 1}), "'verbose' parameter"),
    (lambda state, _: state["parameters"].update(restart=True, shuffle=True), "restart=True starts again"),
    (put("random_state", "__import__('os')"), "random_state is not a number"),
    (put("no_such", 1), "a parameter that this version does not know, no_such.*pip install --upgrade"),
    (put("class_weight", "heavy"), "class_weight is not a weight for each class"),
    (put("class_weight", [[0]]), "class_weight is not a weight for each class"),
    (put("class_weight", [[0, True]]), "class_weight is not a weight for each class"),
    (put("class_weight", [[0, 1.0], [0.0, 1.0]]), "class_weight names a class twice"),
    (put("multi_class", "ovr"), "has shape"),
    (put("classes_", ["a", "c", "b"]), "its classes are not in order"),
    (put("classes_", ["a", "b", "b"]), "its classes are not in order"),
    (put("classes_", ["a", "b"]), "has shape"),
    (put("classes_", ["a"]), "it has 1 classes"),
    (put("classes_", []), "it has 0 classes"),
    (put("classes_", ["a", "b", 3]), "a class is not a label"),
    (put("classes_", ["a", "b", "c\0"]), "a class is not a label"),
    (put("classes_", ["a", ["b"], "c"]), "a class is not a label"),
    (put("classes_", ["a"] * 5000 + ["b" * 20_000]), "its classes have very long names"),
    (put("classes_", None), "its classes are not an array of their dtype"),
    (put("classes_dtype", "object_"), "a class is not a label"),
    (put("classes_dtype", "|V8"), "a class is not a label"),
    (
        lambda state, _: state.update(classes_=["a", 1, 2], classes_dtype="object"),
        "its classes are not in order",
    ),
    (put("feature_names_in_", ["only one"]), "it has not a name for each feature"),
    (put("feature_names_in_", [1, 2]), "it has not a name for each feature"),
]
HOSTILE_ARRAYS = [
    (array("weights", (0, 0), np.nan), "weights has a NaN or an infinity"),
    (array("weights", (0, 0), -np.inf), "weights has a NaN or an infinity"),
    (array("weights", (1, 7), 1.0), "weights is not zero beyond the last feature"),
    (array("first_weights", (1, 2), 1.0), "first_weights is not zero beyond the last feature"),
    (array("intercepts", 0, np.inf), "intercepts has a NaN or an infinity"),
    (replaced("weights", lambda w: w.astype(np.float32)), "weights has dtype float32, expected float64"),
    (replaced("weights", lambda w: w[:, :5]), r"weights has shape \(3, 5\), expected 3 × 8"),
    (replaced("weights", lambda w: w.reshape(-1)), r"weights has shape \(24,\)"),
    (replaced("weights", lambda w: w[:2]), r"weights has shape \(2, 8\)"),
    (replaced("intercepts", lambda b: np.zeros(4)), r"intercepts has shape \(4,\), expected 3"),
    (removed("intercepts"), "array intercepts is missing"),
    (replaced("mistakes_per_pass", lambda m: -1 - m), "mistakes_per_pass has a number that counts nothing"),
    (removed("mistakes_per_pass"), "array mistakes_per_pass is missing"),
    (array("visits", 0, -1), "visits has a number that counts nothing"),
    (array("visits", 0, 2**63 - 1), "visits has a number that counts nothing"),
    (array("visits", 0, 0), "it has more updates than visits"),
    (array("visits", 0, 30), "mistake_visit is not in order"),
    (array("updates", 0, 1), "it has not a mistake for each update"),
    (array("mistakes_of_problem", 0, 1 << 40), "it has not a mistake for each update"),
    (array("mistakes_of_problem", 0, -1), "mistakes_of_problem has a number that counts nothing"),
    (array("mistake_row", 0, -1), "mistake_row has a row that is not in the support"),
    (array("mistake_row", 0, 1 << 30), "mistake_row has a row that is not in the support"),
    (array("mistake_up", 0, 3), "mistake_up or mistake_down is no class"),
    (array("mistake_down", 0, -1), "mistake_up or mistake_down is no class"),
    (array("mistake_visit", 0, 0), "mistake_visit is not in order"),
    (array("mistake_visit", 1, 1), "mistake_visit is not in order"),
    (array("mistake_step", 0, np.nan), "mistake_step has a NaN or an infinity"),
    (replaced("mistake_step", lambda s: s[:-1]), "mistake_step has shape"),
    (replaced("mistake_row", lambda r: r.astype(np.int64)), "mistake_row has dtype int64, expected int32"),
    (array("support_starts", 0, 1), "support_starts does not divide the values into rows"),
    (array("support_starts", 1, 1 << 30), "support_starts does not divide the values into rows"),
    (array("support_starts", -1, 0), "support_starts does not divide the values into rows"),
    (array("support_starts", 1, -5), "support_starts does not divide the values into rows"),
    (replaced("support_starts", lambda s: s[:0]), "support_starts does not divide the values into rows"),
    (replaced("support_starts", lambda s: s.astype(np.uint64)), "support_starts has dtype uint64"),
    (array("support_columns", 0, -1), "support_columns has a column that is no feature"),
    (array("support_columns", 0, 2), "support_columns has a column that is no feature"),
    (array("support_values", 0, np.inf), "support_values has a NaN or an infinity"),
    (removed("support_values"), "array support_values is missing"),
    (lambda _, tensors: tensors.update(support=np.zeros((9, 2))), "array support_columns is not expected"),
    (lambda _, tensors: tensors.update(classes=np.arange(3)), "array classes is not expected"),
    (lambda _, tensors: tensors.update({"../up": np.zeros(1)}), r"array ../up is not expected"),
]


@pytest.fixture(scope="module")
def voted(folder):
    rows = sp.csr_matrix(X[::10, :2])
    model = fitted(rb.VotedPerceptron, np.array(["a", "b", "c"])[y[::10]], rows, multi_class="joint")
    return bytes_of(model, folder)


@pytest.mark.parametrize(
    "change, message", HOSTILE_STATE + HOSTILE_ARRAYS, ids=lambda value: getattr(value, "__qualname__", str(value))[:40]
)
def test_a_forged_file_is_refused(change, message, voted, folder):
    with pytest.raises(ModelFileError, match=rf"(?s)part: .*({message})"):
        load_bytes(forged(voted, change), folder)


@given(data=st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_numbers_a_forged_file_has_it_is_refused_or_predicts(data, whole, folder):
    def change(state, tensors):
        chosen = tensors[data.draw(st.sampled_from(sorted(tensors)))]
        if chosen.size:
            place = data.draw(st.integers(0, chosen.size - 1))
            value = data.draw(st.binary(min_size=chosen.itemsize, max_size=chosen.itemsize))
            chosen.reshape(-1)[place] = np.frombuffer(value, chosen.dtype)[0]

    try:
        model = load_bytes(forged(whole[1], change), folder)
    except ModelFileError:
        return
    with np.errstate(all="ignore"):
        assert model.predict(X[:, :2]).shape == (150,)
        assert set(model.predict(sp.csr_matrix(X[:, :2]))) <= {"a", "b", "c"}


def test_forging_without_a_change_gives_a_good_file(voted, folder):
    load_bytes(forged(voted, lambda state, tensors: None), folder)
    assert forged(voted, lambda state, tensors: None) == voted


@pytest.mark.parametrize(
    "labels, change, message",
    [
        (y, array("classes", 0, 1), "its classes are not in order"),
        (y, array("classes", 0, 5), "its classes are not in order"),
        (y, put("classes_dtype", "int32"), "its classes are not an array of their dtype"),
        (y, replaced("classes", lambda c: c[:1]), "it has 1 classes"),
        (y, replaced("classes", lambda c: c.reshape(3, 1)), "its classes are not an array of their dtype"),
        (y * 1.0, array("classes", 2, np.inf), "a class is NaN or infinite"),
        (y * 1.0, array("classes", 0, np.nan), "a class is NaN or infinite"),
        (y == 0, replaced("classes", lambda c: np.array([0, 7], np.uint8).view(bool)), "not False and True"),
        (y, array("late_weights", (0, 0), 1e308), "the average of its weights is NaN or infinite"),
    ],
    ids=range(9),
)
def test_a_forged_file_with_numbers_as_classes_is_refused(labels, change, message, folder):
    def and_large(state, tensors):
        if "average" in message:
            tensors["weights"][0, 0], tensors["visits"][0] = -1e308, 1000
        change(state, tensors)

    content = bytes_of(fitted(rb.AveragedPerceptron, labels), folder)
    with pytest.raises(ModelFileError, match=message):
        load_bytes(forged(content, and_large), folder)


def test_a_dense_support_of_another_width_is_refused(folder):
    content = bytes_of(fitted(rb.VotedPerceptron, y == 0), folder)
    with pytest.raises(ModelFileError, match=r"support has shape \(\d+, 3\), expected any × 4"):
        load_bytes(forged(content, replaced("support", lambda s: s[:, :3])), folder)
    with pytest.raises(ModelFileError, match="mistake_row has a row that is not in the support"):
        load_bytes(forged(content, removed("support")), folder)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "its metadata are not valid JSON"),
        ("[" * 100_000, "its metadata are not valid JSON"),
        ("NaN", "its metadata state no known format version"),
        ('{"a":NaN,"format":1}', "its metadata are not as they were written"),
        ("[" + "[]," * 200_000 + "[]]", r"its metadata are not valid JSON \(too many lists\)"),
        ("[]", "its metadata state no known format version"),
        ('{"format":1,"format":1}', r"its metadata are not valid JSON \(a name occurs twice\)"),
        ('{"format": 1}', "its metadata are not as they were written"),
        ('{"format":1}', "its metadata should have format, library"),
        ('{"format":' + "9" * 10_000 + "}", "its metadata are not valid JSON"),
    ],
    ids=range(10),
)
def test_metadata_that_save_would_not_write(text, message, folder):
    with pytest.raises(ModelFileError, match=message):
        load_bytes(file_of({"weights": np.zeros(1)}, {"rosenblatt": text}), folder)


def test_a_file_without_a_newer_parameter_gets_its_default(voted, folder):
    content = forged(voted, lambda state, tensors: state["parameters"].pop("n_jobs"))
    assert load_bytes(content, folder).n_jobs is None


def test_a_file_from_before_the_margin_has_none(voted, folder):
    content = forged(voted, lambda state, tensors: state["parameters"].pop("margin"))
    assert load_bytes(content, folder).margin == 0.0
    assert rb.load_trained(folder / "part").parameters["margin"] == 0.0


# Other ways to keep a model -------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [X, X_SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("way", ["pickle", "joblib", "skops"])
def test_pickle_joblib_and_skops_keep_a_model_too(way, estimator, rows):
    model = fitted(estimator, rows=rows)
    if way == "pickle":
        back = pickle.loads(pickle.dumps(model))
    elif way == "joblib":
        joblib = pytest.importorskip("joblib")
        buffer = io.BytesIO()
        joblib.dump(model, buffer)
        buffer.seek(0)
        back = joblib.load(buffer)
    else:
        skops = pytest.importorskip("skops.io")
        data = skops.dumps(model)
        trusted = skops.get_untrusted_types(data=data)
        assert trusted == [f"rosenblatt.perceptrons.{estimator.__name__}"]  # docs/model_files.md says so
        back = skops.loads(data, trusted=trusted)
    assert_same(model, back)
    assert_goes_on_alike(model, back, rows, y)
