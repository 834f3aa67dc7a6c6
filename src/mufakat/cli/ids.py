"""Ids that a person types: checked here, so that a slip gets an answer that helps."""

from __future__ import annotations

import re

from mufakat.core.base import InvalidInput

SHAPE = re.compile(r"[A-Za-z0-9_-]{1,64}")


def checked(text: str, *, listed_by: str) -> str:
    """An id, or the beginning of one, fit for a path; raises InvalidInput."""
    if SHAPE.fullmatch(text.strip()):
        return text.strip()
    what = f"{text!r} is not an id" if text.strip() else "The id is empty"
    raise InvalidInput(f"{what}.", fix=f"`{listed_by}` lists them.")
