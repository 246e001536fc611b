"""CSV and TSV files against the csv module and pandas: what is found, what can be told, what is refused."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils import murmurhash3_32

import rosenblatt as rb
from rosenblatt.errors import FileFormatError, InputError
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.streams import open_stream

POINTS = "height,width,class\n1.5,2,cat\n3,1,dog\n-4e1, 5 ,cat\n"


def write(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def find(folder, content, name="data.csv", /, *, labelled=True, **options):
    return open_stream(write(folder, content, name), ReadingOptions(**options), labelled=labelled)


def contents(batches):
    """All values, columns and codes of some batches."""
    return tuple(
        [v for batch in batches for v in np.asarray(array(batch)).tolist()]
        for array in (lambda b: b.raw.data, lambda b: [] if b.raw.dense else b.raw.columns, lambda b: b.codes)
    )


# Quotes --------------------------------------------------------------------------------------------------------------


def test_quotes_that_enclose_nothing(tmp_path):
    path = write(tmp_path, 'ham\tsaid "yes" to it\nspam\t"WIN now\nham\t"quoted" not\n', "data.tsv")
    told = {"header": False, "label": 0, "text": 1}
    with pytest.raises(FileFormatError, match=r"line 3.*after the quote.*quotes=False \(--no-quotes\)"):
        rb.load(write(tmp_path, 'ham\tyes\nspam\tno\nham\t"quoted" not\n', "bad.tsv"), **told)
    X, y = rb.load(path, quotes=False, **told)
    words = [{"said", "yes", "to", "it"}, {"win", "now"}, {"quoted", "not"}]
    assert [set(row.indices) for row in X] == [
        {murmurhash3_32(word, positive=True) % 2**18 for word in row} for row in words
    ]
    assert y.tolist() == ["ham", "spam", "ham"]


def test_a_header_with_quotes_that_enclose_nothing(tmp_path):
    X, y = rb.load(write(tmp_path, '"size;class\n1;a"\n2;"b\n'), quotes=False, categories="one-hot")
    assert (X.tolist(), y.tolist()) == ([[1.0], [2.0]], ['a"', '"b'])


# Numbers -------------------------------------------------------------------------------------------------------------


def test_numbers_are_a_dense_array_and_the_label_is_found(tmp_path):
    X, y = rb.load(write(tmp_path, POINTS))
    assert X.tolist() == [[1.5, 2], [3, 1], [-40, 5]]
    assert y.tolist() == ["cat", "dog", "cat"]


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.floats(-1e300, 1e300), st.integers(-(2**40), 2**40), st.sampled_from(["a", 'b "c"', "d,\ne", "é"])
        ),
        min_size=1,
        max_size=20,
    ),
    delimiter=st.sampled_from(",;\t|"),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_the_csv_module_writes_is_read(tmp_path_factory, rows, delimiter, newline):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=newline)
    writer.writerows([("u", "v", "y"), *rows])
    path = write(tmp_path_factory.mktemp("csv"), out.getvalue())
    X, y = rb.load(path, delimiter=delimiter)
    np.testing.assert_array_equal(X, np.asarray([row[:2] for row in rows], float))
    assert y.tolist() == [row[2] for row in rows]


def test_the_same_as_pandas(tmp_path):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(300, 7)), columns=list("abcdefg"))
    frame.insert(3, "target", generator.integers(0, 3, 300))
    frame.to_csv(tmp_path / "data.csv", index=False)
    X, y = rb.load(tmp_path / "data.csv")
    np.testing.assert_array_equal(X, frame.drop(columns="target").to_numpy())
    assert y.tolist() == frame["target"].tolist()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("chunk", [1, 37, 1 << 21])
def test_chunks_and_threads_change_nothing(tmp_path, chunk, threads):
    rows = [f'{i},{i * 0.5},"colour, {i % 7}",{"a" if i % 3 else "b"}\n' for i in range(200)]
    path = write(tmp_path, "p,q,colour,class\n" + "".join(rows))

    whole = contents(list(open_stream(path).batches()))
    assert contents(list(open_stream(path, chunk=chunk, threads=threads).batches())) == whole


def test_reading_goes_on_from_any_batch(tmp_path):
    rows = [f'{i},"colour\n{i % 7}",{"a" if i % 3 else "b"}\n' for i in range(60)]
    for name in ("1.csv", "2.csv"):
        write(tmp_path, "p,colour,class\n" + "".join(rows), name)
    for options in (ReadingOptions(), ReadingOptions(categories="one-hot"), ReadingOptions(ignore="colour")):
        stream = open_stream(tmp_path / "?.csv", options, chunk=100)
        batches = list(stream.batches())
        data, columns, codes = contents(batches)
        assert len(batches) > 10 and batches[-1].position.rows == 120
        for position in [batch.position for batch in batches[::3]]:
            known = {"classes": stream.classes.keys, "feature_names": stream.feature_names}
            rest = contents(list(open_stream(tmp_path / "?.csv", options, chunk=64, **known).batches(position)))
            done = position.rows * (len(data) // 120)
            assert rest == (data[done:], columns[done:], codes[position.rows :])


# What is found -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (POINTS, "csv, 3 columns with a header, label 'class'"),
        ("1,2,0\n3,4,1\n", "csv, 3 columns without a header, label in column 2"),
        ("1;2;0\n3;4;1\n", "csv, 3 columns without a header, label in column 2"),
        ("a\tb\tY\n1\t2\t0\n", "tsv, 3 columns with a header, label 'Y'"),
        (
            "size,colour,shape,label\n1,red,round,x\n2,blue,square,y\n",
            "csv, 4 columns with a header, label 'label', 2 categorical columns hashed into 2**18",
        ),
        (
            "colour,shape,label\nred,round,x\n",
            "csv, 3 columns with a header, label 'label', 2 categorical columns hashed ",
        ),
        ("red,round,x\nred,square,y\n", "csv, 3 columns without a header, label in column 2, 2 categorical columns "),
        (
            "1,red,x\n2,blue,y\n",
            "csv, 3 columns without a header, label in column 2, 1 categorical column hashed into ",
        ),
        ('"a ""b""",target\n1,2\n', "csv, 2 columns with a header, label 'target'"),
        ("\ufeffa,y\n1,2\n", "csv, 2 columns with a header, label 'y'"),
    ],
)
def test_what_is_found_is_said_in_a_line(tmp_path, text, words):
    assert find(tmp_path, text, "data").describe().startswith(words)


