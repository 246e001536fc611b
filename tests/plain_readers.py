"""Plain readers of the text formats: what the engine must find, said in a few lines of Python each.

A row is {column: value}, where a column is a number (hashed or dense) or a name (numbered as it appears).
"""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import combinations
from typing import Any

from sklearn.utils import murmurhash3_32

from rosenblatt import _engine

KINDS = {"ignored": 0, "number": 1, "category": 2, "text": 3, "label": 4, "weight": 5}
MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"}


# ---- What the engine finds ----
def pieces(text, size=1 << 20):
    """A function that hands out the text in pieces of at most `size` bytes."""
    source = io.BytesIO(text if isinstance(text, bytes) else text.encode())
    return lambda room: source.read(min(room, size))


def batches(format, text, *, chunk=1 << 20, threads=1, slots=3, size=1 << 20, **options):
    options = {"hashed": format == "vw"} | options  # as VW does it
    reader = _engine.Reader(
        pieces(text, size), _engine.ParseOptions(format, **options), chunk=chunk, threads=threads, slots=slots
    )
    return reader, list(iter(reader.next, None))


def table_options(columns, **options):
    """{name: kind} as the engine's options."""
    return {
        "kinds": [KINDS[kind] for kind in columns.values()],
        "names": [name.encode() for name in columns],
        **options,
    }


def rows_of(reader, batch):
    """The rows of a batch, by name where columns are numbered as they appear."""
    if batch.dense:
        return [dict(enumerate(row)) for row in batch.data.reshape(batch.n_rows, -1).tolist()]
    names = [name.decode() for name in reader.dictionary()]
    found = []
    for first, end in zip(batch.starts[:-1], batch.starts[1:], strict=True):
        columns, values = batch.columns[first:end].tolist(), batch.data[first:end].tolist()
        assert len(set(columns)) == len(columns)
        found.append({names[c] if names else c: value for c, value in zip(columns, values, strict=True)})
    return found


def read(format, text, **options):
    """Labels, rows and weights that the engine finds."""
    reader, found = batches(format, text, **options)
    tokens = [*(token.decode() for token in reader.labels()), None]
    labels, rows, weights = [], [], []
    for batch in found:
        assert batch.fault is None, batch.fault
        labels += [tokens[k] for k in batch.labels]
        rows += rows_of(reader, batch)
        weights += [1.0] * batch.n_rows if batch.weights is None else batch.weights.tolist()
    return labels, rows, weights


def fault(format, text, **options):
    """Line, column, what was found and what was expected of the line that ended the reading."""
    (found,) = [batch.fault for batch in batches(format, text, **options)[1] if batch.fault is not None]
    line, column, _, what, expected = found
    return line, column, what.decode(errors="replace"), expected


# ---- What it should find ----
def murmur(name, seed=0, bits=18):
    return murmurhash3_32(name if isinstance(name, bytes) else name.encode(), seed, positive=True) & (1 << bits) - 1


def grams(text, ngrams=1):
    """The words and n-grams of a text, as bytes."""
    raw = (text if isinstance(text, bytes) else text.encode()).lower()
    words = re.findall(rb"[a-z0-9_\x80-\xff]{2,}", raw)
    return [b" ".join(words[k : k + n]) for n in range(1, ngrams + 1) for k in range(len(words) - n + 1)]


class Features:
    """The features of a row; named ones are hashed, or kept as names."""

    def __init__(self, hashed=False, bits=18, ngrams=1, word_counts=False, interactions=False, texts=1, **_):
        self.row: dict[Any, float] = {}
        self.hashed, self.bits, self.ngrams, self.counts = hashed, bits, ngrams, word_counts
        self.interactions, self.texts = interactions, texts

    def add(self, name, value):
        self.put(murmur(name, bits=self.bits) if self.hashed else name, value)

    def put(self, column, value):
        self.row[column] = self.row.get(column, 0.0) + value

    def text(self, name, text):
        seed = 0 if self.texts == 1 else murmurhash3_32(name.encode(), 0, positive=True)
        for gram in grams(text, self.ngrams):
            column = murmur(gram, seed, self.bits) if self.hashed else f"{name}={gram.decode()}"
            if self.counts or column not in self.row:
                self.put(column, 1.0)

    def finished(self):
        if self.interactions:
            for (a, x), (b, y) in combinations([(c, v) for c, v in self.row.items() if v != 0], 2):
                pair = min(a, b).to_bytes(4, "little") + max(a, b).to_bytes(4, "little")
                self.put(murmur(pair, bits=self.bits), x * y)
        return self.row


