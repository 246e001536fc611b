"""On whole numbers the kernel perceptron makes the textbook's mistakes, in its order, for every choice."""

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DataSet, Setting, fitted, noisy, problems

from rosenblatt import KernelPerceptron, Perceptron, VotedPerceptron, _engine
from rosenblatt import textbook as tb
from rosenblatt.kernels import expansions

pytestmark = pytest.mark.engine
thorough = settings(max_examples=80, deadline=None)
quick = settings(max_examples=40, deadline=None)
MANY = st.sampled_from((2, 2, 3, 4))


@dataclass(frozen=True)
class Problem:
    data: DataSet
    setting: Setting
    degree: int
    gamma: int
    coef0: int
    block: int  # rows at a time: must not matter

    @property
    def X(self):
        """Each row an object of its own: the textbook knows rows by identity."""
        return [list(x) for x in self.data.X]

    @property
    def kernel(self):
        return tb.polynomial_kernel(self.degree, self.gamma, self.coef0)

    def for_the_textbook(self):
        names = ("tie", "restart", "max_iter", "max_updates", "eta0", "weights")
        return {name: getattr(self.setting, name) for name in names} | {"order": self.setting.order}

    def trained(self, **more):
        names = ("tie", "shuffle", "restart", "max_iter", "max_updates", "eta0", "n_jobs")
        given = {name: getattr(self.setting, name) for name in names} | {"random_state": self.setting.seed} | more
        model = KernelPerceptron(degree=self.degree, gamma=self.gamma, coef0=self.coef0, **given)
        y = np.asarray(self.data.codes)
        with patch.object(expansions, "_BLOCK", self.block):
            return fitted(model, self.setting.stored(self.data.X), y, sample_weight=self.setting.weights)

    def runs(self):
        return [
            tb.kernel_perceptron(self.X, self.data.signs(positive), self.kernel, **self.for_the_textbook())
            for positive in self.data.positives
        ]

    def budget_run(self, budget):
        given = self.for_the_textbook()
        given = {name: given[name] for name in ("tie", "order", "max_iter", "eta0", "weights")}
        labels = [self.data.signs(positive) for positive in self.data.positives]
        return tb.budget_perceptron(self.X, labels, self.kernel, budget, **given)

    def joint_run(self):
        return tb.joint_kernel_perceptron(
            self.X, self.data.codes, self.data.n_classes, self.kernel, **self.for_the_textbook()
        )


@st.composite
def kernel_problems(draw, n_classes=2, **options):
    """Whole numbers whose kernel values stay below 2²⁴, and any combination of the choices."""
    data, setting = draw(problems(n_classes, first_guess=False, margin=False, **options))
    degree = draw(st.sampled_from((1, 2, 3) if len(data.X[0]) <= 5 else (1, 2)))
    block = draw(st.sampled_from((1, 2, 3, 5, 256)))
    return Problem(data, setting, degree, draw(st.sampled_from((1, 2))), draw(st.sampled_from((0, 1, -1, 3))), block)


def sequences(model, data):
    """The rows of the mistakes of each problem."""
    learner = model._learner
    return [learner.support_ids[log["row"]].tolist() for log in learner.logs]


def assert_same_counts(model, runs):
    updates = [len(run.mistakes) for run in runs]
    passes = max(len(run.mistakes_per_pass) for run in runs)
    totals = [sum(r.mistakes_per_pass[p] for r in runs if p < len(r.mistakes_per_pass)) for p in range(passes)]
    assert model.updates_per_class_.tolist() == updates and model.n_updates_ == sum(updates)
    assert model.mistakes_per_pass_.tolist() == totals and model.n_iter_ == passes
    assert model.converged_ is all(run.converged for run in runs)


