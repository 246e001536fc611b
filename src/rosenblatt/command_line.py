"""The command ``rosenblatt``: a client of the public names, without mathematics of its own.

A command reads its arguments, calls the library and shows the answer: as a report for people, or with
``--json`` for programs. Each is a module of `rosenblatt.commands`, which is loaded when it is asked for; whatever
it needs of the library is imported inside it, so that ``rosenblatt --help`` loads neither numpy nor scikit-learn.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import Any

import click

from rosenblatt import __version__
from rosenblatt.errors import RosenblattError

INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended

NAMES = ("certify", "verify", "train", "predict", "trace", "plot", "convert", "demo")

EXIT_CODES = """\b
Exit codes:
  0    done
  1    it failed, and the message says why; or the answer is no, where
       a command says so (certify --check, verify)
  2    the command was not understood: wrong name, option or argument
  130  interrupted with Ctrl-C
"""

EXAMPLES = """\b
Examples:
  rosenblatt demo                        four real data sets, what was learned
  rosenblatt certify flowers.csv         can a hyperplane separate them?
  rosenblatt train data.svm -o model     learn from a file of any size
  rosenblatt predict model new.svm       the label of each row
  rosenblatt plot flowers.csv -o a.png   what was proved, in a picture
  rosenblatt train --help                what a command does, and its options
"""

COMPLETION = """\b
Completion of commands and options with the tab key, in bash (also zsh, fish):
  eval "$(_ROSENBLATT_COMPLETE=bash_source rosenblatt)"
"""


class Commands(click.Group):
    """Commands that are loaded when asked for, and end foreseen errors with a message and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which they are used."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, from its module."""
        if cmd_name not in NAMES:
            return None
        command: click.Command = getattr(importlib.import_module(f"rosenblatt.commands.{cmd_name}"), cmd_name)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command that is named first; of a name that is none, what may have been meant."""
        if args and args[0] not in NAMES and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], NAMES, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(NAMES)}."
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen command; what goes wrong is a message, never a traceback."""
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except RosenblattError as error:
                raise click.ClickException(str(error)) from error
            except MemoryError as error:
                raise click.ClickException(
                    "this needs more memory than there is. train and predict read files in constant memory, but a "
                    "model has a weight for each class and each feature, up to the highest number: number the features "
                    "from 1 on, or hash their names into fewer (--bits)"
                ) from error
            except BrokenPipeError:
                raise  # whoever read the output has seen enough: click ends quietly
            except OSError as error:
                raise click.ClickException(_in_words(error)) from error
            except KeyboardInterrupt:
                click.echo("interrupted", err=True)
                ctx.exit(INTERRUPTED)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=f"{EXAMPLES}\n{EXIT_CODES}\n{COMPLETION}",
)
@click.version_option(__version__, "-V", "--version", prog_name="rosenblatt", message="%(prog)s %(version)s")
def commands() -> None:
    """Learn linear classifiers from their mistakes, and prove what can be said.

    From files of any size: libsvm, CSV, TSV, JSON lines, Vowpal Wabbit's text, Parquet and Arrow, also compressed
    (gzip, zstandard, xz), several at once, or standard input.
    """


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    click.echo(f"Warning: {message}", err=True)


def _in_words(error: OSError) -> str:
    """Which file, and what about it."""
    why = error.strerror or str(error)
    return f"{error.filename}: {why}" if error.filename is not None else why


def main() -> None:
    """Run the command, and end the process."""
    try:
        commands(prog_name="rosenblatt")
    except SystemExit as end:
        _leave(end.code)
        raise
    except OSError as error:  # of what a command does not do itself: help on a disk that is full
        print(f"Error: {_in_words(error)}", file=sys.stderr)
        _leave(1)
        sys.exit(1)


def _leave(code: Any) -> None:
    """End the process at once if nobody waits for its orderly end: to take Python apart takes 30 ms.

    Files are closed by then. joblib has processes of its own to end; a profiler or a tracer has something to say.
    """
    if not isinstance(code, int) or "joblib" in sys.modules or sys.getprofile() or sys.gettrace():
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return  # the orderly end tells of it
    os._exit(code)
