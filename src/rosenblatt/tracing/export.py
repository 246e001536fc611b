"""A trace for other programs: its labels and predictions, a data frame, JSON."""

from __future__ import annotations

import importlib.util
import json
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rosenblatt.errors import InputError, MissingExtraError
from rosenblatt.inputs import IntArray
from rosenblatt.tracing import steps as trace_steps

if TYPE_CHECKING:
    from rosenblatt.traces import Trace
    from rosenblatt.tracing.steps import Columns

VERSION = 1
_LIBRARIES: tuple[Literal["polars", "pandas"], ...] = ("polars", "pandas")


# Labels and predictions -----------------------------------------------------------------------------------------------


def is_ovr(trace: Trace) -> bool:
    """Whether each class is learned against the rest."""
    return trace.n_problems > 1


def sides(trace: Trace, steps: Columns) -> tuple[IntArray, IntArray]:
    """Labels and predictions of a binary problem: +1 or −1; a prediction of 0 is undefined (tie="mistake")."""
    log, tie = trace._log, trace._log.choices.tie
    y = np.empty(len(steps), np.int64)
    for problem in np.unique(steps.problem):
        own = steps.problem == problem
        y[own] = trace_steps.side_of(log, int(problem), steps.row[own])
    at_zero = {"mistake": 0, "positive": 1, "negative": -1}[tie]
    return y, np.where(steps.score > 0, 1, np.where(steps.score < 0, -1, at_zero))


def labels(trace: Trace, steps: Columns) -> tuple[list[Any], list[Any]]:
    """Labels and predictions of steps, as `Step` has them."""
    names: list[Any] = trace.classes_.tolist()
    if trace.joint:
        truth = trace._log.examples.codes[steps.row]
        tie, learned = trace._log.choices.tie, steps.mistake
        predicted, rival = truth.astype(np.int64), truth.astype(np.int64)
        rival[learned] = trace.down[steps.learned[learned]]
        tied = steps.score == 0
        wins = (steps.score < 0) | (tied & (rival > truth if tie == "positive" else rival < truth))
        predicted[wins] = rival[wins]  # one that is right by too little is learned from, and was predicted all the same
        if tie == "mistake":
            predicted[tied] = -1
        return [names[c] for c in truth.tolist()], [None if c < 0 else names[c] for c in predicted.tolist()]
    y, y_hat = sides(trace, steps)
    if is_ovr(trace):
        return y.tolist(), [side or None for side in y_hat.tolist()]
    of_side = {-1: names[0], 1: names[1], 0: None}
    return [of_side[side] for side in y.tolist()], [of_side[side] for side in y_hat.tolist()]


def moved(trace: Trace, steps: Columns) -> tuple[list[Any], list[Any]]:
    """Learned jointly: the numbers of the classes moved up and down; None where nothing was learned."""
    learned = np.minimum(steps.learned, max(0, trace.n_updates - 1))
    found = []
    for column in (trace.up, trace.down):
        numbers = column[learned].tolist() if trace.n_updates else [None] * len(steps)
        found.append([number if yes else None for number, yes in zip(numbers, steps.mistake.tolist(), strict=True)])
    return found[0], found[1]


def sizes(trace: Trace, steps: Columns) -> NDArray[np.float64]:
    """What each row was multiplied with; 0 where nothing was learned."""
    out = np.zeros(len(steps))
    starts = np.asarray([trace.updates(problem).start for problem in range(trace.n_problems)])
    places = starts[steps.problem[steps.mistake]] + steps.learned[steps.mistake]
    out[steps.mistake] = trace.step[places]
    return out


# A data frame ---------------------------------------------------------------------------------------------------------


def to_frame(trace: Trace, library: str | None, *, weights: bool) -> Any:
    """The steps as a frame of polars or pandas."""
    import narwhals.stable.v1 as nw

    backend = _installed(library)
    columns = _frame_columns(trace)
    if weights:
        columns |= _weight_columns(trace)
    return nw.to_native(nw.from_dict(columns, backend=backend))


def _installed(library: str | None) -> Literal["polars", "pandas"]:
    if library is not None and library not in _LIBRARIES:
        raise InputError(f"library must be 'polars' or 'pandas', got {library!r}")
    wanted = [name for name in _LIBRARIES if library in (None, name)]
    for name in wanted:
        if importlib.util.find_spec(name) is not None:
            return name
    what = " or ".join(wanted)
    raise MissingExtraError(f"to_frame needs {what}: pip install {wanted[0]}", name=wanted[0])


def _frame_columns(trace: Trace) -> dict[str, Any]:
    steps, names = trace.steps, trace.classes_.tolist()
    label, prediction = labels(trace, steps)
    columns: dict[str, Any] = {"number": np.arange(1, len(steps) + 1)}
    if is_ovr(trace):
        columns["class"] = [names[problem] for problem in steps.problem.tolist()]
    columns |= {"pass": steps.pass_, "visit": steps.visit, "row": steps.row, "label": label, "prediction": prediction}
    columns |= {"score": steps.score, "mistake": np.array(steps.mistake), "undershot": steps.undershot}
    columns |= {"norm": steps.norm, "step": sizes(trace, steps)}
    if trace.joint:
        for name, numbers in zip(("up", "down"), moved(trace, steps), strict=True):
            columns[name] = [None if number is None else names[number] for number in numbers]
    return columns


