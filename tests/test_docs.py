"""The examples of the README and the documentation run, and give the output that they show."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^[ ]*(?P<fence>`{3,})[ ]*(?P<language>[\w{}-]*).*$")


def examples(page: Path) -> str:
    """Return the page with all lines outside its Python blocks left empty, so that line numbers stay true."""
    kept, fence, runs = [], None, False
    for line in page.read_text(encoding="utf-8").splitlines():
        match = FENCE.match(line)
        if fence is None and match:
            fence, runs = match["fence"], match["language"] in {"python", "pycon"}
            kept.append("")
        elif fence is not None and line.strip() == fence:
            fence, runs = None, False
            kept.append("")
        else:
            kept.append(line if runs else "")
    return "\n".join(kept) + "\n"


def pages_with_examples() -> list[Path]:
    return [page for page in PAGES if "_build" not in page.parts and page.exists() and ">>>" in examples(page)]


@pytest.mark.parametrize("page", pages_with_examples(), ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_give_the_output_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # an example may write a file
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names = {"__name__": "__main__"}
    test = doctest.DocTestParser().get_doctest(examples(page), names, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    failed, tried = runner.run(test, out=report.append)
    assert tried > 0
    assert failed == 0, "".join(report)


def test_blocks_of_other_languages_and_plain_code_are_left_out(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text >>> 1\n```sh\n>>> 2\n```\n```python\n>>> 3\n3\n```\n>>> 4\n", encoding="utf-8")
    assert [example.source for example in doctest.DocTestParser().get_examples(examples(page))] == ["3\n"]
