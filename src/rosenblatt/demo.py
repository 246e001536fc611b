"""What ``rosenblatt demo`` shows: four real data sets, learned, measured (`measure`) and reported (`show`).

The facts are computed once and rendered apart from that, as a report for people or as JSON for programs.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

FOLDS = 5
HELD_OUT_PASSES = 10

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """One perceptron, trained on all rows of a data set."""

    how: str
    passes: int
    passes_allowed: int
    mistakes: int
    mistakes_in_last_pass: int
    converged: bool
    separates: bool
    margin: float | None  # of the hyperplane, in the units of the rows; None where it does not separate
    margin_as_measured: float | None  # the same hyperplane with the scaling undone, if there was one
    rule: str | None  # what was learned, as a formula, where it is short
    seconds: float


@dataclass(frozen=True)
class DataSet:
    """A data set, the runs over it, and the accuracy on rows that were held out."""

    name: str
    shows: str
    rows: int
    features: int
    classes: dict[str, int]  # name and number of rows
    verdict: tuple[str, ...]  # what is proved about all rows, in plain words, where there are two classes
    runs: tuple[Run, ...]
    held_out_jointly: bool
    held_out: dict[str, float]  # share of right answers by what predicts: last, averaged, voted


@dataclass(frozen=True)
class Facts:
    """Everything that the demonstration found out."""

    version: str
    data_sets: tuple[DataSet, ...]
    seconds: float

    def to_json(self) -> str:
        """The facts as a JSON document."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False)


# Measuring --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    """A data set as it comes in: what it is to show, and how its perceptrons are to be trained."""

    name: str
    shows: str
    X: Any
    y: Any  # names of the classes, the positive one last in sorted order
    features: tuple[str, ...]
    runs: tuple[tuple[str, dict[str, Any]], ...]  # how, parameters; "standardised" scales the rows first
    held_out: dict[str, Any]  # parameters of the models that predict held-out rows


def measure(passes: int = 100_000, *, progress: Progress = lambda step: None) -> Facts:
    """Learn all data sets. `passes` go to breast cancer, ten times as many to its standardised rows."""
    from sklearn.exceptions import ConvergenceWarning

    from rosenblatt import __version__

    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says it
        data_sets = tuple(_learn(task, progress) for task in _tasks(passes))
    return Facts(__version__, data_sets, time.perf_counter() - start)


def _tasks(passes: int) -> Iterator[_Task]:
    import numpy as np
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris

    iris = load_iris()
    kinds = iris.target_names[iris.target]
    iris_features = tuple(name.removesuffix(" (cm)") for name in iris.feature_names)
    yield _Task(
        "Iris: setosa against the rest",
        "A hyperplane separates setosa from the others, so the mistakes come to an end, after a few passes.",
        iris.data,
        np.where(kinds == "setosa", "setosa", "other kinds"),
        iris_features,
        (("all rows", {"max_iter": 100}),),
        {},
    )
    overlap = kinds != "setosa"
    yield _Task(
        "Iris: versicolor against virginica",
        "No hyperplane separates these two, so the mistakes never end, and where the last hyperplane stands "
        "is chance; the average and the vote of all hyperplanes are steadier.",
        iris.data[overlap],
        kinds[overlap],
        iris_features,
        (("all rows", {"max_iter": 1000}),),
        {},
    )
    cancer = load_breast_cancer()
    yield _Task(
        "Breast cancer",
        "A hyperplane does separate these rows, but so narrowly, next to features as large as 4,254, that "
        "the perceptron errs on and on; on standardised features it comes to rest much sooner.",
        cancer.data,
        cancer.target_names[cancer.target],
        tuple(cancer.feature_names),
        (("as measured", {"max_iter": passes}), ("standardised", {"max_iter": 10 * passes})),
        {},
    )
    digits = load_digits()
    yield _Task(
        "Digits",
        "Each digit against the rest, some keep making mistakes; learned jointly, where a mistake moves only "
        "the true digit and its strongest rival, all ten come to rest, and every row is right.",
        digits.data,
        digits.target.astype(str),
        tuple(digits.feature_names),
        (("one-vs-rest", {"max_iter": 1000}), ("jointly", {"max_iter": 1000, "multi_class": "joint"})),
        {"multi_class": "joint"},
    )


def _learn(task: _Task, progress: Progress) -> DataSet:
    import numpy as np

    rows, features = task.X.shape
    names, counts = np.unique(task.y, return_counts=True)
    runs = []
    for how, parameters in task.runs:
        progress(f"{task.name}, {how}: at most {parameters['max_iter']:,} passes")
        runs.append(_run(task, how, parameters))
    progress(f"{task.name}: held-out rows")
    return DataSet(
        task.name,
        task.shows,
        rows,
        features,
        dict(zip(names.tolist(), counts.tolist(), strict=True)),
        _verdict(task, len(names)),
        tuple(runs),
        bool(task.held_out),
        _held_out(task),
    )


def _verdict(task: _Task, classes: int) -> tuple[str, ...]:
    """The certificate in words: its first lines, and whether the check that knows no solver agrees."""
    import rosenblatt as rb
    from rosenblatt.checking import certificate_words

    if classes != 2:
        return ()
    certificate: Any = rb.certify(task.X, task.y)
    checked = certificate.verify(task.X, task.y)
    return (*certificate_words.sentences(certificate)[:2], "Verified." if checked else "The check failed!")


