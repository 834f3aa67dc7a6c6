"""What a turn leaves in the store: its pack, its start, its session, its end."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from mufakat.core import text
from mufakat.core.base import MessageId, PackId
from mufakat.core.coordination import inbox
from mufakat.core.pack import item, parity
from mufakat.core.pack.receipt import StoredPack
from mufakat.core.pack.tiering import Seen
from mufakat.core.talk import message, stream
from mufakat.core.talk import usage as usages
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.message import Kind
from mufakat.core.talk.session import Session
from mufakat.core.talk.turn import ADVICE, Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.ports.engine import Access
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction
from mufakat.services import announce, ids, talk
from mufakat.services.announce import Announcer
from mufakat.services.coordination import context, runs
from mufakat.services.job import Job
from mufakat.services.knowledge import tiering
from mufakat.services.packing import Packed

log = logging.getLogger(__name__)


TOOL_CHARS = 200_000
"""Characters of one tool's output that become history; of a longer one both ends."""
TURN_CHARS = 8_000_000
"""Characters of all outputs of a turn; beyond them each keeps the least alone."""
TOOL_CHARS_LEAST = 2_000


@dataclass(slots=True)
class Heard:
    """What the engine said in a run beside its answer."""

    session: Session | None = None
    ended: bool = False
    """The engine has run to its end: `session` is all that can be resumed, also where None."""
    tools: dict[str, stream.Tool] = field(default_factory=dict)
    """The last report of every tool call, in the order in which the calls began."""
    tool_chars: int = 0
    access: Access | None = None
    blocked: bool = False
    """It waits for somebody to permit something."""
    pack: PackId | None = None
    """The pack that was sent in place of the first one."""
    compacted: bool = False
    """The engine shortened its memory, so that nothing it was told can be counted on."""
    round: int = 0
    """How often the agent was asked again in this turn."""
    seen: tuple[Seen, ...] = ()
    """What the turn made of the sections of its pack."""

    def own(self, tool: stream.Tool) -> stream.Tool:
        """A tool's report under an id of its round: engines count their calls anew in each."""
        return dataclasses.replace(tool, id=f"{self.round}/{tool.id}") if self.round else tool

    def hear(self, tool: stream.Tool) -> None:
        """Keep a tool's report; a long turn must not fill the memory with what tools print."""
        known = self.tools.get(tool.id)
        room = min(TOOL_CHARS, max(TOOL_CHARS_LEAST, TURN_CHARS - self.tool_chars))
        note = f"… {len(tool.output):,} characters in all; the middle was not kept …"
        output = text.head_and_tail(_text(tool.output), room, note=note)
        self.tool_chars += len(output)
        self.tools[tool.id] = dataclasses.replace(
            tool,
            input=_text(tool.input or (known.input if known else "")),
            output=output,
            name=_text(tool.name or (known.name if known else "")),
        )


def start(tx: Transaction, job: Job, packed: Packed, say: Announcer) -> str:
    """Record pack and start in one transaction, before the engine can have any effect.

    Answers the token that the agent may use for as long as it runs; raises Paused.
    """
    token = runs.begin(
        tx,
        job.agent,
        job.conversation,
        run=job.turn.id,
        told=job.prompt.number,
        # A seat hears its table through its packs: the thread would tell it what is said meanwhile.
        follows=not job.ask.table,
    )
    if packed.digest is not None:
        context.confirm(tx, job.agent.identity, packed.digest, path=inbox.Path.PACK)
    pack = keep_pack(tx, job, packed, say)
    tx.conversations.hold_window(job.conversation.id, pack.receipt.window_start)
    tx.turns.move(job.turn.id, Status.RUNNING, pack=pack.id, process=job.turn.id)
    running = {"engine": job.turn.engine, "identity": job.agent.identity, "pack": pack.id}
    tx.events.record(say.event("turn.running", running))
    return token


def keep_pack(tx: Transaction, job: Job, packed: Packed, say: Announcer) -> StoredPack:
    """Store a pack with the exact texts that are told and sent, and announce it."""
    delivery = packed.delivery
    stored = StoredPack(
        id=PackId(ids.new("k", tx.now())),
        conversation=job.conversation.id,
        turn=job.turn.id,
        agent=job.agent.id,
        identity=job.agent.identity,
        engine=job.turn.engine,
        created=tx.now(),
        receipt=packed.pack.receipt,
        form=delivery.form,
        resumed=packed.session is not None,
        resume_why=packed.resume_why,
        sent=tx.packs.keep_text(delivery.user),
        system=tx.packs.keep_text(delivery.system) if delivery.system else "",
        instructions=packed.instructions,
    )
    texts = [section.text for section in packed.pack.sections]
    receipt = stored.receipt
    sizes = {"mode": receipt.mode, "used": receipt.used, "budget": receipt.budget}
    told = len(packed.digest.text) if packed.digest else 0
    tx.events.record(say.event("turn.packed", {"pack": stored.id, **sizes, "told": told}))
    return tx.packs.add(stored, [*texts, packed.pack.prompt])


