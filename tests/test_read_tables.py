"""Parquet and Arrow files against pyarrow, pandas, and the same table as CSV."""

import datetime
import decimal
import gzip
import sys

import numpy as np
import pytest
from standard_input import from_file, from_pipe

import rosenblatt as rb
from rosenblatt.errors import FileFormatError
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.streams import open_stream

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

N = 500


def numbers():
    generator = np.random.default_rng(0)
    return pa.table(
        {
            "a": generator.normal(size=N),
            "b": generator.normal(size=N).astype(np.float32),
            "c": generator.integers(-5, 5, N),
            "d": generator.random(N) < 0.5,
            "e": pa.array([decimal.Decimal(i) / 4 for i in range(N)], pa.decimal128(9, 2)),
            "class": generator.integers(0, 3, N),
        }
    )


def write_parquet(table, path):
    pq.write_table(table, path, row_group_size=100)


def write_arrow_file(table, path):
    with pa.ipc.new_file(path, table.schema) as sink:
        sink.write_table(table, max_chunksize=150)


def write_arrow_stream(table, path):
    with pa.ipc.new_stream(path, table.schema) as sink:
        sink.write_table(table, max_chunksize=150)


WRITERS = {"data.parquet": write_parquet, "data.feather": write_arrow_file, "data.arrows": write_arrow_stream}


def as_array(table):
    return np.column_stack([table.column(name).to_numpy().astype(float) for name in table.column_names[:-1]])


@pytest.fixture(params=WRITERS, ids=["parquet", "arrow file", "arrow stream"])
def name(request):
    return request.param


def test_numbers_are_a_dense_array(tmp_path, name):
    table = numbers()
    WRITERS[name](table, tmp_path / name)
    X, y = rb.load(tmp_path / name)
    np.testing.assert_array_equal(X, as_array(table))
    assert y.tolist() == table.column("class").to_pylist()
    assert y.dtype == np.int64


@pytest.mark.parametrize("packed", [".gz", ""])
def test_the_format_is_seen_from_the_first_bytes_whatever_the_name(tmp_path, name, packed):
    WRITERS[name](numbers(), tmp_path / "table")
    path = tmp_path / f"table.csv{packed}"
    data = (tmp_path / "table").read_bytes()
    path.write_bytes(gzip.compress(data) if packed else data)
    assert rb.load(path)[0].shape == (N, 5)


def test_a_table_comes_through_standard_input(tmp_path, name):
    WRITERS[name](numbers(), tmp_path / name)
    X, y = rb.load(tmp_path / name)
    for redirected in (True, False):
        with open(tmp_path / name, "rb") as file, from_file(file) if redirected else from_pipe(file.read()):
            X_read, y_read = rb.load("-")
        np.testing.assert_array_equal(X_read, X)
        np.testing.assert_array_equal(y_read, y)


def contents(stream, start=None):
    batches = list(stream.batches(start))
    return [row for b in batches for row in b.raw.data.reshape(b.n_rows, -1).tolist()], [
        code for b in batches for code in b.codes.tolist()
    ]


def test_reading_goes_on_from_any_batch(tmp_path, name):
    WRITERS[name](numbers(), tmp_path / name)
    stream = open_stream(tmp_path / name, chunk=2000)
    rows, codes = contents(stream)
    positions = [batch.position for batch in stream.batches()]
    assert len(positions) > 8
    for position in positions:
        again = open_stream(tmp_path / name, classes=stream.classes.keys, chunk=3000)
        assert contents(again, position) == (rows[position.rows :], codes[position.rows :])
    assert stream.total_bytes == stream.bytes_read() == (tmp_path / name).stat().st_size


def test_several_files_may_have_their_columns_in_another_order(tmp_path, name):
    table = numbers()
    WRITERS[name](table, tmp_path / f"1{name}")
    WRITERS[name](table.select(["class", "d", "c", "a", "e", "b"]), tmp_path / f"2{name}")
    X, y = rb.load(tmp_path / f"?{name}")
    np.testing.assert_array_equal(X, np.concatenate([as_array(table)] * 2))
    assert y.tolist() == table.column("class").to_pylist() * 2


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ([True, False, True], ["true", "false", "true"]),
        ([1.0, 2.0, 1.0], [1, 2, 1]),
        ([0.5, 2.0, 0.5], [0.5, 2.0, 0.5]),
        (["x", "y", "x"], ["x", "y", "x"]),
        (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y", "x"]),
    ],
)
def test_labels_of_every_type(tmp_path, labels, found):
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "label": labels}), tmp_path / "data.parquet")
    assert rb.load(tmp_path / "data.parquet")[1].tolist() == found


