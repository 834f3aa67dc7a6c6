"""Section `participants`: who else is in the conversation, and their last words."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.pack.facts import Facts, Speaker
from mufakat.core.pack.item import Item, Resolution, Trust

HOLDS, HOLD_CHARS = 3, 100


def render(facts: Facts) -> Sequence[Item]:
    """One item an agent, latest speaker first; nothing while there is only one.

    The agent that is asked is in the list too: it is the same list for all of them.
    """
    if len(facts.participants) < 2:
        return []
    return [_item(facts, speaker) for speaker in sorted(facts.participants, key=_newest_first)]


def _newest_first(speaker: Speaker) -> tuple[int, str]:
    return (-(speaker.last.number if speaker.last else 0), speaker.identity)


def _now(facts: Facts, speaker: Speaker) -> str:
    """What it does and holds; most agents are idle and hold nothing, which needs no word."""
    fence = facts.history.fence
    names = [text.one_line(quote.inert(one, fence), HOLD_CHARS) for one in speaker.holds[:HOLDS]]
    more = [f"{len(speaker.holds) - HOLDS} more"] if len(speaker.holds) > HOLDS else []
    holds = f"holds {', '.join([*names, *more])}" if names else ""
    return "; ".join(part for part in (speaker.state, holds) if part)


def _item(facts: Facts, speaker: Speaker) -> Item:
    name = f"{speaker.identity} ({speaker.role})" if speaker.role else speaker.identity
    now = _now(facts, speaker)
    name = f"{name} [{now}]" if now else name
    if speaker.last is None:
        full = f"{name}: has not spoken"
    else:
        words = text.one_line(quote.inert(speaker.last.text, facts.history.fence), 160)
        full = f"{name}: m:{speaker.last.number} {words}"
    forms = ((Resolution.FULL, full), (Resolution.REFERENCE, name))
    return Item(f"agent:{speaker.identity}", "store", Trust.PEER, forms, author=speaker.identity)
