"""The scikit-learn contract: every estimator, every check, every container that rows come in."""

import io
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_iris, load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import fitted, noisy

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, inputs

ESTIMATORS = [Perceptron, AveragedPerceptron, VotedPerceptron]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)

OPTIONS = [
    {},
    {"tie": "positive"},
    {"tie": "negative"},
    {"multi_class": "joint"},
    {"shuffle": False},
    {"shuffle": False, "restart": True},
    {"early_stopping": True, "validation_fraction": 0.4},  # some of the checks have few rows
    {"class_weight": "balanced"},
    {"warm_start": True},
    {"tol": 1e-3},
    {"n_jobs": 2},
    {"eta0": 0.5},
    {"margin": 1.0},
]


# ---- scikit-learn's own checks ----
class FitOnly:
    """For the options that refuse `partial_fit` (test_inputs.py has their messages): the checks are not to call it."""

    @property
    def partial_fit(self):
        raise AttributeError("refused")


class FitOnlyPerceptron(FitOnly, Perceptron):
    pass


class FitOnlyAveragedPerceptron(FitOnly, AveragedPerceptron):
    pass


class FitOnlyVotedPerceptron(FitOnly, VotedPerceptron):
    pass


FIT_ONLY = dict(zip(ESTIMATORS, (FitOnlyPerceptron, FitOnlyAveragedPerceptron, FitOnlyVotedPerceptron)))


def candidate(estimator, options):
    refuses = "restart" in options or "early_stopping" in options or "class_weight" in options
    return (FIT_ONLY[estimator] if refuses else estimator)(**options)


def expected_failures(model):
    """The checks that must fail, by name and with the reason."""
    reasons = dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
        "a weight multiplies the step of its row; a repeated row is a second visit, which is a mistake only if the "
        "first update did not suffice",
    )
    if model.warm_start:
        reasons["check_supervised_y_2d"] = "it fits twice and expects the same: the second fit goes on from the first"
    if model.restart:
        reasons["check_class_weight_classifiers"] = (
            "its classes overlap, and its 1,000 passes are 1,000 scans that end at their first mistake: too few"
        )
    if model.early_stopping:
        reasons["check_class_weight_classifiers"] = (
            "a class of weight 0.0001 is to be given up; the watched mistakes count all classes alike"
        )
    return reasons


