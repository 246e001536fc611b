"""Converted files hold the same examples: every number to the bit, every label, in their order."""

import csv
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import rosenblatt as rb
from rosenblatt.commands.conversion import convert
from rosenblatt.errors import FileFormatError, InputError


def test_a_table_keeps_its_columns_though_the_label_is_told(tmp_path):
    (tmp_path / "in.csv").write_text("id,mood,text\n1,good,a b\n2,bad,c\n")
    convert(str(tmp_path / "in.csv"), str(tmp_path / "out.tsv"), "tsv", {"label": "mood"}, None)
    assert (tmp_path / "out.tsv").read_text() == "id\tmood\ttext\n1\tgood\ta b\n2\tbad\tc\n"
    with pytest.raises(FileFormatError, match="no column 'feeling'"):
        convert(str(tmp_path / "in.csv"), str(tmp_path / "out.tsv"), "tsv", {"label": "feeling"}, None)


NUMBERS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: value != 0)
ROWS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "-1", "2.5"]), st.dictionaries(st.integers(1, 6), NUMBERS, max_size=4)),
    min_size=1,
    max_size=6,
)


def written(folder, rows):
    lines = [" ".join([label, *(f"{i}:{values[i]!r}" for i in sorted(values))]) for label, values in rows]
    path = Path(folder, "data.svm")
    # A row with the first and the last feature, so that all copies have the same number of them.
    path.write_text("".join(f"{line}\n" for line in ["z 1:1 6:1", *lines]))
    return str(path)


def same(one, other):
    dense = [csr_array(X).toarray() if hasattr(X, "indptr") else X for X, _ in (one, other)]
    np.testing.assert_array_equal(dense[0], dense[1])
    assert one[1].tolist() == other[1].tolist()


@settings(max_examples=25, deadline=None)
@given(ROWS, st.sampled_from(["svm", "csv", "tsv", "parquet", "arrow", "svm.gz", "csv.xz", "svm.zst"]))
def test_there_and_back_every_bit_is_the_same(rows, ending):
    with tempfile.TemporaryDirectory() as folder:
        source, there, back = written(folder, rows), f"{folder}/there.{ending}", f"{folder}/back.libsvm"
        kind = ending.partition(".")[0].replace("svm", "libsvm")
        convert(source, there, kind, {}, 1)
        convert(there, back, "libsvm", {}, 1)
        same(rb.load(source), rb.load(there))
        same(rb.load(source), rb.load(back))


@settings(max_examples=25, deadline=None)
@given(ROWS)
def test_names_and_values_of_json_and_vw(rows):
    with tempfile.TemporaryDirectory() as folder:
        source = written(folder, rows)
        convert(source, f"{folder}/there.jsonl", "json", {}, 1)
        convert(source, f"{folder}/there.vw", "vw", {}, 1)
        records = [json.loads(line) for line in Path(folder, "there.jsonl").read_text().splitlines()][1:]
        lines = Path(folder, "there.vw").read_text().splitlines()[1:]
        for (label, values), record, line in zip(rows, records, lines):
            assert str(record["label"]) == label
            assert {int(name): float(value) for name, value in record["features"].items()} == values
            head, _, features = line.partition("|")
            pairs = (feature.partition(":") for feature in features.split())
            assert head.strip() == label
            assert {int(name): float(value or "1") for name, _, value in pairs} == values


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.text("ab,\"' é\t", max_size=4), st.integers(-5, 5), NUMBERS), min_size=1, max_size=5))
def test_a_table_keeps_its_cells(rows):
    rows = [("x", 1, 0.5), *((f"x{text}", whole, number) for text, whole, number in rows)]
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/0.csv", "w", newline="") as file:
            csv.writer(file).writerows([["name", "whole", "number"], *rows])
        for place, kind in enumerate(["tsv", "parquet", "arrow", "csv"]):
            before = ["csv", "tsv", "parquet", "arrow"][place]
            convert(f"{folder}/{place}.{before}", f"{folder}/{place + 1}.{kind}", kind, {}, 1)
        with open(f"{folder}/4.csv", newline="") as file:
            found = list(csv.reader(file))[1:]
    assert [(name, int(whole), float(number)) for name, whole, number in found] == rows