def test_the_options_say_all_that_was_found(tmp_path):
    stream = find(tmp_path, "size,colour,label\n1,red,x\n2,blue,y\n")
    assert stream.options == ReadingOptions(
        format="csv",
        label="label",
        header=True,
        delimiter=",",
        numeric=("size",),
        categorical=("colour",),
        others="ignore",
    )
    assert stream.width == 1 << 18
    assert stream.feature_names is None


def test_names_of_features(tmp_path):
    assert find(tmp_path, POINTS).feature_names == ["height", "width"]
    assert find(tmp_path, "1,2,0\n").feature_names is None
    stream = find(tmp_path, "size,colour,y\n1,red,0\n2,blue,1\n", categories="one-hot")
    assert [batch.n_features for batch in stream.batches()] == [3]
    assert stream.feature_names == ["size", "colour=red", "colour=blue"]


def test_a_byte_order_mark_is_not_part_of_the_first_name(tmp_path):
    assert find(tmp_path, "\ufeffa,y\n1,2\n").feature_names == ["a"]
    assert rb.load(write(tmp_path, "\ufeff1,2\n3,4\n"))[0].tolist() == [[1], [3]]


def test_what_can_be_told(tmp_path):
    path = write(tmp_path, "1,2,3\n4,5,6\n")
    assert rb.load(path, label=0)[0].tolist() == [[2, 3], [5, 6]]
    assert rb.load(path, label=-2)[1].tolist() == [2, 5]
    assert rb.load(path, label=0, ignore=1)[0].tolist() == [[3], [6]]
    assert rb.load(path, header=True, label="1")[0].tolist() == [[5, 6]]
    assert rb.load(path, label=0, numeric=2, others="ignore")[0].tolist() == [[3], [6]]


