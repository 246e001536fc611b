"""Killed at any moment (SIGKILL), the same command goes on, and ends with the model of a run that was left alone."""

import contextlib
import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from strategies import noisy
from streams_of_rows import svm_text

COMMAND = """
import sys, rosenblatt as rb
from rosenblatt.reading.streams import open_stream
options = dict(readout="average", passes=4, hold_out=0.1, checkpoint="checkpoint", every=200)
options |= {kind} if sys.argv[1] == "kind" else {}
rb.train([([[1.0], [-1.0]], [1, 0])], passes=2), rb.save  # what is loaded late is loaded now
print("ready", flush=True)
rb.train(open_stream("rows.svm", chunk=4096), save_to="model", **options)
""".strip()
KINDS = {"plain": {}, "shuffled": {"shuffle": True, "shuffle_rows": 500}, "joint": {"multi_class": "joint"}}


def start(folder, kind):
    code = COMMAND.replace("{kind}", repr(kind))
    return subprocess.Popen([sys.executable, "-c", code, "kind"], cwd=folder, stdout=subprocess.PIPE)


def ended(run, seconds):
    """Whether the run came to its end before it was killed."""
    run.stdout.readline()  # so that the time is that of training, not of starting Python
    try:
        run.wait(seconds)
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
        return False
    finally:
        run.stdout.close()
    assert run.returncode == 0
    return True


def left_alone(run):
    """How many seconds a run takes, from when it is ready."""
    with run.stdout:
        run.stdout.readline()
        began = time.monotonic()
        assert run.wait() == 0
        return time.monotonic() - began


def killed_until_it_ends(folder, kind, kills, seed):
    """How often runs were killed at random moments, each run going on where the last one was, until so many kills."""
    X, y = noisy(6000, 8, 1, 4)
    y = np.minimum(y, np.arange(6000) // 1000)
    (folder / "rows.svm").write_text(svm_text(np.round(X, 3), y))
    longest = 1.5 * left_alone(start(folder, kind))
    want = (folder / "model").read_bytes()
    chance, killed, finished = random.Random(seed), 0, 0
    while killed < kills or not finished:
        (folder / "model").unlink(missing_ok=True)
        while not ended(start(folder, kind), chance.uniform(0, longest)):
            killed += 1
        finished += 1
        assert (folder / "model").read_bytes() == want
        left = {path.name for path in folder.iterdir()} - {"model", "rows.svm"}
        # A model that was being written when the process was killed; nothing of the checkpoint.
        assert not {name for name in left if not name.startswith(".rosenblatt-")}, left
    return killed


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_kills(tmp_path, kind):
    assert killed_until_it_ends(tmp_path, KINDS[kind], 4, 1) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_kills(tmp_path, kind):
    assert killed_until_it_ends(tmp_path, KINDS[kind], 334, 2) >= 334


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_process_that_is_asked_to_end_saves_first(tmp_path, name):
    X, y = noisy(3000, 8, 1, 2)
    (tmp_path / "rows.svm").write_text(svm_text(np.round(X, 3), y))
    command = ["train", "rows.svm", "-o", "model", "--average", "--passes", "300"]
    code = f"import sys; from rosenblatt.command_line import main; sys.argv[1:] = {command!r} + sys.argv[1:]; main()"
    subprocess.run([sys.executable, "-c", code, "-q"], cwd=tmp_path, check=True)
    want = (tmp_path / "model").read_bytes()
    (tmp_path / "model").unlink()
    again = [sys.executable, "-c", code, "--checkpoint", "state", "--every", "3000"]
    run = subprocess.Popen(again, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "state").exists() and run.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(0.01)
    run.send_signal(getattr(signal, name))
    said = run.communicate()[1]
    assert run.returncode == 130 and "saved to state: the same command goes on from there" in said
    resumed = subprocess.run([*again, "--json"], cwd=tmp_path, check=True, stdout=subprocess.PIPE)
    assert json.loads(resumed.stdout)["resumed_at"]["pass"] >= 1
    assert (tmp_path / "model").read_bytes() == want
