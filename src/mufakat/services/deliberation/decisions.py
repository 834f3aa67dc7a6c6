"""Decisions of tables: written when a table ends, told in every later pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mufakat.core.base import ConversationId, Event, ProjectId
from mufakat.core.deliberation import decision, merging, round
from mufakat.core.deliberation.decision import Decision
from mufakat.core.deliberation.merging import Merged
from mufakat.core.deliberation.round import Word
from mufakat.core.deliberation.roundtable import Roundtable
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction
from mufakat.services import branch_state

TOLD = 40
"""Decisions that a pack may tell: the conversation's own first, then the project's newest."""


def told(
    tx: Transaction, conversation: Conversation, *, scrub: Scrub, table: str = ""
) -> tuple[Decision, ...]:
    """What later requests are told; a table is told of its own claims by other means."""
    own = tx.decisions.of_conversation(conversation.id, limit=TOLD)
    others = _of_project(tx, conversation.project, conversation.id)
    found = {one.number: one for one in (*own, *others) if one.roundtable != table}
    return tuple(_clean(one, scrub) for one in list(found.values())[:TOLD])


def _of_project(tx: Transaction, project: ProjectId, viewer: ConversationId) -> list[Decision]:
    """The project's newest, without those of branches that the viewer may not hear of."""
    sight = branch_state.sight(tx, project, viewer)
    found = tx.decisions.of_project(project, limit=TOLD)
    return [one for one in found if branch_state.tells(tx, sight, one.conversation, at=one.created)]


def _clean(one: Decision, scrub: Scrub) -> Decision:
    return decision.without_secrets(one, lambda text: scrub(text).text)


def merged(tx: Transaction, table: Roundtable, *, until: int | None = None) -> Merged:
    """What a table stands at, after all rounds or those up to `until`."""
    words = tx.roundtables.words(table.id)
    kept = [one for one in words if until is None or one.round <= until]
    return of_words(table, kept, before=settled_before(tx, table))


def of_words(table: Roundtable, words: Sequence[Word], *, before: Mapping[str, str]) -> Merged:
    """Merge words that are at hand."""
    vendors = {seat.label: seat.vendor for seat in table.active}
    return merging.merge(vendors, round.stated(words), decisions=before)


def settled_before(tx: Transaction, table: Roundtable) -> dict[str, str]:
    """What was agreed at other tables of the project."""
    found = _of_project(tx, table.project, table.conversation)
    own = tx.decisions.of_conversation(table.conversation, limit=TOLD)
    every = {one.number: one for one in (*own, *found) if one.roundtable != table.id}
    return decision.settled(list(every.values()))


def record(tx: Transaction, table: Roundtable) -> Merged:
    """Write what a table came to, and what it reopened, in the step in which it ends."""
    result = merged(tx, table)
    names = {seat.label: seat.identity for seat in table.seats}
    known = {one.claim: one for one in tx.decisions.of_table(table.id)}
    for point in result.points:
        if not point.author:
            continue
        before = known.get(point.id) or _new(tx, table, point.id)
        after = decision.of_point(point, before, names=names, at=tx.now())
        after = decision.reopened(after, result, id=point.id, names=names, at=tx.now())
        if before.number:
            tx.decisions.keep(after)
        else:
            after = tx.decisions.add(after)
        _announce(tx, after)
    _reopen(tx, table, result, names)
    return result


def _new(tx: Transaction, table: Roundtable, claim: str) -> Decision:
    return Decision(
        project=table.project,
        number=0,
        conversation=table.conversation,
        roundtable=table.id,
        claim=claim,
        text="",
        outcome=merging.Outcome.OPEN,
        agree=(),
        against=(),
        created=tx.now(),
        updated=tx.now(),
    )


def _reopen(tx: Transaction, table: Roundtable, result: Merged, names: Mapping[str, str]) -> None:
    """Mark what other tables had agreed on and this one questions, with the reasons."""
    for id in dict.fromkeys(one.id for one in result.reopened if one.id.startswith("d:")):
        before = tx.decisions.get(table.project, int(id.removeprefix("d:")))
        if before is None:
            continue
        after = decision.reopened(before, result, id=id, names=names, at=tx.now())
        if after != before:
            tx.decisions.keep(after)
            _announce(tx, after)


def _announce(tx: Transaction, one: Decision) -> None:
    data = {
        "decision": one.id,
        "roundtable": one.roundtable,
        "conversation": one.conversation,
        "outcome": one.outcome.value,
        "standing": one.standing.value,
    }
    tx.events.record(Event("decision.recorded", f"{one.project}/{one.id}", data))
