"""Bytes from anywhere give rows or an error of ours, in every format: never a crash, a hang, or another exception."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rosenblatt as rb
from rosenblatt.errors import InputError
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.streams import open_stream

SEEDS = {
    "libsvm": b"+1 1:0.5 3:2 # good\n-1 qid:3 2:1e-3\n",
    "csv": b'a,b,c,class\n1,2,red,x\n3,,"b ""l"" ue",y\n',
    "tsv": b"a\tb\ty\n1\t2\t0\n3\t4\t1\n",
    "json": b'{"label": "a\\u00e9", "x": 1.5, "s": "red"}\n{"label": true, "features": {"x": -2e3}}\n',
    "vw": b"1 2.0 'tag|user:2 age:31 name=ann |item red\n-1 |f 12:3\n",
    None: b"a;b;y\n1;2;0\n",
}
MAGIC = [b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"PAR1"]


@st.composite
def mutated(draw, seed):
    """The seed with some of its parts removed, doubled, or replaced by other bytes."""
    data = bytearray(seed)
    for _ in range(draw(st.integers(1, 6))):
        first, last = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        other = st.sampled_from([b"", b'"', b"\n", b"\0", b":", b"|", b"\xff", b"1e999", b"NaN", b"{", b"\\u12", b"\t"])
        data[first:last] = draw(st.one_of(other, st.binary(max_size=5), st.just(bytes(data[first:last]) * 2)))
    return bytes(data)


@pytest.mark.parametrize("format_", SEEDS, ids=str)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
@example(data=None)
def test_any_bytes_give_rows_or_an_error_of_ours(tmp_path_factory, format_, data):
    path = tmp_path_factory.mktemp("any") / "data"
    path.write_bytes(SEEDS[format_] if data is None else data.draw(st.one_of(st.binary(), mutated(SEEDS[format_]))))
    for bad_lines, chunk in (("error", 1 << 19), ("skip", 7)):
        try:
            stream = open_stream(path, ReadingOptions(format=format_, bad_lines=bad_lines, missing="zero"), chunk=chunk)
            rows = sum(batch.n_rows for batch in stream.batches())
            stream.describe()
        except InputError:
            continue
        assert rows <= 2 * path.stat().st_size + 1


@settings(max_examples=30, deadline=None)
@given(
    data=st.binary(max_size=200),
    magic=st.sampled_from([b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00", b"PAR1"]),
)
def test_what_only_begins_like_a_packed_file_is_an_error(tmp_path_factory, data, magic):
    path = tmp_path_factory.mktemp("any") / "data.svm"
    path.write_bytes(magic + data)
    with pytest.raises(InputError):
        rb.load(path)
