"""The kernel perceptron: one pass beside numpy, training to an error beside LIBSVM, memory on an endless stream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

import rosenblatt as rb
from benchmarks import data as made
from benchmarks import timing
from benchmarks.cases import FASTER, SLOWER, Case, Duel
from benchmarks.rivals import numpy_kernel
from benchmarks.timing import Rounds, Times

ROWS, FEW = 1_000_000, 100_000  # of a stream


def one_pass(degree: int, bar: float) -> Case:
    """All ten digits in one pass, as stored, beside the blocks of 500 rows that one writes in numpy."""

    def prepare(divisor: int) -> Duel:
        data = made.mnist(60_000 // divisor)
        model = rb.KernelPerceptron(degree=degree, gamma=1.0, coef0=1.0, max_iter=1, shuffle=False, readout="last")
        found: list[numpy_kernel.Run] = []

        def peer() -> None:
            found[:] = [numpy_kernel.one_pass(data.X, data.y, 10, degree)]

        def answers() -> str:
            (run,) = found
            assert abs(model.n_updates_ / run.mistakes - 1) < 0.02, (
                f"{model.n_updates_:,} and {run.mistakes:,} mistakes"
            )
            error, other = 1 - model.score(data.X_test, data.y_test), run.error(data, degree)
            voted = 1 - model.set_params(readout="vote").score(data.X_test, data.y_test)
            model.set_params(readout="last")
            counts = f"{model.n_updates_:,} / {run.mistakes:,} mistakes"
            return f"{counts}; test error {error:.2%} / {other:.2%} (vote {voted:.2%})"

        return Duel(lambda: model.fit(data.X, data.y), peer, answers)

    return Case(f"kernel/mnist/one-pass/degree={degree}", "numpy, blocks of 500", FASTER, bar, prepare)


@dataclass(frozen=True)
class Patient(Duel):
    """A peer that takes a minute is called once; ours three times, and the slowest counts."""

    def measure(self, rounds: Rounds) -> Times:
        """No warm-up of the peer: it has none."""
        with timing.threadpool_limits(1, user_api="blas"):
            return Times([max(timing.seconds(self.ours) for _ in range(3))], [timing.seconds(self.peer)])


def to_error(passes: int, C: float, bar: float) -> Case:
    """20,000 digits, fitted, and the 10,000 test digits predicted, to an error no larger than that of ``SVC``."""

    def prepare(divisor: int) -> Duel:
        data = made.mnist(20_000 // divisor)
        ours = rb.KernelPerceptron(degree=2, gamma=1.0, coef0=1 / 255**2, max_iter=passes, random_state=0)
        peer = SVC(kernel="poly", degree=2, C=C, cache_size=1000)
        predicted: dict[str, np.ndarray] = {}

        def call(name: str, model: rb.KernelPerceptron | SVC) -> Callable[[], None]:
            return lambda: predicted.__setitem__(name, model.fit(data.X, data.y).predict(data.X_test))

        def answers() -> str:
            error, other = (float(np.mean(predicted[name] != data.y_test)) for name in ("ours", "peer"))
            assert error <= other or divisor > 1, f"test error {error:.2%}, that of SVC {other:.2%}"
            return f"test error {error:.2%} in {passes} passes / {other:.2%}"

        return Patient(call("ours", ours), call("peer", peer), answers)

    return Case(f"kernel/mnist-20000/to-error/C={C:g}", f"SVC(C={C:g})", FASTER, bar, prepare)


@dataclass(frozen=True)
class Peaks:
    """The peak of the resident memory of two processes, one with a tenth of the rows of the other."""

    budget: str
    rows: tuple[int, int]
    kind: str = "megabytes"

    def measure(self, rounds: Rounds) -> Times:
        """Once: memory does not fluctuate as time does."""
        source = "from benchmarks.kernel_cases import learn_stream; learn_stream({!r}, {})"
        many, few = (timing.peak_of(source.format(self.budget, rows)) / 1e6 for rows in self.rows)
        return Times([many], [few])

    def answers(self) -> str:
        """What was compared."""
        return "{:,} rows and {:,} rows, max_support=1000, processes of their own".format(*self.rows)


def flat_memory(budget: str, bar: float) -> Case:
    """A stream of a million rows in batches of 1,000, beside its first tenth."""
    return Case(
        f"kernel/memory/stream/{budget}",
        "a tenth of the rows",
        SLOWER,
        bar,
        lambda divisor: Peaks(budget, (ROWS // divisor, FEW // divisor)),
    )


def learn_stream(budget: str, n_rows: int) -> None:
    """Noisy rows of 20 features, three in ten labels at random: the mistakes never end."""
    random = np.random.default_rng(0)
    model = rb.KernelPerceptron(kernel="rbf", gamma=0.05, max_support=1000, budget=budget, readout="last")
    for _ in range(0, n_rows, 1000):
        X = random.standard_normal((1000, 20), dtype=np.float32)
        y = (np.abs(X[:, 0]) + np.abs(X[:, 1]) > 1.5) ^ (random.random(1000) < 0.15)
        model.partial_fit(X, y.astype(int), classes=[0, 1])


CASES: list[Case] = [
    one_pass(2, 3.0),
    to_error(3, 1.0, 5.0),
    to_error(10, 10.0, 5.0),
    *(flat_memory(budget, 1.02) for budget in ("forget", "project", "random")),
]
