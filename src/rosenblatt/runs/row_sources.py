"""Where the rows of a run come from: batches in memory, or files; codes number classes in order of appearance.

A source is read once, from the beginning or from a place where an earlier run stopped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rosenblatt import _engine, inputs
from rosenblatt.errors import InputError
from rosenblatt.inputs import MAX_CLASSES
from rosenblatt.reading.class_table import ClassTable, key_of
from rosenblatt.runs.row_batches import RowBatch, Sparse

if TYPE_CHECKING:
    from rosenblatt.reading.options import ReadingOptions
    from rosenblatt.reading.streams import Position, Stream
    from rosenblatt.runs.row_cache import RowCache

_MOST_ROWS = 1 << 14  # of a batch: between two, Ctrl-C is heard and a checkpoint can be written
_MOST_VALUES = 1 << 22


class Source(Protocol):
    """What a run asks of its rows."""

    @property
    def feature_names(self) -> Sequence[str] | None:
        """The names of the features met so far."""
        ...

    @property
    def names_of_hashes(self) -> dict[int, str]:
        """What was hashed into which column."""
        ...

    @property
    def reading(self) -> ReadingOptions | None:
        """How files are read."""
        ...

    def batches(self, position: dict[str, Any] | None = None) -> Iterator[RowBatch]:
        """The rows behind a position, in order; all of them if there is none."""
        ...

    def position(self) -> dict[str, Any]:
        """Where the last batch ended, as values that JSON can hold."""
        ...

    def known(self) -> dict[str, Any]:
        """What was met on the way, likewise."""
        ...

    def restore(self, known: dict[str, Any]) -> None:
        """Know that again."""
        ...

    def again(self, position: dict[str, Any], rows: int) -> Iterator[RowBatch] | None:
        """Some rows behind an earlier position once more, while reading goes on; None where that cannot be."""
        ...

    def learned_ahead(
        self,
        settings: dict[str, Any] | None,
        waiting: Callable[[int, int], None],
        keep: Callable[[_engine.PackedRows], None],
    ) -> dict[str, Any] | None:
        """What the engine has learned of the first rows by itself, which do not come again; None if nothing.

        Where there are more passes, it gives these rows to `keep`, before it knows whether they are of use.
        """
        ...

    def place(self) -> str:
        """Where the rows are, for messages: " in FILE", or nothing."""
        ...

    def n_classes(self) -> int:
        """How many classes were seen so far."""
        ...

    def labels(self) -> NDArray[Any]:
        """The classes seen so far, in the order of their appearance."""
        ...

    def told(self, classes: Sequence[Any]) -> NDArray[Any]:
        """Classes that the caller tells beforehand, sorted."""
        ...

    def ranks(self, labels: NDArray[Any]) -> list[int]:
        """The place of each class seen so far among sorted labels; −1: it is none of them."""
        ...

    def fingerprint(self) -> str | None:
        """What tells this data from other data; None if only the rows themselves do."""
        ...

    def bytes(self) -> tuple[int, int | None]:
        """How much was read, and of how much."""
        ...

    def rejected(self) -> int:
        """Lines that were skipped."""
        ...

    def smallest_index(self) -> int | None:
        """The smallest column number, where the base of the numbering is to be found; None where it is known."""
        ...


# Batches in memory --------------------------------------------------------------------------------------------------


class MemorySource:
    """Batches ``(X, y)`` or ``(X, y, sample_weight)``, or objects with these attributes."""

    reading: ReadingOptions | None = None

    def __init__(self, batches: Iterable[Any], *, summed: bool = False) -> None:
        """Keep the batches; nothing is read yet. `summed`: each feature of a sparse row is to be stored once."""
        self._summed = summed
        self._batches = [batches] if _is_one_batch(batches) else batches
        self._numbers: dict[Any, int] = {}
        self._labels: list[NDArray[Any]] = []
        self._rows = 0
        self._digest: Any = None
        self.feature_names: Sequence[str] | None = None
        self.names_of_hashes: dict[int, str] = {}

    def keep_digest(self) -> None:
        """From now on, keep a hash of all rows: a run that goes on later can tell whether they are the same."""
        from blake3 import blake3

        self._digest = blake3()

    def batches(self, position: dict[str, Any] | None = None) -> Iterator[RowBatch]:
        """The rows behind a position, which is checked to be that of the same rows."""
        skip = 0 if position is None else int(position["rows"])
        for number, given in enumerate(self._batches):
            try:
                batch = self._checked(given)
            except InputError as error:
                raise InputError(f"batch {number} of the stream: {error}") from None
            if batch is None:
                continue
            for part in _pieces(batch):
                begin = self._rows
                self._rows += len(part)
                if self._digest is not None:
                    _feed(self._digest, part)
                if begin >= skip:
                    yield part
                elif self._rows > skip or (self._rows == skip and self.position() != position):
                    raise _changed()
        if self._rows < skip:
            raise _changed()

    def _checked(self, given: Any) -> RowBatch | None:
        X, y, weights = _unpacked(given)
        if getattr(X, "shape", (1,))[0] == 0:
            return None
        rows = inputs.rows(X, estimator="train")
        rows = rows.summed() if self._summed else rows
        self._note_names(rows.feature_names)
        codes = self._codes(inputs.labels(y, len(rows)))
        weights = _weights(weights, len(rows))
        d = rows.shape[1]
        if rows.dense is not None:
            return RowBatch(codes, d, dense=rows.dense, weights=weights, view=rows.view)
        csr = rows.sparse
        index = np.result_type(csr.indices.dtype, csr.indptr.dtype)
        used = slice(int(csr.indptr[-1]))
        sparse = Sparse(
            csr.data[used], csr.indices[used].astype(index, copy=False), csr.indptr.astype(index, copy=False)
        )
        return RowBatch(codes, d, sparse=sparse, weights=weights, view=rows.view)

    def _note_names(self, names: Sequence[str] | None) -> None:
        known = self.feature_names
        if names is None or (known is not None and list(known) == list(names)):
            return
        if known is not None and list(names[: len(known)]) != list(known):
            raise InputError(
                f"its columns {list(names)[:8]!r} are not those of the batches before, {list(known)[:8]!r}: "
                "new columns may only follow the known ones"
            )
        self.feature_names = names

    def _codes(self, y: NDArray[Any]) -> inputs.Codes:
        """Codes in the order of first appearance, over all batches."""
        classes, codes = inputs.encode(y)
        if self._labels and (classes.dtype.kind in "iufb") != (self._labels[0].dtype.kind in "iufb"):
            raise InputError(
                f"its labels are of another kind than those before: {classes[0]!r} and {self._labels[0][0]!r}. "
                "Use labels of one type"
            )
        inputs.require_classes(classes)
        names = classes.tolist()
        if any(name not in self._numbers for name in names):
            _, first = np.unique(codes, return_index=True)
            for k in np.argsort(first):
                if names[k] not in self._numbers:
                    self._numbers[names[k]] = len(self._numbers)
                    self._labels.append(classes[k : k + 1])
            if len(self._numbers) >= MAX_CLASSES:
                raise InputError(f"there are {len(self._numbers):,} classes; at most {MAX_CLASSES - 1:,} are supported")
        number = np.asarray([self._numbers[name] for name in names], np.int16)
        return number[codes]

    def position(self) -> dict[str, Any]:
        """How many rows were read, and their hash."""
        return {"rows": self._rows, "hash": None if self._digest is None else self._digest.hexdigest()}

    def known(self) -> dict[str, Any]:
        """The names of the features; the classes are met again when the batches are gone through again."""
        return {"names": None if self.feature_names is None else list(self.feature_names)}

    def restore(self, known: dict[str, Any]) -> None:
        """Know the names again."""
        self.feature_names = known["names"]

    def again(self, position: dict[str, Any], rows: int) -> None:
        """What came from an iterator does not come again."""
        return

    def learned_ahead(self, *_: Any) -> None:
        """The engine does not read batches by itself."""
        return

    def place(self) -> str:
        """Batches have no name."""
        return ""

    def n_classes(self) -> int:
        """How many classes were seen so far."""
        return len(self._numbers)

    def labels(self) -> NDArray[Any]:
        """The classes, in the order of their appearance."""
        if not self._labels:
            return np.empty(0, np.int64)
        return np.concatenate(self._labels)

    def told(self, classes: Sequence[Any]) -> NDArray[Any]:
        """Told classes, sorted."""
        return np.unique(np.asarray(classes))

    def ranks(self, labels: NDArray[Any]) -> list[int]:
        """Equal labels are the same class."""
        places = {label: place for place, label in enumerate(labels.tolist())}
        return [places.get(label, -1) for label in self._numbers]

    def fingerprint(self) -> None:
        """Nothing tells these rows from others but the rows themselves."""
        return

    def bytes(self) -> tuple[int, int | None]:
        """Nothing is read from anywhere."""
        return 0, None

    def rejected(self) -> int:
        """Nothing is skipped."""
        return 0

    def smallest_index(self) -> int | None:
        """Columns are numbered from 0."""
        return None


# Files --------------------------------------------------------------------------------------------------------------


class FileSource:
    """The rows of a stream of files."""

    def __init__(self, stream: Stream) -> None:
        """Keep the stream, which may be parsing already."""
        stream.require_room_for_rejected()
        self._stream, self.opened = stream, stream.opened
        self._position: Position | None = None
        self._rejected = 0
        self._told_of_names = False

    def restore(self, known: dict[str, Any]) -> None:
        """Give the stream what it had met."""
        hashed = known["hashed_names"]
        names = None if hashed is None else dict(zip(*hashed, strict=True))
        self._stream.take_up(known["classes"], known["names"], names)
        self._watch_names()
        self._stream.smallest_index = known["smallest_index"]
        self._rejected = known["rejected"]

    def batches(self, position: dict[str, Any] | None = None) -> Iterator[RowBatch]:
        """The rows behind a position."""
        stream, start = self._stream, None
        if position is not None:
            from rosenblatt.reading.streams import Position

            start = Position(**position)
        width = stream.width or 0
        for batch in stream.batches(start):
            self._position = batch.position
            self._watch_names()
            yield RowBatch.of_stream(batch, width)

    def _watch_names(self) -> None:
        """Warn once if names are not kept, and raise early if there are too many to be saved."""
        self._stream.require_room_for_names()
        if self._stream.names_dropped and not self._told_of_names:
            self._told_of_names = True
            warnings.warn(str(self._stream.dropped_words()), stacklevel=2)

    def again(self, position: dict[str, Any], rows: int) -> Iterator[RowBatch] | None:
        """Some rows behind an earlier position, from a stream of their own."""
        stream = self._stream
        if not stream.rewindable or stream.options.bad_lines == "skip":  # bad lines would be noted twice
            return None
        return _rows_again(stream, position, rows)

    def learned_ahead(
        self,
        settings: dict[str, Any] | None,
        waiting: Callable[[int, int], None],
        keep: Callable[[_engine.PackedRows], None],
    ) -> dict[str, Any] | None:
        """Of the first file."""
        found = self._stream.learned_ahead(settings, waiting, keep)
        if found is None:
            return None
        self._watch_names()
        learned, self._position = found
        return learned

    def place(self) -> str:
        """The names of the files."""
        return f" in {', '.join(self._stream.files)}"

    def position(self) -> dict[str, Any]:
        """In the files."""
        assert self._position is not None
        return self._position._asdict()

    def known(self) -> dict[str, Any]:
        """Classes, names and numbers that the stream has met."""
        stream, hashed = self._stream, self._stream.names_of_hashes
        return {
            "classes": stream.classes.keys,
            "names": stream.feature_names if stream.width is None else None,
            "hashed_names": None if stream.names_dropped else [list(hashed), list(hashed.values())],
            "smallest_index": stream.smallest_index,
            "rejected": stream.rejected,
        }

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features met so far."""
        return self._stream.feature_names

    @property
    def names_of_hashes(self) -> dict[int, str]:
        """What was hashed into which column."""
        return self._stream.names_of_hashes

    @property
    def reading(self) -> ReadingOptions:
        """How the files are read."""
        return self._stream.options

    def n_classes(self) -> int:
        """How many classes were met so far."""
        return len(self._stream.classes)

    def labels(self) -> NDArray[Any]:
        """The classes, in the order of their appearance."""
        return self._stream.classes.values()

    def told(self, classes: Sequence[Any]) -> NDArray[Any]:
        """Told classes as a file with all of them would have them, sorted."""
        return np.sort(ClassTable(classes).values())

    def ranks(self, labels: NDArray[Any]) -> list[int]:
        """Labels that are written differently may be one class."""
        places = {key_of(label): place for place, label in enumerate(labels)}
        return [places.get(key, -1) for key in self._stream.classes.keys]

    def fingerprint(self) -> str | None:
        """Of the files; None for standard input."""
        return self._stream.fingerprint if self._stream.rewindable else None

    def bytes(self) -> tuple[int, int | None]:
        """How much of the files was read."""
        return self._stream.bytes_read(), self._stream.total_bytes

    def rejected(self) -> int:
        """Lines that were skipped."""
        return max(self._stream.rejected, self._rejected)

    def smallest_index(self) -> int | None:
        """Of libsvm files whose base was not told."""
        options = self._stream.options
        return self._stream.smallest_index if options.format == "libsvm" and options.index_base is None else None


