"""A run between two batches as JSON and arrays, and back: what a checkpoint keeps."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from rosenblatt.errors import CheckpointError
from rosenblatt.learner import Learner
from rosenblatt.model_checks import Tensors
from rosenblatt.runs.held_out import Watch
from rosenblatt.runs.row_cache import Mark, RowCache
from rosenblatt.runs.run import Run
from rosenblatt.runs.stream_learning import GrowingLearner
from rosenblatt.runs.stream_votes import VotedRows
from rosenblatt.runs.tally import Tally

_PLAIN = ("counted", "pass_", "done", "position", "history", "right", "wrong", "known", "left_at", "held_out_right")
_ARRAYS = ("begin", "active", "labels", "ranks", "class_weight")


def state_of(run: Run) -> tuple[dict[str, Any], Tensors]:
    """Everything that the run has come to. Its caches are safely on disk when this returns."""
    state: dict[str, Any] = {name: getattr(run, name) for name in _PLAIN}
    state["tally"] = asdict(run.tally)
    state["seconds"] = run.seconds()
    state["met"] = run.source.known()
    state["caches"] = [None if cache is None else cache.sync()._asdict() for cache in (run.cache, run.held)]
    arrays: Tensors = {}
    for name in _ARRAYS:
        array = getattr(run, name)
        if array is None:
            continue
        if array.dtype.kind in "UO":
            state[name] = [str(array.dtype) if array.dtype.kind == "U" else "object", array.tolist()]
        else:
            arrays[name] = array
    learner = run.learner
    if learner is not None:
        growing = isinstance(learner, GrowingLearner)
        state["n_features"] = learner.n_features
        state["learner"] = learner.growth() if isinstance(learner, GrowingLearner) else None
        padded = -(-learner.n_features // 8) * 8
        for name, array in learner.to_arrays().items():
            trim = growing and name in ("weights", "late_weights")
            arrays[f"learner.{name}"] = array[:, :padded] if trim else array
    if run.votes is not None:
        arrays |= {f"places.{name}": array for name, array in run.votes.places.to_arrays().items()}
    if run.watch is not None:
        state["watch"] = _watch_state(run.watch, arrays)
    return state, arrays


def _watch_state(watch: Watch, arrays: Tensors) -> dict[str, Any]:
    snapshots = {id(best): best for best in watch.best}
    numbers = {key: k for k, key in enumerate(snapshots)}
    lengths = []
    for k, snapshot in enumerate(snapshots.values()):
        lengths.append(snapshot["lengths"])
        arrays |= {f"best{k}.{name}": array for name, array in snapshot.items() if name != "lengths"}
    arrays |= {"watch.fewest": watch.fewest, "watch.waited": watch.waited}
    return {"best": [numbers[id(best)] for best in watch.best], "lengths": lengths}


def restore(run: Run, state: dict[str, Any], arrays: Tensors, paths: tuple[str | None, str | None]) -> None:
    """Bring a new run to where the old one was."""
    for name in _PLAIN:
        setattr(run, name, state[name])
    run.tally = Tally(**state["tally"])
    run.seconds_before = state["seconds"]
    run.resumed_at = {"pass": run.pass_ + 1, "row": run.done}
    run.source.restore(state["met"])
    for name in _ARRAYS:
        if name in state:
            dtype, labels = state[name]
            setattr(run, name, np.asarray(labels, dtype))
        elif name in arrays:
            setattr(run, name, arrays[name])
    marks = [None if mark is None else Mark(**mark) for mark in state["caches"]]
    if not run.counted:
        run.cache, run.held = (
            None if mark is None else RowCache(path, mark=mark) for path, mark in zip(paths, marks, strict=True)
        )
    elif [run.cache and run.cache.mark(), run.held and run.held.mark()] != marks:
        raise CheckpointError(f"{paths[0]} does not hold the rows that the checkpoint was made with")
    if "learner" in state:
        _restore_learner(run, state, arrays)


def _restore_learner(run: Run, state: dict[str, Any], arrays: Tensors) -> None:
    options = run.options
    kept = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith("learner.")}
    if state["learner"] is not None:
        n_told = None if options.classes is None else len(run.source.told(options.classes))
        growing = GrowingLearner(n_told, joint=options.joint, readout=options.readout, tie=options.tie)
        growing.regrow(state["learner"], kept)
        run.learner = growing
        return
    assert run.labels is not None
    width = state["n_features"]
    run.learner = Learner.from_arrays(kept, len(run.labels), width, readout=options.readout)
    if run.learner.votes is not None:
        run.votes = VotedRows(run.learner)
        run.votes.places.from_arrays({name: arrays[f"places.{name}"] for name in ("ids", "places")})
    if "watch" in state:
        run.watch = watch = Watch(run.learner, options.patience)
        watch.fewest, watch.waited = arrays["watch.fewest"], arrays["watch.waited"]
        snapshots = []
        for k, lengths in enumerate(state["watch"]["lengths"]):
            prefix = f"best{k}."
            own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            snapshots.append(own | {"lengths": lengths})
        watch.best = [snapshots[k] for k in state["watch"]["best"]]
