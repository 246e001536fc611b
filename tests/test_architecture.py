"""Imports go one way, and what need not be loaded is not loaded."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "rosenblatt"
HEAVY = {"sklearn", "scipy", "pandas", "polars", "matplotlib", "pyarrow", "onnx", "rich"}


def imported_names(module: Path) -> set[str]:
    """Return every name that the module imports, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module or "", *(alias.name for alias in node.names)}
    return names


def modules_loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def test_the_import_contracts_are_kept():
    pytest.importorskip("importlinter")
    code = (
        "import sys; from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(config_filename='pyproject.toml', no_cache=True))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


STATES_OR_CHECKS = ["textbook", "errors", "hyperplane", "certificates", "joint_certificates", "certificate_table"]


@pytest.mark.parametrize(
    "module",
    [*(SOURCE / f"{name}.py" for name in STATES_OR_CHECKS), *sorted((SOURCE / "checking").glob("*.py"))],
    ids=lambda module: module.stem,
)
def test_what_states_or_checks_a_claim_does_not_know_the_engine(module):
    assert not {imported for imported in imported_names(module) if "_engine" in imported}


def test_every_package_says_what_it_is_for():
    for package in SOURCE.glob("*/__init__.py"):
        assert ast.get_docstring(ast.parse(package.read_text(encoding="utf-8"))), package


@pytest.mark.parametrize("statement", ["import rosenblatt", "import rosenblatt.command_line"])
def test_importing_loads_nothing_heavy(statement):
    assert not modules_loaded_by(statement) & HEAVY


def test_a_file_begins_to_be_parsed_before_numpy_is_loaded():
    loaded = modules_loaded_by("from rosenblatt.reading.streams import open_stream; import rosenblatt.reading.options")
    assert not loaded & (HEAVY | {"numpy"})


def test_no_file_has_a_name_that_sets_no_limit():
    names = {path.stem for path in SOURCE.rglob("*.py")}
    assert not names & {"utils", "util", "base", "common", "core", "helpers", "misc"}
