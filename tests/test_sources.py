"""Files, patterns, standard input and compression: the same rows from each."""

import bz2
import gzip
import lzma
import os
import select
import subprocess
import sys
import threading

import numpy as np
import pytest
from standard_input import from_file, from_pipe

import rosenblatt as rb
from rosenblatt.errors import FileFormatError, InputError, MissingExtraError
from rosenblatt.reading.options import ReadingOptions
from rosenblatt.reading.sources import Source, expand
from rosenblatt.reading.streams import open_stream

zstandard = pytest.importorskip("zstandard")

TEXTS = {
    "data.svm": "".join(f"{i % 2} 1:{i} 3:0.5\n" for i in range(1500)),
    "data.csv": "a,b,colour,class\n" + "".join(f"{i},0.5,{'red' if i % 3 else 'blue'},{i % 2}\n" for i in range(1500)),
    "data.tsv": "a\tb\ty\n" + "".join(f"{i}\t0.5\t{i % 2}\n" for i in range(1500)),
    "data.jsonl": "".join(f'{{"a": {i}, "b": 0.5, "label": {i % 2}}}\n' for i in range(1500)),
    "data.vw": "".join(f"{i % 2} |f a:{i} b:0.5\n" for i in range(1500)),
}
PACKERS = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    "": bytes,
}


def parts(found):
    """All that a matrix and its labels hold, as lists."""
    X, y = found
    arrays = (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)
    return X.shape, [array.tolist() for array in (*arrays, y)]


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("name", TEXTS)
def test_each_format_may_be_compressed(tmp_path, name, ending):
    data = TEXTS[name].encode()
    (tmp_path / name).write_bytes(data)
    (tmp_path / f"{name}{ending}").write_bytes(PACKERS[ending](data))
    assert parts(rb.load(tmp_path / f"{name}{ending}")) == parts(rb.load(tmp_path / name))


@pytest.mark.parametrize("ending", PACKERS)
def test_compression_is_seen_from_the_first_bytes_not_the_name(tmp_path, ending):
    data = PACKERS[ending](TEXTS["data.svm"].encode())
    for name in ("data.txt", "data.svm", "data.svm.gz"):
        (tmp_path / name).write_bytes(data)
        assert rb.load(tmp_path / name)[0].shape == (1500, 3)


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
def test_parts_packed_one_after_the_other_are_all_read(tmp_path, ending):
    lines = TEXTS["data.svm"].encode()
    (tmp_path / "data").write_bytes(PACKERS[ending](lines[:7000]) + PACKERS[ending](lines[7000:]))
    assert rb.load(tmp_path / "data", format="libsvm")[0].shape == (1500, 3)


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("size", [0.5, 0.98])
def test_a_file_that_was_cut_short_is_an_error(tmp_path, ending, size):
    noise = np.random.default_rng(0).random(10_000)
    data = PACKERS[ending]("".join(f"1 1:{x}\n" for x in noise).encode())
    (tmp_path / "data.svm").write_bytes(data[: int(size * len(data))])
    with pytest.raises(FileFormatError, match=r"data\.svm: the (gzip|xz|zstd) data end too early"):
        rb.load(tmp_path / "data.svm")


