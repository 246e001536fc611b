"""Learning from a stream gives, to the bit, what `fit` learns from all rows at once."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import STORAGES, TIES, noisy, stored
from streams_of_rows import assert_same, cut, svm_text, whole

import rosenblatt as rb
from rosenblatt import _engine
from rosenblatt import textbook as tb
from rosenblatt.errors import InputError, WeightOverflowError
from rosenblatt.reading import streams
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.streams import open_stream
from rosenblatt.runs.run import Progress

READOUTS = ("last", "average", "vote")


# ---- The same as fit ----
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_stream_gives_what_fit_gives(data):
    draw = data.draw
    n, k = draw(st.integers(5, 60)), draw(st.sampled_from((2, 2, 3, 5)))
    X, y = noisy(n, draw(st.sampled_from((1, 3, 8, 40))), draw(st.integers(0, 2**16)), k)
    if draw(st.booleans()):
        X = np.round(X)  # ties
    order = draw(st.sampled_from(("mixed", "sorted", "backwards")))
    places = {"mixed": np.arange(n), "sorted": np.argsort(y), "backwards": np.argsort(-y)}[order]
    X, y = stored(X[places], draw(st.sampled_from(("float32", "float64"))), draw(st.sampled_from(STORAGES))), y[places]
    weights = draw(st.sampled_from((None, "some", "zeros")))
    if weights is not None:
        weights = np.random.default_rng(1).uniform(0.1, 3, n) * (1 if weights == "some" else np.arange(n) % 3 != 0)
        if len(np.unique(y[weights > 0])) < 2:
            weights = None
    options = {
        "tie": draw(st.sampled_from(TIES)),
        "fit_intercept": draw(st.booleans()),
        "eta0": draw(st.sampled_from((1.0, 0.3))),
        "margin": draw(st.sampled_from((0.0, 0.3, 1.0))),
        "max_updates": draw(st.sampled_from((None, None, 1, 7, 40))),
        "multi_class": draw(st.sampled_from(("ovr", "joint"))),
    }
    readout, passes = draw(st.sampled_from(READOUTS)), draw(st.sampled_from((1, 2, 5)))
    told = draw(st.sampled_from((None, np.unique(y).tolist())))
    batches = cut(X, y, draw(st.lists(st.integers(0, n), max_size=8)), weights)
    model = rb.train(iter(batches), readout=readout, passes=passes, classes=told, **options)
    assert_same(model, whole(X, y, readout=readout, max_iter=passes, weights=weights, **options))


def test_many_classes_that_come_one_by_one_in_sparse_batches():
    rng = np.random.default_rng(0)
    n, d = 1200, 64
    X = rng.integers(-3, 4, (n, d)).astype(float) * (rng.random((n, d)) < 0.2)
    y = np.minimum(rng.integers(0, 40, n), np.arange(n) // 30)
    for readout, margin in (("last", 0.0), ("average", 1.0)):
        want = whole(X, y, readout=readout, margin=margin)
        batches = [(sp.csr_array(X), y) for X, y in cut(X, y, range(30, n, 30))]
        assert_same(rb.train(batches, readout=readout, margin=margin), want)
        dense_between = [(X.toarray() if i % 5 == 4 else X, y) for i, (X, y) in enumerate(batches)]
        assert_same(rb.train(dense_between, readout=readout, margin=margin), want)


@pytest.mark.parametrize("how", [{"passes": 2}, {"shuffle": True}, {"multi_class": "joint"}])
@pytest.mark.parametrize("form", [sp.csr_array, np.asarray])
def test_features_that_only_rows_held_out_have(form, how):
    batches = [(form(np.ones((1, 12 if i == 56 else 4))), [i % 2]) for i in range(60)]
    widths = {held: rb.train(batches, hold_out=0.3, seed=held, **how).n_features_in_ for held in range(6)}
    assert set(widths.values()) == {12}  # whether that row is held out or not


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**16),
    st.lists(st.integers(1, 59), max_size=6),
    st.sampled_from(READOUTS),
    st.integers(1, 4),
    st.sampled_from((0.0, 0.5, 1.0)),
)
def test_classes_and_features_may_appear_late(seed, cuts, readout, passes, margin):
    rng = np.random.default_rng(seed)
    n, d = 60, 21
    X = rng.integers(-3, 4, (n, d)).astype(float)
    X[np.arange(d)[np.newaxis] > np.arange(n)[:, np.newaxis] // 2] = 0  # row i has features up to i / 2
    y = np.minimum(rng.integers(0, 5, n), np.arange(n) // 9)  # and classes up to i / 9
    width = [min(d, 1 + max(part) // 2) for part in np.split(np.arange(n), sorted(cuts)) if len(part)]
    batches = [(X[:, :w], y) for (X, y), w in zip(cut(X, y, cuts), width)]
    want = whole(np.ascontiguousarray(X), y, readout=readout, max_iter=passes, margin=margin)
    wide = max(width)
    how = {"readout": readout, "passes": passes, "margin": margin}
    model = rb.train([(sp.csr_array(X), y) for X, y in batches], **how)
    if readout != "vote":  # dense and sparse batches by turns
        mixed = [(X if i % 2 else sp.csr_array(X), y) for i, (X, y) in enumerate(batches)]
        assert rb.train(mixed, **how).to_state()[1]["weights"].tolist() == model.to_state()[1]["weights"].tolist()
    assert model.n_features_in_ == wide
    learned = model.learner.weights[:, :wide]
    assert learned.tolist() == want._learner.weights[:, :wide].tolist() and not want._learner.weights[:, wide:].any()
    assert model.learner.visits.tolist() == want._learner.visits.tolist()
    dense = rb.train(batches, **how)  # whole numbers: exact in any order of summation
    assert dense.learner.weights.tolist() == model.learner.weights.tolist()
    assert dense.mistakes_per_pass_.tolist() == want.mistakes_per_pass_.tolist()


@pytest.mark.parametrize("labels", [["b", "a"], [1, -1], [-1, 1], [7, 3, 5], ["x", "long name", "m"]])
@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("margin", [0.0, 0.7])
def test_the_order_in_which_classes_appear_does_not_matter(labels, tie, margin):
    X, y = noisy(50, 4, 3, len(labels))
    y = np.asarray(labels)[np.sort(y) if tie == "mistake" else y]
    model = rb.train(cut(X, y, [1, 2, 30]), passes=3, tie=tie, readout="average", margin=margin)
    assert_same(model, whole(X, y, readout="average", max_iter=3, tie=tie, margin=margin))
    assert model.classes_.dtype == np.unique(y).dtype


@pytest.mark.parametrize("weight", ["balanced", {0: 2.0, 1: 0.5}])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_class_weights(weight, k, multi_class):
    X, y = noisy(70, 4, 5, k)
    options = {"class_weight": weight, "multi_class": multi_class}
    model = rb.train(cut(X, y, [20, 40]), passes=3, **options)
    assert_same(model, whole(X, y, max_iter=3, **options))
    if weight != "balanced":
        assert_same(rb.train(cut(X, y, [20]), classes=range(k), **options), whole(X, y, **options))


def test_told_classes_that_never_appear_are_classes():
    X, y = noisy(40, 3, 1, 2)
    model = rb.train(cut(X, y, [9]), classes=[0, 1, 2])
    estimator = rb.Perceptron().partial_fit(X, y, classes=[0, 1, 2])
    assert model.learner.weights.tolist() == estimator._learner.weights.tolist()


def test_a_pair_of_arrays_is_one_batch_and_empty_batches_are_passed_over():
    X, y = noisy(40, 3, 1)
    assert_same(rb.train((X, y)), whole(X, y))
    assert_same(rb.train([(X[:0], y[:0]), (X, y), (X[:0], y[:0])]), whole(X, y))


def test_a_buffer_that_is_used_again_for_each_batch_does_not_spoil_later_passes():
    X, y = noisy(60, 3, 2)
    rows, labels = np.empty((10, 3)), np.empty(10, int)

    def batches():
        for first in range(0, 60, 10):
            rows[:], labels[:] = X[first : first + 10], y[first : first + 10]
            yield rows, labels

    assert_same(rb.train(batches(), passes=4), whole(X, y, max_iter=4))


# ---- Files ----
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("k", [2, 4])
def test_a_libsvm_file(tmp_path, first, readout, k):
    X, y = noisy(200, 6, 7, k)
    X[np.abs(X) < 0.7] = 0
    X[0, 0] = 1.5
    path = tmp_path / "rows.svm"
    path.write_text(svm_text(X, y, first))
    model = rb.train(path, passes=3, readout=readout)
    rows, labels = rb.load(path)
    assert_same(model, whole(rows, labels, readout=readout, max_iter=3))
    assert model.reading.format == "libsvm" and model.reading.index_base == first
    assert model.n_features_in_ == 6
    if readout != "vote":
        assert {entry["feature"] for entry in model.report["largest_weights"]} <= {str(j + first) for j in range(6)}


OBJECTS = st.lists(  # of each: label, and features in whatever order
    st.tuples(
        st.sampled_from((1, -1)),
        st.dictionaries(st.sampled_from("abcdef"), st.integers(-9, 9).map(lambda tenths: tenths / 10), min_size=1),
    ),
    min_size=2,
    max_size=30,
).filter(lambda rows: len({label for label, _ in rows}) == 2)


@settings(max_examples=100, deadline=None)
@given(OBJECTS, st.sampled_from((0.0, 1.0)), st.sampled_from(READOUTS), st.lists(st.integers(0, 30), max_size=4))
def test_rows_whose_features_come_in_any_order(tmp_path_factory, rows, margin, readout, cuts):
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    path.write_text("".join(f"{json.dumps({'label': label, **features})}\n" for label, features in rows))
    X, y = rb.load(path)
    want = whole(X, y, readout=readout, max_iter=3, margin=margin)
    assert_same(rb.train(path, passes=3, readout=readout, margin=margin), want)
    assert_same(rb.train(cut(X, y, cuts), passes=3, readout=readout, margin=margin), want)


@pytest.mark.parametrize("chunk", [64, 1000, 1 << 21])
@pytest.mark.parametrize("threads", [1, 3])
def test_any_chunk_and_any_number_of_threads(tmp_path, chunk, threads):
    X, y = noisy(300, 5, 8, 3)
    path = tmp_path / "rows.svm"
    path.write_text(svm_text(X, y))
    stream = open_stream(path, chunk=chunk, threads=threads)
    model = rb.train(stream, readout="average")
    assert_same(model, whole(*rb.load(path), readout="average"))
    assert model.progressive_accuracy == rb.train(path, readout="average").progressive_accuracy


@pytest.mark.parametrize("options", [{}, {"margin": 0.5}, {"passes": 3, "max_updates": 40}, {"tie": "positive"}])
@pytest.mark.parametrize("dense", [True, False])
def test_many_classes_learned_by_many_threads(monkeypatch, dense, options):
    monkeypatch.setattr("rosenblatt.runs.stream_learning._WORTH_THREADS", 0)
    X, y = noisy(400, 30, 8, 19)
    X[np.abs(X) < 0.7] = 0
    y = np.minimum(y, np.arange(400) // 10)  # so that they appear one after the other
    rows = X if dense else sp.csr_array(X)
    batches = [(rows[first : first + 50], y[first : first + 50]) for first in range(0, 400, 50)]
    models = [rb.train(batches, readout="average", threads=threads, **options) for threads in (1, 2, 3, 20)]
    more = {("max_iter" if name == "passes" else name): value for name, value in options.items()}
    for model in models:
        assert_same(model, whole(X, y, readout="average", **({"max_iter": 1} | more)))
    assert len({model.progressive_accuracy for model in models}) == 1


@pytest.mark.parametrize(
    "options", [{}, {"hold_out": 0.2}, {"passes": 3}, {"max_updates": 30}, {"cache": "rows.cache"}, {"margin": 0.7}]
)
@pytest.mark.parametrize("readout", ["last", "average"])
@pytest.mark.parametrize("third", [25, 150, 299])
def test_a_third_class_that_comes_late(tmp_path, monkeypatch, options, readout, third):
    monkeypatch.setattr("rosenblatt.runs.run._SETTLED", 20)
    monkeypatch.chdir(tmp_path)
    X, y = noisy(300, 5, third, 4)
    y = np.where(np.arange(300) < third, y % 2, y)
    y[third] = 3
    (tmp_path / "rows.svm").write_text(svm_text(X, y))
    rows, labels = rb.load("rows.svm")
    options = dict(options)
    if "hold_out" in options:
        from rosenblatt.runs.held_out import is_held_out

        kept = ~is_held_out(0, 0, 300, 0.2)
        rows, labels = rows[kept], labels[kept]
    given = {"max_iter": options.get("passes", 1), "max_updates": options.get("max_updates")}
    given |= {"margin": options.get("margin", 0.0)}
    want = whole(rows, labels, readout=readout, **given)
    right = set()
    for chunk in (300, 1000, 1 << 19):
        model = rb.train(open_stream("rows.svm", chunk=chunk), readout=readout, **options)
        if len(np.unique(labels)) == len(model.classes_):
            assert_same(model, want)
        right.add(model.training["progressive_right"])
    assert len(right) == 1


def test_a_table(tmp_path):
    X, y = noisy(80, 3, 9)
    path = tmp_path / "table.csv"
    kinds = np.where(y == 1, "up", "down")
    path.write_text("a,b,c,class\n" + "\n".join(f"{a!r},{b!r},{c!r},{t}" for (a, b, c), t in zip(X.tolist(), kinds)))
    model = rb.train(path, passes=2)
    assert_same(model, whole(*rb.load(path), max_iter=2))
    assert model.feature_names == ["a", "b", "c"] and model.classes_.tolist() == ["down", "up"]
    assert model.report["largest_weights"][0]["feature"] in "abc"
    assert_same(rb.train(path, classes=["up", "down"]), whole(*rb.load(path)))


def test_a_frame_must_have_the_columns_that_were_learned_from_in_their_order(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,class\n1,2,up\n2,-5,down\n3,9,up\n")
    model = rb.train(path, passes=9)
    frame = pd.read_csv(path)[["a", "b"]]
    assert model.predict(frame).tolist() == model.predict(frame.to_numpy()).tolist() == ["up", "down", "up"]
    rb.save(model, tmp_path / "model")
    for other, odd in (
        (frame[["b", "a"]], "must be in the same order as they were in fit"),
        (
            frame.rename(columns={"b": "c"}),
            "unseen at fit time:\n- c\nFeature names seen at fit time, yet now missing:\n- b",
        ),
    ):
        for learned in (model, rb.load_trained(tmp_path / "model"), model.to_estimator()):
            words = "The feature names should match those that were passed during fit.\nFeature names "
            with pytest.raises(ValueError, match=words + odd):
                learned.decision_function(other)
    with pytest.raises(InputError, match=r"Take the columns of the model, in its order: X\[model\.feature_names\]"):
        model.predict(frame[["b", "a"]])
    numbered = pd.DataFrame(frame.to_numpy())  # numbers are no names, as for scikit-learn
    assert model.predict(numbered).tolist() == ["up", "down", "up"]
    assert rb.train([(numbered, ["up", "down", "up"])]).feature_names is None


@pytest.mark.parametrize("labels", [int, float, bool, str, object])
def test_a_score_is_that_of_the_estimator(labels):
    X, y = noisy(60, 3, 1)
    y = np.where(y == 1, "up", "down").astype(object) if labels is object else (y == 1).astype(labels)
    model, weights = rb.train([(X, y)]), np.arange(60)
    assert 0.5 < model.score(X, y) == model.to_estimator().score(X, y) < 1
    assert model.score(X, y.tolist(), weights) == pytest.approx(model.to_estimator().score(X, y, weights), rel=1e-12)


def test_what_cannot_be_scored_is_named():
    X = np.array([[1.0], [-1.0]])
    model = rb.train([(X, ["up", "down"])])
    assert model.score(X, ["up", "left"]) == 0.5
    with pytest.raises(
        InputError, match="y holds 1, and the classes of the model are text, such as 'down': cast y to str"
    ):
        model.score(X, [1, 2])
    with pytest.raises(InputError, match="y holds 'b', and the classes of the model are numbers, such as 0"):
        rb.train([(X, [0, 1])]).score(X, ["b", "b"])
    with pytest.raises(InputError, match=r"y must hold classes, and 0\.5 looks like a measurement"):
        model.score(X, [0.5, 1.0])


# ---- Progressive validation ----
def predicted_one_by_one(X, y, tie, margin=0.0):
    """How many rows a plain one-against-rest perceptron gives their class before it learns from them."""
    vectors, right = {}, 0
    seen = []
    never = (np.zeros(X.shape[1]), 0.0)
    for x, label in zip(X, y):
        scores = [vectors[c][0] @ x + vectors[c][1] for c in seen]
        if seen:
            right += seen[int(np.argmax(scores))] == label
        if label not in vectors:
            seen.append(label)
            vectors[label] = never
        for c in [*seen, None]:
            w, b = never if c is None else vectors[c]
            target, score = (1 if c == label else -1), w @ x + b
            wrong = {"mistake": target * score <= 0, "positive": (score >= 0) != (target > 0)}.get(
                tie, (score > 0) != (target > 0)
            )
            wrong |= margin > 0 and target * score <= margin * (x @ x + 1)
            moved = (w + target * x, b + target) if wrong else (w, b)
            if c is None:
                never = moved
            else:
                vectors[c] = moved
    return right


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**16),
    st.lists(st.integers(1, 39), max_size=6),
    st.sampled_from(TIES),
    st.integers(3, 5),
    st.sampled_from((0.0, 0.5, 2.0)),
)
def test_progressive_accuracy_is_that_of_predicting_each_row_first(seed, cuts, tie, k, margin):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (40, 3)).astype(float), rng.integers(0, k, 40)
    y[-1] = k  # always three classes at least
    model = rb.train(cut(X, y, cuts), tie=tie, margin=margin)
    assert model.training["progressive_right"] == predicted_one_by_one(X, y, tie, margin)


@pytest.mark.parametrize("cuts", [[], [1, 2, 3], [30]])
def test_progressive_accuracy_of_two_classes_counts_mistakes(cuts):
    X, y = noisy(60, 3, 4)
    model = rb.train(cut(X, y, cuts))
    assert model.progressive_accuracy == 1 - model.mistakes_per_pass_[0] / 60


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_progressive_accuracy_of_two_classes_counts_rows_on_the_wrong_side_and_not_within_the_margin(data):
    draw = data.draw
    tie, margin = draw(st.sampled_from(TIES)), draw(st.sampled_from((0.0, 0.5, 2.0)))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    X, y = rng.integers(-3, 4, (40, 3)), rng.integers(0, 2, 40)
    y[:2] = [draw(st.integers(0, 1)), 0]  # either class may come first
    y[2] = 1
    run = tb.perceptron(X.tolist(), (2 * y - 1).tolist(), tie=tie, margin=margin, max_iter=1)
    current = np.repeat(np.arange(len(run.survival)), run.survival)
    learned = {row for _, row in run.mistakes}
    wrong = 0
    for row, (x, label) in enumerate(zip(X.tolist(), y)):
        w, b = run.vectors[current[row] - (row in learned)]
        wrong += tb.is_mistake(tb.dot(w, x) + b, 2 * int(label) - 1, tie)
    more = draw(st.sampled_from(({}, {"passes": 3}, {"classes": [0, 1]}, {"readout": "vote"})))
    batches = cut(X.astype(float), y, draw(st.lists(st.integers(1, 39), max_size=6)))
    model = rb.train(batches, tie=tie, margin=margin, **more)
    assert model.training["progressive_right"] == 40 - wrong
    assert margin == 0 or model.mistakes_per_pass_[0] >= wrong


@pytest.mark.engine
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("max_updates", [2**62, 3])
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_the_engine_predicts_before_it_learns(threads, max_updates, d, joint, margin):
    rng = np.random.default_rng(d)
    n, k = 57, 5
    X, codes = rng.integers(-3, 4, (n, d)).astype(float), rng.integers(0, k, n).astype(np.int16)
    padded = -(-d // 8) * 8

    def run(rows, codes, w, b, visits, updates, predicted=None, threads=1):
        active = np.ones(len(visits), bool)
        return _engine.run(
            _engine.DenseRows(rows),
            _engine.Labels(codes, n_classes=k, joint=joint, class_weight=np.ones(k)),
            _engine.Rule(tie=_engine.Tie.mistake, fit_intercept=True, max_updates=max_updates, margin=margin),
            _engine.Schedule(max_passes=1, threads=threads),
            _engine.Weights(w, b, visits=visits, updates=updates, active=active),
            predicted=predicted,
        )

    def zeros():
        problems = 1 if joint else k
        return np.zeros((k, padded)), np.zeros(k), np.zeros(problems, np.int64), np.zeros(problems, np.int64)

    state, want = zeros(), []
    for i in range(n):
        want.append(int(np.argmax(state[0][:, :d] @ X[i] + state[1])))
        run(X[i : i + 1].copy(), codes[i : i + 1], *state)
    predicted, state = np.full(n, -1, np.int16), zeros()
    run(X, codes, *state, predicted=predicted, threads=threads)
    assert predicted.tolist() == want


# ---- Held-out rows, early stopping ----
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_held_out_rows_are_not_learned_from_and_do_not_depend_on_batches(k, margin):
    from rosenblatt.runs.held_out import is_held_out

    X, y = noisy(400, 5, 11, k)
    held = is_held_out(3, 0, 400, 0.25)
    assert 60 < held.sum() < 140
    assert (is_held_out(3, 100, 50, 0.25) == held[100:150]).all()
    assert not is_held_out(3, 0, 400, 0.0).any()
    want = whole(X[~held], y[~held], readout="average", max_iter=3, margin=margin)
    for cuts in ([], [1, 17, 300]):
        model = rb.train(cut(X, y, cuts), readout="average", passes=3, hold_out=0.25, seed=3, margin=margin)
        assert_same(model, want)
        assert model.hold_out_accuracy == pytest.approx(want.score(X[held], y[held]))
        assert model.report["hold_out_rows"] == held.sum() and model.report["learned_rows"] == (~held).sum()
        assert len(model.report["hold_out_accuracy_per_pass"]) == 3


@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_early_stopping_keeps_the_weights_that_were_best_on_held_out_rows(margin):
    X, y = noisy(300, 4, 12)
    how = {"hold_out": 0.3, "margin": margin}
    model = rb.train(cut(X, y, [100]), passes=40, early_stopping="hold-out", patience=3, **how)
    per_pass = model.report["hold_out_accuracy_per_pass"]
    best = int(np.argmax(per_pass))  # ties of a score of 0 aside, fewest mistakes is highest accuracy
    assert len(per_pass) == best + 1 + 3 < 40
    again = rb.train(cut(X, y, [100]), passes=best + 1, **how)
    assert model.learner.weights.tolist() == again.learner.weights.tolist()
    assert model.hold_out_accuracy == per_pass[best] > per_pass[-1]  # of the model that is kept, not of the last pass


def test_early_stopping_by_the_mistakes_of_the_passes():
    X, y = noisy(300, 4, 13)
    model = rb.train((X, y), passes=50, early_stopping="progressive", patience=2)
    mistakes = model.mistakes_per_pass_.tolist()
    best = mistakes.index(min(mistakes))
    assert len(mistakes) == best + 3 < 50
    again = rb.train((X, y), passes=best + 1)
    assert model.learner.weights.tolist() == again.learner.weights.tolist()


def test_a_last_pass_without_a_mistake_has_converged_whichever_weights_are_kept():
    X, _ = noisy(200, 30, 3)
    y = np.sign(X @ np.arange(-15.0, 15.0))
    how = {"hold_out": 0.3, "early_stopping": "hold-out", "patience": 50}
    model = rb.train((X, y), passes=400, **how)
    assert model.report["mistakes_per_pass"][-1] == 0
    assert model.converged_ and not model.report["stopped_early"]


def test_rows_held_out_must_be_some():
    X, y = noisy(12, 2, 0)
    with pytest.raises(InputError, match=r"none of the 12 rows is held out by hold_out=0.0001 .*with seed=0: hold a"):
        rb.train((X, y), hold_out=0.0001)


# ---- Labels and order ----
def test_measured_labels_are_refused_as_in_memory(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.csv"
    for n in (30, 3000):
        table = np.column_stack([rng.normal(size=(n, 2)), np.round(rng.normal(size=n), 3)])
        np.savetxt(path, table, delimiter=",", header="a,b,y", comments="")
        with pytest.raises(
            InputError, match=r"labels must be classes, and -?\d.* looks like a measurement in .*rows.csv"
        ):
            rb.train(path)
        with pytest.raises(InputError, match="looks like a measurement"):
            rb.certify(table[:, :2], table[:, 2])


def test_nearly_as_many_classes_as_rows_are_doubted_at_once(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,name\n" + "".join(f"{k % 7},name {k}\n" for k in range(400)))
    with pytest.warns(UserWarning, match=r"400 classes in the first 400 rows\. Is the label another column\?.*--label"):
        rb.train(path, label="name", numeric="x")


def test_classes_of_few_rows_are_doubted_when_all_are_read(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("".join(f"{k % 2},{k % 7},{k % 120}\n" for k in range(1000)))
    with pytest.warns(UserWarning, match=r"120 classes in the first 1,000 rows\. .*--label COLUMN, .* -1 is the last"):
        rb.train(path)
    path.write_text("".join(f"{k % 2},{k % 7},{k % 120}\n" for k in range(1201)))
    rb.train(path)


def test_rows_that_stand_in_runs_are_told_of():
    X, y = noisy(600, 3, 1)
    y = np.arange(600) // 4 % 2
    report = rb.train((X, y)).report
    assert (report["in_runs"], report["class_changes"], report["class_changes_if_mixed"]) == (True, 149, 300)
    assert not rb.train((X, y), shuffle=True).report["in_runs"]
    assert not rb.train((X, np.arange(600) % 2)).report["in_runs"]


# ---- What is reported ----
def test_a_run_that_separates_says_so_and_states_a_bound_that_holds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X = X[np.abs(X @ [1, 2, -1, 0.5] + 0.3) > 0.3]
    y = np.where(X @ [1, 2, -1, 0.5] + 0.3 > 0, "up", "down")
    for fit_intercept in (True, False):
        rows, labels = (X, y) if fit_intercept else (X, np.where(X @ [1, 2, -1, 0.5] > 0, "up", "down"))
        model = rb.train((rows, labels), passes=10_000, fit_intercept=fit_intercept)
        assert model.converged_ and model.separates_ and model.report["mistakes_per_pass"][-1] == 0
        certificate = rb.certify(rows, labels, fit_intercept=fit_intercept)
        bound = model.report["mistake_bound"]
        assert model.n_updates_ <= certificate.mistake_bound <= bound
        sparse = rb.train((sp.csr_array(rows), labels), passes=10_000, fit_intercept=fit_intercept)
        assert sparse.n_updates_ <= sparse.report["mistake_bound"] < 1.5 * bound
        wider = rb.train((rows, labels), passes=10_000, fit_intercept=fit_intercept, margin=2.0)
        zero = np.zeros(rows.shape[1])
        assert wider.n_updates_ <= certificate.mistake_bound_from(zero, margin=2.0) <= wider.report["mistake_bound"]
        assert wider.report["mistake_bound_from"].endswith("(1 + 2 margin) (R / γ)² of these rows")


def test_no_bound_is_stated_where_none_is_known():
    X, y = noisy(50, 3, 0)
    assert rb.train((X, y), passes=2).report["mistake_bound"] is None
    X, y = np.asarray([[-1.0], [1.0]]), np.asarray([0, 1])
    assert rb.train((X, y), passes=9).report["mistake_bound"] == 2
    assert rb.train((X, y, np.ones(2)), passes=9).report["mistake_bound"] is None
    assert rb.train((X, y), passes=9, class_weight={0: 2.0}).report["mistake_bound"] is None


def test_separates_is_not_claimed_of_rows_that_were_seen_once():
    X, y = noisy(50, 3, 0)
    assert rb.train((X, y)).separates_ is None
    assert rb.train((X, y), passes=2).separates_ is False


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("tie", TIES)
def test_separates_is_that_of_fit(readout, tie):
    X, y = np.asarray([[-2.0, 1], [-1, 0], [1, 0], [3, 1]]), np.asarray([0, 0, 1, 1])
    for passes in range(2, 6):
        assert_same(
            rb.train((X, y), readout=readout, tie=tie, passes=passes),
            whole(X, y, readout=readout, tie=tie, max_iter=passes),
        )


def test_rows_sorted_by_label_get_a_warning():
    X, y = noisy(300, 3, 1)
    places = np.argsort(y)
    with pytest.warns(UserWarning, match=r"sorted by label: the class changes only 1 time in .* shuffle=True"):
        rb.train((X[places], y[places]))
    assert rb.train((X[places], y[places]), shuffle=True).report["sorted_by_label"]
    assert not rb.train((X, y)).report["sorted_by_label"]


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr("rosenblatt.runs.run._TICK", 0.0)
    X, y = noisy(100, 3, 1, 3)
    told = []
    model = rb.train(cut(X, y, [50]), passes=2, progress=told.append)
    assert all(isinstance(one, Progress) for one in told)
    assert [(one.pass_, one.rows) for one in told[:2]] == [(1, 50), (1, 100)]
    assert told[-1].pass_ == 2 and told[-1].rows == 100
    assert told[1].mistakes == told[1].mistakes_in_pass == model.mistakes_per_pass_[0]
    assert told[-1].mistakes == model.n_updates_ and told[-1].mistakes_in_pass == model.mistakes_per_pass_[1]


# ---- Models ----
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("storage", ["dense", "csr_array int32"])
def test_a_model_predicts_as_its_estimator_and_is_saved_as_one(tmp_path, readout, k, storage):
    X, y = noisy(120, 5, 2, k)
    X = stored(X, "float64", storage)
    model = rb.train(cut(X, y, [40]), readout=readout, passes=2)
    estimator = model.to_estimator()
    assert model.predict(X).tolist() == estimator.predict(X).tolist()
    np.testing.assert_allclose(model.decision_function(X), estimator.decision_function(X), atol=1e-9)
    rb.save(model, tmp_path / "model")
    loaded, as_estimator = rb.load_trained(tmp_path / "model"), rb.load_model(tmp_path / "model")
    assert_same(loaded, estimator)
    assert_same(loaded, as_estimator)
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert (loaded.progressive_accuracy, loaded.training) == (model.progressive_accuracy, model.training)
    rb.save(as_estimator, tmp_path / "again")
    rb.save(loaded, tmp_path / "trained again")
    first = (tmp_path / "model").read_bytes()
    assert (tmp_path / "again").read_bytes() == first and (tmp_path / "trained again").read_bytes() == first
    as_estimator.partial_fit(X[:7], y[:7])


def test_an_estimator_can_be_loaded_as_a_trained_model(tmp_path):
    X, y = noisy(60, 4, 3, 3)
    estimator = whole(X, y, readout="average", class_weight={0: 2.0})
    rb.save(estimator, tmp_path / "model")
    loaded = rb.load_trained(tmp_path / "model")
    assert_same(loaded, estimator)
    assert loaded.training is None and loaded.progressive_accuracy is None and loaded.reading is None
    assert loaded.parameters == estimator.get_params()


def test_the_reading_options_come_back(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,kind,class\n1,x,0\n-1,y,1\n2,x,0\n-3,z,1\n")
    model = rb.train(path, bits=5, keep_names=True)
    rb.save(model, tmp_path / "model")
    loaded = rb.load_trained(tmp_path / "model")
    assert loaded.reading == model.reading and loaded.reading.bits == 5
    assert loaded.names_of_hashes == model.names_of_hashes and loaded.names_of_hashes
    assert rb.load_model(tmp_path / "model").reading_ == model.reading
    assert loaded.n_features_in_ == 32


def categories(folder, n=900):
    path = folder / "rows.csv"
    path.write_text("who,label\n" + "".join(f"user-{k},{k % 3}\n" for k in range(n)))
    return path


def test_names_that_nobody_asked_for_are_dropped_where_they_are_many(tmp_path, monkeypatch):
    path = categories(tmp_path)
    want = rb.train(path, keep_names=False)
    assert len(rb.train(open_stream(path, chunk=1000)).names_of_hashes) > 800
    monkeypatch.setattr(streams, "_MOST_UNASKED", 5000)
    with pytest.warns(
        UserWarning, match=r"names behind the hashed features take more .* are not kept.*--keep-names"
    ) as told:
        model = rb.train(open_stream(path, chunk=1000), passes=2, cache=tmp_path / "cache")
    assert len(told) == 1 and model.names_of_hashes == {}
    assert model.coef_.shape == want.coef_.shape
    with pytest.warns(UserWarning, match="names behind the hashed features"):  # from the cache, too
        again = rb.train(open_stream(path, chunk=1000), passes=2, cache=tmp_path / "cache")
    assert again.names_of_hashes == {} and again.coef_.tobytes() == model.coef_.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"keep_names": True},
            r"names behind the hashed features .* the \d\d\d so far, .* keep_names=False \(--no-keep",
        ),
        (
            {"categories": "one-hot"},
            r"names of the features .* the last of them 'who=user-\d+'.* \(--categories hash\).*--text",
        ),
    ],
)
def test_names_that_no_model_file_has_room_for_are_refused_early(tmp_path, monkeypatch, options, message):
    path = categories(tmp_path)
    monkeypatch.setattr(streams, "_MOST_ASKED", 10_000)
    monkeypatch.setattr(streams, "_MOST_NAMES", 10_000)
    rows = []
    with pytest.raises(InputError, match=message):
        rb.train(
            open_stream(path, ReadingOptions(**options), chunk=1000), progress=lambda so_far: rows.append(so_far.rows)
        )
    assert max(rows, default=0) < 900
    rb.load(path, **options)  # nothing is to be saved


def test_names_that_the_engine_has_learned_by_itself_are_counted(tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f'{{"label": {k % 2}, "é{k}": 1}}\n' for k in range(900)))
    rb.train(path)
    monkeypatch.setattr(streams, "_MOST_NAMES", 9000)
    with pytest.raises(InputError, match=r"the 900 so far, the last of them 'é899', .* \(--names hash\), or .*--text"):
        rb.train(path)


def test_features_that_were_never_seen_count_nothing():
    X, y = noisy(60, 4, 3)
    model = rb.train((sp.csr_array(X), y))
    wider = sp.csr_array(np.hstack([X, np.ones((60, 30))]))
    assert model.decision_function(wider).tolist() == model.decision_function(sp.csr_array(X)).tolist()
    with pytest.raises(InputError, match="X has 34 features, but the model has learned from 4"):
        model.predict(wider.toarray())


def test_a_vote_has_no_hyperplane():
    X, y = noisy(20, 2, 0)
    with pytest.raises(AttributeError, match="a vote has no coef_"):
        _ = rb.train((X, y), readout="vote").coef_


# ---- What is refused ----
@pytest.mark.parametrize(
    "options, message",
    [
        ({"passes": 0}, "'passes' parameter of train must be an integer of at least 1. Got 0"),
        ({"readout": "first"}, "'readout' parameter of train must be 'last' or 'average' or 'vote'"),
        ({"seed": -1}, "'seed' parameter of train must be an integer from 0 to"),
        ({"hold_out": 0.95}, "'hold_out' parameter of train"),
        ({"early_stopping": "hold-out"}, "needs rows to watch: hold_out=0.1"),
        ({"classes": [1]}, "classes must name at least two classes"),
        ({"class_weight": 3}, "class_weight must be a dict"),
        ({"class_weight": {0: 0.0}}, "leave its rows out instead"),
        ({"class_weight": {5: 1.0}}, "class_weight names \\[5\\]"),
        ({"format": "csv"}, "'format' says how files are read, and these rows come in batches"),
        ({"classes": [0, 2]}, "the rows have the class 1, which is not among classes=\\[0, 2\\]"),
    ],
)
def test_options_that_make_no_sense(options, message):
    X, y = noisy(20, 2, 0)
    with pytest.raises(InputError, match=message):
        rb.train((X, y), **options)


@pytest.mark.parametrize(
    "batches, message",
    [
        ([], "there are no rows to learn from"),
        ([([[1.0]], [1])], "at least two classes, got only one class: \\[1\\]"),
        ([([[1.0], [2.0]], [0, 1], [0.0, 0.0])], "all are held out or have weight 0"),
        ([([[1.0]], [1]), ([[1.0]], ["a"])], "batch 1 of the stream: its labels are of another kind"),
        ([([[1.0]], [1.5])], "batch 0 of the stream: y must hold classes, and 1.5 looks like a measurement"),
        (
            [([[1.0]], [0]), ([[1.0], [np.nan]], [0, 1])],
            "the rows contain NaN: row 2 of the stream .from 0., feature 0",
        ),
        ([([[1.0]], [0]), 7], "batch 1 of the stream: a batch must be \\(X, y\\) or .* got int"),
        ([([[1.0]], [0, 1])], "batch 0 of the stream: Found input variables with inconsistent numbers"),
        (7, "train takes files or an iterable of batches .*, got int"),
    ],
)
def test_streams_that_cannot_be_learned_from(batches, message):
    with pytest.raises(InputError, match=message):
        rb.train(batches)


@pytest.mark.parametrize(
    "options", [{}, {"max_updates": 1}, {"passes": 3}, {"shuffle": True}, {"multi_class": "joint"}]
)
def test_a_nan_is_found_wherever_it_is(options):
    X, y = noisy(50, 3, 0)
    X[44, 1] = np.inf
    with pytest.raises(InputError, match="infinity"):
        rb.train(cut(X, y, [20]), **options)


def test_weights_that_overflow_are_an_error():
    X = np.full((4, 1), 1e308)
    with pytest.raises(WeightOverflowError, match="scale the features down"):
        rb.train((X, [0, 1, 0, 1]), eta0=1e10)


def test_frames_must_agree_in_their_columns():
    pd = pytest.importorskip("pandas")
    one, other = pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"b": [1.0], "a": [2.0]})
    with pytest.raises(InputError, match=r"batch 1 of the stream: its columns .* are not those"):
        rb.train([(one, [0]), (other, [1])])
    model = rb.train([(one, [0]), (one.assign(c=1.0), [1])])
    assert model.feature_names == ["a", "b", "c"]


def test_nothing_heavy_is_loaded(tmp_path):
    (tmp_path / "rows.svm").write_text("1 1:1 2:3\n-1 1:-1\n" * 20)
    code = (
        "import sys, rosenblatt as rb\n"
        "model = rb.train('rows.svm', passes=2, hold_out=0.2)\n"
        "rb.save(model, 'model'); rb.load_trained('model').predict([[1.0, 2.0]])\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'sklearn', 'scipy', 'pandas', 'rich'}))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert run.stdout == "[]\n"
