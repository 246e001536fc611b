"""Bad input gets an error that says where, what, and what to do; and what went wrong leaves nothing half done."""

import copy
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from strategies import fitted, noisy

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, inputs
from rosenblatt.errors import InputError, WeightOverflowError

ESTIMATORS = [Perceptron, AveragedPerceptron, VotedPerceptron]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)
X4 = np.array([[1.0, 0.0], [2.0, 1.0], [-1.0, 0.0], [-2.0, 1.0]])
Y4 = np.array([1, 1, 0, 0])


@pytest.fixture
def model():
    return Perceptron(shuffle=False)


# ---- Rows ----
@pytest.mark.parametrize(("bad", "what"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_value_that_is_not_finite_is_named_by_row_and_feature(model, bad, what, kind, dtype):
    X = np.arange(1.0, 13.0).reshape(6, 2).astype(dtype)
    X[3, 1] = X[5, 0] = bad
    message = (
        rf"Input X contains {what}: row 3, feature 1 is -?(nan|inf).*{'sklearn.impute' if what == 'NaN' else 'replace'}"
    )
    y = [0, 1, 0, 1, 0, 1]
    with pytest.raises(InputError, match=message):
        model.fit(kind(X), y)
    with pytest.raises(InputError, match=message):
        model.partial_fit(kind(X), y, classes=[0, 1])
    with pytest.raises(InputError, match=message):
        Perceptron(shuffle=False).fit(X4, Y4).predict(kind(X))


@pytest.mark.parametrize(
    "options",
    [
        {"max_updates": 1},
        {"restart": True, "shuffle": False, "max_iter": 1},
        {"early_stopping": True, "validation_fraction": 0.5},
        {"multi_class": "joint"},
        {"tie": "positive"},
        {"tol": 0.1},
    ],
    ids=str,
)
@each_estimator
def test_none_is_missed_whatever_ends_the_run(estimator, options):
    rng = np.random.default_rng(0)
    for row in range(12):
        X, y = rng.normal(size=(12, 3)), np.arange(12) % 3
        X[row, row % 3] = np.nan
        with pytest.raises(InputError, match=rf"row {row}, feature {row % 3} is nan"):
            fitted(estimator(random_state=row, **options), X, y)


@each_estimator
def test_a_row_of_weight_0_must_be_finite_too(estimator):
    X = X4.copy()
    X[2, 0] = np.nan
    with pytest.raises(InputError, match="row 2, feature 0"):
        estimator().fit(X, Y4, sample_weight=[1, 1, 0, 1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_frame_names_the_feature(model, frame):
    table = frame({"height": [1.0, 2.0, 3.0, 4.0], "weight": [1.0, np.nan, 3.0, 4.0]})
    with pytest.raises(InputError, match=r"row 1, feature 1 \('weight'\) is nan"):
        model.fit(table, Y4)


@pytest.mark.parametrize("kind", ["pandas Int64", "pandas Float64", "pandas None", "polars null", "list None"])
def test_a_missing_value_is_named_in_whatever_way_it_is_missing(model, kind):
    X = {
        "pandas Int64": lambda: pd.DataFrame({"a": pd.array([1, 2, None, 4], dtype="Int64")}),
        "pandas Float64": lambda: pd.DataFrame({"a": pd.array([1.5, 2, None, 4], dtype="Float64")}),
        "pandas None": lambda: pd.DataFrame({"a": pd.Series([1, 2, None, 4], dtype=object)}),
        "polars null": lambda: pl.DataFrame({"a": [1, 2, None, 4]}),
        "list None": lambda: [[1], [2], [None], [4]],
    }[kind]()
    with pytest.raises(InputError, match="row 2, feature 0"):
        model.fit(X, Y4)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            [1.0, 2.0, 3.0, 4.0],
            r"X must have two dimensions, rows and features, got 1 \(shape \(4,\)\).*reshape\(-1, 1\)",
        ),
        (np.ones((2, 2, 2)), "X must have two dimensions, rows and features, got 3"),
        (np.float64(3), "X must have two dimensions, rows and features, got 0"),
        ({}, "X must have two dimensions, rows and features, got 0"),
        ("x.csv", r"X must be rows, as an array, .* got 'x\.csv'\. Rows of a file come with X, y = rosenblatt\.load"),
        (Path("x.csv"), r"got PosixPath\('x\.csv'\).*; rosenblatt\.train learns from files, rosenblatt predict MODEL"),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required by Perceptron"),
        (np.empty((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required by Perceptron"),
        (sp.csr_array((0, 3)), r"0 sample\(s\)"),
        (sp.csr_array((3, 0)), r"0 feature\(s\)"),
        (np.ones((4, 2)) * 1j, "Complex data not supported"),
        (sp.csr_array(np.ones((4, 2)) * 1j), "Complex data not supported"),
        ([[1, "2"], [3, "four"], [5, 6], [7, 8]], "row 1, feature 1 of X is 'four', which is not a number"),
        (
            pd.DataFrame({"a": ["1", "x", "2", "3"]}),
            "row 1, feature 0 .*of X is 'x', which is not a number.*OneHotEncoder, text with .*TfidfVectorizer",
        ),
    ],
)
def test_rows_that_are_no_table_of_numbers(model, X, message):
    with pytest.raises(InputError, match=message):
        model.fit(X, Y4)


def test_a_sparse_row_alone_is_no_table(model):
    with pytest.raises(InputError, match="Expected 2D input, got input with shape"):
        model.fit(sp.coo_array(np.ones(4)), Y4)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("indices", [0, 1, 0, 9, 0, 1, 0, 1], "column index"),
        ("indptr", [0, 4, 2, 6, 8], "indptr must not decrease"),
        ("indptr", [0, 2, 4, 6, 99], "past the end"),
    ],
)
def test_a_damaged_sparse_matrix_is_refused(model, field, value, message):
    X = sp.csr_array(np.ones((4, 2)))
    setattr(X, field, np.asarray(value, np.int32))
    with pytest.raises(InputError, match=rf"the sparse matrix is damaged: .*{message}"):
        model.fit(X, Y4)
    good = Perceptron(shuffle=False).fit(X4, Y4)
    with pytest.raises(InputError, match="damaged"):
        good.predict(X)


@each_estimator
def test_another_number_of_features(estimator):
    model = fitted(estimator(shuffle=False), X4, Y4)
    for method in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match=r"3 features, but .* is expecting 2 features"):
            method(np.ones((2, 3)))
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.partial_fit(np.ones((4, 3)), Y4)


@each_estimator
def test_not_fitted(estimator):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        estimator().predict(X4)
    assert not hasattr(estimator(), "coef_") and not hasattr(estimator(), "hyperplane_")
    if estimator is not VotedPerceptron:
        with pytest.raises(AttributeError, match="not fitted yet"):
            _ = estimator().coef_


# ---- Labels ----
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        ([0, 1, 0], r"inconsistent numbers of samples: \[4, 3\]"),
        ([[0, 1], [1, 0], [0, 1], [1, 0]], r"y should be a 1d array of labels, got an array of shape \(4, 2\)"),
        ([0.0, 1.0, np.nan, 1.0], r"Input y contains NaN or infinity: y\[2\]"),
        ([0.0, np.inf, 1.0, 1.0], r"Input y contains NaN or infinity: y\[1\]"),
        ([0.5, 1.5, 2.5, 3.5], "Unknown label type: continuous.*0.5 looks like a measurement"),
        ([7, 7, 7, 7], r"Perceptron needs samples of at least two classes, got only one class: \[7\]"),
        (["a", "a", "a", "a"], "only one class"),
        (["a", None, "b", "a"], r"y\[1\]"),
    ],
)
def test_labels_that_cannot_be_learned(model, y, message):
    with pytest.raises(InputError, match=message):
        model.fit(X4, y)


