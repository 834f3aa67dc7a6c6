"""Section `pulling`: how more is asked for, with the run's own nonce."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.pack import pull
from mufakat.core.pack.facts import Facts, Unavailable
from mufakat.core.pack.item import Item, Resolution, Trust

KIND = "pulling"
GAP_CHARS = 120


def render(facts: Facts) -> Sequence[Item]:
    """How, then what could not be had; it changes with every run, so it stands at the end."""
    gaps = [_gap(gap) for gap in facts.gaps]
    if not facts.nonce:
        return gaps
    line = pull.marker(facts.nonce, "KIND", "QUERY")
    how = (
        "Pull what you need more of: call the tool context_pull(kind, query), or end your answer "
        f"with lines like\n{line}\n"
        "You are then asked again, with the answers. Kinds: skill, memory, recall, session, docs, "
        "code, graph, message, slice."
    )
    return [Item(KIND, "platform", Trust.PLATFORM, ((Resolution.FULL, how),)), *gaps]


def _gap(gap: Unavailable) -> Item:
    line = text.one_line(quote.inert(f"unavailable: {gap.source}: {gap.why}", ""), GAP_CHARS)
    return Item(f"gap:{gap.source}", gap.source, Trust.PLATFORM, ((Resolution.FULL, line),))
