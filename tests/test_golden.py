"""The command line prints what the sessions in tests/golden say, to the letter."""

import pytest
from tests.golden_sessions import FOLDER, Command, pages, parsed, renewed, run

SESSIONS = [
    pytest.param(session, id=f"{path.stem}: {session.title}")
    for path in sorted(FOLDER.glob("*.txt"))
    for session in parsed(path.read_text(encoding="utf-8"))[1]
]


@pytest.mark.parametrize("session", SESSIONS)
def test_the_session_is_as_it_was(session, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = run(session)
    assert made.lines() == session.lines()


def test_every_session_runs_a_command_and_there_are_many():
    commands = [step for case in SESSIONS for step in case.values[0].steps if isinstance(step, Command)]
    assert len(commands) >= 40
    assert all(any(isinstance(step, Command) for step in case.values[0].steps) for case in SESSIONS)


def test_no_session_ends_with_a_traceback():
    commands = [step for case in SESSIONS for step in case.values[0].steps if isinstance(step, Command)]
    assert not [step.words for step in commands if "Traceback" in " ".join(step.stderr)]


def test_a_session_is_read_and_written_back_unchanged():
    text = "## title\nremark\n--- a.csv\n| x,y\n|\n| 1,2\n$ rosenblatt verify a\n  one\n\n  two\n! three\n= 1\n"
    ((session),) = parsed(text)[1]
    assert session.lines() == [*text.splitlines(), ""]


def test_a_line_that_is_nothing_is_refused():
    with pytest.raises(ValueError, match="line 3 is not of a session: 'oops'"):
        parsed("## title\n$ ls\noops\n")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_the_commands_of_the_documentation_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    assert renewed(text) == text