def test_one_class_among_the_rows_that_count(model):
    with pytest.raises(InputError, match=r"only one class.*weight 0 do not count"):
        model.fit(X4, Y4, sample_weight=[1, 1, 0, 0])


def test_too_many_classes(model):
    with pytest.raises(InputError, match="y has 32768 classes; at most 32767"):
        model.fit(np.zeros((32768, 1), np.float32), np.arange(32768))
    with pytest.raises(InputError, match="y has 32768 classes; at most 32767"):
        model.fit(np.zeros((32768, 1), np.float32), np.arange(32768) * 10**6)
    with pytest.raises(InputError, match="at most 32767"):
        model.partial_fit(X4, Y4, classes=np.arange(32768))


def test_a_column_of_labels_is_taken_with_a_warning(model):
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        model.fit(X4, Y4[:, None])
    assert model.predict(X4).tolist() == Y4.tolist()


# ---- Weights and first guesses ----
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1, 1, 1], r"sample_weight\[1\] is -1.0; weights must be finite and not negative"),
        ([1, 1, np.nan, 1], r"sample_weight\[2\] is nan"),
        ([1, 1, 1, np.inf], r"sample_weight\[3\] is inf"),
        ([0, 0, 0, 0], "all sample weights are zero"),
        ([1, 1, 1], r"sample_weight.shape == \(3,\), expected \(4,\)"),
        (np.ones((4, 1)), r"sample_weight.shape == \(4, 1\), expected \(4,\)"),
    ],
)
def test_sample_weights_that_cannot_be_used(model, weights, message):
    with pytest.raises(InputError, match=message):
        model.fit(X4, Y4, sample_weight=weights)
    with pytest.raises(InputError, match=message):
        model.partial_fit(X4, Y4, classes=[0, 1], sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: -1, 1: 1}, "class_weight must be finite and not negative"),
        ({0: np.nan, 1: 1}, "class_weight must be finite and not negative"),
        ({5: 1.0, 0: 1.0}, r"class_weight names \[5\], which are not among the classes \[0, 1\]"),
        ("heavy", "class_weight must be a dict, 'balanced', or None, got: 'heavy'"),
    ],
)
def test_class_weights_that_cannot_be_used(class_weight, message):
    with pytest.raises(InputError, match=message):
        Perceptron(class_weight=class_weight).fit(X4, Y4)


