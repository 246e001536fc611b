"""CSV and TSV in the engine: the rows of a plain reader, for any chunks and threads; every complaint with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_readers import batches, fault, plain_csv, read, table_options

pytestmark = pytest.mark.engine

COLUMNS = {"x": "number", "class": "label", "y": "number"}
MIXED = {"x": "number", "colour": "category", "class": "label", "note": "text", "id": "ignored", "w": "weight"}

numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from([" 1.5", "2\t", "+3", ".5", "5.", "1e-3", "0", "-0.0"]),
)
words = st.text(st.sampled_from("aB9_ é\n\r,;\"\t'\x00ß|"), max_size=12)
labels = words.filter(bool)
field = {
    "number": numbers,
    "category": labels,
    "label": labels,
    "text": st.text(st.sampled_from('aabbcdeEF09_  é.,"\n“𝄞'), max_size=80),
    "ignored": words,
    "weight": st.floats(0, 1e9).map(repr),
}
layouts = st.lists(st.sampled_from(["number", "category", "text", "ignored"]), max_size=4).flatmap(
    lambda kinds: st.permutations([*kinds, "label", "weight", "number"])
)


def written(rows, delimiter, newline, quoted, ends):
    """The rows as text; a field is quoted where it must be, or everywhere."""

    def put(field):
        must = quoted or field[:1] == '"' or any(mark in field for mark in (delimiter, "\n", "\r"))
        return '"' + field.replace('"', '""') + '"' if must else field

    return newline.join([*(delimiter.join(map(put, row)) for row in rows), *([""] if ends else [])])


@given(
    layouts,
    st.data(),
    st.sampled_from([",", "\t", ";", "|", " ", "e", "1"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 60),
    st.integers(1, 3),
    st.fixed_dictionaries(
        {"hashed": st.booleans(), "ngrams": st.integers(1, 3), "word_counts": st.booleans(), "bits": st.integers(1, 20)}
    ),
)
def test_rows_equal_those_of_a_plain_reader(kinds, data, delimiter, newline, quoted, ends, chunk, threads, options):
    columns = {f"c{k}": kind for k, kind in enumerate(kinds)}
    rows = data.draw(st.lists(st.tuples(*(field[kind] for kind in kinds)), max_size=6))
    text = written(rows, delimiter, newline, quoted, ends)
    found = read("csv", text, chunk=chunk, threads=threads, delimiter=delimiter, **table_options(columns, **options))
    assert found == plain_csv(text, columns, delimiter=delimiter, **options)


@given(
    st.lists(st.tuples(st.text('ab"; ', min_size=1, max_size=6), st.text('cd" ', max_size=9), numbers), max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 30),
    st.integers(1, 3),
)
def test_quotes_can_be_signs_like_any_other(rows, newline, chunk, threads):
    columns = {"class": "label", "note": "text", "x": "number"}
    text = "".join(",".join(row) + newline for row in rows)
    found = read("csv", text, chunk=chunk, threads=threads, quotes=False, **table_options(columns, hashed=True))
    assert found == plain_csv(text, columns, quotes=False, hashed=True)


@pytest.mark.parametrize("chunk", [3, 1000])
def test_without_quotes_a_bad_row_ends_with_its_line(chunk):
    text = 'x,"a,2\n1,"b,2\n'
    options = table_options(COLUMNS, quotes=False, chunk=chunk)
    assert fault("csv", text, **options) == (1, 1, "'x'", "a finite number in column 'x'")
    found = batches("csv", text, skip_bad_lines=True, **options)[1]
    assert [kept for batch in found for _, _, kept, _, _ in batch.rejected] == [b'x,"a,2']
    assert sum(batch.n_rows for batch in found) == 1


@given(st.lists(st.tuples(numbers, labels, numbers), max_size=8), st.integers(1, 50), st.integers(1, 3))
def test_numbers_alone_are_dense_rows(rows, chunk, threads):
    text = written(rows, ",", "\n", False, True)
    assert read("csv", text, chunk=chunk, threads=threads, **table_options(COLUMNS)) == plain_csv(text, COLUMNS)
    assert all(batch.dense and batch.n_features == 2 for batch in batches("csv", text, **table_options(COLUMNS))[1])


def test_pairs_of_columns():
    columns = {"x": "number", "y": "number", "colour": "category", "class": "label"}
    text = "2,3,red,a\n0,5,blue,b\n"
    options = {"hashed": True, "interactions": True, "bits": 16}
    labels, (first, second), weights = read("csv", text, **table_options(columns, **options))
    assert (labels, [first, second], weights) == plain_csv(text, columns, **options)
    assert sorted(first.values()) == [1.0, 2.0, 2.0, 3.0, 3.0, 6.0]
    assert sorted(second.values()) == [0.0, 1.0, 5.0, 5.0]  # a feature that is 0 forms no pair


@pytest.mark.parametrize("empty", ["", "NA", " ", "NaN", '""', "?"])
def test_a_missing_number_is_an_error_or_0(empty):
    line, column, _, expected = fault("csv", f"1,a,2\n{empty},b,3\n", **table_options(COLUMNS))
    assert (line, column, expected) == (2, 1, "a number, and none is missing, in column 'x'")
    found = read("csv", f"1,a,2\n{empty},b,3\n", missing_is_zero=True, **table_options(COLUMNS))
    assert found[1] == [{0: 1.0, 1: 2.0}, {0: 0.0, 1: 3.0}]
    named = table_options(COLUMNS | {"z": "category"}, missing_is_zero=True)
    assert read("csv", f"{empty},b,3,q\n", **named)[1] == [{"y": 3.0, "z=q": 1.0}]


def test_a_missing_category_is_an_error_or_no_feature():
    columns = {"colour": "category", "class": "label"}
    assert fault("csv", "red,1\n,2\n", **table_options(columns)) == (
        2, 1, "''", "a category, and none is missing, in column 'colour'"
    )  # fmt: skip
    assert read("csv", "red,1\n,2\n", missing_is_zero=True, **table_options(columns))[1] == [{"colour=red": 1.0}, {}]


@pytest.mark.parametrize(
    "row, line, column, found, expected",
    [
        ("1,a", 3, 4, "the end of the row after 2 fields", "3 fields"),
        ("1,a,2,3", 3, 6, "more than 3 fields", "3 fields"),
        ("1,a,", 3, 5, "''", "a number, and none is missing, in column 'y'"),
        ("x,a,2", 3, 1, "'x'", "a finite number in column 'x'"),
        ("1,a,1e999", 3, 5, "'1e999'", "a finite number in column 'y'"),
        ("1,a,inf", 3, 5, "'inf'", "a finite number in column 'y'"),
        ("1,,2", 3, 3, "''", "a label in column 'class'"),
        ('1,"a\n\nb",x', 5, 4, "'x'", "a finite number in column 'y'"),
        ('1,"a"b,2', 3, 6, "'b'", "a delimiter after the quote that ends a field"),
        ('1,"a,2', 3, 3, "'\"a,2\\x0a1,z,2\\x0a'", "a quote that ends the field"),
    ],
)
@pytest.mark.parametrize("chunk", [5, 1000])
def test_a_bad_row_is_named_with_line_and_column(row, line, column, found, expected, chunk):
    text = f"1,a,2\n\n{row}\n1,z,2\n"
    assert fault("csv", text, chunk=chunk, **table_options(COLUMNS)) == (line, column, found, expected)


@pytest.mark.parametrize("weight", ["", "-1", "x", "1e999"])
def test_a_bad_weight(weight):
    columns = {"class": "label", "w": "weight", "x": "number"}
    where = fault("csv", f"a,{weight},1\n", **table_options(columns))
    assert where == (1, 3, f"'{weight}'", "a weight (a number from 0 on) in column 'w'")


@given(
    st.lists(
        st.sampled_from(["1,a,2", '3,"b\nb",4', 'x,"c\n\n,d",1', '1,"a"b,"2\n2"', "1,a", "", "9,9,9,9"]),
        max_size=12,
    ),
    st.integers(1, 60),
    st.integers(1, 3),
)  # fmt: skip
def test_bad_rows_can_be_skipped_and_are_kept(rows, chunk, threads):
    text = "".join(f"{row}\n" for row in rows)
    options = table_options(COLUMNS, skip_bad_lines=True, chunk=chunk, threads=threads)
    found = batches("csv", text, **options)[1]
    bad, line = [], 1
    for row in rows:
        if row and row not in ("1,a,2", '3,"b\nb",4'):
            bad.append((line, row))
        line += 1 + row.count("\n")
    numbers = [number for batch in found for number, *_ in batch.rejected]
    assert [kept.decode() for batch in found for _, _, kept, _, _ in batch.rejected] == [row for _, row in bad]
    assert all(first <= number <= first + row.count("\n") for number, (first, row) in zip(numbers, bad, strict=True))
    assert sum(batch.n_rows for batch in found) == sum(row in ("1,a,2", '3,"b\nb",4') for row in rows)
    if found:
        assert found[-1].lines == line - 1 and found[-1].end == len(text)


def test_rows_without_labels():
    assert read("csv", "1,,2\n3,a,4\n", require_label=False, **table_options(COLUMNS))[0] == [None, "a"]
    assert read("csv", "1,2\n", require_label=False, **table_options({"x": "number", "y": "number"}))[0] == [None]


def test_options_are_checked():
    with pytest.raises(ValueError, match="csv needs the kind of each column"):
        batches("csv", "1\n")
    with pytest.raises(ValueError, match="neither a quote nor a newline"):
        batches("csv", "1\n", delimiter='"', **table_options(COLUMNS))
    with pytest.raises(ValueError, match="interactions need hashed columns"):
        batches("csv", "1\n", interactions=True, **table_options(COLUMNS))
