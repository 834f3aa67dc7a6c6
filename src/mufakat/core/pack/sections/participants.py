"""Section `participants`: who else is in the conversation, and their last words."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.pack.facts import Facts, Speaker
from mufakat.core.pack.item import Item, Resolution, Trust


def render(facts: Facts) -> Sequence[Item]:
    """One item an agent, latest speaker first; nothing while there is only one.

    The agent that is asked is in the list too: it is the same list for all of them.
    """
    if len(facts.participants) < 2:
        return []
    return [_item(facts, speaker) for speaker in sorted(facts.participants, key=_newest_first)]


def _newest_first(speaker: Speaker) -> tuple[int, str]:
    return (-(speaker.last.number if speaker.last else 0), speaker.identity)


def _item(facts: Facts, speaker: Speaker) -> Item:
    name = f"{speaker.identity} ({speaker.role})" if speaker.role else speaker.identity
    if speaker.last is None:
        full = f"{name}: has not spoken"
    else:
        words = text.one_line(quote.inert(speaker.last.text, facts.history.fence), 160)
        full = f"{name}: m:{speaker.last.number} {words}"
    forms = ((Resolution.FULL, full), (Resolution.REFERENCE, name))
    return Item(f"agent:{speaker.identity}", "store", Trust.PEER, forms, author=speaker.identity)
