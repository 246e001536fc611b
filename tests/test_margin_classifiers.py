"""The maximum and the soft margin: against others' solvers, the conditions of optimality, and the contract."""

import json
import pickle
import warnings
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as file_of
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_svmlight_file, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from strategies import data_file, separable

import rosenblatt as rb
from rosenblatt import inputs, model_file, soft_margin_classifiers
from rosenblatt import textbook as tb
from rosenblatt.errors import InputError, ModelFileError, NotSeparableError, UndecidedError
from rosenblatt.solving import soft_margin

IRIS = load_iris(return_X_y=True)
XOR = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]


def standardised(X):
    return StandardScaler().fit_transform(X)


def data_sets():
    X, y = load_breast_cancer(return_X_y=True)
    digits, digit = load_digits(return_X_y=True)
    noisy = make_classification(400, 8, flip_y=0.2, random_state=0)
    wide = make_classification(60, 200, n_informative=20, random_state=1)
    return {
        "breast cancer": (standardised(X), y),
        "digits 8": (digits[::2] / 16, digit[::2] == 8),
        "noisy": noisy,
        "wide": wide,
        "unbalanced": (noisy[0][:230], np.arange(230) < 12),
        "sparse": (sp.csr_matrix(np.where(np.abs(noisy[0]) > 1, noisy[0], 0)), noisy[1]),
        "far from 0": (noisy[0] + 100, noisy[1]),
    }


DATA = data_sets()
EIGHT_DECADES = [1e-4, 1e-2, 1.0, 1e2, 1e4]
each_set = pytest.mark.parametrize("name", DATA)


def fitted_or_warned(model, X, y, **more):
    """The model; if it warns, its gap must say so."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **more)
    assert bool(caught) == (model.gap_ > model.gap)
    return model


# ---- scikit-learn's own checks ----
RANDOM_LABELS = "its labels are random: no hyperplane separates them, which MaxMargin says with a proof"
NEEDS_RANDOM_LABELS = """
    check_fit_score_takes_y check_dont_overwrite_parameters check_n_features_in_after_fitting
    check_positive_only_tag_during_fit check_estimators_dtypes check_dtype_object check_estimators_nan_inf
    check_estimator_sparse_tag check_estimator_sparse_array check_estimator_sparse_matrix
    check_f_contiguous_array_estimator check_classifier_data_not_an_array check_classifiers_train
    check_supervised_y_2d check_methods_sample_order_invariance check_methods_subset_invariance check_dict_unchanged
    check_fit_idempotent check_fit_check_is_fitted check_n_features_in check_fit2d_predict1d