# ---- Each class against the rest ----
@thorough
@given(kernel_problems(MANY))
def test_the_sequence_of_mistakes(problem):
    model, runs = problem.trained(), problem.runs()
    assert sequences(model, problem.data) == [[row for _, row in run.mistakes] for run in runs]
    for k, run in enumerate(runs):
        log = model._learner.logs[k]
        assert log.survival(int(model._learner.visits[k])).tolist() == run.survival
        assert log["step"].tolist() == [step for _, step in run.terms]
    assert_same_counts(model, runs)
    distinct = sorted({row for run in runs for _, row in run.mistakes})
    assert model.support_.tolist() == distinct
    assert (
        model.n_support_.tolist()
        == np.bincount([problem.data.codes[row] for row in distinct], minlength=problem.data.n_classes).tolist()
    )


@thorough
@given(kernel_problems(MANY), st.sampled_from(("last", "average", "vote")))
def test_what_predicts(problem, readout):
    model, runs, kernel, tie = problem.trained(readout=readout), problem.runs(), problem.kernel, problem.setting.tie
    visits = [sum(run.survival) for run in runs]
    if readout == "last":
        scores = [[tb.expansion(run.terms, kernel, x) for x in problem.X] for run in runs]
        want = scores
    elif readout == "average":
        scores = [[tb.kernel_weighted_sum(run, kernel, x) for x in problem.X] for run in runs]
        want = [[s / T for s in row] for row, T in zip(scores, visits)]
    else:
        scores = [[tb.kernel_votes(run, kernel, x, tie) for x in problem.X] for run in runs]
        want = [[s / T for s in row] for row, T in zip(scores, visits)]
    given_ = np.atleast_2d(model.decision_function(problem.setting.stored(problem.data.X)).T)
    assert given_.tolist() == want
    strictly = all(
        problem.data.signs(positive)[i] * scores[k][i] > 0
        for k, positive in enumerate(problem.data.positives)
        for i in problem.setting.visited
    )
    assert model.separates_ is strictly
    if problem.data.n_classes == 2:
        predicted = [tb.predict(score, tie) for score in scores[0]]
        assert (2 * model.predict(problem.setting.stored(problem.data.X)) - 1).tolist() == predicted


@quick
@given(kernel_problems(MANY), st.sampled_from(("last", "average")))
def test_dual_coefficients_give_the_scores(problem, readout):
    model = problem.trained(readout=readout)
    gram = [[problem.kernel(z, x) for x in problem.X] for z in (problem.X[i] for i in model.support_)]
    if len(gram):
        scores = model.dual_coef_ @ np.asarray(gram, float)
        given_ = np.atleast_2d(model.decision_function(problem.setting.stored(problem.data.X)).T)
        np.testing.assert_allclose(scores, given_, rtol=1e-12, atol=1e-9)


# ---- All classes jointly ----
@thorough
@given(kernel_problems(st.sampled_from((3, 3, 4, 5))))
def test_the_joint_sequence_of_mistakes(problem):
    model, (moves, run) = problem.trained(multi_class="joint"), problem.joint_run()
    log = model._learner.logs[0]
    assert sequences(model, problem.data) == [[row for _, row in run.mistakes]]
    assert list(zip(log["up"].tolist(), log["down"].tolist())) == [(up, down) for _, _, up, down in moves]
    assert log.survival(int(model._learner.visits[0])).tolist() == run.survival
    assert_same_counts(model, [run])


@thorough
@given(kernel_problems(st.sampled_from((3, 3, 4, 5))), st.sampled_from(("last", "average", "vote")))
def test_what_predicts_jointly(problem, readout):
    model, (moves, run) = problem.trained(multi_class="joint", readout=readout), problem.joint_run()
    n, kernel, tie = problem.data.n_classes, problem.kernel, problem.setting.tie
    want = []
    for x in problem.X:
        sets = [tb.joint_kernel_scores(moves[:k], n, kernel, x) for k in range(len(moves) + 1)]
        if readout == "last":
            want.append(sets[-1])
        elif readout == "average":
            sums = [sum(c * scores[k] for c, scores in zip(run.survival, sets)) for k in range(n)]
            want.append([s / sum(run.survival) for s in sums])
        else:
            votes = [0] * n
            for c, scores in zip(run.survival, sets):
                if tie != "mistake" or scores.count(max(scores)) == 1:
                    votes[tb.joint_predict(scores, tie)] += c
            want.append([v / sum(run.survival) for v in votes])
    X = problem.setting.stored(problem.data.X)
    assert model.decision_function(X).tolist() == want
    assert model.predict(X).tolist() == [tb.joint_predict(scores, tie) for scores in want]


