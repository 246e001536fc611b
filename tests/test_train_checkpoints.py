"""A run that goes on from a checkpoint ends with the same bytes; what is damaged or of another run is refused."""

import errno
import os
import signal
import threading

import numpy as np
import pytest
from standard_input import from_pipe
from strategies import noisy
from streams_of_rows import cut, svm_text

import rosenblatt as rb
from rosenblatt import model_file
from rosenblatt.errors import CheckpointError, InputError
from rosenblatt.reading import streams
from rosenblatt.reading.streams import open_stream
from rosenblatt.runs import checkpoints


class Killed(BaseException):
    """What ends a run at a place of our choice, as if the process had been killed there."""


def bytes_of(model, folder):
    path = folder / "bytes of a model"
    rb.save(model, path)
    return path.read_bytes()


def killed_at(monkeypatch, number):
    """Let the process die just after the number-th checkpoint was written."""
    written, save = [], checkpoints.Checkpoint.save

    def save_and_die(self, state, arrays):
        save(self, state, arrays)
        if "probe" not in state:
            written.append(state)
            if len(written) == number:
                raise Killed

    monkeypatch.setattr(checkpoints.Checkpoint, "save", save_and_die)
    return written


RUNS = {
    "one pass": {},
    "average": {"readout": "average", "passes": 3},
    "vote": {"readout": "vote", "passes": 3},
    "joint": {"multi_class": "joint", "passes": 2, "readout": "average"},
    "told": {"classes": [0, 1, 2, 3], "passes": 2},
    "shuffled": {"shuffle": True, "passes": 3, "readout": "average"},
    "shuffled in a small buffer": {"shuffle": True, "shuffle_rows": 100, "passes": 2},
    "held out": {"hold_out": 0.2, "passes": 3},
    "early stopping": {
        "hold_out": 0.2,
        "passes": 12,
        "early_stopping": "hold-out",
        "patience": 2,
        "readout": "average",
    },
    "early stopping of a vote": {"passes": 9, "early_stopping": "progressive", "patience": 1, "readout": "vote"},
    "balanced, budget": {"class_weight": "balanced", "max_updates": 60, "passes": 4},
    "positive ties": {"tie": "positive", "passes": 2},
    "margin": {"margin": 0.7, "passes": 2, "readout": "average"},
}


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS.keys())
@pytest.mark.parametrize("k", [2, 4])
def test_killed_at_any_checkpoint_a_run_ends_with_the_same_bytes(tmp_path, monkeypatch, options, k):
    monkeypatch.setattr("rosenblatt.runs.run._SETTLED", 70)
    X, y = noisy(300, 5, k, k)
    y = np.minimum(y, np.arange(300) // 60)  # classes appear late
    X[np.abs(X) < 0.5] = 0
    path, checkpoint = tmp_path / "rows.svm", tmp_path / "checkpoint"
    path.write_text(svm_text(X, y))
    options = dict(options)
    if "classes" in options:
        options["classes"] = range(k)

    def run(**more):
        return rb.train(open_stream(path, chunk=1500), **options, **more)

    want = bytes_of(run(), tmp_path)
    number = 1
    while True:
        with monkeypatch.context() as patch:
            written = killed_at(patch, number)
            try:
                run(checkpoint=checkpoint, every=50)
                break  # there are fewer checkpoints than this
            except Killed:
                assert len(written) == number
        assert checkpoint.exists()
        assert bytes_of(run(checkpoint=checkpoint, every=77), tmp_path) == want
        assert sorted(file.name for file in tmp_path.iterdir()) == ["bytes of a model", "rows.svm"]
        number += 1 if number < 4 else 3
    assert number > 2


@pytest.mark.parametrize("options", RUNS.values(), ids=RUNS.keys())
def test_a_model_that_cannot_be_saved_costs_no_work(tmp_path, monkeypatch, options):
    X, y = noisy(300, 5, 3, 4)
    path, checkpoint, model = tmp_path / "rows.svm", tmp_path / "checkpoint", tmp_path / "model"
    path.write_text(svm_text(X, y))
    want = bytes_of(rb.train(path, **options), tmp_path)
    save = model_file.save

    def full(*_):
        assert checkpoint.exists() or options.get("passes", 1) == 1
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(model))

    monkeypatch.setattr("rosenblatt.training.save", full)
    with pytest.raises(OSError, match="No space left"):
        rb.train(path, checkpoint=checkpoint, every=100, save_to=model, **options)
    assert checkpoint.exists() and not model.exists()
    monkeypatch.setattr("rosenblatt.training.save", save)
    visited = []
    again = rb.train(path, checkpoint=checkpoint, save_to=model, progress=visited.append, **options)
    assert model.read_bytes() == bytes_of(again, tmp_path) == want
    assert again.report["resumed_at"] is not None and not visited
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bytes of a model", "model", "rows.svm"]


