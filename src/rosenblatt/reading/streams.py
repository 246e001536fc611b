"""Files as streams of labelled rows: in order, in constant memory, and from any place on again.

A stream knows what was found out about its files (`options`), which classes it has met (`classes`), and after each
batch where it stands (`Position`), so that learning can stop there and go on later.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from rosenblatt.errors import InputError, counted
from rosenblatt.limits import most_threads
from rosenblatt.reading import head_start, sources
from rosenblatt.reading.class_table import ClassTable
from rosenblatt.reading.open_files import (
    OpenFile,
    describe,
    layout_of,
    must_agree,
    open_file,
    require_one_format,
    require_same_columns,
)
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.rejected_lines import RejectedLines
from rosenblatt.reading.sources import PathLike, Source
from rosenblatt.reading.text_files import Beginning, Layout, require_key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rosenblatt import _engine
    from rosenblatt.reading.table_columns import Columns

_PATIENCE = 0.025  # seconds between two looks at whether anybody wants to know how far the engine is
_MOST_UNASKED, _MOST_ASKED = 8 << 20, 16 << 20  # bytes of names behind hashed features
_MOST_NAMES = 24 << 20  # bytes of names of columns; with all else that a model file says, it may be 32 MB
CHUNK = 1 << 19  # bytes of text that are parsed at once: few enough to stay in a cache


class Position(NamedTuple):
    """Where a batch ends: reading can go on from there."""

    file: int  # number of the file, from 0
    offset: int  # in its unpacked bytes; of Parquet and Arrow: in its rows
    line: int  # lines of the file up to there
    rows: int  # rows of all files up to there


class StreamBatch(NamedTuple):
    """Some rows, as the engine has them."""

    rows: _engine.DenseRows | _engine.SparseRows
    n_rows: int
    n_features: int  # highest column + 1; of tables of numbers their width
    codes: NDArray[np.int32]  # numbers of `Stream.classes`; −1: no label
    weights: NDArray[np.float64] | None  # None: all 1
    position: Position
    raw: Any  # the arrays: dense, data, and of sparse rows columns and starts


class Stream:
    """Labelled rows of one or several files. Made by `open_stream`.

    Attributes
    ----------
    files : list of str
        What is read, in order.
    options : ReadingOptions
        How, with everything filled in that was found.
    classes : ClassTable
        The classes met so far.
    smallest_index : int
        libsvm: the smallest index met so far, -1 if none.
    rejected : int
        How many bad lines were passed over.
    names_of_hashes : dict
        Where names are kept: the first name that was hashed into each column.
    names_dropped : bool
        Whether they were too many to be kept without being asked for.
    rewindable : bool
        Whether it can be read more than once.
    """

    _part: OpenFile | None = None
    _ready: OpenFile | None = None  # the first file, parsed while others prepare to use it
    _ahead: dict[str, Any] | None = None  # how the engine learns from it by itself

    def __init__(
        self,
        files: Sequence[str],
        options: ReadingOptions,
        *,
        classes: Iterable[Any] = (),
        feature_names: Sequence[str] | None = None,
        threads: int | None = None,
        labelled: bool | None = True,
        chunk: int = CHUNK,
    ) -> None:
        """Open the first file, find out what it is, and begin to parse it in the background."""
        self.opened = time.monotonic()
        self.files, self.classes = list(files), ClassTable(classes)
        self.smallest_index, self.rejected = -1, 0
        self.names_of_hashes: dict[int, str] = {}
        self.names_dropped = False
        self._name_bytes = self._names_counted = 0  # in a model file, and of how many
        self.bad_lines: list[str] = []  # what was wrong with the first of them
        self._threads, self._labelled, self._chunk = most_threads("reading", threads), labelled, chunk
        self._first_names = None if feature_names is None else [name.encode() for name in feature_names]
        self._finished_bytes, self._started = 0, False
        self._codes: list[int] = []  # class of each label token of the reader
        self._lookup: NDArray[np.int32] | None = None
        require_one_format(self.files, options)
        source, self._layout = self._open(0, options)
        self.rewindable = source.rewindable and all(_is_regular(file) for file in self.files[1:])
        self.options = replace(self._layout.options, compression=None)
        self._part = self._ready = self._begin(source, self._layout, Position(0, 0, 0, 0))

    # What is known of it ------------------------------------------------------------------------------------

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features met so far, if they have names and are not hashed."""
        columns = self._layout.columns
        if self.options.hashed or self.options.format == "libsvm":
            return None
        if columns is not None and columns.numeric_only:
            return [columns.header.names[place] for place in columns.numbers] if columns.header.told else None
        if self._part is not None:
            self._first_names = self._part.reader.dictionary()
        return [name.decode(errors="replace") for name in self._first_names or ()]

    @property
    def columns(self) -> Columns | None:
        """What each column of the first file is; None where a format has no columns."""
        return self._layout.columns

    @property
    def width(self) -> int | None:
        """How many features there are, if that is known before all rows are read."""
        columns = self._layout.columns
        if columns is not None and columns.numeric_only and not self.options.hashed:
            return len(columns.numbers)
        return 1 << self.options.bits if self.options.hashed else None

    @cached_property
    def fingerprint(self) -> str:
        """What told these files from others when first asked: names, sizes, times of change, the bytes at both ends."""
        return sources.fingerprint(self.files)

    @property
    def total_bytes(self) -> int | None:
        """The size of all files, None if that cannot be known."""
        sizes = [os.path.getsize(file) if _is_regular(file) else None for file in self.files]
        return None if None in sizes else sum(size or 0 for size in sizes)

    def bytes_read(self) -> int:
        """How many bytes of the files were read so far, packed as they are; somewhat ahead of the rows."""
        return self._finished_bytes + (0 if self._part is None else self._part.bytes_read())

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was found that a user may not expect, a sentence each."""
        return self._layout.remarks

    def require_room_for_rejected(self) -> None:
        """Raise if bad lines are to be kept beside a file where nothing may be written."""
        for file in self.files:
            if self.options.bad_lines == "skip" and _is_regular(file):
                RejectedLines(file).require_room()

    def require_told(self, told: Mapping[str, Any]) -> None:
        """Raise if there is no such label or weight as `told`: where nothing is learned, a model may name more."""
        columns, keys = self._layout.columns, self._layout.keys
        for option in ("label", "weight"):
            if columns is not None and told.get(option) is not None:
                columns.header.find(told[option], option)
        if keys is not None and told.get("label") is not None:
            require_key(self.files[0], keys, str(told["label"]))

    def describe(self) -> str:
        """What was found, in a line for people."""
        return describe(self._layout, self.files)

    # Reading ------------------------------------------------------------------------------------------------

    def batches(self, start: Position | None = None) -> Iterator[StreamBatch]:
        """Rows from the beginning, or from where another batch ended; the batches follow the order of the files."""
        here = start or Position(0, 0, 0, 0)
        if self._started and not self.rewindable:
            raise InputError("standard input can be read only once: save it to a file first, or use a cache")
        self._started = True
        if start is not None:
            self.close()
        self._forget_rejected(here)
        self._finished_bytes = sum(_size(file) for file in self.files[: here.file])
        try:
            for number in range(here.file, len(self.files)):
                self._part, self._ready = self._ready or self._open_part(number, here), None
                for batch in self._batches_of(self._part, here):
                    here = batch.position
                    yield batch
                self._finished_bytes += self._part.source.size or self._part.bytes_read()
                self._end_part()
                here = Position(number + 1, 0, 0, here.rows)
        finally:
            self._end_part()

    def learn_ahead(self, settings: Mapping[str, Any] | None) -> None:
        """Let the engine learn from the first file by itself (`head_start`), if it is one that it can read alone."""
        part, options = self._ready, self.options
        if settings is None or part is None or not (part.text and part.source.plain) or part.order is not None:
            return
        if options.bad_lines == "skip" or options.keeps_names or len(self.classes) or not self._labelled:
            return
        with suppress(RuntimeError):  # the system gives no thread for it
            head_start.begin(part.reader, settings, self.width or 0)
            self._ahead = dict(settings)

    def learned_ahead(
        self,
        settings: Mapping[str, Any] | None,
        waiting: Callable[[int, int], None],
        keep: Callable[[_engine.PackedRows], None],
    ) -> tuple[dict[str, Any], Position] | None:
        """What the engine has learned by itself, and where the rows go on; None: nothing, and all rows are to come.

        It is told in between (`waiting`) how many rows were visited and how many mistakes were made, and gives (to
        `keep`) the rows themselves if there are more passes.
        """
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return None
        assert self._ready is not None
        reader = self._ready.reader
        over = ahead != settings
        while not over:
            over = reader.wait(0.0 if ahead["keep"] else _PATIENCE)
            while ahead["keep"] and (kept := reader.take(0.0 if over else _PATIENCE)) is not None:
                keep(kept)
                waiting(*reader.so_far())
            waiting(*reader.so_far())
        learned = reader.learned() if ahead == settings else None
        if learned is not None and not learned["counts"][0]:
            return None
        if learned is None or not self._take_classes(reader.labels()[: 1 + (learned["counts"][1] > 0)]):
            self.close()  # to begin anew: something is wrong, or is not what it seemed, and is told where it is found
            return None
        rows = sum(learned["counts"])
        self.smallest_index = learned["smallest"]
        self._ready = None
        self._end_part()
        return learned, Position(1, 0, 0, rows) if learned["whole"] else Position(
            0, learned["end"], learned["lines"], rows
        )

    def _take_classes(self, tokens: list[bytes]) -> bool:
        """Meet the classes of these labels; no if they are not as many classes."""
        known = ClassTable()
        if [known.code(token) for token in tokens] != list(range(len(tokens))):
            return False
        self.classes = known
        return True

    def _end_part(self) -> None:
        if self._part is not None:
            if self._part.reader.n_names:
                self._first_names = self._part.reader.dictionary()
            self._part.close()
            self._part = None

    def twin(self) -> Stream:
        """Another stream over the same files, which knows what this one has met."""
        names = self.feature_names if self.width is None else None
        options = replace(self.options, compression=self._layout.options.compression)
        twin = Stream(
            self.files,
            options,
            classes=self.classes.keys,
            feature_names=names,
            threads=self._threads,
            labelled=self._labelled,
            chunk=self._chunk,
        )
        twin.names_dropped = self.names_dropped
        return twin

    def take_up(self, classes: Iterable[Any], names: Sequence[str] | None, hashed: dict[int, str] | None) -> None:
        """Know the classes and features that another run over these files had met, before going on where it was.

        No names of hashes, not even an empty dictionary of them, means that they were dropped.
        """
        self.close()
        self.classes, self.names_of_hashes, self.names_dropped = ClassTable(classes), hashed or {}, hashed is None
        self._name_bytes = sum(_room_for(name, column) for column, name in self.names_of_hashes.items())
        self._names_counted = 0
        self._first_names = None if names is None else [name.encode() for name in names]

    def close(self) -> None:
        """Stop reading ahead, if nobody will read."""
        self._ahead = None
        if self._ready is not None:
            self._ready.close()
            self._ready = self._part = None

    def __del__(self) -> None:
        self.close()

    def _open(self, number: int, options: ReadingOptions) -> tuple[Source, Layout]:
        """Open a file and find out what it is."""
        source = Source(self.files[number], options.compression, patient=options.format not in ("libsvm", "vw"))
        try:
            return source, layout_of(source, options, self._labelled)
        except BaseException:
            source.close()
            raise

    def _open_part(self, number: int, here: Position) -> OpenFile:
        options = replace(self.options, compression=self._layout.options.compression)
        with must_agree(self._layout):
            source, layout = self._open(number, options)
        try:
            require_same_columns(self._layout, layout)
        except BaseException:
            source.close()
            raise
        return self._begin(source, layout, here if here.file == number else Position(number, 0, 0, here.rows))

    def _begin(self, source: Source, layout: Layout, here: Position) -> OpenFile:
        self._codes, self._lookup = [], None
        beginning = Beginning(here.offset, here.line, self._first_names or ())
        return open_file(
            source,
            layout,
            here.file,
            beginning,
            labelled=bool(self._labelled),
            threads=self._threads,
            chunk=self._chunk,
        )

    def _batches_of(self, part: OpenFile, here: Position) -> Iterator[StreamBatch]:
        rows = here.rows
        while (raw := part.next()) is not None:
            rows += raw.n_rows
            if self.options.bad_lines == "skip":
                self._note_rejected(part, raw.rejected)
            if self.options.keeps_names and not self.names_dropped:
                self._keep_names(raw.names)
            if raw.n_rows:
                yield self._batch(part, raw, rows)
            if raw.fault is not None:
                raise part.fault_error(raw.fault)

    def _batch(self, part: OpenFile, raw: Any, rows: int) -> StreamBatch:
        if raw.smallest >= 0 and (raw.smallest < self.smallest_index or self.smallest_index < 0):
            self.smallest_index = raw.smallest
        position = Position(part.number, raw.end, raw.lines, rows)
        codes, raw = self._classes_of(part, raw), part.ordered(raw)
        return StreamBatch(raw.rows, raw.n_rows, raw.n_features, codes, raw.weights, position, raw)

    def _classes_of(self, part: OpenFile, raw: Any) -> NDArray[np.int32]:
        """From the numbers of label tokens to those of classes; mostly they are the same."""
        labels: NDArray[np.int32] = raw.labels
        if part.reader.n_labels > len(self._codes):
            import numpy as np

            tokens = part.reader.labels(len(self._codes))
            self._codes += [self.classes.code(token) for token in tokens]
            same = self._codes == list(range(len(self._codes)))
            self._lookup = None if same else np.asarray([*self._codes, -1], np.int32)
        return labels if self._lookup is None else self._lookup[labels]

    # Names --------------------------------------------------------------------------------------------------

    def _keep_names(self, names: list[tuple[int, bytes]]) -> None:
        """Know what was hashed into which column, unless that takes much room and nobody has asked for it."""
        known = self.names_of_hashes
        for column, name in names:
            if column not in known:
                known[column] = name.decode(errors="replace")
                self._name_bytes += _room_for(known[column], column)
        if self._name_bytes > _MOST_UNASKED and self.options.keep_names is None:
            self.names_of_hashes, self.names_dropped, self._name_bytes = {}, True, 0

    def dropped_words(self) -> str | None:
        """What became of the names behind hashed features, for people; None if nothing did."""
        if not self.names_dropped:
            return None
        return (
            f"the names behind the hashed features take more than {_MOST_UNASKED >> 20} MB, and are not kept: the "
            f"features go by their numbers. keep_names=True (--keep-names) keeps up to {_MOST_ASKED >> 20} MB"
        )

    def require_room_for_names(self) -> None:
        """Raise, as soon as it is known, if the names met so far are more than a model file has room for."""
        options = self.options
        if options.hashed:
            if self._name_bytes > _MOST_ASKED:
                raise InputError(
                    f"{self.files[0]}: the names behind the hashed features take more than {_MOST_ASKED >> 20} MB, "
                    f"the {len(self.names_of_hashes):,} so far, and a model file has no room for more. They only "
                    "explain a model: leave them out, keep_names=False (--no-keep-names)"
                )
            return
        part, known = self._part, self._names_counted
        if part is None:
            new = list(self._first_names or ())[known:]
        else:
            new = part.reader.dictionary(known) if part.reader.n_names > known else []
        self._names_counted += len(new)
        self._name_bytes += sum(_room_for(name.decode(errors="replace")) for name in new)
        if self._name_bytes > _MOST_NAMES:
            how = "categories='hash' (--categories hash)" if options.is_table else "names='hash' (--names hash)"
            text = "" if options.format == "vw" else ", or where values are texts, text= (--text COLUMN)"
            raise InputError(
                f"{self.files[0]}: the names of the features take more than {_MOST_NAMES >> 20} MB, the "
                f"{self._names_counted:,} so far, the last of them {new[-1].decode(errors='replace')!r:.60}, and a "
                f"model file has no room for more. Hash them: {how}{text}"
            )

    # Bad lines ----------------------------------------------------------------------------------------------

    def _forget_rejected(self, here: Position) -> None:
        self.rejected, self.bad_lines = 0, []
        if self.options.bad_lines != "skip":
            return
        for number, file in enumerate(self.files):
            before = 1 << 61 if number < here.file else here.line if number == here.file else 0
            self.rejected += RejectedLines(file).begin(before)

    def _note_rejected(self, part: OpenFile, faults: list[_engine.Fault]) -> None:
        if not faults:
            return
        RejectedLines(part.source.path).add(faults)
        self.rejected += len(faults)
        self.bad_lines += [part.words(fault) for fault in faults[: max(0, 3 - len(self.bad_lines))]]

    def rejected_words(self) -> str | None:
        """What became of the bad lines, for people; None if there were none."""
        if not self.rejected:
            return None
        files = sorted({RejectedLines(file).path for file in self.files if os.path.exists(RejectedLines(file).path)})
        first = f" The first: {self.bad_lines[0]}." if self.bad_lines else ""
        was = "was" if self.rejected == 1 else "were"
        return f"{counted(self.rejected, 'bad line')} {was} skipped and kept in {', '.join(files)}.{first}"


def open_stream(
    path: PathLike | Iterable[PathLike],
    options: ReadingOptions | None = None,
    *,
    classes: Iterable[Any] = (),
    feature_names: Sequence[str] | None = None,
    threads: int | None = None,
    labelled: bool | None = True,
    chunk: int = CHUNK,
) -> Stream:
    """Open files for reading row by row; the first begins to be parsed in the background at once.

    Parameters
    ----------
    path : str, path, or list of these
        A file, ``"-"`` for standard input, a pattern such as ``"part-*.csv"``, or several, read as one.
    options : ReadingOptions, optional
        What is not to be found from the files.
    classes : iterable of labels, optional
        Classes that are known beforehand; they get the first codes.
    feature_names : sequence of str, optional
        Names that have columns already, where columns are numbered as names appear (JSON, one-hot categories).
    threads : int, optional
        How many threads parse; by default as many as there are processors, up to 8. It changes no row.
    labelled : bool, optional
        Whether every row must have a label. None: none must, but where a table has no names its last column is taken
        for the label, unless it is told to be something else.
    chunk : int
        Bytes that are parsed at once. It changes no row.

    Returns
    -------
    Stream
    """
    return Stream(
        sources.expand(path),
        options or ReadingOptions(),
        classes=classes,
        feature_names=feature_names,
        threads=threads,
        labelled=labelled,
        chunk=chunk,
    )


def _room_for(name: str, column: int | None = None) -> int:
    """Bytes that a name takes in a model file, with the number of its column: JSON in a string of JSON."""
    length = len(name) + 5
    if not name.isascii():
        from json import dumps

        length = len(dumps(dumps(name))) - 1
    return length if column is None else length + len(str(column)) + 1


def _is_regular(path: str) -> bool:
    return path != sources.STANDARD_INPUT and os.path.isfile(path)


def _size(path: str) -> int:
    return os.path.getsize(path) if _is_regular(path) else 0
