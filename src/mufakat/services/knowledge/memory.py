"""The compressed memory of conversations: made in the background, told, searched, taken back."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from mufakat.core.base import ConversationId, Event, InvalidInput, NotFound
from mufakat.core.knowledge import briefing, topic
from mufakat.core.knowledge.found import Found
from mufakat.core.knowledge.topic import Line, Topic
from mufakat.core.pack.facts import DEFAULT_BUDGET
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import talk
from mufakat.services.knowledge import condensing, memory_search
from mufakat.services.knowledge.compressor import Compressor
from mufakat.services.knowledge.condensing import Refreshed
from mufakat.services.knowledge.gathering import Subject

FOUND = 20


@dataclass(frozen=True, slots=True)
class Revoked:
    """What was taken back: topics and lines by their ids, and lines that hold again."""

    ids: tuple[str, ...]
    restored: tuple[str, ...] = ()


class Memory:
    """What conversations came to; messages themselves are never changed by it."""

    def __init__(self, store: Store, scrub: Scrub, *, compressor: Compressor | None = None) -> None:
        """Without `compressor`, everything is done by rule."""
        self._store = store
        self._scrub = scrub
        self._compressor = compressor

    async def refresh(self, conversation: str, *, pause: float = 0) -> Refreshed:
        """Condense what has become old; nothing where too little is new, and then it says so.

        `pause` are seconds after each part, for work that nobody waits for.
        """
        id = (await self._store.read(lambda tx: talk.resolve(tx, conversation))).id
        engine = self._compressor is not None
        total = Refreshed()
        while True:
            plan = await self._store.read(lambda tx: condensing.plan(tx, id, scrub=self._scrub))
            if plan is None:
                break
            total += await self._store.write(partial(condensing.save, made=plan, engine=engine))
            await asyncio.sleep(pause)
        if self._compressor is not None:
            await self._compressor.refine(id)
        waits = await self._store.read(lambda tx: condensing.waits_for(tx, id))
        return dataclasses.replace(total, waits_for=waits)

    async def due(self, id: ConversationId) -> bool:
        """Whether there is something to condense, by rule or by the model."""
        return await self._store.read(lambda tx: condensing.due(tx, id))

    def close(self) -> None:
        """End a model's run; it is done after the next start."""
        if self._compressor is not None:
            self._compressor.close()

    async def topics(
        self, conversation: str, *, after: int = 0, limit: int = 50
    ) -> Sequence[Topic]:
        """The topics of a conversation, oldest first; revoked ones too."""
        return await self._store.read(
            lambda tx: tx.topics.list(talk.resolve(tx, conversation).id, after=after, limit=limit)
        )

    async def search(self, conversation: str, query: str, *, limit: int = FOUND) -> Sequence[Line]:
        """Lines that have words of the query, best first; superseded ones too, revoked ones not."""
        return await self._store.read(
            lambda tx: memory_search.search(tx, talk.resolve(tx, conversation).id, query, limit)
        )

    async def revoke(self, conversation: str, entry: str, *, by: str) -> Revoked:
        """Take a topic (`7`) or a line (`7.2`) back, with everything that was derived from it."""
        entry = entry.removeprefix(topic.PREFIX)
        return await self._store.write(
            lambda tx: revoke(tx, talk.resolve(tx, conversation), entry, by=by)
        )

    async def find(self, subject: Subject) -> Sequence[Found]:
        """Answer a pull: a topic by its number, or the topics that have words of the query."""
        conversation = subject.conversation
        if conversation is None:
            return []
        return await self._store.read(lambda tx: memory_search.pull(tx, conversation, subject.text))


def facts(tx: Transaction, conversation: Conversation) -> Sequence[Found]:
    """What a pack tells of a conversation before its window, one item a topic.

    The window itself is told word for word; as it moves in steps, so does this.
    """
    before = _window(conversation)
    if before <= 1:
        return []
    ranked = [line for line in tx.topics.ranked(conversation.id) if line.live]
    heads = tx.topics.heads(conversation.id, sorted({line.topic for line in ranked}))
    known = {one.number: one for one in heads if not one.revoked}
    ranked = [line for line in ranked if line.topic in known]
    titles = {number: one.title for number, one in known.items()}
    return briefing.found(briefing.within(ranked, titles, before=before), known)


def _window(conversation: Conversation) -> int:
    """The first message of the window; estimated for a conversation that had none yet."""
    if conversation.window_start > 1 or conversation.chars <= DEFAULT_BUDGET:
        return conversation.window_start
    return conversation.messages - conversation.messages * DEFAULT_BUDGET // conversation.chars


def revoke(tx: Transaction, conversation: Conversation, entry: str, *, by: str) -> Revoked:
    """Take an entry back in one step; raises NotFound."""
    lines = _entry(tx, conversation.id, entry)
    gone = {line.id: line for line in [*lines, *_derived(tx, conversation.id, lines)]}
    restored: list[str] = []
    for line in gone.values():
        tx.topics.keep_line(dataclasses.replace(line, revoked=by, rank=0))
        restored += _restore(tx, line, gone)
    ids = list(gone)
    if entry.isdigit():
        found = tx.topics.get(conversation.id, int(entry))
        if found is not None:
            tx.topics.keep(dataclasses.replace(found, revoked=by, updated=tx.now()))
            ids = [entry, *ids]
    condensing.rank(tx, conversation.id)
    data = {
        "conversation": conversation.id, "entries": ids[:50], "by": by, "restored": restored[:50],
    }  # fmt: skip
    tx.events.record(Event("memory.revoked", conversation.id, data))
    return Revoked(tuple(ids), tuple(restored))


def _entry(tx: Transaction, id: ConversationId, entry: str) -> list[Line]:
    number, dot, of = entry.partition(".")
    if not (_number(number) and (not dot or _number(of))):
        raise InvalidInput(f"{entry[:80]!r} is no entry.", fix="Give a topic, 7, or a line, 7.2.")
    if dot:
        line = tx.topics.line(id, entry)
        if line is not None:
            return [line]
    else:
        found = tx.topics.get(id, int(number))
        if found is not None:
            return list(found.lines)
    raise NotFound(
        f"There is no entry {entry} in this memory.", fix=f"See: mufakat memory show {id}"
    )


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _derived(tx: Transaction, id: ConversationId, lines: Sequence[Line]) -> list[Line]:
    """Lines that a model wrote with one of the same messages before it.

    They lie in topics that share messages, which are neighbours of each other.
    """
    sources = {one.id for line in lines if line.author == topic.BY_RULE for one in line.sources}
    if not sources:
        return []
    topics = {line.topic for line in lines}
    near = tx.topics.list(id, after=min(topics) - 2, limit=max(topics) - min(topics) + 3)
    return [
        other
        for one in near
        for other in one.lines
        if other.author != topic.BY_RULE and any(source.id in sources for source in other.sources)
    ]


def _restore(tx: Transaction, line: Line, gone: dict[str, Line]) -> list[str]:
    """What a line replaced holds again, as if the line had never been."""
    old = tx.topics.line(line.conversation, line.supersedes) if line.supersedes else None
    if old is None or old.superseded_by != line.id or old.id in gone:
        return []
    tx.topics.keep_line(dataclasses.replace(old, superseded_by=""))
    return [old.id]
