"""Bytes from anywhere, in every format: an error or rows, the same for any chunks; never a crash, and never a hang.

The seeds of the fuzzer (make fuzz), as they are and mutated, and bytes that hypothesis makes.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_readers import batches, pieces

from rosenblatt import _engine

pytestmark = pytest.mark.engine

FORMATS = ("libsvm", "csv", "json", "vw")
CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus"
HEADER = 4  # bytes that choose the fuzzer's options
TABLES = ([1, 4], [4, 3], [1, 2, 4, 5, 3], [0, 3, 3, 2, 4])
TOKENS = ['"', '""', ",", "|", ":", "1", "-1e9", "{", "}", "#", "'", "é", "NA", "null", "true", "?", "qid:1", "1e400"]
TOKENS += ["\\u00e9", "\\ud834\\udd1e", '"label"', '{"label":1,"a":2}', "\\", "=", "nan"]
TOKENS += ["\n", "\r\n", "\r", "\t", " ", "\0", "\ufeff", "1 3:4\n", "1 |f a:2\n", "1,a\n", "word other", "9" * 30]


@cache
def seeds(format):
    """The fuzzer's seeds of a format, without the bytes that choose its options."""
    return [path.read_bytes()[HEADER:] for path in sorted((CORPUS / format).iterdir())]


def everything(format, text, chunk, threads, options):
    """All that a reader finds, whatever the chunks."""
    reader = _engine.Reader(
        pieces(text), _engine.ParseOptions(format, **options), chunk=chunk, threads=threads, slots=3
    )
    rows, bad, names = [], [], {}
    while (batch := reader.next()) is not None:
        assert np.isfinite(batch.data).all()
        weights = np.ones(batch.n_rows) if batch.weights is None else batch.weights
        assert len(weights) == len(batch.labels) == batch.n_rows and (weights >= 0).all()
        if batch.dense:
            values = batch.data.reshape(batch.n_rows, batch.n_features)
            rows += [(label, *row) for label, row in zip(batch.labels, values.tolist(), strict=True)]
        else:
            assert batch.starts[-1] == len(batch.data) == len(batch.columns)
            assert ((batch.columns >= 0) & (batch.columns < batch.n_features)).all()
            for k, (first, end) in enumerate(zip(batch.starts[:-1], batch.starts[1:], strict=True)):
                columns = batch.columns[first:end].tolist()
                assert len(set(columns)) == len(columns)
                rows.append((batch.labels[k], weights[k], *columns, *batch.data[first:end]))
        bad += batch.rejected + ([batch.fault] if batch.fault else [])
        for column, name in batch.names:
            names.setdefault(column, name)
        if batch.fault:
            break
    return rows, bad, names, reader.labels(), reader.dictionary()


@st.composite
def some_options(draw, format):
    chosen = draw(
        st.fixed_dictionaries(
            {
                name: st.booleans()
                for name in (
                    "hashed",
                    "skip_bad_lines",
                    "missing_is_zero",
                    "require_label",
                    "word_counts",
                    "keep_names",
                )
            }
        )
    )
    chosen |= {"ngrams": draw(st.integers(1, 3)), "bits": draw(st.sampled_from([1, 4, 18]))}
    if format != "libsvm" and chosen["hashed"]:
        chosen["interactions"] = draw(st.booleans())
    if format == "csv":
        kinds = draw(st.sampled_from(TABLES))
        chosen |= {"kinds": kinds, "names": [b"c%d" % k for k in range(len(kinds))]}
        chosen["delimiter"] = draw(st.sampled_from([",", "\t", "|", "e"]))
    return chosen | {"text_keys": [b"text"], "weight_key": b"weight"} if format == "json" else chosen


@st.composite
def mutated(draw, format):
    """A seed with some bytes changed, left out, repeated, or tokens put in."""
    text = bytearray(draw(st.sampled_from(seeds(format))))
    for _ in range(draw(st.integers(0, 6))):
        at, end = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        change = draw(st.sampled_from(["byte", "cut", "repeat", "token"]))
        if change == "byte" and at < len(text):
            text[at] = draw(st.integers(0, 255))
        elif change == "cut":
            del text[at:end]
        elif change == "repeat":
            text[end:end] = text[at:end]
        else:
            text[at:at] = draw(st.sampled_from(TOKENS)).encode()
    return bytes(text)


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data(), chunk=st.integers(1, 80), threads=st.integers(1, 3))
def test_mutated_text_gives_rows_or_errors(format, data, chunk, threads):
    text, options = data.draw(mutated(format)), data.draw(some_options(format))
    assert everything(format, text, chunk, threads, options) == everything(format, text, 1 << 16, 1, options)


@pytest.mark.parametrize("format", FORMATS)
@given(
    data=st.data(),
    text=st.one_of(
        st.binary(max_size=200), st.lists(st.sampled_from(TOKENS), max_size=40).map("".join).map(str.encode)
    ),
    chunk=st.integers(1, 80),
)
def test_any_bytes_give_rows_or_errors(format, data, text, chunk):
    options = data.draw(some_options(format))
    assert everything(format, text, chunk, 2, options) == everything(format, text, 1 << 16, 1, options)


@pytest.mark.parametrize("format", FORMATS)
def test_the_seeds_are_read(format):
    assert len(seeds(format)) >= 3
    options = {"kinds": TABLES[0], "names": [b"x", b"y"]} if format == "csv" else {}
    found = [everything(format, text, 16, 2, options | {"skip_bad_lines": True}) for text in seeds(format)]
    assert any(rows for rows, *_ in found) and any(bad for _, bad, *_ in found)


@pytest.mark.parametrize(
    "format, bad", [("csv", '1,"'), ("json", '{"label": "'), ("vw", "1 |f "), ("libsvm", "1 1:1 ")]
)
def test_a_line_without_an_end_needs_no_more_memory_than_is_allowed(format, bad):
    options = {"kinds": TABLES[0], "names": [b"x", b"y"]} if format == "csv" else {}
    _, found = batches(format, bad + "a " * 100_000, chunk=64, max_line=1000, **options)
    assert found[-1].fault[3] == b"a line without an end" and sum(batch.n_rows for batch in found) == 0
