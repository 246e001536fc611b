"""What the columns of a table are: the label, the weight, numbers, categories, text, or nothing.

The same rules for CSV and Parquet: what is told holds, the rest is found, and columns are known by their names
wherever the file has names, so that the next file may have them in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Any, NamedTuple

from rosenblatt.errors import FileFormatError, counted
from rosenblatt.reading.options import ColumnRef, ReadingOptions

LABEL_NAMES = ("label", "class", "target", "y")
_SHOWN = 20  # columns that a message lists
_PROSE = 10  # words of a text, as a rule


class Kind(IntEnum):
    """What a column is, in the engine's numbers."""

    IGNORED = 0
    NUMBER = 1
    CATEGORY = 2
    TEXT = 3
    LABEL = 4
    WEIGHT = 5


_TOLD = {"numeric": Kind.NUMBER, "categorical": Kind.CATEGORY, "text": Kind.TEXT, "ignore": Kind.IGNORED}


class Header(NamedTuple):
    """The columns of a file as it shows them."""

    path: str
    where: str  # the file, for messages
    names: tuple[str, ...]
    told: bool  # by the file; else the names are the numbers

    def find(self, ref: ColumnRef, option: str) -> int:
        """The number of a column that an option names."""
        if isinstance(ref, int):
            if not -len(self.names) <= ref < len(self.names):
                raise MissingColumnError(self, ref, option)
            return ref % len(self.names)
        places = [place for place, name in enumerate(self.names) if self.told and name == ref]
        if len(places) > 1:
            raise self.error(f"{option}={ref!r}, but {len(places)} columns have that name: name it by its number")
        if not places and not self.told:
            raise self.error(
                f"{option}={ref!r}, but its first line does not name the columns: use the number of a column (from 0, "
                "or −1 for the last), or header=True if it does"
            )
        if not places:
            raise MissingColumnError(self, ref, option)
        return places[0]

    def shown(self) -> str:
        """The names, for a message."""
        names = [repr(name) for name in self.names]
        if len(names) > _SHOWN:  # the last is often the label
            names[_SHOWN - 1 : -1] = [f"{len(names) - _SHOWN:,} more"]
        return ", ".join(names)

    def ref(self, place: int) -> ColumnRef:
        """How an option names a column: by name if the file has names."""
        return self.names[place] if self.told else place

    def error(self, what: str) -> FileFormatError:
        """An error about the columns of this file."""
        return FileFormatError(f"{self.where}: {what}", self.path)


class MissingColumnError(FileFormatError):
    """A file has no column of a name or number that an option has, which a user may have given, or a model."""

    def __init__(self, header: Header, name: ColumnRef, option: str) -> None:
        """Say it of the option, and keep what another message needs."""
        self.header, self.name, self.option = header, name, option
        only = f"it has only {counted(len(header.names), 'column')}, numbered from 0"
        what = only if isinstance(name, int) else f"there is no such column. {self.there_are()}"
        super().__init__(f"{header.where}: {option}={name!r}, but {what}", header.path)

    def there_are(self) -> str:
        """Which columns there are, and which one may have been meant."""
        import difflib

        names, name = self.header.names, str(self.name)
        parts = name.split(",")
        if len(parts) > 1 and all(part in names for part in parts):
            return f"It has {self.header.shown()}; give the option once for each of {', '.join(map(repr, parts))}"
        near = [each for each in names if each.lower() == name.lower()] or difflib.get_close_matches(name, names, 1)
        return f"It has {self.header.shown()}{f'; did you mean {near[0]!r}?' if near else ''}"