def session(job: Job, packed: Packed, id: str) -> Session:
    """The engine's session as it stands before this turn's delivery has arrived."""
    before = packed.session
    system = packed.delivery.system
    return Session(
        agent=job.agent.id,
        engine=job.turn.engine,
        id=_text(id),
        model=job.ask.model,
        place=packed.place,
        told=before.told if before else frozenset(),
        system=item.digest(system) if system else "",
        running_total=before.running_total if before else Usage(),
    )


def keep_session(tx: Transaction, kept: Session | None) -> None:
    """Keep a session that can be resumed, and that is no other agent's of the conversation."""
    if kept is None:
        return
    if _taken(tx, kept):
        log.warning("%s named another agent's session; it is not kept", kept.engine)
        tx.agents.drop_session(kept.agent)
    else:
        tx.agents.keep_session(kept)


def _taken(tx: Transaction, wanted: Session) -> bool:
    agent = tx.agents.get(wanted.agent)
    others = [*tx.agents.list(agent.conversation), *_above(tx, agent)] if agent else []
    kept = [tx.agents.session(other.id) for other in others if other.id != wanted.agent]
    return any(one and (one.engine, one.id) == (wanted.engine, wanted.id) for one in kept)


def _above(tx: Transaction, agent: Agent) -> Sequence[Agent]:
    """Agents of the conversation that an agent's branched off, whose sessions it may copy."""
    one = tx.branches.get(agent.conversation)
    return tx.agents.list(one.parent) if one else ()


def end(
    tx: Transaction, job: Job, reply: Reply, heard: Heard, *, say: Announcer, scrub: Scrub
) -> None:
    """Record how a turn ended: tool messages, answer, session, status, all or nothing."""
    reply = _storable(reply)
    known = {parity.said_itself(job.prompt.number)}
    for draft in (draft for tool in heard.tools.values() for draft in _drafts(job, tool, scrub)):
        known.add(parity.said_itself(talk.append(tx, job.conversation.id, draft).number))
    answer = _answer(tx, job, reply, scrub)
    if answer is not None:
        known.add(parity.said_itself(answer.number))
    _end_session(tx, job, heard, known if reply.status is Status.DONE else set())
    tx.turns.move(
        job.turn.id,
        reply.status,
        pack=heard.pack,
        answer=answer.id if answer else None,
        usage=reply.usage,
        failure=reply.failure.value if reply.failure else None,
        message=scrub(reply.message).text,
    )
    tiering.learn(tx, job.conversation.project, heard.seen)
    runs.end(tx, job.agent.identity, job.turn.id, reply)
    tx.events.record(say.event("turn.ended", summary(reply, answer.id if answer else None)))


def _end_session(tx: Transaction, job: Job, heard: Heard, known: set[str]) -> None:
    if heard.session is None:
        if heard.ended:
            tx.agents.drop_session(job.agent.id)
    elif heard.compacted:
        keep_session(tx, forgotten(heard.session))
    else:
        told = heard.session.told | known
        keep_session(tx, dataclasses.replace(heard.session, told=told))


def forgotten(session: Session) -> Session:
    """A session whose engine shortened its memory: the next turn tells it everything again."""
    return dataclasses.replace(session, told=frozenset())


def _storable(reply: Reply) -> Reply:
    """What a database and UTF-8 can hold of a reply, whichever engine made it."""
    return dataclasses.replace(
        reply,
        text=_text(reply.text),
        message=_text(reply.message),
        usage=usages.bounded(reply.usage),
    )


def _text(text: str) -> str:
    return text.replace("\0", "\u2400").encode("utf-8", "replace").decode("utf-8")


def _answer(tx: Transaction, job: Job, reply: Reply, scrub: Scrub) -> message.Message | None:
    if not reply.text:
        return None
    draft = message.draft(
        Kind.AGENT,
        job.agent.identity,
        text=reply.text,
        secrets=scrub(reply.text).kinds,
        turn=job.turn.id,
    )
    return talk.append(tx, job.conversation.id, draft)


def _drafts(job: Job, tool: stream.Tool, scrub: Scrub) -> list[message.Draft]:
    pair = _text(f"{job.turn.id}/{tool.id}")
    label = scrub(f"{tool.name}: {tool.input}").text[:400]
    texts = [(Kind.TOOL_CALL, tool.input)]
    if tool.status is not stream.ToolStatus.RUNNING:
        texts.append((Kind.TOOL_RESULT, tool.output))
    return [
        message.draft(
            kind,
            job.agent.identity,
            text=text,
            secrets=scrub(text).kinds,
            pair=pair,
            label=label,
            turn=job.turn.id,
        )
        for kind, text in texts
    ]


def summary(reply: Reply, answer: MessageId | None) -> dict[str, object]:
    """The data of the event that ends a turn."""
    failure = reply.failure
    return {
        "status": reply.status.value,
        "answer": answer,
        "failure": failure.value if failure else None,
        "message": reply.message,
        "fix": ADVICE[failure].fix if failure else "",
        "retryable": ADVICE[failure].retryable if failure else False,
        "retry_after": reply.retry_after,
        "usage": announce.usage_data(reply.usage),
        "leftovers": list(reply.leftovers),
    }
