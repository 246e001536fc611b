"""KernelPerceptron as a scikit-learn estimator: its contract, its kernels, streams, budgets and messages."""

import pickle
import signal
import warnings
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import noisy

from rosenblatt import KernelPerceptron, _engine, inputs
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.kernels import expansions
from rosenblatt.kernels import functions as kernels

BUDGETS = ("forget", "project", "random")
READOUTS = ("vote", "average", "last")
OPTIONS = [{}, {"multi_class": "joint"}, *({"max_support": 15, "budget": budget} for budget in BUDGETS)]


# ---- scikit-learn's own checks ----
class FitOnlyKernelPerceptron(KernelPerceptron):
    """For the options that refuse `partial_fit`: the checks are not to call it."""

    @property
    def partial_fit(self):
        raise AttributeError("refused")


def expected_failures(model):
    """The checks that must fail, by name and with the reason."""
    reasons = dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
        "a weight multiplies the step of its row; a repeated row is a second visit, which is a mistake only if the "
        "first update did not suffice",
    )
    if not (model.kernel == "rbf" and model.readout == "average"):  # an average remembers how seldom they were right
        reasons["check_class_weight_classifiers"] = (
            "a class of weight 0.0001 is to be given up; but a weight is only the length of a step: in 1,000 passes "
            "a kernel finds a way to be right on its rows, too"
        )
    if model.kernel == "precomputed":
        reasons["check_estimators_nan_inf"] = "it predicts 3 features after a fit of 10, and we say that before the NaN"
    if model.warm_start:
        reasons["check_supervised_y_2d"] = "it fits twice and expects the same: the second fit goes on from the first"
    return reasons


@parametrize_with_checks(
    [
        KernelPerceptron(),
        KernelPerceptron(kernel="rbf", readout="last", multi_class="joint"),
        KernelPerceptron(max_support=60, budget="forget", readout="last"),
        KernelPerceptron(max_support=20, budget="project", readout="average"),
        KernelPerceptron(max_support=20, budget="random", readout="last"),
        FitOnlyKernelPerceptron(kernel="rbf", gamma="scale", readout="average", tie="positive"),
        FitOnlyKernelPerceptron(early_stopping=True, validation_fraction=0.4),
    ],
    expected_failed_checks=lambda model: (
        expected_failures(model)
        | (
            {"check_class_weight_classifiers": "the watched mistakes count all classes alike, whatever their weight"}
            if model.early_stopping
            else {}
        )
    ),
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        KernelPerceptron(kernel="linear"),
        KernelPerceptron(kernel="sigmoid", coef0=0.0, tie="negative"),
        FitOnlyKernelPerceptron(kernel="precomputed"),
        KernelPerceptron(kernel=rbf_kernel),
        FitOnlyKernelPerceptron(shuffle=False, restart=True, max_updates=300),
        FitOnlyKernelPerceptron(class_weight="balanced"),
        KernelPerceptron(warm_start=True),
        KernelPerceptron(tol=1e-3, n_jobs=2, eta0=0.5),
    ],
    expected_failed_checks=lambda model: (
        expected_failures(model)
        | (
            {"check_class_weight_classifiers": "its classes overlap, and 300 scans end at their first mistake: too few"}
            if model.restart
            else {}
        )
    ),
)
def test_scikit_learns_checks_of_every_option(estimator, check):
    check(estimator)


def test_pipeline_grid_search_and_cross_validation():
    X, y = noisy(150, 4, 0, 3)
    pipeline = make_pipeline(StandardScaler(), KernelPerceptron(random_state=0))
    search = GridSearchCV(pipeline, {"kernelperceptron__degree": [1, 2], "kernelperceptron__kernel": ["poly", "rbf"]})
    assert search.fit(X, y).best_score_ > 0.5
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5


def test_a_pairwise_estimator_is_split_on_both_sides():
    X, y = noisy(120, 3, 1)
    K = rbf_kernel(X)
    given = cross_val_score(KernelPerceptron(kernel="precomputed", shuffle=False), K, y, cv=3)
    gamma = 1 / 3
    own = cross_val_score(KernelPerceptron(kernel="rbf", gamma=gamma, shuffle=False), X, y, cv=3)
    assert given.tolist() == own.tolist()


