"""The engine's own pass over a file gives, to the bit, what Python gives that hands it one batch after the other."""

import itertools
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams_of_rows import svm_text

import rosenblatt as rb
from rosenblatt.errors import FileFormatError, WeightOverflowError
from rosenblatt.reading import head_start
from rosenblatt.reading.streams import open_stream
from rosenblatt.runs import stream_learning

pytestmark = pytest.mark.engine


def trained(path, *, ahead, chunk=1 << 19, reading=None, **options):
    stream = open_stream(path, reading, chunk=chunk)
    if ahead:
        stream.learn_ahead(head_start.settings_of(options))
    return rb.train(stream, **options)


def everything(model):
    state, arrays = model.to_state()
    facts = {name: value for name, value in model.report.items() if name != "seconds"}
    return state, facts, {name: (array.dtype.str, array.tolist()) for name, array in arrays.items()}


def assert_the_same(path, **options):
    alone, led = trained(path, ahead=True, **options), trained(path, ahead=False, **options)
    assert everything(alone) == everything(led)
    return alone


def rows(n, d, seed):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, d)), 2) * (rng.random((n, d)) < 0.6)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_same_model_with_and_without(data, tmp_path_factory):
    draw = data.draw
    n, seed = draw(st.integers(2, 120)), draw(st.integers(0, 2**16))
    X, rng = rows(n, draw(st.sampled_from((1, 4, 30))), seed), np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = draw(st.permutations([0, 1]))
    lone = draw(st.integers(0, n))  # the second class, and a third, appear late or never
    y[2:lone] = y[0]
    third = draw(st.one_of(st.just(n), st.integers(2, n)))
    y[third:][rng.random(n - third) < 0.3] = 2
    text, cut = svm_text(X, y).splitlines(keepends=True), draw(st.integers(1, n))
    folder = tmp_path_factory.mktemp("rows")
    paths = [folder / "a.svm", folder / "b.svm"]
    for path, part in zip(paths, (text[:cut], text[cut:]), strict=True):
        path.write_text("".join(part))
    assert_the_same(
        [path for path in paths if path.stat().st_size],
        chunk=draw(st.sampled_from((20, 300, 1 << 19))),
        readout=draw(st.sampled_from(("last", "average"))),
        fit_intercept=draw(st.booleans()),
        eta0=draw(st.sampled_from((1.0, 0.3))),
        margin=draw(st.sampled_from((0.0, 0.0, 0.5, 2.0))),
        passes=draw(st.sampled_from((1, 1, 2, 4))),
    )


@pytest.fixture
def no_lessons(monkeypatch):
    """Python hands no batch to the engine."""

    def learn(*_, **__):
        raise AssertionError("a batch was learned from")

    monkeypatch.setattr(stream_learning.Lesson, "learn", learn)


def test_a_plain_file_is_learned_from_by_the_engine_alone(tmp_path, no_lessons):
    path = tmp_path / "rows.svm"
    X, y = rows(500, 20, 0), np.arange(500) % 2
    path.write_text(svm_text(X, y))
    model = rb.train(path, readout="average")
    want = rb.AveragedPerceptron(max_iter=1, shuffle=False).fit(*rb.load(path))
    assert model.coef_.tolist() == want.coef_.tolist() and model.n_updates_ == want.n_updates_
    assert model.training["counts"] == [250, 250]


@pytest.mark.parametrize(
    "options",
    [
        {"cache": "rows.cache"}, {"checkpoint": "run.state"}, {"shuffle": True}, {"readout": "vote"},
        {"tie": "positive"}, {"classes": [0, 1]}, {"hold_out": 0.2}, {"max_updates": 3},
        {"class_weight": {0: 2.0, 1: 1.0}}, {"multi_class": "joint"}, {"early_stopping": "progressive"},
    ],
)  # fmt: skip
def test_what_the_engine_does_not_do_alone_it_is_not_asked_for(tmp_path, options):
    assert head_start.settings_of(options) is None
    options |= {name: tmp_path / options[name] for name in ("cache", "checkpoint") if name in options}
    path = tmp_path / "rows.svm"
    path.write_text(svm_text(rows(60, 5, 1), np.arange(60) % 2))
    assert_the_same(path, **options)


