"""Times as people write them: `90s`, `15m`, `2h`."""

from __future__ import annotations

import re

import click

_SHAPE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Duration(click.ParamType[float]):
    """A number with a unit; seconds where there is none."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, int | float):
            return float(value)
        found = _SHAPE.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is not a time; write it like 90s, 15m or 2h.", param, ctx)
        return float(found[1]) * _SECONDS[found[2] or "s"]


def shown(seconds: object) -> str:
    """Seconds in the largest unit that keeps them readable."""
    if not isinstance(seconds, int | float):
        return "–"
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"
