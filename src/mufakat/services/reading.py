"""Reading from the store what a pack tells of a conversation, in one snapshot."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from mufakat.core import quote
from mufakat.core.base import AgentId
from mufakat.core.coordination.digest import Digest
from mufakat.core.deliberation.decision import Decision as Ruling
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import history
from mufakat.core.pack.facts import HistoryFacts, Speaker
from mufakat.core.pack.tiering import Decision
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.branch_fork import Source
from mufakat.core.talk.branch_origin import Origin
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Kind, Message
from mufakat.core.talk.session import Session
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction
from mufakat.services import forking, inheritance, seats
from mufakat.services.deliberation import decisions
from mufakat.services.knowledge import tiering

MIN_CHUNK, MAX_CHUNK = 20, 500
"""Messages read at a time while the budget is not yet covered."""
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
    decisions: tuple[Ruling, ...] = ()
    """What roundtables came to."""
    origin: Origin | None = None
    """What the conversation inherits as a branch."""
    fork: Source | None = None
    """The session of the parent that the agent's first turn may be copied from."""


class Reading:
    """Reads conversations as far as packs need them."""

    def __init__(
        self, scrub: Scrub, *, budget: int, topics: Topics | None = None, adaptive: bool = True
    ) -> None:
        self._scrub = scrub
        self.budget = budget
        self._topics = topics
        self._adaptive = adaptive

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
            decisions=decisions.told(tx, now, scrub=self._scrub),
            origin=self._origin(tx, now),
            fork=forking.source(tx, agent),
        )

    def _origin(self, tx: Transaction, now: Conversation) -> Origin | None:
        return inheritance.of(tx, now, scrub=self._scrub, scrubbed=self._scrubbed)

    def load_until(
        self, tx: Transaction, conversation: Conversation, *, asked: int, without: Collection[str]
    ) -> Memory:
        """What a roundtable's seats share: the talk up to its question, for as long as it runs.

        What the seats say themselves, and who they are, is told by the table alone.
        """
        now = tx.conversations.get(conversation.id) or conversation
        now = dataclasses.replace(now, window_start=min(now.window_start, asked))
        newest = self._newest(tx, now, asked, chars=self.budget, before=asked)
        last = self._last_before(tx, now, newest, asked)
        people = [said for said in newest if said.kind is Kind.PERSON][:2]
        told = HistoryFacts(
            fence=now.fence,
            newest=newest,
            reserved=[*last.values(), *people],
            total=asked,
            talk=now.talk,
            asked=asked,
            window_start=now.window_start,
        )
        return Memory(
            told,
            seats.speakers(tx, now, last, without=without),
            conversation=now,
            topics=self._topics(tx, now) if self._topics else (),
            tiering=tiering.learnt(tx, now.project) if self._adaptive else (),
            attached=bool(tx.links.of(now.id)),
            origin=self._origin(tx, now),
        )

    def _last_before(
        self, tx: Transaction, now: Conversation, newest: Sequence[Message], asked: int
    ) -> dict[str, Message]:
        """Every agent's last message before a number: where it spoke since, the newest loaded."""
        found = {said.speaker: said for said in reversed(newest) if said.kind is Kind.AGENT}
        last = tx.messages.last_by_speaker(now.id, clip=quote.LONG)
        return found | {
            said.speaker: self._scrubbed(tx, said) for said in last if said.number < asked
        }

    def own(self, tx: Transaction, shared: Memory, agent: Agent) -> Memory:
        """What a seat knows beside the others: its engine's session, and its mail."""
        kept, now = tx.agents.session(agent.id), shared.conversation
        return dataclasses.replace(
            shared,
            session=kept,
            system=(tx.packs.text(kept.system) if kept and kept.system else "") or "",
            digest=seats.digest_for(tx, now, agent.id, scrub=self._scrub) if now else None,
        )

    def _newest(
        self,
        tx: Transaction,
        conversation: Conversation,
        asked: int,
        *,
        chars: int,
        before: int = 0,
    ) -> list[Message]:
        """Newest messages until they are told in `chars` characters at least."""
        loaded: list[Message] = []
        before = before or conversation.messages + 1
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
