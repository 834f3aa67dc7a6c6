"""The store port: durable records, written one transaction at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from mufakat.core.audit import Anchor, Sealed
from mufakat.core.base import (
    AgentId,
    ConversationId,
    Event,
    LoggedEvent,
    MessageId,
    Millis,
    PackId,
    ProjectId,
    Revision,
    TurnId,
)
from mufakat.core.knowledge.topic import Line, Topic
from mufakat.core.pack.receipt import StoredPack
from mufakat.core.pack.tiering import Use
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation, Project
from mufakat.core.talk.message import Draft, Kind, Message, Said
from mufakat.core.talk.session import Session
from mufakat.core.talk.turn import Status, Turn
from mufakat.core.talk.usage import Usage
from mufakat.ports import coordination, deliberation, documents
from mufakat.ports.branches import Branches
from mufakat.ports.recall import Recall, Vectors

T = TypeVar("T")


class Projects(Protocol):
    """Folders that agents work on; one record a path."""

    def ensure(self, path: str, name: str, *, id: ProjectId) -> Project:
        """Answer the project of `path`, stored under `id` where it is new."""
        ...

    def get(self, id: ProjectId) -> Project | None: ...
    def list(self) -> Sequence[Project]: ...


class Conversations(Protocol):
    """Threads and their counters."""

    def add(self, conversation: Conversation) -> Conversation: ...
    def get(self, id: ConversationId) -> Conversation | None: ...
    def list(
        self, *, project: ProjectId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[Conversation]:
        """Newest first (by id, descending); `before` is the id where the page before ended.

        Branches that are archived or deleted are left out.
        """
        ...

    def find(self, prefix: str) -> Sequence[Conversation]:
        """Conversations whose id starts with `prefix`, at most ten."""
        ...

    def rename(self, id: ConversationId, title: str) -> None: ...

    def hold_window(self, id: ConversationId, start: int) -> None:
        """Keep the first message of the history window."""
        ...


class Messages(Protocol):
    """What was said; numbers are gapless per conversation and given out here."""

    def append(self, conversation: ConversationId, draft: Draft, *, id: MessageId) -> Message:
        """Store a message, count it, and keep it as its speaker's last."""
        ...

    def get(self, id: MessageId) -> Message | None:
        """The whole message; a damaged row raises StoreCorrupt instead of a wrong text."""
        ...

    def some(self, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
        """Several whole messages at once; one that there is not is left out."""
        ...

    def said(self, conversation: ConversationId, *, limit: int) -> Sequence[Said]:
        """Who spoke last, newest first."""
        ...

    def newest(
        self, conversation: ConversationId, *, before: int, limit: int, clip: int
    ) -> Sequence[Message]:
        """Up to `limit` messages numbered below `before`, newest first.

        Texts longer than `clip` characters come as their first 3/4 and last 1/4 of `clip`
        joined, with the true `chars`: see Message.whole.
        """
        ...

    def page(self, conversation: ConversationId, *, after: int, limit: int) -> Sequence[Message]:
        """Up to `limit` whole messages numbered above `after`, oldest first."""
        ...

    def talk(
        self, conversation: ConversationId, *, after: int, limit: int, clip: int
    ) -> Sequence[Message]:
        """What people and agents said above `after`, oldest first, clipped as in `newest`."""
        ...

    def last_by_speaker(self, conversation: ConversationId, *, clip: int) -> Sequence[Message]:
        """The last agent message of every agent, found by an index, not a scan."""
        ...

    def last_of_kind(
        self, conversation: ConversationId, kind: Kind, *, limit: int, clip: int
    ) -> Sequence[Message]:
        """The newest messages of one kind, newest first."""
        ...


class Agents(Protocol):
    """Agents of conversations, and their engines' sessions."""

    def find(
        self, conversation: ConversationId, *, engine: str, role: str, persona: str
    ) -> Agent | None: ...
    def add(self, agent: Agent) -> Agent: ...
    def get(self, id: AgentId) -> Agent | None: ...
    def list(self, conversation: ConversationId) -> Sequence[Agent]: ...
    def identities(self, prefix: str) -> frozenset[str]:
        """Every identity that starts with `prefix`."""
        ...

    def session(self, agent: AgentId) -> Session | None: ...
    def keep_session(self, session: Session) -> None: ...
    def drop_session(self, agent: AgentId) -> None: ...


class Turns(Protocol):
    """Jobs: every request to an agent, from acceptance to end."""

    def add(self, turn: Turn) -> Turn: ...
    def get(self, id: TurnId) -> Turn | None: ...
    def move(
        self,
        id: TurnId,
        to: Status,
        *,
        pack: PackId | None = None,
        answer: MessageId | None = None,
        usage: Usage | None = None,
        failure: str | None = None,
        message: str | None = None,
        process: str | None = None,
    ) -> Turn:
        """Change the status by the table of moves, and what is given with it.

        Raises Conflict where the turn is not in a state that may go there.
        """
        ...

    def unfinished(self) -> Sequence[Turn]: ...
    def list(
        self, *, conversation: ConversationId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[Turn]:
        """Newest first (by id, descending)."""
        ...

    def find(self, prefix: str) -> Sequence[Turn]: ...


class Packs(Protocol):
    """What each request was told; section texts are stored once, by hash."""

    def add(self, pack: StoredPack, texts: Sequence[str]) -> StoredPack:
        """Store a pack; `texts` are the bodies that its sections name by SHA-256."""
        ...

    def get(self, id: PackId) -> StoredPack | None: ...
    def list(
        self, *, conversation: ConversationId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[StoredPack]: ...
    def find(self, prefix: str) -> Sequence[StoredPack]: ...
    def text(self, digest: str) -> str | None: ...
    def keep_text(self, text: str) -> str:
        """Store a text and answer its SHA-256."""
        ...


class Events(Protocol):
    """The append-only log; revisions are gapless and in commit order."""

    def record(self, event: Event) -> Revision: ...
    def after(
        self, revision: Revision, *, limit: int, subject: str = "", kinds: Sequence[str] = ()
    ) -> Sequence[LoggedEvent]: ...
    def sealed(self, revision: Revision, *, limit: int) -> Sequence[Sealed]:
        """Events above a revision as they lie in the database, damaged ones too."""
        ...

    def anchor(self) -> Anchor:
        """What the whole log must come to, as the head row remembers it."""
        ...

    def head(self) -> Revision: ...
    def oldest(self) -> Revision:
        """The first revision still kept; 1 while nothing was compacted."""
        ...

    def epoch(self) -> str:
        """Changes when the store is created or restored."""
        ...


class Keys(Protocol):
    """Idempotency keys: the same key and request answer the first result again."""

    def find(self, key: str) -> tuple[str, str] | None:
        """The stored (request digest, result) of a key."""
        ...

    def keep(self, key: str, digest: str, result: str) -> None: ...


class Cursors(Protocol):
    """How far readers of something have come, that must not begin anew after a restart."""

    def get(self, name: str) -> int | None: ...
    def keep(self, name: str, position: int) -> None:
        """Store a cursor, or move it; it never goes back."""
        ...


class Topics(Protocol):
    """What older messages were condensed to; numbered within their conversation."""

    def get(self, conversation: ConversationId, number: int) -> Topic | None:
        """A topic with all its lines."""
        ...

    def list(
        self, conversation: ConversationId, *, after: int = 0, limit: int = 50
    ) -> Sequence[Topic]:
        """Topics numbered above `after` with all their lines, oldest first."""
        ...

    def heads(self, conversation: ConversationId, numbers: Sequence[int]) -> Sequence[Topic]:
        """Some topics without their lines, in any order; one that there is not is left out."""
        ...

    def newest(self, conversation: ConversationId) -> Topic | None: ...
    def keep(self, topic: Topic) -> None:
        """Store a topic, or what changed of its title, end and revocation; not its lines."""
        ...

    def line(self, conversation: ConversationId, id: str) -> Line | None: ...
    def keep_line(self, line: Line) -> None:
        """Store a line, in the place of what was there; its topic must be stored."""
        ...

    def drop_line(self, line: Line) -> None: ...
    def ranked(self, conversation: ConversationId) -> Sequence[Line]:
        """Lines that are told, by their rank."""
        ...

    def rank(self, conversation: ConversationId, ids: Sequence[str]) -> None:
        """Rank these lines in this order, and no others."""
        ...

    def best(self, conversation: ConversationId, *, limit: int) -> Sequence[Line]:
        """Live lines, those of most worth first."""
        ...

    def revoked(self, conversation: ConversationId, *, limit: int) -> Sequence[Line]:
        """Lines that were taken back, newest first."""
        ...

    def find(
        self, conversation: ConversationId, words: Sequence[str], *, limit: int
    ) -> Sequence[Line]:
        """Lines with any of the words, any case, newest topic first; revoked ones never."""
        ...


class Usages(Protocol):
    """What projects make of the sections of their packs: how often each is used, or pulled."""

    def of(self, project: ProjectId) -> Sequence[Use]:
        """All of a project, in order of their kinds."""
        ...

    def get(self, project: ProjectId, section: str) -> Use | None: ...
    def keep(self, project: ProjectId, use: Use) -> None:
        """Store the counts of a section, in the place of what was known."""
        ...


class Transaction(Protocol):
    """All records inside one transaction; valid only within the step that got it."""

    projects: Projects
    conversations: Conversations
    messages: Messages
    agents: Agents
    turns: Turns
    packs: Packs
    events: Events
    keys: Keys
    cursors: Cursors
    instances: coordination.Instances
    credentials: coordination.Credentials
    members: coordination.Members
    inbox: coordination.Inbox
    leases: coordination.Leases
    gates: coordination.Gates
    notices: coordination.Notices
    reactions: coordination.Reactions
    rooms: coordination.Rooms
    recall: Recall
    topics: Topics
    consents: documents.Consents
    notes: documents.Notes
    links: documents.Links
    imports: documents.Imports
    usage: Usages
    vectors: Vectors
    roundtables: deliberation.Roundtables
    decisions: deliberation.Decisions
    branches: Branches

    def now(self) -> Millis:
        """The store's high-water clock: never behind anything it answered before."""
        ...


@dataclass(frozen=True, slots=True)
class Health:
    """What a check of the store found; empty `problems` means sound."""

    problems: tuple[str, ...]
    facts: tuple[tuple[str, str], ...] = ()


class Store(Protocol):
    """A durable store with one writer."""

    @property
    def away(self) -> bool:
        """Whether the database is out of reach just now: nothing can be read or written."""
        ...

    async def write(self, step: Callable[[Transaction], T]) -> T:
        """Run a plain function in one transaction and commit; when it raises, nothing remains."""
        ...

    async def read(self, query: Callable[[Transaction], T]) -> T:
        """Run a plain function on a consistent snapshot that cannot be written to."""
        ...

    async def glance(self, query: Callable[[Transaction], T]) -> T:
        """Run what reads a few rows by their keys, at once where that is cheap.

        Unlike with `read`, two of its queries may see two states.
        """
        ...

    async def wait(self, after: Revision, *, seconds: float) -> Revision:
        """Wait until the log has grown beyond `after` or the time is over; answer its head."""
        ...

    async def backup(self, target: Path) -> Path:
        """Write a verified copy and answer its path; the server goes on meanwhile."""
        ...

    async def check(self, *, deep: bool = False) -> Health: ...
    async def close(self) -> None: ...


Opened = Callable[[], Awaitable[Store]]
