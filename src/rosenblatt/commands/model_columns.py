"""Whether files have the features that a model was learned from: of other ones its scores would mean nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rosenblatt.errors import FileFormatError, InputError, counted


@contextmanager
def needed(known: Any, reading: dict[str, Any]) -> Iterator[None]:
    """Say of a column that is not there that the model needs it, unless `reading`, what the user told, names it.

    `known` is how the rows of the model were read.
    """
    from rosenblatt.reading.table_columns import MissingColumnError, columns_by_number

    try:
        yield
    except MissingColumnError as error:
        if error.option in reading:
            raise
        if isinstance(error.name, int) and columns_by_number(known) is not None:
            raise _other_columns(error.header, known) from None
        what = f"the model needs column {error.name!r}, and {error.header.where} has no such column"
        raise FileFormatError(f"{what}. {error.there_are()}", error.path) from None


def require_all(stream: Any, known: Any, options: Any) -> None:
    """Raise if columns that are known by their numbers are more or fewer than those that `options` name.

    Only the label may not be there, and then the options of the stream have none.
    """
    from rosenblatt.reading.table_columns import columns_by_number

    wanted, columns = columns_by_number(options), stream.columns
    if wanted is None or columns is None:
        return
    if len(columns.header.names) != wanted - (columns.label is None and options.label is not None):
        raise _other_columns(columns.header, known)


def _other_columns(header: Any, known: Any) -> FileFormatError:
    """The error for a file that has not as many columns as the one without names that the model was learned from."""
    from rosenblatt.reading.table_columns import columns_by_number

    has, learned = len(header.names), columns_by_number(known) or 0
    features = len(known.numeric) + len(known.categorical) + len(known.text)
    others = f", {learned - features - 1:,} of other things" if learned > features + 1 else ""
    parts = f"{features:,} of features{others}, and the label in column {known.label}"
    remedy = "; --others ignore leaves out those behind them" if has > learned else ""
    return FileFormatError(
        f"{header.where} has {counted(has, 'column')}, but the model was learned from {learned:,} without names: "
        f"{parts}. Give it the same columns{remedy}",
        header.path,
    )


def require_features(stream: Any, n_features: int) -> None:
    """Raise if there are not as many features as the model has learned from.

    Of rows that are sparse and not hashed that is not known, and each of them may be as short as it likes.
    """
    if stream.width in (None, n_features):
        return
    where, has, remedy = stream.files[0], counted(stream.width, "feature"), ""
    if (columns := stream.columns) is not None:
        from rosenblatt.reading.table_columns import Kind

        where = columns.header.where
        hashed = f", hashed into {stream.width:,}" if stream.options.hashed else ""
        has = (
            f"{counted(sum(Kind.NUMBER <= kind <= Kind.TEXT for kind in columns.kinds), 'column')} of features{hashed}"
        )
        if stream.width > n_features:
            label = "" if columns.label is not None else "--label says which column is the label, "
            remedy = f"; {label}--ignore leaves a column out"
    raise InputError(
        f"{where} has {has}, but the model was learned from {counted(n_features, 'feature')}. "
        f"Give it the same features{remedy}"
    )


def require_order(stream: Any, names: Sequence[str] | None) -> None:
    """Raise if the columns are taken in the order of the file, and their names are not those of the features."""
    found = stream.feature_names if stream.width is not None else None
    for place, (name, other) in enumerate(zip(names if names is not None else (), found or (), strict=False)):
        if name != other:
            raise InputError(
                f"{stream.files[0]}: feature {place} is {other!r}, but of those that the model was learned from it is "
                f"{name!r}. Put the columns in that order, or tell it: --numeric for each column, the first one first"
            )
