"""The soft margin, whoever solves it: the choice of a solver, and the path over C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rosenblatt import newton
from rosenblatt.soft_margin import Problem, Solution, Start


def solve_soft_margin(
    problem: Problem, *, gap: float, start: Start | None = None, deadline: float | None = None, threads: int = 1
) -> Solution:
    """Solve to a relative gap, or say how far it got; `deadline` is of `time.monotonic`."""
    return newton.solve(problem, gap=gap, start=start, deadline=deadline, threads=threads)


def soft_margin_path_solutions(
    problem: Problem, Cs: Sequence[float], *, gap: float, deadline: float | None = None, threads: int = 1
) -> list[Solution]:
    """Solutions for rising C, each from the one before; `problem` has the costs of C = 1."""
    found: list[Solution] = []
    start: Start | None = None
    for C in Cs:
        at = replace(problem, cost=problem.cost * C)
        solution = solve_soft_margin(at, gap=gap, start=start, deadline=deadline, threads=threads)
        found.append(solution)
        full = solution.weights >= at.cost
        start = Start(solution.w, solution.b, np.where(full, np.inf, solution.weights))
    return found
