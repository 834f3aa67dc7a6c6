"""Shared facts of a workspace that expire by themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mufakat.core.base import InvalidInput, Millis, ProjectId

KEY = re.compile(r"[a-z0-9](?:[a-z0-9._:/-]{0,62}[a-z0-9])?")
TEXT_CHARS = 2_000
MIN_TTL, DEFAULT_TTL, MAX_TTL = 1.0, 3_600.0, 7 * 86_400.0
"""Seconds."""


@dataclass(frozen=True, slots=True)
class Notice:
    """The newest word on one key, such as `staging is down`."""

    project: ProjectId
    key: str
    text: str
    author: str
    at: Millis
    expires: Millis


def check(key: str, text: str, *, ttl: float) -> None:
    """Refuse what is no notice; raises InvalidInput."""
    if not KEY.fullmatch(key):
        raise InvalidInput(
            f"{key[:40]!r} is no key of a notice.",
            fix="Use 1 to 64 lower-case letters, digits and ._:/- such as `staging`.",
        )
    if not text.strip() or len(text) > TEXT_CHARS:
        raise InvalidInput(
            f"A notice has 1 to {TEXT_CHARS:,} characters.", fix="Say it shorter, or in a message."
        )
    # A comparison that NaN fails.
    if not MIN_TTL <= ttl <= MAX_TTL:
        raise InvalidInput("The ttl is out of range.", fix="Give 1 second to 7 days, in seconds.")