def is_prose(cells: Sequence[str]) -> bool:
    """Whether these are texts: of ten words or more, as a rule, and no two alike."""
    words = sorted(cell.count(" ") + 1 for cell in cells)
    return len(words) > 1 and words[len(words) // 2] >= _PROSE and len(set(cells)) > 0.9 * len(cells)


def has_texts(what: str, name: str, ref: ColumnRef) -> str:
    """What is told of a column or key whose values are texts, and are read as categories."""
    how = f"text={ref!r} (--text {name}) learns from their words"
    return f"{what} {name!r} has texts, and each of them is a category of its own: {how}"


class Columns(NamedTuple):
    """What each column of a file is."""

    header: Header
    kinds: tuple[Kind, ...]
    numbers: tuple[int, ...]  # the numeric columns, in the order in which the model knows them

    @property
    def numeric_only(self) -> bool:
        """Whether all features are numbers."""
        return not {Kind.CATEGORY, Kind.TEXT} & set(self.kinds)

    @property
    def order(self) -> list[int] | None:
        """Where the model's numeric columns are among the file's; None if they are in the same order."""
        places = sorted(self.numbers)
        order = [places.index(place) for place in self.numbers]
        return None if order == list(range(len(order))) else order

    @property
    def label(self) -> int | None:
        """The column of the labels."""
        return self.kinds.index(Kind.LABEL) if Kind.LABEL in self.kinds else None

    def places(self, kind: Kind) -> list[int]:
        """The columns of one kind."""
        return [place for place, found in enumerate(self.kinds) if found is kind]


def columns_of(
    header: Header, found: Sequence[Kind], options: ReadingOptions, *, labelled: bool | None
) -> tuple[Columns, ReadingOptions]:
    """What each column is, and the options that say so of the next file.

    Parameters
    ----------
    header : Header
        The columns of the file.
    found : sequence of Kind
        What each column looks like.
    options : ReadingOptions
        What was told.
    labelled : bool or None
        Whether there must be a label; None: there need not be, but it may be a column that has no name.
    """
    if not labelled:
        options = _without_absent_label(header, options)
    kinds: dict[int, Kind] = {}

    def tell(ref: ColumnRef, kind: Kind, option: str) -> int:
        place = header.find(ref, option)
        if place in kinds:
            raise header.error(f"{option}={ref!r}, but another option has that column: a column is one thing")
        kinds[place] = kind
        return place

    numbers = [tell(ref, Kind.NUMBER, "numeric") for ref in options.numeric]
    for option in ("categorical", "text", "ignore"):
        for ref in getattr(options, option):
            if option == "ignore" and options.others == "ignore" and _absent(header, ref, labelled=False):
                continue  # ignored in the files before this one, and not there in this one
            tell(ref, _TOLD[option], option)
    if options.weight is not None and not _absent(header, options.weight, labelled):
        tell(options.weight, Kind.WEIGHT, "weight")
    label = _label(header, options, kinds, labelled)
    if label is not None:
        tell(label, Kind.LABEL, "label")
    if options.others == "find":
        for place, kind in enumerate(found):
            if place not in kinds and header.told and not header.names[place].strip():
                raise header.error(
                    f"column {place} has no name, as an index that pandas wrote. Leave it out: ignore={place} "
                    f"(--ignore {place}), or use it: numeric={place}"
                )
            if kinds.setdefault(place, kind) is Kind.NUMBER and place not in numbers:
                numbers.append(place)
        if not options.numeric:
            numbers.sort()
    columns = Columns(header, tuple(kinds.get(i, Kind.IGNORED) for i in range(len(header.names))), tuple(numbers))
    _check(columns)
    return columns, _told(columns, options)


def _absent(header: Header, ref: ColumnRef, labelled: bool | None) -> bool:
    """Whether a column that only learning needs is missing from a file that is only to be predicted."""
    return not labelled and isinstance(ref, str) and header.told and ref not in header.names


def _label(header: Header, options: ReadingOptions, kinds: dict[int, Kind], labelled: bool | None) -> ColumnRef | None:
    if options.label is not None:
        return None if _absent(header, options.label, labelled) else options.label
    if not header.told:
        last = len(header.names) - 1
        return last if labelled or (labelled is None and last not in kinds) else None
    likely = [i for i, name in enumerate(header.names) if name.strip().lower() in LABEL_NAMES and i not in kinds]
    if len(likely) == 1:
        return likely[0]
    if not labelled:
        return None
    what = (
        f"several columns may be the label: {', '.join(repr(header.names[i]) for i in likely)}"
        if likely
        else f"no column is called {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}. It has {header.shown()}"
    )
    raise header.error(f"{what}. Say which one has the labels: label= (--label NAME, or a number; -1 is the last)")


def columns_by_number(options: ReadingOptions) -> int | None:
    """How many columns a file without names has whose options name each by its number; None where they do not."""
    refs = [*options.numeric, *options.categorical, *options.text, *options.ignore]
    refs += [ref for ref in (options.label, options.weight) if ref is not None]
    known = options.others == "ignore" and refs and all(isinstance(ref, int) and ref >= 0 for ref in refs)
    return len(refs) if known else None


def _without_absent_label(header: Header, options: ReadingOptions) -> ReadingOptions:
    """Options for a file that has one column less than the one without names that was learned from: its label."""
    learned = columns_by_number(options)
    if learned is None or options.label is None or len(header.names) != learned - 1:
        return options

    def shifted(column: ColumnRef) -> ColumnRef:
        behind = isinstance(column, int) and isinstance(options.label, int) and column > options.label
        return column - 1 if behind and isinstance(column, int) else column

    lists: dict[str, Any] = {option: tuple(map(shifted, getattr(options, option))) for option in _TOLD}
    weight = None if options.weight is None else shifted(options.weight)
    return replace(options, label=None, weight=weight, **lists)


def _check(columns: Columns) -> None:
    header = columns.header
    used: dict[str, int] = {}
    if not {Kind.NUMBER, Kind.CATEGORY, Kind.TEXT} & set(columns.kinds):
        raise header.error(f"there is no column of features. It has {header.shown()}")
    for place, (name, kind) in enumerate(zip(header.names, columns.kinds, strict=True)):
        if kind is Kind.IGNORED:
            continue
        if name in used:
            raise header.error(
                f"columns {used[name]} and {place} are both called {name!r}: rename one, or leave it out: "
                f"ignore={place} (--ignore {place})"
            )
        used[name] = place


def _told(columns: Columns, options: ReadingOptions) -> ReadingOptions:
    """The options with every column named."""
    header = columns.header
    refs: dict[str, Any] = {
        option: tuple(header.ref(place) for place in columns.places(kind))
        for option, kind in _TOLD.items()
        if option != "numeric"
    }
    weight = columns.places(Kind.WEIGHT)
    return replace(
        options,
        label=options.label if columns.label is None else header.ref(columns.label),
        weight=header.ref(weight[0]) if weight else options.weight,
        numeric=tuple(header.ref(place) for place in columns.numbers),
        others="ignore",
        **refs,
    )
