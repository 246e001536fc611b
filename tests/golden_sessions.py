"""Sessions of the command line as data: `tests/golden/*.txt` has commands, the files they read and all they print.

    ## XOR cannot be separated                a title: what follows runs in a new, empty directory
    --- xor.csv                               a file, with the lines that begin with a bar
    | x,y,label
    | 0,0,a
    $ rosenblatt certify xor.csv --check      a command; without pipes and redirections it runs in this process
      4 rows, 2 features                      what it prints: two spaces for standard output,
    ! Warning: ...                            an exclamation mark for standard error
    = 1                                       its exit code, unless that is 0
    $ show certificate.json                   (`show` prints a file, `ls` the names of the files)

Times and rates differ from run to run, and stand there as <time>. Renew the sessions with
``python -m tests.golden_sessions --update [NAME...]``, and read the difference before you commit it.

The ``console`` blocks of the documentation are sessions, too: one for each page, in a directory with the files of
examples/. What is shown after a command is all that it prints; a line ``...`` stands for any lines.
"""

from __future__ import annotations

import contextlib
import gzip
import lzma
import os
import re
import shlex
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "golden"
EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

_VARYING = [
    (re.compile(r"\b\d[\d,.]*(?:e[-+]\d+)? (?:s|ms|µs|minutes?|hours?)\b"), "<time>"),
    (re.compile(r"\b[\d,.]+ (?:million |thousand )?rows a second"), "<rate> rows a second"),
    (re.compile(r"\(\d[\d.]* (?:bytes|kB|MB)\)"), "(<size>)"),
    (re.compile(r'("(?:seconds|rows_per_second)": )[-\d.e+]+'), r"\1<time>"),
]


@dataclass
class Command:
    words: str
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)
    exit_code: int = 0

    def lines(self) -> list[str]:
        shown = [f"$ {self.words}"]
        shown += [f"  {line}".rstrip() for line in self.stdout]
        shown += [f"! {line}".rstrip() for line in self.stderr]
        return shown + ([f"= {self.exit_code}"] if self.exit_code else [])


@dataclass
class Session:
    title: str
    remarks: list[str] = field(default_factory=list)
    steps: list[tuple[str, list[str]] | Command] = field(default_factory=list)  # a file and its lines, or a command

    def lines(self) -> list[str]:
        shown = [f"## {self.title}", *self.remarks]
        for step in self.steps:
            if isinstance(step, Command):
                shown += step.lines()
            else:
                shown += [f"--- {step[0]}", *(f"| {line}".rstrip() for line in step[1])]
        return [*shown, ""]


def parsed(text: str) -> tuple[list[str], list[Session]]:
    """The lines before the first session, and the sessions."""
    preamble: list[str] = []
    sessions: list[Session] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("## "):
            sessions.append(Session(line[3:]))
        elif not sessions:
            preamble.append(line)
        else:
            _take(sessions[-1], line, number)
    return preamble, sessions


def _take(session: Session, line: str, number: int) -> None:
    last = session.steps[-1] if session.steps else None
    if line.startswith("--- "):
        session.steps.append((line[4:], []))
    elif line.startswith("$ "):
        session.steps.append(Command(line[2:]))
    elif line.startswith("|") and isinstance(last, tuple):
        last[1].append(line[2:])
    elif line.startswith("!") and isinstance(last, Command):
        last.stderr.append(line[2:])
    elif line.startswith("= ") and isinstance(last, Command):
        last.exit_code = int(line[2:])
    elif isinstance(last, Command) and (line.startswith("  ") or not line):
        last.stdout.append(line[2:])
    elif last is None:
        session.remarks.append(line)
    elif line:
        raise ValueError(f"line {number} is not of a session: {line!r}")


def run(session: Session) -> Session:
    """The same session with what its commands print now. Runs in the current directory."""
    done = Session(session.title, session.remarks)
    for step in session.steps:
        if isinstance(step, Command):
            done.steps.append(run_command(step.words))
        else:
            name, lines = step
            content = "".join(f"{line}\n" for line in lines).encode().replace(b"\\r", b"\r").replace(b"\\0", b"\0")
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content)
            done.steps.append(step)
    for step in [*session.steps, *done.steps]:  # an empty line at the end belongs to the layout
        while isinstance(step, Command) and step.stdout and not step.stdout[-1]:
            step.stdout.pop()
    return done