class CachedSource(FileSource):
    """The rows of files, from the cache that an earlier run has made of them."""

    def __init__(self, files: FileSource, cache: RowCache, known: dict[str, Any]) -> None:
        """`known` is what was known at the end of the files."""
        super().__init__(files._stream)
        self._cache, self._rows, self._n_classes = cache, 0, len(known["classes"])
        self.restore(known)

    def batches(self, position: dict[str, Any] | None = None) -> Iterator[RowBatch]:
        """The rows of the cache behind a position."""
        for first, batch in self._cache.batches(0 if position is None else position["rows"]):
            self._rows, self._n_classes = first + len(batch), self._cache.classes_at(first)
            yield batch

    def again(self, position: dict[str, Any], rows: int) -> Iterator[RowBatch]:
        """The rows of the cache once more."""
        first = position["rows"]
        return self._cache.stretch(first, first + rows)

    def position(self) -> dict[str, Any]:
        """The row of the cache."""
        return {"rows": self._rows}

    def n_classes(self) -> int:
        """How many classes were met up to the last block."""
        return self._n_classes

    def bytes(self) -> tuple[int, int | None]:
        """Nothing of the files is read."""
        return 0, None


def _rows_again(stream: Stream, position: dict[str, Any], rows: int) -> Iterator[RowBatch]:
    """So many rows behind a position; the files are opened when the first is asked for."""
    from rosenblatt.reading.streams import Position

    for batch in stream.twin().batches(Position(**position)):
        found = RowBatch.of_stream(batch, stream.width or 0)
        yield found.part(0, min(rows, len(found)))
        rows -= len(found)
        if rows <= 0:
            return