"""


def expected_failures(model):
    return dict.fromkeys(NEEDS_RANDOM_LABELS.split(), RANDOM_LABELS) if isinstance(model, rb.MaxMargin) else {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [rb.MaxMargin(), rb.SoftMargin(), rb.SoftMarginCV(Cs=[1.0], cv=2)], expected_failed_checks=expected_failures
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        rb.SoftMargin(bias="regularised", warm_start=True),
        rb.SoftMargin(C_note=10.0, class_weight="balanced"),
        rb.SoftMarginCV(Cs=[0.1, 10], cv=3, n_jobs=2),
    ]
)
def test_scikit_learns_checks_of_more_options(estimator, check):
    check(estimator)


# ---- The maximum margin ----
def margin_problems():
    X, y = load_breast_cancer(return_X_y=True)
    digits, digit = load_digits(return_X_y=True)
    return {
        "iris": (IRIS[0], IRIS[1] == 0),
        "breast cancer": (standardised(X), y),
        "digits": (digits, digit == 0),
        "wide": DATA["wide"],
        "sparse": (sp.csr_array(digits), digit == 0),
        "float32": (digits.astype(np.float32), digit == 0),
    }


SEPARABLE = margin_problems()


@pytest.mark.parametrize("name", SEPARABLE)
def test_maximum_margin_is_what_certify_proves(name):
    X, y = SEPARABLE[name]
    model, certificate = rb.MaxMargin().fit(X, y), rb.certify(X, y)
    assert model.certificate_ == certificate
    assert model.certificate_.verify(X, y)
    assert (model.margin_, model.gap_) == (certificate.margin, certificate.gap)
    signs = np.where(y == np.max(y), 1, -1)
    agreements = signs * model.decision_function(X)
    assert agreements.min() == pytest.approx(1, abs=1e-6)
    assert np.linalg.norm(model.coef_) == pytest.approx(1 / model.margin_, rel=1e-9)
    assert model.hyperplane_.margin(X, signs) == pytest.approx(model.margin_, rel=1e-6)
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("name", SEPARABLE)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_dual_weights_of_the_maximum_margin(name, fit_intercept):
    X, y = SEPARABLE[name]
    try:
        model = rb.MaxMargin(fit_intercept=fit_intercept).fit(X, y)
    except NotSeparableError:
        pytest.skip("not separable through the origin")
    signs = np.where(y == np.max(y), 1, -1)
    assert (model.dual_coef_[0] * signs[model.support_] > 0).all()
    if fit_intercept:
        assert abs(model.dual_coef_.sum()) <= 1e-9 * np.abs(model.dual_coef_).sum()
    combination = np.asarray(model.dual_coef_ @ X[model.support_])
    assert np.linalg.norm(combination - model.coef_) <= 3e-3 * np.linalg.norm(model.coef_)
    dual = np.abs(model.dual_coef_).sum() - (combination**2).sum() / 2
    primal = (model.coef_**2).sum() / 2
    assert 0 <= (primal - dual) / primal + 1e-9 <= 3e-6


def test_libsvm_with_a_huge_C_has_no_larger_margin_and_nearly_the_same():
    X, y = IRIS[0], IRIS[1] == 0
    model, other = rb.MaxMargin().fit(X, y), SVC(kernel="linear", C=1e10, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-5)
    order = np.argsort(other.support_)  # LIBSVM has them class by class
    assert model.support_.tolist() == other.support_[order].tolist()
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_[:, order], rtol=1e-4)


@given(separable())
@settings(max_examples=30, deadline=None)
def test_maximum_margin_of_whole_numbers_is_the_canonical_form(data):
    model = rb.MaxMargin().fit(data.X, data.y)
    w, _ = tb.canonical_form(data.X, data.y, model.coef_[0].tolist(), float(model.intercept_[0]))
    np.testing.assert_allclose(w, model.coef_[0], rtol=1e-12)
    assert model.margin_ >= tb.margin(data.X, data.y, data.w, data.b) * (1 - 1e-12)


def test_without_an_offset_the_hyperplane_passes_through_the_origin():
    model = rb.MaxMargin(fit_intercept=False).fit([[1.0, 0.0], [0.0, 1.0], [-2.0, -2.0]], [1, 1, 0])
    assert model.intercept_.tolist() == [0.0]
    assert model.margin_ == pytest.approx(np.sqrt(0.5))


def test_three_separable_classes():
    X = np.array([[5.0, 0.0], [6.0, 1.0], [-5.0, 4.0], [-6.0, 5.0], [-5.0, -4.0], [-6.0, -5.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    model = rb.MaxMargin().fit(X, y)
    assert model.coef_.shape == (3, 2) and model.margin_.shape == (3,)
    assert model.predict(X).tolist() == y.tolist()
    assert model.certificate_.verify(X, y)
    np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, atol=1e-9)
    for k, label in enumerate("abc"):
        np.testing.assert_allclose(model.coef_[k], rb.MaxMargin().fit(X, y == label).coef_[0], rtol=1e-9)
    with pytest.raises(AttributeError, match="hyperplane_ is for two classes"):
        _ = model.hyperplane_


def test_inseparable_data_is_an_error_with_its_proof():
    X, y = XOR
    with pytest.raises(NotSeparableError, match=r"rows 0, 1, 2 and 3 cannot be separated by any hyperplane") as caught:
        rb.MaxMargin().fit(X, y)
    assert caught.value.certificate.verify(X, y)
    for word in ("SoftMargin", "suspects", "AveragedPerceptron", r"\.certificate"):
        assert caught.match(word)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.certificate == caught.value.certificate


def test_the_class_that_cannot_be_separated_is_named():
    names = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]
    message = r"Class 'versicolor' cannot be separated from the rest \(nor can 'virginica'\)"
    with pytest.raises(NotSeparableError, match=message) as caught:
        rb.MaxMargin().fit(IRIS[0], names)
    assert caught.value.certificate.data.positive == ("versicolor",)


def test_time_that_is_too_short_is_an_error_with_the_bounds():
    X, y = make_classification(3000, 40, n_informative=20, flip_y=0.0, class_sep=0.5, random_state=0)
    with pytest.raises(UndecidedError, match="the time limit was reached") as caught:
        rb.MaxMargin(time_limit=0).fit(X, y)
    assert caught.value.certificate.separable is None


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = rb.MaxMargin().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(NotSeparableError):
        model.fit(*XOR)
    assert model.predict([[2.0]]).tolist() == [1] and model.n_features_in_ == 1


def test_a_margin_above_the_gap_warns(monkeypatch):
    from rosenblatt import margin_classifiers

    wide = rb.certify([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1], exact=False)
    margin = wide.margins["free"]
    lowered = type(margin)("free", margin.hyperplane, margin.lower, 1.01 * margin.upper, margin.support, margin.weights)
    loose = type(wide)(wide.data, {"free": lowered}, wide.radius)
    monkeypatch.setattr(margin_classifiers, "certify", lambda *_, **__: loose)
    with pytest.warns(ConvergenceWarning, match=r"within 9\.9e-03 of the maximum, not within gap=1e-06"):
        rb.MaxMargin().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])


# ---- The soft margin, beside others ----
def excess_over(model, X, y, C, w, b, bias="free"):
    """How far our objective is above another's, relatively, by the judge that knows no solver."""
    signs = np.where(y == np.max(y), 1.0, -1.0)
    problem = soft_margin.Problem(inputs.rows(X), signs, np.full(len(signs), C), bias)
    ours = soft_margin.judge(problem, model.coef_[0], float(model.intercept_[0]), np.zeros(len(problem.y))).primal
    theirs = soft_margin.judge(problem, np.asarray(w).reshape(-1), float(b), np.zeros(len(problem.y))).primal
    assert model.objective_ == pytest.approx(ours, rel=1e-9)
    return (ours - theirs) / theirs


