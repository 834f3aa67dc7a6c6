"""The receipt: what a request was told, what was left out, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mufakat.core.base import AgentId, ConversationId, Millis, PackId, TurnId
from mufakat.core.pack.facts import Unavailable
from mufakat.core.pack.item import Resolution, Told, Trust


@dataclass(frozen=True, slots=True)
class SectionReceipt:
    """One row: what a section asked for and what it got; sizes in characters."""

    kind: str
    tier: int
    need: int
    granted: int
    used: int
    items: tuple[Told, ...]
    degraded: int
    """Items told in less than their full form."""
    dropped: int
    """Items not told at all."""
    why: str
    digest: str
    """SHA-256 of the section's text, under which it is stored; empty for an empty section."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The whole receipt of a pack."""

    mode: str
    reason: str
    variant: str
    """`standard`, or `lite` for a model with a small window."""
    budget: int
    used: int
    tokens: int
    parity: str
    """SHA-256 over the multiset of (section, item id, item bytes)."""
    sections: tuple[SectionReceipt, ...]
    unavailable: tuple[Unavailable, ...]
    window_start: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredPack:
    """A pack in the store: its receipt and how it was delivered; texts stand beside it by hash."""

    id: PackId
    conversation: ConversationId
    turn: TurnId | None
    agent: AgentId | None
    identity: str
    engine: str
    created: Millis
    receipt: Receipt
    form: str
    """`split` or `inline`."""
    resumed: bool
    resume_why: str
    """Why the engine's session was or was not resumed."""
    sent: str
    """SHA-256 of the user text as sent to the engine."""
    system: str
    """SHA-256 of the text in the engine's system slot; empty for inline delivery."""
    instructions: tuple[str, ...] = ()
    """Native instruction files that the engine loads by itself."""


def to_json(receipt: Receipt) -> dict[str, Any]:
    """Turn a receipt into plain data for JSON."""
    return {
        "mode": receipt.mode,
        "reason": receipt.reason,
        "variant": receipt.variant,
        "budget": receipt.budget,
        "used": receipt.used,
        "tokens": receipt.tokens,
        "parity": receipt.parity,
        "window_start": receipt.window_start,
        "notes": list(receipt.notes),
        "sections": [_section_to_json(section) for section in receipt.sections],
        "unavailable": [{"source": gap.source, "why": gap.why} for gap in receipt.unavailable],
    }


def _section_to_json(section: SectionReceipt) -> dict[str, Any]:
    return {
        "kind": section.kind,
        "tier": section.tier,
        "need": section.need,
        "granted": section.granted,
        "used": section.used,
        "degraded": section.degraded,
        "dropped": section.dropped,
        "why": section.why,
        "digest": section.digest,
        "items": [_told_to_json(item) for item in section.items],
    }


def _told_to_json(item: Told) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": item.id,
        "resolution": item.resolution.value,
        "chars": item.chars,
        "digest": item.digest,
        "source": item.source,
        "trust": item.trust.value,
    }
    if item.author:
        row["author"] = item.author
    if item.key:
        row["key"] = item.key
    if item.full_chars:
        row["full_chars"] = item.full_chars
    return row


def from_json(data: Mapping[str, Any]) -> Receipt:
    """Read back what `to_json` wrote; raises KeyError or ValueError on anything else."""
    return Receipt(
        mode=data["mode"],
        reason=data["reason"],
        variant=data["variant"],
        budget=data["budget"],
        used=data["used"],
        tokens=data["tokens"],
        parity=data["parity"],
        window_start=data["window_start"],
        notes=tuple(data["notes"]),
        sections=tuple(_section_from_json(row) for row in data["sections"]),
        unavailable=tuple(Unavailable(row["source"], row["why"]) for row in data["unavailable"]),
    )


def _section_from_json(row: Mapping[str, Any]) -> SectionReceipt:
    items: Sequence[Mapping[str, Any]] = row["items"]
    return SectionReceipt(
        kind=row["kind"],
        tier=row["tier"],
        need=row["need"],
        granted=row["granted"],
        used=row["used"],
        degraded=row["degraded"],
        dropped=row["dropped"],
        why=row["why"],
        digest=row["digest"],
        items=tuple(
            Told(
                id=item["id"],
                resolution=Resolution(item["resolution"]),
                chars=item["chars"],
                digest=item["digest"],
                source=item["source"],
                trust=Trust(item["trust"]),
                author=item.get("author", ""),
                full_chars=item.get("full_chars", 0),
                key=item.get("key", ""),
            )
            for item in items
        ),
    )
