"""Condensing by a model: only the new part, only what it can cite, and never in a turn's way."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mufakat.core import quote, text
from mufakat.core.base import ConversationId, EngineError, Event, MessageId
from mufakat.core.knowledge import briefing, cited, extract, statement
from mufakat.core.knowledge.cited import Checked
from mufakat.core.knowledge.topic import BY_RULE, Line, Source, Topic
from mufakat.core.pack.deliver import Delivery
from mufakat.core.talk import stream
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.message import Message
from mufakat.core.talk.turn import Reply, Status
from mufakat.ports.engine import Engine, Run
from mufakat.ports.library import Library
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import announce, ids
from mufakat.services.knowledge import condensing
from mufakat.services.roster import Roster

log = logging.getLogger(__name__)
PROMPT = "compress"
SECONDS = 180.0
"""For one part."""
PART = 30
"""Messages of one run."""
CHARS = 60_000
"""Of a prompt; messages are shortened to have room."""
LEAST_CHARS = 400
WORTH = 2.5
"""What a sentence counts beside lines by rule: it stands for several messages."""


@dataclass(frozen=True, slots=True)
class Part:
    """Messages that the rule has condensed and the model has not."""

    messages: tuple[Message, ...]
    fence: str
    end: int


class Compressor:
    """Asks an engine to condense what was condensed by rule; that stays where it fails."""

    def __init__(
        self,
        store: Store,
        roster: Roster,
        library: Library,
        scrub: Scrub,
        *,
        engine: str,
        model: str = "",
        workspaces: Path,
        seconds: float = SECONDS,
    ) -> None:
        self._store = store
        self._roster = roster
        self._library = library
        self._scrub = scrub
        self._engine = engine
        self._model = model
        self._workspaces = workspaces
        self._seconds = seconds
        self._closing = asyncio.Event()

    def close(self) -> None:
        """End what runs; its part is condensed after the next start."""
        self._closing.set()

    async def refine(self, id: ConversationId) -> None:
        """Condense every part of a conversation that only the rule has condensed yet."""
        while not self._closing.is_set():
            part = await self._store.read(lambda tx: self._part(tx, id))
            if part is None:
                return
            await self._refine(id, part)

    async def _refine(self, id: ConversationId, part: Part) -> None:
        reply = await self._ask(id, part)
        if self._closing.is_set() and reply.status is not Status.DONE:
            return
        answer = reply.text if reply.status is Status.DONE else ""
        clean = quote.inert(self._scrub(answer).text, part.fence)
        checked = cited.check(clean, part.messages)
        why = "" if checked.sentences else _why(reply, checked)
        usage = announce.usage_data(reply.usage)

        def step(tx: Transaction) -> None:
            if checked.sentences:
                keep(tx, id, part, checked, author=self._engine)
            tx.cursors.keep(condensing.refined(id), part.end)
            data = {
                "conversation": id,
                "engine": self._engine,
                "until": part.end,
                "lines": len(checked.sentences),
                "dropped": checked.dropped,
                "why": why,
                "usage": usage,
            }
            tx.events.record(Event("memory.refined", id, data))

        await self._store.write(step)

    def _part(self, tx: Transaction, id: ConversationId) -> Part | None:
        conversation = tx.conversations.get(id)
        start = tx.cursors.get(condensing.refined(id))
        end = tx.cursors.get(condensing.cursor(id)) or 0
        if conversation is None or start is None or start >= end:
            return None
        said = tx.messages.talk(id, after=start, limit=PART, clip=quote.LONG)
        some = [
            condensing.cleaned(tx, one, conversation.fence, scrub=self._scrub)
            for one in said
            if one.number <= end
        ]
        return Part(tuple(some), conversation.fence, some[-1].number if some else end)

    async def _ask(self, id: ConversationId, part: Part) -> Reply:
        try:
            engine = self._roster.ready(self._engine)
            workspace = await asyncio.to_thread(_workspace, self._workspaces)
            run = Run(
                id=f"memory-{ids.fence()}",
                delivery=delivery(engine, part, self._library.prompt(PROMPT)),
                cwd=workspace,
                permission=Permission.READ,
                workspace=workspace,
                model=self._model,
                idle_seconds=self._seconds,
                total_seconds=self._seconds,
            )
            return await engine.run(run, _unheard, cancel=self._closing)
        except (EngineError, OSError) as problem:
            return Reply(Status.FAILED, message=str(problem))
        except Exception:
            # A plugin may bring any engine; the memory by rule must not end with it.
            log.exception("condensing %s by %s failed", id, self._engine)
            return Reply(Status.FAILED, message="it failed; the server's log says why")


def delivery(engine: Engine, part: Part, prompt: str) -> Delivery:
    """The rules and the part, as the engine takes them; by file or stdin, never as arguments."""
    can = engine.capabilities
    rules = prompt.replace("{fence}", part.fence)
    room = min(CHARS, can.prompt_chars or CHARS) - len(rules)
    each = max(LEAST_CHARS, room // max(1, len(part.messages)) - 80)
    body = "".join(_quoted(said, part.fence, each) for said in part.messages)
    if can.expands_at:
        body = text.neutralise_at(body)
    if can.splits_system:
        return Delivery(rules, body, "split")
    return Delivery("", f"{rules}{quote.DIVIDER}{body}", "inline")


def keep(tx: Transaction, id: ConversationId, part: Part, checked: Checked, *, author: str) -> None:
    """Put a model's sentences in the place of the lines that the rule made of the same messages.

    Lines that replace others, or are replaced, stay: their links are part of what is known.
    """
    inside = {said.id for said in part.messages}
    low, high = part.messages[0].number, part.messages[-1].number
    topics = {one.number: one for one in _topics(tx, id, low=low, high=high)}
    if not topics:
        return
    replaced = [line for one in topics.values() for line in one.lines if _replaceable(line, inside)]
    fresh = _lines(checked, topics, author)
    gone = {line.id for line in replaced}
    known = [line for line in tx.topics.best(id, limit=briefing.POOL) if line.id not in gone]
    fresh, superseded = extract.supersede(fresh, known)
    for line in replaced:
        tx.topics.drop_line(line)
    for line in fresh:
        tx.topics.keep_line(line)
    for line in superseded:
        condensing.link(tx, line)
    condensing.rank(tx, id)


def _topics(tx: Transaction, id: ConversationId, *, low: int, high: int) -> Sequence[Topic]:
    """Topics that hold messages of a part: it is among the newest, so from the end backwards."""
    found: list[Topic] = []
    newest = tx.topics.newest(id)
    number = newest.number if newest else 0
    while number > 0:
        one = tx.topics.get(id, number)
        if one is None or one.last < low:
            break
        if one.first <= high and not one.revoked:
            found.append(one)
        number -= 1
    return found


def _replaceable(line: Line, inside: Collection[MessageId]) -> bool:
    plain = line.author == BY_RULE and line.live and not line.supersedes
    return plain and all(source.id in inside for source in line.sources)


def _lines(checked: Checked, topics: dict[int, Topic], author: str) -> tuple[Line, ...]:
    next_of = {
        number: 1 + max((line.number for line in one.lines), default=0)
        for number, one in topics.items()
    }
    taken = {
        source.id
        for one in topics.values()
        for line in one.lines
        if line.revoked
        for source in line.sources
    }
    lines: list[Line] = []
    for one in checked.sentences:
        # What was taken back must not come again by another hand.
        if any(said.id in taken for said in one.sources):
            continue
        first = one.sources[0]
        home = _home(first.number, topics)
        terms = len(statement.vocabulary(one.text))
        lines.append(
            Line(
                conversation=home.conversation,
                topic=home.number,
                number=next_of[home.number],
                speaker=first.speaker,
                sources=tuple(Source(said.id, said.number) for said in one.sources),
                text=one.text,
                at=first.at,
                worth=round(WORTH + statement.worth(one.text, terms), 3),
                author=author,
            )
        )
        next_of[home.number] += 1
    return tuple(lines)


def _home(number: int, topics: dict[int, Topic]) -> Topic:
    for one in topics.values():
        if one.first <= number <= one.last:
            return one
    return topics[max(topics)]


def _quoted(said: Message, fence: str, room: int) -> str:
    note = "… the middle is left out …"
    body = text.head_and_tail(said.text, room, note=note)
    return f"{quote.header(fence, said.number, said.speaker)}{body}\n"


def _why(reply: Reply, checked: Checked) -> str:
    if reply.status is not Status.DONE:
        return text.one_line(reply.message or (reply.failure or reply.status).value, 300)
    return f"none of its {checked.dropped} sentences names messages that say so"


def _workspace(folder: Path) -> Path:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


async def _unheard(event: stream.StreamEvent) -> None:
    """Nobody watches; only the answer counts."""
