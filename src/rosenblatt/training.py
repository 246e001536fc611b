"""`train`: from a stream of labelled rows, of any length, to a model. The path without scikit-learn."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from rosenblatt.errors import InputError, counted
from rosenblatt.learner import Learner, Readout
from rosenblatt.limits import most_threads
from rosenblatt.model_file import save
from rosenblatt.reading import head_start
from rosenblatt.runs.files import RunFiles
from rosenblatt.runs.held_out import HeldOut
from rosenblatt.runs.options import TrainingOptions
from rosenblatt.runs.report import largest_weights, mistake_bound, separates
from rosenblatt.runs.row_sources import FileSource, MemorySource, Source
from rosenblatt.runs.run import Progress, Run
from rosenblatt.trained_model import TrainedModel, estimator_of

PathLike = str | os.PathLike[str]


def train(
    source: Any,
    *,
    readout: Readout = "last",
    passes: int = 1,
    max_updates: int | None = None,
    shuffle: bool = False,
    shuffle_rows: int = 1 << 17,
    seed: int = 0,
    tie: str = "mistake",
    fit_intercept: bool = True,
    eta0: float = 1.0,
    margin: float = 0.0,
    multi_class: str = "ovr",
    classes: Sequence[Any] | None = None,
    class_weight: Any = None,
    hold_out: float = 0.0,
    early_stopping: str | None = None,
    patience: int = 5,
    cache: PathLike | None = None,
    checkpoint: PathLike | None = None,
    every: int | None = None,
    folder: PathLike | None = None,
    save_to: PathLike | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    **reading: Any,
) -> TrainedModel:
    """Learn from files or batches of any length, in constant memory.

    Classes and features need not be known beforehand. The model is, to the bit, that of
    ``Perceptron(shuffle=False, max_iter=passes).fit(*load(source))``, or of `AveragedPerceptron` and `VotedPerceptron`,
    with any `margin`, however the rows come in batches and on however many threads. The features of a sparse row keep
    the order in which it has them, which decides how sums are rounded.

    Parameters
    ----------
    source : str, path, list of these, or iterable of batches
        Files as for `read`: a name, ``"-"`` for standard input, a pattern, or several. Or batches ``(X, y)`` or
        ``(X, y, sample_weight)``, which may bring new classes and more features at any time.
    readout : {"last", "average", "vote"}, default "last"
        What predicts (note 002): the last vector, the average of all, the vote of all.
    passes : int, default 1
        At most so many passes over the rows; a pass without a mistake is the last.
    max_updates : int, optional
        At most so many updates of each binary problem.
    shuffle : bool, default False
        Visit the rows of each pass in a new random order.
    shuffle_rows : int, default 131072
        How many rows are shuffled in memory; with as many as there are, the order is that of ``fit(shuffle=True)``.
    seed : int, default 0
        Decides the order and the rows held out.
    tie : {"mistake", "positive", "negative"}, default "mistake"
        What a score of exactly 0 is.
    fit_intercept : bool, default True
        Learn an offset.
    eta0 : float, default 1.0
        The length of a step.
    margin : float, default 0.0
        Learn also from rows that are right, but by no more than `margin` times what learning them would add to
        y · score. They count as mistakes, but not against an accuracy.
    multi_class : {"ovr", "joint"}, default "ovr"
        Three classes or more: each against the rest, or jointly.
    classes : sequence, optional
        All classes, if they are known. Otherwise they are found on the way.
    class_weight : dict or "balanced", optional
        Multiplies the steps of a class. "balanced" counts the classes first.
    hold_out : float, default 0.0
        The share of rows that are not learned from but judged after each pass. Which they are depends on the seed and
        the number of the row alone.
    early_stopping : {"progressive", "hold-out"}, optional
        Keep the best weights, and stop when nothing better has come for `patience` passes: judged by the mistakes made
        in the pass, or by the rows held out.
    patience : int, default 5
        How many passes to wait for something better.
    cache : str or path, optional
        Where the rows are kept for later passes. It stays there, and is used again for the same files. By default it is
        a temporary file.
    checkpoint : str or path, optional
        Where the state of the run is kept. The same call goes on from there, after a crash too, and ends with the same
        model to the bit. It is removed at the end.
    every : int, optional
        Rows between two checkpoints; by default 2**20.
    folder : str or path, optional
        Where temporary files are put.
    save_to : str or path, optional
        The file that the model is saved to, as by `save`, before the checkpoint is removed: if that fails, for want of
        room, say, the same call goes on from the checkpoint.
    threads : int, optional
        At most so many threads parse files, and learn where there are many classes; by default as many as there are
        processors, up to 8. It changes nothing of the model.
    progress : callable, optional
        Called up to ten times a second with a `Progress`.
    **reading
        How files are read, as for `read`.

    Returns
    -------
    TrainedModel

    Examples
    --------
    >>> import rosenblatt as rb
    >>> batches = [([[2.0, 1.0], [-1.0, 0.5]], ["cat", "dog"]), ([[-2.0, -1.0], [0.0, 3.0]], ["dog", "bird"])]
    >>> model = rb.train(batches, passes=10)
    >>> model.classes_.tolist(), model.converged_, model.predict([[3.0, 1.0]]).tolist()
    (['bird', 'cat', 'dog'], True, ['cat'])
    """
    began = time.monotonic()
    if every is not None and (checkpoint is None or every < 1):
        raise InputError("every is how many rows are between two checkpoints: at least 1, and only with checkpoint")
    options = TrainingOptions(
        readout=readout,
        passes=passes,
        max_updates=max_updates,
        shuffle=shuffle,
        shuffle_rows=shuffle_rows,
        seed=seed,
        tie=tie,
        fit_intercept=fit_intercept,
        eta0=eta0,
        margin=margin,
        multi_class=multi_class,
        classes=None if classes is None else tuple(classes),
        class_weight=class_weight,
        hold_out=hold_out,
        early_stopping=early_stopping,
        patience=patience,
    )
    ahead = head_start.settings_of(vars(options) | {"cache": cache, "checkpoint": checkpoint})
    rows = _source_of(source, reading, threads, ahead, summed=bool(options.margin))
    run = Run(options, rows, threads=most_threads("train", threads), progress=progress, ahead=ahead)
    run.began = min(began, rows.opened if isinstance(rows, FileSource) else began)  # it is parsed from then on
    paths = {name: None if path is None else os.fspath(path) for name, path in (("cache", cache), ("folder", folder))}
    files = RunFiles(run, checkpoint=None if checkpoint is None else os.fspath(checkpoint), every=every, **paths)
    try:
        with run.interrupts:
            files.open()
            run.after_batch = files.after_batch
            try:
                run.go()
            except KeyboardInterrupt:
                files.save()
                raise
            if save_to is not None:
                with suppress(OSError):  # there is an older one, and perhaps room for the model
                    files.save()
            run.end()
            model = _model_of(run)
            if save_to is not None:
                save(model, save_to)
            files.finish()
    finally:
        files.close()
    _warn_if_sorted(run)
    return model


def _source_of(
    source: Any, reading: dict[str, Any], threads: int | None, ahead: dict[str, Any] | None, *, summed: bool
) -> Source:
    from rosenblatt.reading.streams import Stream, open_stream

    if isinstance(source, Stream):
        stream = source
    elif isinstance(source, (str, os.PathLike)) or _are_paths(source):
        from rosenblatt.reading.options import ReadingOptions

        stream = open_stream(source, ReadingOptions.told(reading), threads=threads)
        stream.learn_ahead(ahead)
        return FileSource(stream)
    else:
        if reading:
            raise InputError(f"{min(reading)!r} says how files are read, and these rows come in batches: leave it out")
        if not isinstance(source, Iterable):
            raise InputError(f"train takes files or an iterable of batches (X, y), got {type(source).__name__}")
        return MemorySource(source, summed=summed)  # those of files are
    if reading:
        raise InputError(f"{min(reading)!r} says how files are read, and this stream is open already: leave it out")
    return FileSource(stream)


def _are_paths(source: Any) -> bool:
    return (
        isinstance(source, (list, tuple))
        and all(isinstance(one, (str, os.PathLike)) for one in source)
        and bool(source)
    )


# From a run to its model --------------------------------------------------------------------------------------------


def _model_of(run: Run) -> TrainedModel:
    options, learner, tally, source = run.options, run.learner, run.tally, run.source
    assert learner is not None and run.labels is not None and run.ranks is not None
    separated, bound = separates(run), mistake_bound(run)
    reading, shift = _settled_reading(run)
    learner = _shifted(learner) if shift else learner
    names = _names(source.feature_names, learner.n_features)
    counts = np.zeros(len(run.labels), np.int64)
    counts[run.ranks] = tally.counts
    model = TrainedModel(
        estimator_of(options.readout),
        _parameters(options),
        run.labels,
        learner,
        np.asarray(run.history, np.int64),
        bool(learner.converged.all()),
        separated,
        training={
            "rows": tally.rows,
            "counts": counts.tolist(),
            "progressive_right": _progressive(run),
            "learned": tally.learned,
            "held_out": 0 if run.held is None else run.held.rows,
            "held_out_right": _held_out_right(run),
            "rejected": source.rejected(),
            "sorted_by_label": tally.sorted_by_label(),
        },
        reading=reading,
        feature_names=names,
        names_of_hashes=dict(source.names_of_hashes),
    )
    model.report = _report(run, model, bound)
    return model


def _warn_if_sorted(run: Run) -> None:
    tally = run.tally
    if tally.sorted_by_label() and not run.options.shuffle:
        warnings.warn(
            f"the rows are sorted by label: the class changes only {counted(tally.changes, 'time')} in {tally.rows:,} "
            "rows, and a model learned in that order may know little but the last class. Use shuffle=True (--shuffle)",
            stacklevel=3,
        )


def _progressive(run: Run) -> int:
    """How many rows of the first pass were given their class; of two classes, those that were not on the wrong side."""
    assert run.learner is not None
    return run.tally.learned - run.wrong[0] if run.learner.n_classes == 2 else run.right


def _stopped_early(run: Run, model: TrainedModel) -> bool:
    """Whether it stopped because nothing got better."""
    return run.watch is not None and not model.converged_ and model.n_iter_ < run.options.passes


def _held_out_right(run: Run) -> int | None:
    """How many held-out rows the model gives their class: after early stopping that is the best one, not the last."""
    if run.held is None or run.watch is None:
        return run.held_out_right[-1] if run.held_out_right else None
    assert run.learner is not None and run.ranks is not None
    return HeldOut(run.held).judge(run.learner, run.ranks, run.choices)[1]


def _settled_reading(run: Run) -> tuple[Any, bool]:
    """The reading options with the index base of a libsvm file filled in, and whether that moves the columns."""
    reading, smallest = run.source.reading, run.source.smallest_index()
    if reading is None or smallest is None:
        return reading, False
    from dataclasses import replace

    base = 1 if smallest > 0 else 0
    return replace(reading, index_base=base), base == 1


def _shifted(learner: Learner) -> Learner:
    """Without the first column, which no row had."""
    d = learner.n_features - 1
    arrays = dict(learner.to_arrays())
    for name in ("weights", "late_weights", "first_weights"):
        if name in arrays:
            moved = np.zeros((len(arrays[name]), -(-d // 8) * 8))
            moved[:, :d] = arrays[name][:, 1 : d + 1]
            arrays[name] = moved
    if "support_columns" in arrays:
        arrays["support_columns"] = arrays["support_columns"] - 1
    return Learner.from_arrays(arrays, learner.n_classes, d, readout=learner.readout)


def _names(names: Sequence[str] | None, n_features: int) -> list[str] | None:
    """A name for each feature, or none at all."""
    return list(names) if names is not None and len(names) == n_features else None


def _parameters(options: TrainingOptions) -> dict[str, Any]:
    """Of the estimator that would learn the same."""
    plain = options.to_plain()
    return {
        "penalty": None,
        "fit_intercept": bool(options.fit_intercept),
        "max_iter": int(options.passes),
        "max_updates": plain["max_updates"],
        "tol": None,
        "shuffle": bool(options.shuffle),
        "restart": False,
        "verbose": False,
        "eta0": float(options.eta0),
        "tie": options.tie,
        "multi_class": options.multi_class,
        "n_jobs": None,
        "random_state": int(options.seed),
        "early_stopping": False,
        "validation_fraction": 0.1,
        "n_iter_no_change": int(options.patience),
        "class_weight": options.class_weight,
        "warm_start": False,
        "margin": float(options.margin),
    }


def _report(run: Run, model: TrainedModel, bound: int | None) -> dict[str, Any]:
    """What happened, as plain values."""
    training, labels = model.training or {}, model.classes_.tolist()
    base = 0 if model.reading is None or model.reading.format != "libsvm" else model.reading.index_base or 0

    formula = "(1 + 2 margin) (R / γ)²" if run.options.margin else "(R / γ)²"

    def name(column: int) -> str:
        if model.feature_names is not None:
            return model.feature_names[column]
        return model.names_of_hashes.get(column, str(column + base))

    return {
        "estimator": model.estimator,
        "rows": training["rows"],
        "learned_rows": training["learned"],
        "features": model.n_features_in_,
        "classes": [{"class": label, "rows": n} for label, n in zip(labels, training["counts"], strict=True)],
        "passes": model.n_iter_,
        "mistakes_per_pass": model.mistakes_per_pass_.tolist(),
        "updates": model.n_updates_,
        "learning_margin": float(run.options.margin),
        "converged": model.converged_,
        "stopped_early": _stopped_early(run, model),
        "problems": model.learner.n_problems,
        "separates": model.separates_,
        "mistake_bound": bound,
        "mistake_bound_from": None if bound is None else f"a bound from the hyperplane found: {formula} of these rows",
        "progressive_accuracy": model.progressive_accuracy,
        "hold_out_rows": training["held_out"],
        "hold_out_accuracy": model.hold_out_accuracy,
        "hold_out_accuracy_per_pass": [right / max(1, training["held_out"]) for right in run.held_out_right],
        "largest_weights": largest_weights(model.learner, labels, name),
        "rejected_lines": training["rejected"],
        "sorted_by_label": training["sorted_by_label"],
        "class_changes": run.tally.changes,
        "class_changes_if_mixed": round(run.tally.changes_if_mixed),
        "in_runs": run.tally.in_runs() and not run.options.shuffle,
        "resumed_at": run.resumed_at,
        "seconds": run.seconds(),
    }