COMBINED = [{"multi_class": "joint", "tie": "positive"}, {"early_stopping": True, "validation_fraction": 0.4}]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [candidate(Perceptron, options) for options in OPTIONS]
    + [candidate(estimator, options) for estimator in ESTIMATORS[1:] for options in ({}, *COMBINED)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [candidate(estimator, options) for estimator in ESTIMATORS[1:] for options in OPTIONS[1:]],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks_of_every_combination(estimator, check):
    check(estimator)


# ---- The tools around an estimator ----
@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def quiet():
    """Most of these fits end at max_iter, which is not what they are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@each_estimator
def test_pipeline_grid_search_and_cross_validation(estimator, iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), estimator(random_state=0))
    name = estimator.__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__tie": ["mistake", "positive"], f"{name}__eta0": [1, 0.5]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ > 0.75
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.75


@each_estimator
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_clone_keeps_parameters_and_forgets_the_fit(estimator, options, iris):
    model = estimator(**options).fit(*iris)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "classes_") and not hasattr(copy, "_learner")


@each_estimator
def test_metadata_routing_brings_sample_weights_to_the_estimator(estimator):
    X, y = noisy(90, 4, 0, 3)
    weights = np.random.default_rng(0).uniform(0, 2, 90)
    with config_context(enable_metadata_routing=True):
        model = estimator(shuffle=False).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipeline.fit(X, y, sample_weight=weights)
        direct = fitted(estimator(shuffle=False), StandardScaler().fit_transform(X), y, sample_weight=weights)
        assert pipeline[-1].decision_function(X).tolist() == direct.decision_function(X).tolist()
        search = GridSearchCV(pipeline, {f"{estimator.__name__.lower()}__max_iter": [2, 4]}, cv=3)
        search.fit(X, y, sample_weight=weights)
        assert search.best_params_


@each_estimator
def test_metadata_routing_of_partial_fit(estimator):
    with config_context(enable_metadata_routing=True):
        model = estimator().set_partial_fit_request(sample_weight=True, classes=True)
        requested = model.get_metadata_routing().partial_fit.requests
    assert requested == {"sample_weight": True, "classes": True}


# ---- Rows in every container ----
@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = rng.integers(-8, 9, (60, 5)).astype(np.float64)
    return X, np.where(X @ [1, 2, -1, 0, 3] + rng.normal(size=60) * 4 > 0, "yes", "no")


def svmlight(X):
    """What scikit-learn's own reader returns: with long indices, CSR of int64, which its own Perceptron refuses."""
    file = io.BytesIO()
    dump_svmlight_file(X, np.zeros(len(X)), file)
    file.seek(0)
    matrix, _ = load_svmlight_file(file, n_features=X.shape[1])
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


CONTAINERS = {
    "list": lambda X: X.tolist(),
    "list of tuples": lambda X: [tuple(row) for row in X.tolist()],
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "object": lambda X: X.astype(object),
    "big-endian": lambda X: X.astype(">f8"),
    "Fortran": np.asfortranarray,
    "strided rows": lambda X: np.repeat(X, 2, axis=0)[::2],
    "strided columns": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "reversed": lambda X: X[::-1].copy()[::-1],
    "csr_matrix": sp.csr_matrix,
    "csr_array": sp.csr_array,
    "csc_matrix": sp.csc_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "lil_matrix": sp.lil_matrix,
    "csr of integers": lambda X: sp.csr_array(X.astype(np.int32)),
    "svmlight, int64 indices": svmlight,
    "pandas": pd.DataFrame,
    "pandas, mixed types": lambda X: pd.DataFrame(X).astype({0: "int8", 1: "float32", 2: "int64"}),
    "pandas, nullable": lambda X: pd.DataFrame(X).astype("Int64"),
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{i}" for i in range(X.shape[1])]),
}


@each_estimator
@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_model_and_predictions(estimator, container, table):
    X, y = table
    want = fitted(estimator(random_state=0, max_iter=5), X, y)
    stored = CONTAINERS[container](X)
    model = fitted(estimator(random_state=0, max_iter=5), stored, y)
    assert model._learner.coef.tolist() == want._learner.coef.tolist()
    assert model.predict(stored).tolist() == want.predict(X).tolist()
    assert (model.separates_, model.n_iter_) == (want.separates_, want.n_iter_)


@each_estimator
def test_truth_values_are_numbers(estimator):
    X = np.random.default_rng(0).random((40, 4)) < 0.5
    y = X[:, 0] ^ X[:, 1]
    flags, numbers = (fitted(estimator(random_state=0), rows, y) for rows in (X, X.astype(float)))
    assert flags._learner.coef.tolist() == numbers._learner.coef.tolist()


LABELS = {
    "list": lambda y: y.tolist(),
    "object": lambda y: y.astype(object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "pandas category": lambda y: pd.Series(y, dtype="category"),
}


@pytest.mark.parametrize("container", LABELS)
def test_labels_in_every_container(container, table):
    X, y = table
    model = fitted(Perceptron(random_state=0), X, LABELS[container](y))
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict(X).tolist() == fitted(Perceptron(random_state=0), X, y).predict(X).tolist()


@pytest.mark.parametrize("labels", [[3, -7], [True, False], [2**62, -(2**62)], [0.0, 5.0], ["b", "a"]])
def test_labels_of_every_type(labels):
    X = [[1.0], [2.0], [-1.0], [-2.0]]
    y = np.array([labels[0], labels[0], labels[1], labels[1]])
    model = Perceptron(shuffle=False).fit(X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert model.classes_.dtype == y.dtype
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
@pytest.mark.parametrize("place", ["lowest", "highest"])
def test_labels_at_the_ends_of_their_type(dtype, place):
    limits = np.iinfo(dtype)
    ends = [limits.min + k for k in range(3)] if place == "lowest" else [limits.max - k for k in (2, 1, 0)]
    y = np.array(ends * 4, dtype=dtype)
    X = np.eye(3)[np.arange(12) % 3]
    model = fitted(Perceptron(shuffle=False), X, y)
    assert model.classes_.tolist() == ends
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
@each_estimator
def test_frames_give_their_names(estimator, library, table):
    X, y = table
    names = ["a", "b", "c", "d", "e"]
    frame = pd.DataFrame(X, columns=names) if library == "pandas" else pl.DataFrame(X, schema=names)
    model = fitted(estimator(random_state=0), frame, y)
    assert model.feature_names_in_.tolist() == names
    assert model.predict(frame).tolist() == fitted(estimator(random_state=0), X, y).predict(X).tolist()
    assert model.partial_fit(frame, y).n_features_in_ == 5
    backwards = frame[names[::-1]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(backwards)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)


def test_two_frames_of_two_libraries_are_the_same_rows(table):
    X, y = table
    names = ["a", "b", "c", "d", "e"]
    model = fitted(Perceptron(random_state=0), pd.DataFrame(X, columns=names), y)
    assert (
        model.predict(pl.DataFrame(X, schema=names)).tolist() == model.predict(pd.DataFrame(X, columns=names)).tolist()
    )


# ---- Memory ----
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_rows_are_neither_copied_nor_changed(dtype):
    X = np.random.default_rng(0).normal(size=(50, 7)).astype(dtype)
    rows = inputs.rows(X)
    assert rows.dense is X or np.shares_memory(rows.dense, X)
    assert rows.dense.dtype == dtype


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows_are_neither_copied_nor_changed(kind, index):
    X = kind(np.random.default_rng(0).normal(size=(50, 7)))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    rows = inputs.rows(X)
    for name in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(rows.sparse, name), getattr(X, name))
        assert getattr(rows.sparse, name).dtype == getattr(X, name).dtype


@each_estimator
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_read_only_arrays_will_do(estimator, kind):
    X, y = noisy(60, 5, 2, 3)
    weights = np.ones(60)
    stored = X if kind == "dense" else sp.csr_array(X)
    parts = [X] if kind == "dense" else [stored.data, stored.indices, stored.indptr]
    before = [part.copy() for part in parts]
    for array in (*parts, y, weights):
        array.flags.writeable = False
    model = fitted(estimator(random_state=0), stored, y, sample_weight=weights)
    model.partial_fit(stored, y, sample_weight=weights).predict(stored)
    assert all((part == old).all() for part, old in zip(parts, before))


@each_estimator
def test_unsorted_and_repeated_indices_are_left_as_they_are(estimator):
    data, columns, starts = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2, 0, 1, 1]), np.array([0, 2, 4])
    X = sp.csr_array((data.copy(), columns.copy(), starts.copy()), shape=(2, 3))
    model = fitted(estimator(shuffle=False), X, [0, 1])
    assert X.data.tolist() == data.tolist() and X.indices.tolist() == columns.tolist()
    dense = fitted(estimator(shuffle=False), np.array([[2.0, 0, 1], [0, 7, 0]]), [0, 1])
    assert model._learner.coef.tolist() == dense._learner.coef.tolist()


