"""Rows that a proof names are found again in their files, on the line where a person would look."""

import gzip
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rosenblatt.commands.row_places import look_again

LIBSVM = st.sampled_from(["row", "", "  ", "# a comment"])
CSV = st.sampled_from(["row", "", "quoted"])


def written(path: Path, content: str) -> str:
    data = content.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(LIBSVM, max_size=12), min_size=1, max_size=3), st.booleans())
def test_lines_of_libsvm_rows(files, compressed):
    with tempfile.TemporaryDirectory() as folder:
        names, expected = [], []
        for number, kinds in enumerate(files):
            lines = [f"{len(expected) + place} 1:1" if kind == "row" else kind for place, kind in enumerate(kinds)]
            names.append(written(Path(folder, f"{number}.svm{'.gz' * compressed}"), "".join(f"{x}\n" for x in lines)))
            expected += [(names[-1], place) for place, kind in enumerate(kinds, 1) if kind == "row"]
        found = look_again(names, {"format": "libsvm"}, range(len(expected)))
        assert found == dict(enumerate(expected))


@settings(max_examples=40, deadline=None)
@given(st.lists(CSV, min_size=1, max_size=12).filter(lambda kinds: set(kinds) - {""}))
def test_lines_of_csv_rows(kinds):
    """A cell in quotes may hold a line break, and the header is a line, too."""
    text, line, expected = "size,colour,label\n", 2, []
    for kind in kinds:
        if kind:
            expected.append(line)
        text += {"row": "1,red,a\n", "": "\n", "quoted": '2,"dark\nred",b\n'}[kind]
        line += 2 if kind == "quoted" else 1
    with tempfile.TemporaryDirectory() as folder:
        name = written(Path(folder, "data.csv"), text)
        found = look_again([name], {"categories": "one-hot"}, range(len(expected)))
    assert found == {row: (name, place) for row, place in enumerate(expected)}


def test_a_bad_line_that_was_passed_over_is_no_row(tmp_path):
    name = written(tmp_path / "data.svm", "1 1:1\n1 1:x\n\n-1 2:2\n")
    found = look_again([name], {"bad_lines": "skip"}, [0, 1])
    assert found == {0: (name, 1), 1: (name, 4)}
