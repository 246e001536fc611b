"""Reading options: every limit, every message, and the way through a model file and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.errors import FileFormatError, InputError
from rosenblatt.reading.class_table import MAX_CLASSES, ClassTable, canonical, key_of
from rosenblatt.reading.formats_found import find_format, format_of_name
from rosenblatt.reading.options import ReadingOptions

columns = st.lists(st.one_of(st.text(max_size=5), st.integers(-5, 100)), unique=True, max_size=3)


@given(
    numeric=columns,
    label=st.one_of(st.none(), st.text(), st.integers()),
    bits=st.integers(1, 30),
    missing=st.sampled_from(["error", "zero"]),
    delimiter=st.one_of(st.none(), st.sampled_from(",;|\t")),
)
def test_options_come_back_from_plain_values(numeric, label, bits, missing, delimiter):
    options = ReadingOptions(numeric=tuple(numeric), label=label, bits=bits, missing=missing, delimiter=delimiter)
    assert ReadingOptions.from_plain(options.to_plain()) == options


def test_one_column_stands_for_a_list():
    assert ReadingOptions(categorical="a", ignore=[1, "b"]) == ReadingOptions(categorical=("a",), ignore=(1, "b"))


def test_options_that_were_to_no_effect_in_models_of_earlier_versions():
    plain = ReadingOptions(format="libsvm", index_base=1).to_plain()
    assert ReadingOptions.from_plain(plain | {"bits": 20, "missing": "zero"}) == ReadingOptions.from_plain(plain)
    plain = ReadingOptions(format="csv").to_plain()
    assert ReadingOptions.from_plain(plain | {"ngrams": 3, "index_base": 1}) == ReadingOptions(format="csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, r"'format' parameter of reading must be None or 'libsvm' or .*Got 'xml'"),
        ({"label": 1.5}, "'label' parameter of reading must be the name or the number of a column. Got 1.5"),
        ({"weight": True}, "'weight' parameter of reading must be the name or the number of a column. Got True"),
        ({"index_base": 2}, "'index_base' parameter of reading must be None or an integer of at least 0 and at most 1"),
        ({"header": "yes"}, "'header' parameter of reading must be None or True or False. Got 'yes'"),
        ({"delimiter": ",,"}, "'delimiter' parameter of reading must be one ASCII character"),
        ({"delimiter": '"'}, "'delimiter' parameter of reading must be one ASCII character"),
        ({"numeric": 1.5}, "'numeric' parameter of reading must be names or numbers of columns. Got 1.5"),
        ({"text": [None]}, "'text' parameter of reading must be names or numbers of columns"),
        ({"ignore": ["a", "a"]}, "'ignore' parameter of reading must be columns, each once"),
        ({"others": "drop"}, "'others' parameter of reading must be 'find' or 'ignore'"),
        ({"categories": "ordinal"}, "'categories' parameter of reading must be 'hash' or 'one-hot'"),
        ({"names": "keys"}, "'names' parameter of reading must be None or 'columns' or 'hash'"),
        ({"bits": 31}, "'bits' parameter of reading must be an integer of at least 1 and at most 30. Got 31"),
        ({"bits": 18.0}, "'bits' parameter of reading must be an integer"),
        ({"ngrams": 0}, "'ngrams' parameter of reading must be an integer of at least 1"),
        ({"word_values": "tfidf"}, "'word_values' parameter of reading must be 'presence' or 'count'"),
        ({"interactions": "all"}, "'interactions' parameter of reading must be True or False"),
        ({"missing": "mean"}, "'missing' parameter of reading must be 'error' or 'zero'"),
        ({"keep_names": 2}, "'keep_names' parameter of reading must be None or True or False"),
        ({"bad_lines": "warn"}, "'bad_lines' parameter of reading must be 'error' or 'skip'"),
        ({"compression": "zip"}, "'compression' parameter of reading must be None or 'none' or 'gzip'"),
        ({"text": "a", "categories": "one-hot"}, "text columns are hashed, so categories must be, too"),
        ({"interactions": True, "categories": "one-hot"}, "interactions are hashed, so categories must be, too"),
        ({"text": "a", "names": "columns"}, "text cannot be without hashing: names='hash'"),
        ({"format": "libsvm", "text": "a"}, "libsvm lines have their label in front"),
        ({"format": "libsvm", "interactions": True}, "interactions are made of features with names"),
    ],
)
def test_every_limit_has_its_message(options, message):
    with pytest.raises(InputError, match=message):
        ReadingOptions(**options)


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        (None, "reading options must be an object with names and values"),
        ([], "reading options must be an object"),
        ({1: 2}, "reading options must be an object"),
        ({"formatt": "csv"}, "there is no reading option 'formatt'; there are bad_lines, bits"),
        ({"numeric": "a"}, "'numeric' parameter of reading must be a list of columns"),
        ({"label": ["a"]}, "'label' parameter of reading must be one value"),
        ({"label": {"a": 1}}, "'label' parameter of reading must be the name"),
        ({"bits": 10**30}, "'bits' parameter of reading must be an integer"),
        ({"label": "\ud800"}, "'label' parameter of reading must be the name"),
        ({"header": 1}, "'header' parameter of reading must be None or True or False"),
    ],
)
def test_plain_values_from_anywhere_are_checked(plain, message):
    with pytest.raises(InputError, match=message):
        ReadingOptions.from_plain(plain)


@given(
    st.dictionaries(st.sampled_from(list(ReadingOptions().to_plain())), st.from_type(object) | st.none(), max_size=4)
)
def test_no_plain_value_does_more_than_raise_an_input_error(plain):
    try:
        options = ReadingOptions.from_plain(plain)
    except InputError:
        return
    assert ReadingOptions.from_plain(options.to_plain()) == options


# Classes --------------------------------------------------------------------------------------------------------------


@given(st.integers(-(2**53) + 1, 2**53 - 1), st.sampled_from(["{}", "{:+}", "{}.0", "{}e0", "{}.", "{}00e-2"]))
def test_a_whole_number_is_one_class_however_it_is_written(number, spelling):
    assert canonical(spelling.format(number)) == str(number)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_keep_their_value(number):
    assert float(canonical(repr(number))) == number
    assert key_of(number) == canonical(repr(number))


@given(st.text())
def test_text_is_itself_unless_it_is_a_number(text):
    assert canonical(text) == text or float(canonical(text)) == float(text)
    assert canonical(canonical(text)) == canonical(text)


@pytest.mark.parametrize(
    ("labels", "values", "kind"),
    [
        ([b"2", b"10", b"-1"], [2, 10, -1], "i"),
        ([b"1.5", b"2", b"1e300"], [1.5, 2.0, 1e300], "f"),
        ([b"1", b"one"], ["1", "one"], "U"),
        ([b"9007199254740993", b"1"], ["9007199254740993", "1"], "U"),
        ([b"1e999", b"1"], ["1e999", "1"], "U"),
        ([b"inf", b"nan"], ["inf", "nan"], "U"),
        ([b" 1", b"1_0", "١".encode()], [" 1", "1_0", "١"], "U"),
        ([], [], "i"),
    ],
)
def test_the_values_of_classes(labels, values, kind):
    table = ClassTable()
    assert [table.code(label) for label in labels] == list(range(len(labels)))
    assert table.values().tolist() == values
    assert table.values().dtype.kind == kind


def test_classes_that_a_program_knows():
    import numpy as np

    table = ClassTable([True, np.int64(3), np.float32(0.5), "x", np.str_("y"), np.bool_(False)])
    assert table.keys == ["true", "3", "0.5", "x", "y", "false"]
    assert table.code(b"3.0") == 1
    with pytest.raises(InputError, match="a class must be a number, a string or a bool, got None"):
        ClassTable([None])


def test_too_many_classes_look_like_measurements():
    table = ClassTable(range(MAX_CLASSES))
    assert table.code(b"5") == 5
    with pytest.raises(InputError, match=r"more than 32,766 different labels, the last of them '0\.5': this looks"):
        table.code(b"0.5")


def test_a_label_that_is_not_text_is_an_error():
    with pytest.raises(InputError, match=r"the label b'\\xff' is not UTF-8 text"):
        ClassTable().code(b"\xff")


# Formats --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("train.svm", "libsvm"),
        ("TRAIN.LIBSVM.GZ", "libsvm"),
        ("a.b/train.csv.zst", "csv"),
        ("x.tsv", "tsv"),
        ("x.ndjson.xz", "json"),
        ("x.pq", "parquet"),
        ("x.feather", "arrow"),
        ("x.vw", "vw"),
        ("x.txt", None),
        ("x.gz", None),
        ("csv", None),
    ],
)
def test_the_format_that_a_name_tells(name, expected):
    assert format_of_name(name) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"1 1:2 3:4\n-1 2:5\n", "libsvm"),
        (b"# comment\n\n+1 qid:3 1:2.5 # x\n", "libsvm"),
        (b"spam\n1 3:4\n", "libsvm"),
        (b"1,2,3\n4,5,6\n", "csv"),
        (b'a;b\n1;"x;y"\n', "csv"),
        (b"a\tb\n1\t2\n", "tsv"),
        (b"a|b|c\n1|2|3\n", "csv"),
        (b"1 |f a:1 b\n-1 |f c\n", "vw"),
        (b"1 2.0 'tag|f a:1\n| b c\n", "vw"),
        (b'{"a": 1}\n', "json"),
        (b"\xef\xbb\xbfa,b\n1,2\n", "csv"),
        (b"PAR1....", "parquet"),
        (b"ARROW1\0\0", "arrow"),
        (b"\xff\xff\xff\xff\0\0", "arrow"),
        (b"time,value\n12:30,4\n", "csv"),
        (b"1 1:2 3:4\n-1 2:5 cut o", "libsvm"),
    ],
)
def test_the_format_that_the_first_bytes_tell(head, expected):
    assert find_format("data", head, "data") == expected


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"words without any\norder at all\n", r"the format of data cannot be told .*say format= \(--format\)"),
        (b"", "data is empty: there are no rows in it"),
        (b"\n\n", "data is empty"),
    ],
)
def test_what_cannot_be_told_must_be_said(head, message):
    with pytest.raises(FileFormatError, match=message):
        find_format("data", head, "data")


def test_an_option_that_is_none_is_named_with_what_may_be_meant():
    with pytest.raises(TypeError, match="'labell' is no option of reading; did you mean 'label'"):
        ReadingOptions.told({"labell": 0})
    with pytest.raises(TypeError, match="'zzz' is no option of reading; there are format, label"):
        ReadingOptions.told({"zzz": 0})
