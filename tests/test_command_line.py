"""The command ``rosenblatt``: what it prints, where, and with which exit code."""

import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import rosenblatt
from rosenblatt import command_line, demo
from rosenblatt.errors import InputError

DOCS = Path(__file__).resolve().parent.parent / "docs"
NAMES = sorted(command_line.commands.commands)


def run(*arguments):
    return CliRunner().invoke(command_line.commands, arguments, prog_name="rosenblatt")


def test_version():
    assert run("--version").output == f"rosenblatt {rosenblatt.__version__}\n"


def test_help_has_every_command_examples_and_exit_codes():
    result = run("--help")
    assert result.exit_code == 0
    for name in NAMES:
        assert re.search(rf"^  {name}  ", result.output, re.MULTILINE)
    assert "Examples:\n    rosenblatt demo " in result.output
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
    for option in command_line.commands.commands[name].params:
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
