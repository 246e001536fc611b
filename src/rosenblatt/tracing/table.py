"""The table of note 001, as text and as HTML: what was seen, predicted and true, and w after each mistake."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rosenblatt.errors import counted
from rosenblatt.tracing import export as trace_export

if TYPE_CHECKING:
    from rosenblatt.traces import Trace
    from rosenblatt.tracing.steps import Columns

_MANY_FEATURES = 6  # more are not shown one by one
_ENDS = 2  # of a vector, where there is little room: its first number and its last
_SIGNS = {1: "+", -1: "-", 0: "0"}


@dataclass
class Table:
    """Rows of texts under headings; `notes` come below it."""

    headings: list[str]
    numeric: list[bool]
    rows: list[list[str]] = field(default_factory=list)
    mistakes: list[bool] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, cells: Sequence[str], *, mistake: bool = False) -> None:
        """Put a row below the others."""
        self.rows.append(list(cells))
        self.mistakes.append(mistake)


@dataclass(frozen=True)
class Layout:
    """What of each step is shown: which features, how many numbers of a vector at most, and how two vectors stand."""

    features: tuple[str, ...]
    numbers: int = _MANY_FEATURES
    stacked: bool = False  # learned jointly: the two vectors that a mistake moves, each on the line of its class


def as_text(trace: Trace, max_rows: int | None, width: int | None = None) -> str:
    """For `print`; where a width is given, without what does not fit: the features, then the middle of vectors."""
    everything = _layout(trace)
    if width is None:
        return "\n".join(_lines(_table(trace, max_rows, everything)))
    for layout in (everything, Layout(()), Layout((), stacked=True), Layout((), _ENDS, stacked=True)):
        table = _table(trace, max_rows, layout)
        if max(map(len, _rows(table))) <= width:
            break
    if layout.stacked and trace.joint:
        table.notes.insert(0, "Under y: the rival, which moved down.")
    if everything.features and not layout.features:
        table.notes.insert(0, f"The features are left out, to fit {width} columns.")
    table.notes = [line for note in table.notes for line in textwrap.wrap(note, width)]
    return "\n".join(_lines(table))


def _lines(table: Table) -> list[str]:
    return [*_rows(table), *table.notes]


def _rows(table: Table) -> list[str]:
    lines = [table.headings, *(line for row in table.rows for line in _stacked(row))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, table.numeric, strict=True)
        ).rstrip()
        for line in lines
    ]


def _stacked(row: Sequence[str]) -> list[list[str]]:
    """The lines of a row: more than one if a cell has more."""
    parts = [cell.split("\n") for cell in row]
    height = max(map(len, parts))
    return [list(line) for line in zip(*(part + [""] * (height - len(part)) for part in parts), strict=True)]


def as_html(trace: Trace, max_rows: int | None = 30) -> str:
    """For a notebook."""
    table = _table(trace, max_rows, _layout(trace))
    styles = [f' style="text-align: {"right" if right else "left"}"' for right in table.numeric]

    def line(cells: Sequence[str], tag: str) -> str:
        texts = zip(cells, styles, strict=True)
        return "".join(f"<{tag}{style}>{html.escape(cell)}</{tag}>" for cell, style in texts)

    body = "\n".join(
        f'<tr class="mistake">{line(row, "td")}</tr>' if mistake else f"<tr>{line(row, 'td')}</tr>"
        for row, mistake in zip(table.rows, table.mistakes, strict=True)
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in table.notes)
    return (
        f'<table class="rosenblatt-trace">\n<thead><tr>{line(table.headings, "th")}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table>\n{notes}"
    )


def summary(trace: Trace) -> str:
    """How many mistakes, and how it ended."""
    counts = f"{counted(trace.n_updates, 'mistake')} in {counted(trace.n_visits, 'visit')}"
    return f"{counts}, {trace.n_passes:,} pass{'' if trace.n_passes == 1 else 'es'}; {_end(trace)}"


def _end(trace: Trace) -> str:
    if trace.truncated:
        return f"ended by max_steps={trace.max_steps}: there may be more"
    if trace.converged:
        return "converged"
    budget = trace.parameters["max_updates"]
    made = [own.stop - own.start for own in map(trace.updates, range(trace.n_problems))]
    if budget is not None and max(made) >= budget:
        return f"ended by max_updates={budget}"
    if trace.n_passes >= trace.parameters["max_iter"]:
        return f"ended by max_iter={trace.parameters['max_iter']}"
    return "ended by early_stopping" if trace.parameters["early_stopping"] else "ended by tol"


def number(value: float) -> str:
    """Whole numbers as such, others with four digits."""
    value = float(value) + 0.0  # -0.0 is 0
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def vector(w: Any, most: int = _MANY_FEATURES) -> str:
    """The numbers of a vector; of one with more than `most` the first and the last."""
    first = 3 if most > _ENDS else 1
    texts = [number(value) for value in (w if len(w) <= most else [*w[:first], w[-1]])]
    if len(w) > most:
        texts.insert(first, "...")
    return f"({', '.join(texts)})"


# What is in it --------------------------------------------------------------------------------------------------------


def _layout(trace: Trace) -> Layout:
    d = trace.X.shape[1]
    if d > _MANY_FEATURES:
        return Layout(())
    return Layout(tuple(f"x{j + 1}" for j in range(d)) if trace.feature_names is None else tuple(trace.feature_names))


def _table(trace: Trace, max_rows: int | None, layout: Layout) -> Table:
    table = Table(*_headings(trace, layout))
    n = len(trace)
    shown = range(n) if max_rows is None or n <= max_rows else [*range(-(-2 * max_rows // 3))]
    tail = range(n - max_rows // 3, n) if max_rows is not None and n > max_rows else range(0)
    for i in shown:
        _add_step(table, trace, i, layout)
    if n == 0:
        _add_first_guess(table, trace, 0, layout)
    if len(shown) + len(tail) < n:
        left = n - len(shown) - len(tail)
        table.add(["..."] + [""] * (len(table.headings) - 1))
        table.notes.append(f"... {counted(left, 'step')} not shown: table(max_rows=None) has all.")
    for i in tail:
        _add_step(table, trace, i, layout)
    table.notes.extend([*_legend(trace), *_readout(trace), summary(trace) + "."])
    return table


def _headings(trace: Trace, layout: Layout) -> tuple[list[str], list[bool]]:
    columns: list[tuple[str, bool]] = []
    if trace_export.is_ovr(trace):
        columns.append(("class", False))
    if trace.n_passes > 1:
        columns.append(("pass", True))
    if _has_row(trace, layout):
        columns.append(("row", True))
    columns.extend((name, True) for name in layout.features)
    columns.extend([("ŷ", False), ("y", False), ("Mistake?", False), (_vector_name(trace), False)])
    if trace.fit_intercept:
        columns.append(("b", not trace.joint))
    if trace.algorithm != "perceptron":
        columns.append(("survived", True))
    return [name for name, _ in columns], [right for _, right in columns]


def _vector_name(trace: Trace) -> str:
    return "w" if trace.support is None else "coefficients"


def _has_row(trace: Trace, layout: Layout) -> bool:
    return trace.keep == "mistakes" or not layout.features


def _add_step(table: Table, trace: Trace, i: int, layout: Layout) -> None:
    step = trace[i]
    one = trace.steps.some(slice(i, i + 1))
    learned = int(one.learned[0])
    if step.visit == 1 or (trace.keep == "mistakes" and learned == 0):
        _add_first_guess(table, trace, step.problem, layout)
    cells = []
    if trace_export.is_ovr(trace):
        cells.append(str(trace.classes_[step.problem]))
    if trace.n_passes > 1:
        cells.append(str(step.pass_))
    if _has_row(trace, layout):
        cells.append(str(step.row))
    if layout.features:
        cells.extend(number(value) for value in step.x)
    cells.extend(_judged(trace, step, one, layout))
    cells.append(_moved(trace, step, step.w_after, layout) if step.mistake else "")
    if trace.fit_intercept:
        cells.append(_moved(trace, step, step.b_after, layout) if step.mistake else "")
    if trace.algorithm != "perceptron":
        cells.append(str(trace.survival(step.problem)[learned + 1]) if step.mistake else "")
    table.add(cells, mistake=step.mistake)


def _judged(trace: Trace, step: Any, one: Columns, layout: Layout) -> list[str]:
    answer = "Yes, undershot" if step.undershot else "Yes" if step.mistake else "No"
    if trace.joint:
        label = f"{step.label}\n{step.down}" if layout.stacked and step.mistake else str(step.label)
        return ["0" if step.prediction is None else str(step.prediction), label, answer]
    y, y_hat = trace_export.sides(trace, one)
    return [_SIGNS[int(y_hat[0])], _SIGNS[int(y[0])], answer]


def _moved(trace: Trace, step: Any, after: Any, layout: Layout) -> str:
    """A vector or an intercept; learned jointly, those of the two classes that were moved."""
    if not trace.joint:
        return _value(after, layout)
    names = trace.classes_.tolist()
    parts = [(name, after[names.index(name)]) for name in (step.up, step.down)]
    if layout.stacked:
        return "\n".join(_value(part, layout) for _, part in parts)
    return ", ".join(f"{name}: {_value(part, layout)}" for name, part in parts)


def _value(part: Any, layout: Layout) -> str:
    return number(part) if np.ndim(part) == 0 else vector(part, layout.numbers)


def _add_first_guess(table: Table, trace: Trace, problem: int, layout: Layout) -> None:
    w, b = trace.weights(0, problem)
    cells = [""] * len(table.headings)
    if trace_export.is_ovr(trace):
        cells[0] = str(trace.classes_[problem])
    zero = not (np.any(w) or np.any(b))
    place = table.headings.index("Mistake?") + 1
    vectors = [vector(own, layout.numbers) for own in np.atleast_2d(w)]
    cells[place] = "0" if trace.joint and zero else "; ".join(vectors)
    if trace.fit_intercept:
        cells[place + 1] = number(b) if not trace.joint else "0" if zero else vector(b)
    if trace.algorithm != "perceptron":
        cells[-1] = str(trace.survival(problem)[0])
    table.add(cells)


def _legend(trace: Trace) -> list[str]:
    names = trace.classes_.tolist()
    if trace.joint:
        notes = []
    elif trace_export.is_ovr(trace):
        notes = ["+ is the class, - the rest."]
    else:
        notes = [] if names == [-1, 1] else [f"+ is {names[1]!r}, - is {names[0]!r}."]
    if trace.parameters["tie"] == "mistake" and bool((trace.steps.score == 0).any()):
        notes.append("ŷ = 0: a tie, which counts as a mistake.")
    if trace.margin and _any_right_by_too_little(trace):
        notes.append(f"Yes with ŷ = y: right, but by too little for margin={number(trace.margin)}.")
    return notes


def _any_right_by_too_little(trace: Trace) -> bool:
    learned = trace.steps.some(trace.steps.mistake)
    truth, predicted = trace_export.labels(trace, learned)
    return any(label == guess for label, guess in zip(truth, predicted, strict=True))


def _readout(trace: Trace) -> list[str]:
    if trace.algorithm != "averaged" or trace.n_problems > 1 or trace.joint:
        return []
    w, b = trace.average()
    offset = f", b = {number(b)}" if trace.fit_intercept else ""
    return [f"The average predicts: w = {vector(w)}{offset}"]