def test_weights_come_with_batches(tmp_path):
    (batch,) = rb.read(write(tmp_path, "a,w,y\n1,0.5,0\n2,3,1\n"), weight="w")
    assert (batch.X.tolist(), batch.sample_weight.tolist(), batch.y.tolist()) == ([[1], [2]], [0.5, 3], [0, 1])


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "nan", "null", "?", " "])
def test_a_missing_number_is_an_error_or_zero(tmp_path, cell):
    path = write(tmp_path, f"a,b,y\n1,2,0\n3,{cell},1\n")
    with pytest.raises(FileFormatError, match=r"line 3, column 3: found .*in column 'b'.*missing='zero'") as caught:
        rb.load(path)
    assert (caught.value.line, caught.value.column) == (3, 3)
    assert rb.load(path, missing="zero")[0].tolist() == [[1, 2], [3, 0]]


def test_a_word_in_a_column_of_numbers_says_what_would_read_it(tmp_path):
    text = "a,b,y\n" + "1,2,0\n" * 100_000 + "1,red,1\n"
    with pytest.raises(FileFormatError, match=r"line 100,002, column 3: found 'red'.*categorical='b'"):
        rb.load(write(tmp_path, text))
    assert rb.load(tmp_path / "data.csv", categorical="b")[0].shape == (100_001, 1 << 18)


# The label -----------------------------------------------------------------------------------------------------------


def test_a_header_without_a_usual_name_lists_the_columns(tmp_path):
    message = (
        r"no column is called label, class, target or y\. It has 'a', 'kind'\. .*\(--label NAME, or a number; -1 is"
    )
    with pytest.raises(FileFormatError, match=message):
        rb.load(write(tmp_path, "a,kind\n1,2\n"))
    assert rb.load(tmp_path / "data.csv", label="kind")[1].tolist() == [2]


def test_two_usual_names_are_an_error(tmp_path):
    with pytest.raises(FileFormatError, match=r"several columns may be the label: 'class', 'y'"):
        rb.load(write(tmp_path, "a,class,y\n1,2,3\n"))
    assert rb.load(tmp_path / "data.csv", label="y", ignore="class")[0].tolist() == [[1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label": "clas"}, r"label='clas', but there is no such column\. It has 'a', 'class'; did you mean 'class'\?"),
        ({"label": 7}, r"label=7, but it has only 2 columns, numbered from 0"),
        ({"weight": "a", "numeric": "a"}, r"weight='a', but another option has that column"),
        ({"ignore": "a"}, r"there is no column of features\. It has 'a', 'class'"),
        ({"ignore": "Clas"}, r"ignore='Clas', but there is no such column\. It has .*; did you mean 'class'\?"),
        ({"numeric": "A"}, r"numeric='A', but there is no such column\. It has 'a', 'class'; did you mean 'a'\?"),
    ],
)
def test_columns_that_make_no_sense_are_errors(tmp_path, options, message):
    with pytest.raises(FileFormatError, match=message):
        rb.load(write(tmp_path, "a,class\n1,2\n"), **options)


def test_names_need_a_header(tmp_path):
    with pytest.raises(FileFormatError, match=r"label='y', but its first line does not name the columns"):
        rb.load(write(tmp_path, "1,2\n3,4\n"), label="y", header=False)


def test_two_columns_of_one_name_are_an_error(tmp_path):
    path = write(tmp_path, "a,a,y\n1,2,3\n")
    with pytest.raises(
        FileFormatError, match=r"columns 0 and 1 are both called 'a': rename one, or leave it out: ignore=1"
    ):
        rb.load(path, header=True)
    assert rb.load(path, header=True, ignore=1)[0].tolist() == [[1]]
    with pytest.raises(FileFormatError, match=r"numeric='a', but 2 columns have that name: name it by its number"):
        rb.load(path, header=True, numeric="a")


@pytest.mark.parametrize(
    "text, words",
    [
        ("label,0,1\na,1,2\nb,3,4\n", "with a header"),  # as pandas writes columns that are numbered
        ("a,a,class\n1,2,x\n3,4,y\n", "both called 'a'"),
        ("a,a,y\n1,2,x\n3,4,z\n", "both called 'a'"),
        ("2019,2020,y\n1,2,x\n3,4,z\n", "3 columns with a header, label 'y'"),
        ('y,y=1, sp ace ,"q""uote",ü,1\nx,1,2,3,4,5\nz,5,4,3,2,1\n', "6 columns with a header, label 'y'"),
        ("0,1,y\n1,2,n\n3,4,y\n", "without a header"),
        ("n,y,1\ny,n,0\n", "without a header"),  # a yes
        ("5,class\n6,class\n7,other\n", "without a header"),
    ],
)
def test_a_usual_name_of_the_labels_makes_a_header_although_others_are_numbers_or_twice_there(tmp_path, text, words):
    try:
        found = open_stream(write(tmp_path, text), ReadingOptions(label=None if "out" not in words else -1)).describe()
    except FileFormatError as error:
        found = str(error)
    assert words in found


