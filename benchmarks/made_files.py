"""Files to learn from, written once outside measured calls: generated rows, and real texts, in each peer's format.

They are kept in the folder that ROSENBLATT_BENCH_FILES names (default: rosenblatt-benchmarks in the folder for temporary
files) under names that carry everything that made them, so that the next run finds them.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import real_data
from benchmarks.data import FLIPPED

SEED = 5
FEATURES = 47_236
PER_ROW = 68
DECIMALS = 5  # of values below 1: with zeros at the end left out, 13.4 bytes for an index and its value
_BLOCK = 10_000


@dataclass(frozen=True)
class Files:
    """The same rows for us and for Vowpal Wabbit, and a tenth as many that are held out."""

    ours: Path
    peer: Path
    held_out: Path
    peer_held_out: Path


def folder() -> Path:
    """Where the files are kept."""
    found = Path(os.environ.get("ROSENBLATT_BENCH_FILES", Path(tempfile.gettempdir()) / "rosenblatt-benchmarks"))
    found.mkdir(parents=True, exist_ok=True)
    return found


def made(name: str, chunks: Callable[[], Iterator[bytes]]) -> Path:
    """The file of that name, written now if it is not there; never half of it."""
    path = folder() / name
    if not path.exists():
        unfinished = path.with_name(f"{name}.{os.getpid()}")
        with unfinished.open("wb") as file:
            file.writelines(chunks())
        unfinished.replace(path)
    return path


# Generated rows -----------------------------------------------------------------------------------------------------


def rows(n: int, times: int = 1) -> Files:
    """n sparse rows of length 1 labelled by a plane, 5 % of them wrongly, written `times` over; a tenth is held out."""
    ours, peer = (_generated(n, n // 10, form) for form in FORMS)
    if times > 1:
        ours, peer = (
            (repeated(train, times * train.stat().st_size, f"{times}x"), held_out) for train, held_out in (ours, peer)
        )
    return Files(ours[0], peer[0], ours[1], peer[1])


def repeated(path: Path, n_bytes: int, name: str) -> Path:
    """Whole lines of a file, over and over, as many as fit into n_bytes."""

    def chunks() -> Iterator[bytes]:
        content, left = path.read_bytes(), n_bytes
        while left >= len(content):
            yield content
            left -= len(content)
        yield content[: content.rfind(b"\n", 0, left) + 1]

    return made(f"{path.stem}-{name}{path.suffix}", chunks)


# Between the label and the first feature: libsvm's format has nothing there, Vowpal Wabbit's the begin of a namespace.
FORMS = {"svm": b"", "vw": b" |"}


def _generated(n: int, n_held_out: int, form: str) -> tuple[Path, Path]:
    name = f"rows-{FEATURES}-{PER_ROW}-seed{SEED}-flipped{FLIPPED:g}-decimals{DECIMALS}-{n}"
    train = made(f"{name}.{form}", lambda: _lines(n, 0, form))
    return train, made(f"{name}-held-out{n_held_out}.{form}", lambda: _lines(n_held_out, n, form))


def _lines(n: int, first: int, form: str) -> Iterator[bytes]:
    w = np.random.default_rng(SEED).standard_normal(FEATURES)
    for start in range(first, first + n, _BLOCK):
        yield _block(min(_BLOCK, first + n - start), w, np.random.default_rng([SEED, start]), FORMS[form])


def _block(n: int, w: NDArray[np.float64], random: np.random.Generator, mark: bytes) -> bytes:
    """Rows with about PER_ROW of 72 features, one from each stratum, their indices from 1."""
    edges = np.linspace(0, FEATURES, 73).astype(np.int32)
    columns = random.integers(edges[:-1], edges[1:], size=(n, 72), dtype=np.int32)
    kept = random.random((n, 72)) < PER_ROW / 72
    values = random.exponential(size=(n, 72)) * kept
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    digits = np.rint(values * 10**DECIMALS).astype(np.int32)
    kept &= (0 < digits) & (digits < 10**DECIMALS)
    y = np.where(((digits * kept) * w[columns]).sum(axis=1) > 0, 1, -1)
    y[random.random(n) < FLIPPED] *= -1
    return _written(y, columns + 1, digits, kept, mark)


def _written(
    y: NDArray[np.int64], indices: NDArray[np.int32], digits: NDArray[np.int32], kept: NDArray[np.bool_], mark: bytes
) -> bytes:
    """The text of rows, all at once: every character at its place in a table, then those that are wanted."""
    n, width = indices.shape
    head = 2 + len(mark)
    pairs = np.zeros((n, width, 9 + DECIMALS), np.uint8)  # a zero is no character
    pairs[:, :, 0] = ord(" ")
    _digits_into(pairs[:, :, 1:6], indices, leading=False)
    pairs[:, :, 6:9] = np.frombuffer(b":0.", np.uint8)
    _digits_into(pairs[:, :, 9:], digits, leading=True)
    pairs *= kept[:, :, np.newaxis]
    table = np.zeros((n, head + width * (9 + DECIMALS) + 1), np.uint8)
    table[:, 0] = np.where(y < 0, ord("-"), 0)
    table[:, 1:head] = np.frombuffer(b"1" + mark, np.uint8)
    table[:, head:-1] = pairs.reshape(n, -1)
    table[:, -1] = ord("\n")
    return table[table != 0].tobytes()


def _digits_into(places: NDArray[np.uint8], numbers: NDArray[np.int32], *, leading: bool) -> None:
    """The decimal digits of numbers; zeros before the first (or, if those count, after the last) stay no character."""
    count = places.shape[-1]
    powers = [10 ** (count - 1 - place) for place in range(count)]
    for place, power in enumerate(powers):
        shown = numbers % (10 * power) != 0 if leading else numbers >= power
        places[:, :, place] = np.where(shown, numbers // power % 10 + ord("0"), 0)


# Real texts ---------------------------------------------------------------------------------------------------------


def reviews(n: int, n_bytes: int) -> Files:
    """n of the IMDB reviews in mixed order, repeated to n_bytes; as many others are held out."""
    names = {"neg": -1, "pos": 1}
    files = [_texts(f"imdb-{part}-{n}", lambda part=part: _some(real_data.imdb_texts(part), n), names) for part in PARTS]
    (ours, peer), (held_out, peer_held_out) = files
    if n_bytes > ours.stat().st_size:
        times = round(n_bytes / ours.stat().st_size)
        ours, peer = (repeated(path, times * path.stat().st_size, f"{times}x") for path in (ours, peer))
    return Files(ours, peer, held_out, peer_held_out)


def newsgroups(n: int) -> Files:
    """Letters to 20 newsgroups in mixed order; the later ones are held out."""

    def groups(part: str) -> Callable[[], tuple[list[str], list[str]]]:
        return lambda: _some(real_data.newsgroup_texts(part=part), n)

    (ours, peer), (held_out, peer_held_out) = (_texts(f"newsgroups-{part}-{n}", groups(part), None) for part in PARTS)
    return Files(ours, peer, held_out, peer_held_out)


PARTS = ("train", "test")
NEWSGROUPS = 20


def _some(found: tuple[list[str], list[str]], n: int) -> tuple[list[str], list[str]]:
    """n of the texts, in a mixed order, for the archives are sorted by class."""
    order = np.random.default_rng(SEED).permutation(len(found[0]))[:n].tolist()
    texts, names = ([column[i] for i in order] for column in found)
    return texts, names


def _texts(
    name: str, load: Callable[[], tuple[list[str], list[str]]], labels: dict[str, int] | None
) -> tuple[Path, Path]:
    """A CSV file with the columns label and text, and the same words in Vowpal Wabbit's format (labels as numbers)."""
    loaded: list[tuple[list[str], list[str]]] = []

    def once() -> tuple[list[str], list[str]]:
        loaded.extend([] if loaded else [load()])
        return loaded[0]

    def table() -> Iterator[bytes]:
        for text, label in zip(*once()):
            yield _csv_line(label, text)

    def words() -> Iterator[bytes]:
        texts, names = once()
        numbers = labels or {name: 1 + i for i, name in enumerate(sorted(set(names)))}
        for text, label in zip(texts, names):
            yield f"{numbers[label]} | {' '.join(_WORD.findall(text.lower()))}\n".encode()

    return made(f"{name}-seed{SEED}.csv", table), made(f"{name}-seed{SEED}.vw", words)


# Letters and digits only: without the characters that have a meaning in Vowpal Wabbit's format, which cannot be escaped.
_WORD = re.compile(r"[^\W_]+")


class _Line:
    """What csv.writer writes to: it keeps the last line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def _csv_line(label: str, text: str) -> bytes:
    line = _Line()
    csv.writer(line, lineterminator="\n").writerow([label, " ".join(text.split())])
    return line.text.encode()


def tiny() -> Path:
    """100 rows of four features."""

    def lines() -> Iterator[bytes]:
        random = np.random.default_rng(SEED)
        for x in random.standard_normal((100, 4)):
            features = " ".join(f"{1 + i}:{value:.5f}" for i, value in enumerate(x.tolist()))
            yield f"{1 if x.sum() > 0 else -1} {features}\n".encode()

    return made(f"tiny-seed{SEED}.svm", lines)
