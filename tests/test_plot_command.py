"""``rosenblatt plot`` and ``--report``: pictures and pages from the command line."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import rosenblatt as rb
from rosenblatt import command_line
from rosenblatt.commands import row_sample

pytest.importorskip("matplotlib")

IRIS = Path(__file__).resolve().parent.parent / "examples" / "iris.csv"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Iris with all kinds and with two of them, in an empty directory."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(IRIS, "iris.csv")
    lines = [line for line in IRIS.read_text(encoding="utf-8").splitlines() if "versicolor" not in line]
    Path("two.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(*arguments):
    return CliRunner().invoke(command_line.commands, arguments, prog_name="rosenblatt")


def told(*arguments):
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("certificate", "Separable: the largest margin is 1.57."),
        ("boundary", "SoftMargin: all 100 rows on their sides"),
        ("mistakes", "then none; at most 74."),
        ("proof", "the lemmas leave room for 74 at most."),
        ("soft-margin", "3 panels, the first: C = 0.01: margin"),
        ("weights", "The 4 weights."),
        ("trace", "panels, the first: Update 1 of"),
    ],
)
def test_each_kind_is_drawn_and_says_what_it_shows(kind, title):
    facts = told("plot", "two.csv", "--label", "kind", "-o", "picture.png", "--kind", kind)
    assert title in facts["title"]
    assert (facts["kind"], facts["picture"]) == (kind, "picture.png")
    assert Path("picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")])
def test_the_ending_of_the_name_says_what_is_written(name, start):
    result = run("plot", "two.csv", "--label", "kind", "-o", name)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{name}: Separable")
    assert Path(name).read_bytes().startswith(start)
    before = Path(name).read_bytes()
    run("plot", "two.csv", "--label", "kind", "-o", name)
    assert Path(name).read_bytes() == before  # the same picture of the same data
    assert len(list(Path().iterdir())) == 3


def test_the_size_is_that_asked_for():
    from PIL import Image

    run("plot", "two.csv", "--label", "kind", "-o", "a.png", "--size", "3.3x2.6")
    with Image.open("a.png") as picture:
        assert picture.size == (660, 520)


def test_on_a_slide_the_words_are_larger():
    def sizes(size):
        run("plot", "two.csv", "--label", "kind", "-o", "a.svg", "--size", size)
        text = Path("a.svg").read_text(encoding="utf-8")
        return {float(scale) for scale in re.findall(r"scale\((0\.\d+) -", text)}

    column, slide = sizes("3.3x2.6"), sizes("10x5.6")
    assert column == sizes("5x4")  # the same letters in print, on a column and on a page
    assert max(slide) / max(column) == pytest.approx(np.sqrt(56 / 20), rel=0.01)


def test_a_trace_is_written_as_a_film():
    from PIL import Image

    assert run("plot", "two.csv", "--label", "kind", "-o", "a.gif", "--kind", "trace").exit_code == 0
    with Image.open("a.gif") as picture:
        assert picture.n_frames == rb.trace(*rb.load("two.csv", label="kind"), random_state=0).n_updates


def test_a_model_is_drawn_among_rows_read_as_its_own_were():
    assert run("train", "two.csv", "--label", "kind", "-o", "m", "--passes", "50", "--shuffle").exit_code == 0
    X, y = rb.load("two.csv", label="kind")
    model = rb.load_trained("m")
    margin = rb.Hyperplane(model.coef_[0], model.intercept_[0]).margin(X, np.where(y == model.classes_[1], 1, -1))
    title = told("plot", "two.csv", "-o", "a.png", "--model", "m")["title"]
    assert f"Perceptron: all 100 rows on their sides, margin {margin:.2f}" in title
    assert "The 4 weights" in told("plot", "two.csv", "-o", "a.png", "--model", "m", "--kind", "weights")["title"]
    assert "mistakes in" in told("plot", "two.csv", "-o", "a.png", "--model", "m", "--kind", "mistakes")["title"]


def test_one_class_of_several_is_drawn_against_the_others():
    assert (
        run("train", "iris.csv", "--label", "kind", "-o", "m", "--average", "--passes", "20", "--shuffle").exit_code
        == 0
    )
    title = told("plot", "iris.csv", "-o", "a.png", "--model", "m", "--class", "virginica")["title"]
    X, y = rb.load("iris.csv", label="kind")
    model = rb.load_trained("m")
    place = model.classes_.tolist().index("virginica")
    plane = rb.Hyperplane(model.coef_[place], model.intercept_[place])
    wrong = int(np.sum(np.where(y == "virginica", 1, -1) * plane.score(X) <= 0))
    assert f"AveragedPerceptron for virginica: {wrong} of 150 rows on the wrong side" in title
    title = told("plot", "iris.csv", "-o", "a.png", "--class", "versicolor", "--label", "kind")["title"]
    assert "Not separable" in title


def test_a_sparse_file_with_features_that_the_model_does_not_know_is_drawn():
    Path("a.svm").write_text("".join(f"{s:+d} 1:{s * k} 3:{k}\n" for k in (1, 2, 3) for s in (-1, 1)), encoding="utf-8")
    Path("b.svm").write_text("+1 1:2 9:5\n-1 1:-2 2:1\n", encoding="utf-8")
    assert run("train", "a.svm", "-o", "m", "--passes", "9").exit_code == 0
    assert "2 rows" in told("plot", "b.svm", "-o", "a.png", "--model", "m")["title"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-o", "a.jpg"], 2, "a picture is written as .png, .svg, .pdf, and a.jpg ends with none of them"),
        (["-o", "a.gif"], 2, "only --kind trace is written as .gif"),
        (["-o", "a.png", "--model", "m", "--kind", "proof"], 2, "--kind proof is not drawn of a model"),
        (["-o", "a.png", "--size", "3"], 2, "'3' is not inches x inches, such as 3.3x2.6"),
        (["-o", "a.png", "--shape", "2.5x2"], 2, "'2.5x2' is not rows x columns"),
        (["-o", "iris.csv.png", "--class", "rose"], 1, "--class rose: no row has this label; there are setosa,"),
        (["-o", "a.png", "--kind", "boundary"], 1, "choose one class against all others with --class LABEL"),
        (["-o", "nowhere/a.png"], 1, "there is no directory"),
    ],
)
def test_what_cannot_be_drawn_is_said(arguments, code, message):
    result = run("plot", "iris.csv", "--label", "kind", *arguments)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())
    assert not list(Path().glob("*.png"))


# Reports


def test_certify_writes_a_page():
    facts = told("certify", "two.csv", "--label", "kind", "--report", "report.html", "-o", "proof.json")
    assert facts["report"] == "report.html"
    page = Path("report.html").read_text(encoding="utf-8")
    assert "two.csv" in page and "Separable" in page and "petal_length" in page
    assert "rosenblatt verify proof.json two.csv --label kind" in page


def test_train_writes_a_page_and_says_so():
    result = run(
        "train",
        "iris.csv",
        "--label",
        "kind",
        "-o",
        "m",
        "--passes",
        "5",
        "--shuffle",
        "--hold-out",
        "0.2",
        "--report",
        "r.html",
    )
    assert result.exit_code == 0
    assert re.search(r"^Report +r\.html \(.*\), for a browser$", result.stdout, re.MULTILINE)
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Perceptron: what was learned" in page and "right of those held out" in page
    assert page.count("<img") == 4  # mistakes, and the weights of three classes


@pytest.mark.parametrize("algorithm", ["max-margin", "soft-margin", "voted"])
def test_every_algorithm_has_a_page(algorithm):
    result = run("train", "two.csv", "--label", "kind", "-o", "m", "--algorithm", algorithm, "--report", "r.html")
    assert result.exit_code == 0, result.output
    assert "<img" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["certify", "two.csv", "--report", "two.csv"], "--report two.csv is also an input"),
        (["certify", "two.csv", "--report", "a", "-o", "a"], "--report a is the name of another output, too"),
        (["train", "-", "-o", "m", "--report", "a"], "standard input is gone by then: name a file"),
        (
            ["train", "two.csv", "-o", "m", "--report", "m"],
            "--report and -o are both to be written to m: name different files",
        ),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_before_any_work(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_without_matplotlib_a_page_is_refused_at_once(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    result = run("train", "two.csv", "--label", "kind", "-o", "m", "--report", "r.html")
    assert result.exit_code == 1
    assert 'pip install "rosenblatt[plot]"' in result.stderr
    assert not Path("m").exists()


# Rows of files larger than memory


def test_of_few_rows_all_are_kept_and_of_many_a_seeded_choice():
    run("train", "iris.csv", "--label", "kind", "-o", "m", "--shuffle")
    model = rb.load_trained("m")
    X, y = rb.load("iris.csv", label="kind")
    everything = row_sample.sampled(model, ["iris.csv"], {}, None)
    assert everything.n_rows == 150
    assert np.array_equal(everything.X, X) and np.array_equal(everything.y, y)
    some, again = (row_sample.sampled(model, ["iris.csv"], {}, None, most=40) for _ in range(2))
    assert len(some.y) == 40 and some.n_rows == 150
    assert np.array_equal(some.X, again.X)
    whole = {(*row, label) for row, label in zip(X.tolist(), y.tolist())}
    assert {(*row, label) for row, label in zip(some.X.tolist(), some.y.tolist())} <= whole
    assert len(set(some.y.tolist())) == 3
