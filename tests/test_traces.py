"""A trace is the run: the notes' tables, the textbook's vectors, and the fitted weights at its end, to the bit."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TIES, fitted, noisy, problems, stored

import rosenblatt as rb
from rosenblatt import _engine, traces
from rosenblatt import textbook as tb
from rosenblatt.errors import InputError

X001 = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
Y001 = [-1, +1, +1, -1, -1, +1]
NOTE_001 = {"tie": "positive", "shuffle": False, "fit_intercept": False, "max_iter": 1}
ESTIMATORS = {"perceptron": rb.Perceptron, "averaged": rb.AveragedPerceptron, "voted": rb.VotedPerceptron}


def vectors_of(trace, problem=0):
    """Every (w, b) of a binary problem, as the textbook has them."""
    steps = range(trace.updates(problem).stop - trace.updates(problem).start + 1)
    found = [trace.weights(k, problem) for k in steps]
    return [(w.tolist(), b) for w, b in found]


def assert_is_the_run(trace, run, problem=0):
    own = trace.updates(problem)
    mistakes = zip((trace.pass_[own] - 1).tolist(), trace.row[own].tolist())
    assert list(mistakes) == run.mistakes
    assert vectors_of(trace, problem) == run.vectors
    assert trace.survival(problem).tolist() == run.survival


# ---- The notes ----
def test_note_001_table():
    trace = rb.trace(X001, Y001, keep="visits", **NOTE_001)
    assert str(trace).splitlines() == [
        "x1  x2  ŷ  y  Mistake?  w",
        "                        (0, 0)",
        "-1   2  +  -  Yes       (1, -2)",
        " 1   0  +  +  No",
        " 1   1  -  +  Yes       (2, -1)",
        "-1   0  -  -  No",
        "-1  -2  +  -  Yes       (3, 1)",
        " 1  -1  +  +  No",
        "3 mistakes in 6 visits, 1 pass; ended by max_iter=1.",
    ]


def test_note_001_steps():
    steps = list(rb.trace(X001, Y001, keep="visits", **NOTE_001))
    online = tb.online_perceptron(zip(X001, Y001), fit_intercept=False)
    for i, (step, (predicted, w, b)) in enumerate(zip(steps, online, strict=True)):
        assert (step.number, step.visit, step.row, step.x.tolist(), step.label) == (i + 1, i + 1, i, X001[i], Y001[i])
        assert (step.prediction, step.mistake) == (predicted, predicted != Y001[i])
        assert (step.w_after.tolist(), step.b_after) == (w, b)
        assert step.norm == np.linalg.norm(X001[i])
    assert [step.w_before.tolist() for step in steps] == [[0, 0]] + [step.w_after.tolist() for step in steps[:-1]]
    assert [step.score for step in steps] == [0, 1, -1, -2, 0, 2]


def test_note_001_table_in_a_notebook():
    page = rb.trace(X001, Y001, keep="visits", **NOTE_001)._repr_html_()
    assert page.count("<tr") == 8 and page.count('<tr class="mistake">') == 3
    for cell in ("x1", "x2", "ŷ", "y", "Mistake?", "w", "(1, -2)", "(2, -1)", "(3, 1)", "Yes", "No"):
        assert f">{cell}</t" in page


@pytest.mark.parametrize("K", [1, 2, 5, 50])
def test_note_000_algorithm_1(K):
    X = tb.dummy_feature([[4, 3], [5, 3], [4, 4], [0, 6]])
    y = [1, 1, -1, -1]
    options = tb.variant("000") | {"fit_intercept": False, "max_updates": K, "max_iter": K + 1}
    trace, run = rb.trace(X, y, **options), tb.basic_perceptron(X, y, K)
    assert_is_the_run(trace, run)
    assert trace.converged == run.converged
    visits = rb.trace(X, y, keep="visits", **options)
    assert visits.steps.row.tolist() == [i for _, last in run.mistakes for i in range(last + 1)] + (
        [0, 1, 2, 3] if run.converged else []
    )


@pytest.mark.parametrize("theta", [[0, 0, 0], [5, -7, 3], [-1, 2, 2]])
def test_note_003_pla(theta):
    X = tb.dummy_feature(X001)
    options = tb.variant("003") | {"fit_intercept": False, "max_iter": 1000}
    trace, run = rb.trace(X, Y001, coef_init=theta, **options), tb.pla(X, Y001, theta)
    assert_is_the_run(trace, run)
    assert trace.converged and run.converged
    with_b = rb.trace(X001, Y001, coef_init=theta[1:], intercept_init=theta[0], **options | {"fit_intercept": True})
    assert [[b, *w] for w, b in vectors_of(with_b)] == [w for w, _ in run.vectors]


def test_note_004_undershooting():
    # y θ·x rises by ‖x‖² + 1 at each update (eq. 11): from -10 the row at 2 needs three of them.
    trace = rb.trace([[2.0], [-1.0]], [1, 0], coef_init=[-5.0], shuffle=False, restart=True, max_iter=50)
    assert trace.row[:3].tolist() == [0, 0, 0]
    assert trace.score[:3].tolist() == [-10, -5, 0]
    assert trace.undershot[:3].tolist() == [True, True, False]
    assert "Yes, undershot" in str(trace)


# ---- A margin ----
def test_a_row_that_is_right_by_too_little_is_learned_from_and_the_table_says_why():
    X, y = [[2, 1], [1, 2], [-1, 0], [-2, 1]], [1, 1, -1, -1]
    trace = rb.trace(X, y, keep="visits", margin=1, max_iter=1, shuffle=False, fit_intercept=False)
    assert str(trace).splitlines() == [
        "x1  x2  ŷ  y  Mistake?  w",
        "                        (0, 0)",
        " 2   1  0  +  Yes       (2, 1)",
        " 1   2  +  +  Yes       (3, 3)",
        "-1   0  -  -  No",
        "-2   1  -  -  Yes       (5, 2)",
        "ŷ = 0: a tie, which counts as a mistake.",
        "Yes with ŷ = y: right, but by too little for margin=1.",
        "3 mistakes in 4 visits, 1 pass; ended by max_iter=1.",
    ]
    assert [step.prediction for step in trace] == [None, 1, -1, -1] and not trace.undershot.any()


def test_a_joint_step_within_the_margin_was_predicted_right():
    X, y = np.eye(3), ["a", "b", "c"]
    trace = rb.trace(X, y, multi_class="joint", margin=0.75, shuffle=False, fit_intercept=False, keep="visits")
    learned = [step for step in trace if step.mistake and step.score > 0]
    assert learned and all(step.prediction == step.label and step.down != step.label for step in learned)
    assert not any(step.undershot for step in learned)
    assert "Yes with ŷ = y: right, but by too little for margin=0.75." in str(trace)
    assert trace.converged and trace.margin == 0.75


# ---- The textbook ----
def small_problems(count):
    """Seeded: whole-numbered rows, labels, and any choices."""
    rng = np.random.default_rng(20260101)
    for _ in range(count):
        n, d = rng.integers(2, 9), rng.integers(1, 5)
        X = rng.integers(-3, 4, (n, d))
        y = rng.permutation([*rng.integers(0, 2, n - 2), 0, 1])
        order = rng.choice(["cycle", "shuffled", "restart"])
        weights = rng.integers(0, 3, n) if rng.random() < 0.3 else None
        if weights is not None and len(set(y[weights > 0])) < 2:
            weights = None
        intercept = bool(rng.integers(2))
        options = {
            "tie": str(rng.choice(TIES)), "fit_intercept": intercept, "eta0": float(rng.choice([1, 1, 0.5, 4])),
            "max_iter": int(rng.integers(1, 9)), "max_updates": int(rng.integers(1, 9)) if rng.random() < 0.3 else None,
            "margin": float(rng.choice([0, 0, 0.5, 2])),
        }  # fmt: skip
        guess = {}
        if rng.random() < 0.3:
            guess = {"w": rng.integers(-3, 4, d).tolist(), "b": int(rng.integers(-3, 4)) if intercept else 0}
        yield X, y, order, int(rng.integers(2**32)), weights, options, guess


def test_a_thousand_data_sets():
    mistakes = undershot = 0
    for X, y, order, seed, weights, options, guess in small_problems(1000):
        visited = np.arange(len(X)) if weights is None else np.flatnonzero(weights)

        def row_order(p, visited=visited, order=order, seed=seed):
            places = _engine.order(seed, p, len(visited)) if order == "shuffled" else slice(None)
            return visited[places].tolist()

        signs, rows = (2 * y - 1).tolist(), X.tolist()
        by_row = None if weights is None else weights.tolist()
        run = tb.perceptron(
            rows, signs, order=row_order, restart=order == "restart", weights=by_row, **options, **guess
        )
        how = {"shuffle": order == "shuffled", "restart": order == "restart", "random_state": seed}
        start = {"coef_init": guess["w"], "intercept_init": guess["b"]} if guess else {}
        trace = rb.trace(X, y, sample_weight=weights, keep="visits", **start, **how, **options)
        assert_is_the_run(trace, run)
        assert trace.mistakes_per_pass.tolist() == run.mistakes_per_pass
        assert (trace.converged, trace.n_visits) == (run.converged, sum(run.survival))
        # Each visit: the row, the score, the judgement, and whether an update undershot.
        current = np.repeat(np.arange(len(run.survival)), run.survival) - trace.steps.mistake
        for row, k, score, mistake, short in zip(
            trace.steps.row.tolist(), current, trace.steps.score.tolist(), trace.steps.mistake, trace.steps.undershot
        ):
            (w, b), x = run.vectors[k], rows[row]
            assert score == tb.dot(w, x) + b
            gain = options["eta0"] * (1 if weights is None else by_row[row]) * (tb.dot(x, x) + options["fit_intercept"])
            too_little = tb.is_within(signs[row] * score, gain, options["margin"])
            assert mistake == (tb.is_mistake(score, signs[row], options["tie"]) or too_little)
            if mistake:
                w, b = run.vectors[k + 1]
                assert short == tb.is_mistake(tb.dot(w, x) + b, signs[row], options["tie"])
        mistakes += len(run.mistakes)
        undershot += int(trace.undershot.sum())
    assert mistakes > 3000 and undershot > 300  # there was something to compare


@settings(max_examples=60, deadline=None)
@given(problems(st.sampled_from((2, 3, 4))), st.sampled_from(("perceptron", "averaged", "voted")))
def test_every_storage_and_one_class_against_the_rest(problem, algorithm):
    data, setting = problem
    X, y = setting.stored(data.X), np.asarray(data.codes)
    trace = rb.trace(
        X, y, algorithm=algorithm, sample_weight=setting.weights, **setting.first_guess(), **setting.parameters()
    )
    runs = [tb.perceptron(data.X, data.signs(c), **setting.for_the_textbook(k)) for k, c in enumerate(data.positives)]
    for k, run in enumerate(runs):
        assert_is_the_run(trace, run, k)
        w, b = trace.average(problem=k)
        assert (w.tolist(), b) == tb.averaged(run)
    assert trace.problem.tolist() == [k for k, run in enumerate(runs) for _ in run.mistakes]


@settings(max_examples=60, deadline=None)
@given(problems(st.sampled_from((3, 4, 5)), first_guess=False, restart=False))
def test_joint_learning(problem):
    data, setting = problem
    given = setting.for_the_textbook()
    del given["restart"]
    run = tb.joint_perceptron(data.X, data.codes, data.n_classes, **given)
    options = setting.parameters() | {"multi_class": "joint"}
    trace = rb.trace(setting.stored(data.X), data.codes, sample_weight=setting.weights, keep="visits", **options)
    moves = zip((trace.pass_ - 1).tolist(), trace.row.tolist(), trace.up.tolist(), trace.down.tolist())
    assert list(moves) == run.mistakes
    found = [trace.weights(k) for k in range(trace.n_updates + 1)]
    assert [(W.tolist(), b.tolist()) for W, b in found] == run.vectors
    assert trace.survival().tolist() == run.survival
    for step in trace:
        k = step.visit - 1
        W, b = run.vectors[np.searchsorted(np.cumsum(run.survival), k, side="right") - step.mistake]
        scores = [tb.dot(w, data.X[step.row]) + offset for w, offset in zip(W, b)]
        rivals = [s for c, s in enumerate(scores) if c != data.codes[step.row]]
        assert step.score == scores[data.codes[step.row]] - max(rivals)
        weight = 1 if setting.weights is None else setting.weights[step.row]
        gain = 2 * setting.eta0 * weight * (tb.dot(data.X[step.row], data.X[step.row]) + setting.fit_intercept)
        rival = tb.joint_rival(scores, data.codes[step.row], setting.tie, gain, setting.margin)
        assert step.mistake == (rival is not None)
        if setting.tie != "mistake" or step.score != 0:
            assert step.prediction == tb.joint_predict(scores, setting.tie)
        else:
            assert step.prediction is None


# ---- To the bit ----
@pytest.mark.parametrize("algorithm", ["perceptron", "averaged", "voted"])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("storage", ["dense", "csr_array int32"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_from_the_first_guess_to_the_fitted_weights(algorithm, multi_class, n_classes, storage, dtype):
    X, y = noisy(120, 37, seed=n_classes, n_classes=n_classes)
    X = stored(X, dtype, storage)
    rng = np.random.default_rng(7)
    vectors = 1 if n_classes == 2 else n_classes
    start = {"coef_init": rng.normal(size=(vectors, 37)), "intercept_init": rng.normal(size=vectors)}
    more = {"sample_weight": rng.integers(0, 3, 120) * 0.3}
    options = {"max_iter": 7, "random_state": 3, "eta0": 0.1, "multi_class": multi_class, "class_weight": "balanced"}
    trace = rb.trace(X, y, algorithm=algorithm, **start, **more, **options)
    model = fitted(ESTIMATORS[algorithm](**options), X, y, **start, **more)
    assert trace.n_updates == model.n_updates_ > 50
    first, last, mean = ([], []), ([], []), ([], [])
    for problem in range(trace.n_problems):
        for kept, found in (
            (first, trace.weights(0, problem)),
            (last, trace.weights(-1, problem)),
            (mean, trace.average(-1, problem)),
        ):
            kept[0].append(np.atleast_2d(found[0])), kept[1].append(np.atleast_1d(found[1]))
    first, last, mean = ((np.concatenate(w), np.concatenate(b)) for w, b in (first, last, mean))
    assert (
        first[0].tobytes() == start["coef_init"].tobytes() and first[1].tobytes() == start["intercept_init"].tobytes()
    )
    learner = model._learner
    assert last[0].tobytes() == np.ascontiguousarray(learner.weights[:, :37]).tobytes()
    assert last[1].tobytes() == learner.intercepts.tobytes()
    if algorithm == "averaged":
        assert mean[0].tobytes() == model.coef_.tobytes() and mean[1].tobytes() == model.intercept_.tobytes()
    if algorithm == "voted":
        for problem in range(trace.n_problems):
            visits = int(learner.visits[problem])
            assert trace.survival(problem).tolist() == learner.votes.survival(problem, visits).tolist()


def test_any_place_at_any_time_is_the_same():
    X, y = noisy(200, 9, seed=1)
    trace = rb.trace(X, y, max_iter=30, random_state=0)
    W, B = trace.path()
    assert len(W) == trace.n_updates + 1 > 1000
    for k in np.random.default_rng(0).integers(0, trace.n_updates + 1, 300):
        w, b = trace.weights(int(k))
        assert w.tobytes() == W[k].tobytes() and b == B[k]
    w, _ = trace.weights(5)
    w[:] = 0  # a copy: nothing of the trace changes
    assert trace.weights(5)[0].tobytes() == W[5].tobytes()
    assert trace.weights(-1)[0].tobytes() == W[-1].tobytes()


@pytest.mark.parametrize("options", [{"tol": 1e-3, "n_iter_no_change": 2}, {"early_stopping": True}, {"n_jobs": 2}])
def test_other_ways_to_stop(options):
    X, y = noisy(200, 5, seed=4, n_classes=3)
    options |= {"random_state": 5, "max_iter": 40}
    trace, model = rb.trace(X, y, **options), fitted(rb.Perceptron(**options), X, y)
    assert (trace.n_passes, trace.n_updates, trace.converged) == (model.n_iter_, model.n_updates_, model.converged_)
    for problem in range(3):
        w, b = trace.weights(-1, problem)
        assert w.tobytes() == model.coef_[problem].tobytes() and b == model.intercept_[problem]


# ---- Not more than asked for ----
@pytest.mark.parametrize("max_steps", [1, 7, 40])
def test_max_steps_ends_the_run_and_says_so(max_steps):
    X, y = noisy(50, 3, seed=0)
    whole = rb.trace(X, y, random_state=0, max_iter=20)
    part = rb.trace(X, y, random_state=0, max_iter=20, max_steps=max_steps)
    assert whole.n_updates > 40 and not whole.truncated
    assert (len(part), part.truncated, part.converged) == (max_steps, True, False)
    assert part.row.tolist() == whole.row[:max_steps].tolist()
    assert part.weights()[0].tobytes() == whole.weights(max_steps)[0].tobytes()
    model = fitted(rb.Perceptron(random_state=0, max_iter=20, max_updates=max_steps), X, y)
    assert part.weights()[0].tobytes() == model.coef_[0].tobytes()
    assert part.parameters == whole.parameters
    assert f"ended by max_steps={max_steps}: there may be more" in str(part)


@pytest.mark.parametrize("max_steps", [1, 49, 50, 51, 130])
@pytest.mark.parametrize("restart", [False, True])
def test_max_steps_of_visits(max_steps, restart):
    X, y = noisy(50, 3, seed=0)
    how = {"shuffle": not restart, "restart": restart, "random_state": 0, "max_iter": 400, "keep": "visits"}
    whole, part = rb.trace(X, y, **how), rb.trace(X, y, max_steps=max_steps, **how)
    assert (len(part), part.truncated, part.converged) == (max_steps, True, False)
    for name in ("row", "pass_", "score", "mistake", "undershot"):
        assert getattr(part.steps, name).tolist() == getattr(whole.steps, name)[:max_steps].tolist()
    assert part.n_passes == part.steps.pass_[-1] and part.mistakes_per_pass.sum() == part.n_updates
    assert part.weights()[0].tobytes() == whole.weights(part.n_updates)[0].tobytes()


def test_a_run_within_max_steps_is_not_truncated():
    trace = rb.trace(X001, Y001, shuffle=False, max_steps=1000)
    assert trace.converged and not trace.truncated
    visits = rb.trace(X001, Y001, shuffle=False, keep="visits", max_steps=1000)
    assert visits.converged and not visits.truncated and len(visits) == visits.n_visits
    exactly = rb.trace(X001, Y001, shuffle=False, keep="visits", max_steps=visits.n_visits)
    assert exactly.converged and not exactly.truncated
    budget = rb.trace(X001, Y001, shuffle=False, max_updates=2, max_steps=2)
    assert not budget.truncated and "ended by max_updates=2" in str(budget)


def test_memory_is_that_of_the_mistakes_not_of_the_vectors():
    X, y = noisy(400, 60, seed=0)
    trace = rb.trace(X, y, random_state=0, max_iter=100)
    trace.weights(trace.n_updates // 2)  # makes snapshots
    arrays = (*vars(trace.steps).values(), trace.row, trace.visit, trace.step, trace.pass_)
    kept = sum({a.__array_interface__["data"][0]: a.nbytes for a in arrays if a.strides != (0,)}.values())
    snapshots = sum(w.nbytes + b.nbytes for w, b in trace._replay(0)._snapshots)
    assert trace.n_updates > 4000
    assert kept <= 60 * trace.n_updates  # a million mistakes: 60 MB, whatever the number of features
    assert snapshots <= 2 * np.sqrt(trace.n_updates) * 65 * 8


MILLION = """
import gc, resource, sys, warnings
import numpy as np
import rosenblatt as rb
warnings.simplefilter("ignore")
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
rng = np.random.default_rng(0)
X, y = rng.normal(size=(100_000, 50)), rng.integers(0, 2, 100_000)
rb.trace(X[:99], y[:99], max_iter=2, random_state=0).score  # loads what is loaded once
rb.Perceptron(max_iter=2, random_state=0).fit(X, y)
before = peak()
trace = rb.trace(X, y, random_state=0, max_iter=1000, max_steps=1_000_000)
trace.score, trace.undershot, trace.norm, trace.weights(777_777), trace[999_999]
print(trace.n_updates, peak() - before)
"""


@pytest.mark.slow
def test_a_million_mistakes_in_fifty_dimensions_take_less_than_100_megabytes():
    pytest.importorskip("resource")
    run = subprocess.run([sys.executable, "-c", MILLION], check=True, capture_output=True, text=True)
    updates, growth = map(int, run.stdout.split())
    assert updates == 1_000_000
    assert growth < 100e6


# ---- Steps ----
def test_indexing():
    trace = rb.trace(X001, Y001, keep="visits", **NOTE_001)
    assert [step.number for step in trace[1:3]] == [2, 3]
    assert trace[-1].row == 5 and len(trace) == 6
    with pytest.raises(IndexError, match="the trace has 6 steps; there is no step 6"):
        trace[6]
    with pytest.raises(InputError, match="k must be from 0, the first guess, to 3, after the last mistake; got 4"):
        trace.weights(4)
    with pytest.raises(InputError, match="this trace has one problem, 0; got problem 1"):
        trace.weights(0, 1)
    three = rb.trace([[0.0], [1.0], [2.0]], ["a", "b", "c"], max_iter=3)
    with pytest.raises(InputError, match="this trace has problems from 0 to 2; got problem 3"):
        three.survival(3)


def test_labels_and_predictions_are_the_users():
    trace = rb.trace([[1.0], [-2.0], [3.0]], ["spam", "ham", "ham"], shuffle=False, max_iter=2, keep="visits")
    first, second = trace[0], trace[1]
    assert (first.label, first.prediction, first.score, first.mistake) == ("spam", None, 0.0, True)
    assert (second.label, second.prediction, second.mistake) == ("ham", "ham", False)
    assert "+ is 'spam', - is 'ham'." in str(trace)
    assert "ŷ = 0: a tie, which counts as a mistake." in str(trace)


def test_one_against_the_rest_has_signs_for_labels():
    trace = rb.trace([[0.0], [1.0], [2.0]], ["a", "b", "c"], shuffle=False, max_iter=1)
    assert {step.label for step in trace} == {1, -1}
    assert str(trace).splitlines()[0].split()[:2] == ["class", "row"]


def test_long_and_wide_traces_are_shortened():
    X, y = noisy(60, 8, seed=0)
    trace = rb.trace(X, y, random_state=0, max_iter=30)
    lines = str(trace).splitlines()
    assert lines[0].split() == ["pass", "row", "ŷ", "y", "Mistake?", "w", "b"]
    assert len(lines) < 40 and any("steps not shown: table(max_rows=None) has all." in line for line in lines)
    assert len(trace.table(max_rows=None).splitlines()) > trace.n_updates
    assert ", ..., " in lines[3]


def test_the_averaged_table_says_what_predicts():
    trace = rb.trace(X001, Y001, algorithm="averaged", **NOTE_001)
    assert str(trace).splitlines()[0].endswith("survived")
    assert "The average predicts: w = (2, -0.6667)" in str(trace)
    assert rb.AveragedPerceptron(**NOTE_001).fit(X001, Y001).coef_.tolist() == [trace.average()[0].tolist()]


def test_a_trace_without_a_mistake():
    trace = rb.trace([[1.0], [-1.0]], [1, 0], coef_init=[1.0], shuffle=False)
    assert len(trace) == 0 and trace.converged and trace.n_visits == 2
    assert trace.weights()[0].tolist() == [1.0]
    assert trace.to_frame("pandas").shape[0] == 0
    assert json.loads(trace.to_json())["steps"]["row"] == []
    assert "(1)" in str(trace)


# ---- Input ----
def test_unknown_choices_get_the_list_of_those_known():
    with pytest.raises(
        InputError, match="trace has no parameter 'shuffel': it takes those of Perceptron, class_weight"
    ):
        rb.trace(X001, Y001, shuffel=False)
    with pytest.raises(
        InputError, match="'algorithm' parameter of trace must be 'perceptron' or 'averaged' or 'voted'"
    ):
        rb.trace(X001, Y001, algorithm="svm")
    with pytest.raises(InputError, match="'keep' parameter of trace must be 'mistakes' or 'visits'"):
        rb.trace(X001, Y001, keep="all")
    with pytest.raises(InputError, match="'max_steps' parameter of trace must be None or an integer of at least 1"):
        rb.trace(X001, Y001, max_steps=0)
    with pytest.raises(InputError, match="set shuffle=False"):
        rb.trace(X001, Y001, restart=True)


def test_the_rows_are_kept_by_reference_and_never_changed():
    X, y = noisy(20, 3, seed=0)
    before = X.copy()
    trace = rb.trace(X, y, random_state=0)
    assert trace.X is X and np.array_equal(X, before)
    assert trace.y.tolist() == y.tolist()


def test_importing_the_module_does_not_hide_the_function():
    assert traces.trace is rb.trace
