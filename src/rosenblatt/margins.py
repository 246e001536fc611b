"""The soft margin, whoever solves it: the choice of a solver, what to do when it stalls, and the path over C."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from rosenblatt.searching.candidates import squares
from rosenblatt.solving import coordinate_descent, newton
from rosenblatt.solving.soft_margin import Problem, Solution, Start, best_offset, judge, obvious, rounding, slack

Solver: TypeAlias = Callable[..., Solution]

FEW_FEATURES = 1000  # up to here Newton's systems of so many unknowns cost less than passes of coordinate descent
_STEP = 100.0  # between the costs of a continuation
_STAGES = 10  # at most
_LOOSE = 1e-2  # the gap on its way


def solve_soft_margin(
    problem: Problem, *, gap: float, start: Start | None = None, deadline: float | None = None, threads: int = 1
) -> Solution:
    """Solve to a relative gap, or say how far it got; `deadline` is of `time.monotonic`.

    A solver that stalls hands over to the next: to the other one, then to a continuation, which comes from small costs
    to those asked for. What is returned is the best of all: the lowest primal, the highest dual, judged together.
    """
    best = obvious(problem)
    if best is not None:
        return best
    for solver in (*_solvers(problem), _continuation):
        found = solver(problem, gap=gap, start=start, deadline=deadline, threads=threads)
        best = found if best is None else _best(problem, best, found, gap, threads)
        if best.status == "stalled" and not _at_cost(problem, best):
            best = _hardened(problem, best, gap, threads) or best
        if best.status != "stalled":
            break
        start = Start(best.w, best.b, best.weights)
    assert best is not None
    if not best.gap < 1.0:  # no hyperplane at all has a gap of 1
        best = _best(problem, _nothing(problem), best, gap, threads)
    if best.status == "stalled" and deadline is not None and time.monotonic() >= deadline:
        return replace(best, status="out of time")
    return best


def soft_margin_path_solutions(
    problem: Problem, Cs: Sequence[float], *, gap: float, deadline: float | None = None, threads: int = 1
) -> list[Solution]:
    """Solutions for each C, found upwards, each from the one before; `problem` has the costs of C = 1.

    Once no weight is at its cost and no row has slack, the solution is the maximum margin, and that of every larger C.
    """
    found: dict[int, Solution] = {}
    last: tuple[Problem, Solution] | None = None
    for k in sorted(range(len(Cs)), key=lambda k: Cs[k]):
        at = replace(problem, cost=problem.cost * Cs[k])
        if last is not None and _is_hard(*last):
            solution = replace(last[1], steps=0)
        else:
            start = None if last is None else _grown(*last)
            solution = solve_soft_margin(at, gap=gap, start=start, deadline=deadline, threads=threads)
            if not _at_cost(at, solution):
                solution = _hardened(at, solution, gap, threads) or solution
        found[k], last = solution, (at, solution)
    return [found[k] for k in range(len(Cs))]


# Solvers ------------------------------------------------------------------------------------------------------------


def _solvers(problem: Problem) -> list[Solver]:
    """Both, the one first that suits the number of features."""
    few = problem.rows.shape[1] <= FEW_FEATURES
    return [newton.solve, coordinate_descent.solve] if few else [coordinate_descent.solve, newton.solve]


def _continuation(
    problem: Problem, *, gap: float, start: Start | None, deadline: float | None, threads: int
) -> Solution:
    """From costs so small that every row pays in full, upwards: multipliers far below huge costs are found this way."""
    solver = _solvers(problem)[0]
    high = float(problem.cost.max())
    cost = max(min(high, 1.0 / max(float(squares(problem.rows).mean()), 1e-300)), high * _STEP**-_STAGES)
    start = None
    while cost * _STEP < high:
        at = replace(problem, cost=np.minimum(problem.cost, cost))
        found = solver(at, gap=_LOOSE, start=start, deadline=deadline, threads=threads)
        start = _grown(at, found)
        cost *= _STEP
        if found.status == "out of time":
            break
        if not (found.weights >= at.cost)[problem.cost > at.cost].any():  # then larger costs change nothing
            found = solver(at, gap=0.1 * gap, start=start, deadline=deadline, threads=threads)
            hard = _hardened(problem, found, gap, threads)
            if hard is not None:
                return hard
            break
    return solver(problem, gap=gap, start=start, deadline=deadline, threads=threads)


def _nothing(problem: Problem) -> Solution:
    """w = 0 with the best offset, and weights 0: the dual is 0 there."""
    n, d = problem.rows.shape
    b = 0.5 * sum(best_offset(problem, np.zeros(n))) if problem.bias == "free" else 0.0
    judged = judge(problem, np.zeros(d), b, np.zeros(n))
    return Solution(np.zeros(d), b, judged.weights, judged.primal, judged.dual, judged.gap, "stalled", 0)


def _best(problem: Problem, one: Solution, other: Solution, gap: float, threads: int) -> Solution:
    plane = min(one, other, key=lambda solution: solution.primal if math.isfinite(solution.primal) else math.inf)
    weights = max(one, other, key=lambda s: s.dual if math.isfinite(s.dual) else -math.inf).weights
    judged = judge(problem, plane.w, plane.b, weights, threads=threads)
    status = "solved" if judged.gap <= gap else other.status if other.status != "solved" else "stalled"
    return Solution(
        plane.w, plane.b, judged.weights, judged.primal, judged.dual, judged.gap, status, one.steps + other.steps
    )


# The path -----------------------------------------------------------------------------------------------------------


def _grown(problem: Problem, solution: Solution) -> Start:
    """Where to begin at larger costs: weights that were at their cost rise with it."""
    return Start(solution.w, solution.b, np.where(solution.weights >= problem.cost, np.inf, solution.weights))


def _at_cost(problem: Problem, solution: Solution) -> bool:
    return bool(((solution.weights >= problem.cost) & (problem.cost > 0)).any())


def _is_hard(problem: Problem, solution: Solution) -> bool:
    """Whether no weight is at its cost and no row that counts has slack."""
    if not solution.solved or _at_cost(problem, solution):
        return False
    return not slack(problem, solution.w, solution.b)[problem.cost > 0].any()


def _hardened(problem: Problem, solution: Solution, gap: float, threads: int) -> Solution | None:
    """A solution lengthened so that rounding leaves no slack, if that solves the problem."""
    counted = problem.cost > 0
    shortest = 1.0 - float(slack(problem, solution.w, solution.b, threads=threads)[counted].max())
    if shortest < 0.5:
        return None
    longer = (1.0 + 4.0 * rounding(problem, solution.w, solution.b)) / shortest
    w, b = longer * solution.w, longer * solution.b
    judged = judge(problem, w, b, solution.weights, threads=threads)
    if judged.gap > gap:
        return None
    return replace(solution, w=w, b=b, primal=judged.primal, dual=judged.dual, gap=judged.gap, status="solved")
