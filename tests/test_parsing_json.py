"""JSON lines in the engine: the rows that the json module finds, for any chunks and threads; every complaint."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_readers import batches, fault, plain_json, read

pytestmark = pytest.mark.engine

strings = st.text(st.sampled_from('aB9_ é\n\r\t"\\/\b\f\x00\x7f{}:,ß“𝄞\uffff'), max_size=12)
finite = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.one_of(finite, st.integers(-(10**20), 10**20), st.booleans())
keys = strings.filter(lambda key: key not in ("label", "features", "weight", "note", "more"))
features = st.dictionaries(keys, st.one_of(numbers, strings), max_size=5)
texts = st.dictionaries(st.sampled_from(["note", "more"]), strings)
label = st.one_of(strings.filter(bool), finite, st.integers(), st.booleans())


@st.composite
def rows(draw):
    members = draw(features) | draw(texts)
    members = {"features": members} if draw(st.booleans()) else members
    members |= {"label": draw(label)} | ({"weight": draw(st.floats(0, 1e9))} if draw(st.booleans()) else {})
    order = draw(st.permutations(list(members)))
    return {key: members[key] for key in order}


written = st.tuples(rows(), st.booleans(), st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " :  ")])).map(
    lambda drawn: json.dumps(drawn[0], ensure_ascii=drawn[1], separators=drawn[2])
)


@given(
    st.lists(st.one_of(written, st.sampled_from(["", "  \t"])), max_size=6),
    st.sampled_from(["\n", "\r\n", " \n"]),
    st.booleans(),
    st.integers(1, 100),
    st.integers(1, 3),
    st.fixed_dictionaries({"hashed": st.booleans(), "ngrams": st.integers(1, 2), "word_counts": st.booleans()}),
)
def test_rows_equal_those_of_the_json_module(lines, newline, ends, chunk, threads, options):
    text = newline.join(lines) + (newline if ends else "")
    found = read(
        "json", text, chunk=chunk, threads=threads, weight_key=b"weight", text_keys=[b"note", b"more"], **options
    )
    assert found == plain_json(text, weight_key="weight", text_keys=("note", "more"), **options)


def test_names_are_numbered_as_they_appear():
    reader, (batch,) = batches("json", '{"label": 1, "b": 2, "a": 3}\n{"a": 4, "label": 1, "c": "x"}\n')
    assert reader.dictionary() == [b"b", b"a", b"c=x"]
    assert batch.columns.tolist() == [0, 1, 1, 2] and batch.data.tolist() == [2.0, 3.0, 4.0, 1.0]


def test_names_keep_their_numbers_in_a_stream():
    options = {"dictionary": [b"first", b"b"]}
    assert batches("json", '{"label": 1, "b": 2}', **options)[1][0].columns.tolist() == [1]


def test_the_only_column_of_text_is_hashed_without_its_name():
    text = '{"label": 1, "note": "Good film"}\n'
    assert read("json", text, text_keys=[b"note"], hashed=True) == plain_json(text, text_keys=["note"], hashed=True)


@pytest.mark.parametrize("value", ["null", "NaN"])
def test_a_missing_value_is_an_error_or_0(value):
    line = f'{{"label": 1, "a": {value}, "b": 2}}'
    assert fault("json", line) == (1, 19, f"'{value}'", "a value, and none is missing")
    assert read("json", line, missing_is_zero=True) == (["1"], [{"b": 2.0}], [1.0])


def test_rows_without_labels():
    text = '{"a": 1}\n{"label": null, "a": 2}\n{"label": "x"}\n'
    assert read("json", text, require_label=False) == ([None, None, "x"], [{"a": 1.0}, {"a": 2.0}, {}], [1.0] * 3)
    assert fault("json", text) == (1, 1, "'{\"a\":'", "a label, called 'label'")
    assert fault("json", '{"label": null}')[:2] == (1, 11)
    assert fault("json", '{"label": ""}')[:2] == (1, 11)


ESCAPES = 'an escape of JSON: \\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u and four hexadecimal digits'
CONTROL = "no control character in a string (but an escape like \\n or \\t)"
VALUE = "a finite number, a string, true, false or null"


@pytest.mark.parametrize(
    "line, column, found, expected",
    [
        ("[1, 2]", 1, "'[1'", 'an object, {"key": value, ...}, on one line'),
        ("{", 2, "the end of the line", "a key in double quotes"),
        ('{"label": 1', 12, "the end of the line", "',' or '}'"),
        ('{"label": 1,}', 13, "'}'", "a key in double quotes"),
        ('{"label": 1 "a": 2}', 13, "'\"a\":'", "',' or '}'"),
        ("{'label': 1}", 2, "''label':'", "a key in double quotes"),
        ('{"label" 1}', 10, "'1'", "':' after the key"),
        ('{"label": [1]}', 11, "'[1]'", "a label: a string, a number, true or false"),
        ('{"label": 1, "a": [1]}', 19, "'[1]'", VALUE),
        ('{"label": 1, "a": {"b": 1}}', 19, "'{\"b\":'", VALUE),
        ('{"label": 1, "features": {"a": {"b": 1}}}', 32, "'{\"b\":'", VALUE),
        ('{"label": 1, "a": 1e999}', 19, "'1e999'", VALUE),
        ('{"label": 1, "a": 01}', 19, "'01'", VALUE),
        ('{"label": 1, "a": +1}', 19, "'+1'", VALUE),
        ('{"label": 1, "a": .5}', 19, "'.5'", VALUE),
        ('{"label": 1, "a": 5.}', 19, "'5.'", VALUE),
        ('{"label": 1, "a": 5.e3}', 19, "'5.e3'", VALUE),
        ('{"label": 1, "a": Infinity}', 19, "'Infinity'", VALUE),
        ('{"label": 1, "a": 1x}', 20, "'x'", "',' or '}'"),
        ('{"label": 1, "a": "\\x"}', 20, "'\\x\"'", ESCAPES),
        ('{"label": 1, "a": "\\u12g4"}', 20, "'\\u12g4\"'", ESCAPES),
        ('{"label": 1, "a": "\\ud834"}', 20, "'\\ud834\"'", ESCAPES),
        ('{"label": 1, "a": "\\udd1e"}', 20, "'\\udd1e\"'", ESCAPES),
        ('{"label": 1, "a": "\\', 20, "'\\'", ESCAPES),
        ('{"label": 1, "a": "x', 21, "the end of the line", "a quote that ends the string"),
        (
            '{"label": 1, "a": "x\ty"}',
            21,
            "'\\ty\"'",
            "no control character in a string (but an escape like \\n or \\t)",
        ),
        ('{"label": 1} {}', 14, "'{'", "the end of the line after the object"),
        ('{"label": 1, "a": 1, "a": 2}', 22, "'\"a\":'", "each key once"),
        ('{"label": 1, "label": 2}', 14, "'\"label\":'", "each key once"),
        ('{"label": 1, "features": {}, "features": {}}', 30, "'\"features\":'", "each key once"),
        ('{"label": 1, "id": 7, "features": {"a": 1}}', 14, "'\"id\":'", "no features beside the object 'features'"),
        ('{"label": 1, "weight": -1}', 24, "'-1'", "a weight (a number from 0 on)"),
        ('{"label": 1, "weight": "1"}', 24, "'\"1\"'", "a weight (a number from 0 on)"),
        ('{"label": 1, "note": 3}', 22, "'3'", "a string, as 'note' is text"),
    ],
)
def test_a_bad_line_is_named_with_line_and_column(line, column, found, expected):
    text = f'{{"label": 1}}\n\n{line}\n{{"label": 2}}\n'
    where = fault("json", text, chunk=16, weight_key=b"weight", text_keys=[b"note"])
    assert where == (3, column, found, expected)


@given(st.lists(st.sampled_from(['{"label":1}', '{"label":1,"a":2}', "{", "", "[]"]), max_size=12), st.integers(1, 40))
def test_bad_lines_can_be_skipped_and_are_kept(lines, chunk):
    text = "".join(f"{line}\n" for line in lines)
    found = batches("json", text, chunk=chunk, skip_bad_lines=True)[1]
    bad = [(number, line) for number, line in enumerate(lines, 1) if line in ("{", "[]")]
    assert [(line, text.decode()) for batch in found for line, _, text, _, _ in batch.rejected] == bad
    assert sum(batch.n_rows for batch in found) == sum("label" in line for line in lines)


def test_a_bad_line_leaves_no_class_and_no_name_behind():
    lines = [
        '{"label":"a","x":1}',
        '{"label":"b","y":1,"z":2,"x":3,"y":1}',
        '{"label":"c","z":1,"y":2}',
        "{",
        '{"label":"b"}',
    ]
    for chunk in (1, 1000):
        reader, found = batches("json", "\n".join(lines), chunk=chunk, skip_bad_lines=True)
        assert reader.labels() == [b"a", b"c", b"b"] and reader.dictionary() == [b"x", b"z", b"y"]
        assert [column for batch in found for column in batch.columns] == [0, 1, 2]