@pytest.mark.parametrize(
    ("first_guess", "message"),
    [
        ({"coef_init": np.ones((1, 3))}, r"coef_init must have shape \(1, 2\), got \(1, 3\)"),
        ({"coef_init": np.ones((2, 1))}, r"coef_init must have shape \(1, 2\), got \(2, 1\)"),
        ({"coef_init": [[np.nan, 1]]}, "coef_init must be finite"),
        ({"intercept_init": [1, 2]}, r"intercept_init must have shape \(1,\), got \(2,\)"),
        ({"intercept_init": [np.inf]}, "intercept_init must be finite"),
    ],
)
def test_first_guesses_that_cannot_be_used(model, first_guess, message):
    with pytest.raises(InputError, match=message):
        model.fit(X4, Y4, **first_guess)


def test_a_first_offset_needs_an_intercept():
    with pytest.raises(InputError, match="intercept_init needs fit_intercept=True"):
        Perceptron(fit_intercept=False).fit(X4, Y4, intercept_init=[1.0])


def test_first_guesses_may_be_flat_for_one_vector(model):
    model.fit(X4, Y4, coef_init=[5.0, 0.0], intercept_init=0.25)
    assert (model.coef_.tolist(), model.intercept_.tolist(), model.n_updates_) == ([[5.0, 0.0]], [0.25], 0)


