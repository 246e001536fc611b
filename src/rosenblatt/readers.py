"""Data files as arrays: batch by batch in constant memory (`read`), or the whole (`load`)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rosenblatt.errors import FileFormatError, InputError, counted
from rosenblatt.reading.class_table import is_number
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.sources import PathLike
from rosenblatt.reading.streams import Position as Position
from rosenblatt.reading.streams import Stream as Stream
from rosenblatt.reading.streams import StreamBatch as StreamBatch
from rosenblatt.reading.streams import open_stream as open_stream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_INT32 = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Batch:
    """Some consecutive rows of a file, as `read` yields them.

    Parameters
    ----------
    X : array or scipy.sparse.csr_array of shape (n_rows, n_features)
        The rows. A later batch of a sparse file may have more features.
    y : array of shape (n_rows,)
        Their labels.
    sample_weight : array of shape (n_rows,), optional
        How much each row counts, if the file says so.
    first_row : int
        The number of the first row, counted from 0 over all files.
    """

    X: Any
    y: NDArray[Any]
    sample_weight: NDArray[np.float64] | None
    first_row: int

    def __len__(self) -> int:
        return len(self.y)


def read(
    path: PathLike | Iterable[PathLike], *, classes: Iterable[Any] = (), threads: int | None = None, **options: Any
) -> Iterator[Batch]:
    r"""Read a data file batch by batch, in constant memory.

    libsvm, CSV, TSV, JSON lines, Vowpal Wabbit, Parquet and Arrow files, plain or compressed. What a file is, is found
    from its name and its first bytes; every option of `ReadingOptions` can say otherwise.

    Parameters
    ----------
    path : str, path, or list of these
        A file, ``"-"`` for standard input, a pattern such as ``"part-*.csv"``, or several, read one after the other.
    classes : iterable of labels, optional
        Classes that are known beforehand; others may come all the same. Labels that were numbers in one batch cannot
        be text in the next: if words come late in the file, name one of them here, and all labels are text.
    threads : int, optional
        How many threads parse. It changes no row.
    **options
        What is not to be found from the file: see :doc:`/files`.

    Yields
    ------
    Batch
        Some rows: ``batch.X``, ``batch.y``, ``batch.sample_weight``.

    Raises
    ------
    FileFormatError
        A line cannot be read; the message says which, why, and what to do.

    Examples
    --------
    >>> import rosenblatt as rb, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "points.svm")
    ...     _ = file.write_text("+1 1:0.5 3:2\n-1 2:1\n")
    ...     for batch in rb.read(file):
    ...         print(batch.X.toarray().tolist(), batch.y.tolist())
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [1, -1]
    """
    stream = open_stream(path, ReadingOptions.told(options), classes=classes, threads=threads)
    return arrays(stream)


def arrays(stream: Stream) -> Iterator[Batch]:
    """The rows of a stream as `read` gives them."""
    base, n_features, labels = stream.options.index_base, stream.width or 0, _Labels(stream)
    finds_base = stream.options.format == "libsvm" and base is None
    for batch in stream.batches():
        first = batch.position.rows - batch.n_rows
        if finds_base and base is None:
            base = 0 if stream.smallest_index == 0 else 1
        if finds_base and base == 1 and stream.smallest_index == 0:
            raise FileFormatError(
                f"{_file_of(stream, batch)}: an index 0 is in rows {first} to {batch.position.rows - 1}, but none "
                "in those before, so that indices were taken to begin at 1. Say index_base=0 (--index-base 0)"
            )
        shift = 1 if finds_base and base == 1 else 0
        n_features = max(n_features, batch.n_features - shift)
        yield Batch(_matrix(batch, n_features, shift), labels.of(batch), batch.weights, first)
    _warn_of_rejected(stream)


class _Labels:
    """The labels of batches, looked up again only where there are new classes."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.values = stream.classes.values()

    def of(self, batch: StreamBatch) -> NDArray[Any]:
        if len(self.values) < len(self.stream.classes):
            first, before = batch.position.rows - batch.n_rows, self.values
            self.values = self.stream.classes.values()
            if first > 0 and before.dtype.kind != "U" and self.values.dtype.kind == "U":
                text = next(key for key in self.stream.classes.keys if not is_number(key))
                raise FileFormatError(
                    f"{_file_of(self.stream, batch)}: the label {text!r:.60} comes after {counted(first, 'row')} whose "
                    f"labels were numbers. Tell it beforehand, so that all labels are text: classes=[{text!r:.60}]; "
                    "rosenblatt.load and rosenblatt.train read such a file without"
                )
        labels: NDArray[Any] = self.values[batch.codes]
        return labels


def _matrix(batch: StreamBatch, n_features: int, shift: int) -> Any:
    raw = batch.raw
    if raw.dense:
        return raw.data.reshape(raw.n_rows, raw.n_features)
    from scipy.sparse import csr_array

    columns = raw.columns - shift if shift else raw.columns
    return csr_array((raw.data, columns, raw.starts), shape=(raw.n_rows, n_features))


