"""Learning from turns which sections a project's agents use, and which they rather pull."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from mufakat.core.base import ProjectId
from mufakat.core.pack import assemble, pull, tiering
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.fill import Filled
from mufakat.core.pack.pull import Answer
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import table
from mufakat.core.pack.tiering import Decision, Seen, Use
from mufakat.ports.store import Transaction

SAID_CHARS = 400_000
"""Of an answer and its tool calls; a longer turn is judged by so much of it."""
PULLED_TIER = 2
USUAL = MappingProxyType(
    {row.kind: row.tier < PULLED_TIER for row in table.SECTIONS if row.kind in table.ADAPTIVE}
)
"""Whether a section's row has it pushed."""
SECTIONS = tuple(section for section in table.SECTIONS if section.kind in table.ADAPTIVE)


def learnt(tx: Transaction, project: ProjectId) -> tuple[Decision, ...]:
    """What a project's use says about its sections, with the numbers."""
    return tiering.learnt(tx.usage.of(project), usual=USUAL)


def seen(facts: Facts, pack: Pack, *, said: str, pulled: Sequence[Answer]) -> tuple[Seen, ...]:
    """What a turn made of every section that it was told, could have been told, or pulled."""
    told = {section.kind: section for section in pack.sections}
    found = [
        _seen(section, facts, told.get(section.kind), said=said[:SAID_CHARS], pulled=pulled)
        for section in SECTIONS
    ]
    return tuple(one for one in found if one is not None)


def learn(tx: Transaction, project: ProjectId, turns: Sequence[Seen]) -> None:
    """Count what a turn made of its sections."""
    for turn in turns:
        known = tx.usage.get(project, turn.kind) or Use(turn.kind, turn.push)
        tx.usage.keep(project, tiering.seen(known, turn))


def _seen(
    section: Section,
    facts: Facts,
    told: Filled | None,
    *,
    said: str,
    pulled: Sequence[Answer],
) -> Seen | None:
    mine = [one for one in pulled if _section(one) == section.kind and one.text]
    if told is None and not mine and not _could(section, facts):
        return None
    fence = facts.history.fence
    return Seen(
        section.kind,
        push=section.tier < PULLED_TIER,
        used=told is not None
        and any(
            tiering.names(piece.text.replace(fence, ""), id=piece.told.id, said=said)
            for piece in told.pieces
        ),
        pulled=bool(mine),
        pushed_chars=told.used if told else 0,
        pulled_chars=sum(len(one.text) for one in mine),
    )


def _could(section: Section, facts: Facts) -> bool:
    """Whether a section that was not told waited to be pulled."""
    if section.kind == "skills":
        return bool(facts.skills_index)
    if section.tier >= PULLED_TIER:
        return bool(facts.linked)
    held = any(one.kind == section.kind and not one.push for one in facts.tiering)
    choice = assemble.chosen(facts)
    return held and assemble.expected(section, choice, conditions=facts.conditions)


def _section(answer: Answer) -> str:
    kind = pull.kind_of(answer.want)
    return pull.SECTIONS.get(kind, "") if kind else ""