TABLE = "kind,a,b,words\n" + "".join(f"{'yes' if i % 3 else 'no'},{i % 7 - 3},{i % 5},w{i % 4} x\n" for i in range(90))


@pytest.mark.parametrize(
    ("name", "text", "reading"),
    [
        ("dense.csv", "".join(",".join(line.split(",")[:3]) + "\n" for line in TABLE.splitlines()), {"label": "kind"}),
        ("words.csv", TABLE, {"label": "kind", "text": ("words",), "bits": 10}),
        ("named.csv", TABLE, {"label": "kind", "text": ("words",), "bits": 10, "keep_names": True}),
        ("one-hot.csv", TABLE, {"label": "kind", "categorical": ("words",)}),
        ("weighted.csv", TABLE, {"label": "kind", "weight": "b", "ignore": ("words",)}),
        ("rows.json", "".join(f'{{"label": {i % 2}, "f{i % 9}": {i % 4}}}\n' for i in range(80)), {}),
        ("rows.vw", "".join(f"{1 if i % 2 else -1} {'0.5 ' if i > 60 else ''}| a{i % 9}:{i}\n" for i in range(80)), {}),
        ("signs.svm", "".join(f"{'+1' if i > 40 else ('1', '-1')[i % 2]} 1:{i % 4} 2:1\n" for i in range(80)), {}),
        ("one.svm", "".join(f"{('+1', '1')[i % 2] if i < 60 else '-1'} 1:{i % 4} 2:1\n" for i in range(80)), {}),
        ("empty.svm", "1\n-1\n" * 9, {}),
        ("skip.svm", "1 1:2\n-1 1:x\n" * 9 + "-1 1:1\n", {"bad_lines": "skip"}),
    ],
)
@pytest.mark.parametrize("chunk", [64, 1 << 19])
def test_every_format(tmp_path, name, text, reading, chunk):
    from rosenblatt.reading.options import ReadingOptions

    path = tmp_path / name
    path.write_text(text)
    for passes in (1, 3):
        assert_the_same(path, chunk=chunk, reading=ReadingOptions(**reading), readout="average", passes=passes)


def test_rows_for_later_passes_are_handed_on_in_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(head_start, "_PIECE", 200)
    monkeypatch.setattr(head_start, "_WAITING", 1000)
    path = tmp_path / "rows.svm"
    path.write_text(svm_text(rows(3000, 8, 5), np.arange(3000) % 2))
    # Far more rows than may wait to be taken, whoever is ahead.
    model = assert_the_same(path, chunk=64, readout="average", passes=3, margin=1.0)
    want = rb.AveragedPerceptron(max_iter=3, shuffle=False, margin=1.0).fit(*rb.load(path))
    assert model.coef_.tolist() == want.coef_.tolist()


def test_a_run_that_is_given_up_while_rows_wait_to_be_taken_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(head_start, "_PIECE", 200)
    monkeypatch.setattr(head_start, "_WAITING", 1000)
    path = tmp_path / "rows.svm"
    path.write_text(svm_text(rows(3000, 8, 5), np.arange(3000) % 2))
    stream = open_stream(path, chunk=64)
    stream.learn_ahead(head_start.settings_of({"passes": 2}))
    reader = stream._ready.reader
    assert reader.take(10.0) is not None and not reader.wait(0.0)
    with pytest.raises(ValueError, match="wait to be taken"):
        reader.next()
    stream.close()


