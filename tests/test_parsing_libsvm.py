"""libsvm text and the chunks it is read in: equal to a plain reader for any chunk size and number of threads."""

import os
import re
import threading
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt import _engine

pytestmark = pytest.mark.engine


def plain(text):
    """Read libsvm text a line at a time: labels, and {index: value} of each row."""
    labels, rows = [], []
    for line in text.splitlines():
        tokens = line.partition("#")[0].split()
        if tokens:
            pairs = [token.split(":") for token in tokens[1:] if not token.startswith("qid:")]
            labels.append(tokens[0])
            rows.append({int(index): float(value) for index, value in pairs})
    return labels, rows


def pieces(text, size):
    """A function that hands out the text in pieces of at most `size` bytes."""
    left = memoryview(text if isinstance(text, bytes) else text.encode())

    def read(room):
        nonlocal left
        piece, left = bytes(left[: min(room, size)]), left[min(room, size) :]
        return piece

    return read


def batches(text, *, chunk=1 << 20, threads=2, slots=3, size=1 << 20, start=None, **options):
    reader = _engine.Reader(
        pieces(text, size),
        _engine.ParseOptions("libsvm", **options),
        chunk=chunk,
        threads=threads,
        slots=slots,
        **(start or {}),
    )
    found = []
    while (batch := reader.next()) is not None:
        found.append(batch)
    return reader, found


def read(text, **options):
    """The labels and rows that the engine finds."""
    reader, found = batches(text, **options)
    tokens = [token.decode() for token in reader.labels()]
    labels, rows = [], []
    for batch in found:
        assert batch.fault is None
        labels += [tokens[k] for k in batch.labels]
        for first, end in zip(batch.starts[:-1], batch.starts[1:], strict=True):
            rows.append(dict(zip(batch.columns[first:end].tolist(), batch.data[first:end].tolist(), strict=True)))
    return labels, rows


def fault(text, **options):
    (found,) = [batch.fault for batch in batches(text, **options)[1] if batch.fault is not None]
    line, column, _, what, expected = found
    return line, column, what.decode(errors="replace"), expected


finite = st.floats(allow_nan=False, allow_infinity=False)
written = st.one_of(
    finite.map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=7, min_value=-(10**9), max_value=10**9).map(str),
    finite.map("{:.3e}".format).filter(lambda text: np.isfinite(float(text))),
)
label = st.sampled_from(["1", "-1", "+1", "0", "2.5", "spam", "käse", "1,2"])
row = st.tuples(label, st.dictionaries(st.integers(0, 10**6), written, max_size=8))
line = st.one_of(
    row.map(lambda r: f"{r[0]} " + " ".join(f"{i}:{v}" for i, v in sorted(r[1].items()))),
    row.map(lambda r: f"  {r[0]}\tqid:3  " + "  ".join(f"{i}:{v}" for i, v in sorted(r[1].items())) + " # words 1:2"),
    st.sampled_from(["", "   ", "# only a comment"]),
)


@given(
    st.lists(line, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 200),
    st.integers(1, 3),
    st.integers(1, 50),
)
def test_rows_equal_those_of_a_plain_reader(lines, newline, ends, chunk, threads, size):
    text = newline.join(lines) + (newline if ends else "")
    assert read(text, chunk=chunk, threads=threads, size=size) == plain(text)


# Digits are read many at a time where pairs are short. So: one digit more or less, at any place in a block of 64 bytes.


def short_number(random):
    while True:
        whole, fraction = ("".join(random.choices("0123456789", k=random.choice([0, 1, 1, 2, 7, 8, 9]))) for _ in "12")
        if whole or fraction:
            return random.choice(["", "", "-", "+"]) + random.choice([whole or fraction, f"{whole}.{fraction}"])


def short_pairs(random, n):
    indices = sorted(random.sample(range(10 ** random.randint(2, 9)), n))
    return [f"{index}:{short_number(random)}" for index in indices]


@pytest.mark.parametrize("seed", range(50))
def test_short_pairs_equal_those_of_a_plain_reader(seed):
    random = Random(seed)
    space = random.choice([" ", " ", "  ", "\t"])
    text = "".join(f"1 {space.join(short_pairs(random, random.randint(0, 30)))}\n" for _ in range(10))
    assert read(text) == plain(text)
    assert read(text.removesuffix("\n")) == plain(text)


@given(st.integers(0, 10**9), st.integers(0, 10**6), st.sampled_from("x:.-+/;#\0\x7fé 0"))
def test_one_wrong_byte_gives_what_a_plain_reader_finds_or_a_fault(seed, place, byte):
    random = Random(seed)
    text = f"1 {' '.join(short_pairs(random, random.randint(1, 9)))}\n"
    place = 2 + place % (len(text) - 2)
    text = text[:place] + byte + text[place + 1 :]
    if batches(text)[1][0].fault is None:
        assert read(text) == plain(text)


@given(written)
def test_numbers_are_those_of_python(text):
    assert read(f"1 1:{text}\n") == (["1"], [{1: float(text)}])


@pytest.mark.parametrize(
    "text",
    ["1e-400", "-1e-400", "0e999", "0.0e999", "1" + "0" * 308, "0." + "0" * 400 + "1", "123456789012345678", ".5", "5.",
     "+3", "2.2250738585072011e-308", "9007199254740993", "1e22", "1e23"],
)  # fmt: skip
def test_numbers_at_the_edge(text):
    (value,) = read(f"1 1:{text}\n")[1][0].values()
    assert value == float(text)


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e400", "0x10", "", "1_000", "--1", "1.2.3", "e5", "1e", "."])
def test_what_is_no_finite_number_is_refused(text):
    line, column, found, expected = fault(f"1 2:5\n1 2:{text} 3:1\n")
    assert (line, column, expected) == (2, 5, "a finite number after the colon")
    assert found == f"'{text}'"