def test_killed_again_and_again(tmp_path, monkeypatch):
    X, y = noisy(300, 5, 1, 3)
    path, checkpoint = tmp_path / "rows.svm", tmp_path / "checkpoint"
    path.write_text(svm_text(X, y))
    options = {"readout": "average", "passes": 3, "hold_out": 0.1}
    want = bytes_of(rb.train(open_stream(path, chunk=1000), **options), tmp_path)
    kills = 0
    while True:
        with monkeypatch.context() as patch:
            killed_at(patch, 2)
            try:
                model = rb.train(open_stream(path, chunk=1000), checkpoint=checkpoint, every=30, **options)
                break
            except Killed:
                kills += 1
    assert kills > 5 and bytes_of(model, tmp_path) == want


@pytest.mark.parametrize("options", [{}, {"passes": 3}, {"shuffle": True, "passes": 2}])
def test_batches_in_memory(tmp_path, monkeypatch, options):
    X, y = noisy(200, 4, 2, 3)
    batches, checkpoint = cut(X, y, range(20, 200, 20)), tmp_path / "checkpoint"
    want = bytes_of(rb.train(iter(batches), **options), tmp_path)
    for number in range(1, 6):
        with monkeypatch.context() as patch:
            killed_at(patch, number)
            with pytest.raises(Killed):
                rb.train(iter(batches), checkpoint=checkpoint, every=35, **options)
        assert bytes_of(rb.train(iter(batches), checkpoint=checkpoint, every=35, **options), tmp_path) == want


def test_names_that_were_dropped_stay_dropped(tmp_path, monkeypatch):
    path, checkpoint = tmp_path / "rows.csv", tmp_path / "checkpoint"
    path.write_text("who,label\n" + "".join(f"user-{k},{k % 3}\n" for k in range(900)))
    monkeypatch.setattr(streams, "_MOST_UNASKED", 9000)
    warned = pytest.warns(UserWarning, match="names behind the hashed features")
    with monkeypatch.context() as patch:
        written = killed_at(patch, 4)
        with warned, pytest.raises(Killed):
            rb.train(open_stream(path, chunk=1000), checkpoint=checkpoint, every=100)
    dropped = [state["met"]["hashed_names"] is None for state in written]
    assert not dropped[0] and dropped[-1]
    with pytest.warns(UserWarning, match="names behind the hashed features"):
        model = rb.train(open_stream(path, chunk=1000), checkpoint=checkpoint, every=100)
    assert model.names_of_hashes == {} and model.report["resumed_at"]["row"] > 400


def test_standard_input_cannot_be_gone_on_with(tmp_path):
    refused = pytest.raises(InputError, match=r"standard input or a pipe cannot go on .* \(--checkpoint\) out")
    with from_pipe(b"1 1:1\n-1 1:-1\n"), refused:
        rb.train("-", checkpoint=tmp_path / "checkpoint")
    assert not list(tmp_path.iterdir())


def test_a_run_that_went_on_says_so(tmp_path, monkeypatch):
    path, checkpoint = stopped(tmp_path, monkeypatch, number=2)
    model = rb.train(open_stream(path, chunk=1000), checkpoint=checkpoint, every=30)
    assert model.report["resumed_at"]["pass"] == 1 and 0 < model.report["resumed_at"]["row"] < 200
    assert rb.train(path).report["resumed_at"] is None


def test_a_finished_run_does_not_mind_that_its_rows_are_gone(tmp_path):
    path, checkpoint = tmp_path / "rows.svm", tmp_path / "checkpoint"
    path.write_text(svm_text(*noisy(100, 3, 3)))

    def remove(progress):
        (tmp_path / "checkpoint.cache").unlink(missing_ok=True)

    rb.train(path, checkpoint=checkpoint, passes=30, shuffle=True, progress=remove)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rows.svm"]


