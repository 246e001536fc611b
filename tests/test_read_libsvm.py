"""libsvm files: the same matrix as scikit-learn's, for any chunk size, number of threads and place to go on from."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import rosenblatt as rb
from rosenblatt.errors import FileFormatError, InputError
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.streams import open_stream


def write(folder, text, name="data.svm"):
    path = folder / name
    path.write_text(text)
    return path


def random_file(path, n=500, d=40, *, zero_based=False, seed=0):
    generator = np.random.default_rng(seed)
    X = np.where(generator.random((n, d)) < 0.2, generator.normal(size=(n, d)), 0)
    X[0, 0] = 1.0
    y = generator.integers(-1, 3, n)
    with open(path, "wb") as file:
        dump_svmlight_file(X, y, file, zero_based=zero_based)
    return X, y


def assert_same_as_sklearn(path, **options):
    X, y = rb.load(path, **options)
    reference, labels = load_svmlight_file(str(path))
    assert X.shape == reference.shape
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(reference, part))
    np.testing.assert_array_equal(y, labels)


@pytest.mark.parametrize("zero_based", [False, True])
def test_the_whole_is_that_of_scikit_learn(tmp_path, zero_based):
    random_file(tmp_path / "data.svm", zero_based=zero_based)
    assert_same_as_sklearn(tmp_path / "data.svm")


rows = st.lists(
    st.tuples(
        st.sampled_from([-1, 1, 0, 7, 2.5]),
        st.dictionaries(st.integers(0, 50), st.floats(-1e6, 1e6, allow_nan=False), max_size=6),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(rows=rows, newline=st.sampled_from(["\n", "\r\n"]), last=st.booleans(), base=st.integers(0, 1))
def test_any_file_is_read_as_scikit_learn_reads_it(tmp_path_factory, rows, newline, last, base):
    lines = [
        " ".join([str(label), *(f"{index + base}:{value!r}" for index, value in sorted(values.items()))])
        for label, values in [*rows, (1, {0: 1.0})]
    ]
    path = tmp_path_factory.mktemp("svm") / "data.svm"
    path.write_bytes((newline.join(lines) + (newline if last else "")).encode())
    assert_same_as_sklearn(path)


def test_comments_blank_lines_and_query_numbers_are_read_over(tmp_path):
    path = write(tmp_path, "# made by hand\n\n1 qid:3 1:2 # good\n-1 qid:3 2:1\n")
    assert_same_as_sklearn(path)


@pytest.mark.parametrize(
    ("text", "labels", "kind"),
    [
        ("+1 1:1\n-1 1:2\n1.0 1:3\n", [1, -1, 1], "i"),
        ("0 1:1\n1 1:2\n", [0, 1], "i"),
        ("0.5 1:1\n2 1:2\n", [0.5, 2.0], "f"),
        ("spam 1:1\nham 1:2\nspam 1:4\n", ["spam", "ham", "spam"], "U"),
        ("1 1:1\nb 1:2\n", ["1", "b"], "U"),
        ("12345678901234567890 1:1\n1 1:2\n", ["12345678901234567890", "1"], "U"),
        ("1,2 1:1\n3 1:1\n", ["1,2", "3"], "U"),
    ],
)
def test_labels_of_every_kind(tmp_path, text, labels, kind):
    _, y = rb.load(write(tmp_path, text))
    assert y.dtype.kind == kind
    assert y.tolist() == labels


def test_the_base_of_the_indices_can_be_told(tmp_path):
    path = write(tmp_path, "1 1:5\n-1 2:6\n")
    assert rb.load(path)[0].toarray().tolist() == [[5, 0], [0, 6]]
    assert rb.load(path, index_base=0)[0].toarray().tolist() == [[0, 5, 0], [0, 0, 6]]
    assert rb.load(path, index_base=1)[0].toarray().tolist() == [[5, 0], [0, 6]]


def test_an_index_below_the_told_base_is_an_error(tmp_path):
    with pytest.raises(FileFormatError, match=r"data\.svm, line 2, column 4: found '0:6', expected indices that begin"):
        rb.load(write(tmp_path, "1 1:5\n-1 0:6\n"), index_base=1)


def test_batches_together_are_the_whole(tmp_path):
    random_file(tmp_path / "data.svm")
    X, y = rb.load(tmp_path / "data.svm")
    batches = list(rb.read(tmp_path / "data.svm"))
    assert np.concatenate([batch.y for batch in batches]).tolist() == y.tolist()
    assert sum(batch.X.sum() for batch in batches) == pytest.approx(X.sum())
    assert batches[0].first_row == 0
    assert batches[0].sample_weight is None
    assert sum(map(len, batches)) == len(y)


def test_an_index_zero_that_comes_late_is_an_error_of_read(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.readers.open_stream", lambda *a, **k: open_stream(*a, **k, chunk=8))
    path = write(tmp_path, "1 1:5\n-1 2:6\n1 0:1\n")
    with pytest.raises(FileFormatError, match=r"an index 0 is in rows 2 to 2, but none .*index_base=0"):
        list(rb.read(path))
    assert rb.load(path)[0].toarray().tolist() == [[0, 5, 0], [0, 0, 6], [1, 0, 0]]


def test_text_labels_after_numbers_are_an_error_of_read(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.readers.open_stream", lambda *a, **k: open_stream(*a, **k, chunk=8))
    path = write(tmp_path, "1 1:5\n2 2:6\nspam 1:1\n")
    with pytest.raises(FileFormatError, match=r"the label 'spam' comes after 2 rows .*: classes=\['spam'\]"):
        list(rb.read(path))
    assert rb.load(path)[1].tolist() == ["1", "2", "spam"]
    assert [batch.y.tolist() for batch in rb.read(path, classes=["spam"])] == [["1"], ["2"], ["spam"]]


# Streams -------------------------------------------------------------------------------------------------------------


def contents(stream, start=None):
    """What a stream holds: codes, columns, values and where rows end, whatever the batches."""
    codes, columns, values, lengths = [], [], [], []
    for batch in stream.batches(start):
        codes += batch.codes.tolist()
        columns += batch.raw.columns.tolist()
        values += batch.raw.data.tolist()
        lengths += np.diff(batch.raw.starts).tolist()
    return codes, columns, values, lengths


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("chunk", [1, 100, 1 << 21])
def test_chunks_and_threads_change_nothing(tmp_path, chunk, threads):
    random_file(tmp_path / "data.svm", n=100)
    whole = contents(open_stream(tmp_path / "data.svm"))
    assert contents(open_stream(tmp_path / "data.svm", threads=threads, chunk=chunk)) == whole


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_reading_goes_on_from_any_batch(tmp_path, ending):
    for name, seed in (("a.svm", 1), ("b.svm", 2)):
        random_file(tmp_path / name, n=30, seed=seed)
    files = [compressed(tmp_path / name, ending) for name in ("a.svm", "b.svm")]
    stream = open_stream(files, chunk=400)
    whole = contents(stream)
    positions = [batch.position for batch in stream.batches()]
    assert len(positions) > 8 and positions[-1].rows == 60 and positions[-1].file == 1
    for position in positions:
        again = open_stream(files, chunk=1000, classes=stream.classes.keys)
        rest = contents(again, position)
        assert rest[0] == whole[0][position.rows :]
        assert rest[3] == whole[3][position.rows :]
        seen = sum(whole[3][: position.rows])
        assert rest[1:3] == (whole[1][seen:], whole[2][seen:])


def compressed(path, ending):
    if not ending:
        return path
    import gzip
    import lzma

    packed = path.with_name(path.name + ending)
    packed.write_bytes({".gz": gzip.compress, ".xz": lzma.compress}[ending](path.read_bytes()))
    return packed


def test_a_stream_can_be_read_twice_and_fills_in_its_options(tmp_path):
    random_file(tmp_path / "data.svm", n=50)
    stream = open_stream(tmp_path / "data.svm", ReadingOptions(bad_lines="skip"))
    assert contents(stream) == contents(stream)
    assert stream.rewindable
    assert stream.options == ReadingOptions(format="libsvm", bad_lines="skip")
    assert stream.describe() == "libsvm"
    assert stream.smallest_index == 1
    assert stream.feature_names is None
    assert stream.width is None
    assert stream.total_bytes == stream.bytes_read() == (tmp_path / "data.svm").stat().st_size


def test_classes_that_are_known_have_the_first_codes(tmp_path):
    path = write(tmp_path, "+1 1:1\n-1 1:1\n3 1:1\n")
    stream = open_stream(path, classes=[-1, 1])
    (batch,) = stream.batches()
    assert batch.codes.tolist() == [1, 0, 2]
    assert stream.classes.keys == ["-1", "1", "3"]


def test_rows_without_labels_are_read_where_none_is_needed(tmp_path):
    path = write(tmp_path, "1 1:1\n1:2 2:3\n")
    (batch,) = open_stream(path, labelled=False).batches()
    assert batch.codes.tolist() == [0, -1]
    with pytest.raises(FileFormatError, match=r"line 2, column 1: found '1:2', expected a label"):
        rb.load(path)


def test_a_label_that_says_nothing_is_none_where_none_is_needed(tmp_path):
    (batch,) = open_stream(write(tmp_path, "nan 1:1\n1 1:2\n"), labelled=False).batches()
    assert batch.codes.tolist() == [-1, 0]


def test_the_number_of_threads_is_checked(tmp_path):
    with pytest.raises(
        InputError, match=r"'threads' parameter of reading must be None or an integer of at least 1\. Got"
    ):
        rb.load(write(tmp_path, "1 1:1\n"), threads=0)


def test_the_fingerprint_tells_files_apart(tmp_path):
    path = write(tmp_path, "1 1:1\n")
    first = open_stream(path).fingerprint
    assert open_stream(path).fingerprint == first
    write(tmp_path, "1 1:2\n")
    assert open_stream(path).fingerprint != first


@pytest.mark.parametrize(
    ("name", "text", "column"),
    [
        ("data.svm", "1 1:1\nNaN 1:1\n2 1:3\n", 1),
        ("data.vw", "1 |f a\n -nan |f a\n2 |f b\n", 2),
        ("data.csv", '1,1\n5,"nan"\n3,2\n', 3),
        ("data.jsonl", '{"label": 1, "a": 1}\n{"label": "nan", "a": 1}\n{"label": 2, "a": 1}\n', 11),
    ],
)
def test_a_label_that_says_nothing_is_a_bad_line(tmp_path, name, text, column):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(FileFormatError, match=rf"line 2, column {column}: found .*, expected a label") as raised:
        rb.load(path)
    assert (raised.value.path, raised.value.line, raised.value.column) == (str(path), 2, column)
    with pytest.warns(UserWarning, match="1 bad line was skipped"):
        assert rb.load(path, bad_lines="skip")[1].tolist() == [1, 2]


def test_an_empty_file_has_no_rows(tmp_path):
    with pytest.raises(InputError, match=r"data\.svm: there are no rows"):
        rb.load(write(tmp_path, "\n# nothing\n"))
    assert list(rb.read(write(tmp_path, ""))) == []


# Bad lines -----------------------------------------------------------------------------------------------------------

BAD = "1 1:1\n-1 x:2\n1 2:3\n-1 1:y\n1 3:4\n"


def test_a_bad_line_says_where_what_and_what_to_do(tmp_path):
    path = write(tmp_path, BAD)
    with pytest.raises(
        FileFormatError, match=r"line 2, column 4: found 'x:2', expected index:value\. .*skip"
    ) as caught:
        rb.load(path)
    assert (caught.value.path, caught.value.line, caught.value.column) == (str(path), 2, 4)


def test_the_rows_before_a_bad_line_are_given_first(tmp_path):
    batches = rb.read(write(tmp_path, BAD))
    assert next(batches).y.tolist() == [1]
    with pytest.raises(FileFormatError, match="line 2"):
        next(batches)


def test_bad_lines_are_skipped_counted_and_kept(tmp_path):
    path = write(tmp_path, BAD)
    with pytest.warns(UserWarning, match=r"2 bad lines were skipped and kept in .*data\.svm\.rejected.*line 2"):
        X, y = rb.load(path, bad_lines="skip")
    assert y.tolist() == [1, 1, 1]
    assert X.toarray().tolist() == [[1, 0, 0], [0, 3, 0], [0, 0, 4]]
    assert (tmp_path / "data.svm.rejected").read_text().splitlines() == [
        "line\tcolumn\tfound\texpected\ttext",
        "2\t4\t'x:2'\tindex:value\t-1 x:2",
        "4\t6\t'y'\ta finite number after the colon\t-1 1:y",
    ]


def test_rejected_lines_are_neither_lost_nor_doubled_when_reading_goes_on(tmp_path):
    bad = "".join(f"1 1:{i}\n-1 {i}\n" for i in range(1, 40))
    files = [write(tmp_path, bad, "a.svm"), write(tmp_path, bad, "b.svm")]
    options = ReadingOptions(bad_lines="skip")
    stream = open_stream(files, options, chunk=64)
    positions = [batch.position for batch in stream.batches()]
    assert stream.rejected == 78
    kept = {name: (tmp_path / name).read_bytes() for name in ("a.svm.rejected", "b.svm.rejected")}
    for position in positions[::5]:
        again = open_stream(files, options, chunk=100)
        for _ in again.batches(position):
            pass
        assert again.rejected == 78
        assert {name: (tmp_path / name).read_bytes() for name in kept} == kept


def test_a_run_without_bad_lines_removes_the_rejected_lines_of_an_earlier_one(tmp_path):
    path = write(tmp_path, BAD)
    with pytest.warns(UserWarning, match="2 bad lines"):
        rb.load(path, bad_lines="skip")
    write(tmp_path, "1 1:1\n")
    rb.load(path, bad_lines="skip")
    assert not (tmp_path / "data.svm.rejected").exists()


def test_a_place_where_rejected_lines_cannot_be_kept_is_an_error(tmp_path):
    path = write(tmp_path, BAD)
    (tmp_path / "data.svm.rejected").mkdir()
    with pytest.raises(InputError, match=r"data\.svm\.rejected, where the bad lines are kept, cannot be written"):
        rb.load(path, bad_lines="skip")


def test_the_reader_takes_what_sklearn_wrote(tmp_path):
    X, y = random_file(tmp_path / "data.svm")
    buffer = io.BytesIO()
    dump_svmlight_file(X, y, buffer, zero_based=False, comment="two\nlines")
    (tmp_path / "other.svm").write_bytes(buffer.getvalue())
    assert rb.load(tmp_path / "other.svm")[0].toarray() == pytest.approx(X)
