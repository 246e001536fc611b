"""The picture that a notebook shows of a certificate, a trace or a fitted model beside its words.

What states a claim, and what learns, stand below what draws, and must not depend on it. So the drawing is looked up by
name, when a notebook asks; where it cannot be had, the words stand alone.
"""

from __future__ import annotations

import html
import importlib
from typing import Any


def picture(thing: Any) -> str:
    """An <img> of it; empty without matplotlib, or where there is nothing to draw."""
    try:
        found: str = importlib.import_module("rosenblatt.plot.shown").picture(thing)
    except Exception:  # whatever it is: a picture must never stand in the way of the words
        return ""
    return found


def beside(words: str, thing: Any) -> str:
    """Words, and the picture under them."""
    return f"<div><pre>{html.escape(words)}</pre>{picture(thing)}</div>"