def test_weights_come_with_batches_and_load_warns(tmp_path):
    pq.write_table(pa.table({"a": [1.0, 2.0], "w": [0.5, 2], "y": [0, 1]}), tmp_path / "data.parquet")
    (batch,) = rb.read(tmp_path / "data.parquet", weight="w")
    assert batch.sample_weight.tolist() == [0.5, 2.0]
    assert batch.X.tolist() == [[1.0], [2.0]]
    with pytest.warns(UserWarning, match=r"the file has sample weights, which load leaves out: rosenblatt\.read gives"):
        rb.load(tmp_path / "data.parquet", weight="w")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0, None], "y": [0, 1]}, r"row 1 \(the first is row 0\): found nothing, .*'a'\..*missing='zero'"),
        ({"a": [1.0, float("nan")], "y": [0, 1]}, r"row 1 .*: found nothing, expected a number, and none is missing"),
        ({"a": [1.0, float("inf")], "y": [0, 1]}, r"row 1 .*: found inf, expected a finite number in column 'a'"),
        ({"a": [1.0, 2.0], "y": [0, None]}, r"row 1 .*: found nothing, expected a label in column 'y'"),
    ],
)
def test_what_is_missing_is_an_error_with_its_row(tmp_path, columns, message):
    pq.write_table(pa.table(columns), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match=message):
        rb.load(tmp_path / "data.parquet")


def test_a_weight_that_is_negative_is_an_error(tmp_path):
    pq.write_table(pa.table({"a": [1.0, 2.0], "w": [1.0, -1.0], "y": [0, 1]}), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match=r"row 1 .*: found -1\.0, expected a weight, 0 or more, in column 'w'"):
        rb.load(tmp_path / "data.parquet", weight="w")


def test_missing_numbers_can_be_zero_and_bad_rows_can_be_skipped(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": [1.0, None, 3.0], "b": [True, False, None], "y": [0, 1, 1]}), path)
    assert rb.load(path, missing="zero")[0].tolist() == [[1, 1], [0, 0], [3, 0]]
    with pytest.warns(UserWarning, match="2 bad lines were skipped"):
        X, y = rb.load(path, bad_lines="skip")
    assert (X.tolist(), y.tolist()) == ([[1, 1]], [0])


def test_a_type_that_cannot_be_read_says_what_to_do(tmp_path):
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"when": [datetime.date(2026, 1, 1)], "a": [1.0], "y": [0]}), path)
    with pytest.raises(FileFormatError, match=r"column 'when' has the type date32.*ignore='when'"):
        rb.load(path)
    assert rb.load(path, ignore="when")[0].tolist() == [[1.0]]


def test_text_cannot_be_told_to_be_numbers(tmp_path):
    pq.write_table(pa.table({"a": ["1"], "b": [1.0], "y": [0]}), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match="column 'a' has the type string: it cannot be read as numbers"):
        rb.load(tmp_path / "data.parquet", numeric="a")
    with pytest.raises(FileFormatError, match="column 'b' has the type double: it cannot be read as text"):
        rb.load(tmp_path / "data.parquet", text="b")


def test_the_index_that_pandas_wrote_is_not_taken_for_a_feature(tmp_path):
    frame = pa.table({"a": [1.5, 2.5], "y": [0, 1]}).to_pandas()
    frame.index = [10, 20]
    frame.to_parquet(tmp_path / "data.parquet")
    assert "__index_level_0__" in pq.read_schema(tmp_path / "data.parquet").names
    assert rb.load(tmp_path / "data.parquet")[0].tolist() == [[1.5], [2.5]]


