"""Links between conversations: what was said elsewhere may be read here, and only by a link."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mufakat.core import text
from mufakat.core.base import (
    ConversationId,
    Event,
    InvalidInput,
    NotFound,
    ProjectId,
)
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge import link
from mufakat.core.knowledge.found import Found
from mufakat.core.knowledge.link import Link, Suggestion
from mufakat.core.pack import pull
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import TALK, Message
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import talk
from mufakat.services.coordination import pause
from mufakat.services.knowledge.gathering import Subject

SOURCE = "session"
MOST = 50
"""Links of one conversation."""
COMPARED = 100
"""Conversations of the project that are looked at for a suggestion, the newest ones."""
BEGINNING = 6
"""Messages that stand for what a conversation is about."""
CLIP = 600
LAST = 8
"""Messages at its end that a linked conversation is told by."""


@dataclass(frozen=True, slots=True)
class Linked:
    """A link, the conversation behind it, and what it still weighs."""

    link: Link
    conversation: Conversation
    weight: float


@dataclass(frozen=True, slots=True)
class Alike:
    """A conversation that may be worth a link."""

    conversation: Conversation
    score: float


class Links:
    """Makes, shows and takes back links, and reads through them."""

    def __init__(self, store: Store, scrub: Scrub) -> None:
        self._store = store
        self._scrub = scrub

    async def add(self, by: Principal, conversation: str, other: str) -> Linked:
        """Let those of a conversation read another one.

        An agent links within its own project; across projects only a person does.
        """

        def step(tx: Transaction) -> Linked:
            pause.refuse(tx, by)
            here, there = _seen(tx, by, conversation), _seen(tx, by, other)
            if here.id == there.id:
                raise InvalidInput("A conversation cannot be linked to itself.")
            if len(tx.links.of(here.id)) >= MOST:
                raise InvalidInput(f"A conversation has {MOST} links at most.", fix="Drop one.")
            made = Link(here.id, there.id, by.identity, tx.now())
            tx.links.keep(made)
            _announce(tx, "conversation.linked", here, there.id, by)
            return Linked(made, there, 1.0)

        return await self._store.write(step)

    async def drop(self, by: Principal, conversation: str, other: str) -> None:
        """Take a link back; raises NotFound where there is none."""

        def step(tx: Transaction) -> None:
            pause.refuse(tx, by)
            here = _seen(tx, by, conversation)
            known = [one.other for one in tx.links.of(here.id) if one.other.startswith(other)]
            if len(known) != 1 or not other:
                raise NotFound(f"There is no link to {other[:64]}.", fix="List them.")
            tx.links.drop(here.id, known[0])
            _announce(tx, "conversation.unlinked", here, known[0], by)

        await self._store.write(step)

    async def of(self, by: Principal, conversation: str) -> Sequence[Linked]:
        """The links of a conversation, the weightiest first."""
        return await self._store.read(lambda tx: _linked(tx, _seen(tx, by, conversation)))

    async def suggest(self, by: Principal, conversation: str, *, limit: int = 5) -> Sequence[Alike]:
        """Conversations of the same project that are alike and not linked yet."""

        def query(tx: Transaction) -> Sequence[Alike]:
            here = _seen(tx, by, conversation)
            known = {one.other for one in tx.links.of(here.id)} | {here.id}
            others = {
                one.id: one
                for one in tx.conversations.list(project=here.project, limit=COMPARED)
                if one.id not in known
            }
            about = {id: (_words(tx, one), one.updated) for id, one in others.items()}
            best = link.rank(_words(tx, here), about, tx.now(), limit=limit)
            return [_alike(one, others) for one in best]

        return await self._store.read(query)

    async def messages(
        self, by: Principal, conversation: str, other: str, *, after: int, limit: int
    ) -> Sequence[Message]:
        """Whole messages of a linked conversation, oldest first; raises NotFound without a link."""

        def query(tx: Transaction) -> Sequence[Message]:
            here = _seen(tx, by, conversation)
            if tx.links.get(here.id, ConversationId(other)) is None:
                raise NotFound(f"There is no link to {other[:64]}.", fix="List the links.")
            return tx.messages.page(ConversationId(other), after=after, limit=limit)

        return await self._store.read(query)

    async def source(self, subject: Subject) -> Sequence[Found]:
        """Linked conversations: what each is about, and how it ended; a pull names one.

        Raises NotFound for one that is not linked.
        """
        id = subject.conversation
        if id is None:
            return []

        def query(tx: Transaction) -> Sequence[tuple[Linked, Sequence[Message]]]:
            here = tx.conversations.get(id)
            linked = _linked(tx, here) if here else []
            if here and subject.whole:
                linked += _adopted(tx, here)
            return [(one, _ends(tx, one.conversation)) for one in linked]

        found = [self._found(one, said) for one, said in await self._store.read(query)]
        wanted = subject.text.strip()
        if not subject.whole:
            return found
        fits = [one for one in found if wanted and one.id.startswith(f"session:{wanted}")]
        if not fits:
            raise NotFound(f"There is no link to {wanted[:64]}.", fix="Ask a person to link it.")
        return fits[:1]

    def _found(self, linked: Linked, messages: Sequence[Message]) -> Found:
        one = linked.conversation
        day = datetime.fromtimestamp(one.updated / 1000, UTC).date()
        said = "\n".join(
            f"m:{said.number} {said.speaker}: {text.one_line(said.text, CLIP)}" for said in messages
        )
        head = f"{one.id} {text.one_line(one.title, 120)} · {one.talk} messages, last on {day}"
        return Found(
            id=f"session:{one.id}",
            source=SOURCE,
            head=self._scrub(head).text,
            text=self._scrub(said).text,
            author=linked.link.author,
            key=pull.key(pull.Kind.SESSION, one.id),
            worth=linked.weight,
            why="linked by hand",
        )


def _seen(tx: Transaction, by: Principal, id: str) -> Conversation:
    """A conversation in the caller's sight; raises NotFound for every other."""
    own = tx.instances.get(by.identity) if by.identity else None
    project: ProjectId | None = own.project if own else None
    found = talk.resolve(tx, id, project=project)
    if not by.operator and (own is None or found.project != project):
        raise NotFound(f"There is no conversation {id[:64]}.", fix="Ask for one of your project.")
    return found


