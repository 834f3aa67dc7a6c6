"""Decode one line of an engine's event stream whatever it holds; nothing in it is ever fatal."""

import json
import math
import re
from dataclasses import dataclass

from mufakat.engines.process import text

MAX_DEPTH = 64

# Strings are skipped as a whole; possessive, so that no input can make the match go back.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_INT_DIGITS = 20
_INT_LIMIT = 2**63


@dataclass(frozen=True, slots=True)
class NotJson:
    """The line is not an event object; `why` is for the log."""

    why: str


def decode(line: str) -> dict[str, object] | NotJson:
    """Return the JSON object in `line`.

    NaN, infinities and floats beyond range become None; integers outside 64 bits stay strings;
    of equal keys the last counts; lone surrogates and NUL are replaced.
    """
    line = line.removeprefix("\ufeff")
    if not line.lstrip().startswith("{"):
        return NotJson("not a JSON object")
    if _too_deep(line):
        return NotJson(f"nested deeper than {MAX_DEPTH}")
    try:
        value = _DECODER.decode(line)
    except (ValueError, RecursionError) as error:
        return NotJson(f"invalid JSON: {error}"[:200])
    if "\\u" in line:
        value = _storable(value)
    return value if isinstance(value, dict) else NotJson("not a JSON object")


def _too_deep(line: str) -> bool:
    if line.count("[") + line.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for token in _TOKEN.finditer(line):
        match token[0]:
            case "[" | "{":
                depth += 1
                if depth > MAX_DEPTH:
                    return True
            case "]" | "}":
                depth -= 1
    return False


def _integer(digits: str) -> int | str:
    if len(digits) > _INT_DIGITS:
        return digits
    value = int(digits)
    return value if -_INT_LIMIT <= value < _INT_LIMIT else digits


def _float(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


def _constant(_name: str) -> None:
    return None


def _storable(value: object) -> object:
    match value:
        case str():
            return text.storable(value)
        case list():
            return [_storable(item) for item in value]
        case dict():
            return {text.storable(key): _storable(item) for key, item in value.items()}
        case _:
            return value


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_float, parse_constant=_constant)
