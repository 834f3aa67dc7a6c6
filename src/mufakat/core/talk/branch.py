"""A branch: a conversation that goes its own way from one message of another."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from mufakat.core.base import ConversationId, MessageId, Millis, ProjectId
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Message

MOST_DEEP = 8
"""Branches of branches, counted from the conversation that is none."""
MOST = 100
"""Living branches that begin in one conversation."""
TITLE_CHARS = 200


class Status(StrEnum):
    """Where a branch stands; only an open one is talked in."""

    OPEN = "open"
    ADOPTED = "adopted"
    ARCHIVED = "archived"
    DELETED = "deleted"


class Act(StrEnum):
    """What can be done with a branch."""

    ASK = "ask"
    BRANCH = "branch"
    ADOPT = "adopt"
    ARCHIVE = "archive"
    DELETE = "delete"
    RENAME = "rename"


@dataclass(frozen=True, slots=True)
class Branch:
    """What makes a conversation a branch of another."""

    conversation: ConversationId
    parent: ConversationId
    checkpoint: MessageId
    number: int
    """Of the checkpoint in the parent; what was said there later is never told here."""
    depth: int
    """1 for a branch of a conversation that is none. It is one more than the parent's, so that
    no chain of parents can come back to where it began."""
    project: ProjectId
    author: str
    created: Millis
    changed: Millis
    status: Status = Status.OPEN
    summary: str = ""
    """Id of the message by which the parent adopted it; empty while it did not."""
    summary_number: int = 0
    """Of that message in the parent."""

    @property
    def adopted(self) -> bool:
        """Whether what was said here may be known outside; archiving does not take it back."""
        return bool(self.summary) and self.status is not Status.DELETED

    @property
    def hidden(self) -> bool:
        """Whether lists leave it out where nobody asks for all."""
        return self.status in (Status.ARCHIVED, Status.DELETED)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why something cannot be done with a branch now."""

    why: str
    fix: str


_CLOSED = "branch anew from one of its messages: mufakat branch new"
_RULES: Mapping[Act, frozenset[Status]] = MappingProxyType(
    {
        Act.ASK: frozenset({Status.OPEN}),
        Act.BRANCH: frozenset({Status.OPEN, Status.ADOPTED, Status.ARCHIVED}),
        Act.ADOPT: frozenset({Status.OPEN, Status.ARCHIVED}),
        Act.ARCHIVE: frozenset({Status.OPEN, Status.ADOPTED}),
        Act.DELETE: frozenset({Status.OPEN, Status.ADOPTED, Status.ARCHIVED}),
        Act.RENAME: frozenset({Status.OPEN, Status.ADOPTED, Status.ARCHIVED}),
    }
)
_QUIET = frozenset({Act.ADOPT, Act.ARCHIVE, Act.DELETE})
"""Acts that wait until no turn of the branch is under way."""


def may(
    branch: Branch,
    act: Act,
    *,
    above: Branch | None = None,
    busy: bool = False,
    branches: int = 0,
) -> Refused | None:
    """Why an act is refused; None where it may be done.

    `above` is the branch that it came from, where it came from one; `busy` says that a turn of
    the branch is queued or runs; `branches` is how many living ones begin in it.
    """
    if branch.status not in _RULES[act] or (act is Act.ADOPT and branch.summary):
        state = Status.ADOPTED if branch.summary and act is Act.ADOPT else branch.status
        return Refused(f"The branch is {state.value}.", _CLOSED)
    if act is Act.ADOPT and above is not None and above.status is not Status.OPEN:
        return Refused(f"The branch it came from is {above.status.value}.", _CLOSED)
    if busy and act in _QUIET:
        return Refused(
            "A turn of the branch is under way.",
            "wait for it, or cancel it: mufakat turns cancel",
        )
    if branches and act is Act.DELETE:
        plural = "branch begins" if branches == 1 else "branches begin"
        return Refused(f"{branches} {plural} in it.", "delete those first")
    return None


def begin(
    conversation: Conversation,
    at: Message,
    *,
    above: Branch | None,
    author: str,
    now: Millis,
    branches: int = 0,
) -> Branch | Refused:
    """Make a new conversation a branch from the message `at`.

    `above` is the branch that the message stands in, None where it stands in none; `branches`
    is how many living ones begin there already.
    """
    refused = may(above, Act.BRANCH) if above else None
    if refused is not None:
        return refused
    if branches >= MOST:
        return Refused(f"{MOST} branches begin there already.", "delete those that are done with")
    depth = above.depth + 1 if above else 1
    if depth > MOST_DEEP:
        return Refused(
            f"It would be {depth} branches deep; at most {MOST_DEEP} are taken.",
            "adopt a branch, and branch from where it was adopted",
        )
    return Branch(
        conversation.id,
        at.conversation,
        at.id,
        at.number,
        depth,
        conversation.project,
        author,
        now,
        now,
    )


def adopted(branch: Branch, summary: Message, *, now: Millis) -> Branch:
    """The branch once its parent has taken `summary` in."""
    return dataclasses.replace(
        branch,
        status=Status.ADOPTED,
        summary=summary.id,
        summary_number=summary.number,
        changed=now,
    )


def moved(branch: Branch, to: Status, *, now: Millis) -> Branch:
    """The branch in another state."""
    return dataclasses.replace(branch, status=to, changed=now)


def title(text: str) -> str | Refused:
    """A title on one line, or why it is none."""
    line = " ".join(text.split())
    if not line:
        return Refused("The title is empty.", "give it a name")
    if len(line) > TITLE_CHARS:
        return Refused(
            f"The title has {len(line)} characters.", f"give it at most {TITLE_CHARS} characters"
        )
    return line


def tree(
    branches: Sequence[Branch], *, top: ConversationId | None = None, archived: bool = False
) -> list[Branch]:
    """Branches in the order of a tree: each after what it came from, oldest first.

    Those below the conversation `top`, else all; archived ones where wanted, deleted ones never.
    """
    below: dict[ConversationId, list[Branch]] = {}
    for one in sorted(branches, key=lambda one: (one.created, one.conversation)):
        if one.status is not Status.DELETED:
            below.setdefault(one.parent, []).append(one)
    inner = {one.conversation for one in branches}
    roots = [top] if top else [id for id in below if id not in inner]
    found: list[Branch] = []
    waiting = [one for id in reversed(roots) for one in reversed(below.get(id, ()))]
    while waiting:
        one = waiting.pop()
        if archived or not one.hidden:
            found.append(one)
        waiting += reversed(below.pop(one.conversation, []))
    return found
