"""Section `role`: the role document, and the persona where there is one."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import text
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
    body = body.strip()
    forms = dict(resolution.forms(body, reference=id))
    if len(body) > LONGEST:
        # Half of a very long document would be above the section's ceiling.
        note = f"… the middle of {id} is left out …"
        forms[Resolution.TRIMMED] = text.head_and_tail(body, LONGEST, note=note)
    return Item(id, source, Trust.PLATFORM, tuple(forms.items()))
