"""What is measured, on which data, with which bar, and how the answers are compared."""

from __future__ import annotations

import importlib.util
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

import rosenblatt as rb
from benchmarks import data as made
from benchmarks import timing
from benchmarks.data import Data
from benchmarks.real_data import Unavailable
from benchmarks.rivals import numpy_product, scikit_learn
from benchmarks.timing import Call, Rounds, Times
from rosenblatt import _engine, inputs, learning
from rosenblatt.learner import Learner

PASSES = 5
PROCESSES = "processes, from start to exit"


@dataclass(frozen=True)
class Figure:
    """What is made of our number and the peer's, and on which side of the bar it must lie."""

    of: Callable[[float, float], float]
    reaches: Callable[[float, float], bool]
    sign: str
    unit: str = ""


SLOWER = Figure(lambda ours, peer: ours / peer, operator.le, "≤", "×")
FASTER = Figure(lambda ours, peer: peer / ours, operator.ge, "≥", "×")
EXTRA = Figure(operator.sub, operator.lt, "<", " s")
ALONE = Figure(lambda ours, peer: ours, operator.lt, "<", " s")
ITSELF = Figure(lambda ours, peer: ours, operator.le, "≤", "×")


@dataclass(frozen=True)
class Duel:
    """Two calls on data made before, and how their answers are compared: it asserts, and says what."""

    ours: Call
    peer: Call
    answers: Callable[[], str]
    kind: str = "seconds"

    def measure(self, rounds: Rounds) -> Times:
        """Both, side by side."""
        return timing.interleaved(self.ours, self.peer, rounds)


@dataclass(frozen=True)
class Memory:
    """Two fits in processes of their own: the peak of each over its input, (X + y + growth) / (X + y)."""

    ours: str
    peer: str
    prepare: str
    input_bytes: int
    kind: str = "input"

    def measure(self, rounds: Rounds) -> Times:
        """Memory does not fluctuate as time does: once."""
        growth = [timing.peak_growth(self.prepare, fit) for fit in (self.ours, self.peer)]
        ours, peer = (1 + more / self.input_bytes for more in growth)
        return Times([ours], [peer])

    def answers(self) -> str:
        """Nothing to compare: the speed cases do that for the same calls."""
        return f"input {self.input_bytes / 1e6:,.0f} MB, in a process each"


@dataclass(frozen=True)
class Case:
    """A name, the peer, a figure with its bar (None: shown only), and what makes data and calls."""

    name: str
    peer: str
    figure: Figure
    bar: float | None
    prepare: Callable[[int], Duel | Memory] = field(repr=False)  # is given the divisor of the number of rows


# One pass against one product -------------------------------------------------------------------------------


