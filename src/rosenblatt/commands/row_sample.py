"""Some rows of files that may be larger than memory, chosen with a fixed seed, read as a model's rows were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST = 2000  # rows


@dataclass(frozen=True)
class RowSample:
    """Rows with their labels, out of how many, and the features' names where each has one."""

    X: Any
    y: Any
    n_rows: int
    names: list[str] | None


def sampled(
    trained: Any, data: Sequence[str], reading: dict[str, Any], threads: int | None, most: int = MOST
) -> RowSample:
    """Each row with the same chance: those of the smallest of random numbers, one for each row."""
    import numpy as np

    from rosenblatt.readers import arrays

    generator = np.random.default_rng(0)
    kept: list[tuple[float, int, Any, Any]] = []  # the number drawn, the row's number, the row, its label
    bound, n = 1.0, 0
    for batch in arrays(opened(trained, data, reading, threads)):
        drawn = generator.random(len(batch.y))
        kept += [
            (float(drawn[place]), n + place, batch.X[[place]], batch.y[place])
            for place in np.flatnonzero(drawn < bound).tolist()
        ]
        if len(kept) > most:
            kept = sorted(kept, key=lambda row: row[:2])[:most]
            bound = kept[-1][0]
        n += len(batch.y)
    kept.sort(key=lambda row: row[1])
    return RowSample(
        _stacked([row[2] for row in kept], trained), np.array([row[3] for row in kept]), n, _names(trained)
    )


def opened(trained: Any, data: Sequence[str], reading: dict[str, Any], threads: int | None) -> Any:
    """The rows with their labels, read as the model's were, unless something else is told."""
    from rosenblatt.commands.prediction import open_for_model
    from rosenblatt.reading.options import ReadingOptions

    known = trained.reading or ReadingOptions()
    return open_for_model(trained, known, trained.feature_names, data, reading, threads)


def fitted(X: Any, trained: Any) -> Any:
    """Rows as wide as the model's; sparse features that it has never seen count nothing."""
    width = trained.n_features_in_
    if not hasattr(X, "tocsr") or X.shape[1] == width:
        return X
    X = X[:, :width] if X.shape[1] > width else X.copy()
    X.resize((X.shape[0], width))
    return X


def _names(trained: Any) -> list[str] | None:
    names: list[str] | None = trained.feature_names
    return names if names is not None and len(names) == trained.n_features_in_ else None


def _stacked(rows: list[Any], trained: Any) -> Any:
    import numpy as np

    if not rows or not hasattr(rows[0], "tocsr"):
        return np.concatenate(rows) if rows else np.empty((0, trained.n_features_in_))
    from scipy.sparse import vstack

    return vstack([fitted(row, trained) for row in rows], format="csr")
