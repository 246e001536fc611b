"""``rosenblatt train`` with a perceptron: one row after the other, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from rosenblatt.commands import output
from rosenblatt.commands.loading import numpy_without_threads
from rosenblatt.commands.progress_bar import ProgressBar
from rosenblatt.commands.reading import told
from rosenblatt.commands.train_report import command, rejected_files

READOUTS: dict[str, Any] = {"perceptron": "last", "averaged": "average", "voted": "vote"}
_NAMES = {"perceptron": "a perceptron", "averaged": "an averaged perceptron", "voted": "a voted perceptron"}


def learn(
    name: str, data: Sequence[str], path: str, given: dict[str, Any], reading: dict[str, Any], *, quiet: bool
) -> dict[str, Any]:
    """Train, save the model, and tell what came of it."""
    import rosenblatt as rb
    from rosenblatt.reading import head_start
    from rosenblatt.reading.options import ReadingOptions
    from rosenblatt.reading.streams import open_stream

    # First, so that the engine reads and, where it can, learns while numpy and the rest are loaded.
    stream = open_stream(list(data), ReadingOptions(**reading), threads=given.get("threads"))
    arguments = {"readout": READOUTS[name], **_arguments(given)}
    stream.learn_ahead(head_start.settings_of(arguments))
    numpy_without_threads()
    checkpoint = given.get("checkpoint")
    for remark in stream.remarks:
        output.warn(remark)
    try:
        with ProgressBar() as bar, _ended_as_by_ctrl_c(wanted=checkpoint is not None):
            model = rb.train(
                stream,
                progress=bar if bar.active and not quiet else None,
                folder=os.path.dirname(os.path.abspath(path)),  # where there is room, which /tmp need not have
                save_to=path,
                **arguments,
            )
    except (KeyboardInterrupt, OSError) as error:
        of_the_model = isinstance(error, OSError) and error.filename == path
        kept = checkpoint is not None and os.path.exists(checkpoint)
        if kept and (of_the_model or isinstance(error, KeyboardInterrupt)):
            output.note(f"saved to {checkpoint}: the same command goes on from there")
        raise
    facts = {
        "algorithm": _NAMES[name],
        "data": list(data),
        "model": path,
        "passes_allowed": given.get("passes", 1),
        "reading": told(model.reading),
        "rejected_files": rejected_files(data, model.reading),
    }
    facts |= model.report
    return facts | {"next": _next(facts, given)}


@contextmanager
def _ended_as_by_ctrl_c(*, wanted: bool) -> Iterator[None]:
    """What ends a process in an orderly way (a closed terminal, a container that is stopped) saves first, too."""
    if not wanted:
        yield
        return
    import signal

    def end(*_: object) -> None:
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt):  # a job in the background ignores Ctrl-C
            raise KeyboardInterrupt
        interrupt(signal.SIGINT, None)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows lacks the second
    held = [number for name in names if signal.getsignal(number := getattr(signal, name)) is signal.SIG_DFL]
    for number in held:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in held:
            signal.signal(number, signal.SIG_DFL)


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The options of the command as `rosenblatt.train` calls them."""
    own = ("no_intercept", "class_weight", "classes")
    named = {key: value for key, value in given.items() if key not in own}
    if "no_intercept" in given:
        named["fit_intercept"] = False
    if "classes" in given:
        import csv  # only for who needs it

        named["classes"] = _labels([label for labels in csv.reader(given["classes"]) for label in labels])
    if "class_weight" in given:
        named["class_weight"] = class_weight(given["class_weight"])
    return named


def class_weight(given: Sequence[Any]) -> Any:
    """The word balanced, or a weight for each label."""
    if "balanced" in given:
        return "balanced"
    labels = _labels([key for key, _ in given])
    if len(labels) < len(given):
        raise click.UsageError("--class-weight names a class twice: give each class one weight")
    return dict(zip(labels, [weight for _, weight in given], strict=True))


def _labels(texts: Sequence[str]) -> list[Any]:
    """Labels as the library reads them from a file: numbers if all are."""
    from rosenblatt.reading.class_table import ClassTable

    found: list[Any] = ClassTable(texts).values().tolist()
    return found


def _next(facts: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """What to do now: predict, and what could make it better."""
    advice = [command("predict", facts["model"], "NEW_DATA")]
    if facts["sorted_by_label"] and "shuffle" not in given:
        return ["--shuffle, because the file is sorted by label", *advice]
    if not facts["converged"] and facts["passes"] == facts["passes_allowed"] == 1:
        advice.append("--passes 10 goes over the rows again, until a pass makes no mistake")
    elif not facts["converged"] and facts["estimator"] == "Perceptron":
        advice.append("--average, or rosenblatt certify, which proves whether the rows can be separated at all")
    return advice
