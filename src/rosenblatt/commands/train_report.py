"""What came of a training run: the facts, which ``--json`` prints as they are, as a report of 80 columns for people."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from rosenblatt.commands import output
from rosenblatt.errors import counted

_SHOWN_PASSES = 10
_SHOWN_CLASSES = 5
_ENOUGH_ROWS = 100  # to compare accuracies
_LABEL = 12  # columns
_NOT_THE_LAST = {"AveragedPerceptron": "; not by the average", "VotedPerceptron": "; not by the vote"}


def lines(facts: dict[str, Any]) -> list[str]:
    """The report."""
    found = [*output.wrapped(_what(facts)).splitlines(), ""]
    for name, text in _results(facts):
        found += output.wrapped(f"{name:<{_LABEL}}{text}", indent=_LABEL).splitlines()
    for part in (_passes(facts), _weights(facts), _next(facts)):
        found += ["", *part] if part else []
    return found


def _what(facts: dict[str, Any]) -> str:
    """Which rows were learned from."""
    classes = facts["classes"]
    sizes = [_class(one) for one in classes] if len(classes) <= _SHOWN_CLASSES else []
    of_classes = output.classes_in_words(len(classes), sizes, facts.get("reading", {}).get("label"))
    size = f"{counted(facts['rows'], 'row')}, {counted(facts['features'], 'feature')}"
    return f"{output.files_in_words(facts['data'])}: {size}, {of_classes}"


def _class(one: dict[str, Any]) -> str:
    name = output.shortened(str(one["class"]), 20)
    return f"{name}{output.NO_BREAK}{one['rows']:,}" if "rows" in one else name


def _results(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What came of it, a name and a sentence each; what is not known is left out."""
    seconds, passes = facts["seconds"], facts.get("passes")
    took = f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.0f} ms"
    speed = f": {_large(facts['rows'] * passes / seconds)} rows a second" if passes and seconds > 0 else ""
    yield "Learned", f"{facts['algorithm']}, in {took}{speed}"
    if facts.get("resumed_at") is not None:
        where = facts["resumed_at"]
        when = f"in pass {where['pass']:,}" if where["pass"] else "while reading"
        yield "Resumed", f"{when}, behind {counted(where['row'], 'row')}, from a checkpoint"
    if passes is not None:
        early = ": stopped early, and the best weights kept" if facts.get("stopped_early") else ""
        yield "Passes", f"{passes:,} of at most {facts['passes_allowed']:,}{early}"
        problems = facts.get("problems", 1)
        each = f", of {problems:,} problems: each class against the rest" if problems > 1 else ""
        yield ("Updates" if _with_margin(facts) else "Mistakes"), f"{sum(facts['mistakes_per_pass']):,}{each}"
        yield "Converged", _convergence(facts)
    if facts.get("mistakes") is not None:
        yield "Mistakes", f"{facts['mistakes']:,} learned from"
    if facts.get("separates") is not None:
        yield "Separates", "yes: every row is on its side" if facts["separates"] else "no: not every row is on its side"
    if facts.get("mistake_bound") is not None:
        yield "Bound", f"no order of these rows can cost more than {facts['mistake_bound']:,} mistakes"
    if facts.get("margin") is not None:
        yield "Margin", f"{facts['margin']:.6g}, the distance of the nearest row"
    if facts.get("gap") is not None:
        yield "Gap", f"{facts['gap']:.1e}: no hyperplane is better by more than that part"
    yield from _accuracies(facts)
    if facts.get("rejected_lines"):
        yield "Bad lines", f"{facts['rejected_lines']:,} left out, and kept in {', '.join(facts['rejected_files'])}"
    yield "Model", f"{facts['model']} ({size(os.path.getsize(facts['model']))})"
    if facts.get("report") is not None:
        yield "Report", f"{facts['report']} ({size(os.path.getsize(facts['report']))}), for a browser"


def _with_margin(facts: dict[str, Any]) -> bool:
    """Whether rows were learned from that were no mistakes, but right by too little."""
    return bool(facts.get("learning_margin"))


def _convergence(facts: dict[str, Any]) -> str:
    what = "update" if _with_margin(facts) else "mistake"
    if facts["converged"]:
        return f"yes: the last pass made no {what}"
    some = " (not all classes took part)" if facts.get("stopped_early") and len(facts["classes"]) > 2 else ""
    return f"no: the last pass made {counted(facts['mistakes_per_pass'][-1], what)}{some}"


