"""Looking into request bodies: where did a text arrive, and is it the text that was sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Prompts carry it after each `@`, so that no CLI takes `@path` for a file to read.
WORD_JOINER = "\u2060"


def strings(body: Any, path: str = "$") -> Iterator[tuple[str, str]]:
    """Every string value of a JSON document with its path, like `$.messages[0].content`."""
    match body:
        case str():
            yield path, body
        case dict():
            for key, value in body.items():
                yield from strings(value, f"{path}.{key}")
        case list():
            for index, value in enumerate(body):
                yield from strings(value, f"{path}[{index}]")


def find_text(body: Any, needle: str) -> list[str]:
    """The JSON paths of all strings that contain `needle`."""
    return [path for path, text in strings(body) if needle in text]


def all_text(body: Any) -> str:
    """All string values of a body, in document order, one per line."""
    return "\n".join(text for _, text in strings(body))


def without_joiners(text: str) -> str:
    """The text with the word joiner after each `@` taken out again."""
    return text.replace("@" + WORD_JOINER, "@")


def plain(body: Any) -> Any:
    """A copy of a body in which every string is without joiners."""
    match body:
        case str():
            return without_joiners(body)
        case dict():
            return {key: plain(value) for key, value in body.items()}
        case list():
            return [plain(value) for value in body]
        case _:
            return body