@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize(
    ("line", "error"),
    [("-1 1:x", FileFormatError), ("nan 1:2", FileFormatError), ("-1 1:1e308 2:1e308", WeightOverflowError)],
)
def test_what_goes_wrong_is_told_as_without(tmp_path, line, error, passes):
    path = tmp_path / "rows.svm"
    text = "".join(f"{1 if i % 2 else -1} 1:{i % 4} 2:1\n" for i in range(40))
    path.write_text(f"{text}{line}\n{text}")
    messages = []
    for ahead in (True, False):
        with pytest.raises(error) as raised:
            trained(path, ahead=ahead, chunk=64, passes=passes)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_rows_of_one_class_are_refused_as_without(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2\n" * 30)
    with pytest.raises(rb.errors.InputError, match="only one class"):
        rb.train(path)


class Slow:
    """A reader that is not ready when it is first asked, as with a large file."""

    def __init__(self, reader, looks):
        self._reader, self._looks = reader, looks

    def __getattr__(self, name):
        return getattr(self._reader, name)

    def wait(self, seconds):
        self._looks -= 1
        return self._looks < 0 and self._reader.wait(10)


@pytest.fixture
def slow_stream(tmp_path, monkeypatch):
    clock = itertools.count()  # a second passes with each look
    monkeypatch.setattr("rosenblatt.runs.run.time.monotonic", lambda: next(clock))
    path = tmp_path / "rows.svm"
    path.write_text(svm_text(rows(300, 5, 2), np.arange(300) % 2))
    stream = open_stream(path)
    stream.learn_ahead(head_start.settings_of({}))
    stream._ready.reader = Slow(stream._ready.reader, 20)
    return stream


def test_how_far_the_engine_is_can_be_seen(slow_stream):
    seen = []
    model = rb.train(slow_stream, progress=seen.append)
    assert len(seen) >= 20 and seen[0].pass_ == 1 and seen[-1].rows <= 300
    assert seen[-1].mistakes <= model.n_updates_ and model.training["rows"] == 300


def test_ctrl_c_is_heard_while_the_engine_learns(slow_stream):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            rb.train(slow_stream, progress=lambda _: signal.raise_signal(signal.SIGINT))
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_options_than_it_was_begun_with_begin_anew(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text(svm_text(rows(80, 5, 3), np.arange(80) % 2))
    stream = open_stream(path)
    stream.learn_ahead(head_start.settings_of({"readout": "average"}))
    assert everything(rb.train(stream, eta0=0.5)) == everything(trained(path, ahead=False, eta0=0.5))


def test_a_reader_learns_once_and_as_it_can(tmp_path):
    from rosenblatt import _engine

    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n-1 1:-1\n")
    with path.open("rb") as file:
        reader = _engine.Reader(file.fileno(), _engine.ParseOptions("libsvm"))
        with pytest.raises(ValueError, match="does not learn"):
            reader.wait(0.0)
        with pytest.raises(ValueError, match="a score of 0 is a mistake"):
            reader.learn(_engine.Rule(tie=_engine.Tie.positive, fit_intercept=True), average=False, width=0)
        rule = _engine.Rule(tie=_engine.Tie.mistake, fit_intercept=True)
        reader.learn(rule, average=False, width=0)
        with pytest.raises(ValueError, match="already"):
            reader.learn(rule, average=False, width=0)
        assert reader.wait(10.0)
        learned = reader.learned()
        assert learned["counts"] == (1, 1) and learned["whole"] and reader.next() is None
        assert learned["late_weights"] is None and learned["weights"][:2].tolist() == [0.0, -2.0]
        reader.close()


def test_without_a_thread_for_it_the_rows_are_learned_from_as_they_come(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1 2:0.5\n-1 1:-1\n1 2:2\n" * 20)
    want = rb.train(path, passes=2)

    def no_thread(*_):
        raise RuntimeError("Resource temporarily unavailable")

    monkeypatch.setattr(head_start, "begin", no_thread)
    found = rb.train(path, passes=2)
    assert found.learner.weights.tolist() == want.learner.weights.tolist()
    assert found.n_updates_ == want.n_updates_