def test_lines_that_end_with_a_carriage_return_alone_are_an_error(tmp_path):
    with pytest.raises(FileFormatError, match=r"its lines end with a carriage return alone, .* \(tr '.r' '.n'\)"):
        rb.load(write(tmp_path, "a,class\r1,x\r2,y\r"))
    assert rb.load(write(tmp_path, '"a\rb",class\r\n1,x\r\n2,y\r\n'))[1].tolist() == ["x", "y"]


def test_a_row_with_too_few_cells_says_where(tmp_path):
    with pytest.raises(FileFormatError, match=r"data\.csv, line 3, column 2: found the end of the row after 1 field"):
        rb.load(write(tmp_path, "a,b,y\n1,2,3\n1\n"))


def test_a_column_of_numbers_but_for_one_cell_is_remarked(tmp_path):
    text = 'a,b,c,y\n1,2,"u\nv",x\n2,3,w,z\nx3,4,5,x\n'
    stream = find(tmp_path, text)
    assert [remark.partition(": ")[2] for remark in stream.remarks] == [
        "column 'a' is read as categories, because 'x3' in line 5 is no number"
    ]
    assert find(tmp_path, text, categorical="a").remarks == ()
    assert find(tmp_path, text, ignore="a").remarks == ()


@pytest.mark.parametrize("cell", ["inf", "-inf", "+Infinity", "INF", "1e400", "NAN", "-nan"])
def test_a_number_that_is_not_finite_is_refused_and_makes_no_categories(tmp_path, cell):
    path = write(tmp_path, f"a,y\n1,x\n2,z\n{cell},x\n3,z\n")
    with pytest.raises(FileFormatError, match=r"line 4, column 1: found '.*', expected a finite number in column 'a'"):
        rb.load(path)
    assert rb.load(path, categorical="a", categories="one-hot")[0].shape == (4, 4)
    assert rb.load(write(tmp_path, f"a,y\nred,x\n{cell},z\n"), categories="one-hot")[0].shape == (2, 2)


def test_bytes_that_are_not_text_can_be_hashed_but_are_no_names(tmp_path):
    path = write(tmp_path, b"a,y\nthe,x\ncaf\xe9,z\ncaf\xe8,z\n")
    X, _ = rb.load(path)
    assert X[1, murmurhash3_32(b"a=caf\xe9", positive=True) % 2**18] == 1 and (X[[1], :] != X[[2], :]).nnz == 2
    with pytest.raises(FileFormatError, match=r"line 3, column 1: .*UTF-8.* in column 'a'\. Convert the file to UTF-8"):
        rb.load(path, categories="one-hot")
    with pytest.raises(FileFormatError, match=r"line 2, column 3: found .*, expected a label in UTF-8 in column 'y'"):
        rb.load(write(tmp_path, b"a,y\n1,\xe9\n2,x\n"))
    assert rb.load(write(tmp_path, b"caf\xe9,x\nthe,z\n"), header=False)[1].tolist() == ["x", "z"]


def test_empty_files_and_other_encodings(tmp_path):
    with pytest.raises(FileFormatError, match="has no lines: there is nothing to read"):
        rb.load(write(tmp_path, "\n"))
    with pytest.raises(FileFormatError, match="line 1: this is not UTF-8 text: convert the file to UTF-8 first"):
        rb.load(write(tmp_path, "größe,y\n1,2\n".encode("latin-1")))
    with pytest.raises(FileFormatError, match="is UTF-16 text: convert it to UTF-8"):
        rb.load(write(tmp_path, "a,y\n1,2\n".encode("utf-16")))
    with pytest.raises(InputError, match="there are no rows"):
        rb.load(write(tmp_path, "a,y\n"))


