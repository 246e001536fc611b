"""How a file is read: what the user may say, checked, and as plain values that a model file can carry.

Whatever is not said is found from the file. A stream gives its options back with everything filled in that was found,
so that a model knows how to read the next file of the same kind.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

from rosenblatt.errors import InputError
from rosenblatt.limits import Limit, check_parameters, flag

ColumnRef: TypeAlias = str | int  # a column by its name, or by its number from 0 (negative: from the end)

FORMATS = ("libsvm", "csv", "tsv", "json", "vw", "parquet", "arrow")
COMPRESSIONS = ("none", "gzip", "zstd", "xz")

_LIMITS = {
    "format": Limit(choices=(None, *FORMATS)),
    "index_base": Limit(choices=(None,), kind=numbers.Integral, low=0, high=1),
    "header": Limit(choices=(None, True, False)),
    "quotes": flag(),
    "others": Limit(choices=("find", "ignore")),
    "categories": Limit(choices=("hash", "one-hot")),
    "names": Limit(choices=(None, "columns", "hash")),
    "bits": Limit(kind=numbers.Integral, low=1, high=30),
    "ngrams": Limit(kind=numbers.Integral, low=1, high=16),
    "word_values": Limit(choices=("presence", "count")),
    "interactions": flag(),
    "missing": Limit(choices=("error", "zero")),
    "keep_names": Limit(choices=(None, True, False)),
    "bad_lines": Limit(choices=("error", "skip")),
    "compression": Limit(choices=(None, *COMPRESSIONS)),
}
_LISTS = ("numeric", "categorical", "text", "ignore")
_TABLES = ("csv", "tsv", "parquet", "arrow")
_OF_TEXT = ("ngrams", "word_values")
_OF_CSV = ("header", "delimiter", "quotes")
_WITHOUT_EFFECT = {  # of those that a format cannot use, the ones that are not set for all formats at once
    "libsvm": (*_OF_CSV, "bits", "missing"),
    "vw": (*_OF_CSV, "index_base", "missing"),
    "json": (*_OF_CSV, "index_base"),
    "csv": ("index_base",),
    "tsv": ("index_base",),
    "parquet": (*_OF_CSV, "index_base"),
    "arrow": (*_OF_CSV, "index_base"),
}


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is read. A None is found from the file.

    Parameters
    ----------
    format : {"libsvm", "csv", "tsv", "json", "vw", "parquet", "arrow"}, optional
        From the name and the first bytes of the file, unless said.
    label : str or int, optional
        The column of the labels, by its name or its number (from 0; negative: from the end); of JSON the key.
    weight : str or int, optional
        The column or key of the sample weights.
    index_base : {0, 1}, optional
        libsvm: the index of the first feature.
    header : bool, optional
        CSV: whether the first line names the columns.
    delimiter : str, optional
        CSV: what stands between two cells.
    quotes : bool
        CSV: whether a cell may be enclosed in double quotes; else a quote is a sign like any other.
    numeric, categorical, text, ignore : tuple of str or int
        Columns whose kind is said, not found. Text columns are hashed word by word.
    others : {"find", "ignore"}
        What becomes of the columns that are not named above.
    categories : {"hash", "one-hot"}
        Categories are hashed into ``2**bits`` columns, or each gets a column of its own.
    names : {"columns", "hash"}, optional
        JSON and VW: each name gets a column of its own (JSON, unless said), or is hashed (VW, unless said).
    bits : int
        Hashed features have ``2**bits`` columns.
    ngrams : int
        Text: up to so many words in a row are a feature.
    word_values : {"presence", "count"}
        Text: whether a word occurs, or how often.
    interactions : bool
        Pairs of features as features, too; hashed.
    missing : {"error", "zero"}
        What a missing number is.
    keep_names : bool, optional
        Remember what was hashed into which column. Unless said, for categories, as long as their names take no more
        than 8 MB, but not for text and interactions, whose names can be as many as there are columns.
    bad_lines : {"error", "skip"}
        Skipped lines are counted, and kept in a file beside the data.
    compression : {"gzip", "zstd", "xz", "none"}, optional
        From the first bytes, unless said.
    """

    format: str | None = None
    label: ColumnRef | None = None
    weight: ColumnRef | None = None
    index_base: int | None = None
    header: bool | None = None
    delimiter: str | None = None
    quotes: bool = True
    numeric: tuple[ColumnRef, ...] = ()
    categorical: tuple[ColumnRef, ...] = ()
    text: tuple[ColumnRef, ...] = ()
    ignore: tuple[ColumnRef, ...] = ()
    others: str = "find"
    categories: str = "hash"
    names: str | None = None
    bits: int = 18
    ngrams: int = 1
    word_values: str = "presence"
    interactions: bool = False
    missing: str = "error"
    keep_names: bool | None = None
    bad_lines: str = "error"
    compression: str | None = None

    @classmethod
    def told(cls, options: dict[str, Any]) -> ReadingOptions:
        """From the keywords of a call; what is none of them is named, with what may have been meant."""
        names = [field.name for field in fields(cls)]
        for name in options:
            if name not in names:
                import difflib

                near = difflib.get_close_matches(name, names, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
                raise TypeError(f"{name!r} is no option of reading; {hint}")
        return cls(**options)

    def __post_init__(self) -> None:
        """Check every option; a single column stands for a list of one."""
        for name in _LISTS:
            object.__setattr__(self, name, _columns(getattr(self, name), name))
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        check_parameters("reading", values, _LIMITS)
        for name in ("label", "weight"):
            if values[name] is not None and not _is_column(values[name]):
                raise _wrong(name, "the name or the number of a column", values[name])
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise _wrong("delimiter", "one ASCII character, not a quote, a newline or a backslash", self.delimiter)
        self._check_together()

    def _check_together(self) -> None:
        if self.categories == "one-hot" and (self.text or self.interactions):
            what = "text columns" if self.text else "interactions"
            raise InputError(f"{what} are hashed, so categories must be, too: categories='hash', not 'one-hot'")
        words = [name for name in _OF_TEXT if getattr(self, name) != getattr(ReadingOptions, name)]
        if words and not self.text:
            option = f"--{words[0].replace('_', '-')}"
            raise InputError(
                f"{words[0]}= ({option}) is of text columns: name one, text= (--text COLUMN), or leave it out"
            )
        if self.names == "columns" and (self.text or self.interactions):
            what = "text" if self.text else "interactions"
            raise InputError(f"{what} cannot be without hashing: names='hash', not 'columns'")
        if self.format in ("libsvm", "vw"):
            told = [name for name in ("label", "weight", *_LISTS) if getattr(self, name) not in (None, ())]
            if told:
                raise InputError(
                    f"{self.format} lines have their label in front, and no columns with names: "
                    f"{told[0]}={getattr(self, told[0])!r} means nothing here, leave it out"
                )
        if self.format == "json":
            told = [name for name in ("numeric", "categorical") if getattr(self, name)]
            if told:
                value = getattr(self, told[0])
                raise InputError(f"JSON values have their types: {told[0]}={value!r} means nothing here, leave it out")
        for name in _WITHOUT_EFFECT.get(self.format or "", ()):
            if getattr(self, name) != getattr(ReadingOptions, name):
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"{name}= ({option}) means nothing for {self.format} files: leave it out")
        if self.interactions and self.format == "libsvm":
            raise InputError("interactions are made of features with names: libsvm files have none")

    @property
    def keeps_names(self) -> bool:
        """Whether the names behind hashed columns are remembered."""
        if self.keep_names is not None:
            return self.keep_names
        return self.hashed and self.is_table and not self.text and not self.interactions

    @property
    def is_table(self) -> bool:
        """Whether the format has columns."""
        return self.format in _TABLES

    @property
    def hashed(self) -> bool:
        """Whether features with names are hashed."""
        if self.text or self.interactions:
            return True
        if self.format == "json":
            return self.names == "hash"
        if self.format == "vw":
            return self.names != "columns"
        return bool(self.categorical) and self.categories == "hash"

    def to_plain(self) -> dict[str, Any]:
        """The options as values that JSON can hold."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_plain(cls, plain: Any) -> ReadingOptions:
        """Options from what `to_plain` gave. It may come from anywhere: everything is checked.

        >>> options = ReadingOptions(format="csv", label="class", categorical="colour")
        >>> ReadingOptions.from_plain(options.to_plain()) == options
        True
        """
        known = {field.name for field in fields(cls)}
        if not isinstance(plain, Mapping) or any(not isinstance(name, str) for name in plain):
            raise InputError("reading options must be an object with names and values")
        unknown = sorted(set(plain) - known)
        if unknown:
            raise InputError(f"there is no reading option {unknown[0]!r:.80}; there are {', '.join(sorted(known))}")
        for name, value in plain.items():
            if isinstance(value, list) != (name in _LISTS):
                raise _wrong(name, "a list of columns" if name in _LISTS else "one value", value)
        values: dict[str, Any] = {k: tuple(value) if k in _LISTS else value for k, value in plain.items()}
        idle = _WITHOUT_EFFECT.get(values.get("format") or "", ()) if isinstance(values.get("format"), str) else ()
        for name in (*idle, *(() if values.get("text") else _OF_TEXT)):
            values.pop(name, None)  # models of earlier versions have them, to no effect
        return cls(**values)


def _columns(given: Any, name: str) -> tuple[ColumnRef, ...]:
    """Columns as a tuple; one column will do."""
    if _is_column(given):
        return (given,)
    if not isinstance(given, (list, tuple)) or not all(_is_column(column) for column in given):
        raise _wrong(name, "names or numbers of columns", given)
    if len(set(given)) < len(given):
        raise _wrong(name, "columns, each once", given)
    return tuple(given)


def _is_column(value: Any) -> bool:
    if isinstance(value, str):  # half of a surrogate pair, which JSON can hold, is no text
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_delimiter(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 1 and value.isascii() and value not in '"\n\r\\\0'


def _wrong(name: str, allowed: str, got: Any) -> InputError:
    return InputError(f"The {name!r} parameter of reading must be {allowed}. Got {got!r:.200} instead")