# ---- Budgets ----
BUDGETS = {
    "forget": lambda p, B: tb.forgetron(p.kernel, B, p.setting.eta0),
    "project": lambda p, B: tb.projectron(p.kernel, B),
    "random": lambda p, B: tb.random_budget(B, lambda n, size: _engine.random_victim(p.setting.seed, n, size)),
}


@pytest.mark.parametrize("budget", BUDGETS)
@thorough
@given(problem=kernel_problems(MANY, restart=False), B=st.integers(1, 4))
def test_budgets(budget, problem, B):
    """Also to the bit where numbers are rounded: the same operations in the same order."""
    model = problem.trained(max_support=B, budget=budget, readout="last", max_updates=None)
    want, mistakes, _, converged = problem.budget_run(BUDGETS[budget](problem, B))
    learner = model._learner
    ids = learner.support_ids[learner.kept_columns]
    assert [problem.X[i] for i in ids] == want.rows and len(ids) <= B
    coefficients = learner.kept.coefficients[:, : learner.kept.size]
    assert coefficients.tolist() == [[float(a) for a in of_problem] for of_problem in want.coefficients]
    assert model.updates_per_class_.tolist() == [len(rows) for rows in mistakes]
    assert model.converged_ is converged and len(model.support_) == len(want.rows)
    problems = range(len(problem.data.positives))
    scores = [[float(want.score(k, problem.kernel, x)) for x in problem.X] for k in problems]
    given_ = np.atleast_2d(model.decision_function(problem.setting.stored(problem.data.X)).T)
    assert given_.tolist() == scores


@quick
@given(kernel_problems(MANY, restart=False), st.sampled_from(sorted(BUDGETS)))
def test_a_budget_that_suffices_changes_nothing(problem, budget):
    """As many rows as there are: nothing is forgotten, and what is in the span of the others is the same function."""
    free = problem.trained(readout="last")
    model = problem.trained(max_support=len(problem.X), budget=budget, readout="last")
    X = problem.setting.stored(problem.data.X)
    if budget != "project":
        assert model.decision_function(X).tolist() == free.decision_function(X).tolist()
        assert model.mistakes_per_pass_[0] == free.mistakes_per_pass_[0]


def average_of_projections(problem, B):
    """The mean of f over all visits, at each row: what an average is by definition."""
    X, problems = problem.X, range(len(problem.data.positives))
    budget = tb.projectron(problem.kernel, B)
    totals, visits, kept = np.zeros((len(problems), len(X))), [0], []
    passes = tb._passes

    def counting(visit, *more):
        def counted(i):
            mistake = visit(i)
            visits[0] += 1
            for k in problems if kept else ():
                totals[k] += [kept[0].score(k, problem.kernel, x) for x in X]
            return mistake

        return passes(counted, *more)

    def watched(now, *more):
        kept[:] = [now]
        budget(now, *more)

    with patch.object(tb, "_passes", counting):
        problem.budget_run(watched)
    return totals / visits[0]


@quick
@given(kernel_problems(MANY, restart=False), st.integers(1, 4))
def test_the_average_of_projections(problem, B):
    """All vectors live on the same rows, so their average is kept exactly (up to rounding)."""
    model = problem.trained(max_support=B, budget="project", readout="average", max_updates=None)
    scores = np.atleast_2d(model.decision_function(problem.setting.stored(problem.data.X)).T)
    np.testing.assert_allclose(scores, average_of_projections(problem, B), rtol=1e-6, atol=1e-6)