def test_rows_that_a_killed_run_has_left_are_removed_by_the_next_one(tmp_path, monkeypatch):
    path, checkpoint = stopped(tmp_path, monkeypatch, passes=3, hold_out=0.2)
    checkpoint.unlink()
    rb.train(path, checkpoint=checkpoint)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rows.svm"]


def test_a_cache_is_known_by_the_data_that_it_was_begun_with(tmp_path):
    path, cache = tmp_path / "rows.svm", tmp_path / "cache"
    X, y = noisy(100, 3, 3)
    path.write_text(svm_text(X, y))

    def flip(progress):
        path.write_text(svm_text(X, 1 - y))

    rb.train(path, cache=cache, passes=30, shuffle=True, progress=flip)
    path.write_text(svm_text(X, 1 - y))
    found = rb.train(path, cache=cache, passes=3)
    assert found.learner.weights.tolist() == rb.train(path, passes=3).learner.weights.tolist()


@pytest.mark.parametrize("beside", ["checkpoint.cache", "checkpoint.cache.held-out", "checkpoint.tmp"])
def test_what_stands_beside_a_checkpoint_and_is_none_of_its_files_stays(tmp_path, beside):
    path, mine = tmp_path / "rows.svm", tmp_path / beside
    path.write_text(svm_text(*noisy(50, 3, 3)))
    mine.write_text("precious notes")
    with pytest.raises(CheckpointError, match=r"is not a cache of rows|is another file"):
        rb.train(path, checkpoint=tmp_path / "checkpoint", passes=2, hold_out=0.2)
    assert mine.read_text() == "precious notes"


def test_a_file_that_changed_in_the_middle_is_another_file(tmp_path, monkeypatch):
    path, checkpoint = stopped(tmp_path, monkeypatch, passes=2)
    os.utime(path, ns=(1, 1))  # as if changed between its ends, of which the bytes are looked at
    with pytest.raises(CheckpointError, match="other data"):
        rb.train(path, checkpoint=checkpoint, passes=2)


def stopped(tmp_path, monkeypatch, rows=None, number=3, **options):
    """A checkpoint of a run that was killed."""
    X, y = noisy(200, 4, 3)
    path, checkpoint = tmp_path / "rows.svm", tmp_path / "checkpoint"
    if not path.exists():
        path.write_text(svm_text(X, y))
    with monkeypatch.context() as patch:
        killed_at(patch, number)
        source = open_stream(path, chunk=1000) if rows is None else rows
        with pytest.raises(Killed):
            rb.train(source, checkpoint=checkpoint, every=30, **options)
    return path, checkpoint


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"passes": 3}, r"checkpoint is of a run with other options \(passes\). Give the same data and options"),
        ({"passes": 2, "seed": 1}, r"other options \(seed\)"),
        ({"passes": 2, "cache": "elsewhere"}, "other cache"),
    ],
)
def test_other_options_are_refused(tmp_path, monkeypatch, changed, message):
    path, checkpoint = stopped(tmp_path, monkeypatch, passes=2)
    with pytest.raises(CheckpointError, match=message):
        rb.train(path, checkpoint=checkpoint, **changed)
    assert checkpoint.exists()


def test_other_data_are_refused(tmp_path, monkeypatch):
    path, checkpoint = stopped(tmp_path, monkeypatch, passes=2)
    text = path.read_text()
    path.write_text(text.replace("1:", "2:", 1))
    with pytest.raises(CheckpointError, match="other data"):
        rb.train(path, checkpoint=checkpoint, passes=2)
    with pytest.raises(CheckpointError, match="other data"):
        rb.train([([[1.0]], [0])], checkpoint=checkpoint, passes=2)
    path.write_text(text)
    with pytest.raises(CheckpointError, match="reading options"):
        rb.train(path, checkpoint=checkpoint, passes=2, index_base=0)


def test_other_batches_are_refused(tmp_path, monkeypatch):
    X, y = noisy(200, 4, 3)
    _, checkpoint = stopped(tmp_path, monkeypatch, rows=cut(X, y, range(20, 200, 20)))
    other = X.copy()
    other[7, 2] += 1
    with pytest.raises(rb.errors.InputError, match="these are not the rows that the checkpoint was made with"):
        rb.train(cut(other, y, range(20, 200, 20)), checkpoint=checkpoint)
    for batches in (cut(X, y, [199]), cut(X[:50], y[:50], [])):
        with pytest.raises(rb.errors.InputError, match="these are not the rows"):
            rb.train(batches, checkpoint=checkpoint)


