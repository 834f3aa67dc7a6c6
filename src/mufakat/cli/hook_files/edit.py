"""What putting our hooks into a file comes to, whatever the file's language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mufakat.core.base import InvalidInput

OURS = re.compile(r"mufakat/sdk/hook\.py'? (?:claude|codex|gemini|opencode) [a-z-]+")
"""A command line of ours, from whatever installation."""


class Unreadable(InvalidInput):
    """The settings file cannot be parsed; mend it, then try again. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed text, and the pieces that were put into it, each there exactly once."""

    text: str
    pieces: tuple[str, ...]


def without(text: str, pieces: tuple[str, ...]) -> str | None:
    """The text before the pieces went in; None where one of them is not there as it was."""
    for piece in pieces:
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "")
    return text
