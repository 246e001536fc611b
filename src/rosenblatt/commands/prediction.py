"""What ``rosenblatt predict`` does: rows in, labels and scores out, in constant memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import IO, Any

from rosenblatt.commands.metrics import Metrics
from rosenblatt.commands.prediction_files import format_of as format_of
from rosenblatt.commands.prediction_files import prediction_file


def loaded(model: str) -> Any:
    """The model, without scikit-learn."""
    from rosenblatt.trained_model import load_trained

    return load_trained(model)


def opened(trained: Any, data: Sequence[str], reading: dict[str, Any], threads: int | None) -> Any:
    """The rows, read as the model's were, unless something else is told."""
    from rosenblatt.readers import open_stream
    from rosenblatt.reading_options import ReadingOptions

    # Every row gets its line, so a bad one is an error even if it was passed over in training.
    known = dataclasses.replace(trained.reading or ReadingOptions(), bad_lines="error")
    options = dataclasses.replace(known, **reading)
    return open_stream(
        list(data),
        options,
        classes=trained.classes_.tolist(),
        feature_names=trained.feature_names,
        threads=threads,
        labelled=False,
    )


def write(trained: Any, stream: Any, file: IO[bytes], kind: str, what: str) -> Metrics:
    """Write the predictions; how right they are."""
    import numpy as np

    classes = [str(label) for label in trained.classes_.tolist()]
    metrics = Metrics(classes)
    out = prediction_file(file, kind, what, classes)
    nothing = np.empty(0) if len(classes) == 2 else np.empty((0, len(classes)))
    out.write(*_asked(trained.classes_[:0], nothing, what))  # so that a file without rows has its columns
    for labels, scores in _predicted(trained, stream, metrics):
        out.write(*_asked(labels, scores, what))
    out.close()
    return metrics


def gathered(trained: Any, stream: Any, what: str) -> dict[str, Any]:
    """The predictions as facts, all in memory."""
    metrics = Metrics([str(label) for label in trained.classes_.tolist()])
    predictions: list[Any] = []
    scores: list[Any] = []
    for labels, own in _predicted(trained, stream, metrics):
        predictions += labels.tolist()
        scores += own.tolist()
    facts = metrics.facts() | {"bad_lines": stream.rejected, "class_order": trained.classes_.tolist()}
    if what != "scores":
        facts["predictions"] = predictions
    if what != "labels":
        facts["scores"] = scores
    return facts


def _predicted(trained: Any, stream: Any, metrics: Metrics) -> Iterator[tuple[Any, Any]]:
    """Labels and scores of each batch; the metrics are told."""
    for batch in stream.batches():
        scores = trained.scores_of(batch)
        codes = trained.winners(scores)
        metrics.names += [str(key) for key in stream.classes.keys[len(metrics.names) :]]
        metrics.add(batch.codes, codes)
        yield trained.classes_[codes], scores


def _asked(labels: Any, scores: Any, what: str) -> tuple[Any, Any]:
    return (None if what == "scores" else labels), (None if what == "labels" else scores)