@each_set
@pytest.mark.parametrize("C", EIGHT_DECADES)
def test_never_above_libsvm(name, C):
    X, y = DATA[name]
    if name == "far from 0" and C > 100:
        pytest.skip("LIBSVM does not end there")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        other = SVC(kernel="linear", C=C, max_iter=20_000, tol=1e-6).fit(X, y)
    coef = other.coef_.toarray() if sp.issparse(other.coef_) else other.coef_
    model = fitted_or_warned(rb.SoftMargin(C=C), X, y)
    assert model.gap_ <= 1e-6
    assert excess_over(model, X, y, C, coef, other.intercept_[0]) <= 1e-6


@each_set
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 1e2])
def test_never_above_liblinear(name, C):
    X, y = DATA[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        other = LinearSVC(loss="hinge", C=C, max_iter=2000, random_state=0).fit(X, y)
    model = fitted_or_warned(rb.SoftMargin(C=C, bias="regularised"), X, y)
    assert excess_over(model, X, y, C, other.coef_, other.intercept_[0], "regularised") <= 1e-6


@each_set
@pytest.mark.parametrize("bias", ["free", "regularised", "none"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_conditions_of_optimality(name, bias, C):
    X, y = DATA[name]
    model = rb.SoftMargin(C=C, fit_intercept=bias != "none", bias="free" if bias == "none" else bias)
    fitted_or_warned(model, X, y)
    signs, weights = np.where(y == np.max(y), 1.0, -1.0), np.zeros(X.shape[0])
    weights[model.support_] = model.dual_coef_[0] * signs[model.support_]
    assert ((weights >= 0) & (weights <= C * (1 + 1e-12))).all()
    if bias == "free":
        assert abs(weights @ signs) <= 1e-9 * max(weights.sum(), C)
    agreements = signs * model.decision_function(X)
    np.testing.assert_allclose(model.slack_, np.maximum(0, 1 - agreements), atol=1e-9)
    slackness = weights * (agreements - 1 + model.slack_) + (C - weights) * model.slack_
    assert slackness.sum() <= 2 * max(model.gap_, 1e-6) * model.objective_ + 1e-9 * C * len(signs)
    combination = np.asarray(model.dual_coef_ @ X[model.support_])
    assert ((combination - model.coef_) ** 2).sum() <= 4 * max(model.gap_, 1e-6) * model.objective_


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("name", ["noisy", "wide", "unbalanced"])
def test_equal_to_clarabel(name, C):
    pytest.importorskip("clarabel")
    from referee import optimum

    X, y = DATA[name]
    model = rb.SoftMargin(C=C, gap=1e-9).fit(X, y)
    signs = np.where(y == np.max(y), 1.0, -1.0)
    assert model.objective_ == pytest.approx(optimum(X, signs, np.full(len(y), C), "free"), rel=1e-7)


def test_the_textbooks_descent_comes_near_from_above():
    X, y = [(0, 1), (1, 3), (2, 1), (3, 2), (1, 1)], [-1, -1, +1, +1, +1]
    model = rb.SoftMargin(C_note=5.0).fit(np.array(X, float), y)
    w, b = tb.soft_margin_descent(X, y, C=5.0, max_iter=5000)
    least = tb.soft_margin_objective(X, y, model.coef_[0].tolist(), float(model.intercept_[0]), 5.0)
    assert least == pytest.approx(model.objective_, rel=1e-12)
    assert least * (1 - 1e-6) <= tb.soft_margin_objective(X, y, w, b, 5.0) <= 1.02 * least


def test_the_middle_of_equally_good_offsets_is_taken():
    X, y = [[-1.0], [1.0]], [0, 1]
    model = rb.SoftMargin(C=0.01).fit(X, y)  # w = 0.02: every b in [-0.98, 0.98] costs the same
    assert model.coef_[0, 0] == pytest.approx(0.02, rel=1e-3)
    assert model.intercept_[0] == pytest.approx(0.0, abs=1e-9)
    shifted = rb.SoftMargin(C=0.01).fit([[-1.0], [1.0], [1.0]], [0, 1, 1], sample_weight=[2, 1, 1])
    assert shifted.intercept_[0] == pytest.approx(0.0, abs=1e-9)


# ---- Parameters and weights ----
def test_the_notes_C_is_divided_by_the_number_of_rows():
    X, y = DATA["noisy"]
    note, ours = rb.SoftMargin(C_note=40.0).fit(X, y), rb.SoftMargin(C=40.0 / len(y)).fit(X, y)
    assert note.coef_.tolist() == ours.coef_.tolist() and note.objective_ == ours.objective_
    twice = rb.SoftMargin(C_note=40.0, gap=1e-10).fit(np.vstack([X, X]), np.tile(y, 2))
    assert twice.objective_ == pytest.approx(note.objective_, rel=1e-6)
    weights = np.random.default_rng(0).uniform(0, 3, len(y))
    note = rb.SoftMargin(C_note=40.0).fit(X, y, weights)
    assert note.objective_ == rb.SoftMargin(C=40.0 / weights.sum()).fit(X, y, weights).objective_


@pytest.mark.parametrize("model", [rb.SoftMargin(), rb.SoftMargin(C_note=50.0, class_weight="balanced")], ids=repr)
@pytest.mark.parametrize("name", ["noisy", "sparse", "wide"])
def test_weights_are_repeated_rows(model, name):
    X, y = DATA[name]
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    model.set_params(gap=1e-10)
    weighted = model.fit(X, y, sample_weight=counts)
    w, b, objective = weighted.coef_, weighted.intercept_, weighted.objective_
    repeated = model.fit(X[np.repeat(np.arange(len(y)), counts)], np.repeat(y, counts))
    assert repeated.objective_ == pytest.approx(objective, rel=1e-9)
    np.testing.assert_allclose(repeated.coef_, w, atol=2e-4 * np.abs(w).max())
    np.testing.assert_allclose(repeated.intercept_, b, atol=1e-3)


def test_class_weights_are_sample_weights():
    X, y = DATA["unbalanced"]
    by_class = rb.SoftMargin(class_weight={True: 5.0}).fit(X, y)
    by_row = rb.SoftMargin().fit(X, y, sample_weight=np.where(y, 5.0, 1.0))
    assert by_class.coef_.tolist() == by_row.coef_.tolist()
    balanced = rb.SoftMargin(class_weight="balanced").fit(X, y)
    counts = {label: len(y) / (2 * np.count_nonzero(y == label)) for label in (False, True)}
    assert balanced.coef_.tolist() == rb.SoftMargin(class_weight=counts).fit(X, y).coef_.tolist()


def test_class_weights_of_several_classes_are_those_of_liblinear():
    X, y = IRIS
    weights = {1: 7.0}
    model = rb.SoftMargin(class_weight=weights, bias="regularised", gap=1e-9).fit(X, y)
    other = LinearSVC(loss="hinge", class_weight=weights, max_iter=1_000_000, tol=1e-8, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-3)


def test_rows_of_weight_0_do_not_count():
    X, y = DATA["noisy"]
    keep = np.arange(len(y)) % 3 > 0
    model = rb.SoftMargin(gap=1e-10).fit(X, y, sample_weight=keep.astype(float))
    assert model.objective_ == pytest.approx(rb.SoftMargin(gap=1e-10).fit(X[keep], y[keep]).objective_, rel=1e-9)
    assert len(model.slack_) == len(y) and keep[model.support_].all()


@pytest.mark.parametrize("y", [IRIS[1], IRIS[1] == 1], ids=["three classes", "two classes"])
def test_warm_starts_end_within_the_gap_of_cold_ones(y):
    X = IRIS[0]
    model = rb.SoftMargin(C=1.0, warm_start=True).fit(X, y)
    steps = model.n_iter_
    assert model.fit(X, y).n_iter_ <= steps
    warm, cold = model.set_params(C=2.0).fit(X, y), rb.SoftMargin(C=2.0).fit(X, y)
    np.testing.assert_allclose(warm.objective_, cold.objective_, rtol=2e-6)
    warm, cold = model.fit(X[:120], y[:120]), rb.SoftMargin(C=2.0).fit(X[:120], y[:120])
    np.testing.assert_allclose(warm.objective_, cold.objective_, rtol=2e-6)
    with pytest.raises(InputError, match="warm_start goes on with the classes"):
        model.fit(X, np.arange(150) % 4)


def test_threads_change_nothing():
    X, y = load_digits(return_X_y=True)
    one, two = (rb.SoftMargin(n_jobs=jobs, C=0.01).fit(X[:500], y[:500]) for jobs in (1, 2))
    assert one.coef_.tolist() == two.coef_.tolist() and one.intercept_.tolist() == two.intercept_.tolist()


def test_several_classes_are_each_against_the_rest():
    X, y = IRIS
    model = rb.SoftMargin().fit(X, y)
    assert model.slack_.shape == (150, 3) and model.objective_.shape == (3,)
    for k in range(3):
        one = rb.SoftMargin().fit(X, y == k)
        assert model.coef_[k].tolist() == one.coef_[0].tolist()
        assert model.slack_[:, k].tolist() == one.slack_.tolist()
        assert model.objective_[k] == one.objective_


@pytest.mark.parametrize("C", [1e-10, 1e10])
@pytest.mark.parametrize("name", ["noisy", "wide", pytest.param("breast cancer", marks=pytest.mark.slow)])
def test_extreme_C_ends_with_a_gap_or_a_warning(name, C):
    model = fitted_or_warned(rb.SoftMargin(C=C), *DATA[name])
    assert 0 <= model.gap_ < np.inf and np.isfinite(model.coef_).all()


def test_bad_scales_and_copies_end_with_a_gap_or_a_warning():
    X, y = DATA["noisy"]
    scales = np.logspace(-4, 4, X.shape[1])
    fitted_or_warned(rb.SoftMargin(), X * scales, y)
    fitted_or_warned(rb.SoftMargin(), np.hstack([X, X]), y)
    fitted_or_warned(rb.SoftMargin(), np.zeros_like(X), y)
    hopeless = fitted_or_warned(rb.SoftMargin(), np.vstack([X, X]), np.r_[y, 1 - y])
    assert np.abs(hopeless.coef_).max() < 1e-3


def test_a_gap_that_is_not_reached_is_stated():
    X, y = make_classification(2000, 30, flip_y=0.3, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"stopped with a duality gap of \d\.\de.*not 1e-06 \(time_limit\)"):
        model = rb.SoftMargin(time_limit=0).fit(X, y)
    assert model.gap_ > 1e-6
    with pytest.warns(ConvergenceWarning, match=r"Give it more time, or accept it with a larger gap"):
        rb.soft_margin_path(X, y, Cs=[1.0], time_limit=0)


def test_a_gap_of_one_says_nothing():
    unknown = SimpleNamespace(gap=1.0, status="out of time")
    with pytest.warns(ConvergenceWarning, match=r"a duality gap of 1\.0e\+00, .*: nothing is known yet"):
        soft_margin_classifiers.warn_of_gaps("SoftMargin", [unknown], 1e-6)


def test_verbose_prints_a_line_for_each_problem(capsys):
    rb.SoftMargin(verbose=True).fit(*IRIS)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and all("solved after" in line and "gap" in line for line in lines)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"C": 0}, "The 'C' parameter of SoftMargin must be a finite number above 0. Got 0 instead"),
        ({"C": np.inf}, "The 'C' parameter"),
        ({"C_note": -1.0}, "The 'C_note' parameter"),
        ({"C": 2.0, "C_note": 3.0}, "C=2 and C_note=3 state one thing twice"),
        ({"bias": "none"}, "The 'bias' parameter of SoftMargin must be 'free' or 'regularised'"),
        ({"gap": 0}, "The 'gap' parameter"),
        ({"time_limit": -1}, "The 'time_limit' parameter"),
        ({"n_jobs": 0}, "The 'n_jobs' parameter must not be 0"),
        ({"class_weight": {5: 1.0}}, "class_weight names"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(InputError, match=message):
        rb.SoftMargin(**parameters).fit(*DATA["noisy"])


# ---- The path and cross-validation ----
@pytest.mark.parametrize("y", [IRIS[1], IRIS[1] == 1], ids=["three classes", "two classes"])
def test_a_path_is_its_separate_fits(y):
    Cs = [10.0, 0.1, 1.0]
    path = rb.soft_margin_path(IRIS[0], y, Cs)
    assert len(path) == 3 and path.Cs.tolist() == Cs
    for i, C in enumerate(Cs):
        model = rb.SoftMargin(C=C).fit(IRIS[0], y)
        assert path.coefs[i].shape == model.coef_.shape
        np.testing.assert_allclose(path.objectives[i], model.objective_, rtol=2e-6)
        assert (path.gaps[i] <= 1e-6).all()
    assert (path.n_support > 0).all() and path.n_iter.shape == path.gaps.shape


def test_paths_take_weights_and_counts_of_C():
    X, y = DATA["noisy"]
    weights = np.random.default_rng(0).uniform(0, 2, len(y))
    path = rb.soft_margin_path(X, y, 3, sample_weight=weights, class_weight={1: 2.0})
    np.testing.assert_allclose(path.Cs, [1e-4, 1.0, 1e4])
    model = rb.SoftMargin(class_weight={1: 2.0}).fit(X, y, sample_weight=weights)
    assert path.objectives[1, 0] == pytest.approx(model.objective_, rel=2e-6)
    for wrong in (0, -1, [], [0.0], [1.0, np.nan], "many", [[1.0]], True):
        with pytest.raises(InputError, match="Cs must be"):
            rb.soft_margin_path(X, y, wrong)


def test_a_path_is_printed_as_a_table():
    two = rb.soft_margin_path(IRIS[0], IRIS[1] == 1, Cs=[0.1, 1])
    lines = str(two).splitlines()
    assert lines[0].split() == ["C", "margin", "objective", "gap", "support"] and len(lines) == 3
    assert lines[2].split()[0] == "1" and float(lines[2].split()[1]) == pytest.approx(two.margins[1, 0], rel=1e-5)
    several = rb.soft_margin_path(IRIS[0], np.array(["a" * 40, "b", "c"])[IRIS[1]], Cs=[0.1, 1])
    assert len(str(several).splitlines()) == 7 and max(map(len, str(several).splitlines())) <= 80
    assert repr(two) == "<SoftMarginPath: 2 values of C from 0.1 to 1>"


def test_the_default_grid_has_round_numbers():
    X, y = IRIS[0], IRIS[1] == 0
    assert rb.soft_margin_path(X, y).Cs.tolist() == [1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 10000]


@pytest.mark.parametrize("Cs, edge", [([1e-4, 1e-3, 1e-2], "largest"), ([1.0, 10.0, 100.0], "smallest")])
def test_a_choice_at_the_edge_of_the_grid_is_told(Cs, edge):
    X, y = IRIS[0], IRIS[1] == (2 if edge == "largest" else 0)
    with pytest.warns(UserWarning, match=rf"SoftMarginCV chose C=.*, the {edge} of those tried"):
        rb.SoftMarginCV(Cs=Cs, cv=3).fit(X, y)


@pytest.mark.filterwarnings("ignore:SoftMarginCV chose")
def test_cross_validation_scores_what_a_grid_search_scores():
    X, y = IRIS
    Cs, cv = [0.01, 0.1, 1.0, 10.0], StratifiedKFold(4)
    model = rb.SoftMarginCV(Cs=Cs, cv=cv, gap=1e-8).fit(X, y)
    search = GridSearchCV(rb.SoftMargin(gap=1e-8), {"C": Cs}, cv=cv).fit(X, y)
    folds = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(4)])
    np.testing.assert_allclose(model.scores_, folds)
    assert search.best_params_["C"] == model.C_
    assert model.coef_.tolist() == rb.SoftMargin(C=model.C_, gap=1e-8).fit(X, y).coef_.tolist()
    jobs = rb.SoftMarginCV(Cs=Cs, cv=cv, gap=1e-8, n_jobs=2).fit(X, y)
    assert jobs.scores_.tolist() == model.scores_.tolist()


