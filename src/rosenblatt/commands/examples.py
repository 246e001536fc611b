"""The examples of a file in memory, and where each stands in it: to show people the rows that a proof names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from rosenblatt.commands import output
from rosenblatt.commands.example_files import number as digits
from rosenblatt.commands.reading import told
from rosenblatt.errors import counted

SHOWN_ROWS = 12
_SHOWN_CLASSES = 5


def load_examples(
    data: Sequence[str], reading: dict[str, Any], threads: int | None, *, unweighted: str | None = None
) -> Examples:
    """All examples of the files. `unweighted` is what they are for, if it does not look at weights."""
    from rosenblatt.readers import load_stream, open_stream
    from rosenblatt.reading.options import ReadingOptions

    stream = open_stream(list(data), ReadingOptions(**reading), threads=threads)
    for remark in stream.remarks:
        output.warn(remark)
    X, y, weights = load_stream(stream)
    if weights is not None and unweighted is not None:
        output.warn(f"the rows have weights, which {unweighted} does not look at: each counts the same")
    if (words := stream.dropped_words()) is not None:
        output.warn(words)
    return Examples(X, y, weights, tuple(data), reading, stream)


@dataclass
class Examples:
    """Rows and labels, and the files that they came from."""

    X: Any
    y: Any
    weights: Any  # how much each row counts, None if all count the same
    data: tuple[str, ...]
    reading: dict[str, Any]  # as it was told
    stream: Any  # knows what was found
    _lines: dict[int, tuple[str, int]] = field(default_factory=dict)

    @cached_property
    def options(self) -> Any:
        """How the files were read, with all that was found."""
        options = self.stream.options
        if options.format != "libsvm" or options.index_base is not None:
            return options
        return replace(options, index_base=1 if self.stream.smallest_index > 0 else 0)

    @cached_property
    def names(self) -> list[str] | None:
        """The names of the features, where each has one."""
        names: list[str] | None = self.stream.feature_names
        return names if names is not None and len(names) == self.X.shape[1] else None

    def in_words(self) -> str:
        """What was read, in a sentence."""
        import numpy as np

        labels, counts = np.unique(self.y, return_counts=True)
        names = [output.shortened(str(label), 20) for label in labels[: _SHOWN_CLASSES + 1]]
        sizes = [f"{name}{output.NO_BREAK}{count:,}" for name, count in zip(names, counts, strict=False)]
        sizes = sizes if len(sizes) <= _SHOWN_CLASSES else []
        classes = output.classes_in_words(len(labels), sizes, self.options.label)
        size = f"{counted(self.X.shape[0], 'row')}, {counted(self.X.shape[1], 'feature')}"
        return f"{output.files_in_words(self.data)}: {size}, {classes}"

    def facts(self) -> dict[str, Any]:
        """The same for programs."""
        import numpy as np

        labels, counts = np.unique(self.y, return_counts=True)
        sizes = [{"class": label, "rows": n} for label, n in zip(labels.tolist(), counts.tolist(), strict=True)]
        return {
            "data": list(self.data),
            "rows": self.X.shape[0],
            "features": self.X.shape[1],
            "classes": sizes,
            "reading": told(self.options),
        }

    def shown(self, numbers: Sequence[int]) -> list[str]:
        """Rows as lines of a table: number, place in the file, label, values."""
        rows = []
        for number in numbers[:SHOWN_ROWS]:
            label = output.shortened(str(self.y[number]), 20)
            values = ", ".join(f"{output.shortened(name, 20)}={digits(v)}" for name, v in self.values(number).items())
            rows.append([str(number), self._place(number), label, values])
        lines = output.table(["row", "line", "label", "values"], rows, ">><")
        more = len(numbers) - SHOWN_ROWS
        lines = [_cut(line) for line in lines]
        return lines + ([f"and {more:,} more rows (--json has all)"] if more > 0 else [])

    def fact_of_row(self, number: int) -> dict[str, Any]:
        """A row for programs."""
        file, line = self._line(number)
        label = self.y[number].item()
        return {"row": number, "file": file, "line": line, "label": label, "values": self.values(number)}

    def values(self, number: int) -> dict[str, float]:
        """The features of a row by name; of a sparse row those that are there."""
        if hasattr(self.X, "indptr"):
            part = slice(*self.X.indptr[number : number + 2].tolist())
            columns, values = self.X.indices[part].tolist(), self.X.data[part].tolist()
        else:
            columns, values = list(range(self.X.shape[1])), self.X[number].tolist()
        return {self.name(column): value for column, value in zip(columns, values, strict=True)}

    def locate(self, numbers: Sequence[int]) -> None:
        """Look where these rows are in their files. Standard input is gone by then."""
        from rosenblatt.commands.row_places import look_again

        if self.stream.rewindable and len(numbers):
            self._lines = look_again(self.data, self.reading, sorted(set(numbers)))

    def name(self, column: int) -> str:
        """What a feature is called: its name, or its number as the files have it."""
        names = self.names
        if names is not None:
            return names[column]
        hashed = self.stream.names_of_hashes.get(column)
        return str(column + (self.options.index_base or 0)) if hashed is None else str(hashed)

    def _line(self, number: int) -> tuple[str | None, int | None]:
        return self._lines.get(number, (None, None))

    def _place(self, number: int) -> str:
        file, line = self._line(number)
        if line is None:
            return "-"
        return f"{line}" if [file] == list(self.data) else f"{file}:{line}"


def _cut(line: str) -> str:
    """A line that fits, with whole values only."""
    if len(line) <= output.WIDTH:
        return line
    room = output.WIDTH - len(", ...")
    return line[: line.rfind(", ", 0, room + 2)] + ", ..." if ", " in line[:room] else line[:room] + " ..."