def _accuracies(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if facts.get("progressive_accuracy") is not None:
        last = _NOT_THE_LAST.get(facts["estimator"], "")
        how = f"each row predicted before it was learned from (first pass{last})"
        yield "Accuracy", f"{facts['progressive_accuracy']:.2%}, {how}"
    if facts.get("in_runs") and not facts["sorted_by_label"]:
        found, mixed = (facts[name] / facts["rows"] for name in ("class_changes", "class_changes_if_mixed"))
        yield (
            "Order",
            f"neighbours are often of one class ({found:.1%} of the rows are of another than the row before, of mixed "
            f"rows {mixed:.0%} would be): new rows may be predicted worse. --hold-out 0.1 measures it, --shuffle mixes",
        )
    if facts.get("batch_accuracy") is not None:
        yield "Accuracy", f"{facts['batch_accuracy']:.2%}, each batch predicted before it was learned from"
    if facts.get("training_accuracy") is not None:
        yield "Accuracy", f"{facts['training_accuracy']:.2%} of the rows that it learned from"
    if facts.get("hold_out_accuracy") is not None:
        yield "Held out", f"{facts['hold_out_accuracy']:.2%} of {counted(facts['hold_out_rows'], 'row')} right"
    if (better := _better_without(facts)) is not None:
        yield "Beware", better


def _better_without(facts: dict[str, Any]) -> str | None:
    """What to say of a model that is right less often than the most frequent class alone."""
    accuracies = (facts.get(name) for name in ("hold_out_accuracy", "progressive_accuracy"))
    found = next((accuracy for accuracy in accuracies if accuracy is not None), 1.0)
    most = max(facts["classes"], key=lambda one: int(one.get("rows", 0)))
    share = most.get("rows", 0) / facts["rows"]
    if found >= share or facts["rows"] < _ENOUGH_ROWS:
        return None
    name = output.shortened(str(most["class"]), 20)
    return (
        f"always answering {name} would be right for {share:.2%} of the rows. Features on very different scales have "
        "this effect: bring them to one scale first"
    )


def _passes(facts: dict[str, Any]) -> list[str]:
    """The mistakes of each pass, where there were several."""
    counts = facts.get("mistakes_per_pass") or []
    held_out = facts.get("hold_out_accuracy_per_pass") or []
    if len(counts) < 2:
        return []
    heading = ["pass", "updates" if _with_margin(facts) else "mistakes", *(["held out"] if held_out else [])]
    rows = [[f"{number:,}", f"{count:,}"] for number, count in enumerate(counts, 1)]
    for row, share in zip(rows, held_out, strict=False):
        row.append(f"{share:.2%}")
    if len(rows) > _SHOWN_PASSES:
        half = _SHOWN_PASSES // 2
        rows = [*rows[:half], ["..."] * len(heading), *rows[-half:]]
    return output.table(heading, [row + [""] * (len(heading) - len(row)) for row in rows], ">")


def _weights(facts: dict[str, Any]) -> list[str]:
    """The features that weigh most, and for which class."""
    heaviest = facts.get("largest_weights") or []
    rows = [
        [output.shortened(one["feature"], 40), f"{one['weight']:+.6g}", output.shortened(str(one["class"]), 20)]
        for one in heaviest
    ]
    if not rows:
        return []
    reading = facts.get("reading", {})
    hashed = (reading.get("text") or reading.get("interactions")) and not reading.get("keep_names")
    more = ["(numbers of hashed features; --keep-names shows what they are called)"] if hashed else []
    return output.table(["largest weights", "", "for"], rows, "<><") + more


def _next(facts: dict[str, Any]) -> list[str]:
    """What to do now."""
    found: list[str] = []
    for number, text in enumerate(facts["next"]):
        found += output.wrapped(f"{'Next: ' if number == 0 else '      '}{text}", indent=8).splitlines()
    return found


def command(*words: str) -> str:
    """A command as it can be typed."""
    return shlex.join(["rosenblatt", *words])


def size(count: int) -> str:
    """Bytes in a unit that fits.

    >>> size(812), size(94_500), size(3_200_000)
    ('812 bytes', '94 kB', '3.2 MB')
    """
    if count < 1000:
        return f"{count} bytes"
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count / 1e3:.0f} kB"


def _large(number: float) -> str:
    return f"{number / 1e6:.1f} million" if number >= 1e6 else f"{number:,.0f}"


def rejected_files(data: Sequence[str], reading: Any) -> list[str]:
    """Where the bad lines went."""
    from rosenblatt.reading.rejected_lines import RejectedLines
    from rosenblatt.reading.sources import expand

    if reading is None or reading.bad_lines != "skip":
        return []
    return sorted({path for file in expand(list(data)) if os.path.exists(path := RejectedLines(file).path)})