def test_cross_validation_with_a_scorer_and_weights():
    X, y = DATA["unbalanced"]
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = rb.SoftMarginCV(Cs=[0.1, 1], cv=3, scoring="roc_auc", class_weight="balanced")
    assert model.fit(X, y, sample_weight=weights).scores_.shape == (3, 2)


def test_a_fold_without_a_class_is_an_error():
    with pytest.raises(InputError, match=r"a fold has no rows of the classes \[1\]"):
        rb.SoftMarginCV(cv=[(np.arange(50), np.arange(50, 100))]).fit(IRIS[0][:100], IRIS[1][:100])


# ---- The tools around an estimator ----
ESTIMATORS = [rb.MaxMargin(), rb.SoftMargin(), rb.SoftMarginCV(Cs=[0.1, 1.0], cv=3)]
each_estimator = pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
X2, Y2 = IRIS[0], np.where(IRIS[1] == 0, "setosa", "other")


@each_estimator
def test_frames_sparse_rows_and_float32_give_the_same(model):
    want = model.fit(X2, Y2).decision_function(X2)
    frame = pd.DataFrame(X2, columns=list("abcd"))
    got = model.fit(frame, pd.Series(Y2))
    assert got.feature_names_in_.tolist() == list("abcd")
    assert got.decision_function(frame).tolist() == want.tolist()
    for stored in (sp.csr_matrix(X2), sp.csc_array(X2), X2.tolist(), np.asfortranarray(X2)):
        np.testing.assert_allclose(model.fit(stored, Y2).decision_function(stored), want, rtol=1e-3, atol=1e-3)
    small = X2.astype(np.float32)
    assert (model.fit(small, Y2).predict(small) == Y2).all()