@pytest.mark.parametrize("ending", [".gz", ".xz", ".zst"])
def test_damaged_data_are_an_error(tmp_path, ending):
    noise = np.random.default_rng(0).random(10_000)
    data = bytearray(PACKERS[ending]("".join(f"1 1:{x}\n" for x in noise).encode()))
    data[len(data) // 2 : len(data) // 2 + 1000] = bytes(1000)
    (tmp_path / "data.svm").write_bytes(data)
    with pytest.raises(FileFormatError):  # of the unpacking, or of what came out of it
        rb.load(tmp_path / "data.svm")


def test_a_wrong_compression_can_be_told_and_is_an_error(tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1\n")
    with pytest.raises(FileFormatError, match=r"data\.svm: the gzip data are damaged \(Not a gzipped file"):
        rb.load(tmp_path / "data.svm", compression="gzip")
    assert rb.load(tmp_path / "data.svm", compression="none")[1].tolist() == [1]


def test_foreign_packers_are_named(tmp_path):
    (tmp_path / "data.svm").write_bytes(bz2.compress(b"1 1:1\n"))
    with pytest.raises(FileFormatError, match=r"packed with bzip2, which .* unpack it first, .*, as in bzcat FILE \|"):
        rb.load(tmp_path / "data.svm")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python itself unpacks zstd")
def test_without_zstandard_the_message_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "data.svm").write_bytes(PACKERS[".zst"](b"1 1:1\n"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r'zstandard, from the extra "zstd": pip install "rosenblatt\[zstd\]"'):
        rb.load(tmp_path / "data.svm")


JSON = '{"label": 1, "a": 2}\n{"label": -1, "a": -2}\n'


# Paths ----------------------------------------------------------------------------------------------------------------


def test_patterns_are_sorted_and_lists_keep_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.svm", "a.svm", "c.svm", "sub/d.svm"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"1 1:{ord(path.stem)}\n")
    assert expand("*.svm") == ["a.svm", "b.svm", "c.svm"]
    assert expand(["c.svm", "[ab].svm"]) == ["c.svm", "a.svm", "b.svm"]
    assert expand("**/*.svm") == ["a.svm", "b.svm", "c.svm", os.path.join("sub", "d.svm")]
    X, _ = rb.load(["c.svm", "[ab].svm"])
    assert X.toarray().ravel().tolist() == [99, 97, 98]
    assert [batch.first_row for batch in rb.read("*.svm")] == [0, 1, 2]
    stream = open_stream("*.svm")
    assert stream.describe() == "libsvm, 3 files"
    assert [batch.position.file for batch in stream.batches()] == [0, 1, 2]
    assert stream.total_bytes == stream.bytes_read() == 21


def test_the_bad_lines_of_an_earlier_run_are_no_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("part-1", "part-2"):
        (tmp_path / name).write_text("1 1:1\nbad line\n-1 1:-1\n")
    for _ in range(2):
        with pytest.warns(
            UserWarning, match=r"2 bad lines were skipped and kept in part-1\.rejected, part-2\.rejected"
        ):
            assert rb.load("part-*", format="libsvm", bad_lines="skip")[1].tolist() == [1, -1, 1, -1]
    assert expand("*.rejected") == ["part-1.rejected", "part-2.rejected"]
    with pytest.raises(InputError, match=r"part-1\.rejected has the bad lines of part-1: leave one of the two out"):
        expand(["part-1", "part-1.rejected"])  # as a shell spells out part-*


@pytest.mark.parametrize(
    "name, text", [("data.svm", "+1 1:1\n-1 1:-1\n"), ("data.vw", "1 |a x\n-1 |a y\n"), ("data.jsonl", JSON)]
)
def test_a_byte_order_mark_is_no_part_of_the_first_label(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8-sig")
    assert rb.load(tmp_path / name)[1].tolist() == [1, -1]


def test_a_file_whose_name_looks_like_a_pattern_is_itself(tmp_path):
    (tmp_path / "data[1].svm").write_text("1 1:1\n")
    assert expand(tmp_path / "data[1].svm") == [str(tmp_path / "data[1].svm")]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("none.svm", r"there is no file .*none\.svm"),
        ("*.parquet", r"no file matches .*\*\.parquet"),
        ("", r"is a directory: name the files in it, for example .*\*\.csv"),
    ],
)
def test_what_is_not_there_is_an_error(tmp_path, path, message):
    with pytest.raises(InputError, match=message):
        rb.load(f"{tmp_path}/{path}")


def test_lists_that_make_no_sense_are_errors(tmp_path):
    with pytest.raises(InputError, match="the list of paths is empty"):
        rb.load([])
    with pytest.raises(InputError, match="can be read only once"):
        rb.load(["-", "-"])
    (tmp_path / "a.svm").write_text("1 1:1\n")
    (tmp_path / "b.csv").write_text("1,2\n")
    with pytest.raises(InputError, match=r"must have one format, got .*a\.svm \(libsvm\) and .*b\.csv \(csv\)"):
        rb.load([tmp_path / "a.svm", tmp_path / "b.csv"])


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_an_error(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    (tmp_path / "a.svm").chmod(0)
    with pytest.raises(InputError, match=r"a\.svm cannot be read: Permission denied"):
        rb.load(tmp_path / "a.svm")


# Standard input -------------------------------------------------------------------------------------------------------


def test_another_process_reads_standard_input():
    code = "import rosenblatt as rb; X, y = rb.load('-'); print(X.shape, X.sum(), y.sum())"
    run = subprocess.run([sys.executable, "-c", code], input=b"1 1:2\n3 2:4\n", check=True, capture_output=True)
    assert run.stdout == b"(2, 2) 6.0 4\n"


@pytest.mark.parametrize("ending", PACKERS)
def test_standard_input_may_be_compressed(ending):
    with from_pipe(PACKERS[ending](TEXTS["data.svm"].encode() * 20)):
        X, y = rb.load("-")
    assert (X.shape, X.sum(), y.sum()) == ((30_000, 3), 20 * (sum(range(1500)) + 750), 20 * 750)


@pytest.mark.parametrize("name", TEXTS)
def test_each_format_comes_through_a_pipe_and_from_a_file(tmp_path, name):
    (tmp_path / name).write_text(TEXTS[name])
    expected = parts(rb.load(tmp_path / name))
    with from_pipe(TEXTS[name].encode()):
        assert parts(rb.load("-")) == expected
    with open(tmp_path / name, "rb") as file, from_file(file):
        assert parts(rb.load("-")) == expected


def test_standard_input_is_read_once():
    with from_pipe(b"1 1:1\n"):
        stream = open_stream("-")
        assert (stream.rewindable, stream.total_bytes) == (False, None)
        assert sum(batch.n_rows for batch in stream.batches()) == 1
        with pytest.raises(InputError, match="standard input can be read only once: save it to a file first"):
            list(stream.batches())


def test_bad_lines_of_standard_input_are_kept_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with from_pipe(b"1 1:1\n1 x\n"), pytest.warns(UserWarning, match=r"1 bad line was skipped and kept in stdin\.rej"):
        assert rb.load("-", bad_lines="skip", format="libsvm")[1].tolist() == [1]
    assert (tmp_path / "stdin.rejected").read_text().splitlines()[1].startswith("2\t3\t'x'")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_named_pipe_is_read_as_it_is_written(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    def write():
        with open(tmp_path / "pipe", "w") as file:
            file.write(TEXTS["data.svm"])

    writer = threading.Thread(target=write)
    writer.start()
    assert rb.load(tmp_path / "pipe")[0].shape == (1500, 3)
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
@pytest.mark.skipif(not hasattr(select, "poll"), reason="whether a pipe is empty cannot be asked here")
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_a_pipe_are_not_kept_waiting_for_more(threads):
    reader, writer = os.pipe()
    with open(reader, "rb") as file, from_file(file), open(writer, "wb", buffering=0) as pipe:
        pipe.write(b"1 1:0.5\n")
        batches, found = rb.read("-", format="libsvm", threads=threads), []
        for k in range(20):  # the next row is written when the last one was read
            found += next(batches).y.tolist()
            pipe.write(b"-1 1:2\n" if k % 3 else b"-1 1:2\n2 1:")
            if not k % 3:
                pipe.write(b"3\n")
        pipe.close()
        found += [label for batch in batches for label in batch.y.tolist()]
    assert found == [1] + [label for k in range(20) for label in ([-1] if k % 3 else [-1, 2])]


def test_closing_a_stream_does_not_wait_for_a_silent_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with open(os.open(tmp_path / "pipe", os.O_RDWR), "wb", buffering=0) as writer:
        writer.write(b"1 1:1\n1 2:1\n")
        stream = open_stream(tmp_path / "pipe", ReadingOptions(format="libsvm"))
        stream.close()  # its reader waits for more, and there never is more


def test_a_source_knows_where_it_is(tmp_path):
    (tmp_path / "a.svm").write_bytes(TEXTS["data.svm"].encode())
    source = Source(str(tmp_path / "a.svm"))
    assert source.head == TEXTS["data.svm"].encode()
    os.read(source.feed(100), 50)
    assert source.bytes_read() == 150
    source.close()
