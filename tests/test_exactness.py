"""On whole numbers the engine makes the textbook's mistakes, in its order, and ends with its numbers, to the bit."""

import warnings
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from strategies import DataSet, Setting, data_sets, fitted, problems, settings_for, small, stored

from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, inputs, learning
from rosenblatt import textbook as tb
from rosenblatt.learner import Learner
from rosenblatt.voting import Votes

MANY = st.sampled_from((3, 3, 4, 5))  # five: one more than the joint kernel scores together
thorough = settings(max_examples=200, deadline=None)
quick = settings(max_examples=100, deadline=None)


# ---- The reference ----
def textbook_runs(data, setting):
    """A run of the textbook for each binary problem."""
    return [
        tb.perceptron(data.X, data.signs(positive), **setting.for_the_textbook(k))
        for k, positive in enumerate(data.positives)
    ]


def textbook_joint_run(data, setting):
    """The joint run. The textbook's has no restart of its own, so it is put in where the rows come from."""
    passes = tb._passes
    given = setting.for_the_textbook()
    restart = given.pop("restart")
    with patch.object(tb, "_passes", lambda v, r, o, _, i, u: passes(v, r, o, restart, i, u)):
        return tb.joint_perceptron(data.X, data.codes, data.n_classes, **given)


def mistakes_per_pass(runs):
    """Of all problems together."""
    length = max(len(run.mistakes_per_pass) for run in runs)
    return [sum(run.mistakes_per_pass[p] for run in runs if p < len(run.mistakes_per_pass)) for p in range(length)]


def is_strictly_right(data, setting, scores):
    """Whether y · score > 0 for every visited row and every binary problem; scores[k][i] is exact."""
    return all(
        data.signs(positive)[i] * scores[k][i] > 0 for k, positive in enumerate(data.positives) for i in setting.visited
    )


def votes_of(run, x, tie):
    """Σ c sign(w · x + b) (002 "Voted")."""
    return sum(c * tb.sign(tb.dot(w, x) + b, tie) for c, (w, b) in zip(run.survival, run.vectors))


def joint_votes_of(run, x, tie):
    """The votes for each class: those of the vectors with which it is the highest."""
    votes = [0] * len(run.b)
    for c, (W, b) in zip(run.survival, run.vectors):
        scores = [tb.dot(w, x) + offset for w, offset in zip(W, b)]
        if tie != "mistake" or scores.count(max(scores)) == 1:
            votes[tb.joint_predict(scores, tie)] += c
    return votes


def joint_is_strictly_right(data, setting, scores):
    """Whether the true class is above every other; scores[i] has a number for each class."""
    return all(
        scores[i][data.codes[i]] > max(s for k, s in enumerate(scores[i]) if k != data.codes[i])
        for i in setting.visited
    )


def trained(estimator, data, setting, multi_class="ovr"):
    model = estimator(**setting.parameters(), multi_class=multi_class)
    X, y = setting.stored(data.X), np.asarray(data.codes)
    return fitted(model, X, y, sample_weight=setting.weights, **setting.first_guess())


def assert_same_counts(model, runs):
    updates = [len(run.mistakes) for run in runs]
    assert model.updates_per_class_.tolist() == updates
    assert model.n_updates_ == sum(updates) and isinstance(model.n_updates_, int)
    assert model.mistakes_per_pass_.tolist() == mistakes_per_pass(runs)
    assert model.n_iter_ == max(len(run.mistakes_per_pass) for run in runs)
    assert model.converged_ is all(run.converged for run in runs)


# ---- The sequence of mistakes ----
class RecordedVotes(Votes):
    """Also keeps the row numbers of the mistakes, which a vote does not need."""

    def __init__(self, n_problems):
        super().__init__(n_problems)
        self.rows = [[] for _ in range(n_problems)]

    def extend(self, rows, logs, *more):
        for kept, log in zip(self.rows, logs):
            kept.extend(log["row"].tolist())
        super().extend(rows, logs, *more)


def recorded(data, setting, joint=False):
    """A run of the driver, apart from any estimator."""
    learner = Learner(data.n_classes, len(data.X[0]), joint=joint, readout="vote")
    learner.votes = RecordedVotes(learner.n_problems)
    if setting.coef_init is not None:
        learner.start_from(np.asarray(setting.coef_init, float), np.asarray(setting.intercept_init, float))
    examples = learning.Examples(
        inputs.rows(setting.stored(data.X)),
        np.asarray(data.codes, np.int16),
        np.ones(data.n_classes),
        inputs.sample_weight(setting.weights, len(data.X)),
    )
    names = ("tie", "fit_intercept", "shuffle", "restart", "eta0", "margin", "max_iter", "max_updates", "seed")
    choices = learning.Choices(**{name: getattr(setting, name) for name in names}, threads=setting.n_jobs)
    learning.fit(learner, examples, choices)
    return learner