def run_command(words: str) -> Command:
    """Run a command, and keep what is the same in every run."""
    stdout, stderr, code = _run(words)
    return Command(words, _steady(stdout).splitlines(), _steady(stderr).splitlines(), code)


def _run(words: str) -> tuple[str, str, int]:
    """Run a command as a shell would, in this process if it needs no shell."""
    own = {"show": _show, "ls": _ls, "rosenblatt": _rosenblatt, "copy": _copy}
    name, *arguments = shlex.split(words)
    if name not in own or re.search(r"[|<>;&$]", words):
        return _in_a_shell(words)
    return own[name](*arguments)


def _steady(text: str) -> str:
    here = os.getcwd()
    for name in {here, os.path.realpath(here)}:
        text = text.replace(name, "<here>")
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _rosenblatt(*arguments: str) -> tuple[str, str, int]:
    from click.testing import CliRunner

    from rosenblatt.command_line import commands

    result = CliRunner().invoke(commands, arguments, prog_name="rosenblatt")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return result.stdout, "".join(traceback.format_exception(result.exception)), result.exit_code
    return result.stdout, result.stderr, result.exit_code


def _in_a_shell(words: str) -> tuple[str, str, int]:
    program = f'rosenblatt() {{ "{sys.executable}" -m rosenblatt "$@"; }}; export -f rosenblatt; {words}'
    made = subprocess.run(["bash", "-c", program], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return made.stdout, made.stderr, made.returncode


def _show(name: str) -> tuple[str, str, int]:
    if not Path(name).exists():
        return "", f"there is no {name}", 1
    content = Path(name).read_bytes()
    if name.endswith(".gz"):
        content = gzip.decompress(content)
    elif name.endswith(".xz"):
        content = lzma.decompress(content)
    elif name.endswith((".parquet", ".arrow", ".feather")):
        return _table(name), "", 0
    return content.decode(), "", 0


def _table(name: str) -> str:
    import pyarrow.feather
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(name) if name.endswith(".parquet") else pyarrow.feather.read_table(name)
    heading = "  ".join(f"{column.name}: {column.type}" for column in table.schema)
    return "\n".join([heading, *(repr(list(row.values())) for row in table.to_pylist())]) + "\n"


def _ls() -> tuple[str, str, int]:
    return "".join(f"{path}\n" for path in sorted(Path().rglob("*")) if path.is_file()), "", 0


def _copy(name: str) -> tuple[str, str, int]:
    """A file of examples/, brought here."""
    Path(name).write_bytes((EXAMPLES / name).read_bytes())
    return "", "", 0


# Pages ----------------------------------------------------------------------------------------------------------------

ROOT = EXAMPLES.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_TAKES_LONG = re.compile(r"^rosenblatt demo\b|^make |^pip ")


def pages() -> list[Path]:
    """The pages with commands."""
    return [page for page in PAGES if _BLOCK.search(page.read_text(encoding="utf-8"))]


def renewed(page: str) -> str:
    """A page with what its commands print now, in the current directory; what it leaves out stays left out."""
    for path in EXAMPLES.glob("*.csv"):
        _copy(path.name)
    return _BLOCK.sub(lambda found: _renewed_block(found[0]), page)


def _renewed_block(block: str) -> str:
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    shown = parts[0]
    for words, expected in zip(parts[1::2], parts[2::2], strict=True):
        if _TAKES_LONG.search(words):
            made = expected
        else:
            made = "".join(_run(words)[:2])
        shown += f"$ {words}\n{expected if _matches(expected, made) else made}"
    return shown


def _matches(expected: str, made: str) -> bool:
    lines = _steady(expected).splitlines(keepends=True)
    pattern = "".join("(?:.*\\n)*" if line == "...\n" else re.escape(line) for line in lines)
    return re.fullmatch(pattern, _steady(made)) is not None


def main(arguments: list[str]) -> None:
    """Renew the sessions."""
    if arguments[:1] != ["--update"]:
        sys.exit(__doc__)
    wanted = {Path(name).stem for name in arguments[1:]}
    for path in sorted(FOLDER.glob("*.txt")):
        if wanted and path.stem not in wanted:
            continue
        preamble, sessions = parsed(path.read_text(encoding="utf-8"))
        made = []
        for session in sessions:
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                made += run(session).lines()
        path.write_text("\n".join([*preamble, *made]).rstrip() + "\n", encoding="utf-8")
        print(path.name)
    for page in pages():
        if not wanted or page.stem in wanted:
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
            print(page.name)


if __name__ == "__main__":
    main(sys.argv[1:])
