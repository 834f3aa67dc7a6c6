"""Packing: load what a request needs, decide by the rules, hand over pack and delivery."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mufakat.core import quote
from mufakat.core.base import AgentId, InvalidInput, NotFound
from mufakat.core.coordination.digest import Digest
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import assemble, deliver, history, mode, parity
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.budget import Impossible
from mufakat.core.pack.conditions import Conditions
from mufakat.core.pack.deliver import Delivery
from mufakat.core.pack.facts import Facts, HistoryFacts, Speaker
from mufakat.core.pack.sections import coordination, table
from mufakat.core.pack.tiering import Decision
from mufakat.core.talk import session
from mufakat.core.talk.agent import Agent, Role
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind, Message
from mufakat.core.talk.session import Place, Resume, Session
from mufakat.ports.engine import Capabilities, Engine
from mufakat.ports.library import Gathered, Library
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import request, seats
from mufakat.services.knowledge import tiering
from mufakat.services.knowledge.gathering import Gathering, Known, Subject
from mufakat.services.knowledge.reviewing import Reviewing, Seen
from mufakat.services.request import Ask

MIN_CHUNK, MAX_CHUNK = 20, 500
"""Messages read at a time while the budget is not yet covered."""
PREVIEW = "0" * 16
"""Nonce of a pack that no run gets: no request carries it."""
Topics = Callable[[Transaction, Conversation], Sequence[Found]]


@dataclass(frozen=True, slots=True)
class Memory:
    """What the store knows for a request, read in one snapshot."""

    history: HistoryFacts
    speakers: tuple[Speaker, ...] = ()
    session: Session | None = None
    system: str = ""
    """Text of the session's system slot."""
    digest: Digest | None = None
    """What is new for the agent beside the conversation."""
    conversation: Conversation | None = None
    """As it stands in the store; None for one that is not there yet."""
    topics: Sequence[Found] = ()
    """What the conversation came to before its window."""
    tiering: tuple[Decision, ...] = ()
    attached: bool = False
    """Sessions are linked to the conversation by hand."""


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
        self._scrub = scrub
        self.budget = budget
        self._gather_seconds = gather_seconds
        self._gathering = gathering or Gathering({}, scrub, seconds=gather_seconds)
        self._reviewing = reviewing or Reviewing(seconds=gather_seconds)
        self._topics = topics
        self._adaptive = adaptive

    def budget_for(self, ask: Ask, engine: Engine) -> int:
        """Characters that are wanted: the request's or the setting's, within what it takes."""
        wanted = ask.budget or self.budget
        return min(wanted, engine.capabilities.prompt_chars or wanted)

    def persona(self, name: str) -> str:
        """The text of a persona, empty for none; raises NotFound with the names there are."""
        return self._library.persona(name) if name else ""

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
            lambda tx: self.load(tx, conversation, agent.id, asked=asked, budget=budget)
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
        session = memory.session
        nonce = (parity.nonce_of(session.told) if session else "") or nonce
        gathered, (seen, known) = await asyncio.gather(
            self._library.gather(
                Path(ask.project),
                since_head=session.place.head if session else "",
                seconds=self._gather_seconds,
            ),
            self._look_up(ask, memory),
        )
        facts = self._facts(ask, memory, gathered, identity=identity, engine=engine)
        facts = with_known(facts, seen, memory, known, nonce=nonce)
        pack = assemble.assemble(facts)
        if isinstance(pack, Impossible):
            raise request.itemise(pack)
        return _delivered(pack, facts, ask=ask, memory=memory, gathered=gathered, engine=engine)

    async def _look_up(self, ask: Ask, memory: Memory) -> tuple[Seen, Known]:
        """See what the request is about, then ask the sources of the sections that it is told."""
        now = memory.conversation
        seen = await self._reviewing.look(Path(ask.project), ask.prompt, role=ask.role)
        subject = Subject(
            Path(ask.project),
            self._scrub(ask.prompt).text,
            now.project if now else None,
            now.id if now else None,
            changed=seen.changed,
        )
        return seen, await self._gathering.gather(subject, _told(ask, memory, seen.conditions))

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
            gathered.project, summary=self._scrub(gathered.project.summary).text
        )
        role = self.role(ask.role, engine)
        return Facts(
            prompt=self._scrub(ask.prompt).text,
            project=project,
            role=dataclasses.replace(role, text=self._scrub(role.text).text),
            persona=self._scrub(self.persona(ask.persona)).text,
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

    def load(
        self,
        tx: Transaction,
        conversation: Conversation,
        agent: AgentId | None,
        *,
        asked: int,
        budget: int = 0,
    ) -> Memory:
        """Read a conversation in one snapshot; `asked` is the number of the prompt in it, or 0."""
        now = tx.conversations.get(conversation.id) or conversation
        last = tx.messages.last_by_speaker(now.id, clip=quote.LONG)
        people = tx.messages.last_of_kind(now.id, Kind.PERSON, limit=3, clip=quote.LONG)
        reserved = [*last, *[said for said in people if said.number != asked][:2]]
        told = HistoryFacts(
            fence=now.fence,
            newest=self._newest(tx, now, asked, chars=budget or self.budget),
            reserved=[self._scrubbed(tx, said) for said in reserved],
            total=now.messages,
            talk=now.talk - (1 if asked else 0),
            asked=asked,
            window_start=now.window_start,
        )
        by_speaker = {said.speaker: self._scrubbed(tx, said) for said in last}
        kept = tx.agents.session(agent) if agent else None
        return Memory(
            told,
            seats.speakers(tx, now, by_speaker),
            kept,
            (tx.packs.text(kept.system) if kept and kept.system else "") or "",
            seats.digest_for(tx, now, agent, scrub=self._scrub),
            now,
            self._topics(tx, now) if self._topics else (),
            tiering.learnt(tx, now.project) if self._adaptive else (),
            attached=bool(tx.links.of(now.id)),
        )

    def _newest(
        self, tx: Transaction, conversation: Conversation, asked: int, *, chars: int
    ) -> list[Message]:
        """Newest messages until they are told in `chars` characters at least."""
        loaded: list[Message] = []
        before = conversation.messages + 1
        while before > 1 and chars > 0:
            limit = _chunk(conversation, chars)
            rows = tx.messages.newest(conversation.id, before=before, limit=limit, clip=quote.LONG)
            if not rows:
                break
            loaded += [self._scrubbed(tx, said) for said in rows if said.number != asked]
            chars -= sum(history.least_chars(said, conversation.messages) for said in rows)
            before = rows[-1].number
        return loaded

    def _scrubbed(self, tx: Transaction, said: Message) -> Message:
        if not said.secrets:
            return said
        # Both ends of a long text may hold half a secret each, so the whole is cleaned.
        whole = said if said.whole else tx.messages.get(said.id) or said
        text = self._scrub(whole.text).text
        return dataclasses.replace(said, text=text, chars=len(text))


def _chunk(conversation: Conversation, chars: int) -> int:
    """How many messages take `chars` characters, at the mean length in this conversation."""
    count = chars * conversation.messages // max(1, conversation.chars)
    return min(MAX_CHUNK, max(MIN_CHUNK, count + 1))


def _told(ask: Ask, memory: Memory, fulfilled: Conditions) -> frozenset[str]:
    """Sections that a request will be told if there is anything to tell in them."""
    choice = mode.choose(
        mode.parse(ask.mode) if ask.mode else None,
        talk=memory.history.talk,
        attachments=memory.attached,
    )
    return frozenset(
        section.kind
        for section in table.SECTIONS
        if section.kind not in ask.mute
        and assemble.admitted(section, choice, conditions=fulfilled, tiering=memory.tiering)
    )


def with_known(facts: Facts, seen: Seen, memory: Memory, known: Known, *, nonce: str) -> Facts:
    """Add to the facts what was looked up."""
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
        conditions=seen.conditions,
        gaps=seen.gaps + known.gaps,
        nonce=nonce,
        tiering=memory.tiering,
        attachments=memory.attached,
    )


def _delivered(
    pack: Pack, facts: Facts, *, ask: Ask, memory: Memory, gathered: Gathered, engine: Engine
) -> Packed:
    capabilities = engine.capabilities
    tells = any(section.kind == coordination.KIND for section in pack.sections)
    # Without a text there is nothing to show, but the cursors of the threads still move.
    told = memory.digest if tells or (memory.digest and not memory.digest.text) else None
    decision = session.decide(
        memory.session,
        gathered.place,
        engine=engine.name,
        model=ask.model,
        can_resume=capabilities.resume,
        wanted=not ask.fresh,
        head_is_ancestor=gathered.head_is_ancestor,
    )
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
