"""Certificates against a linear programme on the whole data, and against one product of the data with a vector."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import rosenblatt as rb
from benchmarks import real_data, timing
from benchmarks.cases import ALONE, FASTER, SLOWER, Case, Duel
from benchmarks.rivals import highs
from benchmarks.timing import Rounds, Times
from rosenblatt import inputs
from rosenblatt.proving import proofs
from rosenblatt.searching import suppliers


@dataclass(frozen=True)
class Question:
    """Gaussian rows around a plane, pushed away from it by `margin`; one label flipped, or all at random."""

    n: int
    d: int
    kind: str
    margin: float = 0.0

    @property
    def name(self) -> str:
        """As in the table."""
        return f"{self.n}x{self.d}/{self.kind}" + (f"-{self.margin:g}" if self.kind == "margin" else "")

    def data(self, divisor: int) -> tuple[Any, Any]:
        """X and y in {-1, +1}."""
        rng = np.random.default_rng(0)
        n = self.n // divisor
        X = rng.standard_normal((n, self.d)) / np.sqrt(self.d)
        w = rng.standard_normal(self.d)
        w /= np.linalg.norm(w)
        y = np.where(X @ w + 0.1 > 0, 1, -1)
        if self.kind == "random":
            return X, rng.choice([-1, 1], n)
        X += (y * (self.margin or 0.01))[:, np.newaxis] * w
        if self.kind == "flip":
            y[rng.integers(n)] *= -1
        return X, y


@dataclass(frozen=True)
class Once(Duel):
    """A peer so slow that it is called once; ours is called once as a warm-up, and the median of nine more counts."""

    def measure(self, rounds: Rounds) -> Times:
        """Ours, warmed up, nine times; the peer once."""
        self.ours()
        ours = [timing.seconds(self.ours) for _ in range(9)]
        return Times([statistics.median(ours)], [timing.seconds(self.peer)])


@dataclass(frozen=True)
class Alone(Duel):
    """No peer gets there at all: our seconds, once."""

    def measure(self, rounds: Rounds) -> Times:
        """Ours once."""
        return Times([timing.seconds(self.ours)], [0.0])


def against_highs(question: Question, bar: float | None) -> Case:
    """`certify`, proof included, against HiGHS on the whole linear programme."""

    def prepare(divisor: int) -> Duel:
        X, y = question.data(divisor)
        answers: dict[str, Any] = {}

        def ours() -> None:
            answers["ours"] = rb.certify(X, y)

        def peer() -> None:
            answers["peer"] = highs.verdict(X, y)

        def compared() -> str:
            certificate, other = answers["ours"], answers["peer"]
            assert certificate.verify(X, y), "the certificate does not verify"
            if other is None:
                return f"ours {certificate.separable}, verified; HiGHS gave no verdict in {highs.LIMIT:.0f} s"
            assert certificate.separable is other, f"ours says {certificate.separable}, HiGHS {other}"
            return f"both say {other}; the certificate verifies"

        return Once(ours, peer, compared)

    return Case(f"certify/{question.name}", "HiGHS, whole LP", FASTER, bar, prepare)


def against_product(what: str, bar: float | None, call: Callable[[Any, Any, Any], Any]) -> Case:
    """A part of certifying 1,000,000 × 100 rows to a gap of 1e-6, in multiples of one product (one thread)."""
    question = Question(1_000_000, 100, "margin", 1e-3)

    def prepare(divisor: int) -> Duel:
        X, y = question.data(divisor)
        rows, w = inputs.rows(X), np.ones(question.d)
        found = suppliers.supply(rows, y, intercept=True, gap=1e-6)

        def compared() -> str:
            assert found.lower > 0 and 1 - found.lower / found.upper <= 1e-6, "the gap was not reached"
            return f"margin {found.lower:.6g}, gap {1 - found.lower / found.upper:.1e}, {found.scans} scans"

        return Duel(lambda: call(rows, y, found), lambda: X @ w, compared)

    return Case(f"certify/{question.name}/{what}", "numpy X @ w", SLOWER, bar, prepare)


def wide(kind: str, bar: float) -> Case:
    """10,000 × 4,096 dense rows with a decaying spectrum: decided and proved, in seconds."""

    def prepare(divisor: int) -> Duel:
        rng = np.random.default_rng(1)
        n, d = 10_000 // divisor, 4_096 // divisor
        X = rng.standard_normal((n, d)) / np.sqrt(1 + np.arange(d))
        y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
        if kind == "flipped":
            y[rng.choice(n, n // 20, replace=False)] *= -1
        if kind == "random":
            y = rng.choice([-1, 1], n)
        answers: dict[str, Any] = {}

        def ours() -> None:
            answers["ours"] = rb.certify(X, y, gap=1e-2)

        def compared() -> str:
            certificate = answers["ours"]
            assert certificate.separable is not None, f"undecided: {certificate.why}"
            return f"{'separable' if certificate.separable else 'not separable'}, proved ({certificate.proof})"

        return Alone(ours, lambda: None, compared)

    return Case(f"certify/10000x4096/{kind}", "(seconds)", ALONE, bar, prepare)


def text(bar: float) -> Case:
    """Two of the 20 newsgroups against two others, in 130,108 words: decided and proved, in seconds."""

    def prepare(divisor: int) -> Duel:
        X, group = real_data.newsgroups()
        some = np.isin(group, ["rec.autos", "rec.motorcycles", "sci.med", "sci.space"])
        X, y = X[some], np.where(np.char.startswith(group[some], "rec"), 1, -1)
        answers: dict[str, Any] = {}

        def ours() -> None:
            answers["ours"] = rb.certify(X, y, gap=1e-2)

        def compared() -> str:
            certificate = answers["ours"]
            assert certificate.separable, "they are separable"
            assert certificate.verify(X, y), "the certificate does not verify"
            return f"separable, proved ({certificate.proof}) and verified, gap {certificate.gap:.1e}"

        return Alone(ours, lambda: None, compared)

    return Case("certify/20newsgroups/two-two", "(seconds)", ALONE, bar, prepare)


def _solve(rows: Any, y: Any, found: Any) -> Any:
    return suppliers.supply(rows, y, intercept=True, gap=1e-6)


def _prove(rows: Any, y: Any, found: Any) -> Any:
    return proofs.prove_plane(rows, y, found.w, found.b)


QUESTIONS = [
    *(Question(100_000, d, "margin", margin) for d in (20, 100) for margin in (0.1, 1e-2, 1e-3, 1e-4)),
    *(Question(100_000, d, kind) for d in (20, 100) for kind in ("flip", "random")),
]
CASES: list[Case] = [
    *(against_highs(question, 100.0) for question in QUESTIONS),
    against_product("solve", 15.0, _solve),
    against_product("prove", 8.0, _prove),
    *(wide(kind, 40.0) for kind in ("planted", "flipped", "random")),
    text(40.0),
]
