"""Vowpal Wabbit's text in the engine: the features of a plain reader and of VW itself; every complaint."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_readers import batches, fault, plain_vw, read

pytestmark = pytest.mark.engine

names = st.one_of(
    st.text(st.sampled_from("abcXYZ_=^'é09.-"), min_size=1, max_size=20), st.integers(0, 2**33).map(str), st.just("1x")
)
numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(lambda k: repr(k / 1000)),
    st.sampled_from(["0", "1", "-1", "2.5", "1e-3", "+4", ".5", "5.", "0.0"]),
)
values = st.one_of(st.just(""), numbers.map(":{}".format), st.sampled_from([":red", ":x9", ":é"]))
feature = st.one_of(st.tuples(names, values).map("".join), numbers.map(":{}".format))
space = st.tuples(
    st.one_of(st.just(""), names, st.tuples(names, numbers.map(":{}".format)).map("".join)),
    st.lists(feature, max_size=5),
    st.sampled_from([" ", "  ", "\t", " \t"]),
).map(lambda drawn: drawn[2].join(["|" + drawn[0], *drawn[1]]))
label = st.sampled_from(
    ["1 ", "-1 ", "3 2.5 ", "cat 1 0 ", "1 'tag", "1 2 'tag ", "  1  ", "17\t1 ", "1 tag", "1 0.5 tag"]
)
line = st.tuples(label, st.lists(space, min_size=1, max_size=3).map(" ".join)).map("".join)


@given(
    st.lists(st.one_of(line, st.sampled_from(["", " "])), max_size=8),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 100),
    st.integers(1, 3),
    st.integers(1, 24),
    st.booleans(),
)
def test_rows_equal_those_of_a_plain_reader(lines, newline, ends, chunk, threads, bits, hashed):
    text = newline.join(lines) + (newline if ends else "")
    labels, rows, weights = read("vw", text, chunk=chunk, threads=threads, bits=bits, hashed=hashed)
    twin_labels, twin_rows, twin_weights = plain_vw(text, bits=bits, hashed=hashed)
    assert (labels, weights) == (twin_labels, twin_weights)
    assert [list(row) for row in rows] == [list(row) for row in twin_rows]
    assert rows == [pytest.approx(row, rel=1e-12, abs=1e-9) for row in twin_rows]


@given(st.lists(feature, min_size=1, max_size=8), st.sampled_from(["", "f", "ns", "12"]))
def test_features_equal_those_of_vw(features, space):
    vw = pytest.importorskip("vowpalwabbit")
    line = f"1 |{space} " + " ".join(features)
    workspace = vw.Workspace("--quiet --noconstant -b 18")
    example = workspace.example(line)
    ns = example.get_ns(0) if example.num_namespaces() else None
    theirs = {}
    for k in range(example.num_features_in(ns) if ns else 0):
        column = example.feature(ns, k) & (2**18 - 1)
        theirs[column] = theirs.get(column, 0.0) + example.feature_weight(ns, k)
    workspace.finish_example(example)
    workspace.finish()
    assert read("vw", line)[1] == [pytest.approx(theirs, rel=1e-5, abs=1e-3)]


def test_pairs_of_features():
    text = "1 |a x:2 y:3 |b z\n"
    found = read("vw", text, interactions=True)
    assert found == plain_vw(text, interactions=True)
    assert sorted(found[1][0].values()) == [1.0, 2.0, 2.0, 3.0, 3.0, 6.0]


def test_names_are_those_of_audit():
    (batch,) = batches("vw", "1 |f x y:2 7 |g:2 c:red | free :3\n2 |f x\n", keep_names=True)[1]
    names = [b"f^x", b"f^y", b"f^7", b"g^c^red", b"free", b"0"]
    assert [name for _, name in batch.names] == names
    assert [column for column, _ in batch.names] == batch.columns[:6].tolist()


def test_rows_without_labels():
    assert read("vw", "|f a\n'tag |f b\n1|f c\n1 |f d\n", require_label=False)[0] == [None, None, None, "1"]


@pytest.mark.parametrize(
    "line, column, found, expected",
    [
        ("1 a b", 6, "the end of the line", "a label, then '|' and features"),
        ("|f a", 1, "'|'", "a label before '|'"),
        ("'tag |f a", 1, "''tag'", "a label before '|'"),
        ("1|f a", 1, "'1'", "a space between the label and '|' (without it VW takes it for a tag)"),
        ("1:2 |f a", 1, "'1:2'", "a simple label (a class, without costs)"),
        ("1 x |f a", 3, "'x'", "an importance (a number from 0 on)"),
        ("1 -2 |f a", 3, "'-2'", "an importance (a number from 0 on)"),
        ("1 2 3 |f a", 5, "'3'", "an initial prediction of 0 (others are not supported)"),
        ("1 2 0 4 |f a", 7, "'4'", "'|' after label, importance and initial prediction"),
        ("1 |:2 a", 4, "':2'", "the name of a namespace, or a space, after '|'"),
        ("1 |f:x a", 6, "'x'", "a finite number, by which the namespace is scaled"),
        ("1 |f: a", 6, "' '", "a finite number, by which the namespace is scaled"),
        ("1 |f a: b", 8, "' '", "a finite number or a word after the colon"),
        ("1 |f a:1x", 8, "'1x'", "a finite number or a word after the colon"),
        ("1 |f a:nan", 8, "'nan'", "a finite number or a word after the colon"),
        ("1 |f a:1e999", 8, "'1e999'", "a finite number or a word after the colon"),
        ("1 |f:1e200 a:1e200", 14, "'1e200'", "a value that is finite when scaled"),
        ("1 |f a:1e308 a:1e308", 1, "'1'", "values whose sums and products are finite"),
    ],
)
def test_a_bad_line_is_named_with_line_and_column(line, column, found, expected):
    assert fault("vw", f"1 |f a\n\n{line}\n1 |f b\n", chunk=16) == (3, column, found, expected)


def test_too_many_features_to_pair():
    line = "1 |f " + " ".join(map(str, range(1025)))
    assert read("vw", line)[1][0].keys() and fault("vw", line, interactions=True) == (
        1, 1, "'1'", "at most 1,024 features in a row whose pairs are wanted"
    )  # fmt: skip


@given(st.lists(st.sampled_from(["1 |f a", "2 |f a:2 b", "1 |f a:", "", "none"]), max_size=12), st.integers(1, 40))
def test_bad_lines_can_be_skipped_and_are_kept(lines, chunk):
    text = "".join(f"{line}\n" for line in lines)
    found = batches("vw", text, chunk=chunk, skip_bad_lines=True)[1]
    bad = [(number, line) for number, line in enumerate(lines, 1) if line in ("1 |f a:", "none")]
    assert [(line, text.decode()) for batch in found for line, _, text, _, _ in batch.rejected] == bad