@pytest.mark.parametrize("place", [8, 300, -200, -1])
def test_a_damaged_checkpoint_is_refused(tmp_path, monkeypatch, place):
    path, checkpoint = stopped(tmp_path, monkeypatch, passes=2)
    content = bytearray(checkpoint.read_bytes())
    content[place] ^= 4
    checkpoint.write_bytes(content)
    with pytest.raises(
        CheckpointError, match=r"cannot be gone on from: .* Name another file, or delete it to begin anew"
    ):
        rb.train(path, checkpoint=checkpoint, passes=2)
    checkpoint.write_bytes(content[:100])
    with pytest.raises(CheckpointError, match="cannot be gone on from"):
        rb.train(path, checkpoint=checkpoint, passes=2)


def test_a_model_is_no_checkpoint(tmp_path):
    X, y = noisy(20, 2, 0)
    rb.save(rb.train((X, y)), tmp_path / "model")
    with pytest.raises(CheckpointError, match="it is not a checkpoint of this version"):
        rb.train((X, y), checkpoint=tmp_path / "model")


def test_a_damaged_or_missing_cache_is_refused(tmp_path, monkeypatch):
    path, checkpoint = stopped(tmp_path, monkeypatch, passes=3, number=9)
    cache = tmp_path / "checkpoint.cache"
    content = cache.read_bytes()
    for place in (100, len(content) // 2, len(content) - 1):
        damaged = bytearray(content)
        damaged[place] ^= 1
        cache.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"checkpoint\.cache (is damaged|does not hold)"):
            rb.train(path, checkpoint=checkpoint, passes=3)
    cache.write_bytes(content[:-64])
    with pytest.raises(CheckpointError, match="damaged"):
        rb.train(path, checkpoint=checkpoint, passes=3)
    cache.unlink()
    with pytest.raises(CheckpointError, match=r"checkpoint\.cache, with the rows of the checkpoint, is gone"):
        rb.train(path, checkpoint=checkpoint, passes=3)


# ---- Disks ----
def test_a_path_that_cannot_be_written_is_found_before_training(tmp_path):
    def rows():
        raise AssertionError("a row was asked for")
        yield

    for where in ("nowhere/checkpoint", "."):
        with pytest.raises(OSError, match="the checkpoint cannot be written"):
            rb.train(rows(), checkpoint=tmp_path / where)
    with pytest.raises(OSError, match="rows cannot be kept there"):
        rb.train(rows(), passes=2, folder=tmp_path / "nowhere")
    with pytest.raises(OSError, match="rows cannot be kept there"):
        rb.train(rows(), passes=2, cache=tmp_path / "nowhere" / "cache")


@pytest.mark.parametrize("options", [{}, {"passes": 2}])
def test_a_full_disk_leaves_the_last_good_checkpoint(tmp_path, monkeypatch, options):
    X, y = noisy(200, 4, 3)
    path, checkpoint = tmp_path / "rows.svm", tmp_path / "checkpoint"
    path.write_text(svm_text(X, y))
    want = bytes_of(rb.train(path, **options), tmp_path)
    with monkeypatch.context() as patch:
        writes, write = [], model_file.write_atomically

        def full(target, content, **how):
            writes.append(target)
            if len(writes) == 4:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            write(target, content, **how)

        patch.setattr(checkpoints, "write_atomically", full)
        with pytest.raises(OSError, match="the checkpoint cannot be written: No space left"):
            rb.train(open_stream(path, chunk=1000), checkpoint=checkpoint, every=30, **options)
    assert checkpoint.exists()
    assert bytes_of(rb.train(path, checkpoint=checkpoint, **options), tmp_path) == want


def test_a_cache_on_a_full_disk_says_where(monkeypatch):
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no disk that is always full")
    from rosenblatt.runs.row_cache import RowCache

    with pytest.raises(OSError, match=r"No space left on device .the rows are kept there for later passes"):
        RowCache("/dev/full")


