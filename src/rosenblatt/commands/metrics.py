"""How right predictions are, counted batch by batch: accuracy, precision and recall of each class, the confusion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rosenblatt.commands import output
from rosenblatt.errors import counted

_SHOWN_CLASSES = 20
_SHOWN_CONFUSIONS = 5


class Metrics:
    """Counts how often a row of one class was taken for another. Classes are numbers of `names`; -1: no label."""

    def __init__(self, classes: Sequence[Any]) -> None:
        """Begin with no rows. `classes`: those of the model; then come any that only the data has (`name_more`)."""
        self.classes = list(classes)
        self.names = list(map(str, classes))
        self._of_model = len(self.names)
        self.rows = 0
        self._pairs: Counter[tuple[int, int]] = Counter()  # true class, predicted class

    def name_more(self, keys: Sequence[str]) -> None:
        """Take up classes that only the data has; `keys` are the names of all."""
        from rosenblatt.reading.class_table import ClassTable

        new = list(map(str, keys[len(self.names) :]))
        numbers = bool(self.classes) and not isinstance(self.classes[0], str)
        self.classes += ClassTable(new).values().tolist() if numbers else new
        self.names += new

    def add(self, true: Any, predicted: Any) -> None:
        """Count a batch: arrays of class numbers."""
        import numpy as np

        self.rows += len(true)
        labelled = np.flatnonzero(true >= 0)
        pairs = true[labelled].astype(np.int64) << 32 | predicted[labelled].astype(np.int64)
        for pair, count in zip(*map(np.ndarray.tolist, np.unique(pairs, return_counts=True)), strict=True):
            self._pairs[pair >> 32, pair & 0xFFFFFFFF] += count

    @property
    def labelled(self) -> int:
        """Rows that had a label."""
        return self._pairs.total()

    @property
    def right(self) -> int:
        """Rows whose label was predicted."""
        return sum(count for (true, predicted), count in self._pairs.items() if true == predicted)

    def of_class(self, number: int) -> tuple[int, float | None, float | None]:
        """How many rows a class has; its precision and its recall, None where there is nothing to divide by."""
        both = self._pairs[number, number]
        rows = sum(count for (true, _), count in self._pairs.items() if true == number)
        said = sum(count for (_, predicted), count in self._pairs.items() if predicted == number)
        return rows, both / said if said else None, both / rows if rows else None

    def facts(self) -> dict[str, Any]:
        """For programs."""
        facts: dict[str, Any] = {"rows": self.rows, "labelled_rows": self.labelled}
        if not self.labelled:
            return facts | {"accuracy": None}
        each = []
        for number, label in enumerate(self.classes):
            rows, precision, recall = self.of_class(number)
            each.append({"class": label, "rows": rows, "precision": precision, "recall": recall})
        confusion = [
            {"class": self.classes[true], "predicted": self.classes[predicted], "rows": count}
            for (true, predicted), count in sorted(self._pairs.items())
        ]
        return facts | {"accuracy": self.right / self.labelled, "classes": each, "confusion": confusion}

    def lines(self) -> list[str]:
        """For people."""
        if not self.labelled:
            return [f"{counted(self.rows, 'row')}, without labels"]
        first = f"{self.right:,} of {counted(self.labelled, 'row')} right: accuracy {self.right / self.labelled:.2%}"
        missing = self.rows - self.labelled
        if missing:
            first += f" ({counted(missing, 'row')} without a label left out)"
        if all(true >= self._of_model for true, _ in self._pairs):
            first += ". None of the labels is a class of the model"
        return [*output.wrapped(first).splitlines(), "", *self._classes(), "", *self._confusion()]

    def _classes(self) -> list[str]:
        rows = []
        for number, name in enumerate(self.names[:_SHOWN_CLASSES]):
            count, precision, recall = self.of_class(number)
            rows.append([output.shortened(name, 40), f"{count:,}", _percent(precision), _percent(recall)])
        lines = output.table(["class", "rows", "precision", "recall"], rows, "<>")
        more = len(self.names) - _SHOWN_CLASSES
        return lines + ([f"and {more:,} more classes (--json has all)"] if more > 0 else [])

    def _confusion(self) -> list[str]:
        names = [output.shortened(name, 16) for name in self.names]
        rows = [
            [names[true], *(f"{self._pairs[true, other]:,}" for other in range(len(names)))]
            for true in range(len(names))
        ]
        if len(names) <= _SHOWN_CLASSES:
            lines = output.table(["true \\ predicted", *names], rows, "<>")
            if max(map(len, lines)) <= output.WIDTH:
                return lines
        wrong = [(count, pair) for pair, count in self._pairs.items() if pair[0] != pair[1]]
        most = sorted(wrong, key=lambda item: (-item[0], item[1]))[:_SHOWN_CONFUSIONS]
        if not most:
            return ["No class was taken for another."]
        full = [output.shortened(name, 40) for name in self.names]
        taken = [f"{full[true]} for {full[said]} ({count:,})" for count, (true, said) in most]
        return output.wrapped(f"Most often taken for another: {', '.join(taken)}.").splitlines()


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
