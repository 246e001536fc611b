"""How things are measured: interleaved rounds after a warm-up, one BLAS thread; memory in a process each.

A machine changes its pace for minutes at a time, so seconds of different runs compare nothing. What compares
is a ratio of two calls that ran next to each other: each round times both, in alternating order.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.real_data import Unavailable

Call = Callable[[], Any]
ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Rounds:
    """How often two calls are timed: as often as fits into `seconds`, within limits."""

    fewest: int = 5
    most: int = 41
    seconds: float = 6.0

    def count(self, first: float) -> int:
        """The number of rounds, given how long the warm-up took."""
        return int(min(max(self.seconds / max(first, 1e-9), self.fewest), self.most))


@dataclass(frozen=True)
class Times:
    """The seconds of our call and the peer's, a pair from each round."""

    ours: list[float]
    peer: list[float]

    def median(self, figure: Callable[[float, float], float]) -> float:
        """The median over the rounds of a figure of ours and peer's."""
        return statistics.median(figure(a, b) for a, b in zip(self.ours, self.peer))

    def minima(self, figure: Callable[[float, float], float]) -> float:
        """The figure of the fastest of ours and the fastest of the peer's."""
        return figure(min(self.ours), min(self.peer))


def interleaved(ours: Call, peer: Call, rounds: Rounds) -> Times:
    """Time two calls side by side. Each is called once before, unmeasured, as a warm-up."""
    with threadpool_limits(1, user_api="blas"):
        count = rounds.count(seconds(ours) + seconds(peer))
        times = Times([], [])
        for i in range(count):
            pair = [(times.ours, ours), (times.peer, peer)]
            for into, call in pair if i % 2 == 0 else pair[::-1]:
                into.append(seconds(call))
    return times


def seconds(call: Call) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def process(*arguments: str) -> Call:
    """A call that runs this Python in a process of its own, from start to exit."""
    command = [sys.executable, *arguments]
    return lambda: subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def read_bandwidth() -> float:
    """Bytes per second that one core reads in order: the dot product of 400 MB with itself."""
    values = np.ones(50_000_000)
    with threadpool_limits(1, user_api="blas"):
        values @ values
        return values.nbytes / min(seconds(lambda: values @ values) for _ in range(5))


# Peak memory ------------------------------------------------------------------------------------------------


def peak_growth(prepare: str, call: str) -> int:
    """Bytes by which the resident memory grows at most during `call`, in a fresh process after `prepare`."""
    if not Path("/proc/self/clear_refs").exists():
        raise Unavailable("peak memory is read from /proc, which this system does not have")
    source = f"from benchmarks.timing import _peak_growth\n{prepare}\nprint(_peak_growth(lambda: {call}))"
    command = [sys.executable, "-W", "ignore", "-c", source]
    done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return int(done.stdout)


def _peak_growth(call: Call) -> int:
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from what is resident now
    before = _status("VmRSS")
    call()
    return _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def peak_of(source: str) -> int:
    """The largest resident memory, in bytes, of a fresh process that runs `source`."""
    if not Path("/proc/self/status").exists():
        raise Unavailable("peak memory is told in kilobytes by Linux only")
    # Through a small process between: what is told of a child counts the parent that it was copied from.
    between = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', sys.argv[1]], check=True, stdout=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", between, source]
    done = subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return 1024 * int(done.stdout)