@thorough
@given(problems(st.sampled_from((2, 2, 3, 4))))
def test_the_sequence_of_mistakes(problem):
    data, setting = problem
    learner = recorded(data, setting)
    for k, run in enumerate(textbook_runs(data, setting)):
        assert learner.votes.rows[k] == [row for _, row in run.mistakes]
        assert learner.votes.survival(k, int(learner.visits[k])).tolist() == run.survival
        assert learner.coef[k].tolist() == run.w
        assert learner.intercept[k] == run.b


@thorough
@given(problems(MANY, first_guess=False))
def test_the_joint_sequence_of_mistakes(problem):
    data, setting = problem
    learner, run = recorded(data, setting, joint=True), textbook_joint_run(data, setting)
    log = learner.votes.log(0)
    moves = list(zip(learner.votes.rows[0], log["up"].tolist(), log["down"].tolist()))
    assert moves == [(row, up, down) for _, row, up, down in run.mistakes]
    assert learner.votes.survival(0, int(learner.visits[0])).tolist() == run.survival
    assert (learner.coef.tolist(), learner.intercept.tolist()) == (run.W, run.b)


# ---- The estimators: last, average, vote ----
@thorough
@given(problems(st.sampled_from((2, 2, 3, 4))))
def test_the_last_vector(problem):
    data, setting = problem
    model, runs = trained(Perceptron, data, setting), textbook_runs(data, setting)
    assert model.coef_.tolist() == [run.w for run in runs]
    assert model.intercept_.tolist() == [run.b for run in runs]
    assert_same_counts(model, runs)
    scores = [[tb.dot(run.w, x) + run.b for x in data.X] for run in runs]
    assert model.separates_ is is_strictly_right(data, setting, scores)
    if data.n_classes == 2:
        predicted = [tb.predict(score, setting.tie) for score in scores[0]]
        assert (2 * model.predict(setting.stored(data.X)) - 1).tolist() == predicted
    else:
        highest = [list(column).index(max(column)) for column in zip(*scores)]
        assert model.predict(setting.stored(data.X)).tolist() == highest


@thorough
@given(problems(st.sampled_from((2, 2, 3, 4))))
def test_the_average(problem):
    data, setting = problem
    model, runs = trained(AveragedPerceptron, data, setting), textbook_runs(data, setting)
    assert model.coef_.tolist() == [tb.averaged(run)[0] for run in runs]
    assert model.intercept_.tolist() == [tb.averaged(run)[1] for run in runs]
    assert_same_counts(model, runs)


@quick
@given(problems(2))
def test_the_average_predicts_as_the_undivided_sums_do(problem):
    data, setting = problem
    model, (run,) = trained(AveragedPerceptron, data, setting), textbook_runs(data, setting)
    predicted = [tb.averaged_prediction(run, x, setting.tie) for x in data.X]
    assert (2 * model.predict(setting.stored(data.X)) - 1).tolist() == predicted
    sum_w, sum_b, _ = tb.weighted_sums(run)
    scores = [[tb.dot(sum_w, x) + sum_b for x in data.X]]
    assert model.separates_ is is_strictly_right(data, setting, scores)


# (Σ c w) · x + Σ c b is exactly 0 at a row, where the sum over the rounded quotients Σ c w / Σ c is not.
@pytest.mark.parametrize(
    ("X", "y"),
    [([[3], [-2], [3], [4], [-3]], [0, 0, 0, 1, 1]), ([[3, 1, 2], [4, 3, 2], [0, 3, 4]], [1, 0, 0])],
)
def test_dividing_the_average_changes_no_sign(X, y):
    run = tb.perceptron(X, [2 * label - 1 for label in y], max_iter=1)
    model = AveragedPerceptron(shuffle=False, max_iter=1).fit(X, y)
    assert (2 * model.predict(X) - 1).tolist() == [tb.averaged_prediction(run, x) for x in X]
    assert not model.separates_


@thorough
@given(problems(2))
def test_the_vote(problem):
    data, setting = problem
    model, (run,) = trained(VotedPerceptron, data, setting), textbook_runs(data, setting)
    predicted = [tb.voted_prediction(run, x, setting.tie) for x in data.X]
    assert (2 * model.predict(setting.stored(data.X)) - 1).tolist() == predicted
    votes = [votes_of(run, x, setting.tie) for x in data.X]
    assert model.decision_function(setting.stored(data.X)).tolist() == [v / sum(run.survival) for v in votes]
    assert model.separates_ is is_strictly_right(data, setting, [votes])
    assert_same_counts(model, [run])


