"""Section `findings`: what roundtables came to, so that it is built on and not argued again."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.deliberation.decision import Decision, Standing
from mufakat.core.deliberation.merging import Outcome
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust

KIND = "findings"
WORTH = {Outcome.AGREED: 1.0, Outcome.DISSENT: 0.8, Outcome.OPEN: 0.6}
RULE = (
    "Decisions of roundtables. What is agreed is settled: build on it and do not re-litigate it. "
    "If it must be reopened, say which one and why, in your answer; it is not reopened by silence."
)
TEXT_CHARS, WHY_CHARS = 160, 120


def render(facts: Facts) -> Sequence[Item]:
    """The rule, then one item a decision, in the order in which they were given."""
    if not facts.decisions:
        return []
    rule = Item(f"{KIND}:rule", "platform", Trust.PLATFORM, ((Resolution.FULL, RULE),), worth=2.0)
    return [rule, *(_item(one, facts.history.fence) for one in facts.decisions)]


def _item(one: Decision, fence: str) -> Item:
    state = "reopened" if one.standing is Standing.REOPENED else one.outcome.value
    line = quote.inert(f"{one.id} {state}: {one.text}", fence)
    candidates = (
        (Resolution.FULL, "\n".join([line, *_behind(one, fence)])),
        (Resolution.DIGEST, text.one_line(line, TEXT_CHARS)),
    )
    forms = [candidates[0]]
    if len(candidates[1][1]) < len(candidates[0][1]):
        forms.append(candidates[1])
    return Item(
        one.id,
        f"roundtable {one.roundtable}, claim {one.claim}",
        Trust.PEER,
        tuple(forms),
        worth=WORTH[one.outcome],
    )


def _behind(one: Decision, fence: str) -> list[str]:
    """Who holds it, who does not and why, and why it was reopened."""
    lines = [f"  held by {', '.join(one.agree)}"] if one.agree else []
    for each in one.against:
        word = "dissent of" if each.outcome is Outcome.DISSENT else "open for"
        why = text.one_line(each.why, WHY_CHARS) or "no reason given"
        lines.append(f"  {word} {each.identity}: {why}")
    if one.reason:
        lines.append(f"  was reopened by {one.reason}")
    return [quote.inert(line, fence) for line in lines]
