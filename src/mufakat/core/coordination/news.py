"""News: everything that a digest for one reader is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import ConversationId, Millis, Revision
from mufakat.core.coordination.inbox import Letter
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.notice import Notice
from mufakat.core.talk.message import Message


@dataclass(frozen=True, slots=True)
class News:
    """Everything that may go into a digest; nothing else decides its text."""

    identity: str
    """Of the reader."""
    now: Millis
    fence: str
    """Random text that marks quoted words; stripped from them."""
    since: Revision = Revision(0)
    unread: Sequence[Letter] = ()
    """Oldest first."""
    said: Sequence[Message] = ()
    """Newest messages of joined threads above the reader's cursors, newest first."""
    last_words: Sequence[Message] = ()
    """The last message of every other agent of those threads."""
    decisions: Sequence[Letter] = ()
    agents: Sequence[Instance] = ()
    """Others of the project that are not offline, or went offline since."""
    waits_for: frozenset[str] = frozenset()
    """Identities that the reader waits for."""
    leases: Sequence[Lease] = ()
    """Live leases of others that touch the reader's files or that it waits for."""
    notices: Sequence[Notice] = ()
    open_requests: Sequence[Letter] = ()
    """Shown before, not answered yet."""
    more_unread: int = 0
    """How many more letters there are than were loaded."""
    older: int = 0
    """How many more messages of threads there are than were loaded."""
    heads: Sequence[tuple[ConversationId, int]] = ()
    """Newest message of each joined thread with something above the reader's cursor."""
    epoch: int = 0
    """Of the reader's session."""
    revision: Revision = Revision(0)
    """Of the log, when this was read."""