@pytest.mark.parametrize(
    "line, column, found, expected",
    [
        ("1 3:1 2:1", 7, "'2:1'", "indices that rise"),
        ("1 3:1 3:1", 7, "'3:1'", "indices that rise"),
        ("1 3", 3, "'3'", "index:value"),
        ("1 a:1", 3, "'a:1'", "index:value"),
        ("1 -1:1", 3, "'-1:1'", "index:value"),
        ("3:1 4:1", 1, "'3:1'", "a label, then"),
        ("1 4294967296:1", 3, "'4294967296:1'", "below 2,147,483,647"),
        ("1 99999999999999999999999:1", 3, "'99999999999999999999999:1'", "below 2,147,483,647"),
        ("1 qid:x 1:1", 3, "'qid:x'", "qid:number"),
        ("1 1:1 \x00 2:1", 7, "''", "index:value"),
    ],
)
def test_a_bad_line_is_named_with_line_and_column(line, column, found, expected):
    where = fault(f"# head\n1 1:1\n{line}\n1 1:1\n", chunk=8)
    assert where[:3] == (3, column, found)
    assert expected in where[3]


def test_the_rows_before_a_fault_are_delivered():
    found = batches("1 1:1\n2 1:x\n3 1:1\n")[1]
    assert [batch.n_rows for batch in found] == [1]


@given(st.lists(st.sampled_from(["1 1:1", "2 2:2 5:1", "bad", "1 7:x", ""]), max_size=20), st.integers(1, 40))
def test_bad_lines_can_be_skipped_and_are_kept(lines, chunk):
    text = "".join(f"{line}\n" for line in lines)
    bad = [(number, line) for number, line in enumerate(lines, 1) if line in ("1 7:x",)]
    good = "".join(f"{line}\n" for line in lines if line != "1 7:x")
    _, found = batches(text, chunk=chunk, skip_bad_lines=True)
    assert [(line, text.decode()) for batch in found for line, _, text, _, _ in batch.rejected] == bad
    assert sum(batch.n_rows for batch in found) == len(plain(good)[0])
    assert all(batch.n_features <= 6 for batch in found)


def test_indices_that_begin_at_one():
    assert read("1 1:5 3:7\n", index_base=1) == (["1"], [{0: 5.0, 2: 7.0}])
    assert fault("1 0:5\n", index_base=1)[:2] == (1, 3)


def test_rows_without_labels():
    reader, (batch,) = batches("3:1 4:2\n1 5:1\n", require_label=False)
    assert batch.labels.tolist() == [-1, 0]
    assert reader.labels() == [b"1"]


def test_a_line_without_an_end_is_refused():
    line, _, found, expected = fault("1 " + "1:1 " * 10_000, chunk=64, max_line=1000)
    assert (line, found) == (1, "a line without an end")
    assert "1000" in expected


@given(st.integers(1, 30), st.data())
def test_a_stream_goes_on_from_where_any_batch_ends(chunk, data):
    text = "".join(f"c{k % 5} {k}:{k}.5\n" for k in range(40))
    reader, found = batches(text, chunk=chunk, threads=1)
    stop = data.draw(st.integers(0, len(found) - 1))
    rows = sum(batch.n_rows for batch in found[: stop + 1])
    start = {"labels": reader.labels()[:5], "line": found[stop].lines, "offset": found[stop].end}
    _, rest = batches(text.encode()[found[stop].end :], chunk=chunk, start=start)
    assert found[stop].lines == rows
    assert [k for batch in rest for k in batch.labels] == [k % 5 for k in range(rows, 40)]
    if rest:
        assert rest[-1].end == len(text) and rest[-1].lines == 40


def test_what_the_source_raises_is_raised_where_its_bytes_would_be():
    given_out = iter([b"1 1:1\n" * 10])

    def source(room):
        for piece in given_out:
            return piece
        raise OSError("the disk is gone")

    reader = _engine.Reader(source, _engine.ParseOptions("libsvm"), chunk=60)
    assert reader.next().n_rows == 10
    with pytest.raises(OSError, match="the disk is gone"):
        reader.next()


def test_a_descriptor_that_cannot_be_read():
    end, other = os.pipe()
    os.close(end), os.close(other)
    reader = _engine.Reader(end, _engine.ParseOptions("libsvm"))
    with pytest.raises(RuntimeError, match=re.compile("bad file descriptor", re.IGNORECASE)):
        reader.next()


def test_a_reader_can_be_left_in_the_middle():
    text = b"1 1:1\n" * 100_000
    for threads in (1, 2, 4):
        reader = _engine.Reader(pieces(text, 1 << 16), _engine.ParseOptions("libsvm"), chunk=1000, threads=threads)
        assert reader.next().n_rows > 0
        reader.close()
        assert reader.next() is None
    assert threading.active_count() >= 1


def test_arrays_outlive_the_reader_and_rows_the_batch():
    reader, (batch,) = batches("1 1:1 9:3\n2 4:2\n")
    values, rows = batch.data, batch.rows
    del reader, batch
    out = np.empty(2)
    _engine.scores(rows, np.arange(16.0), out)
    assert values.tolist() == [1.0, 3.0, 2.0]
    assert out.tolist() == [28.0, 8.0]
