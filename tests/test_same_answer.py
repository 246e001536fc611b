"""However the rows come (whole, in batches, one by one, resumed, in threads), the answer is the same, to the bit."""

import copy
import pickle
import signal
import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import STORAGES, fitted, noisy, stored

import rosenblatt as rb
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron

ESTIMATORS = [Perceptron, AveragedPerceptron, VotedPerceptron]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)
each_multi_class = pytest.mark.parametrize("multi_class", ["ovr", "joint"])


def state(model):
    """All numbers behind a model, as bytes; a vote's rows in the sequence of their mistakes."""
    arrays = dict(model._learner.to_arrays())
    if model._learner.votes is not None:
        support = arrays.pop("support", None)
        if support is None:
            support = model._learner.votes.support()
            support = support.toarray() if support is not None else np.empty((0, model.n_features_in_))
        arrays = {name: array for name, array in arrays.items() if not name.startswith("support")}
        arrays["mistake_row"] = np.asarray(support, np.float64)[arrays["mistake_row"]]  # the same row may be kept twice
    return {name: np.ascontiguousarray(array).tobytes() for name, array in arrays.items()}


def assert_same(one, other, X):
    assert state(one) == state(other)
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()
    assert (one.n_updates_, one.updates_per_class_.tolist()) == (other.n_updates_, other.updates_per_class_.tolist())


def in_batches(model, X, y, cuts, sample_weight=None):
    """The model after `partial_fit` on the parts between the cuts."""
    classes = np.unique(y)
    for part in np.split(np.arange(len(y)), sorted(cuts)):
        if len(part):
            weights = None if sample_weight is None else sample_weight[part]
            model.partial_fit(X[part], y[part], classes=classes, sample_weight=weights)
    return model


# ---- Batches ----
@each_estimator
@each_multi_class
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 2**16),
    st.sampled_from((2, 3, 5)),
    st.sampled_from((1, 3, 8, 40)),
    st.lists(st.integers(0, 60), max_size=8),
    st.sampled_from(STORAGES),
    st.sampled_from(("float32", "float64")),
    st.sampled_from(("mistake", "positive", "negative")),
    st.sampled_from((0.0, 0.3, 1.0)),
)
def test_batches_of_any_size(estimator, multi_class, seed, n_classes, d, cuts, storage, dtype, tie, margin):
    X, y = noisy(60, d, seed, n_classes)
    X = stored(X, dtype, storage)
    options = {"shuffle": False, "max_iter": 1, "tie": tie, "multi_class": multi_class, "margin": margin}
    whole = fitted(estimator(**options), X, y)
    assert_same(in_batches(estimator(**options), X, y, cuts), whole, X)


@each_estimator
@each_multi_class
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_row_by_row(estimator, multi_class, storage, margin):
    X, y = noisy(80, 6, 1, 3)
    X, weights = stored(X, "float64", storage), np.random.default_rng(2).uniform(0.1, 3, 80)
    options = {"shuffle": False, "max_iter": 1, "multi_class": multi_class, "eta0": 0.3, "margin": margin}
    whole = fitted(estimator(**options), X, y, sample_weight=weights)
    assert_same(in_batches(estimator(**options), X, y, range(1, 80), weights), whole, X)


@each_estimator
def test_partial_fit_never_shuffles(estimator):
    X, y = noisy(50, 4, 2)
    asked = in_batches(estimator(shuffle=True, random_state=3), X, y, [])
    assert_same(asked, fitted(estimator(shuffle=False, max_iter=1), X, y), X)


@each_estimator
def test_several_passes_of_batches_are_one_fit(estimator):
    X, y = noisy(50, 4, 3, 3)
    model = estimator()
    for _ in range(4):
        in_batches(model, X, y, [11, 12, 40])
    assert_same(model, fitted(estimator(shuffle=False, max_iter=4), X, y), X)


@each_estimator
def test_batches_may_be_dense_and_sparse_by_turns(estimator):
    rng = np.random.default_rng(4)
    X, y = rng.integers(-3, 4, (60, 5)).astype(float), rng.integers(0, 2, 60)
    for first in (0, 1):
        model = estimator()
        for k, part in enumerate(np.split(np.arange(60), 6)):
            batch = X[part] if (k + first) % 2 else sp.csr_array(X[part])
            model.partial_fit(batch.astype(np.float32 if k % 3 else np.float64), y[part], classes=[0, 1])
        whole = fitted(estimator(shuffle=False, max_iter=1), X, y)
        assert model._learner.coef.tolist() == whole._learner.coef.tolist()
        assert model.decision_function(X).tolist() == whole.decision_function(X).tolist()
        np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), whole.decision_function(X), atol=1e-12)


