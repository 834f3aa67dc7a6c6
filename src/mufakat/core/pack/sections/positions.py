"""Section `positions`: where the claims of a roundtable stand, and what each seat said."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.deliberation.briefing import Briefing, Heard
from mufakat.core.deliberation.merging import Outcome, Point
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust

KIND = "positions"
WORDS_CHARS, TRIMMED_CHARS = 1_600, 600
"""Of a seat's words beside its claims, which are always told whole."""


def render(facts: Facts) -> Sequence[Item]:
    """Where the claims stand, then the seats' words, the newest round first."""
    briefing = facts.briefing
    if briefing is None or not briefing.heard:
        return []
    fence = facts.history.fence
    newest = sorted(briefing.heard, key=lambda one: -one.round)
    return [*_standing(briefing), *(_said(one, fence) for one in newest)]


def _standing(briefing: Briefing) -> list[Item]:
    """Ids alone: each claim's words stand with the seat that made it."""
    points = briefing.merged.points
    if not points:
        return []
    lines = ["Where the claims stand:", *(_line(point) for point in points)]
    silent = briefing.merged.unstated
    if silent:
        lines.append(f"unstated so far: {', '.join(silent)}")
    full = "\n".join(lines)
    return [
        Item(
            f"table:{briefing.table}:standing",
            "roundtable",
            Trust.PLATFORM,
            ((Resolution.FULL, full),),
            worth=2.0,
        )
    ]


def _line(point: Point) -> str:
    parts = [f"{point.id} {point.outcome}", f"for {', '.join(point.agree) or 'nobody'}"]
    for outcome, word in ((Outcome.DISSENT, "against"), (Outcome.OPEN, "open for")):
        named = [one.seat for one in point.against if one.outcome is outcome]
        if named:
            parts.append(f"{word} {', '.join(named)}")
    if point.silent:
        parts.append(f"no word of {', '.join(point.silent)}")
    return "; ".join(parts)


def _said(one: Heard, fence: str) -> Item:
    who = f"{one.name}, your own words" if one.own else one.name
    head = f"{fence} {who}, round {one.round}"
    claims = _claims(one, fence)
    words = quote.inert(one.text, fence).strip()
    candidates = [
        f"{head}\n{_ends(words, WORDS_CHARS)}\n{claims}",
        f"{head}\n{_ends(words, TRIMMED_CHARS)}\n{claims}",
        f"{head}\n{claims}",
        f"{head} [{len(one.text):,} characters, not shown]",
    ]
    forms = [(Resolution.FULL, candidates[0])]
    for resolution, form in zip(list(Resolution)[1:], candidates[1:], strict=True):
        if len(form) < len(forms[-1][1]):
            forms.append((resolution, form))
    return Item(
        f"m:{one.number}",
        f"roundtable: {one.name}, round {one.round}",
        Trust.PEER,
        tuple(forms),
        author=one.name,
    )


def _claims(one: Heard, fence: str) -> str:
    position = one.position
    if position is None:
        return "unstated: its block could not be read"
    lines = [f"stance: {position.stance}"]
    lines += [f"claim {claim.id}: {claim.text}" for claim in position.claims]
    if position.agree:
        lines.append(f"agrees with {', '.join(position.agree)}")
    lines += [f"open {vote.id}: {vote.why or 'no reason given'}" for vote in position.open]
    lines += [f"against {vote.id}: {vote.why or 'no reason given'}" for vote in position.dissent]
    return quote.inert("\n".join(lines), fence)


def _ends(words: str, limit: int) -> str:
    note = f"… {len(words):,} characters in all …"
    return text.head_and_tail(words, limit, note=note) if len(words) > limit else words
