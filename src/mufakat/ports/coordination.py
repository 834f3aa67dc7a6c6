"""The coordination records of the store: instances, inboxes, leases, waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from mufakat.core.base import ConversationId, MessageId, Millis, ProjectId
from mufakat.core.coordination.gate import Turn
from mufakat.core.coordination.inbox import Delivery, Envelope, Status
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.lease import Lease, Waiter
from mufakat.core.coordination.notice import Notice
from mufakat.core.coordination.waiting import Reaction


class Life(StrEnum):
    """Whether a credential still opens the door."""

    LIVE = "live"
    SUPERSEDED = "superseded"
    """The same session joined again."""
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Credential:
    """A bearer, as its hash; what it may do is what its instance may do.

    That an instance was granted its role is kept as one too, which no token can have as its hash.
    """

    digest: str
    """SHA-256 of the token, hex; of a granted role the words that say so."""
    identity: str
    epoch: int
    life: Life
    run: str = ""
    """The run that it ends with; empty for one that lives as long as the instance."""
    created: Millis = Millis(0)


@dataclass(frozen=True, slots=True)
class Member:
    """An instance that follows a thread, and how far it has been told of it."""

    conversation: ConversationId
    identity: str
    cursor: int
    """Number of the last message it was told."""


class Instances(Protocol):
    """Everybody who takes part; rows are never deleted."""

    def get(self, identity: str) -> Instance | None: ...
    def keep(self, instance: Instance) -> None:
        """Store a new instance or the changed one.

        Of an inbox only `acked` is taken, and only upwards: `inbox_head` is counted by `deliver`.
        """
        ...

    def find(self, prefix: str) -> Sequence[Instance]:
        """Instances whose identity starts with `prefix`, at most ten."""
        ...

    def named(self, alias: str) -> Sequence[Instance]:
        """Instances with that alias."""
        ...

    def by_session(self, engine: str, host: str, *, session: str) -> Instance | None:
        """The newest instance that runs an engine's session."""
        ...

    def list(
        self, *, project: ProjectId | None = None, online: bool = False, limit: int = 200
    ) -> Sequence[Instance]:
        """Newest call first; `online` leaves out those whose state is offline."""
        ...

    def in_role(self, role: str, *, project: ProjectId | None) -> Sequence[Instance]:
        """Instances in a role that are not offline."""
        ...


class Credentials(Protocol):
    """Hashes of bearers."""

    def get(self, digest: str) -> Credential | None: ...
    def add(self, credential: Credential) -> None: ...
    def end(self, identity: str, life: Life, *, run: str | None = None) -> int:
        """End all live ones of an identity, or those of one run; answer how many."""
        ...


class Members(Protocol):
    """Who follows which thread."""

    def join(self, member: Member) -> bool:
        """Follow a thread; False where it is followed already, which changes nothing."""
        ...

    def leave(self, conversation: ConversationId, identity: str) -> None: ...
    def threads(self, identity: str) -> Sequence[Member]: ...
    def of(self, conversation: ConversationId) -> Sequence[Member]: ...
    def told(self, conversation: ConversationId, identity: str, *, cursor: int) -> None:
        """Move a cursor forward; it never goes back."""
        ...