@each_estimator
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_a_margin_sees_a_feature_that_is_stored_in_parts_as_one(estimator, multi_class):
    X, y = np.array([[3.0, 0.0], [-1.0, 4.0], [2.0, -2.0], [0.0, 1.0]]), np.array([0, 1, 2, 1])
    parts = sp.csr_array(
        ([1.0, 2.0, -3.0, 4.0, 2.0, 2.0, -2.0, 1.0], [0, 0, 0, 1, 0, 0, 1, 1], [0, 2, 5, 7, 8]), shape=(4, 2)
    )
    assert (parts.toarray() == X).all()
    before = parts.data.tolist()
    options = {"margin": 1.0, "shuffle": False, "max_iter": 20, "multi_class": multi_class}
    models = [fitted(estimator(**options), rows, y)._learner for rows in (X, parts)]
    assert models[0].coef.tolist() == models[1].coef.tolist()
    streamed = rb.train([(parts, y)], passes=20, margin=1.0, multi_class=multi_class, readout=models[0].readout)
    assert streamed.learner.coef.tolist() == models[0].coef.tolist()
    assert parts.data.tolist() == before  # the caller's matrix is as it was


# ---- Resuming ----
@each_estimator
@each_multi_class
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("early", [3, 5, 9])
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_resumed_is_equal_to_never_stopped(estimator, multi_class, shuffle, early, margin):
    X, y = noisy(70, 5, 5, 3)
    options = {"shuffle": shuffle, "random_state": 8, "multi_class": multi_class, "margin": margin}
    resumed = fitted(estimator(**options, max_iter=early, warm_start=True), X, y)
    fitted(resumed.set_params(max_iter=10 - early), X, y)
    whole = fitted(estimator(**options, max_iter=10), X, y)
    assert_same(resumed, whole, X)
    assert resumed.mistakes_per_pass_.tolist() == whole.mistakes_per_pass_.tolist()
    assert (resumed.n_iter_, resumed.converged_, resumed.separates_) == (10, whole.converged_, whole.separates_)


@each_estimator
def test_a_resumed_run_ends_where_it_had_converged(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X @ [1, -2, 3] > 0).astype(int)
    model = estimator(max_iter=1000, warm_start=True, random_state=0).fit(X, y)
    before = model._learner.weights.copy()
    assert model.converged_
    model.fit(X, y)
    assert model.converged_ and (model._learner.weights == before).all()


COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": copy.deepcopy,
}


@each_estimator
@each_multi_class
@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("storage", ["dense", "csr_array int64", "csr_matrix int32"])
def test_a_copy_taken_in_the_middle_goes_on_as_the_original(estimator, multi_class, how, storage):
    X, y = noisy(60, 5, 6, 3)
    X = stored(X, "float64", storage)
    model = in_batches(estimator(multi_class=multi_class), X[:30], y[:30], [10])
    twin = COPIES[how](model)
    frozen = state(model)
    in_batches(twin, X[30:], y[30:], [7])
    assert state(model) == frozen  # the copy shares nothing with it
    in_batches(model, X[30:], y[30:], [20])
    assert_same(twin, model, X)
    assert_same(model, fitted(estimator(multi_class=multi_class, shuffle=False, max_iter=1), X, y), X)