def one_pass(n: int, d: int, bar: float | None) -> Case:
    """One pass of the engine from a first guess that separates: every row is scored, none is a mistake.

    Measured is the engine's run, with its finite check; making the labels' codes is not part of a pass.
    """

    def prepare(divisor: int) -> Duel:
        data = made.dense(n // divisor, d, noisy=False)
        learner = Learner(2, d, joint=False, readout="last")
        learner.start_from(data.w[np.newaxis], np.zeros(1))
        examples = learning.Examples(inputs.rows(data.X), data.y.astype(np.int16), np.ones(2))
        rule = learning.Choices().rule()
        active = np.ones(1, bool)
        labels, weights = examples.engine_labels(learner, None), learner.engine_weights(active)
        schedule = _engine.Schedule(max_passes=1)

        def ours() -> _engine.Outcome:
            active[0] = True  # a pass without a mistake ends the problem
            return _engine.run(examples.rows.view, labels, rule, schedule, weights)

        def answers() -> str:
            outcome = ours()
            assert outcome.finite and list(outcome.mistakes_per_pass[0]) == [0], "the pass made mistakes"
            return f"no mistake in {len(data.y):,} rows; {numpy_product.same_signs(data, data.y)}"

        return Duel(ours, numpy_product.product(data), answers)

    return Case(f"pass/{n}x{d}", "numpy X @ w", SLOWER, bar, prepare)


# Whole fits -------------------------------------------------------------------------------------------------


def _dense(divisor: int, noisy: bool = True) -> Data:
    return made.dense(1_000_000 // divisor, 100, noisy=noisy)


def _sparse(divisor: int, dtype: str = "float32", noisy: bool = True) -> Data:
    return made.sparse(200_000 // divisor, 47_236, 68, dtype, noisy=noisy)


def _mnist(divisor: int) -> Data:
    return made.mnist(60_000 // divisor)


def _letters(divisor: int) -> Data:
    return made.letters(divisor)


def _accuracies(ours: Any, peer: Any, data: Data) -> str:
    """Of both on rows held out: near each other only, for on noisy data the last mistakes decide much."""
    a, b = (model.score(data.X_test, data.y_test) for model in (ours, peer))
    assert a > b - 0.1, f"held-out accuracy {a:.1%}, peer {b:.1%}"
    return f"held-out accuracy {a:.1%} / {b:.1%}"


def _order(shuffle: bool) -> str:
    return "shuffled" if shuffle else "as-stored"


def fit(what: str, load: Callable[[int], Data], shuffle: bool, bar: float | None) -> Case:
    """The whole call of ``fit``, validation included, for 5 passes."""

    def prepare(divisor: int) -> Duel:
        data = load(divisor)
        ours = rb.Perceptron(max_iter=PASSES, shuffle=shuffle, random_state=0)
        peer = scikit_learn.perceptron(max_iter=PASSES, shuffle=shuffle)

        def answers() -> str:
            seen = _accuracies(ours, peer, data)
            return seen if shuffle else f"{seen}; {scikit_learn.same_weights(data, PASSES)}"

        return Duel(lambda: ours.fit(data.X, data.y), lambda: peer.fit(data.X, data.y), answers)

    return Case(f"fit/{what}/{_order(shuffle)}", "scikit-learn", FASTER, bar, prepare)


def averaged(what: str, load: Callable[[int], Data], shuffle: bool, bar: float) -> Case:
    """What averaging costs: the same passes and mistakes, and the sums behind the average."""

    def prepare(divisor: int) -> Duel:
        data = load(divisor)
        choices = {"max_iter": PASSES, "shuffle": shuffle, "random_state": 0}
        ours, peer = rb.AveragedPerceptron(**choices), rb.Perceptron(**choices)

        def answers() -> str:
            assert np.array_equal(ours.mistakes_per_pass_, peer.mistakes_per_pass_), "other mistakes"
            return f"the same {ours.n_updates_:,} mistakes; {_accuracies(ours, peer, data)}"

        return Duel(lambda: ours.fit(data.X, data.y), lambda: peer.fit(data.X, data.y), answers)

    return Case(f"averaged/{what}/{_order(shuffle)}", "our Perceptron", SLOWER, bar, prepare)


def traced(what: str, load: Callable[[int], Data], shuffle: bool, bar: float) -> Case:
    """What keeping every mistake costs: `trace` against the same fit."""

    def prepare(divisor: int) -> Duel:
        data = load(divisor)
        choices = {"max_iter": PASSES, "shuffle": shuffle, "random_state": 0}
        peer = rb.Perceptron(**choices)

        def answers() -> str:
            trace = rb.trace(data.X, data.y, **choices)
            ends = np.asarray([trace.weights(-1, problem)[0] for problem in range(trace.n_problems)])
            assert np.array_equal(ends, peer.coef_), "the trace ends with other weights"
            return f"{trace.n_updates:,} mistakes replayed: coef_ equal"

        return Duel(lambda: rb.trace(data.X, data.y, **choices), lambda: peer.fit(data.X, data.y), answers)

    return Case(f"trace/{what}/{_order(shuffle)}", "our Perceptron", SLOWER, bar, prepare)


def one_sweep(shuffle: bool, bar: float) -> Case:
    """Ten classes in one sweep over the rows against ten fits of one class against the rest."""

    def prepare(divisor: int) -> Duel:
        data = _mnist(divisor)
        model = rb.Perceptron(max_iter=PASSES, shuffle=shuffle, random_state=0)
        models = [clone(model) for _ in range(10)]

        def peer() -> None:
            for digit, single in enumerate(models):
                single.fit(data.X, data.y == digit)

        def answers() -> str:
            apart = np.concatenate([single.coef_ for single in models])
            assert np.array_equal(model.coef_, apart), "the sweep learns other weights than ten fits"
            return f"coef_ equal; held-out accuracy {model.score(data.X_test, data.y_test):.1%}"

        return Duel(lambda: model.fit(data.X, data.y), peer, answers)

    return Case(f"mnist/one-sweep/{_order(shuffle)}", "ten fits of ours", FASTER, bar, prepare)


def two_threads(shuffle: bool) -> Case:
    """The same with ``n_jobs=2`` against one thread."""

    def prepare(divisor: int) -> Duel:
        data = _mnist(divisor)
        ours, peer = (rb.Perceptron(max_iter=PASSES, shuffle=shuffle, random_state=0, n_jobs=jobs) for jobs in (2, 1))

        def answers() -> str:
            assert np.array_equal(ours.coef_, peer.coef_), "other weights with two threads"
            return "coef_ equal"

        return Duel(lambda: ours.fit(data.X, data.y), lambda: peer.fit(data.X, data.y), answers)

    return Case(f"mnist/n_jobs=2/{_order(shuffle)}", "ours, n_jobs=1", FASTER, None, prepare)


# Memory and start-up ----------------------------------------------------------------------------------------


def memory(what: str, load: Callable[[int], Data], shuffle: bool, bar: float) -> Case:
    """The peak of a fit. A small fit before loads everything that is loaded once."""

    def prepare(divisor: int) -> Memory:
        X, y = (data := load(divisor)).X, data.y
        parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
        model = f"(max_iter={PASSES}, shuffle={shuffle})"
        source = (
            "import rosenblatt as rb\n"
            "from benchmarks import cases\n"
            "from benchmarks.rivals import scikit_learn\n"
            f"data = cases.{load.__name__}({divisor})\n"
            f"for kind in rb.Perceptron, scikit_learn.perceptron: kind{model}.fit(data.X[:99], data.y[:99])"
        )
        return Memory(
            f"rb.Perceptron{model}.fit(data.X, data.y)",
            f"scikit_learn.perceptron{model}.fit(data.X, data.y)",
            source,
            sum(part.nbytes for part in [*parts, y]),
        )

    return Case(f"memory/{what}/{_order(shuffle)}", "scikit-learn", ITSELF, bar, prepare)


def importing(what: str, statement: str, bar: float | None) -> Case:
    """A process that imports numpy and rosenblatt against one that imports numpy."""

    def prepare(divisor: int) -> Duel:
        return Duel(
            timing.process("-c", f"import numpy, rosenblatt; {statement}"),
            timing.process("-c", "import numpy"),
            lambda: PROCESSES,
        )

    return Case(f"start/{what}", "import numpy", EXTRA, bar, prepare)


def help_text(bar: float) -> Case:
    """``rosenblatt --help`` from start to exit, beside a Python that does nothing."""

    def prepare(divisor: int) -> Duel:
        if importlib.util.find_spec("rosenblatt.command_line") is None:
            raise Unavailable("rosenblatt.command_line is not there yet")
        start = "import sys; from rosenblatt.__main__ import main; sys.argv[1:] = ['--help']; main()"
        return Duel(timing.process("-c", start), timing.process("-c", "pass"), lambda: PROCESSES)

    return Case("start/rosenblatt --help", "python -c pass", ALONE, bar, prepare)


def _dense_clean(divisor: int) -> Data:
    return _dense(divisor, noisy=False)


def _sparse_clean(divisor: int) -> Data:
    return _sparse(divisor, noisy=False)


def _sparse64(divisor: int) -> Data:
    return _sparse(divisor, "float64")


# Cases on the same data stand together, so that it is made once.
CASES: list[Case] = [
    one_pass(1_000_000, 100, 1.15),
    fit("dense-clean", _dense_clean, False, 4.0),
    fit("dense-clean", _dense_clean, True, 6.0),
    one_pass(5_000_000, 20, 1.1),
    one_pass(5_000_000, 7, None),
    one_pass(60_000, 784, None),
    fit("dense", _dense, False, 4.0),
    fit("dense", _dense, True, 6.0),
    averaged("dense", _dense, False, 1.5),
    averaged("dense", _dense, True, 1.5),
    traced("dense", _dense, False, 2.0),
    traced("dense", _dense, True, 2.0),
    fit("sparse", _sparse, False, 1.5),
    fit("sparse", _sparse, True, 2.5),
    averaged("sparse", _sparse, False, 1.5),
    averaged("sparse", _sparse, True, 1.5),
    traced("sparse", _sparse, False, 2.0),
    traced("sparse", _sparse, True, 2.0),
    fit("sparse-clean", _sparse_clean, False, 1.5),
    fit("sparse-clean", _sparse_clean, True, 2.5),
    fit("sparse-float64", _sparse64, False, None),
    fit("sparse-float64", _sparse64, True, None),
    fit("newsgroups", _letters, False, None),
    fit("newsgroups", _letters, True, None),
    fit("mnist", _mnist, False, 8.0),
    fit("mnist", _mnist, True, 8.0),
    traced("mnist", _mnist, False, 2.0),
    one_sweep(False, 3.0),
    one_sweep(True, 3.0),
    two_threads(False),
    two_threads(True),
    memory("dense", _dense, True, 1.1),
    memory("sparse", _sparse, True, 1.1),
    importing("import rosenblatt", "rosenblatt.Hyperplane", 0.1),
    importing("rosenblatt.Perceptron", "rosenblatt.Perceptron", None),
    help_text(0.2),
]
