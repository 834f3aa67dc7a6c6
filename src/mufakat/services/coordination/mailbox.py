"""Sending and reading: the inbox as its owner, its senders and the person see it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mufakat.core.base import Conflict, InvalidInput, MessageId, NotAllowed, NotFound, Superseded
from mufakat.core.coordination import delivery, sending
from mufakat.core.coordination.flood import Rates
from mufakat.core.coordination.inbox import UNREAD, Delivery, Letter, Path, Status
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.sending import Sending
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import idempotency
from mufakat.services.coordination import agents, due, inbox, letters, marks, pause, rooms
from mufakat.services.coordination.inbox import Post, Sent
from mufakat.services.coordination.meter import Meter

PAGE = 500
LONGEST = 600.0
"""Seconds that a claim waits."""
NOTE_CHARS = 400
FETCHED, SESSIONS = 2_000, 10_000
"""Numbers that are remembered of one session, and sessions."""


class Inbox:
    """Messages of everybody."""

    def __init__(self, store: Store, scrub: Scrub, *, rates: Rates | None = None) -> None:
        self._store = store
        self._scrub = scrub
        self._meter = Meter(rates or Rates())
        self._fetched: dict[tuple[str, int], frozenset[int]] = {}
        """What each session has read without claiming it; after a restart it reads again."""

    async def send(self, by: Principal, wanted: Sending, *, key: str) -> Sent:
        """Send a message; it is on disk when this answers.

        The same key and request answer the first receipt again. Raises InvalidInput, TooLarge,
        NotFound with the nearest names, IdempotencyConflict, NotAllowed, TooMany or Paused; then
        nothing is stored.
        """
        sending.check(wanted, key=key)
        sender = _identity(by)
        post = Post(sender, wanted, self._scrub(wanted.body).kinds)
        return await self._store.write(lambda tx: self._send(tx, by, post, f"send/{sender}/{key}"))

    def _send(self, tx: Transaction, by: Principal, post: Post, key: str) -> Sent:
        pause.refuse(tx, by)
        if not by.operator:
            reader(tx, by)
        digest = idempotency.digest("send", *_parts(post.sending))
        earlier = idempotency.earlier(tx, key, digest)
        known = inbox.receipt(tx, MessageId(earlier)) if earlier else None
        if known is not None:
            return known
        to = inbox.address(tx, post)
        words = idempotency.digest(post.sender, to.who.to, to.thread, *_parts(post.sending))
        if not by.operator:
            same = self._meter.said(words, now=tx.now())
            known = inbox.receipt(tx, same) if same else None
            if known is not None:
                idempotency.keep(tx, key, digest, known.message)
                return known
            names = tuple(one.identity for one in to.who.instances)
            self._meter.take(post.sender, (*names, *to.who.held), to.thread, now=tx.now())
        sent = inbox.store(tx, post, to)
        idempotency.keep(tx, key, digest, sent.message)
        # Should the commit fail, there is no such message and its words are new again.
        self._meter.remember(words, sent.message, now=tx.now())
        return sent

    async def say(self, by: Principal, body: str, *, key: str) -> Sent | None:
        """Say something in the room of one's project; None where there is no project.

        Raises what `send` raises.
        """
        room = await self._store.write(lambda tx: rooms.of(tx, reader(tx, by)))
        if room is None:
            return None
        return await self.send(by, Sending((), thread=room, body=body), key=key)

    async def read(
        self,
        by: Principal,
        *,
        after: int = 0,
        open_only: bool = True,
        limit: int = 50,
        due_only: bool = False,
    ) -> Sequence[Letter]:
        """Entries above `after`, oldest first; reading changes nothing that is stored.

        With `due_only` those that are new, or that still need an answer.
        """
        found = await self._of(
            _identity(by), after=after, open_only=open_only, limit=limit, due_only=due_only
        )
        fresh = {one.delivery.number for one in found if one.delivery.status in UNREAD}
        if fresh:
            self._fetch(by, fresh)
        return found

    def _fetch(self, by: Principal, numbers: set[int]) -> None:
        """Remember what a session was given, so that it may acknowledge it."""
        session = (by.identity, by.epoch)
        known = self._fetched.pop(session, frozenset()) | numbers
        self._fetched[session] = frozenset(sorted(known)[-FETCHED:])
        if len(self._fetched) > SESSIONS:
            del self._fetched[next(iter(self._fetched))]

    async def of(
        self, by: Principal, name: str, *, after: int = 0, open_only: bool = True, limit: int = 50
    ) -> Sequence[Letter]:
        """Somebody's inbox, for the person; raises NotAllowed for everybody but its owner."""
        found = await self._store.read(lambda tx: agents.resolve(tx, name))
        await agents.only_self(self._store, by, found.identity, act="inbox")
        return await self._of(found.identity, after=after, open_only=open_only, limit=limit)

    async def _of(
        self, identity: str, *, after: int, open_only: bool, limit: int, due_only: bool = False
    ) -> Sequence[Letter]:
        after, limit = max(0, min(after, 2**62)), max(1, min(limit, PAGE))

        def query(tx: Transaction) -> Sequence[Letter]:
            if due_only:
                rows = due.page(tx, identity, after=after, limit=limit)
            else:
                rows = tx.inbox.page(identity, after=after, open_only=open_only, limit=limit)
            return letters.load(tx, rows, scrub=self._scrub)

        return await self._store.glance(query)

    async def claim(
        self, by: Principal, *, limit: int = 50, wait_seconds: float = 0
    ) -> Sequence[Letter]:
        """Take unread messages for a minute; waits for the first where there are none."""
        loop = asyncio.get_running_loop()
        until = loop.time() + min(max(wait_seconds, 0.0), LONGEST)
        while True:
            head, some = await self._store.read(lambda tx: (tx.events.head(), _waiting(tx, by)))
            found = await self._store.write(lambda tx: self._claim(tx, by, limit)) if some else ()
            left = until - loop.time()
            if found or left <= 0:
                return found
            await self._store.wait(head, seconds=left)

    def _claim(self, tx: Transaction, by: Principal, limit: int) -> Sequence[Letter]:
        owner = reader(tx, by)
        rows = _claimable(tx, owner.identity)[: max(1, min(limit, PAGE))]
        offered = [delivery.offer(row, epoch=owner.epoch, at=tx.now()) for row in rows]
        for row in offered:
            tx.inbox.keep(row)
        return letters.load(tx, offered, scrub=self._scrub)

    async def shown(self, by: Principal, numbers: Sequence[int]) -> int:
        """Confirm that messages stood in an output that was accepted; answers how many."""

        def step(tx: Transaction) -> int:
            owner = reader(tx, by)
            rows = [row for row in marks.numbered(tx, owner, numbers) if row.status in UNREAD]
            marks.show(tx, rows, epoch=owner.epoch, turn="", path=Path.INBOX)
            return len(rows)

        return await self._store.write(step)

    async def ack(
        self,
        by: Principal,
        *,
        upto: int | None = None,
        numbers: Sequence[int] = (),
        decline: str = "",
    ) -> int:
        """Be done with messages that this session was given; answers the cursor.

        Raises BadCursor, InvalidInput, or Superseded for a session of the past.
        """
        if (upto is None) == (not numbers):
            raise InvalidInput("Name the messages.", fix="Give either `upto` or `numbers`.")
        if decline and upto is not None:
            raise InvalidInput("Messages are declined one by one.", fix="Give `numbers`.")

        fetched = self._fetched.get((by.identity, by.epoch), frozenset())

        def step(tx: Transaction) -> int:
            owner = reader(tx, by)
            named = numbers if upto is None else (n for n in fetched if n <= upto)
            read = fetched.intersection(named)
            fresh = [row for row in marks.numbered(tx, owner, tuple(read)) if row.status in UNREAD]
            marks.show(tx, fresh, epoch=owner.epoch, turn="", path=Path.INBOX)
            if upto is not None:
                marks.ack_upto(tx, owner, upto)
            else:
                done = marks.ack_each(tx, owner, numbers, decline=decline[:NOTE_CHARS])
                for row in done if decline else ():
                    _tell_declined(tx, row)
            return marks.advance(tx, owner.identity)

        return await self._store.write(step)

    async def dead(self, *, limit: int = 100) -> Sequence[Letter]:
        """Letters that were given up, newest first."""
        return await self._store.read(
            lambda tx: letters.load(
                tx, tx.inbox.with_status(Status.DEAD, limit=limit), scrub=self._scrub
            )
        )

    async def redeliver(self, by: Principal, message: str, recipient: str) -> Letter:
        """Deliver a dead letter again; its sender and the person may."""

        def step(tx: Transaction) -> Letter:
            to = agents.resolve(tx, recipient).identity
            row = tx.inbox.get(to, MessageId(message))
            envelope = tx.inbox.envelope(MessageId(message))
            if row is None or envelope is None:
                raise NotFound(f"{to} was never sent {message}.", fix="List the dead letters.")
            if not by.acts_for(envelope.sender):
                raise NotAllowed("Only its sender and the person may deliver it again.")
            if row.status is not Status.DEAD:
                raise Conflict(f"The message is {row.status}.", fix="Only dead letters go again.")
            marks.keep(tx, delivery.again(row, at=tx.now()))
            return letters.load(tx, [tx.inbox.get(to, row.message) or row], scrub=self._scrub)[0]

        return await self._store.write(step)


