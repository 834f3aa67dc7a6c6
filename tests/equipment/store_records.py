"""Small records for tests of the store, and a clock that goes where a test wants it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mufakat.core.base import AgentId, ConversationId, MessageId, Millis, PackId, ProjectId, TurnId
from mufakat.core.pack import item
from mufakat.core.pack.facts import Unavailable
from mufakat.core.pack.item import Resolution, Told, Trust
from mufakat.core.pack.receipt import Receipt, SectionReceipt, StoredPack
from mufakat.core.talk import message
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Draft, Kind
from mufakat.core.talk.session import Place, Session
from mufakat.core.talk.turn import Status, Turn
from mufakat.core.talk.usage import Usage
from mufakat.ports.store import Transaction

TALK = ConversationId("c_1")
PROJECT = ProjectId("p_1")


@dataclass
class Readings:
    """Clocks that a test sets, in milliseconds."""

    wall_ms: int = 1_800_000_000_000
    elapsed_ms: int = 0

    def wall(self) -> int:
        return self.wall_ms

    def elapsed(self) -> int:
        return self.elapsed_ms


def setup(tx: Transaction, id: ConversationId = TALK) -> Conversation:
    """A project with one empty conversation."""
    project = tx.projects.ensure("/srv/demo", "demo", id=PROJECT)
    return tx.conversations.add(conversation(id, project=project.id))


def conversation(id: ConversationId = TALK, *, project: ProjectId = PROJECT) -> Conversation:
    return Conversation(id, project, "A title", "0f" * 16, Millis(1), Millis(1))


def say(text: str, *, kind: Kind = Kind.PERSON, speaker: str = "human", **more: Any) -> Draft:
    return message.draft(kind, speaker, text=text, **more)


def number(n: int) -> MessageId:
    """A message id that sorts by `n`."""
    return MessageId(f"m_{n:06d}")


def agent(id: str = "a_1", *, conversation: ConversationId = TALK, **more: Any) -> Agent:
    fields: dict[str, Any] = {
        "identity": f"claude@host:{id.encode().hex()}",
        "engine": "claude",
        "role": "general",
        "persona": "",
        "created": Millis(5),
    }
    return Agent(AgentId(id), conversation, **{**fields, **more})


def session(agent: str = "a_1", **more: Any) -> Session:
    fields: dict[str, Any] = {
        "engine": "claude",
        "id": "s-1",
        "model": "opus",
        "place": Place("/srv/demo", "main", "abc"),
        "told": frozenset({"history/m_1/aa", "role/x/bb"}),
        "system": "cc",
        "running_total": Usage(1, 2, 3, 4, 0.5),
    }
    return Session(AgentId(agent), **{**fields, **more})


def turn(id: str = "t_1", *, conversation: ConversationId = TALK, **more: Any) -> Turn:
    fields: dict[str, Any] = {
        "agent": AgentId("a_1"),
        "identity": "claude@host:abcdef",
        "engine": "claude",
        "model": "opus",
        "role": "general",
        "persona": "",
        "status": Status.QUEUED,
        "prompt": number(1),
        "created": Millis(7),
    }
    return Turn(TurnId(id), conversation, **{**fields, **more})


def pack(id: str = "k_1", *, conversation: ConversationId = TALK, text: str = "") -> StoredPack:
    told = Told(
        "m_1", Resolution.TRIMMED, 3, "dd", "history", Trust.PEER, "claude@h:abcdef", 9, "k"
    )
    section = SectionReceipt(
        "history", 1, 10, 9, 8, (told,), 1, 0, "weights", item.digest(text) if text else ""
    )
    receipt = Receipt(
        "lite",
        "default",
        "standard",
        60_000,
        8,
        2,
        "ee",
        (section,),
        (Unavailable("git", "timed out"),),
        1,
        ("a note",),
    )
    return StoredPack(
        PackId(id),
        conversation,
        TurnId("t_1"),
        None,
        "claude@host:abcdef",
        "claude",
        Millis(9),
        receipt,
        "split",
        True,
        "same place",
        "ff",
        "aa",
        ("CLAUDE.md",),
    )


def talk_of(count: int):
    """A step that makes a conversation of `count` messages, people and agents in turn."""

    def step(tx: Transaction) -> None:
        setup(tx)
        for n in range(1, count + 1):
            kind, who = (Kind.PERSON, "human") if n % 2 else (Kind.AGENT, f"claude@h:{n % 4:06d}")
            tx.messages.append(TALK, say(f"text {n}", kind=kind, speaker=who), id=number(n))

    return step