@pytest.mark.parametrize(
    "text, kind, message",
    [
        ("a b,class\n1,x\n", "vw", None),
        ("a b,a:b,class\n1,1,x\n", "vw", "'a b' and 'a:b' would both be 'a_b'"),
        ("a,class\n1,\n", "libsvm", "a row has no label, and libsvm needs one"),
        ("a,class\n1,'x\n", "vw", "cannot be written as Vowpal Wabbit's text, where it must be one word"),
        ("a,class\n1,x:2\n", "libsvm", "the label 'x:2' cannot be written as libsvm"),
    ],
)
def test_what_another_format_cannot_say(tmp_path, text, kind, message):
    (tmp_path / "data.csv").write_text(text)
    if message is None:
        convert(str(tmp_path / "data.csv"), str(tmp_path / "out"), kind, {}, 1)
        assert (tmp_path / "out").read_text() == "x | a_b\n"
        return
    with pytest.raises(InputError, match=message):
        convert(str(tmp_path / "data.csv"), str(tmp_path / "out"), kind, {}, 1)
    assert not (tmp_path / "out").exists()


def test_too_many_features_for_a_table(tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1 20000:1\n-1 2:1\n")
    with pytest.raises(InputError, match="has 20,000 features, and a CSV file would have a column for each"):
        convert(str(tmp_path / "data.svm"), str(tmp_path / "out.csv"), "csv", {}, 1)


def test_names_of_vw_become_columns_of_a_table(tmp_path):
    source, target = str(tmp_path / "data.vw"), str(tmp_path / "out.csv")
    (tmp_path / "data.vw").write_text("x |f a:2 b\ny |f b:0.5 c\n")
    convert(source, target, "csv", {}, 1)
    assert (tmp_path / "out.csv").read_text() == "label,f^a,f^b,f^c\nx,2,1,0\ny,0,0.5,1\n"
    with pytest.raises(
        InputError, match=r"and an Arrow file would have .*, or give each name a column: --names columns"
    ):
        convert(source, target, "arrow", {"names": "hash"}, 1)


@pytest.mark.parametrize(
    "kind, options, message",
    [
        ("tsv", {}, r"line 4: this is not UTF-8 text: convert the file to UTF-8 first"),
        ("parquet", {}, r"line 4: this is not UTF-8 text"),
        ("json", {}, r"line 4, column 1: .* expected UTF-8, as only hashed categories may be any bytes, in column 'a'"),
        ("vw", {}, r"line 4, column 1: .* expected UTF-8"),
        ("json", {"text": ("a",)}, r"the feature 'caf\ufffd' is not UTF-8 text: convert the file to UTF-8 first"),
    ],
)
def test_what_is_not_text_is_refused_and_not_changed(tmp_path, kind, options, message):
    (tmp_path / "data.csv").write_bytes(b'a,y\n"two\nlines",x\ncaf\xe9,z\n')
    with pytest.raises(InputError, match=message):
        convert(str(tmp_path / "data.csv"), str(tmp_path / "out"), kind, options, 1)
    assert not (tmp_path / "out").exists()


def test_cells_that_say_missing_stay_what_they_are_in_text(tmp_path):
    text = "country,n,label\nNA,1,x\nnull,NA,y\n,3,z\nPeru,4,z\n"
    (tmp_path / "data.csv").write_text(f"\n\n{text}")  # blank lines first
    convert(str(tmp_path / "data.csv"), str(tmp_path / "out.tsv"), "tsv", {}, 1)
    assert (tmp_path / "out.tsv").read_text() == text.replace(",", "\t")
    convert(str(tmp_path / "data.csv"), str(tmp_path / "out.parquet"), "parquet", {}, 1)
    records = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "out.parquet").to_pylist()
    assert [(record["country"], record["n"]) for record in records] == [
        *[("NA", 1), ("null", None), (None, 3), ("Peru", 4)]
    ]


@pytest.mark.parametrize(
    "base, header", [({}, "f1,f2,f3"), ({"index_base": 1}, "f1,f2,f3"), ({"index_base": 0}, "f0,f1,f2,f3")]
)
def test_features_keep_their_numbers(tmp_path, base, header):
    text = "1 1:1 3:2\n-1 2:1\n"
    (tmp_path / "data.svm").write_text(text)
    for name, kind in (("out.svm", "libsvm"), ("out.jsonl", "json"), ("out.csv", "csv")):
        convert(str(tmp_path / "data.svm"), str(tmp_path / name), kind, base, 1)
    assert (tmp_path / "out.svm").read_text() == text
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["features"] == {"1": 1, "3": 2}
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == f"label,{header}"


def test_a_whole_number_beyond_int64_is_an_error(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"big": pa.array([2**63 + 5], pa.uint64())}), tmp_path / "data.parquet")
    with pytest.raises(InputError, match="the column 'big' cannot be written as int64"):
        convert(str(tmp_path / "data.parquet"), str(tmp_path / "out.arrow"), "arrow", {}, 1)
