"""What commands show and write: progress on a terminal, measures of predictions, files that are whole or not at all."""

import io
import os
import stat
import subprocess
import sys
from types import SimpleNamespace

import click
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support

from rosenblatt.commands import output, output_files, progress_bar
from rosenblatt.commands.metrics import Metrics
from rosenblatt.commands.progress_bar import ProgressBar

# Progress -------------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def progress(**other):
    usual = {"pass_": 2, "passes": 5, "rows": 1000, "rows_per_second": 1.25e6, "mistakes": 12_345}
    usual |= {"mistakes_in_pass": 812, "bytes_read": 50, "bytes_total": 100}
    return SimpleNamespace(**(usual | other))


def shown(now, *, rows=None, seconds=3.0, width=79):
    return progress_bar.line(now, progress_bar.done(now, rows), seconds, width)


def test_the_line_says_how_far_how_fast_how_many_mistakes_and_how_long_still():
    rest = "  30%  1.2M rows/s  12,345 mistakes (812 in pass)  7s left"
    assert shown(progress()) == f"pass 2/5 [##      ]{rest}"
    assert shown(progress(), width=70) == f"pass 2/5{rest}"


def test_later_passes_are_measured_in_rows():
    assert " 25% " in shown(progress(bytes_read=100), rows=4000)


def test_rows_that_are_read_ahead_are_no_pass():
    assert shown(progress(pass_=0)).startswith("reading [####    ]  50%  1.2M rows/s  3s left")


def test_without_the_size_of_the_input_nothing_is_said_about_its_end():
    assert shown(progress(bytes_total=None, pass_=1, passes=1)) == "pass 1 1.2M rows/s  12,345 mistakes"


@given(st.integers(0, 50), st.integers(0, 10**12), st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 200))
def test_the_line_never_is_wider_than_the_terminal(pass_, mistakes, read, speed, width):
    now = progress(pass_=pass_, passes=50, mistakes=mistakes, bytes_read=read, bytes_total=10**9, rows_per_second=speed)
    assert len(shown(now, width=width)) <= width


def test_it_is_drawn_over_itself_and_wiped_at_the_end():
    times = iter([0.0, 0.1, 1.0, 2.0])
    terminal = Terminal()
    with ProgressBar(terminal, clock=lambda: next(times)) as bar:
        bar(progress())  # too early to draw
        assert terminal.getvalue() == ""
        bar(progress())
        bar(progress(bytes_total=None))
    parts = terminal.getvalue().split("\r")
    assert len(parts) == 5 and parts[0] == "" and parts[-1] == ""
    assert len(parts[2]) == len(parts[1])  # the rest of the longer line is wiped
    assert parts[3].isspace()
    assert "\x1b" not in terminal.getvalue()


def test_it_is_silent_where_nobody_looks():
    file = io.StringIO()
    times = iter([0.0, 1.0, 2.0])
    with ProgressBar(file, clock=lambda: next(times)) as bar:
        bar(progress())
    assert file.getvalue() == ""


# Measures -------------------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=60), st.integers(1, 10))
def test_measures_are_those_of_scikit_learn_however_the_rows_are_batched(pairs, size):
    true, predicted = (np.array(part, np.int32) for part in zip(*pairs))
    metrics = Metrics(["a", "b", "c", "d"])
    for first in range(0, len(true), size):
        metrics.add(true[first : first + size], predicted[first : first + size])
    facts = metrics.facts()
    assert facts["accuracy"] == accuracy_score(true, predicted)
    precision, recall, _, rows = precision_recall_fscore_support(true, predicted, labels=range(4), zero_division=np.nan)
    for number, of_class in enumerate(facts["classes"]):
        assert of_class["rows"] == rows[number]
        for name, theirs in (("precision", precision[number]), ("recall", recall[number])):
            assert of_class[name] == theirs or (of_class[name] is None and np.isnan(theirs))
    counts = np.zeros((4, 4), int)
    for entry in facts["confusion"]:
        counts["abcd".index(entry["class"]), "abcd".index(entry["predicted"])] = entry["rows"]
    np.testing.assert_array_equal(counts, confusion_matrix(true, predicted, labels=range(4)))


def test_rows_without_a_label_are_counted_apart():
    metrics = Metrics(["no", "yes"])
    metrics.add(np.array([0, -1, 1, -1]), np.array([0, 0, 0, 1]))
    assert metrics.lines()[0] == "1 of 2 rows right: accuracy 50.00% (2 rows without a label left out)"
    metrics = Metrics(["no", "yes"])
    metrics.add(np.array([-1]), np.array([0]))
    assert metrics.lines() == ["1 row, without labels"]
    assert metrics.facts() == {"rows": 1, "labelled_rows": 0, "accuracy": None}


def test_many_classes_fit_80_columns():
    metrics = Metrics([f"class number {number}" for number in range(30)])
    metrics.add(np.arange(30), np.roll(np.arange(30), 1))
    lines = metrics.lines()
    assert max(map(len, lines)) <= 80
    assert "and 10 more classes (--json has all)" in lines
    assert any(line.startswith("Most often taken for another: class number 0") for line in lines)


# Text -----------------------------------------------------------------------------------------------------------------


def test_signs_are_spelled_out_where_the_terminal_knows_only_ascii():
    code = "from rosenblatt.commands import output; output.say('‖W‖ ≥ γ²'); output.note('√2 é')"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert (made.stdout, made.stderr) == (b"||W|| >= gamma^2\n", b"sqrt2 ?\n")


def test_text_from_a_file_cannot_move_the_cursor():
    assert output.shortened("a\x1b[2Jb\n" + "c" * 50, 12) == "a [2Jb cc..."


def test_a_table_is_flush():
    assert output.table(["class", "rows"], [["a", "10"], ["bcdefg", "5"]], "<>") == [
        "class   rows",
        "a         10",
        "bcdefg     5",
    ]


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_an_input_is_never_written_over(tmp_path, link):
    (tmp_path / "data.svm").write_text("1 1:1\n")
    link(tmp_path / "data.svm", tmp_path / "other.svm")
    for name in ("data.svm", "other.svm", "../" + tmp_path.name + "/data.svm"):
        for source in ("data.svm", "d*.svm"):
            with pytest.raises(click.UsageError, match="is also an input, and would be written over"):
                output_files.require_writable(str(tmp_path / name), [str(tmp_path / source)])


def test_a_file_gets_its_name_only_when_it_is_whole(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o640)
    with pytest.raises(TypeError), output_files.written(str(path)) as file:
        file.writelines([b"half", None])
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["out.txt"]
    with output_files.written(str(path)) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["out.txt"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with output_files.written(str(tmp_path / "link")) as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"


def test_what_cannot_be_written_is_found_before_the_work(tmp_path):
    with pytest.raises(IsADirectoryError, match="name a file in it"):
        output_files.require_writable(str(tmp_path), [])
    with pytest.raises(FileNotFoundError, match=r"there is no directory .*make it first"):
        output_files.require_writable(str(tmp_path / "no" / "out"), [])
    output_files.require_writable(str(tmp_path / "out"), [])
    assert os.listdir(tmp_path) == []
    output_files.require_writable(os.devnull, [])
    output_files.require_writable("-", ["-"])
    output_files.require_writable(None, [])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_directory_is_found_before_the_work(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match="you must be allowed to write in its directory"):
        output_files.require_writable(str(tmp_path / "out"), [])


def test_a_device_is_written_to_directly():
    with output_files.written(os.devnull) as file:
        file.write(b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
