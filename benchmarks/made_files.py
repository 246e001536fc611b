"""Files to learn from, written once outside measured calls: generated rows, and real texts, in each peer's format.

They are kept in the folder that ROSENBLATT_BENCH_FILES names (default: rosenblatt-benchmarks among the temporary files)
under names that carry everything that made them, so that the next run finds them.
"""

from __future__ import annotations

import csv
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import real_data
from benchmarks.data import FLIPPED

SEED = 5
FEATURES = 47_236
WORDS = 70  # drawn for a row; about 68 of them differ
TOPIC = 0.8  # how much a topic prefers its words: standard deviation of the logarithm
DECIMALS = 5  # of values below 1; with zeros at the end left out a feature takes 13.5 bytes
_BLOCK = 10_000
_LONGEST = 1 << 24  # characters of a text; the csv module takes 131,072 if nothing is said, and some posts are longer


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

# Between the label and the first feature: libsvm's format has nothing there, Vowpal Wabbit's the begin of a namespace.
FORMS = {"svm": b"", "vw": b" |"}


def rows(n: int, times: int = 1) -> Files:
    """n rows of made-up texts in two topics, 5 % of the labels wrong, written `times` over; a tenth more held out."""
    ours, peer = (_generated(n, n // 10, form) for form in FORMS)
    if times > 1:
        ours, peer = (
            (repeated(train, times * train.stat().st_size, f"{times}x"), held_out) for train, held_out in (ours, peer)
        )
    return Files(ours[0], peer[0], ours[1], peer[1])


def repeated(path: Path, n_bytes: int, name: str, header: bytes = b"") -> Path:
    """Whole lines of a file, over and over, as many as fit into n_bytes; a header only once."""

    def chunks() -> Iterator[bytes]:
        content, left = path.read_bytes().removeprefix(header), n_bytes - len(header)
        yield header
        while left >= len(content):
            yield content
            left -= len(content)
        yield content[: content.rfind(b"\n", 0, left) + 1]

    return made(f"{path.stem}-{name}{path.suffix}", chunks)


def _generated(n: int, n_held_out: int, form: str) -> tuple[Path, Path]:
    name = f"rows-{FEATURES}-{WORDS}-seed{SEED}-flipped{FLIPPED:g}-topic{TOPIC:g}-decimals{DECIMALS}-{n}"
    train = made(f"{name}.{form}", lambda: _lines(n, 0, form))
    return train, made(f"{name}-held-out{n_held_out}.{form}", lambda: _lines(n_held_out, n, form))


def _lines(n: int, first: int, form: str) -> Iterator[bytes]:
    language = Language(np.random.default_rng(SEED))
    for start in range(first, first + n, _BLOCK):
        random = np.random.default_rng([SEED, start])
        yield _written(*language.texts(min(_BLOCK, first + n - start), random), FORMS[form])


class Language:
    """Words as frequent as Zipf has them, each somewhat more frequent in one of two topics; tf-idf, as in RCV1."""

    def __init__(self, random: np.random.Generator):
        frequency = 1.0 / (np.arange(FEATURES) + 50.0)
        frequency = random.permutation(frequency / frequency.sum())
        tilt = np.exp(TOPIC * random.standard_normal(FEATURES))
        self.rarity = np.log1p(1 / (WORDS * frequency))
        self.until = {y: np.cumsum(frequency * tilt**y) for y in (-1, 1)}

    def texts(
        self, n: int, random: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_]]:
        """Labels, words (in order), decimals of their values, and which count: a word drawn twice counts once."""
        y = random.choice([-1, 1], n)
        words = np.empty((n, WORDS), np.int64)
        for topic, until in self.until.items():
            drawn = random.random((int((y == topic).sum()), WORDS)) * until[-1]
            words[y == topic] = np.searchsorted(until, drawn)
        words.sort(axis=1)
        kept = np.ones(words.shape, np.bool_)
        kept[:, 1:] = words[:, 1:] != words[:, :-1]
        values = (random.exponential(size=words.shape) + 0.3) * self.rarity[words] * kept
        values /= np.linalg.norm(values, axis=1, keepdims=True)
        decimals = np.clip(np.rint(values * 10**DECIMALS), 1, 10**DECIMALS - 1).astype(np.int32)
        y[random.random(n) < FLIPPED] *= -1
        return y, words, decimals, kept


def _written(
    y: NDArray[np.int64], words: NDArray[np.int64], decimals: NDArray[np.int32], kept: NDArray[np.bool_], mark: bytes
) -> bytes:
    """The text of rows, all at once: every character at its place in a table, then those that are wanted."""
    n, width = words.shape
    head = 2 + len(mark)
    pairs = np.zeros((n, width, 9 + DECIMALS), np.uint8)  # a zero is no character
    pairs[:, :, 0] = ord(" ")
    index = (words + 1).astype(np.int32)
    for place, power in enumerate(10 ** np.arange(5)[::-1]):
        pairs[:, :, 1 + place] = np.where(index >= power, index // power % 10 + ord("0"), 0)
    pairs[:, :, 6:9] = np.frombuffer(b":0.", np.uint8)
    for place, power in enumerate(10 ** np.arange(DECIMALS)[::-1]):
        rest = decimals % (10 * power)  # no zeros at the end
        pairs[:, :, 9 + place] = np.where(rest > 0, rest // power + ord("0"), 0)
    pairs *= kept[:, :, np.newaxis]
    table = np.zeros((n, head + pairs[0].size + 1), np.uint8)
    table[:, 0] = np.where(y < 0, ord("-"), 0)
    table[:, 1:head] = np.frombuffer(b"1" + mark, np.uint8)
    table[:, head:-1] = pairs.reshape(n, -1)
    table[:, -1] = ord("\n")
    return table[table != 0].tobytes()


# Real texts ---------------------------------------------------------------------------------------------------------


PARTS = ("train", "test")
REVIEW_CLASSES = ["neg", "pos"]
_HEADER = b"label,text\n"
# As ours and as those of scikit-learn: no character that has a meaning in Vowpal Wabbit's format, which has no escapes.
_WORD = re.compile(r"\w\w+")


def reviews(n: int, n_bytes: int) -> Files:
    """n of the IMDB reviews in mixed order, repeated to about n_bytes; as many others are held out."""
    (ours, peer), (held_out, peer_held_out) = (
        _texts(f"imdb-{part}-{n}", lambda part=part: _some(real_data.imdb_texts(part), n)) for part in PARTS
    )
    if (times := round(n_bytes / ours.stat().st_size)) > 1:
        ours = repeated(ours, times * ours.stat().st_size - (times - 1) * len(_HEADER), f"{times}x", _HEADER)
        peer = repeated(peer, times * peer.stat().st_size, f"{times}x")
    return Files(ours, peer, held_out, peer_held_out)


def newsgroups(n: int) -> Files:
    """n letters to 20 newsgroups in mixed order; of the later ones as many are held out."""
    (ours, peer), (held_out, peer_held_out) = (
        _texts(f"newsgroups-{part}-{n}", lambda part=part: _some(real_data.newsgroup_texts(part=part), n))
        for part in PARTS
    )
    return Files(ours, peer, held_out, peer_held_out)


def classes(table: Path) -> list[str]:
    """The labels of a CSV file of texts, sorted."""
    csv.field_size_limit(_LONGEST)
    with table.open(newline="", encoding="utf-8") as lines:
        return sorted({label for label, _ in itertools.islice(csv.reader(lines), 1, None)})


def _some(found: tuple[list[str], list[str]], n: int) -> tuple[list[str], list[str]]:
    """At most n of the texts, in a mixed order, for the archives are sorted by class."""
    order = np.random.default_rng(SEED).permutation(len(found[0]))[:n].tolist()
    texts, labels = ([column[i] for i in order] for column in found)
    return texts, labels


def _texts(name: str, load: Callable[[], tuple[list[str], list[str]]]) -> tuple[Path, Path]:
    """A CSV file with the columns label and text, and the same words in Vowpal Wabbit's format (labels as numbers)."""
    once = lru_cache(maxsize=1)(load)

    def table() -> Iterator[bytes]:
        yield _HEADER
        for text, label in zip(*once()):
            yield _csv_line(label, " ".join(text.split()))

    def words() -> Iterator[bytes]:
        texts, labels = once()
        for text, label in zip(texts, _numbers(labels)):
            yield f"{label} | {' '.join(_WORD.findall(text.lower()))}\n".encode()

    return made(f"{name}-seed{SEED}.csv", table), made(f"{name}-seed{SEED}.vw", words)


def _numbers(labels: list[str]) -> list[int]:
    """-1 and 1 for two classes, else from 1 on."""
    names = sorted(set(labels))
    number = dict(zip(names, [-1, 1] if len(names) == 2 else range(1, len(names) + 1)))
    return [number[label] for label in labels]


class _Line:
    """What csv.writer writes to: it keeps the last line."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def _csv_line(label: str, text: str) -> bytes:
    line = _Line()
    csv.writer(line, lineterminator="\n").writerow([label, text])
    return line.text.encode()


def tiny() -> tuple[Path, Path]:
    """100 rows of four features, for us and for Vowpal Wabbit."""

    def lines(form: str) -> Iterator[bytes]:
        for x in np.random.default_rng(SEED).standard_normal((100, 4)):
            features = " ".join(f"{1 + i}:{value:.5f}" for i, value in enumerate(x.tolist()))
            yield b"%d%s %s\n" % (1 if x.sum() > 0 else -1, FORMS[form], features.encode())

    ours, peer = (made(f"tiny-seed{SEED}.{form}", lambda form=form: lines(form)) for form in FORMS)
    return ours, peer
