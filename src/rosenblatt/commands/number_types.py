"""Numbers that options take. Their limits are told when they are broken, not in the help, which has no room."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    ParameterType = click.ParamType[Any]
else:
    ParameterType = click.ParamType  # not generic in every version


class WholeNumber(ParameterType):
    """A whole number within limits."""

    name = "integer"

    def __init__(self, least: int, most: int | None = None) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number."""
        limits = f"{self.least} or more" if self.most is None else f"from {self.least} to {self.most}"
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number; it must be {limits}", param, ctx)
        if number < self.least or (self.most is not None and number > self.most):
            self.fail(f"{number} is not {limits}", param, ctx)
        return number


class RealNumber(ParameterType):
    """A finite number within limits; ``above`` is not within them."""

    name = "number"

    def __init__(self, *, least: float = -math.inf, above: float = -math.inf, most: float = math.inf) -> None:
        self.least, self.above, self.most = least, above, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (math.isfinite(number) and number >= self.least and self.above < number <= self.most):
            self.fail(f"{value!r} is not a number{self._limits()}", param, ctx)
        return number

    def _limits(self) -> str:
        words = []
        if self.least > -math.inf:
            words.append(f"from {self.least:g}")
        if self.above > -math.inf:
            words.append(f"above {self.above:g}")
        if self.most < math.inf:
            words.append(f"to {self.most:g}")
        return " " + " ".join(words) if words else ""


POSITIVE = RealNumber(above=0)
AT_LEAST_0 = RealNumber(least=0)
SHARE = RealNumber(least=0, most=0.9)
