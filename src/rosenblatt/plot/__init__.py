"""Pictures of what was learned, and of what was proved, in matplotlib (the extra ``plot``).

Each function takes the axes to draw on (``ax=``), or makes new ones, and returns them.
"""

from __future__ import annotations

from rosenblatt.plot.boundaries import boundary
from rosenblatt.plot.coefficients import weights
from rosenblatt.plot.passes import mistakes
from rosenblatt.plot.slacks import soft_margin
from rosenblatt.plot.squeeze import proof
from rosenblatt.plot.style import look
from rosenblatt.plot.updates import trace
from rosenblatt.plot.verdict_pictures import certificate

__all__ = ["boundary", "certificate", "look", "mistakes", "proof", "soft_margin", "trace", "weights"]
