"""The team chat bridge: hears what people say there, and posts what is said here, in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.base import Event, MufakatError, NotFound, Revision
from mufakat.core.coordination import chat, flood
from mufakat.core.coordination.chat import Heard, Line, Link
from mufakat.core.coordination.flood import Rates
from mufakat.core.coordination.inbox import UNREAD, Path, Status
from mufakat.core.talk.message import TALK, Message
from mufakat.ports.chat import Chat, Later, Posted, Refused
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import chat_hearing, marks
from mufakat.services.coordination.chat_hearing import Taken
from mufakat.services.coordination.meter import Meter

log = logging.getLogger(__name__)
PAGE = 50
QUIET = 60.0
"""Seconds without a look where nothing happens."""
GATHER = 0.05
FIRST, LONGEST = 1.0, 300.0
"""Seconds of the first pause after a failure, and of the longest; each is twice the one before."""


@dataclass(frozen=True, slots=True)
class Next:
    """What a link has to post: a line, or nothing up to a number."""

    head: Revision
    number: int
    line: Line | None = None


class Bridge:
    """Keeps channels and conversations together; one task a link, none of which holds another."""

    def __init__(
        self,
        store: Store,
        scrub: Scrub,
        *,
        links: Sequence[Link] = (),
        chat: Chat | None = None,
        first_pause: float = FIRST,
    ) -> None:
        """Without `chat` nothing is posted; `first_pause` in seconds."""
        self._store = store
        self._scrub = scrub
        self._links = tuple(links)
        self._chat = chat
        self._first = first_pause
        self._meter = Meter(Rates())
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to post what stands in the conversations and not yet in the chat."""
        if self._chat is not None:
            self._tasks = [
                asyncio.create_task(self._run(link, self._chat), name=f"chat-{link.name}")
                for link in self._links
            ]

    async def close(self) -> None:
        """Stop; what was not posted is posted after the next start."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        self._tasks = []

    def knows(self, name: str) -> bool:
        """Whether a channel of that name is linked."""
        return any(link.name == name for link in self._links)

    async def take(self, heard: Heard) -> Taken:
        """Keep what a person said; raises NotFound where its channel is not linked."""
        link = self._link(heard)
        return await self._store.write(
            lambda tx: chat_hearing.take(tx, link, heard, scrub=self._scrub, meter=self._meter)
        )

    def channel(self, name: str) -> str:
        """The chat's id of the channel that the settings call so; raises NotFound."""
        for link in self._links:
            if link.name == name:
                return link.channel
        raise NotFound(f"No channel is linked as {name}.", fix="See [chat] in the settings.")

    def _link(self, heard: Heard) -> Link:
        """The link of a thread, else that of its channel."""
        found = [link for link in self._links if link.channel == heard.channel]
        for thread in (heard.thread or heard.stamp, ""):
            for link in found:
                if link.thread == thread:
                    return link
        raise NotFound("This channel is not linked.", fix="See [chat] in the settings.")

    async def _run(self, link: Link, to: Chat) -> None:
        pause = self._first
        at: int | None = None
        while True:
            try:
                at = await self._begin(link) if at is None else await self._turn(link, to, at=at)
                pause = self._first
                continue
            except _Wait as wait:
                seconds = pause if wait.seconds is None else wait.seconds
                log.warning("chat %s: %s; again in %.0f s", link.name, wait, seconds)
            except MufakatError as problem:
                seconds = pause
                log.warning("chat %s: %s", link.name, problem)
            except Exception:
                # A fault in one message must not end the bridge for as long as we run.
                seconds = pause
                log.exception("chat %s failed", link.name)
            await asyncio.sleep(seconds)
            pause = min(LONGEST, pause * 2)

    async def _begin(self, link: Link) -> int:
        """How far the channel has been told; a new link begins with what comes now."""
        found = await self._store.read(lambda tx: tx.cursors.get(_cursor(link)))
        if found is not None:
            return found

        def step(tx: Transaction) -> int:
            place = chat_hearing.conversation(tx, link)
            start = chat_hearing.begins_at(tx, place.id)
            tx.cursors.keep(_cursor(link), start)
            return start

        return await self._store.write(step)

    async def _turn(self, link: Link, to: Chat, *, at: int) -> int:
        """Post one message, or wait for one; answers how far the channel has been told."""
        found = await self._store.read(lambda tx: self._next(tx, link, at))
        line, number = found.line, found.number
        if line is None:
            if number == at:
                await self._store.wait(found.head, seconds=QUIET)
                await asyncio.sleep(GATHER)
            return number
        outcome = await to.post(chat.post(line, link.channel))
        match outcome:
            case Posted(stamp=stamp):
                await self._store.write(lambda tx: _posted(tx, link, line, number, stamp=stamp))
            case Refused(why=why, lasting=False):
                await self._store.write(lambda tx: _refused(tx, link, line, number, why=why))
            case Refused(why=why):
                raise _Wait(f"nothing is taken: {why}", LONGEST)
            case Later(why=why, seconds=seconds):
                raise _Wait(why, seconds)
        return number

    def _next(self, tx: Transaction, link: Link, at: int) -> Next:
        head = tx.events.head()
        place = chat_hearing.conversation(tx, link)
        for message in tx.messages.page(place.id, after=at, limit=PAGE):
            at = message.number
            ours = message.kind in TALK and not flood.ours(message.speaker)
            if ours and not chat_hearing.stands(tx, link, message.id):
                return Next(head, at, self._line(tx, link, message))
        return Next(head, at)

    def _line(self, tx: Transaction, link: Link, message: Message) -> Line:
        envelope = tx.inbox.envelope(message.id)
        speaker = tx.instances.get(message.speaker)
        turn = tx.turns.get(message.turn) if message.turn else None
        answered = envelope.reply_to if envelope else turn.prompt if turn else None
        return Line(
            message.id,
            message.speaker,
            self._scrub(message.text).text,
            label=(speaker.alias or speaker.role) if speaker else "",
            intent=envelope.intent.value if envelope else "",
            to=envelope.to if envelope else (),
            thread=chat_hearing.thread_of(tx, link, answered or "") or link.thread,
        )


class _Wait(Exception):
    """The chat takes nothing just now."""

    def __init__(self, why: str, seconds: float | None) -> None:
        super().__init__(why)
        self.seconds = seconds


def _cursor(link: Link) -> str:
    return f"chat/{link.channel}/{link.thread}"


def _posted(tx: Transaction, link: Link, line: Line, number: int, *, stamp: str) -> None:
    if not chat_hearing.stands(tx, link, line.message):
        # Its own coming back may have been heard before the answer.
        chat_hearing.pair(tx, link, line.message, stamp=stamp, thread=line.thread)
    tx.cursors.keep(_cursor(link), number)
    for row in tx.inbox.of(line.message):
        if not row.recipient.startswith(chat.HUMAN) or row.status not in UNREAD:
            continue
        marks.show(tx, [row], epoch=1, turn="", path=Path.CHAT)
        envelope, seen = tx.inbox.envelope(line.message), tx.inbox.get(row.recipient, line.message)
        if envelope is not None and seen is not None and not envelope.requires_ack:
            marks.move(tx, [seen], Status.ACKED, note="posted in the team chat")
            marks.advance(tx, row.recipient)
    data = {"message": line.message, "number": number, "stamp": stamp}
    tx.events.record(Event("chat.posted", link.channel, data))


def _refused(tx: Transaction, link: Link, line: Line, number: int, *, why: str) -> None:
    tx.cursors.keep(_cursor(link), number)
    data = {"message": line.message, "number": number, "why": why}
    tx.events.record(Event("chat.refused", link.channel, data))