@each_estimator
def test_pipelines_grid_searches_and_cross_validation(model):
    pipeline = make_pipeline(StandardScaler(), model)
    assert cross_val_score(pipeline, X2, Y2, cv=3).tolist() == [1.0, 1.0, 1.0]
    name = type(model).__name__.lower()
    search = GridSearchCV(pipeline, {f"{name}__fit_intercept": [True, False]}, cv=3).fit(X2, Y2)
    assert search.best_score_ == 1.0


@each_estimator
@pytest.mark.parametrize("way", ["file", "pickle", "skops"])
def test_saved_and_loaded_it_is_the_same(model, way, tmp_path):
    model.fit(pd.DataFrame(X2, columns=list("abcd")), Y2)
    if way == "file":
        rb.save(model, tmp_path / "model.safetensors")
        back = rb.load_model(tmp_path / "model.safetensors")
    elif way == "pickle":
        back = pickle.loads(pickle.dumps(model))
    else:
        skops = pytest.importorskip("skops.io")
        data = skops.dumps(model)
        back = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    assert type(back) is type(model) and back.get_params() == model.get_params()
    ours, theirs = vars(model), vars(back)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        if isinstance(value, np.ndarray):
            assert value.dtype == theirs[name].dtype and value.tolist() == theirs[name].tolist()
        else:
            assert value == theirs[name]


