"""Early stopping watches the held-out rows, all of them and only them, and keeps the best weights (note 002)."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit
from strategies import fitted, noisy

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron

ESTIMATORS = [Perceptron, AveragedPerceptron, VotedPerceptron]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)


# ---- The reference: one pass after another, plainly ----
def held_out_rows(y, fraction, seed):
    """The rows that a fit with this seed holds out."""
    split = StratifiedShuffleSplit(test_size=fraction, random_state=seed)
    training, held_out = next(split.split(np.zeros((len(y), 1)), y))
    return np.sort(training), np.sort(held_out)


def plainly(estimator, X, y, *, fraction, seed, patience, max_iter, **options):
    """The model of the best pass, its number, and how many passes were made; for two classes."""
    training, held_out = held_out_rows(y, fraction, seed)
    fewest, best, waited, passes = np.inf, None, 0, 0
    for passes in range(1, max_iter + 1):
        model = fitted(estimator(max_iter=passes, random_state=seed, **options), X[training], y[training])
        score = model.decision_function(X[held_out]) * np.where(y[held_out] == model.classes_[1], 1, -1)
        mistakes = int((score <= 0).sum())  # tie="mistake"
        waited = 0 if mistakes < fewest else waited + 1
        if mistakes < fewest:
            fewest, best = mistakes, model
        if waited >= patience or model.converged_:
            break
    return best, passes


@each_estimator
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("patience", [1, 3])
@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_the_best_weights_are_kept(estimator, seed, patience, fraction):
    X, y = noisy(80, 5, seed)
    options = {"max_iter": 15, "n_iter_no_change": patience}
    model = estimator(early_stopping=True, validation_fraction=fraction, random_state=seed, **options)
    fitted(model, X, y)
    want, passes = plainly(estimator, X, y, fraction=fraction, seed=seed, patience=patience, max_iter=15)
    assert model._learner.coef.tobytes() == want._learner.coef.tobytes()
    assert model._learner.intercept.tobytes() == want._learner.intercept.tobytes()
    assert model.decision_function(X).tobytes() == want.decision_function(X).tobytes()
    assert model.n_iter_ == passes
    assert model.n_updates_ == want.n_updates_  # of the weights that are kept


@each_estimator
@pytest.mark.parametrize("shuffle", [False, True])
def test_each_class_against_the_rest_keeps_its_own_best_weights(estimator, shuffle):
    X, y = noisy(120, 4, 7, 3)
    options = {"early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 2, "max_iter": 12}
    model = fitted(estimator(**options, shuffle=shuffle, random_state=5), X, y)
    training, held_out = held_out_rows(y, 0.3, 5)
    for k in range(3):
        counts, models = [], []
        for passes in range(1, 13):
            one = fitted(
                estimator(max_iter=passes, shuffle=shuffle, random_state=5), X[training], (y[training] == k).astype(int)
            )
            score = one.decision_function(X[held_out]) * np.where(y[held_out] == k, 1, -1)
            counts.append(int((score <= 0).sum()))
            models.append(one)
            since_best = passes - 1 - int(np.argmin(counts))
            if since_best >= 2 or one.converged_:
                break
        best = models[int(np.argmin(counts))]
        assert model._learner.coef[k].tobytes() == best._learner.coef[0].tobytes()
        assert model.updates_per_class_[k] == best.n_updates_


# ---- The watched rows are the held-out rows ----
def spoiled(X, rows):
    """The same rows, but some of them mirrored: what was right there becomes wrong."""
    out = X.copy()
    out[rows] *= -1
    return out


def test_held_out_rows_are_not_learned_from():
    X, y = noisy(80, 5, 1)
    training, held_out = held_out_rows(y, 0.25, 3)
    options = {"early_stopping": True, "validation_fraction": 0.25, "random_state": 3, "n_iter_no_change": 100}
    model = VotedPerceptron(max_iter=10, **options).fit(X, y)
    kept = {row.tobytes() for row in model._learner.votes.support()}
    assert kept <= {row.tobytes() for row in X[training]}
    assert not kept & {row.tobytes() for row in X[held_out]}


def test_every_held_out_row_is_watched():
    # scikit-learn once watched the first two only. Here one held-out row alone can tell the passes apart, the others
    # being zero and so mistakes in every pass: whichever it is, the first pass that gets it right must be kept.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    training, held_out = held_out_rows(y, 0.2, 11)
    plain = {"random_state": 11, "fit_intercept": False}
    early = {"early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 100}
    passes = [fitted(Perceptron(max_iter=k, **plain), X[training], y[training]) for k in range(1, 9)]
    told_apart = 0
    for row in held_out:
        for shift in (0.0, 1.0, -1.0):
            table = X.copy()
            table[held_out] = 0
            table[row] = X[row] + shift
            model = fitted(Perceptron(max_iter=8, **plain, **early), table, y)
            side = 2 * y[row] - 1
            right = [bool(side * one.decision_function(table[[row]])[0] > 0) for one in passes]
            best = passes[right.index(True) if any(right) else 0]
            assert model.coef_.tobytes() == best.coef_.tobytes()
            told_apart += any(right) and not right[0]
    assert told_apart > 3


def test_no_other_row_is_watched():
    X, y = noisy(100, 3, 2)
    _, held_out = held_out_rows(y, 0.2, 4)
    options = {"early_stopping": True, "validation_fraction": 0.2, "random_state": 4, "max_iter": 10}
    watched = fitted(Perceptron(**options), X, y)
    mirrored = fitted(Perceptron(**options), spoiled(X, held_out), y)
    assert watched.coef_.tobytes() != mirrored.coef_.tobytes()
    # The passes themselves do not depend on the held-out rows: until the first stop they make the same mistakes.
    common = min(watched.n_iter_, mirrored.n_iter_)
    assert watched.mistakes_per_pass_[:common].tolist() == mirrored.mistakes_per_pass_[:common].tolist()


@each_estimator
def test_rows_of_weight_0_are_neither_learned_from_nor_watched(estimator):
    X, y = noisy(100, 3, 2)
    weights = np.where(np.arange(100) % 3 == 0, 0.0, 1.0)
    options = {"early_stopping": True, "validation_fraction": 0.4, "random_state": 4, "max_iter": 10}
    one = fitted(estimator(**options), X, y, sample_weight=weights)
    other = fitted(estimator(**options), spoiled(X, weights == 0), y, sample_weight=weights)
    assert one.decision_function(X).tobytes() == other.decision_function(X).tobytes()


# ---- When it stops, and what it says ----
@pytest.mark.parametrize("patience", [1, 2, 5])
def test_it_waits_n_iter_no_change_passes_for_something_better(patience):
    # Held-out rows of zeros are mistakes in every pass: the first is the best, and nothing better comes.
    X, y = noisy(80, 4, 3)
    _, held_out = held_out_rows(y, 0.25, 0)
    X[held_out] = 0
    options = {"early_stopping": True, "validation_fraction": 0.25, "n_iter_no_change": patience, "random_state": 0}
    model = fitted(Perceptron(fit_intercept=False, **options), X, y)
    assert model.n_iter_ == 1 + patience
    assert model.n_updates_ == model.mistakes_per_pass_[0]


def test_converged_speaks_of_the_training_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = (X @ [1, 2, -1] > 0).astype(int)
    _, held_out = held_out_rows(y, 0.2, 0)
    options = {"early_stopping": True, "validation_fraction": 0.2, "n_iter_no_change": 10**6, "random_state": 0}
    model = Perceptron(max_iter=10_000, **options).fit(X, y)
    assert model.converged_
    mirrored = Perceptron(max_iter=10_000, **options).fit(spoiled(X, held_out), y)
    assert mirrored.converged_ and not mirrored.separates_


def test_a_run_that_early_stopping_ended_does_not_warn():
    X, y = noisy(80, 4, 3)
    options = {"early_stopping": True, "n_iter_no_change": 1, "max_iter": 1000}
    model = Perceptron(random_state=0, **options).fit(X, y)  # a warning would be an error here
    assert not model.converged_ and model.n_iter_ < 1000


def test_the_split_keeps_the_shares_of_the_classes():
    y = np.array([0] * 80 + [1] * 20)
    X = np.random.default_rng(0).normal(size=(100, 2)) + y[:, None]
    model = VotedPerceptron(early_stopping=True, validation_fraction=0.25, random_state=1, max_iter=3).fit(X, y)
    _, held_out = held_out_rows(y, 0.25, 1)
    assert np.bincount(y[held_out]).tolist() == [20, 5]
    assert model._learner.visits[0] % 75 == 0


@each_estimator
def test_the_same_seed_holds_out_the_same_rows(estimator):
    X, y = noisy(80, 4, 4, 3)
    options = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 9}
    one, two = (fitted(estimator(**options), X, y) for _ in range(2))
    assert one.decision_function(X).tobytes() == two.decision_function(X).tobytes()


@pytest.mark.parametrize("tie", ["positive", "negative"])
def test_ties_of_held_out_rows_follow_the_rule(tie):
    # Held-out rows are zero: with "positive" those of class 0 are mistakes, with "negative" those of class 1.
    X, y = noisy(60, 3, 5)
    _, held_out = held_out_rows(y, 0.3, 0)
    X[held_out] = 0
    options = {"early_stopping": True, "validation_fraction": 0.3, "random_state": 0, "fit_intercept": False}
    model = fitted(Perceptron(tie=tie, **options), X, y)
    wrong = int((model.predict(X[held_out]) != y[held_out]).sum())
    assert wrong == int((y[held_out] == (0 if tie == "positive" else 1)).sum())
    assert model.n_iter_ == 6  # one, and five without anything better
