"""Where branches stand, as every service that touches a conversation must ask."""

from __future__ import annotations

from collections.abc import Mapping

from mufakat.core.base import Conflict, ConversationId, Millis, NotFound, ProjectId
from mufakat.core.talk import branch, branch_sight
from mufakat.core.talk.branch import Act, Branch, Refused, Status
from mufakat.ports.store import Transaction


def refuse_gone(tx: Transaction, id: ConversationId) -> None:
    """Raise NotFound for a branch that was deleted."""
    found = tx.branches.get(id)
    if found is not None and found.status is Status.DELETED:
        raise NotFound(f"There is no conversation {id}.", fix="List them: mufakat conversations.")


def refuse_closed(tx: Transaction, id: ConversationId) -> None:
    """Raise Conflict for a branch in which nothing more is said."""
    found = tx.branches.get(id)
    if found is not None:
        check(branch.may(found, Act.ASK))


def check(refused: Branch | Refused | None) -> None:
    """Raise Conflict where something is refused."""
    if isinstance(refused, Refused):
        raise Conflict(refused.why, fix=refused.fix)


def sight(
    tx: Transaction, project: ProjectId, viewer: ConversationId | None, *, person: bool = False
) -> Mapping[ConversationId, int]:
    """The last message of conversations that may be told; see core.talk.branch_sight."""
    branches = tx.branches.every(project)
    if not branches:
        return {}
    if person:
        return branch_sight.for_person(branches)
    linked = {one.other for one in tx.links.of(viewer)} if viewer else set()
    return branch_sight.bounds(branches, viewer, linked=linked)


def tells(
    tx: Transaction, sight: Mapping[ConversationId, int], id: ConversationId, *, at: Millis
) -> bool:
    """Whether what came of a conversation at a time may be told, as `sight` limits it."""
    limit = sight.get(id)
    if limit is None:
        return True
    last = tx.messages.newest(id, before=limit + 1, limit=1, clip=1)
    return limit > 0 and bool(last) and at <= last[0].at


def busy(tx: Transaction, id: ConversationId) -> bool:
    """Whether a turn of the conversation is queued or runs."""
    return any(one.conversation == id for one in tx.turns.unfinished())