def reader(tx: Transaction, by: Principal) -> Instance:
    """The instance that calls; raises Superseded for a session of the past."""
    found = agents.known(tx, _identity(by))
    if by.epoch and by.epoch < found.epoch:
        raise Superseded()
    return found


def _identity(by: Principal) -> str:
    if not by.identity:
        raise NotAllowed("This credential speaks for nobody.", fix="Join first.")
    return by.identity


def _claimable(tx: Transaction, identity: str) -> list[Delivery]:
    rows = tx.inbox.page(identity, open_only=True, limit=PAGE)
    return [row for row in rows if delivery.claimable(row, tx.now())]


def _waiting(tx: Transaction, by: Principal) -> bool:
    return bool(_claimable(tx, _identity(by)))


def _parts(wanted: Sending) -> tuple[object, ...]:
    return (
        list(wanted.to),
        wanted.thread,
        wanted.intent,
        wanted.body,
        list(wanted.refs),
        wanted.reply_to,
        wanted.deadline_seconds,
        wanted.ttl_seconds,
        wanted.priority,
        wanted.steer,
        wanted.hold,
        wanted.project,
    )


def _tell_declined(tx: Transaction, row: Delivery) -> None:
    envelope = tx.inbox.envelope(row.message)
    if envelope is not None:
        inbox.watched(
            tx,
            envelope,
            f"{row.recipient} declined your {envelope.intent} {envelope.message}: {row.note}",
        )