def load(
    path: PathLike | Iterable[PathLike], *, threads: int | None = None, **options: Any
) -> tuple[Any, NDArray[Any]]:
    r"""Read a data file as a whole.

    Of a libsvm file the matrix is that of :func:`sklearn.datasets.load_svmlight_file`. What a file is, is found from
    its name and its first bytes; every option of `ReadingOptions` can say otherwise.

    Parameters
    ----------
    path : str, path, or list of these
        A file, ``"-"`` for standard input, a pattern such as ``"part-*.csv"``, or several, read one after the other.
    threads : int, optional
        How many threads parse. It changes no row.
    **options
        What is not to be found from the file: see :doc:`/files`.

    Returns
    -------
    X : array or scipy.sparse.csr_array of shape (n_rows, n_features)
        An array for a table of numbers, else sparse.
    y : array of shape (n_rows,)
        int64 if all labels are whole numbers, float64 if all are numbers, else str. Sample weights that a file has are
        not returned, which a warning says: `read` has them.

    Raises
    ------
    FileFormatError
        A line cannot be read; the message says which, why, and what to do.

    Examples
    --------
    >>> import rosenblatt as rb, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "points.csv")
    ...     _ = file.write_text("height,width,class\n1.5,2,cat\n3,1,dog\n")
    ...     rb.load(file)
    (array([[1.5, 2. ],
           [3. , 1. ]]), array(['cat', 'dog'], dtype='<U3'))
    """
    X, y, weights = load_stream(open_stream(path, ReadingOptions.told(options), threads=threads))
    if weights is not None:
        warnings.warn(
            "the file has sample weights, which load leaves out: rosenblatt.read gives them with each batch",
            stacklevel=2,
        )
    return X, y


def load_stream(stream: Stream) -> tuple[Any, NDArray[Any], NDArray[np.float64] | None]:
    """All rows of a stream as `load` gives them, and their weights, if there are any.

    Afterwards the stream knows what was found on the way.
    """
    whole = _Whole(stream)
    for batch in stream.batches():
        whole.add(batch)
    if whole.n_rows == 0:
        raise InputError(f"{', '.join(stream.files[:3])}: there are no rows")
    _warn_of_rejected(stream)
    return whole.matrix(), stream.classes.values()[whole.codes.array()], whole.weights()


class _Whole:
    """All rows of a stream, gathered batch by batch without a look at single rows."""

    def __init__(self, stream: Stream) -> None:
        import numpy as np

        self.stream = stream
        self.codes, self.data = _Growing(np.int32), _Growing(np.float64)
        self.own_weights = _Growing(np.float64)  # of the rows from the first on whose batch has weights
        self.columns, self.ends = _Growing(np.int32), _Growing(np.int64)
        self.n_rows, self.n_features = 0, stream.width or 0
        self.dense = False

    def add(self, batch: StreamBatch) -> None:
        import numpy as np

        raw = batch.raw
        if self.n_rows == 0:
            self._reserve(batch)
        self.dense = raw.dense
        self.codes.add(batch.codes)
        if not raw.dense:
            self.ends.add(raw.starts[1:], self.data.size)
            self.columns.add(raw.columns)
        self.data.add(raw.data)
        if batch.weights is not None or self.own_weights.size:
            self.own_weights.add(np.ones(batch.n_rows) if batch.weights is None else batch.weights)
        self.n_rows += batch.n_rows
        self.n_features = max(self.n_features, batch.n_features)

    def _reserve(self, batch: StreamBatch) -> None:
        """Room for as much as the file seems to hold; pages that are never written cost nothing."""
        total, offset = self.stream.total_bytes, batch.position.offset
        if total is None or not offset or len(self.stream.files) > 1:
            return
        share = 1.05 * total / offset
        for part, size in (
            (self.codes, batch.n_rows),
            (self.ends, batch.n_rows),
            (self.columns, 0 if batch.raw.dense else len(batch.raw.columns)),
            (self.data, len(batch.raw.data)),
        ):
            part.reserve(int(size * share) + 1)

    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each row, 1 where its batch has none; None if no batch has any."""
        import numpy as np

        own = self.own_weights.array()
        return np.concatenate([np.ones(self.n_rows - len(own)), own]) if len(own) else None

    def matrix(self) -> Any:
        import numpy as np

        if self.dense:
            return self.data.array().reshape(self.n_rows, self.n_features)
        from scipy.sparse import csr_array

        columns, data = self.columns.array(), self.data.array()
        finds_base = self.stream.options.format == "libsvm" and self.stream.options.index_base is None
        if finds_base and self.stream.smallest_index > 0:  # as scikit-learn does
            columns -= 1
            self.n_features -= 1
        starts = np.concatenate([np.zeros(1, np.int64), self.ends.array()])
        if len(data) <= _INT32:
            starts = starts.astype(np.int32)
        else:
            columns = columns.astype(np.int64)
        return csr_array((data, columns, starts), shape=(self.n_rows, self.n_features))


class _Growing:
    """An array that grows at its end."""

    def __init__(self, dtype: Any) -> None:
        import numpy as np

        self.room: NDArray[Any] = np.empty(0, dtype)
        self.size = 0

    def reserve(self, size: int) -> None:
        import numpy as np

        if size > len(self.room):
            room = np.empty(size, self.room.dtype)
            room[: self.size] = self.room[: self.size]
            self.room = room

    def add(self, more: NDArray[Any], offset: int = 0) -> None:
        end = self.size + len(more)
        if end > len(self.room):
            self.reserve(end + end // 2)
        into = self.room[self.size : end]
        into[:] = more
        if offset:
            into += offset
        self.size = end

    def array(self) -> NDArray[Any]:
        """What was added. Room that is left over is given back."""
        if len(self.room) > self.size:
            self.room.resize(self.size, refcheck=False)
        return self.room


def _file_of(stream: Stream, batch: StreamBatch) -> str:
    return stream.files[batch.position.file]


def _warn_of_rejected(stream: Stream) -> None:
    words = stream.rejected_words()
    if words is not None:
        warnings.warn(words, stacklevel=3)
