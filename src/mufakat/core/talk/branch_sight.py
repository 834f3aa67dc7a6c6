"""How much of each conversation may be told in another one, as far as branches limit it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mufakat.core.base import ConversationId
from mufakat.core.talk.branch import Branch, Status

ALL = 2**62
"""Above every message's number."""

Branches = Mapping[ConversationId, Branch]


def chain(branches: Branches, start: ConversationId) -> list[Branch]:
    """A branch and those that it came from, itself first; nothing for what is no branch."""
    found: list[Branch] = []
    at = branches.get(start)
    # A damaged store must not make this endless.
    while at is not None and at not in found:
        found.append(at)
        at = branches.get(at.parent)
    return found


def bounds(
    branches: Branches,
    viewer: ConversationId | None,
    *,
    linked: Collection[ConversationId] = (),
) -> dict[ConversationId, int]:
    """The last message of each conversation that may be told to those in `viewer`.

    0 tells nothing of it; conversations that no branch limits are not named. `branches` are all
    of the project; `linked` are conversations that a person has linked to the viewer.
    """
    own = _own(branches, viewer)
    found = {id: _bound(one, branches, own) for id, one in branches.items()}
    found.update(own)
    found.update({id: ALL for id in linked})
    found.update({id: 0 for id, one in branches.items() if one.status is Status.DELETED})
    return {id: limit for id, limit in found.items() if limit < ALL}


def for_person(branches: Branches) -> dict[ConversationId, int]:
    """The same for a person who looks for something: only what was deleted is not told."""
    return {id: 0 for id, one in branches.items() if one.status is Status.DELETED}


def _own(branches: Branches, viewer: ConversationId | None) -> dict[ConversationId, int]:
    """The viewer, and what it came from up to the checkpoints."""
    if viewer is None:
        return {}
    own = {viewer: ALL}
    for one in chain(branches, viewer):
        own[one.parent] = one.number
    return own


def _bound(one: Branch, branches: Branches, own: Mapping[ConversationId, int]) -> int:
    """Of a branch: all of it where each step to the viewer's own line was adopted in time."""
    if one.conversation in own:
        return own[one.conversation]
    for step in chain(branches, one.conversation):
        if not step.adopted:
            return 0
        if step.parent in own:
            return ALL if step.summary_number <= own[step.parent] else 0
    return ALL