def _weight_columns(trace: Trace) -> dict[str, Any]:
    if trace.support is not None:
        raise InputError(
            "weights=True gives a column for each weight, and a kernel has none: weights(k) has coefficients"
        )
    if trace.joint:
        raise InputError("weights=True gives a column for each weight, and joint learning has a vector for each class")
    d, steps = trace.X.shape[1], trace.steps
    W, B = np.empty((len(steps), d)), np.empty(len(steps))
    for problem in range(trace.n_problems):
        own = np.flatnonzero(steps.problem == problem)
        w, b = trace.path(problem)
        after = steps.learned[own] + steps.mistake[own]
        W[own], B[own] = w[after], b[after]
    features = trace.feature_names or [str(j + 1) for j in range(d)]
    return {f"w_{name}": np.ascontiguousarray(W[:, j]) for j, name in enumerate(features)} | {"b": B}


# JSON -----------------------------------------------------------------------------------------------------------------


def to_json(trace: Trace, *, rows: bool) -> str:
    """As text: one object, without NaN or infinity. docs/traces.md describes it."""
    steps = trace.steps
    n, d = trace.X.shape
    content: dict[str, Any] = {
        "format": "rosenblatt trace",
        "version": VERSION,
        "algorithm": trace.algorithm,
        "problems": "joint" if trace.joint else "one against the rest" if is_ovr(trace) else "binary",
        "parameters": _parameters(trace),
        "seed": trace.seed,
        "classes": trace.classes_.tolist(),
        "n_rows": int(n),
        "n_features": int(d),
        "feature_names": list(trace.feature_names) if trace.feature_names is not None else None,
        "keep": trace.keep,
        "max_steps": None if trace.max_steps is None else int(trace.max_steps),
        "truncated": trace.truncated,
        "converged": trace.converged,
        "n_updates": trace.n_updates,
        "n_visits": trace.n_visits,
        "n_passes": trace.n_passes,
        "mistakes_per_pass": trace.mistakes_per_pass.tolist(),
        "support": None if trace.support is None else trace.support.tolist(),
        "first_guess": _vectors(trace, 0),
        "last": _vectors(trace, -1),
        "survival": [trace.survival(problem).tolist() for problem in range(trace.n_problems)],
        "steps": _json_steps(trace),
    }
    if rows:
        content["rows"] = _json_rows(trace, np.unique(steps.row))
    return json.dumps(content, allow_nan=False, default=str, ensure_ascii=False)


def _parameters(trace: Trace) -> dict[str, Any]:
    plain = {name: value for name, value in trace.parameters.items() if name != "class_weight"}
    kept = {"fit_intercept": trace.fit_intercept} | {name: _plain(value) for name, value in plain.items()}
    if trace.parameters.get("class_weight") is not None:
        kept["class_weight"] = trace._log.examples.class_weight.tolist()
    return kept


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; what it has no form for (a RandomState, say) as None: the seed is kept beside."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (str, int, float, bool)) else None


def _vectors(trace: Trace, k: int) -> dict[str, Any]:
    found = [trace.weights(k, problem) for problem in range(trace.n_problems)]
    if trace.joint:
        return {"w": found[0][0].tolist(), "b": found[0][1].tolist()}
    return {"w": [w.tolist() for w, _ in found], "b": [b for _, b in found]}


def _json_steps(trace: Trace) -> dict[str, Any]:
    steps = trace.steps
    label, prediction = labels(trace, steps)
    columns: dict[str, Any] = {
        "problem": steps.problem.tolist(),
        "pass": steps.pass_.tolist(),
        "visit": steps.visit.tolist(),
        "row": steps.row.tolist(),
        "label": label,
        "prediction": prediction,
        "score": _finite(steps.score),
        "mistake": steps.mistake.tolist(),
        "undershot": steps.undershot.tolist(),
        "norm": _finite(steps.norm),
        "step": sizes(trace, steps).tolist(),
    }
    if trace.joint:
        columns["up"], columns["down"] = moved(trace, steps)
    return columns


def _finite(values: NDArray[np.float64]) -> list[float | None]:
    """A norm or a score that is beyond float64 is None."""
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _json_rows(trace: Trace, numbers: IntArray) -> dict[str, Any]:
    taken = trace._log.examples.rows.take(numbers)
    if not hasattr(taken, "tocsr"):
        return {"numbers": numbers.tolist(), "x": taken.tolist()}
    parts = [slice(*pair) for pair in zip(taken.indptr[:-1].tolist(), taken.indptr[1:].tolist(), strict=True)]
    return {
        "numbers": numbers.tolist(),
        "columns": [taken.indices[part].tolist() for part in parts],
        "values": [taken.data[part].tolist() for part in parts],
    }
