"""The results as a table, for the terminal and for the documentation, and as JSON for programs."""

from __future__ import annotations

import os
import platform
import statistics
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks import timing
from benchmarks.cases import Case
from benchmarks.timing import Times

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PEERS = ("numpy", "scipy", "scikit-learn", "vowpalwabbit")


@dataclass(frozen=True)
class Result:
    """What came out of a case. `trouble` says why there are no times, or that the answers differ."""

    case: Case
    times: Times | None
    kind: str = "seconds"
    answers: str = ""
    trouble: str = ""
    differs: bool = False
    judged: bool = True

    @property
    def passed(self) -> bool | None:
        """Whether the median reaches the bar; None where there is nothing to judge."""
        if self.times is None or self.case.bar is None or not self.judged:
            return None
        return self.case.figure.reaches(self.times.median(self.case.figure.of), self.case.bar)

    def cells(self) -> list[str]:
        """Case, ours, peer, the figure as median of rounds and of minima, bar, mark."""
        figure, bar = self.case.figure, self.case.bar
        limit = f"{figure.sign} {bar:g}{figure.unit}" if bar is not None else "–"
        if self.times is None:
            return [self.case.name, "–", "–", "–", "–", limit, "✗" if self.differs else "skip"]
        sides = (self.times.ours, self.times.peer)
        ours, peer = (_amount(statistics.median(side), self.kind) for side in sides)
        figures = (f"{f(figure.of):.2f}{figure.unit}" for f in (self.times.median, self.times.minima))
        mark = {True: "✓", False: "✗", None: ""}[self.passed]
        return [self.case.name, ours, peer, *figures, limit, "✗" if self.differs else mark]

    def note(self) -> str:
        """The peer, and how the answers compare."""
        return f"{self.case.peer}: {self.trouble or self.answers}"

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        times = {"ours_times": self.times.ours, "peer_times": self.times.peer} if self.times else {}
        of = self.case.figure.of
        figures = {"median": self.times.median(of), "minima": self.times.minima(of)} if self.times else {}
        return {
            "case": self.case.name,
            "peer": self.case.peer,
            "bar": self.case.bar,
            "sign": self.case.figure.sign,
            "passed": self.passed,
            "kind": self.kind,
            "answers": self.answers,
            "trouble": self.trouble,
            **figures,
            **times,
        }


def _amount(value: float, kind: str) -> str:
    if kind == "input":
        return f"{value:.2f}×"
    if kind == "megabytes":
        return f"{value:.1f} MB"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"


HEADINGS = ["case", "ours", "peer", "ratio", "of minima", "bar", ""]


def heading() -> str:
    """The first lines of the terminal's table."""
    return _line(HEADINGS) + "\n" + "─" * len(_line(HEADINGS))


def line(result: Result) -> str:
    """A case in the terminal's table: its figures, and below them the peer and how the answers compare."""
    return f"{_line(result.cells())}\n    {result.note()}"


def _line(cells: list[str]) -> str:
    name, *middle, mark = cells
    return f"{name:<32}" + "".join(f"{cell:>10}" for cell in middle) + f"  {mark:<4}"


def markdown(results: list[Result], facts: list[str]) -> str:
    """The table for the documentation, below a description of the machine."""
    head = ["case", "peer", "ours", "peer's", "ratio", "of minima", "bar", "", "answers"]
    rows = [[c[0], r.case.peer, *c[1:], r.trouble or r.answers] for r in results for c in [r.cells()]]
    table = [head, ["---"] * len(head), *rows]
    lines = ["| " + " | ".join(row) + " |" for row in table]
    return "\n".join([*(f"- {fact}" for fact in facts), "", *lines])


def write_into(path: Path, results: list[Result], facts: list[str]) -> None:
    """Replace what stands between the two marks of a page."""
    before, rest = path.read_text().split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n{markdown(results, facts)}\n{END}{after}")


def machine() -> list[str]:
    """What the figures depend on, without what identifies a machine."""
    from rosenblatt import _engine

    installed = ", ".join(f"{name} {_version(name)}" for name in PEERS)
    return [
        f"{os.cpu_count()} cores, {_processor()}, {platform.system()}; engine: {_engine.instruction_set()}",
        f"one core reads memory at {timing.read_bandwidth() / 1e9:.1f} GB/s",
        f"Python {platform.python_version()}, {installed}",
    ]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