# ---- Ctrl-C ----
def test_ctrl_c_saves_first(tmp_path):
    X, y = noisy(400, 4, 5)
    batches, checkpoint = cut(X, y, range(20, 400, 20)), tmp_path / "checkpoint"
    want = bytes_of(rb.train(batches, passes=2), tmp_path)

    def pressing():
        for number, batch in enumerate(batches):
            if number == 7:
                signal.raise_signal(signal.SIGINT)
            yield batch

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            rb.train(pressing(), passes=2, checkpoint=checkpoint)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert checkpoint.exists()
    assert bytes_of(rb.train(batches, passes=2, checkpoint=checkpoint), tmp_path) == want


def test_ctrl_c_in_a_later_pass_saves_first(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.runs.run._TICK", 0.0)
    X, y = noisy(400, 4, 5)
    checkpoint = tmp_path / "checkpoint"
    want = bytes_of(rb.train((X, y), passes=6), tmp_path)

    def press(progress):
        if progress.pass_ == 3:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            rb.train((X, y), passes=6, checkpoint=checkpoint, progress=press)
    finally:
        signal.signal(signal.SIGINT, before)
    told = []
    assert bytes_of(rb.train((X, y), passes=6, checkpoint=checkpoint, progress=told.append), tmp_path) == want
    assert min(one.pass_ for one in told) >= 3  # the first passes were not made again


def test_a_run_in_another_thread_leaves_the_signal_alone():
    X, y = noisy(50, 3, 0)
    models = []
    thread = threading.Thread(target=lambda: models.append(rb.train((X, y), passes=2)))
    thread.start()
    thread.join()
    assert models[0].n_iter_ == 2


# ---- A cache that stays ----
def test_a_named_cache_is_used_again_for_the_same_files(tmp_path, monkeypatch):
    X, y = noisy(300, 5, 6, 3)
    path, cache = tmp_path / "rows.svm", tmp_path / "cache"
    path.write_text(svm_text(X, y))
    options = {"readout": "average", "hold_out": 0.2}
    want = rb.train(path, passes=3, **options)
    first = rb.train(path, passes=1, cache=cache, **options)
    assert cache.exists()
    made = cache.read_bytes()

    def not_again(*_):
        raise AssertionError("the file was parsed again")

    with monkeypatch.context() as patch:
        patch.setattr("rosenblatt.runs.row_sources.FileSource.batches", not_again)
        again = rb.train(path, passes=1, cache=cache, **options)
        assert bytes_of(again, tmp_path) != b"" and again.learner.weights.tolist() == first.learner.weights.tolist()
        assert again.training == first.training and again.separates_ is first.separates_ is False
        assert bytes_of(rb.train(path, passes=3, cache=cache, **options), tmp_path) == bytes_of(want, tmp_path)
        assert rb.train(path, passes=2, cache=cache, readout="vote", hold_out=0.2).n_iter_ == 2
        shuffled = rb.train(path, passes=2, cache=cache, shuffle=True, hold_out=0.2)
    assert bytes_of(shuffled, tmp_path) == bytes_of(rb.train(path, passes=2, shuffle=True, hold_out=0.2), tmp_path)
    assert cache.read_bytes() == made
    rb.train(path, passes=2, cache=cache, hold_out=0.1)  # other rows are held out: it is made anew
    assert cache.read_bytes() != made


def test_a_named_cache_and_a_checkpoint(tmp_path, monkeypatch):
    path, checkpoint = stopped(tmp_path, monkeypatch, passes=3, cache=tmp_path / "cache", number=9)
    want = bytes_of(rb.train(path, passes=3), tmp_path)
    for _ in range(2):  # the second time all rows come from the cache
        model = rb.train(path, passes=3, cache=tmp_path / "cache", checkpoint=checkpoint, every=30)
        assert bytes_of(model, tmp_path) == want and not checkpoint.exists()
        stopped(tmp_path, monkeypatch, passes=3, cache=tmp_path / "cache", number=4)


def test_a_file_that_is_no_cache_is_not_written_over(tmp_path):
    path, cache = tmp_path / "rows.svm", tmp_path / "precious"
    path.write_text("1 1:1\n-1 1:-1\n")
    cache.write_text("do not lose this")
    with pytest.raises(CheckpointError, match="precious is not a cache of rows: name another file, or delete it"):
        rb.train(path, cache=cache)
    with pytest.raises(CheckpointError, match="precious is not a cache"):
        rb.train(noisy(20, 2, 0), cache=cache)
    assert cache.read_text() == "do not lose this"