def _linked(tx: Transaction, here: Conversation) -> list[Linked]:
    now = tx.now()
    found = []
    for one in tx.links.of(here.id):
        there = tx.conversations.get(one.other)
        if there is not None:
            found.append(Linked(one, there, link.weight(max(one.at, there.updated), now)))
    return sorted(found, key=lambda one: (-one.weight, one.conversation.id))


def _adopted(tx: Transaction, here: Conversation) -> list[Linked]:
    """Branches that a conversation has taken in: they may be read, and are not told unasked."""
    found = []
    for one in tx.branches.of(here.id):
        there = tx.conversations.get(one.conversation) if one.adopted else None
        if there is not None:
            found.append(Linked(Link(here.id, there.id, one.author, one.changed), there, 1.0))
    return found


def _words(tx: Transaction, one: Conversation) -> Counter[str]:
    first = tx.messages.page(one.id, after=0, limit=BEGINNING)
    return link.words([one.title, *(said.text[:CLIP] for said in first if said.kind in TALK)])


def _alike(one: Suggestion, others: dict[ConversationId, Conversation]) -> Alike:
    return Alike(others[one.conversation], one.score)


def _ends(tx: Transaction, one: Conversation) -> list[Message]:
    """Its first message and its last ones, tool traffic left out."""
    last = tx.messages.newest(one.id, before=one.messages + 1, limit=LAST * 4, clip=CLIP * 2)
    kept = [said for said in reversed(last) if said.kind in TALK][-LAST:]
    first = [said for said in tx.messages.page(one.id, after=0, limit=1) if said.kind in TALK]
    return [*(said for said in first if said.id not in {each.id for each in kept}), *kept]


def _announce(
    tx: Transaction, kind: str, here: Conversation, other: ConversationId, by: Principal
) -> None:
    data = {"conversation": here.id, "project": here.project, "other": other, "by": by.identity}
    tx.events.record(Event(kind, here.id, data))
