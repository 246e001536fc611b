"""Error against budget: one pass of MNIST with a limited support, the three budgets beside the unbounded learner.

``python -m benchmarks.budgets`` prints the table; ``--write docs/kernels.md --plot docs/images/budgets.png`` renews the
page and its picture. The kernel is (1/255² + x·z)², each digit against the rest, rows in their order.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks import data as made
from benchmarks.data import Data
from rosenblatt import KernelPerceptron

BEGIN, END = "<!-- budgets: begin -->", "<!-- budgets: end -->"
SIZES = (100, 300, 1000, 3000)
LEARNERS: dict[str, dict[str, Any]] = {
    "project, average": {"budget": "project", "readout": "average"},
    "project, last": {"budget": "project", "readout": "last"},
    "forget, last": {"budget": "forget", "readout": "last"},
    "random, last": {"budget": "random", "readout": "last"},
}
UNBOUNDED = ("vote", "average", "last")


def model_of(**parameters: Any) -> KernelPerceptron:
    """One pass in the order of the rows."""
    shared = {"degree": 2, "gamma": 1.0, "coef0": 1 / 255**2, "max_iter": 1, "shuffle": False, "random_state": 0}
    return KernelPerceptron(**(shared | parameters))


def measured(model: KernelPerceptron, data: Data) -> tuple[float, float, int]:
    """Test error in per cent, seconds of training, distinct support rows."""
    begin = time.perf_counter()
    model.fit(data.X, data.y)
    seconds = time.perf_counter() - begin
    return 100 * (1 - model.score(data.X_test, data.y_test)), seconds, len(model.support_)


def run(sizes: list[int], data: Data, jobs: int) -> dict[str, list[tuple[float, float, int]]]:
    """The figures of each learner for each budget; the unbounded one under each readout."""
    found: dict[str, list[tuple[float, float, int]]] = {}
    for name, parameters in LEARNERS.items():
        found[name] = []
        for size in sizes:
            found[name].append(measured(model_of(max_support=size, n_jobs=jobs, **parameters), data))
            print(name, size, found[name][-1], flush=True)
    free = model_of(n_jobs=jobs)
    first = measured(free, data)
    for readout in UNBOUNDED:
        error = 100 * (1 - free.set_params(readout=readout).score(data.X_test, data.y_test))
        found[f"no budget, {readout}"] = [(error, *first[1:])]
    return found


def markdown(found: dict[str, list[tuple[float, float, int]]], sizes: list[int]) -> str:
    """A row for each learner: its error for each budget."""
    lines = [["learner", *(f"B = {size:,}" for size in sizes)], ["---"] * (len(sizes) + 1)]
    for name, figures in found.items():
        if name in LEARNERS:
            lines.append([name, *(f"{error:.2f} %" for error, _, _ in figures)])
        else:
            error, _, support = figures[0]
            lines.append([f"{name} ({support:,} rows)", *["" for _ in sizes[1:]], f"{error:.2f} %"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plot(found: dict[str, list[tuple[float, float, int]]], sizes: list[int], path: Path) -> None:
    """Error against budget, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 4.2), layout="constrained")
    for (name, style), colour in zip(
        {"project, average": "o-", "project, last": "o--", "forget, last": "s-", "random, last": "^-"}.items(),
        ("tab:blue", "tab:blue", "tab:orange", "tab:green"),
        strict=True,
    ):
        axes.plot(sizes, [error for error, _, _ in found[name]], style, color=colour, label=name)
    for readout, style in zip(UNBOUNDED, (":", "-.", "--"), strict=True):
        error, _, support = found[f"no budget, {readout}"][0]
        axes.axhline(error, color="0.4", linestyle=style, label=f"no budget, {readout} ({support:,} rows)")
    axes.set(xscale="log", yscale="log", xlabel="max_support: rows, which all digits share", ylabel="test error, %")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ticks = [2, 3, 5, 10, 20, 50]
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()
    axes.set_title("MNIST, one pass, degree 2: error against budget")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    figure.savefig(path, dpi=110)


def main() -> None:
    """Run the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--plot", type=Path, metavar="PICTURE")
    arguments = parser.parse_args()
    found = run(arguments.sizes, made.mnist(arguments.rows), arguments.jobs)
    text = markdown(found, arguments.sizes)
    print(text)
    if arguments.write:
        before, rest = arguments.write.read_text().split(BEGIN)
        arguments.write.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}")
    if arguments.plot:
        plot(found, arguments.sizes, arguments.plot)


if __name__ == "__main__":
    main()