# ---- Parameters ----
WRONG = {
    "penalty": (["l2", "elasticnet", 0], r"must be None.*use SoftMargin"),
    "fit_intercept": (["yes", None, 2], "must be True or False"),
    "max_iter": ([0, -1, 2.5, "10", None, True], "must be an integer of at least 1"),
    "max_updates": ([0, 1.0, "x", True], "must be None or an integer of at least 1"),
    "tol": (["x", np.nan, True], "must be None or a number"),
    "shuffle": (["no", None], "must be True or False"),
    "restart": (["no", None], "must be True or False"),
    "verbose": (["loud", -1, None], "must be True or False"),
    "eta0": ([0, -1.0, np.nan, np.inf, "x", None], "must be a finite number above 0"),
    "tie": (["zero", None, 1], "must be 'mistake' or 'positive' or 'negative'"),
    "multi_class": (["ovo", None], "must be 'ovr' or 'joint'"),
    "n_jobs": ([1.5, "all"], "must be None or an integer"),
    "early_stopping": (["yes", None], "must be True or False"),
    "validation_fraction": ([0, 1.5, -0.1, "x", None], "must be a number above 0"),
    "n_iter_no_change": ([0, 2.5, None], "must be an integer of at least 1"),
    "warm_start": (["yes", None], "must be True or False"),
    "margin": ([-0.5, np.nan, np.inf, "1", None, True], "must be a finite number of at least 0"),
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, (values, _) in WRONG.items() for value in values])
@each_estimator
def test_a_wrong_parameter_is_named_with_what_is_allowed_and_what_came(estimator, name, value):
    allowed = (
        WRONG[name][1].replace(".*", f". Got {value!r} instead.*", 1) if ".*" in WRONG[name][1] else WRONG[name][1]
    )
    message = rf"The '{name}' parameter of {estimator.__name__} {allowed}"
    wrong = estimator(**{name: value})
    with pytest.raises(InputError, match=message):
        wrong.fit(X4, Y4)
    with pytest.raises(InputError, match=rf"Got {value!r} instead".replace("[", r"\[")):
        wrong.partial_fit(X4, Y4, classes=[0, 1])
    assert not hasattr(wrong, "classes_")


def test_every_parameter_with_a_limit_is_tested():
    from rosenblatt.mistake_driven import LIMITS

    assert set(WRONG) == set(LIMITS)
    assert set(Perceptron().get_params()) - set(LIMITS) == {"random_state", "class_weight"}


@pytest.mark.parametrize("value", [-1, "seed", 2.5, 2**70])
def test_a_wrong_random_state_is_named(value):
    with pytest.raises(ValueError, match=r"random_state|seed"):
        Perceptron(random_state=value).fit(X4, Y4)


@pytest.mark.parametrize(("name", "value"), [("max_iter", 2**70), ("max_updates", 2**70)])
def test_a_budget_larger_than_any_run_is_no_error(name, value):
    model = Perceptron(shuffle=False, **{name: value}).fit(X4, Y4)
    assert model.converged_


@pytest.mark.parametrize("value", [np.True_, np.int64(1), 1])
def test_flags_may_be_numpys_or_numbers(value):
    assert Perceptron(fit_intercept=value, shuffle=value, random_state=0).fit(X4, Y4).converged_


@pytest.mark.parametrize(
    "options", [{"max_iter": np.int64(3)}, {"eta0": np.float32(0.5)}, {"eta0": 2}, {"margin": np.float32(0.5)}]
)
def test_numbers_may_be_numpys(options):
    fitted(Perceptron(**options), X4, Y4)


def test_restart_refuses_shuffling():
    with pytest.raises(InputError, match=r"restart=True .*note 000, Algorithm 1.*set shuffle=False"):
        Perceptron(restart=True).fit(X4, Y4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restart": True, "shuffle": False}, "restart=True does not work with partial_fit: .*use fit"),
        ({"early_stopping": True}, "early_stopping=True does not work with partial_fit: .*hold out: use fit"),
        (
            {"class_weight": "balanced"},
            "class_weight='balanced' does not work with partial_fit: .*compute_class_weight",
        ),
    ],
)
@each_estimator
def test_what_a_stream_cannot_do_is_refused_with_what_to_do(estimator, options, message):
    with pytest.raises(InputError, match=message):
        estimator(**options).partial_fit(X4, Y4, classes=[0, 1])


def test_too_few_rows_to_hold_out():
    with pytest.raises(InputError, match=r"early_stopping cannot hold out validation_fraction=0.1 of 4 rows"):
        Perceptron(early_stopping=True).fit(X4, Y4)
    with pytest.raises(InputError, match="validation_fraction"):
        Perceptron(early_stopping=True, validation_fraction=1.0).fit(X4, Y4)