# ---- Kernels ----
THEIRS = {
    "linear": linear_kernel,
    "poly": lambda Z, X: polynomial_kernel(Z, X, degree=3, gamma=0.5, coef0=2),
    "rbf": lambda Z, X: rbf_kernel(Z, X, gamma=0.5),
    "sigmoid": lambda Z, X: sigmoid_kernel(Z, X, gamma=0.5, coef0=2),
}


@pytest.mark.parametrize("storage", ["dense", "sparse", "sparse, wide"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", THEIRS)
def test_values_are_scikit_learns(name, dtype, storage):
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(150, 37)) * (rng.random((150, 37)) < 0.4)).astype(dtype)
    if storage == "sparse, wide":
        X = sp.hstack([sp.csr_array(X), sp.csr_array((150, 5000), dtype=dtype)], format="csr")
    rows = inputs.rows(X if storage == "dense" else sp.csr_array(X))
    kernel = kernels.kernel_of(name, degree=3, gamma=0.5, coef0=2.0)
    support = kernel.support()
    support.append(rows, np.arange(70))
    which, ids = np.array([3, 0, 69, 5]), np.arange(20, 140)
    values = kernel.values(support, which, rows, ids)[:, :120]
    stored = rows.dense if rows.dense is not None else rows.sparse
    assert values.dtype == dtype
    np.testing.assert_allclose(
        values, THEIRS[name](stored[which], stored[ids]), rtol=2e-4 if dtype == "float32" else 1e-10
    )
    own = kernel.own_values(rows, ids)[:, :120]
    np.testing.assert_array_equal(own, own.T)
    if name == "rbf":
        assert (np.diag(own) == 1).all()


@pytest.mark.engine
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("zeros", [0.0, 0.7])
def test_values_have_the_same_bits_however_they_are_computed(dtype, zeros):
    """Points one by one or together, support rows in any company, dense or sparse, threads, instruction sets."""
    rng = np.random.default_rng(4)
    X = (rng.normal(size=(200, 450)) * (rng.random((200, 450)) >= zeros)).astype(dtype)
    dense, sparse = inputs.rows(X), inputs.rows(sp.csr_array(X))
    kernel = kernels.ProductKernel("poly", 3, 0.1, 1.0)
    support = kernel.support()
    support.append(dense, np.arange(130))
    which, ids = np.arange(130), np.arange(200)
    want = kernel.values(support, which, dense, ids)[:, :200].copy()
    before = _engine.instruction_set()
    try:
        for name in _engine.instruction_sets():
            _engine.use_instruction_set(name)
            for rows in (dense, sparse):
                for threads in (1, 3):
                    values = kernel.values(support, which, rows, ids, threads)[:, :200]
                    np.testing.assert_array_equal(values, want)
                one = kernel.values(support, which[7:8], rows, ids[5:6])[:, :1]
                np.testing.assert_array_equal(one, want[7:8, 5:6])
                some = kernel.values(support, which[::3], rows, ids[10:29])[:, :19]
                np.testing.assert_array_equal(some, want[::3, 10:29])
                np.testing.assert_array_equal(kernel.own_values(rows, ids[:130])[:, :130], want[:, :130])
    finally:
        _engine.use_instruction_set(before)


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("readout", READOUTS)
def test_a_function_and_a_matrix_are_the_same_kernel(readout, multi_class):
    rng = np.random.default_rng(5)
    X, y = rng.integers(-3, 4, (90, 4)).astype(float), rng.integers(0, 3, 90)
    test = rng.integers(-3, 4, (40, 4)).astype(float)

    def function(Z, X):
        return (Z @ X.T + 1) ** 2

    choices = {"readout": readout, "multi_class": multi_class, "random_state": 0, "max_iter": 4}
    named = KernelPerceptron(degree=2, gamma=1, coef0=1, **choices).fit(X, y)
    called = KernelPerceptron(kernel=function, **choices).fit(X, y)
    given = KernelPerceptron(kernel="precomputed", **choices).fit(function(X, X), y)
    sparse = KernelPerceptron(kernel=lambda Z, X: (Z @ X.T).toarray() + 1, **choices).fit(sp.csr_array(X), y)
    want = named.decision_function(test).tolist()
    assert called.decision_function(test).tolist() == want
    assert given.decision_function(function(test, X)).tolist() == want
    assert (called.support_.tolist(), given.support_.tolist()) == (named.support_.tolist(), named.support_.tolist())
    assert called.support_vectors_.tolist() == named.support_vectors_.tolist() == X[named.support_].tolist()
    assert sp.issparse(sparse.support_vectors_)
    with pytest.raises(AttributeError, match="does not know the rows"):
        _ = given.support_vectors_