@quick
@given(problems(st.integers(3, 4)))
def test_the_vote_of_each_class_against_the_rest(problem):
    data, setting = problem
    model, runs = trained(VotedPerceptron, data, setting), textbook_runs(data, setting)
    votes = [[votes_of(run, x, setting.tie) for x in data.X] for run in runs]
    shares = [[v / sum(run.survival) for v in row] for run, row in zip(runs, votes)]
    assert model.decision_function(setting.stored(data.X)).T.tolist() == shares
    assert model.separates_ is is_strictly_right(data, setting, votes)
    assert_same_counts(model, runs)


@quick
@given(problems(MANY, first_guess=False))
def test_the_joint_last_vectors(problem):
    data, setting = problem
    model, run = trained(Perceptron, data, setting, "joint"), textbook_joint_run(data, setting)
    assert (model.coef_.tolist(), model.intercept_.tolist()) == (run.W, run.b)
    assert_same_counts(model, [run])
    scores = [[tb.dot(w, x) + b for w, b in zip(run.W, run.b)] for x in data.X]
    predicted = [tb.joint_predict(row, setting.tie) for row in scores]
    assert model.predict(setting.stored(data.X)).tolist() == predicted
    assert model.separates_ is joint_is_strictly_right(data, setting, scores)


@quick
@given(problems(MANY, first_guess=False))
def test_the_joint_average(problem):
    data, setting = problem
    model, run = trained(AveragedPerceptron, data, setting, "joint"), textbook_joint_run(data, setting)
    visits = sum(run.survival)
    for k in range(data.n_classes):
        columns = zip(*(W[k] for W, _ in run.vectors))
        assert model.coef_[k].tolist() == [tb.dot(run.survival, column) / visits for column in columns]
        assert model.intercept_[k] == tb.dot(run.survival, [b[k] for _, b in run.vectors]) / visits
    assert_same_counts(model, [run])


@quick
@given(problems(MANY, first_guess=False))
def test_the_joint_vote(problem):
    data, setting = problem
    model, run = trained(VotedPerceptron, data, setting, "joint"), textbook_joint_run(data, setting)
    predicted = [tb.joint_voted_prediction(run, x, setting.tie) for x in data.X]
    assert model.predict(setting.stored(data.X)).tolist() == predicted
    votes = [joint_votes_of(run, x, setting.tie) for x in data.X]
    assert model.separates_ is joint_is_strictly_right(data, setting, votes)
    assert_same_counts(model, [run])


# ---- Options that are other options in disguise ----
@quick
@given(data_sets(MANY), st.data())
def test_a_joint_first_guess_goes_on_where_it_left_off(data, draw):
    setting = draw.draw(settings_for(data, first_guess=False))
    X, y = setting.stored(data.X), data.codes
    options = setting.parameters() | {"shuffle": False, "max_updates": None, "multi_class": "joint"}
    half = fitted(Perceptron(**options | {"max_iter": 2}), X, y, sample_weight=setting.weights)
    first_guess = {"coef_init": half.coef_, "intercept_init": half.intercept_}
    rest = fitted(Perceptron(**options | {"max_iter": 3}), X, y, sample_weight=setting.weights, **first_guess)
    whole = fitted(Perceptron(**options | {"max_iter": 5}), X, y, sample_weight=setting.weights)
    assert rest.coef_.tolist() == whole.coef_.tolist()
    assert rest.intercept_.tolist() == whole.intercept_.tolist()


@quick
@given(problems(2), st.sampled_from((Perceptron, AveragedPerceptron)))
def test_two_classes_learned_jointly_are_the_binary_problem(problem, estimator):
    data, setting = problem
    joint, binary = trained(estimator, data, setting, "joint"), trained(estimator, data, setting)
    assert joint.coef_.shape == (1, len(data.X[0]))
    assert joint.coef_.tolist() == binary.coef_.tolist()


