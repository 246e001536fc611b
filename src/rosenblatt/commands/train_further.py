"""``rosenblatt train --from MODEL``: a model goes on learning, from new rows of the same kind."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import click

from rosenblatt.commands import output
from rosenblatt.commands.prediction import open_for_model
from rosenblatt.commands.train_report import command, rejected_files
from rosenblatt.errors import InputError, counted

_TABLES_OF_RECORDS = ("parquet", "arrow")  # which have no lines
_KEPT = ("start", "threads")  # all else is as the model has it


def learn(
    name: str, data: Sequence[str], path: str, given: dict[str, Any], reading: dict[str, Any], *, quiet: bool
) -> dict[str, Any]:
    """One pass over the rows with the options of the model; save it, and tell what came of it."""
    import rosenblatt as rb

    changed = sorted(set(given) - set(_KEPT))
    if changed:
        option = f"--{changed[0].replace('_', '-')}"
        raise click.UsageError(f"{option} cannot be changed on the way: --from goes on with the options of the model")
    start = time.perf_counter()
    model = rb.load_model(given["start"])
    if not hasattr(model, "partial_fit"):
        raise InputError(f"{given['start']} is a {type(model).__name__}, which cannot go on learning: train it anew")
    stream = _opened(model, data, reading, given.get("threads"))
    before, rows, right = model.n_updates_, 0, 0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # the stream has seen to that
        for X, y, weights in _batches(model, stream):
            right += int((model.predict(X) == y).sum())
            model.partial_fit(X, y, sample_weight=weights)
            rows += len(y)
    if not rows:
        raise InputError(f"{', '.join(data)}: there are no rows to learn from")
    rb.save(model, path)
    return {
        "algorithm": f"{type(model).__name__} of {given['start']}, which went on",
        "data": list(data),
        "model": path,
        "estimator": type(model).__name__,
        "rows": rows,
        "features": int(model.n_features_in_),
        "classes": [{"class": label} for label in model.classes_.tolist()],
        "mistakes": model.n_updates_ - before,
        "batch_accuracy": right / rows,
        "rejected_lines": stream.rejected,
        "rejected_files": rejected_files(data, stream.options),
        "seconds": time.perf_counter() - start,
        "next": [command("predict", path, "NEW_DATA")],
    }


def _opened(model: Any, data: Sequence[str], reading: dict[str, Any], threads: int | None) -> Any:
    from rosenblatt.reading.options import ReadingOptions

    known = getattr(model, "reading_", None) or ReadingOptions()
    return open_for_model(model, known, getattr(model, "feature_names_in_", None), data, reading, threads)


def _batches(model: Any, stream: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Rows as wide as the model's, with their labels and weights."""
    from scipy.sparse import csr_array

    d, n_classes = model.n_features_in_, len(model.classes_)
    for batch in stream.batches():
        raw = batch.raw
        if len(stream.classes) > n_classes:
            raise _new_class(model, stream, batch)
        if raw.n_features > d:
            raise InputError(
                f"{stream.files[batch.position.file]}: a row up to line {batch.position.line} has feature number "
                f"{raw.n_features}, but the model knows {counted(d, 'feature')}: train on all files together"
            )
        if raw.dense:
            X = raw.data.reshape(raw.n_rows, raw.n_features)
        else:
            X = csr_array((raw.data, raw.columns, raw.starts), shape=(raw.n_rows, d))
        yield X, stream.classes.values()[batch.codes], batch.weights


def _new_class(model: Any, stream: Any, batch: Any) -> InputError:
    """The error of the first row whose class the model does not know, with its place where that can be found."""
    from rosenblatt.commands.row_places import look_again

    place = int((batch.codes >= len(model.classes_)).argmax())
    row, label = batch.position.rows - batch.n_rows + place, stream.classes.keys[batch.codes[place]]
    where = f"{output.files_in_words([stream.files[batch.position.file]])}, row {row:,} (the first is row 0)"
    if stream.rewindable and stream.options.format not in _TABLES_OF_RECORDS:
        for file, line in look_again(stream.files, vars(stream.options), [row]).values():
            where = f"{file}, line {line:,}"
    known = ", ".join(map(repr, model.classes_.tolist()[:10])) + (", ..." if len(model.classes_) > 10 else "")
    return InputError(
        f"{where}: the label {label!r:.60} is none of the classes of the model, {known}, which cannot change with "
        "--from: train anew on all files together"
    )
