"""Decisions: what tables came to, kept so that nobody has to argue it again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mufakat.core.base import ConversationId, Millis, ProjectId, RoundtableId
from mufakat.core.deliberation.merging import Merged, Outcome, Point


class Standing(StrEnum):
    """Whether a decision still holds."""

    STANDS = "stands"
    REOPENED = "reopened"


@dataclass(frozen=True, slots=True)
class Objection:
    """Who did not agree, by identity, and why."""

    identity: str
    outcome: Outcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """One claim of one table, and what it came to; `number` is gapless within its project."""

    project: ProjectId
    number: int
    conversation: ConversationId
    roundtable: RoundtableId
    claim: str
    text: str
    outcome: Outcome
    agree: tuple[str, ...]
    """Identities."""
    against: tuple[Objection, ...]
    created: Millis
    updated: Millis
    standing: Standing = Standing.STANDS
    reason: str = ""
    """Why it was reopened, each time it was: who, in which round, and what they said."""

    @property
    def id(self) -> str:
        return f"d:{self.number}"


def settled(decisions: Sequence[Decision]) -> dict[str, str]:
    """Texts of what is agreed, by id."""
    return {
        one.id: one.text
        for one in decisions
        if one.outcome is Outcome.AGREED and one.standing is Standing.STANDS
    }


def without_secrets(one: Decision, clean: Callable[[str], str]) -> Decision:
    """A decision as it may be told."""
    return dataclasses.replace(
        one,
        text=clean(one.text),
        reason=clean(one.reason),
        against=tuple(dataclasses.replace(each, why=clean(each.why)) for each in one.against),
    )


def of_point(point: Point, before: Decision, *, names: Mapping[str, str], at: Millis) -> Decision:
    """A decision as a table leaves it; `names` are identities by letter."""
    return dataclasses.replace(
        before,
        text=point.text,
        outcome=point.outcome,
        agree=tuple(names[seat] for seat in point.agree),
        against=tuple(Objection(names[one.seat], one.outcome, one.why) for one in point.against),
        updated=at,
    )


def reopened(
    before: Decision, merged: Merged, *, id: str, names: Mapping[str, str], at: Millis
) -> Decision:
    """A decision that seats have questioned, with who did and why; the same where nobody has."""
    reasons = [
        f"{names[one.seat]}: {one.why}"
        for one in merged.reopened
        if one.id == id and f"{names[one.seat]}: {one.why}" not in before.reason
    ]
    point = next((one for one in merged.points if one.id == id), None)
    if not reasons or point is None:
        return before
    holds = point.outcome is Outcome.AGREED
    return dataclasses.replace(
        before,
        standing=Standing.STANDS if holds else Standing.REOPENED,
        against=tuple(Objection(names[one.seat], one.outcome, one.why) for one in point.against),
        reason="; ".join(part for part in (before.reason, *reasons) if part),
        updated=at,
    )