def test_several_classes_come_back_from_a_file(tmp_path):
    model = rb.SoftMargin(class_weight={0: 2.0}).fit(*IRIS)
    rb.save(model, tmp_path / "soft")
    back = rb.load_model(tmp_path / "soft")
    assert back.slack_.tolist() == model.slack_.tolist() and back.objective_.tolist() == model.objective_.tolist()
    assert back.set_params(warm_start=True).fit(*IRIS).gap_ <= 1e-6


def put(name, value):
    return lambda state, arrays: state.update({name: value})


def array(name, change):
    return lambda state, arrays: arrays.update({name: change(arrays[name])})


FORGED = [
    (rb.SoftMargin(), put("gap_", -1.0), "gap_ is not a gap"),
    (rb.SoftMargin(), put("n_iter_", -1), "n_iter_ or slack is negative"),
    (rb.SoftMargin(), put("separates_", True), "its metadata should have"),
    (rb.SoftMargin(), array("coef", lambda a: a[:, :3]), r"coef has shape \(1, 3\), expected 1 × 4"),
    (rb.SoftMargin(), array("intercept", lambda a: a * np.nan), "intercept has a NaN"),
    (rb.SoftMargin(), array("support", lambda a: a[::-1]), "support is not a list of rows in order"),
    (rb.SoftMargin(), array("support", lambda a: a + 1000), "support has a row that has no slack"),
    (rb.SoftMargin(), array("dual_coef", lambda a: a[:, 1:]), "dual_coef has shape"),
    (rb.SoftMargin(), lambda state, arrays: arrays.pop("slack"), "array slack is missing"),
    (rb.SoftMargin(), lambda state, arrays: arrays.update(margin=np.ones(1)), "array margin is not expected"),
    (rb.MaxMargin(), array("coef", lambda a: 2 * a), "a certificate is not one of its hyperplanes"),
    (rb.MaxMargin(), array("certificates", lambda a: a[:-1]), "its certificates cannot be read"),
    (rb.MaxMargin(), array("certificates", lambda a: np.frombuffer(b"[]", np.uint8)), "not a certificate for each"),
    (rb.MaxMargin(), array("margin", lambda a: -a), "margin is negative"),
    (rb.SoftMarginCV(Cs=[1.0], cv=2), array("C", lambda a: a + 1), "C is not one of those that were tried"),
    (rb.SoftMarginCV(Cs=[1.0], cv=2), lambda state, _: state["parameters"].update(cv=[1]), r"cv is \[1\]"),
    (rb.SoftMarginCV(Cs=[1.0], cv=2), lambda state, _: state["parameters"].update(Cs=[-1.0]), "Cs must be finite"),
]


