"""Sessions that CLIs keep by themselves, taken over as conversations: read, never run."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from mufakat.core.base import (
    Conflict,
    ConversationId,
    Event,
    InvalidInput,
    LoggedEvent,
    NotAllowed,
    Revision,
    TurnId,
)
from mufakat.core.coordination import identity
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge import native_session
from mufakat.core.knowledge.native_session import Imported
from mufakat.core.talk import message
from mufakat.core.talk.conversation import Project
from mufakat.core.talk.message import Draft, Kind
from mufakat.ports import knowledge
from mufakat.ports.knowledge import NativeSession, NativeTurn, Skip
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import talk
from mufakat.services.knowledge import place

BATCH = 200
"""Messages of one transaction: others write in between."""
PAGE = 1_000
OWN = "turn.session"
"""What the log says when an engine has named the session of a turn of ours."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A session, and how much of it was taken over."""

    session: NativeSession
    imported: Imported | None


@dataclass(frozen=True, slots=True)
class Listing:
    """The sessions of a project, and files that could not be read, with the reason."""

    items: tuple[Listed, ...]
    skips: tuple[Skip, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What taking over a session has added."""

    imported: Imported
    added: int


class Sessions:
    """Lists native sessions and takes them over."""

    def __init__(
        self,
        store: Store,
        library: knowledge.NativeSessions,
        scrub: Scrub,
        *,
        person: str,
        host: str,
    ) -> None:
        self._store = store
        self._library = library
        self._scrub = scrub
        self._person = person
        self._host = host
        self._own: dict[tuple[str, str], ConversationId] = {}
        self._read = Revision(0)

    async def list(self, by: Principal, project: str = "") -> Listing:
        """Those of a project, newest first; for the person whose files they are alone.

        What Mufakat itself has started is a conversation already, so it is left out with a word.
        """
        here, known = await self._known(by, project)
        found, skips = await self._library.list(Path(here.path))
        own = await self._ours()
        items = [
            Listed(self._clean(one), _of(known, one.engine, one.id))
            for one in found
            if (one.engine, one.id) not in own
        ]
        ours = Counter(one.engine for one in found if (one.engine, one.id) in own)
        said = [Skip(engine, _left_out(count)) for engine, count in sorted(ours.items())]
        return Listing(tuple(items), (*skips, *said))

    async def take_over(self, by: Principal, engine: str, id: str, project: str = "") -> Result:
        """Keep a session as a conversation; the same one again adds only what is new.

        Raises Conflict for one that Mufakat itself has started: all of it is there already.
        """
        here, known = await self._known(by, project)
        session = await self._library.read(Path(here.path), id, engine=engine)
        home = (await self._ours()).get((session.engine, session.id))
        if home is not None:
            raise Conflict(
                f"Mufakat itself started the session {id[:64]}: it is the conversation {home}.",
                fix=f"Nothing is to be taken over; read it: mufakat conversations show {home}",
            )
        turns = session.turns
        if not turns:
            raise InvalidInput(f"In the session {id[:64]} nobody has said anything.")
        before = _of(known, session.engine, session.id)
        if before is None or not _continues(before, turns):
            before = await self._store.write(lambda tx: self._begin(tx, here, session))
        added = 0
        while before.turns < len(turns):
            batch = turns[before.turns : before.turns + BATCH]
            after = await self._batch(before, session, batch)
            added += max(0, after.turns - before.turns)
            before = after
        return Result(before, added)

    async def _ours(self) -> Mapping[tuple[str, str], ConversationId]:
        """Sessions that engines began for turns of ours, from the log, as far as it has grown.

        What is kept to be resumed would not do: a session is dropped when another takes its place.
        """
        while True:
            page = await self._store.read(lambda tx: _named(tx, self._read))
            for one, engine in page:
                session = str(one.data.get("session", ""))
                self._own[engine, session] = ConversationId(str(one.data.get("conversation", "")))
            if len(page) < PAGE:
                return self._own
            self._read = page[-1][0].revision

    async def _batch(
        self, before: Imported, session: NativeSession, batch: Sequence[NativeTurn]
    ) -> Imported:
        drafts = [self._draft(session, one) for one in batch]
        digest = _digest(session.turns[: before.turns + len(batch)])
        return await self._store.write(lambda tx: _append(tx, before, drafts, digest))

    async def _known(self, by: Principal, name: str) -> tuple[Project, Sequence[Imported]]:
        if not by.operator:
            raise NotAllowed("The session files are the person's own.")

        def query(tx: Transaction) -> tuple[Project, Sequence[Imported]]:
            here = place.of(tx, by, name)
            return here, tx.imports.of(here.id)

        return await self._store.read(query)

    def _begin(self, tx: Transaction, here: Project, session: NativeSession) -> Imported:
        """Start the conversation; a second request that came in between finds it begun."""
        known = _of(tx.imports.of(here.id), session.engine, session.id)
        if known is not None and _continues(known, session.turns):
            return known
        title = f"{session.engine}: {session.summary or session.turns[0].text}"
        thread = talk.add(tx, here, self._scrub(title).text)
        digest = _digest(())
        begun = Imported(here.id, session.engine, session.id, thread.id, 0, digest, tx.now())
        tx.imports.keep(begun)
        data = {"conversation": thread.id, "engine": session.engine, "session": session.id}
        tx.events.record(Event("conversation.imported", thread.id, data))
        return begun

    def _draft(self, session: NativeSession, turn: NativeTurn) -> Draft:
        words = native_session.clean(turn.text)
        when = datetime.fromtimestamp(turn.at / 1000, UTC).strftime(", said on %Y-%m-%d %H:%M UTC")
        label = f"imported from a {session.engine} session{when if turn.at else ''}"
        kind, speaker = Kind.PERSON, self._person
        if turn.speaker != native_session.PERSON:
            kind, speaker = Kind.AGENT, speaker_of(session, self._host)
        secrets = self._scrub(words).kinds
        return message.draft(kind, speaker, text=words, secrets=secrets, label=label)

    def _clean(self, one: NativeSession) -> NativeSession:
        return replace(one, summary=self._scrub(one.summary).text)


def speaker_of(session: NativeSession, host: str) -> str:
    """The identity that the agent of a session speaks under: always the same one."""
    instance = hashlib.sha256(f"{session.engine} {session.id}".encode()).hexdigest()[:32]
    return str(identity.assign(session.engine, host, instance=instance))


def _append(tx: Transaction, begun: Imported, drafts: Sequence[Draft], digest: str) -> Imported:
    now = _of(tx.imports.of(begun.project), begun.engine, begun.session)
    if now != begun:
        # Somebody else takes over the same session: what they have added is not added again.
        return now or begun
    for draft in drafts:
        talk.append(tx, ConversationId(begun.conversation), draft)
    done = replace(begun, turns=begun.turns + len(drafts), digest=digest, at=tx.now())
    tx.imports.keep(done)
    return done


def _named(tx: Transaction, after: Revision) -> list[tuple[LoggedEvent, str]]:
    """The next events of the log in which an engine named its session, and whose it is."""
    page = tx.events.after(after, limit=PAGE, kinds=(OWN,))
    turns = {one.subject: tx.turns.get(TurnId(one.subject)) for one in page}
    return [(one, turn.engine if (turn := turns[one.subject]) else "") for one in page]


def _left_out(count: int) -> str:
    what = (
        "a session that Mufakat itself" if count == 1 else f"{count:,} sessions that Mufakat itself"
    )
    return f"{what} started: what was said there is in its conversations already"


def _of(known: Sequence[Imported], engine: str, session: str) -> Imported | None:
    return next((one for one in known if (one.engine, one.session) == (engine, session)), None)


def _continues(before: Imported, turns: Sequence[NativeTurn]) -> bool:
    """Whether a session still begins with what was taken over; a CLI may have rewritten it."""
    return len(turns) >= before.turns and _digest(turns[: before.turns]) == before.digest


def _digest(turns: Sequence[NativeTurn]) -> str:
    return native_session.digest((one.speaker, one.text) for one in turns)