def _is_one_batch(given: Any) -> bool:
    """Whether this is ``(X, y)`` itself and not a list of such pairs."""
    return isinstance(given, tuple) and len(given) in (2, 3) and getattr(given[0], "ndim", 0) == 2


def _unpacked(given: Any) -> tuple[Any, Any, Any]:
    if hasattr(given, "X") and hasattr(given, "y"):
        return given.X, given.y, getattr(given, "sample_weight", None)
    if isinstance(given, (tuple, list)) and len(given) in (2, 3):
        return given[0], given[1], given[2] if len(given) == 3 else None
    raise InputError(f"a batch must be (X, y) or (X, y, sample_weight), got {type(given).__name__}")


def _weights(given: Any, n: int) -> inputs.FloatArray | None:
    """As `inputs.sample_weight`, but a whole batch may have weight 0."""
    if given is None:
        return None
    array = np.asarray(given, np.float64)
    if array.shape == (n,) and not array.any():
        return np.zeros(n)
    return inputs.sample_weight(given, n)


def _pieces(batch: RowBatch) -> Iterator[RowBatch]:
    n = len(batch)
    step = max(1, min(_MOST_ROWS, _MOST_VALUES * n // max(1, batch.n_values)))
    if step >= n:
        yield batch
        return
    for first in range(0, n, step):
        yield batch.part(first, min(first + step, n))


def _feed(digest: Any, batch: RowBatch) -> None:
    parts = [batch.codes, *([batch.dense] if batch.dense is not None else list(batch.sparse or ()))]
    digest.update(f"{len(batch)} {batch.n_features} {[str(part.dtype) for part in parts]}".encode())
    for part in [*parts, *([] if batch.weights is None else [batch.weights])]:
        digest.update(np.ascontiguousarray(part).view(np.uint8).data)


def _changed() -> InputError:
    return InputError(
        "these are not the rows that the checkpoint was made with: give the same batches again, "
        "or delete the checkpoint to begin anew"
    )