@pytest.mark.parametrize("model, change, message", FORGED, ids=range(len(FORGED)))
def test_a_forged_file_is_refused(model, change, message, tmp_path):
    rb.save(model.fit(X2, Y2), tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    state, arrays = json.loads(header["__metadata__"]["rosenblatt"]), tensors_of(content)
    del state["sha256"]
    change(state, arrays)
    arrays = {name: np.ascontiguousarray(values) for name, values in arrays.items()}
    state["sha256"] = model_file.digest(state, arrays)
    (tmp_path / "model").write_bytes(file_of(arrays, {"rosenblatt": model_file.canonical(state)}))
    with pytest.raises(ModelFileError, match=message):
        rb.load_model(tmp_path / "model")


def test_folds_that_are_objects_cannot_be_saved(tmp_path):
    with pytest.raises(InputError, match="the parameter cv is StratifiedKFold"):
        rb.save(rb.SoftMarginCV(Cs=[1.0], cv=StratifiedKFold(2)).fit(X2, Y2), tmp_path / "model")


@pytest.mark.parametrize("labels", [IRIS[1], IRIS[1] == 0], ids=["three classes", "two classes"])
def test_onnx_gives_the_same_labels(labels):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = rb.SoftMargin().fit(IRIS[0], labels)
    session = onnxruntime.InferenceSession(rb.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], {"X": IRIS[0]})
    assert label.tolist() == model.predict(IRIS[0]).tolist()
    np.testing.assert_allclose(scores, model.decision_function(IRIS[0]), rtol=1e-9)


