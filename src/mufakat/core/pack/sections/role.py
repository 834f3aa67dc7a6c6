"""Section `role`: the role document, and the persona where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.pack import resolution
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust

LONGEST = 4_000
"""Characters of a user's own role document; the built-in ones are far shorter."""


def render(facts: Facts) -> Sequence[Item]:
    """The role, then the persona; a very long document is told by its two ends."""
    items = [_document(f"role:{facts.role.name}", facts.role.source, facts.role.text)]
    if facts.persona:
        items.append(_document("persona", "persona", facts.persona))
    return items


def _document(id: str, source: str, body: str) -> Item:
    forms = resolution.forms(body.strip(), reference=id)
    if len(forms[0][1]) <= LONGEST:
        forms = (forms[0],)
    return Item(id, source, Trust.PLATFORM, tuple((Resolution(name), form) for name, form in forms))
