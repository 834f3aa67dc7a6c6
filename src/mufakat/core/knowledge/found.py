"""Something that was found for a request, whatever kind of source it comes from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """One thing to tell: an answer's id and origin, the whole text, and how to pull the rest."""

    id: str
    """Stable: `m:…`, `src/app.py:10-42`, `skill:NAME`, `doc:NAME#section`, `topic:…`."""
    source: str
    """What kind of source: `recall`, `memory`, `code`, `graph`, `skill`, `doc`, `session`."""
    head: str
    """One line that names it: who, when, where; path, lines and symbol."""
    text: str
    """The whole of it, scrubbed."""
    author: str = ""
    """Identity of whoever said it; empty for a file."""
    key: str = ""
    """What to pull for more of it."""
    worth: float = 1.0
    """Score beside the others of its section, 0 to 1."""
    why: str = ""
    """Why it was found, in a few words."""