@quick
@given(
    problems(st.integers(2, 3)), st.sampled_from((Perceptron, AveragedPerceptron)), st.sampled_from(("ovr", "joint"))
)
def test_an_intercept_is_a_prepended_column_of_ones(problem, estimator, multi_class):
    data, setting = problem
    options = setting.parameters() | {"multi_class": multi_class}
    first_guess = {}, {}
    if setting.coef_init is not None:
        theta = [[b, *w] for w, b in zip(setting.coef_init, setting.intercept_init)]
        offset = setting.intercept_init
        first_guess = {"coef_init": setting.coef_init, "intercept_init": offset}, {"coef_init": theta}
    ones = setting.stored(tb.dummy_feature(data.X))
    weights = {"sample_weight": setting.weights}
    with_b = fitted(
        estimator(**options | {"fit_intercept": True}), setting.stored(data.X), data.codes, **weights, **first_guess[0]
    )
    with_ones = fitted(estimator(**options | {"fit_intercept": False}), ones, data.codes, **weights, **first_guess[1])
    assert with_ones.coef_.tolist() == np.column_stack([with_b.intercept_, with_b.coef_]).tolist()
    assert with_ones.mistakes_per_pass_.tolist() == with_b.mistakes_per_pass_.tolist()
    assert with_ones.intercept_.tolist() == [0.0] * len(with_ones.intercept_)


@quick
@given(
    data_sets(2), st.lists(st.integers(1, 4), min_size=2, max_size=2), st.sampled_from((Perceptron, VotedPerceptron))
)
def test_a_class_weight_is_the_sample_weight_of_its_rows(data, weights, estimator):
    by_class = fitted(estimator(class_weight=dict(enumerate(weights)), random_state=0), data.X, data.codes)
    by_row = [weights[code] for code in data.codes]
    by_sample = fitted(estimator(random_state=0), data.X, data.codes, sample_weight=by_row)
    assert by_class._learner.coef.tolist() == by_sample._learner.coef.tolist()
    assert by_class.predict(data.X).tolist() == by_sample.predict(data.X).tolist()


def test_a_class_of_weight_0_is_skipped_as_rows_of_weight_0_are():
    X, y = [[1], [2], [-1], [-2]], [1, 1, 0, 0]
    run = tb.perceptron(X, [2 * label - 1 for label in y], weights=y)
    model = fitted(Perceptron(class_weight={0: 0, 1: 1}, shuffle=False), X, y)
    assert (model.n_updates_, model.converged_) == (len(run.mistakes), run.converged) == (1, True)


def test_a_class_of_weight_0_is_skipped_jointly():
    X, y = [[1], [2], [-1], [-2], [5]], [1, 1, 0, 0, 2]
    run = tb.joint_perceptron(X, y, 3, weights=[1, 1, 0, 0, 1])
    model = fitted(Perceptron(class_weight={0: 0, 1: 1, 2: 1}, shuffle=False, multi_class="joint"), X, y)
    assert (model.n_updates_, model.converged_) == (len(run.mistakes), run.converged)


@quick
@given(problems(2))
def test_the_warning_says_that_max_iter_ended_it_and_nothing_else_does(problem):
    data, setting = problem
    (run,) = textbook_runs(data, setting)
    out_of_updates = setting.max_updates is not None and len(run.mistakes) == setting.max_updates
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Perceptron(**setting.parameters()).fit(
            setting.stored(data.X), data.codes, sample_weight=setting.weights, **setting.first_guess()
        )
    expected = [] if run.converged or out_of_updates else [ConvergenceWarning]
    assert [w.category for w in caught] == expected


def test_every_storage_gives_the_same_bits_as_dense_on_wide_whole_numbers():
    rng = np.random.default_rng(0)
    X, y = rng.integers(-3, 4, (300, 120)), rng.integers(0, 4, 300)
    want = fitted(Perceptron(max_iter=4, random_state=1), X.astype(float), y).coef_
    for dtype in ("float32", "float64"):
        for storage in ("dense", "csr_matrix int32", "csr_array int64"):
            model = fitted(Perceptron(max_iter=4, random_state=1), stored(X, dtype, storage), y)
            np.testing.assert_array_equal(model.coef_, want)


@example([[0], [0]])
@quick
@given(st.lists(st.lists(small, min_size=1, max_size=1), min_size=2, max_size=5))
def test_predictions_at_a_score_of_0_follow_the_tie_rule(X):
    data = DataSet(X, [0, 1] * (len(X) // 2) + [0] * (len(X) % 2), 2)
    for tie in ("mistake", "positive", "negative"):
        setting = Setting(
            tie, False, False, False, 1, None, 1.0, 0, None, "float64", "dense", 1, visited=list(range(len(X)))
        )
        run, model = textbook_runs(data, setting)[0], trained(Perceptron, data, setting)
        assert (2 * model.predict([[0.0]]) - 1).tolist() == [tb.perceptron_test(run.w, run.b, [0], tie)]
