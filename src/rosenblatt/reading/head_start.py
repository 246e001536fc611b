"""Learning that begins before numpy is loaded: the engine's own pass over a file of two classes.

The first pass over a plain file with the usual options needs nothing of Python, so the engine makes it by itself while
Python is still importing what comes later. At anything unusual, such as a third class, it stops, and the run goes on
from what it has learned. Rows that later passes need it hands on. The model is the same, to the bit, with and without.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt import _engine

_READOUTS = ("last", "average")
_PIECE = 3 << 20  # bytes of rows, unpacked, that are handed on at once: small pieces cost calls
_WAITING = 16 << 20  # bytes of rows, packed, that may wait while Python is loading
# What the engine does not do by itself, and the value that asks for nothing.
_USUAL = {
    "max_updates": None, "shuffle": False, "tie": "mistake", "multi_class": "ovr", "classes": None,
    "class_weight": None, "hold_out": 0.0, "early_stopping": None, "cache": None, "checkpoint": None,
}  # fmt: skip


def settings_of(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """What the engine must know of the options of `train`, given by name; None if they ask for more than it does."""
    if options.get("readout", "last") not in _READOUTS or any(
        options.get(name, usual) != usual for name, usual in _USUAL.items()
    ):
        return None
    return {
        "average": options.get("readout") == "average",
        "keep": options.get("passes", 1) > 1,
        "fit_intercept": bool(options.get("fit_intercept", True)),
        "eta0": float(options.get("eta0", 1.0)),
        "margin": float(options.get("margin", 0.0)),
    }


def begin(reader: _engine.Reader, settings: Mapping[str, Any], width: int) -> None:
    """Let the engine learn from the rows that a reader is about to deliver."""
    choices = {name: settings[name] for name in ("fit_intercept", "eta0", "margin")}
    rule = _engine.Rule(tie=_engine.Tie.mistake, **choices)
    reader.learn(rule, average=settings["average"], width=width, keep=_WAITING if settings["keep"] else 0, piece=_PIECE)