# ---- Streams ----
@each_estimator
def test_the_first_batch_must_name_the_classes(estimator):
    with pytest.raises(InputError, match="classes must be passed on the first call to partial_fit"):
        estimator().partial_fit(X4, Y4)
    with pytest.raises(InputError, match="only one class"):
        estimator().partial_fit(X4, Y4, classes=[1])


@each_estimator
def test_a_class_not_named_at_first(estimator):
    model = estimator().partial_fit(X4, Y4, classes=[0, 1])
    with pytest.raises(InputError, match=r"y\[3\] is .*5.*not in the classes \[0, 1\].*name all classes there"):
        model.partial_fit(X4, [0, 1, 0, 5])
    with pytest.raises(InputError, match=r"classes=\[0, 1, 2\].* is not the same as on last call to partial_fit"):
        model.partial_fit(X4, Y4, classes=[0, 1, 2])


def test_a_batch_may_have_one_class_and_the_classes_any_order():
    model = Perceptron().partial_fit(X4[:2], Y4[:2], classes=[1, 0])
    assert model.classes_.tolist() == [0, 1]
    assert model.partial_fit(X4, Y4, classes=[0, 1]).n_updates_ >= 1


def test_warm_start_keeps_its_classes_and_features():
    model = Perceptron(warm_start=True).fit(X4, Y4)
    with pytest.raises(InputError, match=r"warm_start goes on with the classes \[0, 1\], but y has \[0, 3\]"):
        model.fit(X4, Y4 * 3)
    with pytest.raises(ValueError, match="expecting 2 features"):
        model.fit(np.ones((4, 3)), Y4)


# ---- What fails leaves nothing half done ----
TOO_LARGE = np.array([[1e308, -1e308], [-1e308, 1e308], [1e308, 1e308], [-1e308, -1e308]])


def picture(model):
    """Everything that a model holds, to compare."""
    state = copy.deepcopy(model.__getstate__())
    flat = {}
    for name, value in state.items():
        for part, array in value.items() if isinstance(value, dict) else [("", value)]:
            flat[name, part] = array.tobytes() if isinstance(array, np.ndarray) else repr(array)
    return flat


FAILURES = {
    "NaN": (np.array([[1.0, 2.0], [-3.0, 4.0], [5.0, -6.0], [np.nan, 1.0]]), [0, 1, 0, 1], InputError),
    "overflow": (TOO_LARGE, [0, 0, 1, 1], WeightOverflowError),
}


@each_estimator
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_first_fit_leaves_an_unfitted_model(estimator, failure):
    X, y, error = FAILURES[failure]
    model = estimator(shuffle=False)
    with pytest.raises(error):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X4)
    assert [name for name in vars(model) if name.endswith("_") or name == "_learner"] == []
    assert fitted(model, X4, Y4).score(X4, Y4) == 1


@each_estimator
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_first_partial_fit_leaves_an_unfitted_model(estimator, failure):
    X, y, error = FAILURES[failure]
    model = estimator()
    with pytest.raises(error):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(NotFittedError):
        model.predict(X4)
    assert model.partial_fit(X4, Y4, classes=[0, 1]).n_updates_ > 0


BAD_BATCHES = FAILURES | {
    "unknown class": (X4, [0, 1, 0, 9], InputError),
    "features": (np.ones((4, 3)), Y4, ValueError),
    "labels": (X4, [0, 1], InputError),
}


@each_estimator
@pytest.mark.parametrize("failure", BAD_BATCHES)
def test_a_failed_partial_fit_leaves_the_model_as_it_was(estimator, failure):
    X, y, error = BAD_BATCHES[failure]
    model = estimator().partial_fit(*noisy(30, 2, 0), classes=[0, 1])
    before = picture(model)
    with pytest.raises(error):
        model.partial_fit(X, y)
    assert picture(model) == before


