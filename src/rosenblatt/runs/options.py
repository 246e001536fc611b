"""How a run on a stream learns: what the caller may say, checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from rosenblatt import inputs
from rosenblatt.errors import InputError
from rosenblatt.inputs import Limit, flag, integer
from rosenblatt.learner import Readout
from rosenblatt.learning import Choices
from rosenblatt.perceptron_parameters import LIMITS

_INT64_MAX = 2**63 - 1
_LIMITS = {
    "readout": Limit(choices=("last", "average", "vote")),
    "passes": integer(1),
    "max_updates": integer(1, none=True),
    "shuffle": flag(),
    "shuffle_rows": integer(1),
    "seed": Limit(kind=Integral, low=0, high=2**32 - 1, words="an integer from 0 to 2**32 - 1"),
    "tie": Limit(choices=("mistake", "positive", "negative")),
    "fit_intercept": flag(),
    "eta0": Limit(
        kind=Real, low=0, open_low=True, high=float(np.finfo(np.float64).max), words="a finite number above 0"
    ),
    "margin": LIMITS["margin"],
    "multi_class": Limit(choices=("ovr", "joint")),
    "hold_out": Limit(kind=Real, low=0, high=0.9),
    "early_stopping": Limit(choices=(None, "progressive", "hold-out")),
    "patience": integer(1),
}


@dataclass(frozen=True)
class TrainingOptions:
    """All that decides what a run learns from given rows."""

    readout: Readout = "last"
    passes: int = 1
    max_updates: int | None = None
    shuffle: bool = False
    shuffle_rows: int = 1 << 17
    seed: int = 0
    tie: str = "mistake"
    fit_intercept: bool = True
    eta0: float = 1.0
    margin: float = 0.0
    multi_class: str = "ovr"
    classes: tuple[Any, ...] | None = None
    class_weight: Any = None  # a dict, "balanced" or None
    hold_out: float = 0.0
    early_stopping: str | None = None
    patience: int = 5

    def __post_init__(self) -> None:
        """Check each option, and that they go together."""
        inputs.check_parameters("train", vars(self), _LIMITS)
        if self.early_stopping == "hold-out" and not self.hold_out:
            raise InputError("early_stopping='hold-out' needs rows to watch: hold_out=0.1 holds out a tenth")
        if self.classes is not None and len(set(self.classes)) < 2:
            raise InputError(f"classes must name at least two classes, got {list(self.classes)!r}")
        weight = self.class_weight
        if weight is not None and not isinstance(weight, dict) and weight != "balanced":
            raise InputError(f"class_weight must be a dict, 'balanced', or None, got: {weight!r}")
        if isinstance(weight, dict) and not all(weight.values()):
            raise InputError(f"class_weight gives a class the weight 0: leave its rows out instead, got {weight!r}")

    @property
    def joint(self) -> bool:
        """Whether all classes are one problem."""
        return self.multi_class == "joint"

    @property
    def reads_first(self) -> bool:
        """Whether all rows must be read before the first can be learned from: the order or the classes are needed."""
        needs_classes = self.joint or self.class_weight is not None
        return (
            self.shuffle
            or self.readout == "vote"
            or self.class_weight == "balanced"
            or (needs_classes and self.classes is None)
        )

    @property
    def needs_cache(self) -> bool:
        """Whether the rows are visited more than once."""
        return self.passes > 1 or self.reads_first

    def choices(self, threads: int) -> Choices:
        """The choices of a run, for the engine."""
        return Choices(
            tie=self.tie,
            fit_intercept=bool(self.fit_intercept),
            eta0=float(self.eta0),
            margin=float(self.margin),
            max_iter=min(int(self.passes), _INT64_MAX),
            max_updates=None if self.max_updates is None else min(int(self.max_updates), _INT64_MAX),
            n_iter_no_change=int(self.patience),
            seed=int(self.seed),
            threads=threads,
        )

    def to_plain(self) -> dict[str, Any]:
        """As values that JSON can hold; class weights as pairs, because the keys of an object are strings."""
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in asdict(self).items()}
        if self.classes is not None:
            plain["classes"] = [_plain(label) for label in self.classes]
        if isinstance(self.class_weight, dict):
            plain["class_weight"] = [[_plain(label), float(weight)] for label, weight in self.class_weight.items()]
        return plain


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
