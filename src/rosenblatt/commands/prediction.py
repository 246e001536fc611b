"""What ``rosenblatt predict`` does: rows in, labels and scores out, in constant memory."""

from __future__ import annotations

import dataclasses
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import IO, Any

from rosenblatt.commands.conversion import TABLES
from rosenblatt.commands.metrics import Metrics
from rosenblatt.commands.prediction_files import PredictionFile
from rosenblatt.commands.prediction_files import format_of as format_of
from rosenblatt.errors import InputError, counted

# Options that say what the features are and which columns they become.
_MAKE_FEATURES = ("categories", "names", "bits", "ngrams", "word_values", "interactions")


def loaded(model: str) -> Any:
    """The model, without scikit-learn."""
    from rosenblatt.trained_model import load_trained

    return load_trained(model)


def opened(trained: Any, data: Sequence[str], reading: dict[str, Any], threads: int | None) -> Any:
    """The rows, read as the model's were, unless something else is told."""
    from rosenblatt.reading.options import ReadingOptions

    # Every row gets its line, so a bad one is an error even if it was passed over in training.
    known = dataclasses.replace(trained.reading or ReadingOptions(), bad_lines="error")
    return open_for_model(trained, known, trained.feature_names, data, reading, threads, labelled=False)


def open_for_model(
    model: Any,
    known: Any,
    names: Sequence[str] | None,
    data: Sequence[str],
    reading: dict[str, Any],
    threads: int | None,
    *,
    labelled: bool = True,
) -> Any:
    """The rows of files for a model, read as its own were (`known`), but for what is told (`reading`).

    They must have the features that it has learned from, whose names are `names`.
    """
    from rosenblatt.commands import model_columns
    from rosenblatt.readers import open_stream

    options = read_as(known, data, reading)
    with model_columns.needed(known, reading):
        stream = open_stream(
            list(data),
            options,
            classes=model.classes_.tolist(),
            feature_names=names,
            threads=threads,
            labelled=labelled,
        )
    try:
        if not labelled:
            stream.require_told(reading)
        require_index_base(stream)
        if "others" not in reading:
            model_columns.require_all(stream, known, options)
        model_columns.require_features(stream, model.n_features_in_)
        if "numeric" in reading or not options.numeric:  # else they are known by their names
            model_columns.require_order(stream, names)
    except InputError:
        stream.close()
        raise
    return stream


def read_as(known: Any, data: Sequence[str], reading: dict[str, Any]) -> Any:
    """How to read files for a model whose own were read as `known`: so, but for what is told or their names say."""
    from rosenblatt.reading.formats_found import format_of_name

    named = {} if "format" in reading or known.format is None else {format_of_name(file): file for file in data}
    for name, file in named.items():
        if name in (None, known.format):
            continue
        if name not in TABLES or not known.is_table:
            raise InputError(
                f"{file} is {name} by its name, but the model was learned from {known.format}: give it such a file "
                f"(rosenblatt convert makes one), or say --format {known.format} if this is one"
            )
        known = _of_format(known, str(name))
    _require_same_features(known, reading)
    if reading.get("format") in TABLES and known.is_table and reading["format"] != known.format:
        known = _of_format(known, reading["format"])
    return dataclasses.replace(known, **reading)


def _require_same_features(known: Any, reading: dict[str, Any]) -> None:
    """Raise if an option would make other features of the rows than those that the model has learned from."""
    if known.format is None:
        return
    for name in _MAKE_FEATURES:
        learned = getattr(known, name)
        without_effect = learned is None or (name == "bits" and not known.hashed)
        if name in reading and reading[name] != learned and not without_effect:
            option = f"--{name.replace('_', '-')}"
            how = f"with {option} {learned}" if learned is not False else f"without {option}"
            raise InputError(f"the model was learned {how}, which is part of what its features are: leave {option} out")


def _of_format(known: Any, name: str) -> Any:
    """The same columns in a table of another format: they are known by their names."""
    lines = (
        {"header": known.header, "quotes": known.quotes} if name in ("csv", "tsv") else {"header": None, "quotes": True}
    )
    return dataclasses.replace(known, format=name, delimiter=None, **lines)


def require_index_base(stream: Any) -> None:
    """Raise if nobody knows which feature an index of a libsvm file means to the model."""
    if stream.options.format == "libsvm" and stream.options.index_base is None:
        raise InputError(
            f"{stream.files[0]} is a libsvm file, and the model does not say whether its first feature has the number "
            "0 or 1, because it was not learned from such a file: say --index-base 0 or --index-base 1"
        )


def write(trained: Any, stream: Any, file: IO[bytes], kind: str, what: str) -> Metrics:
    """Write the predictions; how right they are."""
    metrics = Metrics(trained.classes_.tolist())
    out = PredictionFile(file, kind, what, trained.classes_)
    for labels, scores in _predicted(trained, stream, metrics):
        out.write(labels, scores)
        if file is getattr(sys.stdout, "buffer", None):  # whoever follows it wants to see each as it comes
            file.flush()
    out.close()
    return metrics


def gathered(trained: Any, stream: Any, what: str) -> dict[str, Any]:
    """The predictions as facts, all in memory."""
    metrics = Metrics(trained.classes_.tolist())
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
    knows, widest = False, 0
    for batch in stream.batches():
        knows = knows or _knows(trained, batch)
        widest = max(widest, batch.n_features)
        scores = trained.scores_of(batch)
        codes = trained.winners(scores)
        metrics.name_more(stream.classes.keys)
        metrics.add(batch.codes, codes)
        yield trained.classes_[codes], scores
    if metrics.rows and not knows:
        names, number = trained.feature_names, counted(trained.n_features_in_, "feature")
        learned = ", ".join(map(repr, names[:5])) if names else f"{number} without names"
        warnings.warn(
            f"the model knows no feature of {', '.join(stream.files[:3])}, so that every row has the same scores: "
            f"it has learned from {learned}",
            stacklevel=2,
        )
    elif stream.options.format == "libsvm" and widest > trained.n_features_in_:
        warnings.warn(
            f"the rows have {counted(widest, 'feature')}, and the model has learned of {trained.n_features_in_:,}: the "
            "others count nothing",
            stacklevel=2,
        )


def _knows(trained: Any, batch: Any) -> bool:
    """Whether the model has learned from any of the features; names that it has not met have columns behind its own."""
    return bool(batch.raw.dense or not len(batch.raw.columns) or batch.raw.columns.min() < trained.n_features_in_)
