"""History injection: what is new for a reader, gathered from one snapshot of the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mufakat.core.base import ConversationId, Revision
from mufakat.core.coordination import delivery, digest, flood
from mufakat.core.coordination.digest import Digest
from mufakat.core.coordination.inbox import Delivery, Intent, Letter, Path, Status
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.news import News
from mufakat.core.coordination.notice import Notice
from mufakat.core.coordination.principal import Principal
from mufakat.core.talk.message import TALK, Message
from mufakat.ports.coordination import Member
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import ids, talk
from mufakat.services.coordination import letters, mailbox, marks

OPEN = 200
READ, SAID = 40, 12
"""Messages that are read of one thread, and told of it: between them stand calls of tools."""
CLIP = 1_200
LEAST_CHARS = 80
"""Of a letter in a digest, so that no more are read than can be told."""
CHANGES = 500
KINDS = ("lease.granted", "lease.transferred", "notice.set")
READERS = 10_000


@dataclass(frozen=True, slots=True)
class Scope:
    """What of the news somebody wants."""

    since: Revision = Revision(0)
    """Leases, notices and states from this revision on; 0 for all that stand."""
    fence: str = ""
    """Empty for a new random one."""
    only: ConversationId | None = None
    without: ConversationId | None = None
    """A thread that the reader is told by other means."""


class Context:
    """Digests for agents that ask, and for the hooks of those that do not."""

    def __init__(
        self, store: Store, scrub: Scrub, *, count: Callable[[int], None] = lambda _: None
    ) -> None:
        """`count` is given the characters of each digest."""
        self._store = store
        self._scrub = scrub
        self._count = count
        self._told: dict[tuple[str, int], Revision] = {}
        """How far each session was told of what only stands; after a restart it is told again."""

    async def digest(
        self,
        by: Principal,
        *,
        budget: int = digest.TOOL_BUDGET,
        since: str = "",
        thread: str = "",
        shown: bool = False,
    ) -> Digest:
        """What is new since the last digest, or since a revision; `0` tells everything.

        It changes nothing until it is confirmed, unless it is `shown` for certain.
        """

        def step(tx: Transaction) -> Digest:
            reader = mailbox.reader(tx, by)
            scope = Scope(
                self._since(tx, reader, since),
                only=talk.resolve(tx, thread).id if thread else None,
            )
            found = news(tx, reader.identity, budget, scrub=self._scrub, scope=scope)
            told = digest.render(found, budget=budget)
            if shown:
                confirm(tx, reader.identity, told)
            return told

        told = await (self._store.write(step) if shown else self._store.read(step))
        if shown:
            self._remember(by, told)
        self._count(len(told.text))
        return told

    async def confirm(self, by: Principal, told: Digest, *, path: Path = Path.CONTEXT) -> None:
        """Count a digest as shown: it stood in an output that was accepted."""
        await self._store.write(
            lambda tx: confirm(tx, mailbox.reader(tx, by).identity, told, path=path)
        )
        self._remember(by, told)

    def _remember(self, by: Principal, told: Digest) -> None:
        if told.revision:
            self._told.pop((by.identity, by.epoch), None)
            self._told[by.identity, by.epoch] = told.revision
            if len(self._told) > READERS:
                del self._told[next(iter(self._told))]

    def _since(self, tx: Transaction, reader: Instance, since: str) -> Revision:
        if not since:
            told = self._told.get((reader.identity, reader.epoch), Revision(0))
            return min(told, tx.events.head())
        epoch, _, number = since.rpartition("-")
        known = number.isdecimal() and epoch in {"", tx.events.epoch()}
        return Revision(min(int(number[:18]), tx.events.head())) if known else Revision(0)


def news(
    tx: Transaction,
    identity: str,
    budget: int,
    *,
    scrub: Scrub,
    scope: Scope | None = None,
) -> News:
    """Everything that may go into a digest of `budget` characters for a reader."""
    scope = scope or Scope()
    reader = tx.instances.get(identity)
    fence = scope.fence or ids.fence()
    empty = News(identity, tx.now(), fence, scope.since, revision=tx.events.head())
    if reader is None:
        return empty
    rows = tx.inbox.page(identity, open_only=True, limit=OPEN)
    unread = [row for row in rows if delivery.claimable(row, tx.now())]
    asked = [row for row in rows if row.status is Status.SHOWN]
    first = max(1, budget // LEAST_CHARS)
    requests = letters.load(tx, asked[:first], scrub=scrub)
    told = replace(
        empty,
        unread=letters.load(tx, unread[:first], scrub=scrub),
        open_requests=[one for one in requests if one.envelope.requires_ack],
        more_unread=max(0, len(unread) - first),
        epoch=reader.epoch,
    )
    told = _standing(tx, reader, told, scope.since)
    return _threads(tx, told, scope, scrub)


def _threads(tx: Transaction, told: News, scope: Scope, scrub: Scrub) -> News:
    """Add what was said in the threads that the reader follows."""
    said: list[Message] = []
    last: list[Message] = []
    heads: list[tuple[ConversationId, int]] = []
    older = told.older
    for member in tx.members.threads(told.identity):
        if member.conversation == scope.without or scope.only not in {None, member.conversation}:
            continue
        thread = tx.conversations.get(member.conversation)
        if thread is None or thread.messages <= member.cursor:
            continue
        heads.append((thread.id, thread.messages))
        loaded = tx.messages.newest(thread.id, before=thread.messages + 1, limit=READ, clip=CLIP)
        fresh = [one for one in loaded if one.number > member.cursor]
        spoken = [one for one in fresh if _for(tx, told.identity, one)]
        older += thread.messages - member.cursor - len(fresh) + len(spoken[SAID:])
        said += [_scrubbed(tx, one, scrub) for one in spoken[:SAID]]
        last += _last_words(tx, member, told.identity, known=spoken[:SAID], scrub=scrub)
    decisions = _decisions(tx, told.identity, said)
    decided = {one.envelope.message for one in decisions}
    others = [one for one in said if one.id not in decided]
    return replace(
        told,
        said=sorted(others, key=lambda one: (-one.at, one.conversation, -one.number)),
        last_words=last,
        decisions=decisions,
        heads=heads,
        older=older,
    )


def _for(tx: Transaction, reader: str, said: Message) -> bool:
    """Whether a reader is told a message as part of a thread, not as its own or by its inbox."""
    return (
        said.kind in TALK
        and said.speaker != reader
        and not flood.ours(said.speaker)
        and tx.inbox.get(reader, said.id) is None
    )


def _last_words(
    tx: Transaction, member: Member, reader: str, *, known: Sequence[Message], scrub: Scrub
) -> list[Message]:
    """The last message of whoever spoke before the newest ones."""
    told = {one.id for one in known}
    return [
        _scrubbed(tx, one, scrub)
        for one in tx.messages.last_by_speaker(member.conversation, clip=CLIP)
        if one.number > member.cursor and one.id not in told and _for(tx, reader, one)
    ]


def _scrubbed(tx: Transaction, said: Message, scrub: Scrub) -> Message:
    if not said.secrets:
        return said
    words, chars = letters.read(tx, [said.id], scrub)[said.id]
    return replace(said, text=words, chars=chars)


def _decisions(tx: Transaction, reader: str, said: Sequence[Message]) -> list[Letter]:
    found = []
    for one in said:
        envelope = tx.inbox.envelope(one.id)
        if envelope is not None and envelope.intent is Intent.DECISION:
            row = Delivery(reader, 0, one.id, Status.SHOWN, one.at)
            found.append(Letter(envelope, row, one.text, one.chars))
    return found


def _standing(tx: Transaction, reader: Instance, told: News, since: Revision) -> News:
    """Add what stands: states that are waited for, leases and notices; since then, or all."""
    changed = _changed(tx, since)
    waits = _waits_for(tx, reader)
    return replace(
        told,
        waits_for=frozenset(one.identity for one in waits),
        agents=[one for one in waits if one.standing.revision > since],
        leases=[one for one in _leases(tx, reader) if changed is None or _lease_in(one, changed)],
        notices=[one for one in notices(tx, reader) if changed is None or one.key in changed],
    )


def _changed(tx: Transaction, since: Revision) -> frozenset[str] | None:
    """Subjects of what changed since a revision; None where all is to be told."""
    if not since:
        return None
    events = tx.events.after(since, limit=CHANGES, kinds=KINDS)
    if len(events) == CHANGES or since + 1 < tx.events.oldest():
        return None
    return frozenset(event.subject for event in events)


def _lease_in(one: Lease, changed: frozenset[str]) -> bool:
    return one.id in changed or not changed.isdisjoint(one.wanted.resources)


def _leases(tx: Transaction, reader: Instance) -> list[Lease]:
    """Leases of others in the project that the reader works in."""
    if reader.project is None:
        return []
    live = [one for one in tx.leases.live() if one.ended is None]
    holders = {one.wanted.holder for one in live} - {reader.identity}
    known = [one for one in map(tx.instances.get, sorted(holders)) if one is not None]
    near = {one.identity for one in known if one.project == reader.project}
    return [one for one in live if one.wanted.holder in near]


def notices(tx: Transaction, reader: Instance) -> Sequence[Notice]:
    """What holds in the project of a reader just now."""
    return tx.notices.live(reader.project, tx.now()) if reader.project else ()


def _waits_for(tx: Transaction, reader: Instance) -> list[Instance]:
    """Agents whose state a rule of the reader waits for."""
    names = [
        rule.condition.who
        for rule in tx.reactions.active()
        if rule.owner == reader.identity and not rule.done
    ]
    if not names:
        return []
    everybody = tx.instances.list(project=reader.project)
    return [one for one in everybody if any(_named(one, name) for name in names)]


def _named(one: Instance, name: str) -> bool:
    return name in {one.alias, f"role:{one.role}"} or one.identity.startswith(name)


def confirm(tx: Transaction, identity: str, told: Digest, *, path: Path = Path.CONTEXT) -> None:
    """Mark what a digest showed, and move the cursors of its threads."""
    reader = tx.instances.get(identity)
    if reader is None:
        return
    for row in marks.numbered(tx, reader, told.shown):
        if row.status in {Status.QUEUED, Status.OFFERED}:
            marks.show(tx, [row], epoch=reader.epoch, turn="", path=path)
    for row in marks.numbered(tx, reader, told.begun):
        if row.status is Status.QUEUED:
            tx.inbox.keep(delivery.begin(row, epoch=reader.epoch, at=tx.now()))
    for thread, number in told.cursors:
        tx.members.told(thread, identity, cursor=number)
