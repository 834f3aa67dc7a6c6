"""Packing: load what a request needs, decide by the rules, hand over pack and delivery."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.base import InvalidInput, NotFound
from mufakat.core.coordination.digest import Digest
from mufakat.core.pack import assemble, deliver, mode, parity
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.budget import Impossible
from mufakat.core.pack.conditions import Conditions
from mufakat.core.pack.deliver import Delivery
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.sections import coordination, table
from mufakat.core.talk import session
from mufakat.core.talk.agent import Agent, Permission, Role
from mufakat.core.talk.branch_fork import Fork
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.session import Fresh, Place, Resume, Session
from mufakat.ports.engine import Capabilities, Engine
from mufakat.ports.library import Gathered, Library
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.services import forking, request
from mufakat.services.knowledge.gathering import Gathering, Known, Subject
from mufakat.services.knowledge.reviewing import Reviewing, Seen
from mufakat.services.reading import Memory, Reading, Topics
from mufakat.services.request import Ask

PREVIEW = "0" * 16
"""Nonce of a pack that no run gets: no request carries it."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was read for a request beside the store."""

    gathered: Gathered
    seen: Seen
    known: Known


@dataclass(frozen=True, slots=True)
class Packed:
    """A pack, how it is delivered, and whether the engine's session goes on."""

    pack: Pack
    facts: Facts
    """What it was made from."""
    delivery: Delivery
    session: Session | None
    """The session that is resumed; None for a fresh one."""
    resume_why: str
    place: Place
    digest: Digest | None = None
    """What of the coordination the pack tells."""
    instructions: tuple[str, ...] = ()
    """Native files that the engine loads beside the pack."""
    fork: bool = False
    """The session is another conversation's: the engine goes on in a copy of it."""


class Packing:
    """The way of every request through the one assembly function."""

    def __init__(
        self,
        store: Store,
        library: Library,
        scrub: Scrub,
        *,
        budget: int,
        gather_seconds: float,
        gathering: Gathering | None = None,
        reviewing: Reviewing | None = None,
        topics: Topics | None = None,
        adaptive: bool = True,
    ) -> None:
        self._store = store
        self._library = library
        self.scrub = scrub
        self.budget = budget
        self._gather_seconds = gather_seconds
        self._gathering = gathering or Gathering({}, scrub, seconds=gather_seconds)
        self._reviewing = reviewing or Reviewing(seconds=gather_seconds)
        self.reading = Reading(scrub, budget=budget, topics=topics, adaptive=adaptive)

    def budget_for(self, ask: Ask, engine: Engine) -> int:
        """Characters that are wanted: the request's or the setting's, within what it takes."""
        wanted = ask.budget or self.budget
        return min(wanted, engine.capabilities.prompt_chars or wanted)

    def persona(self, name: str) -> str:
        """The text of a persona, empty for none; raises NotFound with the names there are."""
        return self._library.persona(name) if name else ""

    def prompt(self, name: str) -> str:
        """A prompt of the product's own."""
        return self._library.prompt(name)

    def permission(self, role: str) -> Permission:
        """What a role may do; one that is no longer there may have done anything."""
        found = {one.name: one.permission for one in self._library.roles()}
        return found.get(role, Permission.DEVELOP)

    def role(self, name: str, engine: Engine) -> Role:
        """The role of that name, where the engine can keep to what it permits."""
        able_to = engine.capabilities.permissions
        roles = {role.name: role for role in self._library.roles()}
        if name not in roles:
            known = ", ".join(roles)
            raise NotFound(f"There is no role {name!r}.", fix=f"Choose one of: {known}.")
        role = roles[name]
        if role.permission not in able_to:
            able = [r.name for r in roles.values() if r.permission in able_to]
            raise InvalidInput(
                f"{engine.name} cannot work as {name}, which may {role.permission}.",
                fix=f"Choose another engine, or one of the roles: {', '.join(able)}.",
            )
        return role

    async def memory(
        self, conversation: Conversation, agent: Agent, *, asked: int, budget: int = 0
    ) -> Memory:
        """Read a conversation as far as a pack needs it; a budget of 0 takes the setting."""
        return await self._store.read(
            lambda tx: self.reading.load(tx, conversation, agent.id, asked=asked, budget=budget)
        )

    async def pack(
        self,
        ask: Ask,
        memory: Memory,
        *,
        identity: str,
        engine: Engine,
        nonce: str = PREVIEW,
    ) -> Packed:
        """Make the pack; raises DoesNotFit with the sizes where it is impossible.

        `nonce` marks the requests for more that the run may make; a session that knows one keeps
        it, so that it need not be told with every turn.
        """
        looked = await self.look(ask, memory)
        return self.made(ask, memory, looked, identity=identity, engine=engine, nonce=nonce)

    async def look(self, ask: Ask, memory: Memory) -> Looked:
        """Read the project, and ask the sources of the sections that will be told."""
        session = memory.session or (memory.fork.session if memory.fork else None)
        gathered, (seen, known) = await asyncio.gather(
            self._library.gather(
                Path(ask.project),
                since_head=session.place.head if session else "",
                seconds=self._gather_seconds,
            ),
            self._look_up(ask, memory),
        )
        return Looked(gathered, seen, known)

    def made(
        self,
        ask: Ask,
        memory: Memory,
        looked: Looked,
        *,
        identity: str,
        engine: Engine,
        nonce: str = PREVIEW,
        brief: Callable[[Facts], Facts] | None = None,
    ) -> Packed:
        """Make the pack of facts that are at hand; `brief` adds what a roundtable's seat is told.

        Raises DoesNotFit with the sizes where it is impossible.
        """
        session, gathered = memory.session, looked.gathered
        if memory.fork is not None:
            session = forking.copied(ask, memory.fork, gathered, engine)
        nonce = (parity.nonce_of(session.told) if session else "") or nonce
        facts = self._facts(ask, memory, gathered, identity=identity, engine=engine)
        facts = with_known(facts, memory, looked, nonce=nonce)
        pack = assemble.assemble(facts := brief(facts) if brief else facts)
        if isinstance(pack, Impossible):
            raise request.itemise(pack)
        return _delivered(pack, facts, ask=ask, memory=memory, gathered=gathered, engine=engine)

    async def _look_up(self, ask: Ask, memory: Memory) -> tuple[Seen, Known]:
        """See what the request is about, then ask the sources of the sections that it is told."""
        now = memory.conversation
        seen = await self._reviewing.look(Path(ask.project), ask.prompt, role=ask.role)
        subject = Subject(
            Path(ask.project),
            self.scrub(ask.prompt).text,
            now.project if now else None,
            now.id if now else None,
            changed=seen.changed,
        )
        told = _told(ask, memory, _branched(seen.conditions, memory))
        return seen, await self._gathering.gather(subject, told)

    def _facts(
        self,
        ask: Ask,
        memory: Memory,
        gathered: Gathered,
        *,
        identity: str,
        engine: Engine,
    ) -> Facts:
        project = dataclasses.replace(
            gathered.project, summary=self.scrub(gathered.project.summary).text
        )
        role = self.role(ask.role, engine)
        return Facts(
            prompt=self.scrub(ask.prompt).text,
            project=project,
            role=dataclasses.replace(role, text=self.scrub(role.text).text),
            persona=self.scrub(self.persona(ask.persona)).text,
            identity=identity,
            platform=self._library.platform(),
            history=memory.history,
            participants=memory.speakers,
            digest=memory.digest,
            budget=self.budget_for(ask, engine),
            window_tokens=engine.capabilities.window_tokens,
            mode=mode.parse(ask.mode) if ask.mode else None,
            muted=frozenset(ask.mute),
            unavailable=gathered.unavailable,
        )