def test_the_index_that_pandas_wrote_is_not_taken_for_a_feature(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "y": [0, 1]}, index=[10, 20])
    frame.to_csv(tmp_path / "data.csv")
    with pytest.raises(FileFormatError, match=r"column 0 has no name, as an index that pandas wrote\. .*ignore=0"):
        rb.load(tmp_path / "data.csv")
    assert rb.load(tmp_path / "data.csv", ignore=0)[0].tolist() == [[1.5], [2.5]]
    assert rb.load(tmp_path / "data.csv", numeric=0)[0].tolist() == [[10, 1.5], [20, 2.5]]


def test_long_cells_are_read_and_a_first_line_without_end_is_an_error(tmp_path):
    words = "word " * 40_000
    X, y = rb.load(write(tmp_path, f'"{words}""x""",1\nshort,2\n'), text=0, header=False, word_values="count")
    assert y.tolist() == [1, 2]
    assert X.max() == 40_000
    with pytest.raises(FileFormatError, match=r"its first line is longer than 262,144 bytes"):
        rb.load(write(tmp_path, f"{words * 2},1\n"), text=0, header=False)


def test_names_in_a_file_that_is_told_to_have_none_are_told_of(tmp_path):
    file = write(tmp_path, "\nheight,width,class\n1,2,a\n3,4,b\n")
    message = (
        r"line 2, column 1: found 'height', .* It looks like the names of the columns: say header=True \(--header\)"
    )
    with pytest.raises(FileFormatError, match=message):
        rb.load(file, header=False, numeric=[0, 1])
    file = write(tmp_path, "height,2,a\n3,4,b\n")
    with pytest.raises(FileFormatError, match="Mend it, read the column as categories: categorical='0'"):
        rb.load(file, header=False, numeric=[0, 1])


# Files like the one that was learned from -----------------------------------------------------------------------------


def test_the_options_of_a_stream_read_the_next_file_by_its_names(tmp_path):
    learned = find(tmp_path, "a,colour,b,class\n1,red,2,x\n").options
    stream = find(tmp_path, "b,class,id,a,colour\n2,x,77,1,red\n", **learned.to_plain())
    (batch,) = stream.batches()
    (reference,) = find(tmp_path, "a,colour,b,class\n1,red,2,x\n").batches()
    assert sorted(zip(batch.raw.columns, batch.raw.data)) == sorted(zip(reference.raw.columns, reference.raw.data))


def test_numbers_are_put_in_the_order_that_was_learned(tmp_path):
    learned = find(tmp_path, "a,b,c,class\n1,2,3,x\n").options
    (batch,) = find(tmp_path, "c,id,a,b\n3,9,1,2\n6,9,4,5\n", labelled=False, **learned.to_plain()).batches()
    assert batch.raw.data.tolist() == [1, 2, 3, 4, 5, 6]
    assert batch.codes.tolist() == [-1, -1]


def test_a_file_without_the_learned_columns_is_an_error(tmp_path):
    learned = find(tmp_path, "a,b,class\n1,2,x\n").options
    with pytest.raises(FileFormatError, match="numeric='b', but there is no such column"):
        find(tmp_path, "a\n1\n", labelled=False, **learned.to_plain())


@pytest.mark.parametrize("label", [0, 1, 2])
def test_without_a_header_the_label_may_be_left_out_to_predict(tmp_path, label):
    cells = [["1", "2"], ["3", "4"]]
    labelled = "".join(",".join([*row[:label], "x", *row[label:]]) + "\n" for row in cells)
    learned = find(tmp_path, labelled, label=label, header=False).options
    (reference,) = find(tmp_path, labelled, labelled=False, **learned.to_plain()).batches()
    (batch,) = find(tmp_path, "1,2\n3,4\n", labelled=False, **learned.to_plain()).batches()
    assert batch.raw.data.tolist() == reference.raw.data.tolist() == [1, 2, 3, 4]
    assert batch.codes.tolist() == [-1, -1]
    assert reference.codes.tolist() == [0, 0]


def test_several_files_must_have_the_same_columns(tmp_path):
    write(tmp_path, "a,b,y\n1,2,0\n", "1.csv")
    write(tmp_path, "y,b,a\n1,4,3\n", "2.csv")
    assert rb.load(tmp_path / "?.csv")[0].tolist() == [[1, 2], [3, 4]]
    write(tmp_path, "a,b,c,y\n1,4,3,0\n", "3.csv")
    with pytest.raises(FileFormatError, match=r"3\.csv: it has a column 'c' that .*1\.csv has not"):
        rb.load(tmp_path / "?.csv")
    write(tmp_path, "a,y\n1,0\n", "3.csv")
    with pytest.raises(FileFormatError, match=r"3\.csv: it has no column 'b', but .*1\.csv has: files"):
        rb.load(tmp_path / "?.csv")