@each_estimator
@pytest.mark.parametrize("warm_start", [False, True])
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_later_fit_leaves_the_model_as_it_was(estimator, failure, warm_start):
    X, y, error = FAILURES[failure]
    model = fitted(estimator(shuffle=False, warm_start=warm_start), *noisy(30, 2, 0))
    before = picture(model)
    with pytest.raises(error):
        model.fit(X, y)
    assert picture(model) == before


# ---- Overflow is reported, never returned ----
@each_estimator
def test_weights_beyond_float64(estimator):
    with pytest.raises(WeightOverflowError, match=r"beyond the range of float64.*StandardScaler"):
        estimator(shuffle=False).fit(TOO_LARGE, [0, 0, 1, 1])
    with pytest.raises(ArithmeticError):
        estimator(shuffle=False).fit(TOO_LARGE, [0, 0, 1, 1])


def test_an_intercept_beyond_float64():
    # The last row of the last pass makes the intercept infinite, and no score is computed after it.
    X, y = [[0.0], [1.0], [-1.5], [2.2]], [0, 1, 1, 1]
    with pytest.raises(WeightOverflowError):
        fitted(Perceptron(shuffle=False, eta0=1e308, max_iter=1), X, y)


def test_sums_behind_the_average_beyond_float64():
    # The weights stay near 1e306, but visits times weights do not.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 1)) * 1e150, rng.integers(0, 2, 2000)
    model = AveragedPerceptron(shuffle=False, eta0=1e155, max_iter=3)
    try:
        model.fit(X, y)
    except WeightOverflowError:
        return
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()


def test_large_finite_numbers_are_no_overflow():
    X = np.array([[1e150], [-1e150]])
    assert Perceptron(shuffle=False).fit(X, [1, 0]).separates_
    assert Perceptron(shuffle=False).fit(X * 1e-300, [1, 0]).separates_


# ---- The warning ----
def test_the_warning_says_how_many_mistakes_and_what_to_do():
    X, y = [[0.0], [0.0], [1.0]], [0, 1, 1]
    message = r"Perceptron stopped after max_iter=7 passes; the last pass made \d+ mistakes?\..*raise max_iter.*certify"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = Perceptron(max_iter=7, random_state=0).fit(X, y)
    assert f"made {model.mistakes_per_pass_[-1]} mistake" in str(caught[0].message)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("estimator", [AveragedPerceptron, VotedPerceptron])
def test_those_made_for_noisy_data_do_not_warn(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator().fit([[0.0], [0.0]], [0, 1])


def test_partial_fit_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Perceptron().partial_fit([[0.0], [0.0]], [0, 1], classes=[0, 1])


# ---- The limits themselves ----
def test_limits_read_as_sentences():
    assert str(inputs.flag()) == "True or False"
    assert str(inputs.integer(1, none=True)) == "None or an integer of at least 1"
    assert str(inputs.number(0, high=1, above=True)) == "a number above 0 and at most 1"
    assert str(inputs.Limit(choices=("a", "b"))) == "'a' or 'b'"


# ---- Features that are stored in parts ----
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.sampled_from((0.1, 0.2, 0.7, -0.3, 1e16))), max_size=9), min_size=1
    )
)
def test_parts_of_a_feature_are_summed_in_their_order_where_the_first_stands(rows):
    starts = np.cumsum([0, *map(len, rows)])
    columns, values = (np.array([part[k] for row in rows for part in row], t) for k, t in ((0, np.int32), (1, float)))
    X = sp.csr_array((values, columns, starts), shape=(len(rows), 5))
    found = inputs.rows(X).summed().sparse
    for i, row in enumerate(rows):
        sums = {}
        for column, value in row:
            sums[column] = sums[column] + value if column in sums else value
        part = slice(*found.indptr[i : i + 2])
        assert dict(zip(found.indices[part].tolist(), found.data[part].tolist(), strict=True)) == sums
        assert found.indices[part].tolist() == list(sums)
    assert X.data.tolist() == values.tolist() and X.indices.tolist() == columns.tolist()  # the caller's own
