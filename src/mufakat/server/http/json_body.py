"""Strict JSON: what two parsers could read differently, or a store could not keep, is refused."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, NoReturn

from mufakat.server.http.refusal import InvalidJson, InvalidText

DEPTH = 64
LARGEST = 2**63 - 1

_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# The end quote is optional so that an unfinished string is taken in one step, in linear time.
_STRING = re.compile(rb'"(?:[^"\\]+|\\.)*+"?', re.DOTALL)
_BRACKET = re.compile(rb"[\[\]{}]")
_ODD_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def parse(body: bytes) -> Any:
    """Parse a body; raises InvalidJson, or InvalidText for BOM, NUL and lone surrogates."""
    if body.startswith(_BOMS):
        raise InvalidText("The body starts with a byte order mark.")
    if b"\0" in body:
        raise InvalidText("The body holds a NUL byte.")
    _check_depth(body)
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_number,
        )
    except UnicodeDecodeError as problem:
        raise InvalidJson(f"Byte {problem.start} of the body is not UTF-8.") from problem
    except json.JSONDecodeError as problem:
        raise InvalidJson(f"{problem.msg} at character {problem.pos}.") from problem
    if _ODD_ESCAPE.search(body):
        _check_texts(value)
    return value


def _check_depth(body: bytes) -> None:
    if body.count(b"[") + body.count(b"{") <= DEPTH:
        return
    depth = 0
    for bracket in _BRACKET.finditer(_STRING.sub(b"", body)):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > DEPTH:
            raise InvalidJson(f"The body is nested deeper than {DEPTH} levels.")


def _check_texts(value: Any) -> None:
    match value:
        case str():
            if _UNSTORABLE.search(value):
                raise InvalidText("A text holds NUL or a lone surrogate.")
        case list():
            for part in value:
                _check_texts(part)
        case dict():
            for name, part in value.items():
                _check_texts(name)
                _check_texts(part)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise InvalidJson("An object names the same member twice.")
    return members


def _constant(text: str) -> NoReturn:
    raise InvalidJson(f"{text} is not a JSON number.")


def _integer(text: str) -> int:
    if len(text) > 20 or abs(number := int(text)) > LARGEST:
        raise InvalidJson("A whole number is larger than 64 bits.")
    return number


def _number(text: str) -> float:
    number = float(text)
    if number in {float("inf"), float("-inf")}:
        raise InvalidJson("A number is too large.")
    return number
