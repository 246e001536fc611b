"""JSON lines against the json module, and Vowpal Wabbit's format by its documented hash."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

import rosenblatt as rb
from rosenblatt.errors import FileFormatError, InputError
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.streams import open_stream


def write(folder, text, name="data.jsonl"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def as_dicts(X, names):
    """The rows of a matrix as objects, without what is 0."""
    return [
        {names[column]: value for column, value in zip(X.indices[a:b].tolist(), X.data[a:b].tolist()) if value}
        for a, b in zip(X.indptr, X.indptr[1:])
    ]


keys = st.text(min_size=1, max_size=5).filter(
    lambda key: key.lower() not in ("label", "class", "target", "y", "features")
)
objects = st.dictionaries(keys, st.floats(-1e300, 1e300), max_size=5)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(objects, st.sampled_from(["a", 'quo"te', "é", "x\n"])), min_size=1), nested=st.booleans()
)
def test_whatever_the_json_module_writes_is_read(tmp_path_factory, rows, nested):
    lines = [
        json.dumps({"label": label} | ({"features": features} if nested else features), ensure_ascii=bool(i % 2))
        for i, (features, label) in enumerate(rows)
    ]
    path = write(tmp_path_factory.mktemp("json"), "\n".join(lines))
    stream = open_stream(path)
    batches = list(stream.batches())
    X, y = rb.load(path)
    assert y.tolist() == [label for _, label in rows]
    names = stream.feature_names
    assert as_dicts(X, names) == [{k: v for k, v in features.items() if v} for features, _ in rows]
    assert batches[-1].position.rows == len(rows)


@pytest.mark.parametrize("key", ["label", "class", "Target", "y"])
def test_the_usual_keys_are_the_label(tmp_path, key):
    stream = open_stream(write(tmp_path, json.dumps({"a": 1, key: "x"}) + "\n"))
    (batch,) = stream.batches()
    assert stream.describe() == f"json, label {key!r}"
    assert batch.codes.tolist() == [0]
    assert stream.feature_names == ["a"]
    assert stream.options.names == "columns"


@pytest.mark.parametrize(
    ("labels", "found"),
    [(["true", "false"], ["true", "false"]), (["1", "-1.0"], [1, -1]), (["0.5", '"x"'], ["0.5", "x"])],
)
def test_labels_of_every_kind(tmp_path, labels, found):
    path = write(tmp_path, "".join(f'{{"a": 1, "label": {label}}}\n' for label in labels))
    assert rb.load(path)[1].tolist() == found


def test_an_object_without_a_usual_key_lists_its_keys(tmp_path):
    path = write(tmp_path, '{"a": 1, "kind": 2}\n')
    with pytest.raises(FileFormatError, match=r"line 1: no key is called label, .*There are 'a', 'kind'\. .*label="):
        rb.load(path)
    assert rb.load(path, label="kind")[1].tolist() == [2]
    (batch,) = open_stream(path, labelled=False).batches()
    assert batch.codes.tolist() == [-1]


def test_keys_and_categories_can_be_hashed(tmp_path):
    path = write(tmp_path, '{"size": 2, "colour": "red", "big": true, "label": 1}\n')
    X, _ = rb.load(path, names="hash", bits=16)
    expected = {
        murmurhash3_32(name, positive=True) & 0xFFFF: v for name, v in (("size", 2), ("colour=red", 1), ("big", 1))
    }
    assert dict(zip(X.indices.tolist(), X.data.tolist())) == expected
    assert X.shape == (1, 1 << 16)
    X, _ = rb.load(path)
    assert X.toarray().tolist() == [[2, 1, 1]]


def test_text_is_hashed_by_its_words(tmp_path):
    stream = open_stream(write(tmp_path, '{"review": "Good film", "y": 1}\n'), ReadingOptions(text="review"))
    (batch,) = stream.batches()
    assert sorted(batch.raw.columns.tolist()) == sorted(
        murmurhash3_32(word, positive=True) & ((1 << 18) - 1) for word in ("good", "film")
    )
    assert stream.describe() == "json, label 'y', 1 text column hashed into 2**18"


def test_the_columns_go_on_where_the_last_file_ended(tmp_path):
    write(tmp_path, '{"a": 1, "b": 2, "label": 0}\n', "1.jsonl")
    write(tmp_path, '{"c": 3, "a": 4, "label": 1}\n', "2.jsonl")
    X, y = rb.load(tmp_path / "?.jsonl")
    assert X.toarray().tolist() == [[1, 2, 0], [4, 0, 3]]
    assert y.tolist() == [0, 1]
    stream = open_stream(tmp_path / "2.jsonl", feature_names=["a", "b"])
    (batch,) = stream.batches()
    assert batch.raw.columns.tolist() == [2, 0]
    assert stream.feature_names == ["a", "b", "c"]


def test_a_second_reading_gives_the_same_columns(tmp_path):
    rows = [{f"k{i % 7}": i, f"m{i % 5}": 1, "label": i % 2} for i in range(100)]
    path = write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))
    stream = open_stream(path, chunk=100)
    first = [batch.raw.columns.tolist() for batch in stream.batches()]
    assert [batch.raw.columns.tolist() for batch in stream.batches()] == first
    assert [c for batch in open_stream(path).batches() for c in batch.raw.columns.tolist()] == [
        c for b in first for c in b
    ]


def test_a_weight_comes_with_its_row(tmp_path):
    (batch,) = rb.read(write(tmp_path, '{"a": 1, "w": 2.5, "label": 0}\n{"a": 1, "label": 0}\n'), weight="w")
    assert batch.sample_weight.tolist() == [2.5, 1.0]


def test_a_null_is_missing(tmp_path):
    path = write(tmp_path, '{"a": 1, "b": null, "label": 0}\n')
    with pytest.raises(FileFormatError, match=r"line 1, column 15: found 'null', expected a value.*missing='zero'"):
        rb.load(path)
    assert rb.load(path, missing="zero")[0].toarray().tolist() == [[1]]


@pytest.mark.parametrize("value", ["17", "null", "true", r'"a\"b"', '[1, {"x": "]"}, []]', "{}"])
def test_keys_can_be_ignored_whatever_their_value(tmp_path, value):
    path = write(tmp_path, f'{{"id": {value}, "a": 1, "label": 0}}\n{{"a": 2, "id":{value} , "label": 1}}\n')
    X, y = rb.load(path, ignore="id")
    assert (X.toarray().tolist(), y.tolist()) == ([[1], [2]], [0, 1])


@pytest.mark.parametrize("value", ["[1", '{"a": 1', '"x', "", "nothing"])
def test_an_ignored_value_must_still_end(tmp_path, value):
    with pytest.raises(FileFormatError, match="line 2"):
        rb.load(write(tmp_path, f'{{"label": 1}}\n{{"label": 1, "id": {value}\n'), ignore="id")


def test_a_key_beside_the_features_is_told_what_it_can_be(tmp_path):
    path = write(tmp_path, '{"label": 1, "how often": 2, "features": {"a": 1}}\n')
    advice = r"say weight='how often' \(--weight how often\); if it is to be left out, ignore='how often'"
    with pytest.raises(FileFormatError, match=advice):
        rb.load(path)
    assert rb.load(path, ignore="how often")[0].toarray().tolist() == [[1]]


@pytest.mark.parametrize("nested", [False, True])
def test_texts_that_are_taken_for_categories_are_told_of(tmp_path, nested):
    features = [{"words": f"{k} " * 12, "colour": "red", "both": k if k % 2 else "blue"} for k in range(9)]
    rows = [{"label": k % 2} | ({"features": row} if nested else row) for k, row in enumerate(features)]
    path = write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))
    (remark,) = open_stream(path).remarks
    assert remark.startswith(f"{path}: key 'words' has texts, and each of them") and "--text words" in remark
    for told in ({"text": "words"}, {"ignore": "words"}):
        assert open_stream(path, ReadingOptions(**told)).remarks == ()


def test_an_array_of_objects_is_refused_with_advice(tmp_path):
    with pytest.raises(FileFormatError, match=r"begins with '\['.*jq -c '\.\[\]'"):
        rb.load(write(tmp_path, '[{"a": 1}]', "data.json"))


def test_options_of_tables_mean_nothing_for_json():
    with pytest.raises(InputError, match=r"JSON values have their types: categorical=\('a',\) means nothing here"):
        ReadingOptions(format="json", categorical="a")


# Vowpal Wabbit --------------------------------------------------------------------------------------------------------

VW = "1 2.0 'tag|user name=ann age:0.5 |item red\n-1 |item blue:2\n"


def vw_column(namespace, feature, bits=18):
    seed = murmurhash3_32(namespace, seed=0, positive=True) if namespace else 0
    return murmurhash3_32(feature, seed=seed, positive=True) & ((1 << bits) - 1)


def test_features_are_hashed_as_vowpal_wabbit_does(tmp_path):
    (batch,) = rb.read(write(tmp_path, VW, "data.vw"))
    first = {vw_column("user", "name=ann"): 1.0, vw_column("user", "age"): 0.5, vw_column("item", "red"): 1.0}
    row = batch.X[[0], :]
    assert dict(zip(row.indices.tolist(), row.data.tolist())) == first
    assert batch.X[1, vw_column("item", "blue")] == 2.0
    assert batch.y.tolist() == [1, -1]
    assert batch.sample_weight.tolist() == [2.0, 1.0]
    assert batch.X.shape == (2, 1 << 18)


def test_vw_says_what_it_is(tmp_path):
    stream = open_stream(write(tmp_path, VW, "data.vw"), ReadingOptions(bits=10, keep_names=True))
    (batch,) = stream.batches()
    assert stream.describe() == "vw, names hashed into 2**10"
    assert stream.names_of_hashes[vw_column("item", "red", 10)] == "item^red"
    assert np.max(batch.raw.columns) < 1 << 10


def test_names_of_vw_can_have_columns_of_their_own(tmp_path):
    stream = open_stream(write(tmp_path, VW, "data.vw"), ReadingOptions(names="columns"))
    (batch,) = stream.batches()
    assert stream.feature_names == ["user^name=ann", "user^age", "item^red", "item^blue"]
    assert batch.raw.columns.tolist() == [0, 1, 2, 3] and batch.raw.data.tolist() == [1, 0.5, 1, 2]
    assert stream.describe() == "vw"


@pytest.mark.parametrize(
    "name, line, expected",
    [
        ("data.vw", b"1 |f caf\xe9 x", "line 2, column 6: .* expected a name in UTF-8, as only hashed names"),
        ("data.vw", b"1 |caf\xe9 :2", "line 2, column 9: .* expected a name in UTF-8, as only hashed names"),
        ("data.vw", b"\xe9 |f x", "line 2, column 1: .* expected a label in UTF-8"),
        ("data.jsonl", b'{"label": 1, "caf\xe9": 1}', "line 2, column 14: .* expected a name in UTF-8"),
        ("data.jsonl", b'{"label": 1, "a": "caf\xe9"}', "line 2, column 14: .* expected a name in UTF-8"),
        ("data.jsonl", b'{"label": "caf\xe9"}', "line 2, column 11: .* expected a label in UTF-8"),
        ("data.svm", b"\xe9 1:1", "line 2, column 1: .* expected a label in UTF-8"),
    ],
)
def test_names_and_labels_are_text_unless_they_are_hashed(tmp_path, name, line, expected):
    first = {"vw": b"1 | a\n", "jsonl": b'{"label": 1}\n', "svm": b"1 1:1\n"}[name.partition(".")[2]]
    (tmp_path / name).write_bytes(first + line + b"\n")
    with pytest.raises(FileFormatError, match=expected):
        rb.load(tmp_path / name, names="columns")
    if "label" not in expected:
        assert len(rb.load(tmp_path / name, names="hash")[1]) == 2


def test_columns_mean_nothing_for_vw():
    with pytest.raises(InputError, match=r"vw lines have their label in front.*label='a' means nothing here"):
        ReadingOptions(format="vw", label="a")
