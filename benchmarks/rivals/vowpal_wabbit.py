"""Vowpal Wabbit 9, from its PyPI package ``vowpalwabbit``: whole processes that learn from a file and save a model.

The package has a library and no program, so a Python starts it: its extension module alone, which loads in a few
milliseconds, not the package around it. Its weights are float32; it learns with the hinge loss and steps of their own
for each feature (its defaults), so it learns from rows that are right but near the plane too. Its indices of features
are the numbers themselves, modulo 2^18; words are hashed to 18 bits, as ours are. It reads in a second thread.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import timing
from benchmarks.real_data import Unavailable
from benchmarks.timing import Call

_RUN = "import sys, pylibvw; vw = pylibvw.vw(sys.argv[1:]); vw.run_parser(); vw.finish()"
BITS = 18


def require() -> None:
    """`Unavailable` if the package is not installed."""
    if importlib.util.find_spec("pylibvw") is None:
        raise Unavailable("Vowpal Wabbit is not installed: pip install vowpalwabbit")


def train(data: Path, model: Path, *, passes: int = 1, classes: int = 2) -> Call:
    """From the file to a saved model. Several passes need its cache, made anew, and its hold-out of a tenth off."""
    require()
    bits = BITS + ((classes - 1).bit_length() if classes > 2 else 0)  # all its classes share one table of weights
    arguments = ["-d", str(data), "-f", str(model), "-b", str(bits), "--no_stdin", "--quiet"]
    arguments += ["--loss_function", "hinge"] + (["--oaa", str(classes)] if classes > 2 else [])
    if passes > 1:
        arguments += ["--passes", str(passes), "--holdout_off", "-c", "-k", "--cache_file", f"{model}.cache"]
    return timing.process("-c", _RUN, *arguments)


def accuracy(model: Path, data: Path) -> float:
    """The share of the rows of a file that a saved model predicts right."""
    predictions = model.with_suffix(".predictions")
    arguments = ["-t", "-i", str(model), "-d", str(data), "-p", str(predictions), "--no_stdin", "--quiet"]
    subprocess.run([sys.executable, "-c", _RUN, *arguments], check=True)
    predicted, labels = _first_numbers(predictions), _first_numbers(data)
    if labels.min() < 0:
        predicted = np.where(predicted > 0, 1.0, -1.0)
    return float(np.mean(predicted == labels))


def _first_numbers(path: Path) -> NDArray[np.float64]:
    with path.open("rb") as lines:
        return np.array([float(line.split(None, 1)[0]) for line in lines])
