"""Sessions that CLIs keep by themselves, taken over as conversations: read, never run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from mufakat.core.base import ConversationId, Event, InvalidInput, NotAllowed
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

    async def list(self, by: Principal, project: str = "") -> Listing:
        """Those of a project, newest first; for the person whose files they are alone."""
        here, known = await self._known(by, project)
        found, skips = await self._library.list(Path(here.path))
        items = [Listed(self._clean(one), _of(known, one.engine, one.id)) for one in found]
        return Listing(tuple(items), tuple(skips))

    async def take_over(self, by: Principal, engine: str, id: str, project: str = "") -> Result:
        """Keep a session as a conversation; the same one again adds only what is new."""
        here, known = await self._known(by, project)
        session = await self._library.read(Path(here.path), id, engine=engine)
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


def _of(known: Sequence[Imported], engine: str, session: str) -> Imported | None:
    return next((one for one in known if (one.engine, one.session) == (engine, session)), None)


def _continues(before: Imported, turns: Sequence[NativeTurn]) -> bool:
    """Whether a session still begins with what was taken over; a CLI may have rewritten it."""
    return len(turns) >= before.turns and _digest(turns[: before.turns]) == before.digest


def _digest(turns: Sequence[NativeTurn]) -> str:
    return native_session.digest((one.speaker, one.text) for one in turns)