def test_metadata_routing_brings_sample_weights_to_the_soft_margin():
    from sklearn import config_context

    X, y = DATA["noisy"]
    weights = np.random.default_rng(0).uniform(0, 2, len(y))
    with config_context(enable_metadata_routing=True):
        model = rb.SoftMargin().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        pipeline.fit(X, y, sample_weight=weights)
    direct = rb.SoftMargin().fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    assert pipeline[-1].coef_.tolist() == direct.coef_.tolist()


# ---- Real data, in the folder that ROSENBLATT_DATA names ----
def real(name):
    if name == "a9a":
        X, y = load_svmlight_file(str(data_file("a9a", "a9a.gz")), n_features=123)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # the peers read no others
        return X, y
    if name == "spambase":
        table = pd.read_csv(data_file("spambase", "spambase.data"), header=None).to_numpy()
        return standardised(table[:, :-1]), table[:, -1] > 0
    if name == "covtype":
        table = pd.read_csv(data_file("covtype", "covtype.csv.gz")).to_numpy(np.float64)
        return standardised(table[:, :-1]), table[:, -1] == 2
    lines = data_file("sms_spam", "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    texts = [line.split("\t", 1) for line in lines]
    return TfidfVectorizer().fit_transform([text for _, text in texts]), np.array([kind for kind, _ in texts]) == "spam"


@pytest.mark.data
@pytest.mark.parametrize("C", EIGHT_DECADES)
@pytest.mark.parametrize("name", ["a9a", "spambase", "covtype", "text"])
def test_never_above_the_peers_on_real_data(name, C):
    X, y = real(name)
    some = np.random.default_rng(0).choice(X.shape[0], 2000, replace=False)  # LIBSVM takes minutes for all
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        libsvm = SVC(kernel="linear", C=C, tol=1e-5, max_iter=1_000_000).fit(X[some], y[some])
        liblinear = LinearSVC(loss="hinge", C=C, max_iter=200, random_state=0).fit(X, y)
    coef = libsvm.coef_.toarray() if sp.issparse(libsvm.coef_) else libsvm.coef_
    ours = fitted_or_warned(rb.SoftMargin(C=C), X[some], y[some])
    assert excess_over(ours, X[some], y[some], C, coef, libsvm.intercept_[0]) <= 1e-6
    ours = fitted_or_warned(rb.SoftMargin(C=C, bias="regularised"), X, y)
    assert excess_over(ours, X, y, C, liblinear.coef_, liblinear.intercept_[0], "regularised") <= 1e-6


# ---- What went wrong once ----
def test_a_warm_start_without_the_offset_of_before():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    model = rb.SoftMargin(warm_start=True).fit(X, y).set_params(fit_intercept=False).fit(X, y)
    alone = rb.SoftMargin(fit_intercept=False).fit(X, y)
    assert model.intercept_ == 0 and model.objective_ == pytest.approx(alone.objective_, rel=2e-6)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_support_is_as_small_as_that_of_libsvm(C):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model, peer = rb.SoftMargin(C=C).fit(X, y), SVC(kernel="linear", C=C, tol=1e-6).fit(X, y)
    assert abs(len(model.support_) - len(peer.support_)) <= 1
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    assert margins[model.support_].max() < 1 + 1e-3


def test_the_gap_includes_the_rounding_of_scores():
    X, y = [[1e6], [1e6 + 1], [1e6 + 2.5]], [-1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = rb.SoftMargin(C=1e10).fit(X, y)
    w, b = Fraction(float(model.coef_[0, 0])), Fraction(float(model.intercept_[0]))
    slacks = [max(0, 1 - s * (w * Fraction(x[0]) + b)) for x, s in zip(X, y)]
    primal = w * w / 2 + 10**10 * sum(slacks)
    assert primal <= Fraction(model.objective_) * (1 + Fraction(1, 10**9))
    assert primal * (1 - Fraction(model.gap_)) <= Fraction(2) * (1 + Fraction(1, 10**6))  # the optimum is 2


def test_costs_beyond_reckoning_are_refused():
    with pytest.raises(InputError, match="a unit of slack costs 1e\\+200"):
        rb.SoftMargin(C=1e200).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.filterwarnings("ignore")
def test_a_fold_without_a_score():
    X, y = load_iris(return_X_y=True)
    order = np.argsort(y != 0, kind="stable")
    folds = [(np.arange(0, 150, 2), np.arange(101, 150, 2)), (np.arange(1, 150, 2), np.arange(0, 150, 2))]
    with pytest.raises(InputError, match="the scores of fold 0 are not finite"):
        rb.SoftMarginCV(cv=folds, scoring="roc_auc").fit(X[order], (y == 0)[order])
