"""Writing the receipt of a filled pack."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core import tokens
from mufakat.core.pack import item, parity
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.fill import Filled
from mufakat.core.pack.item import Resolution, Told, Trust
from mufakat.core.pack.mode import Choice
from mufakat.core.pack.receipt import Receipt, SectionReceipt
from mufakat.core.pack.sections import table


def receipt(
    facts: Facts,
    filled: Sequence[Filled],
    *,
    choice: Choice,
    budget: int,
    variant: str,
    window_start: int,
    scaled_floors: bool = False,
) -> Receipt:
    """Account for every section and the prompt."""
    prompt = _prompt(facts.prompt)
    return Receipt(
        mode=choice.mode.label,
        reason=choice.reason,
        variant=variant,
        budget=budget,
        used=sum(one.used for one in filled) + prompt.used,
        tokens=sum(tokens.estimate(one.text) for one in filled) + tokens.estimate(facts.prompt),
        parity=parity.fingerprint(
            filled,
            facts.prompt,
            identity=facts.identity,
            fence=facts.history.fence,
            nonce=facts.nonce,
        ),
        sections=(*(_row(one) for one in filled), prompt),
        unavailable=(*facts.unavailable, *facts.gaps),
        window_start=window_start,
        notes=_notes(facts, variant, scaled_floors),
    )


def _row(one: Filled) -> SectionReceipt:
    return SectionReceipt(
        kind=one.kind,
        tier=one.tier,
        need=one.need,
        granted=one.granted,
        used=one.used,
        items=tuple(piece.told for piece in one.pieces),
        degraded=sum(piece.told.resolution is not Resolution.FULL for piece in one.pieces),
        dropped=one.dropped,
        why=one.why,
        digest=item.digest(one.text) if one.text else "",
    )


def _prompt(prompt: str) -> SectionReceipt:
    size, digest = len(prompt), item.digest(prompt)
    told = Told("prompt", Resolution.FULL, size, digest, "user", Trust.PEER)
    return SectionReceipt(table.PROMPT, 0, size, size, size, (told,), 0, 0, "never cut", digest)


def _notes(facts: Facts, variant: str, scaled_floors: bool) -> tuple[str, ...]:
    notes = [f"left out by request: {kind}" for kind in sorted(facts.muted)]
    if scaled_floors:
        notes.append("the floors together did not fit and were scaled down")
    if variant == "lite":
        notes.append(f"lite variant: the model's window is {facts.window_tokens:,} tokens")
    if facts.conditions.code_question:
        notes.append(f"code question: {facts.conditions.code_question}")
    if facts.conditions.branch:
        notes.append(f"in a branch: {facts.conditions.branch}")
    if facts.conditions.review:
        notes.append(f"review: {facts.conditions.review}")
    if facts.conditions.changes:
        notes.append(f"review: {facts.conditions.changes}")
    notes += [
        f"tiering: {one.kind} is {'pushed' if one.push else 'pulled'}: {one.why}"
        for one in facts.tiering
    ]
    return tuple(notes)