# Decimal commas ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("a;b;y\n0,5;x;1\n1;z;0\n", r"column 'a' is read as categories, because .* its numbers \('0,5'\).*\(tr , \. <"),
        ("0,5;1,5;1\n1,25;-2,5;0\n", r"columns '0', '1' are read .* their numbers \('0,5'\): write decimal points"),
        ("a\tb\ty\n1,500\t1\t1\n", r"column 'a' is read"),
        ('a,b,y\n"0,5",1,1\n', r"its numbers \('0,5'\): write decimal points$"),
        ('a,b,y\n"1,500",1,1\n"20,000",2,0\n', None),  # so thousands are written
        ("a;b;y\n0,5;1;1\nx,y;2;0\n", None),
        ("a;b;y\n1,2,3;1;1\n4,5,6;2;0\n", None),
    ],
)
def test_numbers_with_decimal_commas_are_told_of(tmp_path, text, remark):
    remarks = find(tmp_path, text, label=-1, header=not text.startswith("0")).remarks
    assert len(remarks) == (remark is not None)
    for found in remarks:
        assert re.search(remark, found)
    assert find(tmp_path, text, label=-1, header=not text.startswith("0"), categorical=(0, 1)).remarks == ()


def test_decimal_commas_separate_no_columns_and_name_none(tmp_path):
    stream = find(tmp_path, "0,5;1,5;a\n1,25;-2,5;b\n")
    assert (stream.options.delimiter, stream.options.header, stream.options.label) == (";", False, 2)


# Categories and text --------------------------------------------------------------------------------------------------


def test_categories_are_hashed_as_documented(tmp_path):
    stream = find(tmp_path, "size,colour,y\n2.5,red,0\n")
    (batch,) = stream.batches()
    from sklearn.utils import murmurhash3_32

    columns = [murmurhash3_32(name, seed=0, positive=True) & ((1 << 18) - 1) for name in ("size", "colour=red")]
    assert batch.raw.columns.tolist() == columns
    assert batch.raw.data.tolist() == [2.5, 1.0]
    assert stream.names_of_hashes == dict(zip(columns, ["size", "colour=red"]))


def test_pairs_of_features_have_names_where_they_are_asked_for(tmp_path):
    stream = find(tmp_path, "size,colour,y\n2.5,red,0\n2,blue,1\n", interactions=True, keep_names=True)
    (batch,) = stream.batches()
    names = ["size", "colour=red", "size × colour=red", "size", "colour=blue", "size × colour=blue"]
    assert [stream.names_of_hashes[column] for column in batch.raw.columns.tolist()] == names


@pytest.mark.parametrize(
    "options, kept", [({}, 2), ({"keep_names": False}, 0), ({"text": "colour"}, 0), ({"interactions": True}, 0)]
)
def test_names_are_kept_for_categories_unless_there_can_be_very_many(tmp_path, options, kept):
    stream = find(tmp_path, "size,colour,y\n2.5,red,0\n", **options)
    list(stream.batches())
    assert len(stream.names_of_hashes) == kept


def test_one_hot_categories_have_columns_of_their_own(tmp_path):
    X, _ = rb.load(write(tmp_path, "c,y\nred,0\nblue,1\nred,1\n"), categories="one-hot", header=True)
    assert X.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]


def test_words_of_text_are_hashed_as_documented(tmp_path):
    from sklearn.utils import murmurhash3_32

    X, _ = rb.load(write(tmp_path, 'review,y\n"Good, GOOD film",0\n'), text="review", bits=10, word_values="count")
    expected = {murmurhash3_32(word, seed=0, positive=True) & 1023: count for word, count in (("good", 2), ("film", 1))}
    assert dict(zip(X.indices.tolist(), X.data.tolist())) == expected
    assert X.shape == (1, 1024)


def test_text_cannot_be_one_hot():
    with pytest.raises(InputError, match="text columns are hashed, so categories must be, too"):
        ReadingOptions(text="a", categories="one-hot")