def plain_csv(text, columns, *, delimiter=",", quotes=True, missing_is_zero=False, **options):
    dense = "number" in columns.values() and not {"category", "text"} & set(columns.values())
    dense = dense and not options.get("interactions")
    texts = list(columns.values()).count("text")
    labels, rows, weights = [], [], []
    for fields in csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        strict=True,
    ):
        if not fields:
            continue
        features, label, weight, numbers = Features(texts=texts, **options), None, 1.0, []
        for (name, kind), field in zip(columns.items(), fields, strict=True):
            if kind == "label":
                label = field or None
            elif kind == "weight":
                weight = float(field)
            elif kind == "text":
                features.text(name, field)
            elif kind == "category" and field:
                features.add(f"{name}={field}", 1.0)
            elif kind == "number" and field.strip(" \t") in MISSING:
                assert missing_is_zero
                numbers.append(0.0)
            elif kind == "number":
                numbers.append(float(field))
                if not dense:
                    features.add(name, numbers[-1])
        labels.append(label)
        rows.append(dict(enumerate(numbers)) if dense else features.finished())
        weights.append(weight)
    return labels, rows, weights


def written_label(value):
    """A label as JSON writes it, strings without their quotes."""
    return value if isinstance(value, str) else json.dumps(value)


def plain_json(text, *, weight_key=None, text_keys=(), **options):
    labels, rows, weights = [], [], []
    for line in text.split("\n"):
        if not line.strip():
            continue
        members = json.loads(line)
        features = Features(texts=len(text_keys), **options)
        label = members.pop("label", None)
        labels.append(None if label is None else written_label(label))
        weights.append(float(members.pop(weight_key, 1.0)))
        if isinstance(members.get("features"), dict):
            members |= members.pop("features")
        for key, value in members.items():
            if key in text_keys:
                features.text(key, value or "")
            elif isinstance(value, str):
                features.add(f"{key}={value}", 1.0)
            elif value is not None:
                features.add(key, float(value))
        rows.append(features.finished())
    return labels, rows, weights


def vw_hash(name, seed):
    """VW's hash of a name, as --hash strings has it: a name of digits is a number."""
    if re.fullmatch("[0-9]+", name):
        return int(name) + seed
    return murmurhash3_32(name.encode(), seed & 0xFFFFFFFF, positive=True)


def plain_vw(text, *, bits=18, hashed=True, **options):
    labels, rows, weights = [], [], []
    for line in text.splitlines():
        if not line.strip(" \t"):
            continue
        before, *spaces = line.split("|")
        tokens = before.split("\t")[-1].split(" ")
        if tokens[-1] != "" or any(token.startswith("'") for token in tokens):
            tokens = [token for token in tokens if token][:-1]  # the tag
        tokens = [token for token in tokens if token]
        labels.append(tokens[0] if tokens else None)
        weights.append(float(tokens[1]) if len(tokens) > 1 else 1.0)
        features = Features(bits=bits, **options)
        for space in spaces:
            name, scaled, rest = re.fullmatch(r"([^ \t:]*)(?::([^ \t]*))?(.*)", space, re.DOTALL).groups()
            scale = float(scaled or 1.0)
            seed = vw_hash(name, 0) if name else 0
            nameless = 0
            for token in rest.split():
                called, colon, value = token.partition(":")
                number, text = vw_hash(called, seed) if called else seed, ""
                if colon and not re.match(r"[-+.0-9]", value):
                    number, worth, text = vw_hash(value, number), 1.0, value
                else:
                    worth = scale * (float(value) if colon else 1.0)
                    if colon and not called:
                        number, called, nameless = seed + nameless, str(nameless), nameless + 1
                if worth != 0:
                    whole = "^".join(part for part in (name, called, text) if part)
                    features.put(number & (1 << bits) - 1 if hashed else whole, worth)
        rows.append(features.finished())
    return labels, rows, weights