def test_first_guesses_are_not_changed():
    X, y = noisy(60, 5, 2)
    coef, intercept = np.ones((1, 5)), np.ones(1)
    fitted(Perceptron(), X, y, coef_init=coef, intercept_init=intercept)
    assert (coef == 1).all() and (intercept == 1).all()


@each_estimator
def test_attributes_have_the_types_that_are_promised(estimator):
    X, y = noisy(60, 5, 3, 3)
    model = fitted(estimator(random_state=0), X, y)
    assert type(model.n_iter_) is int and type(model.n_updates_) is int
    assert type(model.converged_) is bool and type(model.separates_) is bool
    assert model.mistakes_per_pass_.sum() == model.n_updates_ == model.updates_per_class_.sum()
    assert len(model.mistakes_per_pass_) == model.n_iter_ and len(model.updates_per_class_) == 3


def test_only_linear_models_have_a_hyperplane():
    X, y = noisy(60, 5, 3)
    linear = fitted(AveragedPerceptron(random_state=0), X, y)
    assert linear.hyperplane_.w.tolist() == linear.coef_[0].tolist()
    assert linear.hyperplane_.b == linear.intercept_[0]
    voted = fitted(VotedPerceptron(random_state=0), X, y)
    assert not hasattr(voted, "coef_") and not hasattr(voted, "hyperplane_")
    with pytest.raises(AttributeError, match="for two classes"):
        _ = fitted(Perceptron(), *noisy(60, 5, 3, 3)).hyperplane_


def test_many_classes():
    X = np.eye(300)
    for multi_class in ("ovr", "joint"):
        model = fitted(Perceptron(shuffle=False, multi_class=multi_class, max_iter=1000), X, np.arange(300))
        assert model.separates_ and model.predict(X).tolist() == list(range(300))


def test_the_defaults_are_the_documented_ones():
    assert (Perceptron().max_iter, AveragedPerceptron().max_iter, VotedPerceptron().max_iter) == (100, 10, 10)
    for estimator in ESTIMATORS:
        given = estimator().get_params()
        off = ("max_updates", "tol", "random_state", "n_jobs", "class_weight", "penalty")
        assert {name: given[name] for name in off} == dict.fromkeys(off)
        assert given["shuffle"] and given["fit_intercept"]
        assert not (given["restart"] or given["early_stopping"] or given["warm_start"] or given["verbose"])
        assert (given["tie"], given["multi_class"], given["eta0"], given["margin"]) == ("mistake", "ovr", 1.0, 0.0)
