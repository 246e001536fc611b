"""``python -m benchmarks``: measure side by side with the peers, and print the table."""

from __future__ import annotations

import argparse
import compileall
import json
import os
import sys
import warnings
from fnmatch import fnmatch
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from benchmarks import cases, file_cases, kernel_cases, report, separability_cases, soft_margin_cases
from benchmarks.cases import Case
from benchmarks.real_data import Unavailable
from benchmarks.report import Result
from benchmarks.timing import Rounds

QUICK = 20
CASES = [
    *cases.CASES,
    *separability_cases.CASES,
    *soft_margin_cases.CASES,
    *kernel_cases.CASES,
    *file_cases.CASES,
]


def main() -> int:
    """Measure the chosen cases. The exit status is 1 if answers differ; a missed bar is only marked."""
    arguments = _arguments()
    chosen = [case for case in CASES if _wanted(case, arguments.cases)]
    if arguments.list:
        print(*(case.name for case in chosen), sep="\n")
        return 0
    if not chosen:
        print(f"no case matches {' '.join(arguments.cases)}; --list shows all", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore", ConvergenceWarning)  # noisy data do not converge, and are not meant to
    compileall.compile_dir(Path(rosenblatt.__file__).parent, quiet=1)  # as pip leaves an installed package
    before = _load()
    if before >= 0.7:
        print(f"load {before:.2f}: something else runs, and figures suffer; wait until it is below 0.7\n")
    facts = report.machine()
    print(*facts, "", report.heading(), sep="\n")
    results = []
    for case in chosen:
        results.append(_run(case, arguments.quick))
        print(report.line(results[-1]), flush=True)
    print(_summary(results, arguments.quick))
    facts.append(f"load {before:.2f} before the run, {_load():.2f} at its end (of which the run itself makes 1)")
    print(facts[-1])
    if arguments.json:
        content = {"machine": facts, "results": [result.plain() for result in results]}
        arguments.json.write_text(json.dumps(content, indent=1) + "\n")
    if arguments.write:
        report.write_into(arguments.write, results, facts)
    return int(any(result.differs for result in results))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", help="names, parts of names or patterns: fit/dense, 'mnist/*'")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--quick", action="store_true", help=f"1/{QUICK} of the rows, 3 rounds, no bars")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every time measured")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the table into docs/benchmarks.md")
    return parser.parse_args()


def _wanted(case: Case, patterns: list[str]) -> bool:
    return not patterns or any(pattern in case.name or fnmatch(case.name, pattern) for pattern in patterns)


def _run(case: Case, quick: bool) -> Result:
    rounds = Rounds(fewest=3, most=3) if quick else Rounds()
    try:
        duel = case.prepare(QUICK if quick else 1)
        times = duel.measure(rounds)
        return Result(case, times, duel.kind, duel.answers(), judged=not quick)
    except Unavailable as reason:
        return Result(case, None, trouble=f"skipped: {reason}")
    except AssertionError as difference:
        return Result(case, None, trouble=f"ANSWERS DIFFER: {difference}", differs=True)


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def _summary(results: list[Result], quick: bool) -> str:
    if quick:
        return "\nquick: the sizes are too small for the bars, which are not judged"
    judged = [result.passed for result in results if result.passed is not None]
    return f"\n{sum(judged)} of {len(judged)} bars reached (judged by the median ratio of the rounds)"


if __name__ == "__main__":
    raise SystemExit(main())
