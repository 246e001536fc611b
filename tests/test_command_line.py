"""The command ``rosenblatt``: what it prints, where, and with which exit code."""

import dataclasses
import gzip
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import rosenblatt
import rosenblatt as rb
from rosenblatt import command_line, demo
from rosenblatt.commands import reading
from rosenblatt.errors import InputError
from rosenblatt.reading.options import ReadingOptions

DOCS = Path(__file__).resolve().parent.parent / "docs"
NAMES = list(command_line.NAMES)


def run(*arguments):
    return CliRunner().invoke(command_line.commands, arguments, prog_name="rosenblatt")


def command(name):
    return command_line.commands.get_command(click.Context(command_line.commands), name)


def test_version():
    assert run("--version").output == f"rosenblatt {rosenblatt.__version__}\n"


def test_help_has_every_command_examples_and_exit_codes():
    result = run("--help")
    assert result.exit_code == 0
    for name in NAMES:
        assert re.search(rf"^  {name}  ", result.output, re.MULTILINE)
    assert "Examples:\n    rosenblatt demo " in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    for code in (0, 1, 2, 130):
        assert re.search(rf"^    {code} +\w", result.output, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_has_examples_and_exit_codes(name):
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"Examples:\n    rosenblatt {name}" in result.output
    assert "Exit codes:" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_every_command_and_option_is_documented(name):
    pages = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    assert f"rosenblatt {name}" in pages, f"docs/ do not mention `rosenblatt {name}`"
    for option in command(name).params:
        if isinstance(option, click.Option):
            assert option.opts[0] in pages, f"docs/ do not mention {option.opts[0]} of `rosenblatt {name}`"


def test_help_loads_neither_numpy_nor_rich():
    code = (
        "import sys\n"
        "from rosenblatt.command_line import commands\n"
        "try: commands(['--help'])\n"
        "except SystemExit: pass\n"
        "sys.exit(bool({'numpy', 'scipy', 'sklearn', 'rich'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("name", NAMES)
def test_every_command_speaks_json(name):
    assert "--json" in [option for parameter in command(name).params for option in parameter.opts]


def test_an_option_has_one_meaning_in_all_commands():
    helps = {}
    for name in NAMES:
        for parameter in command(name).params:
            if isinstance(parameter, reading.ReadingOption) or parameter.name in ("as_json", "quiet"):
                helps.setdefault(parameter.opts[0], set()).add(parameter.help)
    assert all(len(texts) == 1 for texts in helps.values()) and len(helps) > 20


def test_the_reading_options_are_those_of_the_library():
    fields = {field.name for field in dataclasses.fields(ReadingOptions)}
    options = {parameter.name for parameter in command("train").params if isinstance(parameter, reading.ReadingOption)}
    assert options == fields == set(reading.FIELDS)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands(shell):
    current = "ce" if shell == "fish" else "1"  # fish hands over the word itself
    environment = os.environ | {"COMP_WORDS": "rosenblatt ce", "COMP_CWORD": current}
    environment["_ROSENBLATT_COMPLETE"] = f"{shell}_complete"
    program = "from rosenblatt.command_line import main; main()"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert "certify" in made.stdout and "demo" not in made.stdout


def test_python_dash_m():
    result = subprocess.run(
        [sys.executable, "-m", "rosenblatt", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"rosenblatt {rosenblatt.__version__}\n"


def test_demo_as_json():
    result = run("demo", "--passes", "50", "--json")
    assert result.exit_code == 0
    assert result.stderr == ""
    answer = json.loads(result.stdout)
    assert answer["version"] == rosenblatt.__version__
    assert [data["rows"] for data in answer["data_sets"]] == [150, 100, 569, 1797]
    assert answer["data_sets"][0]["runs"][0]["converged"] is True
    assert answer["data_sets"][2]["runs"][0]["passes"] == 50


def test_demo_prints_the_report_in_ascii_where_the_terminal_knows_no_more(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    arguments = [sys.executable, "-m", "rosenblatt", "demo", "--passes", "50"]
    result = subprocess.run(arguments, capture_output=True, check=True)
    assert result.stdout.startswith(b"Iris: setosa against the rest ---")
    assert result.stderr == b""
    assert result.stdout.isascii()
    assert b"?" not in result.stdout


@pytest.mark.parametrize("arguments", [["frobnicate"], ["demo", "--passes", "0"], ["demo", "--frobnicate"]])
def test_what_is_not_understood_ends_with_2(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: rosenblatt" in result.stderr


def test_an_error_of_the_library_is_a_message_and_ends_with_1(monkeypatch):
    def fails(*arguments, **options):
        raise InputError("row 3 of X is NaN")

    monkeypatch.setattr(demo, "measure", fails)
    result = run("demo")
    assert result.exit_code == 1
    assert result.stderr == "Error: row 3 of X is NaN\n"


def test_control_c_ends_with_130_and_without_a_traceback(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "measure", interrupted)
    result = run("demo")
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"


def test_control_c_says_where_the_state_was_saved(monkeypatch, tmp_path):
    def interrupted(*arguments, checkpoint, **options):
        Path(checkpoint).touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(rosenblatt, "train", interrupted)
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("1 1:1\n")
    result = run("train", "data.svm", "-o", "model", "--checkpoint", "state")
    assert result.exit_code == 130
    assert result.stderr == "saved to state: the same command goes on from there\ninterrupted\n"


def test_training_is_asked_for_with_the_words_of_the_library(monkeypatch, tmp_path):
    asked = {}

    def noted(source, **options):
        asked.update(options, source=source)
        raise InputError("enough")

    monkeypatch.setattr(rosenblatt, "train", noted)
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("words,kind\nso many words,1\n")
    options = (
        "--vote --passes 3 --max-updates 9 --tie negative --no-intercept --eta0 0.5 --margin 2 --multi-class joint "
        "--classes 1,2 --class-weight 1=2 --class-weight 2=0.5 --shuffle --shuffle-rows 7 --seed 5 --hold-out 0.1 "
        "--early-stopping hold-out --patience 2 --cache c --checkpoint s --every 10 --threads 2 "
        "--bits 9 --text words --label -1"
    )
    assert run("train", "a.csv", "b.csv", "-o", "model", *options.split()).stderr == "Error: enough\n"
    stream = asked.pop("source")
    assert stream.files == ["a.csv", "b.csv"]
    assert (stream.options.bits, stream.options.text, stream.options.label) == (9, ("words",), "kind")
    stream.close()
    assert asked.pop("progress") is None  # nobody looks
    assert (asked.pop("folder"), asked.pop("save_to")) == (str(tmp_path), "model")
    assert asked == {
        **{"readout": "vote", "passes": 3, "max_updates": 9, "tie": "negative", "fit_intercept": False, "eta0": 0.5},
        **{"margin": 2.0, "multi_class": "joint", "classes": [1, 2], "class_weight": {1: 2.0, 2: 0.5}, "shuffle": True},
        **{"shuffle_rows": 7, "seed": 5, "hold_out": 0.1, "patience": 2, "early_stopping": "hold-out"},
        **{"cache": "c", "checkpoint": "s", "every": 10, "threads": 2},
    }


@pytest.mark.parametrize(
    "option, message",
    [
        ("--eta0 0", "Invalid value for '--eta0': '0' is not a number above 0"),
        ("--max-updates 0", "Invalid value for '--max-updates': 0 is not 1 or more"),
        ("--algorithm soft-margin -C 0", "Invalid value for '-C' / '--cost': '0' is not a number above 0"),
        ("--seed 0", "Error: --seed needs --shuffle or --hold-out"),
    ],
)
def test_an_option_that_is_0_was_given(option, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("1 1:1\n-1 1:-1\n")
    result = run("train", "data.svm", "-o", "model", *option.split())
    assert result.exit_code and message in result.stderr
    assert run("train", "data.svm", "-o", "model", "--hold-out", "0.2", "--seed", "0").exit_code == 0


@pytest.mark.parametrize(
    "option, message",
    [
        ("--passes x", "'x' is not a whole number; it must be 1 or more"),
        ("--bits 31", "31 is not from 1 to 30"),
        ("--hold-out 0.95", "'0.95' is not a number from 0 to 0.9"),
        ("--eta0 nan", "'nan' is not a number above 0"),
        ("--margin -1", "'-1' is not a number from 0"),
        ("--algorithm soft-margin --margin 1", "--margin is an option of a perceptron, not of --algorithm soft-margin"),
        ("--class-weight 1=-1", "'-1' is not a number from 0"),
        ("--average --vote", "--average and --vote contradict each other: give one"),
    ],
)
def test_a_value_that_cannot_be_is_an_error_of_usage(option, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("1 1:1\n-1 1:-1\n")
    result = run("train", "data.svm", "-o", "model", *option.split())
    assert result.exit_code == 2 and message in result.stderr


def test_a_device_is_no_model_file_and_that_is_found_first(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("this is not even read")
    result = run("train", "data.svm", "-o", os.devnull)
    assert result.exit_code == 1 and "this is a device or a pipe; name an ordinary file" in result.stderr


def test_file_names_are_completed(monkeypatch, tmp_path):
    asked = {"_ROSENBLATT_COMPLETE": "bash_complete", "COMP_WORDS": "rosenblatt train ir", "COMP_CWORD": "2"}
    result = CliRunner().invoke(command_line.commands, [], prog_name="rosenblatt", env=asked)
    assert result.output == "file,ir\n"  # which tells the shell to complete the names of files


def test_a_certificate_promises_rest_only_if_the_passes_suffice(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("easy.svm").write_text("1 1:1\n-1 1:-1\n2 2:1\n")
    Path("hard.svm").write_text("1 1:1 2:1\n-1 1:1 2:0.99\n2 1:-1\n")
    assert "--passes 1000" in run("certify", "easy.svm").output
    assert "--algorithm max-margin" in run("certify", "hard.svm").output


def test_a_process_ends_with_the_code_of_its_command(tmp_path):
    code = "from rosenblatt.command_line import main; main()"
    for arguments, expected in ((["--version"], 0), (["predict", "none", "none"], 1), (["--nonsense"], 2)):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, cwd=tmp_path, check=False)
        assert done.returncode == expected and (done.stdout if expected == 0 else done.stderr)


def test_a_model_reads_other_tables_by_their_names_and_refuses_other_formats(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("h,w,class\n1,2,cat\n-3,-1,dog\n")
    Path("data.tsv").write_text("class\tw\th\ncat\t2\t1\n")
    Path("data.svm").write_text("1 1:1\n-1 1:-1\n")
    for name in ("data.csv", "data.svm"):
        assert run("train", name, "-o", f"{name}.model", "--passes", "3").exit_code == 0
    assert run("predict", "data.csv.model", "data.tsv", "-q").output == "cat\n"
    result = run("predict", "data.svm.model", "data.csv")
    assert result.exit_code == 1 and not result.stdout
    assert "data.csv is csv by its name, but the model was learned from libsvm" in result.stderr
    result = run("train", "data.svm", "--from", "data.csv.model", "-o", "again")
    assert "data.svm is libsvm by its name, but the model was learned from csv" in result.stderr


@pytest.mark.parametrize(
    "file, told, message",
    [
        ("1,2\n3,4\n", [], r"has 2 columns of features, .* learned from 3 features\. Give it the same features\n"),
        ("1,2,3,4\n", [], r"has 4 columns .*; --label says which column is the label, --ignore leaves a column out\n"),
        (
            "a,b,c,d,kind\n1,2,3,4,0\n",
            ["--label", "kind"],
            r"has 4 columns .* features; --ignore leaves a column out\n",
        ),
        ("1,2,3,up\n4,5,6,down\n", [], r"has 4 columns of features, hashed into 262,144, .* learned from 3 features\."),
    ],
)
def test_a_table_must_have_as_many_features_as_a_model_without_names(file, told, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rb.save(rb.Perceptron().fit(np.eye(3), [0, 1, 1]), "model")
    Path("new.csv").write_text(file)
    result = run("predict", "model", "new.csv", *told)
    assert result.exit_code == 1 and not result.stdout
    assert re.search(f"^Error: new.csv {message}", result.stderr)


def test_going_on_and_a_picture_need_the_features_of_the_model(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rb.save(rb.Perceptron().fit(np.eye(3), [0, 1, 1]), "model")
    Path("new.csv").write_text("1,2,0\n3,4,1\n")
    for words in ("train new.csv --from model -o again", "plot new.csv --model model -o picture.png"):
        result = run(*words.split())
        assert result.exit_code == 1
        assert "new.csv has 2 columns of features, but the model was learned from 3 features" in result.stderr


def test_a_table_must_have_the_columns_of_a_frame_in_their_order(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"a": [1.0, -1.0], "b": [5.0, 6.0]})
    rb.save(rb.Perceptron().fit(frame, [0, 1]), "model")
    Path("same.csv").write_text("a,b\n1,5\n-1,6\n")
    Path("turned.csv").write_text("b,a\n5,1\n6,-1\n")
    assert run("predict", "model", "same.csv", "-q").stdout == "0\n1\n"
    result = run("predict", "model", "turned.csv")
    assert result.exit_code == 1 and not result.stdout
    assert "turned.csv: feature 0 is 'b', but of those that the model was learned from it is 'a'" in result.stderr
    assert run("predict", "model", "turned.csv", "-q", "--numeric", "a", "--numeric", "b").stdout == "0\n1\n"


def test_a_told_format_brings_its_own_delimiter(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("h,w,class\n1,2,cat\n-3,-1,dog\n")
    Path("data.txt").write_text("class\tw\th\ncat\t2\t1\n")
    assert run("train", "data.csv", "-o", "model", "--passes", "3").exit_code == 0
    assert run("predict", "model", "data.txt", "--format", "tsv", "-q").output == "cat\n"


def test_a_table_is_not_taken_for_libsvm(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("h,w,class\n1,2,cat\n-3,-1,dog\n")
    for more in ([], ["--format", "libsvm"]):
        result = run("train", "data.svm", "-o", "model", *more)
        assert result.exit_code == 1 and "no index:value. They look like columns with ',' between" in result.stderr
    Path("labels.svm").write_text("1\n-1\n1 2:1\n")  # rows without features are rows
    assert run("train", "labels.svm", "-o", "model").exit_code == 0


def test_features_that_a_model_has_not_met_are_told_of(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("1 1:1\n-1 1:-1 2:1\n")
    Path("wide.svm").write_text("1 1:1 700:1\n")
    assert run("train", "data.svm", "-o", "model", "--passes", "3").exit_code == 0
    result = run("predict", "model", "wide.svm", "-q")
    assert result.stdout == "1\n" and result.exit_code == 0
    assert "the rows have 700 features, and the model has learned of 2: the others count nothing" in result.stderr
    assert "count nothing" not in run("predict", "model", "data.svm").stderr


def test_a_picture_of_a_model_and_a_file_of_another_format_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("1 1:1\n-1 1:-1 2:1\n")
    Path("data.csv").write_text("h,w,class\n1,2,cat\n-3,-1,dog\n")
    assert run("train", "data.svm", "-o", "model", "--passes", "3").exit_code == 0
    result = run("plot", "data.csv", "--model", "model", "-o", "picture.png")
    assert result.exit_code == 1 and "the model was learned from libsvm" in result.stderr


def test_early_stopping_is_reported(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    Path("data.svm").write_text("".join(f"{rng.integers(3)} 1:{x:.3f} 2:1\n" for x in rng.normal(size=300)))
    result = run("train", "data.svm", "-o", "model", "--passes", "50", "--early-stopping", "progressive", "--average")
    assert "of at most 50: stopped early, and the best weights kept" in " ".join(result.stdout.split())
    assert "(not all classes took part)" in " ".join(result.stdout.split())


def test_a_full_disk_under_the_help_is_a_message():
    if not Path("/dev/full").exists():
        pytest.skip("this system has no disk that is always full")
    code = "import sys; from rosenblatt.command_line import main; main()"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1 and "No space left on device" in done.stderr and "Traceback" not in done.stderr


def test_a_certificate_that_ran_out_of_time_asks_for_more(monkeypatch, tmp_path):
    from rosenblatt.certificates import Undecided
    from rosenblatt.commands import certify

    certificate = object.__new__(Undecided)
    for why, words in (("the time limit was reached", "longer --time-limit"), ("rounding", "exact fractions decide")):
        object.__setattr__(certificate, "why", why)
        assert words in certify._advice(certificate, ("data.svm",), {}, wide=False)[1]


def test_predictions_are_compressed_as_their_name_asks(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("1 1:1\n-1 1:-1\n")
    assert run("train", "data.svm", "-o", "model", "--passes", "3").exit_code == 0
    assert run("predict", "model", "data.svm", "-o", "out.csv.gz").exit_code == 0
    assert gzip.decompress(Path("out.csv.gz").read_bytes()) == b"prediction\n1\n-1\n"


@pytest.mark.parametrize("arguments", [["predict", "model"], ["train", "-o", "again", "--from", "model"]])
def test_a_model_from_arrays_must_be_told_the_first_index_of_a_libsvm_file(arguments, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    model = rosenblatt.Perceptron(shuffle=False).fit([[1.0, 0.0], [-1.0, 0.0]], ["yes", "no"])
    rosenblatt.save(model, "model")
    Path("data.svm").write_text("yes 1:3\nno 1:-2\n")
    result = run(*arguments, "data.svm")
    assert result.exit_code == 1 and "say --index-base 0 or --index-base 1" in result.stderr
    result = run(*arguments, "data.svm", "--index-base", "1")
    assert result.exit_code == 0 and "100.00%" in result.output


@pytest.mark.parametrize(
    "error, message",
    [
        (FileNotFoundError(2, "No such file or directory", "x.svm"), "x.svm: No such file or directory"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (
            MemoryError(),
            "this needs more memory than there is. train and predict read files in constant memory, but a model has a "
            "weight for each class and each feature, up to the highest number: number the features from 1 on, or hash "
            "their names into fewer (--bits)",
        ),
    ],
)
def test_what_the_machine_refuses_is_a_message_and_ends_with_1(monkeypatch, error, message):
    def fails(*arguments, **options):
        raise error

    monkeypatch.setattr(demo, "measure", fails)
    result = run("demo")
    assert (result.exit_code, result.stderr) == (1, f"Error: {message}\n")


def test_a_warning_of_the_library_is_a_line_without_the_place_in_its_source(monkeypatch):
    def warns(*arguments, **options):
        warnings.warn("mind the gap", UserWarning, stacklevel=1)
        raise InputError("enough")

    monkeypatch.setattr(demo, "measure", warns)
    assert run("demo").stderr == "Warning: mind the gap\nError: enough\n"


def test_going_on_keeps_the_names_of_the_features(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text("size,weight,kind\n1,2,a\n-1,0,b\n")
    assert run("train", "data.csv", "--label", "kind", "-o", "model").exit_code == 0
    assert run("train", "data.csv", "--from", "model", "-o", "again").exit_code == 0
    assert rb.load_trained("again").feature_names == ["size", "weight"]


def test_a_prediction_is_one_line_whatever_the_label(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text('x,kind\n1,"up\nand up"\n-1,down\n')
    assert run("train", "data.csv", "--label", "kind", "-o", "model", "--passes", "9").exit_code == 0
    assert run("predict", "model", "data.csv", "-q").stdout == '"up\\nand up"\ndown\n'


def test_the_last_column_is_always_listed(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names = [f"f{k}" for k in range(54)]
    Path("data.csv").write_text(",".join([*names, "Cover_Type"]) + "\n" + "1," * 54 + "a\n")
    assert "'f18', 35 more, 'Cover_Type'" in run("train", "data.csv", "--label", "cover", "-o", "model").stderr


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("data.csv", "w,a,b,label\n5,1,0,x\n1,2,1,y\n0,-1,5,y\n3,-2,1,x\n1,0.5,-1,y\n", ["--weight", "w"]),
        ("data.vw", "x 5 |f a:1\ny |f a:2 b:1\ny 0 |f a:-1 b:5\nx 3 |f a:-2 b:1\ny |f a:0.5 b:-1\n", []),
    ],
)
def test_the_soft_margin_and_a_trace_look_at_weights(monkeypatch, tmp_path, name, text, options):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(text)
    X, y, weights = [[1, 0], [2, 1], [-1, 5], [-2, 1], [0.5, -1]], list("xyyxy"), [5, 1, 0, 3, 1]
    named = ["--names", "columns"] if name.endswith("vw") else []
    result = run("train", name, *options, *named, "-o", "model", "--algorithm", "soft-margin")
    assert (result.exit_code, result.stderr) == (0, "")
    want = rb.SoftMargin().fit(X, y, sample_weight=weights)
    assert rb.load_model("model").coef_ == pytest.approx(want.coef_, abs=1e-9)
    traced = json.loads(run("trace", name, *options, *named, "--passes", "3", "--json").stdout)
    last = rb.trace(X, y, sample_weight=weights, shuffle=False, max_iter=3).to_json()
    assert traced["last"] == json.loads(last)["last"]


def test_a_certificate_on_standard_output_is_that_and_nothing_else(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("1 1:1\n-1 1:-1\n")
    Path("kept.json").write_text(run("certify", "data.svm", "-o", "-").stdout)
    assert run("verify", "kept.json", "data.svm").exit_code == 0


def test_labels_that_turn_to_words_are_verified(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("data.svm").write_text("".join(f"1 1:{k}\n" for k in range(60_000)) + "word 1:-3\n")
    assert run("certify", "data.svm", "-o", "kept.json").exit_code == 0
    assert run("verify", "kept.json", "data.svm").stdout.startswith("True")