def test_gamma_is_scikit_learns():
    X, y = noisy(60, 5, 2)
    for rows in (X, sp.csr_array(X * (X > 0)), X.astype(np.float32)):
        dense = rows.toarray() if sp.issparse(rows) else rows
        scaled = KernelPerceptron(kernel="rbf", gamma="scale").fit(rows, y)._learner.gamma
        assert scaled == pytest.approx(1 / (5 * dense.var(dtype=np.float64)), rel=1e-9)
    assert KernelPerceptron(kernel="rbf").fit(X, y)._learner.gamma == 1 / 5


@pytest.mark.parametrize("bad", [lambda Z, X: "no", lambda Z, X: np.ones((1, 1)), lambda Z, X: Z @ X.T * np.nan])
def test_a_kernel_that_returns_nonsense(bad):
    X, y = noisy(30, 3, 0)
    with pytest.raises(InputError, match=r"the kernel (must return|returned)"):
        KernelPerceptron(kernel=bad).fit(X, y)


# ---- The same answer ----
def logs_of(model):
    return [[log[name].tolist() for name in ("row", "visit", "step", "up", "down")] for log in model._learner.logs]


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_neither_blocks_nor_threads_change_a_bit(kernel, multi_class, shuffle):
    X, y = noisy(120, 20, 6, 4)
    choices = {"kernel": kernel, "multi_class": multi_class, "shuffle": shuffle, "random_state": 3, "max_iter": 3}
    want = KernelPerceptron(**choices).fit(X, y)
    for block, jobs in ((1, 1), (7, 2), (100, 3)):
        with patch.object(expansions, "_BLOCK", block):
            model = KernelPerceptron(**choices, n_jobs=jobs).fit(X, y)
            assert logs_of(model) == logs_of(want)
            for readout in READOUTS:
                model.set_params(readout=readout), want.set_params(readout=readout)
                assert model.decision_function(X).tolist() == want.decision_function(X).tolist()


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize(
    "options", [{}, {"multi_class": "joint"}, *({"max_support": 15, "budget": b} for b in BUDGETS)]
)
def test_batches_are_one_pass(options, size):
    X, y = noisy(200, 6, 7, 3)
    readout = {"readout": "last"} if "max_support" in options else {}
    parameters = options | readout | {"random_state": 5}
    whole = KernelPerceptron(shuffle=False, max_iter=1, **parameters).fit(X, y)
    batched = KernelPerceptron(**parameters)
    for first in range(0, len(X), size):
        batched.partial_fit(X[first : first + size], y[first : first + size], classes=[0, 1, 2])
    assert batched.decision_function(X).tolist() == whole.decision_function(X).tolist()
    assert batched.support_.tolist() == whole.support_.tolist()
    assert batched.dual_coef_.tolist() == whole.dual_coef_.tolist()
    assert batched.n_support_.tolist() == whole.n_support_.tolist()
    assert batched.n_updates_ == whole.n_updates_