class Inbox(Protocol):
    """Envelopes and deliveries; numbers are gapless per recipient and given out here."""

    def send(self, envelope: Envelope) -> None: ...
    def envelope(self, message: MessageId) -> Envelope | None: ...
    def envelopes(self, messages: Sequence[MessageId]) -> Mapping[MessageId, Envelope]:
        """Several at once; one that there is not is left out."""
        ...

    def keep_envelope(self, envelope: Envelope) -> None: ...
    def deliver(self, delivery: Delivery) -> Delivery:
        """Put a message into an inbox under its next number; a held one gets none.

        Raises NotFound for an unknown recipient or envelope, Conflict where it is there already.
        """
        ...

    def get(self, recipient: str, message: MessageId) -> Delivery | None: ...
    def among(self, recipient: str, messages: Sequence[MessageId]) -> Sequence[Delivery]:
        """Which of some messages are in an inbox, in no order."""
        ...

    def keep(self, delivery: Delivery) -> None:
        """Store how far a message got; its number stays."""
        ...

    def page(
        self, recipient: str, *, after: int = 0, open_only: bool = False, limit: int = 100
    ) -> Sequence[Delivery]:
        """By number, oldest first."""
        ...

    def held(self, name: str) -> Sequence[Delivery]:
        """Deliveries that wait for an identity, role or alias to join."""
        ...

    def of(self, message: MessageId) -> Sequence[Delivery]: ...
    def sent_by(self, sender: str, *, after: Millis, limit: int = 100) -> Sequence[Envelope]:
        """Sent later than `after`, oldest first."""
        ...

    def due(self, now: Millis) -> Sequence[Envelope]:
        """Envelopes whose deadline or expiry has passed and that are not closed, oldest first.

        The deadline counts until everybody has answered or the sender was told (`watched`), the
        expiry until nobody has it open.
        """
        ...

    def earliest(self) -> Millis | None:
        """When the next deadline, expiry or offer of a message that is not closed runs out."""
        ...

    def awaited_from(self, recipient: str) -> Sequence[Envelope]:
        """Unwatched requests that this recipient has not answered."""
        ...

    def with_status(self, status: Status, *, limit: int = 100) -> Sequence[Delivery]:
        """Newest first, over all inboxes."""
        ...

    def unread(self) -> int:
        """Messages in all inboxes that nobody has been shown."""
        ...


class Leases(Protocol):
    """Grants, the counters of their fences, and who waits."""

    def next_fence(self, resource: str) -> int:
        """Count a resource's fence on and answer it: generation << 40 | counter."""
        ...

    def fence(self, resource: str) -> int:
        """The newest fence of a resource; 0 where it was never granted."""
        ...

    def keep(self, lease: Lease) -> None: ...
    def get(self, id: str) -> Lease | None: ...
    def find(self, prefix: str) -> Sequence[Lease]: ...
    def live(self) -> Sequence[Lease]:
        """Not ended, or ended with a lock that still runs; oldest first."""
        ...

    def touching(self, resources: Sequence[str]) -> Sequence[Lease]:
        """Live leases that may conflict: on these very keys, or on patterns that begin alike."""
        ...

    def rested(self, since: Millis) -> Sequence[Lease]:
        """Ended with a lock that ran out at `since` or later, oldest first."""
        ...

    def of(self, holder: str) -> Sequence[Lease]:
        """Not ended, oldest first."""
        ...

    def held(self, holder: str) -> int:
        """How many did not end."""
        ...

    def past_half(self, holder: str) -> bool:
        """Whether one that did not end has less than half of its time left."""
        ...

    def earliest(self) -> Millis | None:
        """When the next lease expires, is preempted or must be claimed, or a waiter gives up.

        Also when the next lock runs out.
        """
        ...

    def waiters(self) -> Sequence[Waiter]:
        """In order of arrival."""
        ...

    def enqueue(self, waiter: Waiter) -> None: ...
    def dequeue(self, id: str) -> None: ...


class Gates(Protocol):
    """How often each turn was held."""

    def get(self, identity: str, *, session: str, turn: str) -> Turn | None: ...
    def keep(self, turn: Turn) -> None: ...


class Notices(Protocol):
    """Shared facts, newest per key."""

    def keep(self, notice: Notice) -> None: ...
    def drop(self, project: ProjectId, key: str) -> bool: ...
    def live(self, project: ProjectId, now: Millis) -> Sequence[Notice]:
        """Not expired, newest first."""
        ...


class Reactions(Protocol):
    """Stored rules."""

    def keep(self, reaction: Reaction) -> None: ...
    def get(self, id: str) -> Reaction | None: ...
    def active(self) -> Sequence[Reaction]:
        """Not done, or with something still pending; oldest first."""
        ...


class Rooms(Protocol):
    """The thread of a project where messages go that name none."""

    def get(self, project: ProjectId) -> ConversationId | None: ...
    def keep(self, project: ProjectId, conversation: ConversationId) -> None: ...