def _told(ask: Ask, memory: Memory, fulfilled: Conditions) -> frozenset[str]:
    """Sections that a request will be told if there is anything to tell in them."""
    choice = mode.choose(
        mode.parse(ask.mode) if ask.mode else None,
        talk=memory.history.talk,
        attachments=memory.attached,
        roundtable=bool(ask.table),
    )
    return frozenset(
        section.kind
        for section in table.SECTIONS
        if section.kind not in ask.mute
        and assemble.admitted(section, choice, conditions=fulfilled, tiering=memory.tiering)
    )


def _branched(seen: Conditions, memory: Memory) -> Conditions:
    """The conditions of a request, and whether its conversation is a branch."""
    origin = memory.origin
    return dataclasses.replace(
        seen, branch=f"from {origin.parent}/m:{origin.number}" if origin else ""
    )


def with_known(facts: Facts, memory: Memory, looked: Looked, *, nonce: str) -> Facts:
    """Add to the facts what was looked up."""
    known = looked.known
    return dataclasses.replace(
        facts,
        skills_index=known.of("skills-index"),
        memory=memory.topics,
        recalled=known.of("retrieval"),
        code=known.of("code"),
        graph=known.of("graph"),
        skills=known.of("skills"),
        docs=known.of("docs"),
        linked=known.of("linked-sessions"),
        conditions=_branched(looked.seen.conditions, memory),
        gaps=looked.seen.gaps + known.gaps,
        nonce=nonce,
        tiering=memory.tiering,
        attachments=memory.attached,
        decisions=memory.decisions,
        origin=memory.origin,
    )


def _delivered(
    pack: Pack, facts: Facts, *, ask: Ask, memory: Memory, gathered: Gathered, engine: Engine
) -> Packed:
    capabilities = engine.capabilities
    tells = any(section.kind == coordination.KIND for section in pack.sections)
    # Without a text there is nothing to show, but the cursors of the threads still move.
    told = memory.digest if tells or (memory.digest and not memory.digest.text) else None
    decision: Resume | Fresh | Fork = session.decide(
        memory.session,
        gathered.place,
        engine=engine.name,
        model=ask.model,
        can_resume=capabilities.resume,
        wanted=not ask.fresh,
        head_is_ancestor=gathered.head_is_ancestor,
    )
    if isinstance(decision, Fresh) and memory.fork is not None:
        decision = forking.decide(ask, memory.fork, gathered, engine)
    if isinstance(decision, Fork):
        delivery, copy = forking.delivered(pack, decision, facts, memory.fork, engine=engine)
        delivery = knowing(delivery, facts.nonce)
        return Packed(pack, facts, delivery, copy, decision.why, gathered.place, told, fork=True)
    if isinstance(decision, Resume):
        delivery = deliver.resumed(
            pack,
            decision.session.told,
            system=memory.system,
            splits_system=capabilities.splits_system,
            expands_at=capabilities.expands_at,
        )
        delivery = knowing(delivery, facts.nonce)
        return Packed(pack, facts, delivery, decision.session, "resumed", gathered.place, told)
    delivery = fresh(pack, capabilities, nonce=facts.nonce)
    return Packed(pack, facts, delivery, None, decision.why, gathered.place, told)


def fresh(pack: Pack, capabilities: Capabilities, *, nonce: str) -> Delivery:
    """Deliver a pack to a new session of an engine."""
    delivery = deliver.fresh(
        pack, splits_system=capabilities.splits_system, expands_at=capabilities.expands_at
    )
    return knowing(delivery, nonce)


def knowing(delivery: Delivery, nonce: str) -> Delivery:
    """A delivery after which the session knows its nonce."""
    return dataclasses.replace(delivery, told=delivery.told | {parity.nonce_key(nonce)})