@pytest.mark.parametrize(
    "options", [{}, {"multi_class": "joint"}, *({"max_support": 15, "budget": b} for b in BUDGETS)]
)
@pytest.mark.parametrize("shuffle", [False, True])
def test_two_short_fits_are_one_long_one(options, shuffle):
    X, y = noisy(150, 5, 8, 3)
    readout = {"readout": "last"} if "max_support" in options else {}
    parameters = options | readout | {"random_state": 2, "shuffle": shuffle}
    long = KernelPerceptron(max_iter=6, **parameters).fit(X, y)
    short = KernelPerceptron(max_iter=2, warm_start=True, **parameters).fit(X, y).fit(X, y).fit(X, y)
    assert short.mistakes_per_pass_.tolist() == long.mistakes_per_pass_.tolist()
    assert short.decision_function(X).tolist() == long.decision_function(X).tolist()
    assert short.support_.tolist() == long.support_.tolist()  # not stored again


def test_a_warm_start_on_other_rows_keeps_both():
    X, y = noisy(80, 4, 9)
    model = KernelPerceptron(warm_start=True, max_iter=1, shuffle=False).fit(X[:40], y[:40])
    before = len(model.support_)
    model.fit(X[40:], y[40:])
    in_one = KernelPerceptron(max_iter=1, shuffle=False).fit(X, y)
    assert model.decision_function(X).tolist() == in_one.decision_function(X).tolist()
    assert len(model.support_) == len(in_one.support_) > before
    with pytest.raises(InputError, match="warm_start goes on with the classes"):
        model.fit(X, np.where(y == 0, 5, y))