def _run(task: _Task, how: str, parameters: dict[str, Any]) -> Run:
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    import rosenblatt as rb

    scaler = StandardScaler().fit(task.X) if how == "standardised" else None
    X = task.X if scaler is None else scaler.transform(task.X)
    model = rb.Perceptron(random_state=0, **parameters)
    start = time.perf_counter()
    model.fit(X, task.y)
    seconds = time.perf_counter() - start
    margin = as_measured = rule = None
    if len(model.classes_) == 2:
        plane, signs = model.hyperplane_, np.where(task.y == model.classes_[1], 1, -1)
        margin = plane.margin(X, signs) if model.separates_ else None
        if scaler is not None and model.separates_:
            w = plane.w / scaler.scale_
            as_measured = rb.Hyperplane(w, plane.b - w @ scaler.mean_).margin(task.X, signs)
        if len(task.features) <= 4:
            rule = _rule(plane, task.features, model.classes_[1])
    return Run(
        how,
        model.n_iter_,
        parameters["max_iter"],
        model.n_updates_,
        int(model.mistakes_per_pass_[-1]),
        model.converged_,
        model.separates_,
        margin,
        as_measured,
        rule,
        seconds,
    )


def _rule(plane: Any, features: tuple[str, ...], positive: str) -> str:
    """The hyperplane as a sentence: "setosa if 1.3 sepal length - 4.1 petal length + 1 > 0"."""
    parts = [(w, f"{abs(w):.1f} {name}") for w, name in zip(plane.w, features, strict=True) if abs(w) >= 0.05]
    parts += [(plane.b, f"{abs(plane.b):g}")] if plane.b else []
    formula = " ".join(f"{'-' if weight < 0 else '+'} {term}" for weight, term in parts)
    return f"{positive} if {formula.removeprefix('+ ')} > 0"


def _held_out(task: _Task) -> dict[str, float]:
    """The share of right answers when every row is held out once, in one of five parts."""
    import numpy as np
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    import rosenblatt as rb

    kinds = {"last": rb.Perceptron, "averaged": rb.AveragedPerceptron, "voted": rb.VotedPerceptron}
    parts = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    shares = {}
    for name, kind in kinds.items():
        model = kind(random_state=0, max_iter=HELD_OUT_PASSES, **task.held_out)
        shares[name] = float(np.mean(cross_val_predict(model, task.X, task.y, cv=parts) == task.y))
    return shares


# Showing ----------------------------------------------------------------------------------------------------


def show(facts: Facts, console: Console) -> None:
    """Print the report, plain or in colour as the console can."""
    with console.capture() as captured:
        _print(facts, console)
    report = captured.get()
    if not console.is_terminal:  # rich fills its lines with spaces
        report = "\n".join(line.rstrip() for line in report.splitlines()) + "\n"
    console.file.write(report)


def _print(facts: Facts, console: Console) -> None:
    from rich.markup import escape
    from rich.text import Text

    for data in facts.data_sets:
        console.rule(Text(data.name, style="bold"), align="left", style="dim")
        console.print(data.shows, style="italic")
        sizes = ", ".join(f"{name} {count}" for name, count in data.classes.items())
        detail = f": {sizes}" if len(data.classes) <= 3 else ""
        console.print(f"{data.rows:,} rows, {data.features} features, {len(data.classes)} classes{detail}\n")
        if data.verdict:
            console.print(f"Proved: {escape(' '.join(data.verdict))}\n", highlight=False)
        console.print(_table(data))
        console.print()
        for remark in _remarks(data):
            console.print(remark)
        console.print()
    console.rule(Text("How to read this", style="bold"), align="left", style="dim")
    console.print(
        "Last pass: its mistakes. Converged: it made none. Separates: every row is strictly on its side. "
        "Margin: the distance of the nearest row then. Held out: each row once, in "
        f"{FOLDS} parts, {HELD_OUT_PASSES} passes over the others; predicted by the last vector, by the "
        "average and by the vote of all vectors."
    )
    console.print(f"\nrosenblatt {facts.version}: all this took {facts.seconds:.1f} s.")


def _table(data: DataSet) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("trained", no_wrap=True, min_width=12)
    for heading, width in {"passes": 7, "mistakes": 9, "last pass": 9}.items():
        table.add_column(heading, justify="right", no_wrap=True, min_width=width)
    for heading in ("converged", "separates"):
        table.add_column(heading, no_wrap=True)
    table.add_column("margin", justify="right", no_wrap=True, min_width=7)
    for run in data.runs:
        table.add_row(
            run.how,
            f"{run.passes:,}",
            f"{run.mistakes:,}",
            f"{run.mistakes_in_last_pass:,}",
            _yes(run.converged),
            _yes(run.separates),
            "-" if run.margin is None else f"{run.margin:.2g}",
        )
    return table


def _yes(fact: bool) -> str:
    return "[green]yes[/]" if fact else "[yellow]no[/]"


def _remarks(data: DataSet) -> Iterator[str]:
    for run in data.runs:
        if run.rule:
            yield f"Learned: {run.rule}"
        if run.passes >= 10_000:
            speed = run.passes * data.rows / run.seconds / 1e6
            took = f"{run.seconds:.2f} s: {speed:.0f} million rows a second"
            yield f"{run.passes:,} passes {run.how} took {took}."
        if run.margin_as_measured is not None and run.margin_as_measured > 0:
            yield (
                "With the scaling undone, the hyperplane found separates the rows as measured too (margin "
                f"{run.margin_as_measured:.1g})."
            )
    shares = ", ".join(f"{name} [bold]{share:.1%}[/]" for name, share in data.held_out.items())
    yield f"Held-out rows right{', jointly' if data.held_out_jointly else ''}: {shares}"