def test_a_damaged_file_is_an_error(tmp_path):
    (tmp_path / "data.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileFormatError, match=r"data\.parquet cannot be read as parquet"):
        rb.load(tmp_path / "data.parquet")


def test_a_binary_file_told_to_be_text_is_an_error(tmp_path):
    pq.write_table(pa.table({"a": [1.0], "y": [0]}), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match="is Parquet by its first bytes, not csv"):
        rb.load(tmp_path / "data.parquet", format="csv")


def test_without_pyarrow_the_message_names_the_extra(tmp_path, monkeypatch):
    pq.write_table(pa.table({"a": [1.0], "y": [0]}), tmp_path / "data.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(rb.errors.MissingExtraError, match=r'pyarrow, from the extra "parquet"'):
        rb.load(tmp_path / "data.parquet")


def test_what_was_found_is_said(tmp_path):
    write_parquet(numbers(), tmp_path / "data.parquet")
    stream = open_stream(tmp_path / "data.parquet")
    assert stream.describe() == "parquet, 6 columns, label 'class'"
    assert stream.feature_names == ["a", "b", "c", "d", "e"]
    assert stream.width == 5
    told = ReadingOptions(format="parquet", label="class", numeric=("a", "b", "c", "d", "e"), others="ignore")
    assert stream.options == told


# Categories and text --------------------------------------------------------------------------------------------------


def mixed():
    generator = np.random.default_rng(1)
    colours = [["red", "blue", 'a, "b"', "two\nlines", "é"][i] for i in generator.integers(0, 5, N)]
    return pa.table(
        {
            "size": generator.normal(size=N).astype(np.float32),
            "big": generator.random(N) < 0.5,
            "colour": pa.array(colours).dictionary_encode(),
            "shape": [["round", "square"][i] for i in generator.integers(0, 2, N)],
            "words": [f"Some words {i % 17}, and others {i % 3}" for i in range(N)],
            "class": generator.integers(0, 2, N).astype(bool),
        }
    )


OPTIONS = [
    {"ignore": "words"},
    {"ignore": "words", "categories": "one-hot"},
    {"text": "words", "ngrams": 2, "bits": 12},
    {"text": "words", "interactions": True, "keep_names": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["hash", "one-hot", "text", "interactions"])
def test_categories_have_the_columns_that_they_have_as_csv(tmp_path, name, options):
    table = mixed()
    WRITERS[name](table, tmp_path / name)
    frame = table.to_pandas()
    frame["size"] = frame["size"].astype(float)
    frame["big"] = frame["big"].astype(int)
    frame["class"] = frame["class"].map({True: "true", False: "false"})
    frame.to_csv(tmp_path / "data.csv", index=False)
    streams = [open_stream(tmp_path / file, ReadingOptions(**options), chunk=1 << 12) for file in (name, "data.csv")]
    found = [everything(list(stream.batches())) for stream in streams]
    assert found[0] == found[1]
    assert streams[0].classes.keys == streams[1].classes.keys
    assert streams[0].feature_names == streams[1].feature_names
    assert streams[0].names_of_hashes == streams[1].names_of_hashes


def everything(batches):
    arrays = (lambda b: b.raw.data, lambda b: b.raw.columns, lambda b: np.diff(b.raw.starts), lambda b: b.codes)
    return [np.concatenate([array(batch) for batch in batches]).tolist() for array in arrays]


def test_reading_of_categories_goes_on_from_any_batch(tmp_path, name):
    WRITERS[name](mixed(), tmp_path / name)
    options = ReadingOptions(text="words")
    stream = open_stream(tmp_path / name, options, chunk=2000)
    batches = list(stream.batches())
    data, columns, lengths, codes = everything(batches)
    assert len(batches) > 5
    for position in [batch.position for batch in batches[:-1]]:
        again = open_stream(tmp_path / name, options, classes=stream.classes.keys, chunk=1500)
        done = sum(lengths[: position.rows])
        rest = everything(list(again.batches(position)))
        assert rest == [data[done:], columns[done:], lengths[position.rows :], codes[position.rows :]]


def test_a_missing_category_is_an_error_with_its_row(tmp_path):
    pq.write_table(pa.table({"c": ["a\nb", None], "y": [0, 1]}), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match=r"row 1 \(the first is row 0\): .*none is missing, in column 'c'"):
        rb.load(tmp_path / "data.parquet")
    assert rb.load(tmp_path / "data.parquet", missing="zero")[0].nnz == 1


def test_the_label_of_a_rejected_row_is_no_class(tmp_path):
    table = pa.table({"v": [None, 1.0, 2.0, -1.0], "label": ["ghost", "a", "nan", "b"]})
    pq.write_table(table, tmp_path / "data.parquet")
    with pytest.warns(UserWarning, match=r"2 bad lines were skipped"):
        X, y = rb.load(tmp_path / "data.parquet", bad_lines="skip")
    assert X.tolist() == [[1.0], [-1.0]] and y.tolist() == ["a", "b"]
    assert rb.train(tmp_path / "data.parquet", bad_lines="skip").classes_.tolist() == ["a", "b"]
    with pytest.raises(FileFormatError, match=r"row 2 \(the first is row 0\): found nothing, expected a label"):
        rb.load(tmp_path / "data.parquet", missing="zero")
