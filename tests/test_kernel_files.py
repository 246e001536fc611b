"""A KernelPerceptron that was saved and loaded is the same model; a forged file is refused."""

import pickle
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import noisy
from test_model_file import array, assert_same_bits, bytes_of, forged, load_bytes, put, removed, replaced

import rosenblatt as rb
from rosenblatt.errors import InputError, ModelFileError, WeightOverflowError

X, y = noisy(90, 5, 0, 3)
X32, X_SPARSE = X.astype(np.float32), sp.csr_array(X * (X > 0))
KINDS = {
    "vote": {},
    "average, joint": {"readout": "average", "multi_class": "joint"},
    "last, rbf": {"readout": "last", "kernel": "rbf", "gamma": "scale"},
    "forget": {"max_support": 7, "budget": "forget", "readout": "last"},
    "project": {"max_support": 7, "budget": "project", "readout": "last"},
    "project, average": {"max_support": 7, "budget": "project", "readout": "average"},
    "random": {"max_support": 7, "budget": "random", "readout": "last"},
}


def fitted(kind, rows=X, **more):
    return rb.KernelPerceptron(**(KINDS[kind] | {"max_iter": 3, "random_state": 4} | more)).fit(rows, y)


def assert_same(one, other, rows):
    assert one.get_params() == other.get_params()
    for name in ("n_features_in_", "n_iter_", "n_updates_", "converged_", "separates_"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("support_", "dual_coef_", "n_support_", "mistakes_per_pass_", "updates_per_class_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert_same_bits(one._learner.to_arrays(), other._learner.to_arrays())
    np.testing.assert_array_equal(one.decision_function(rows), other.decision_function(rows))


@pytest.mark.parametrize("rows", [X, X32, X_SPARSE], ids=["float64", "float32", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["file", "pickle"])
def test_a_loaded_model_predicts_and_goes_on_to_the_bit(way, kind, rows, tmp_path):
    model = fitted(kind, rows)
    if way == "file":
        rb.save(model, tmp_path / "model")
        loaded = rb.load_model(tmp_path / "model")
    else:
        loaded = pickle.loads(pickle.dumps(model))
    assert_same(model, loaded, rows)
    for one in (model, loaded):
        if one.gamma != "scale":
            one.partial_fit(rows[::-1], y[::-1])
        one.set_params(warm_start=True, max_iter=2).fit(rows, y)
    assert_same(model, loaded, rows)


@pytest.mark.parametrize("rows", [X, X32, X_SPARSE], ids=["float64", "float32", "sparse"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_without_scikit_learn_predicts_the_same(kind, rows, tmp_path):
    model = fitted(kind, rows)
    rb.save(model, tmp_path / "model")
    trained = rb.load_trained(tmp_path / "model")
    np.testing.assert_array_equal(trained.decision_function(rows), model.decision_function(rows))
    assert trained.predict(rows).tolist() == model.predict(rows).tolist()
    facts = ("n_features_in_", "n_iter_", "n_updates_", "converged_", "separates_")
    assert [getattr(trained, name) for name in facts] == [getattr(model, name) for name in facts]
    for name in ("coef_", "intercept_"):
        with pytest.raises(AttributeError, match=f"a KernelPerceptron has no {name}"):
            getattr(trained, name)
    with pytest.raises(InputError, match="only what predicts of a KernelPerceptron: load_model has all of it"):
        trained.to_estimator()


@pytest.mark.parametrize("tie", ["mistake", "positive", "negative"])
def test_ties_are_decided_alike_without_scikit_learn(tie, tmp_path):
    rows, labels = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]]), np.array([0, 1, 0, 1])
    for joint in ("ovr", "joint"):
        model = rb.KernelPerceptron(kernel="linear", tie=tie, multi_class=joint, readout="last", max_iter=1)
        model.fit(rows, labels if joint == "ovr" else [0, 1, 2, 1])
        rb.save(model, tmp_path / "model")
        points = np.vstack([rows, np.zeros((1, 2)), [[0.0, 0.0]]])
        assert rb.load_trained(tmp_path / "model").predict(points).tolist() == model.predict(points).tolist()


def test_features_that_were_never_seen_count_nothing(tmp_path):
    """Also in ‖z − x‖², where they would."""
    rb.save(model := fitted("last, rbf", X_SPARSE), tmp_path / "model")
    wide = sp.hstack([X_SPARSE, sp.csr_array(np.ones((90, 2)))], format="csr")
    trained = rb.load_trained(tmp_path / "model")
    np.testing.assert_array_equal(trained.decision_function(wide), model.decision_function(X_SPARSE))
    with pytest.raises(InputError, match="X has 7 features, but the model has learned from 5"):
        trained.predict(wide.toarray())


def test_predicting_needs_no_scikit_learn(tmp_path):
    rb.save(fitted("vote"), tmp_path / "model")
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    code = (
        "import sys; from rosenblatt.command_line import main\n"
        "sys.argv[1:] = ['predict', 'model', 'rows.csv', '-o', 'labels']\n"
        "try: main()\n"
        "finally: assert not {'sklearn', 'scipy'} & set(sys.modules), 'imported'"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "labels").read_text().split() == [str(label) for label in fitted("vote").predict(X)]


def test_a_precomputed_kernel_comes_back(tmp_path):
    K = X @ X.T + 1
    model = rb.KernelPerceptron(kernel="precomputed", random_state=0).fit(K, y)
    rb.save(model, tmp_path / "model")
    assert_same(model, rb.load_model(tmp_path / "model"), K)


def test_a_model_without_mistakes_comes_back(tmp_path):
    model = rb.KernelPerceptron(tie="negative").partial_fit([[1.0]], [0], classes=[0, 1])
    assert model.n_updates_ == 0 and model.support_.tolist() == []
    rb.save(model, tmp_path / "model")
    assert rb.load_model(tmp_path / "model").predict([[2.0]]).tolist() == [0]


def test_a_function_is_not_saved(tmp_path):
    model = rb.KernelPerceptron(kernel=lambda Z, X: Z @ X.T, max_iter=1).fit(X, y)
    with pytest.raises(InputError, match=r"the parameter kernel is <function .*, which cannot be saved"):
        rb.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_there_is_no_onnx_graph_of_it():
    pytest.importorskip("onnx")
    with pytest.raises(InputError, match="KernelPerceptron"):
        rb.to_onnx(fitted("vote"))


def test_a_large_budget_takes_no_room_in_advance(tmp_path):
    model = fitted("forget", max_support=10**9)
    rb.save(model, tmp_path / "model")
    assert_same(model, rb.load_model(tmp_path / "model"), X)
    free = rb.KernelPerceptron(readout="last", max_iter=3, random_state=4).fit(X, y)
    assert model.mistakes_per_pass_.tolist() == free.mistakes_per_pass_.tolist()


# ---- Forged files ----
@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def contents(folder):
    return {kind: bytes_of(fitted(kind), folder) for kind in KINDS}


def grown(name):
    return replaced(name, lambda a: np.concatenate([a, a[:1]]))


FORGERIES = [
    ("vote", array("support_codes", 0, 3), "support_codes has a number that is no class"),
    ("vote", grown("support_codes"), "support_numbers has shape"),
    ("vote", array("support_numbers", 0, -1), "support_numbers has a number that counts nothing"),
    ("vote", array("support_starts", 0, 1), "support_starts does not divide"),
    ("vote", array("support_columns", 0, 9), "support_columns has a column that is no feature"),
    ("vote", array("support_columns", 1, 0), "a row of the support is not in order"),
    ("vote", array("support_values", 0, 0.0), "a row of the support is not in order"),
    ("vote", array("support_values", 0, np.nan), "support_values has a NaN"),
    ("vote", array("mistake_row", 0, 10**6), "mistake_row has a row that is not in the support"),
    ("vote", array("mistakes_of_problem", 0, 1), "it has not a mistake for each update"),
    ("vote", array("updates", 0, 10**6), "it has more updates than visits"),
    ("vote", array("gamma", 0, -1.0), "gamma is not above 0"),
    ("vote", array("rows_seen", 0, -5), "rows_seen has a number"),
    ("vote", removed("support_dense"), "support_dense is missing"),
    ("vote", put("max_support", 5), "does not work with max_support"),
    ("vote", put("kernel", "precomputed"), "support_columns is not expected|is missing"),
    ("vote", put("kernel", "os.system"), "'kernel' parameter"),
    ("average, joint", array("mistake_up", 0, 3), "mistake_up or mistake_down is no class"),
    ("forget", put("max_support", 6), "it keeps more rows than max_support"),
    ("forget", array("kept_row", 0, 10**6), "kept_row does not have each row of the support once"),
    ("random", array("kept_row", 0, 1), "kept_row does not have each row of the support once"),
    ("forget", replaced("kept_gram", lambda a: a[:-1]), "kept_gram has shape"),
    ("forget", replaced("kept_coefficient", lambda a: a[:1]), "kept_coefficient has shape"),
    ("forget", array("kept_state", 0, np.inf), "kept_state has a NaN or an infinity"),
    ("forget", array("kept_mistaken", 0, -1), "kept_mistaken has a number"),
    ("forget", put("budget", "random"), "kept_gram has shape"),
    ("project, average", removed("kept_late"), "kept_late is missing"),
    ("random", array("seed", 0, -1), "seed has a number"),
]


@pytest.mark.parametrize(("kind", "change", "message"), FORGERIES, ids=[f"{k}: {m}" for k, _, m in FORGERIES])
def test_a_forged_file_is_refused(kind, change, message, contents, folder):
    content = forged(contents[kind], change)
    with pytest.raises(ModelFileError, match=message):
        load_bytes(content, folder)
    (folder / "forged").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        rb.load_trained(folder / "forged")


@given(
    kind=st.sampled_from(sorted(KINDS)), which=st.integers(0, 10**4), place=st.integers(0, 10**6),
    value=st.integers(-5, 300) | st.floats(-1e9, 1e9),
)  # fmt: skip
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_numbers_a_forged_file_has_it_is_refused_or_predicts(kind, which, place, value, contents, folder):
    def change(state, arrays):
        names = sorted(name for name, array in arrays.items() if array.size)
        name = names[which % len(names)]
        arrays[name] = arrays[name].copy()
        arrays[name].reshape(-1)[place % arrays[name].size] = value

    try:
        model = load_bytes(forged(contents[kind], change), folder)
    except (ModelFileError, OverflowError):  # the latter: the array cannot hold such a number
        return
    assert model.predict(X).shape == (90,)
    if model.gamma != "scale":
        with suppress(WeightOverflowError):  # as large a number may well do that
            model.partial_fit(X, model.classes_[y])
