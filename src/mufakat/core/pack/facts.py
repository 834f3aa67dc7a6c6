"""Everything a pack is made from, gathered before assembly begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mufakat.core.coordination.digest import Digest
from mufakat.core.deliberation.briefing import Briefing
from mufakat.core.deliberation.decision import Decision as Ruling
from mufakat.core.knowledge.found import Found
from mufakat.core.pack.conditions import Conditions
from mufakat.core.pack.mode import Mode
from mufakat.core.pack.tiering import Decision
from mufakat.core.talk.agent import Role
from mufakat.core.talk.branch_origin import Origin
from mufakat.core.talk.message import Message

DEFAULT_BUDGET = 60_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A source that could not be had; shown in the receipt and told to the agent."""

    source: str
    why: str


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """The project as an agent should know it."""

    name: str
    path: str
    summary: str = ""
    """First paragraph of the README, one line."""
    stack: tuple[str, ...] = ()
    branch: str = ""
    conventions: tuple[str, ...] = ()
    """Convention files by name, for example AGENTS.md."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """An agent as the others should know it."""

    identity: str
    role: str
    last: Message | None = None
    state: str = ""
    """What it does now, where that is worth a word."""
    holds: tuple[str, ...] = ()
    """Resources that it has leased."""


@dataclass(frozen=True, slots=True)
class HistoryFacts:
    """The part of a conversation that packing needs, loaded by indexes."""

    fence: str
    newest: Sequence[Message] = ()
    """Newest first, without the prompt, until their cost exceeds the budget."""
    reserved: Sequence[Message] = ()
    """Last message of every agent and the last two of people, in any order."""
    total: int = 0
    """Number of the newest message of the conversation."""
    talk: int = 0
    asked: int = 0
    """Number of the prompt's own message, which is told apart from the history."""
    window_start: int = 1
    """Where the newest pack's window began."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The input of assembly; nothing else decides what is in a pack."""

    prompt: str
    project: ProjectFacts
    role: Role
    identity: str
    """Of the agent that is asked."""
    platform: str
    history: HistoryFacts
    persona: str = ""
    participants: Sequence[Speaker] = ()
    """Agents that have spoken, and the one that is asked."""
    digest: Digest | None = None
    """What is new for the agent; None where it takes part in nothing else."""
    budget: int = DEFAULT_BUDGET
    window_tokens: int | None = None
    """The model's window; a small one makes the lite variant."""
    mode: Mode | None = None
    """The caller's override."""
    muted: frozenset[str] = frozenset()
    """Section kinds that the caller left out for this request."""
    has_plan: bool = False
    attachments: bool = False
    """Skills or sessions attached by hand."""
    roundtable: bool = False
    unavailable: Sequence[Unavailable] = field(default=())
    skills_index: Sequence[Found] = ()
    """Names and descriptions of all skills."""
    memory: Sequence[Found] = ()
    """Topics of the conversation before its window."""
    recalled: Sequence[Found] = ()
    """What was said in this and in other conversations, best first; so are all that follow."""
    code: Sequence[Found] = ()
    graph: Sequence[Found] = ()
    skills: Sequence[Found] = ()
    """Skills with their bodies."""
    docs: Sequence[Found] = ()
    linked: Sequence[Found] = ()
    """Sessions that are linked to this conversation."""
    conditions: Conditions = Conditions()
    gaps: Sequence[Unavailable] = ()
    """Sources of these that could not be had; told late, because they change from turn to turn."""
    nonce: str = ""
    """By which the agent's own requests are known; empty where none are answered."""
    tiering: Sequence[Decision] = ()
    """Sections that use has shown to be better pushed, or better pulled, than their row says."""
    decisions: Sequence[Ruling] = ()
    """What roundtables of the project came to, the conversation's own first."""
    briefing: Briefing | None = None
    """What a seat is told of its roundtable; None for any other request."""
    origin: Origin | None = None
    """What the conversation inherits as a branch; None where it is none."""
