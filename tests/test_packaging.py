"""What the project says about itself in several places is the same in all of them."""

import os
import re
import tomllib
from pathlib import Path

import pytest

import rosenblatt

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), re.MULTILINE))


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: (\S+)$", read("CITATION.cff"), re.MULTILINE)
    assert cited is not None
    assert PROJECT["version"] == rosenblatt.__version__ == cited[1]


def test_the_changelog_knows_the_version_or_has_unreleased_changes():
    assert f"## [{PROJECT['version']}]" in read("CHANGELOG.md") or "## [Unreleased]" in read("CHANGELOG.md")


@pytest.mark.parametrize(
    "extra", ["plot", "parquet", "zstd", "onnx", "service", "spark", "bench", "docs", "dev", "all"]
)
def test_the_extra_exists(extra):
    assert EXTRAS[extra]


def test_the_extra_all_holds_every_run_time_extra():
    (everything,) = EXTRAS["all"]
    names = re.fullmatch(r"rosenblatt\[(.*)\]", everything)
    assert names is not None
    assert set(names[1].split(",")) == set(EXTRAS) - {"all", "bench", "docs", "dev"}


def commands(page: str) -> list[str]:
    """Return what the page sets as code: blocks for the shell, and spans."""
    text = read(page)
    blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return blocks + spans


def targets_named_in(page: str) -> set[str]:
    return {target for code in commands(page) for target in re.findall(r"\bmake ([a-z][a-z-]*)", code)}


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/install.md"])
def test_every_make_target_that_a_page_names_exists(page):
    assert targets_named_in(page) <= make_targets()


def test_the_readme_names_the_two_commands():
    assert {"demo", "test"} <= targets_named_in("README.md")


def test_help_lists_every_target_that_a_user_calls():
    listed = set(re.findall(r"^([a-z-]+):.*## ", read("Makefile"), re.MULTILINE))
    internal = {target for target in make_targets() if target.startswith("check-")}
    assert listed == make_targets() - internal


def test_continuous_integration_runs_the_commands_of_the_readme():
    lines = read(".ci/run").splitlines()
    assert "make check" in lines
    assert "make test" in lines


@pytest.mark.skipif(os.name == "nt", reason="Windows has no executable bit")
def test_the_continuous_integration_script_can_be_executed():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_package_ships_its_types():
    assert (Path(rosenblatt.__file__).parent / "py.typed").exists()


def test_python_versions_are_those_of_the_workflow():
    versions = {c.rsplit(" ", 1)[1] for c in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", c)}
    assert f">={min(versions, key=lambda v: int(v[2:]))}" == PROJECT["requires-python"]
    assert versions <= set(re.findall(r'"(3\.\d+)"', read(".github/workflows/ci.yml")))