@quick
@given(kernel_problems(MANY, restart=False), st.integers(1, 6), st.sampled_from(sorted(BUDGETS)))
def test_each_problem_keeps_to_its_updates(problem, most, budget):
    model = problem.trained(max_support=3, budget=budget, readout="last", max_updates=most)
    assert (model.updates_per_class_ <= most).all()


# ---- The linear perceptron is a special case, mistake by mistake ----
@quick
@given(problems(MANY, first_guess=False, margin=False), st.booleans())
def test_a_linear_kernel_is_the_linear_perceptron(problem, fit_intercept):
    data, setting = problem
    parameters = setting.parameters() | {"fit_intercept": fit_intercept}
    weights = setting.weights
    X, y = setting.stored(data.X), np.asarray(data.codes)
    linear = fitted(VotedPerceptron(**parameters), X, y, sample_weight=weights)
    last = fitted(Perceptron(**parameters), X, y, sample_weight=weights)
    del parameters["fit_intercept"], parameters["margin"]
    how = {"kernel": "poly", "degree": 1, "gamma": 1, "coef0": 1} if fit_intercept else {"kernel": "linear"}
    model = fitted(KernelPerceptron(**how, **parameters), X, y, sample_weight=weights)
    for k in range(linear._learner.n_problems):
        ours, theirs = model._learner.logs[k], linear._learner.votes.log(k)
        assert ours["visit"].tolist() == theirs["visit"].tolist()
        assert ours["step"].tolist() == theirs["step"].tolist()
    assert model.mistakes_per_pass_.tolist() == linear.mistakes_per_pass_.tolist()
    assert (model.converged_, model.separates_) == (linear.converged_, linear.separates_)
    assert model.decision_function(X).tolist() == linear.decision_function(X).tolist()
    model.set_params(readout="last")
    assert model.decision_function(X).tolist() == last.decision_function(X).tolist()


# ---- Explicit features make the same mistakes ----
def explicit(X, degree):
    """Φ(x) with Φ(z)·Φ(x) = (z·x + 1)^degree, in whole numbers: all products of entries of (x, 1), repeated."""
    Z = np.hstack([X, np.ones((len(X), 1))])
    features = Z
    for _ in range(degree - 1):
        features = np.einsum("ni,nj->nij", features, Z).reshape(len(X), -1)
    return features


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_features_and_their_kernel_make_the_same_mistakes(degree, multi_class):
    rng = np.random.default_rng(degree)
    X, y = rng.integers(-3, 4, (120, 4)).astype(float), rng.integers(0, 3, 120)
    choices = {"max_iter": 4, "random_state": 1, "multi_class": multi_class}
    linear = fitted(VotedPerceptron(fit_intercept=False, **choices), explicit(X, degree), y)
    model = KernelPerceptron(degree=degree, gamma=1, **choices).fit(X, y)
    for k in range(linear._learner.n_problems):
        for name in ("visit", "step", "up", "down"):
            assert model._learner.logs[k][name].tolist() == linear._learner.votes.log(k)[name].tolist()
    assert model.decision_function(X).tolist() == linear.decision_function(explicit(X, degree)).tolist()


def test_a_feature_map_of_scikit_learn_makes_the_mistakes_of_its_kernel():
    from sklearn.preprocessing import PolynomialFeatures

    X, y = noisy(150, 3, 5)
    phi = PolynomialFeatures(2).fit_transform(X)
    by_features = fitted(Perceptron(fit_intercept=False, shuffle=False, max_iter=6), phi, y)
    by_kernel = KernelPerceptron(
        kernel=lambda Z, X: PolynomialFeatures(2).fit_transform(Z) @ PolynomialFeatures(2).fit_transform(X).T,
        shuffle=False,
        max_iter=6,
        readout="last",
    ).fit(X, y)
    assert by_kernel.mistakes_per_pass_.tolist() == by_features.mistakes_per_pass_.tolist()
    np.testing.assert_allclose(by_kernel.decision_function(X), by_features.decision_function(phi), rtol=1e-9, atol=1e-9)