@each_estimator
def test_a_copy_of_a_warm_start_resumes_the_same_shuffled_run(estimator, tmp_path):
    X, y = noisy(60, 5, 7)
    model = fitted(estimator(max_iter=4, warm_start=True, random_state=1), X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    twin = fitted(joblib.load(tmp_path / "model.joblib").set_params(max_iter=6), X, y)
    assert_same(twin, fitted(estimator(max_iter=10, random_state=1), X, y), X)


@each_estimator
def test_a_copy_does_not_depend_on_parameters_changed_since(estimator):
    X, y = noisy(60, 5, 8, 3)
    model = fitted(estimator(max_iter=3, random_state=0), X, y)
    want = model.decision_function(X).tobytes()
    model.set_params(multi_class="joint")
    assert pickle.loads(pickle.dumps(model)).decision_function(X).tobytes() == want


# ---- Seeds and threads ----
@each_estimator
def test_the_same_seed_gives_the_same_answer_and_another_one_another(estimator):
    X, y = noisy(80, 5, 9)
    one = fitted(estimator(max_iter=3, random_state=4), X, y)
    assert_same(fitted(clone(one), X, y), one, X)
    assert state(fitted(estimator(max_iter=3, random_state=5), X, y)) != state(one)


@each_estimator
def test_a_random_state_object_is_drawn_from(estimator):
    X, y = noisy(80, 5, 9)
    models = [fitted(estimator(max_iter=3, random_state=np.random.RandomState(4)), X, y) for _ in range(2)]
    assert_same(*models, X)


@each_estimator
@each_multi_class
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_any_n_jobs(estimator, multi_class, n_jobs, shuffle, margin):
    X, y = noisy(300, 12, 10, 6)
    options = {"max_iter": 5, "shuffle": shuffle, "random_state": 0, "multi_class": multi_class, "margin": margin}
    one = fitted(estimator(**options, n_jobs=1), X, y)
    many = fitted(estimator(**options, n_jobs=n_jobs), X, y)
    assert_same(many, one, X)
    assert many.mistakes_per_pass_.tolist() == one.mistakes_per_pass_.tolist()


@pytest.mark.parametrize("restart", [False, True])
def test_any_n_jobs_with_budgets(restart):
    X, y = noisy(100, 4, 11, 5)
    options = {"max_iter": 200, "max_updates": 37, "shuffle": False, "restart": restart}
    one, two = (fitted(VotedPerceptron(**options, n_jobs=n), X, y) for n in (1, 2))
    assert_same(one, two, X)
    assert one.updates_per_class_.tolist() == [37] * 5


def test_verbose_changes_nothing(capsys):
    X, y = noisy(100, 4, 12, 3)
    quiet, loud = (fitted(Perceptron(max_iter=5, random_state=0, verbose=v), X, y) for v in (False, True))
    assert_same(loud, quiet, X)
    assert loud.mistakes_per_pass_.tolist() == quiet.mistakes_per_pass_.tolist()


# ---- Interrupted ----
def interrupted(model, X, y):
    """Fit until Ctrl-C is pressed a moment later; how long its answer took, in seconds."""
    pressed = []

    def press():
        pressed.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    # Tests that run in the background are started with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    return time.monotonic() - pressed[0]


INTERRUPTED = [
    {},
    {"n_jobs": 2},
    {"multi_class": "joint"},
    {"tol": 0.0, "n_iter_no_change": 10**9},  # the driver comes back to Python after every pass
    {"early_stopping": True, "n_iter_no_change": 10**9},
]


@each_estimator
@pytest.mark.parametrize("options", INTERRUPTED)
def test_ctrl_c_ends_a_run_soon_and_leaves_a_usable_model(estimator, options):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 40)), rng.integers(0, 3, 3000)
    model = estimator(max_iter=10**9, random_state=0, **options)
    assert interrupted(model, X, y) < 5  # a tenth of a second; this allows for a busy machine
    assert model.n_updates_ == model.updates_per_class_.sum()
    if not model.early_stopping:  # which goes back to its best weights, on a busy machine to the first
        assert model.n_updates_ > 0
        assert model.mistakes_per_pass_.sum() == model.n_updates_
    assert not model.converged_ and not model.separates_
    assert set(model.predict(X[:5])) <= {0, 1, 2}
    assert np.isfinite(model._learner.weights).all()
    assert pickle.loads(pickle.dumps(model)).predict(X[:5]).tolist() == model.predict(X[:5]).tolist()
    visits = model._learner.visits.copy()
    model.set_params(early_stopping=False).partial_fit(X[:20], y[:20])
    assert (model._learner.visits - visits == 20).all()


def test_an_interrupted_vote_is_complete():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-5, 6, (500, 6)).astype(float), rng.integers(0, 2, 500)
    model = VotedPerceptron(max_iter=10**9, random_state=0)
    interrupted(model, X, y)
    learner = model._learner
    log, support = learner.votes.log(0), learner.votes.support()
    assert len(log["row"]) == model.n_updates_
    assert learner.votes.survival(0, int(learner.visits[0])).sum() == learner.visits[0]
    assert (np.bincount(log["row"], log["step"], len(support)) @ support).tolist() == learner.coef[0].tolist()


@pytest.mark.parametrize("estimator", [rb.Perceptron, rb.AveragedPerceptron])
def test_later_batches_need_not_know_the_names_of_the_features(estimator):
    X, y = pd.DataFrame({"a": [1.0, -1.0], "b": [0.0, 1.0]}), [1, 0]
    model = estimator().partial_fit(X, y, classes=[0, 1])
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.partial_fit(X.to_numpy(), y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
