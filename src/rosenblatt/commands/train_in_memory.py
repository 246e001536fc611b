"""``rosenblatt train`` with a margin: the whole file in memory, and an answer with a stated gap."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rosenblatt.commands import output
from rosenblatt.commands.examples import Examples, load_examples
from rosenblatt.commands.reading import as_arguments, told
from rosenblatt.commands.train_from_stream import class_weight
from rosenblatt.commands.train_report import command, rejected_files
from rosenblatt.errors import NotSeparableError

_LARGEST = 10
_NAMES = {"max-margin": "the hyperplane of maximum margin", "soft-margin": "the hyperplane of the soft margin"}


def learn(
    name: str, data: Sequence[str], path: str, given: dict[str, Any], reading: dict[str, Any], *, quiet: bool
) -> dict[str, Any]:
    """Train, save the model, and tell what came of it."""
    import numpy as np

    import rosenblatt as rb
    from rosenblatt.trained_model import remember_reading

    start = time.perf_counter()
    with output.waiting() as now:
        now("reading")
        unweighted = "a maximum margin" if name == "max-margin" else None
        examples = load_examples(data, reading, given.get("threads"), unweighted=unweighted)
        examples.stream.require_room_for_names()
        now(f"looking for the best hyperplane for {len(examples.y):,} rows")
        try:
            weights = {} if unweighted or examples.weights is None else {"sample_weight": examples.weights}
            model = _estimator(name, given).fit(examples.X, examples.y, **weights)
        except NotSeparableError as error:
            raise _not_separable(error, data, reading) from error
    accuracy = float(model.score(examples.X, examples.y))
    _, counts = np.unique(examples.y, return_counts=True)
    remember_reading(
        model,
        examples.options,
        counts.tolist(),
        feature_names=examples.names,
        names_of_hashes=examples.stream.names_of_hashes,
        rejected=examples.stream.rejected,
    )
    rb.save(model, path)
    classes = [{"class": label, "rows": n} for label, n in zip(model.classes_.tolist(), counts.tolist(), strict=True)]
    return {
        "algorithm": _NAMES[name],
        "data": list(data),
        "model": path,
        "estimator": type(model).__name__,
        "rows": len(examples.y),
        "features": int(model.n_features_in_),
        "classes": classes,
        "separates": True if name == "max-margin" else None,
        "margin": float(np.min(model.margin_)) if name == "max-margin" else None,
        "gap": float(model.gap_),
        "reading": told(examples.options),
        "rejected_lines": examples.stream.rejected,
        "rejected_files": rejected_files(data, examples.options),
        "largest_weights": _largest(model, examples),
        "training_accuracy": accuracy,
        "seconds": time.perf_counter() - start,
        "next": [command("predict", path, "NEW_DATA")],
    }


def _largest(model: Any, examples: Examples) -> list[dict[str, Any]]:
    """The features that weigh most."""
    import numpy as np

    size = np.abs(model.coef_).ravel()
    names = model.classes_.tolist()
    found = []
    for place in np.lexsort((np.arange(len(size)), -size))[: min(_LARGEST, np.count_nonzero(size))].tolist():
        vector, column = divmod(place, model.coef_.shape[1])
        label = names[1] if len(names) == 2 else names[vector]
        weight = float(model.coef_[vector, column])
        found.append({"feature": examples.name(column), "class": label, "weight": weight})
    return found


def _not_separable(error: NotSeparableError, data: Sequence[str], reading: dict[str, Any]) -> NotSeparableError:
    """The same, with commands as the way out."""
    first = str(error).partition(" So there is no maximum margin.")[0]
    proof = command("certify", *data, *as_arguments(reading))
    return NotSeparableError(
        f"{first} So there is no maximum margin. Use --algorithm soft-margin, or --average; {proof} shows the rows",
        error.certificate,
    )


def _estimator(name: str, given: dict[str, Any]) -> Any:
    import rosenblatt as rb

    same: dict[str, Any] = {"fit_intercept": "no_intercept" not in given, "n_jobs": given.get("threads")}
    same |= {key: given[key] for key in ("gap", "time_limit") if key in given}
    if name == "max-margin":
        return rb.MaxMargin(**same)
    if "class_weight" in given:
        same["class_weight"] = class_weight(given["class_weight"])
    return rb.SoftMargin(C=given.get("cost", 1.0), **same)