def test_sparse_and_dense_rows_are_the_same_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 30)) * (rng.random((150, 30)) < 0.3)
    y = rng.integers(0, 3, 150)
    dense, sparse = (KernelPerceptron(random_state=0).fit(rows, y) for rows in (X, sp.csr_matrix(X)))
    assert dense.decision_function(X).tolist() == sparse.decision_function(sp.csc_array(X)).tolist()
    assert logs_of(dense) == logs_of(sparse)
    messy = sp.csr_array((np.ones(4), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    tidy = np.array([[1.0, 0, 2], [0, 1, 0]])
    models = [KernelPerceptron(shuffle=False).fit(rows, [0, 1]) for rows in (messy, tidy)]
    assert models[0].decision_function(messy).tolist() == models[1].decision_function(tidy).tolist()


def test_a_model_of_float32_rows_predicts_float64_rows():
    X, y = noisy(100, 5, 1)
    X = np.round(X * 4).astype(np.float32)
    model = KernelPerceptron(gamma=1, degree=2, random_state=0).fit(X, y)
    assert model._learner.support.values().dtype == np.float32
    assert model.decision_function(X.astype(np.float64)).tolist() == model.decision_function(X).tolist()


# ---- Ways to stop ----
def test_early_stopping_keeps_the_best():
    X, y = noisy(300, 4, 10, 3)
    model = KernelPerceptron(early_stopping=True, max_iter=60, n_iter_no_change=3, random_state=0).fit(X, y)
    assert model.n_iter_ < 60 and model.n_updates_ < model.mistakes_per_pass_.sum()
    assert model.n_updates_ == sum(log.n for log in model._learner.logs)
    used = np.unique(np.concatenate([log["row"] for log in model._learner.logs]))
    assert len(used) == len(model.support_)  # rows of later mistakes are forgotten


def test_the_loss_rule_stops():
    X, y = noisy(300, 4, 11)
    stopped = KernelPerceptron(tol=1e-3, n_iter_no_change=2, max_iter=200, degree=1, random_state=0).fit(X, y)
    assert stopped.n_iter_ < 200 and not stopped.converged_


def test_it_converges_on_the_circle():
    X = np.random.default_rng(0).uniform(-2, 2, (300, 2))
    y = (X**2).sum(axis=1) >= 1
    model = KernelPerceptron(degree=2, readout="last", max_iter=2000, random_state=0).fit(X, y)
    assert model.converged_ and model.separates_ and model.mistakes_per_pass_[-1] == 0
    assert not KernelPerceptron(kernel="linear", max_iter=50, random_state=0).fit(X, y).converged_


def test_ctrl_c_leaves_a_usable_model():
    X, y = noisy(300, 4, 12)
    calls = []

    def function(Z, X):
        calls.append(1)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return Z @ X.T + 1.0

    model = KernelPerceptron(kernel=function, max_iter=100, random_state=0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with patch.object(expansions, "_BLOCK", 50), pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.predict(X).shape == (300,) and not model.converged_


def test_a_bad_batch_leaves_the_model_as_it_was():
    X, y = noisy(100, 4, 13)
    for options in ({}, *({"max_support": 10, "budget": b, "readout": "last"} for b in BUDGETS)):
        model = KernelPerceptron(degree=3, **options).partial_fit(X, y, classes=[0, 1])
        before = model.decision_function(X).tolist()
        huge = np.vstack([X[:50], np.full((2, 4), 1e200)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            with pytest.raises(WeightOverflowError, match="grew beyond the range"):
                model.partial_fit(huge, np.append(y[:50], [0, 1]))
        assert model.decision_function(X).tolist() == before


# ---- Parameters ----
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cosine"}, r"'kernel' parameter of KernelPerceptron must be 'linear' or .* Got 'cosine' instead"),
        ({"degree": 0}, r"'degree' parameter .* an integer of at least 1. Got 0"),
        ({"gamma": -1}, r"'gamma' parameter .* 'auto', 'scale' or a finite number above 0. Got -1"),
        ({"coef0": np.inf}, "'coef0' parameter"),
        ({"readout": "mean"}, r"'readout' parameter .* 'vote' or 'average' or 'last'"),
        ({"max_support": 0}, "'max_support' parameter"),
        ({"budget": "oldest"}, r"'budget' parameter .* 'forget' or 'project' or 'random'"),
        ({"max_support": 5}, r"readout='vote' does not work with max_support=5: .* set readout='average' or 'last'"),
        (
            {"max_support": 5, "budget": "forget", "readout": "average"},
            r"readout='average' does not work with max_support=5: .* set readout='last', or budget='project'",
        ),
        (
            {"max_support": 5, "readout": "last", "multi_class": "joint"},
            r"multi_class='joint' does not work .* set multi_class='ovr'",
        ),
        ({"max_support": 5, "readout": "last", "early_stopping": True}, "early_stopping=True does not work"),
        ({"max_support": 5, "readout": "last", "restart": True, "shuffle": False}, "restart=True does not work"),
        ({"restart": True}, "set shuffle=False"),
        ({"kernel": "precomputed"}, r"with kernel='precomputed' X must be square.*got shape \(30, 3\)"),
        ({"tie": "zero"}, "'tie' parameter"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    X, y = noisy(30, 3, 0)
    with pytest.raises(InputError, match=message):
        KernelPerceptron(**parameters).fit(X, y)


def test_what_is_not_finite_is_said_before_the_shape():
    with pytest.raises(InputError, match="X contains NaN: row 1, feature 2"):
        KernelPerceptron(kernel="precomputed").fit([[1.0, 2.0, 3.0], [1.0, 2.0, np.nan]], [0, 1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "precomputed"}, "Give the kernel as a function, or use fit"),
        ({"gamma": "scale"}, "the variance of a stream is not known yet. Set gamma to a number"),
        ({"restart": True, "shuffle": False}, "restart=True does not work with partial_fit"),
        ({"early_stopping": True}, "early_stopping=True does not work with partial_fit"),
        ({"class_weight": "balanced"}, "class_weight='balanced' does not work with partial_fit"),
    ],
)
def test_what_cannot_be_streamed(parameters, message):
    X, y = noisy(30, 3, 0)
    with pytest.raises(InputError, match=message):
        KernelPerceptron(**parameters).partial_fit(X, y, classes=[0, 1])


def test_before_fit_there_is_nothing():
    for name in ("support_", "dual_coef_", "n_support_", "support_vectors_"):
        assert not hasattr(KernelPerceptron(), name)
    model = KernelPerceptron(degree=2).fit(*noisy(30, 3, 0))
    assert not hasattr(clone(model), "support_")
    copy = pickle.loads(pickle.dumps(model))
    assert copy.decision_function(noisy(30, 3, 0)[0]).tolist() == model.decision_function(noisy(30, 3, 0)[0]).tolist()
