"""What the server answers; these models make the API document, and tests hold answers to them."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

T = TypeVar("T")


class Answer(BaseModel):
    """Every member is always there."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)


class Problem(BaseModel):
    """An error; other members carry details of its code."""

    model_config = ConfigDict(extra="allow", strict=True)

    type: str
    title: str
    status: int
    detail: str
    fix: str
    code: str
    retryable: bool


class Listing(Answer, Generic[T]):
    """One page; `next` asks for the one after it."""

    items: list[T]
    next: str | None


class Health(Answer):
    """That this is Mufakat; all that is told without a token."""

    name: Literal["mufakat"]
    version: str
    pid: int


class Counts(Answer):
    """How much is going on."""

    projects: int
    unfinished_turns: int
    streams: int


class Status(Answer):
    """The server and its log."""

    version: str
    pid: int
    home: str
    epoch: str
    head: str
    counts: Counts
    store: str


class Project(Answer):
    id: str
    name: str
    path: str
    created: str


class Conversation(Answer):
    id: str
    project: str
    title: str
    created: str
    updated: str
    messages: int
    talk: int
    chars: int


class Message(Answer):
    id: str
    conversation: str
    number: int
    at: str
    kind: str
    speaker: str
    text: str
    chars: int
    tokens: int
    whole: bool
    secrets: list[str]
    pair: str
    label: str
    turn: str | None


class Usage(Answer):
    fresh: int
    cache_read: int
    cache_write: int
    output: int
    cost: float | None


class Turn(Answer):
    """A request to an agent and what became of it."""

    id: str
    conversation: str
    agent: str
    engine: str
    model: str
    role: str
    persona: str
    status: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    prompt: str
    answer: str | None
    text: str | None
    """The answer's text, where one turn is asked for and done."""
    pack: str | None
    usage: Usage
    failure: str | None
    message: str
    fix: str
    created: str
    started: str | None
    ended: str | None


class Receipt(BaseModel):
    """What a request was told, what was left out, and why."""

    model_config = ConfigDict(extra="forbid", strict=True, use_attribute_docstrings=True)

    mode: str
    reason: str
    variant: str
    budget: int
    used: int
    tokens: int
    parity: str
    window_start: int
    notes: list[str]
    sections: list[dict[str, Any]]
    unavailable: list[dict[str, str]]


class Pack(Receipt):
    """A stored pack."""

    id: str
    conversation: str
    turn: str | None
    identity: str
    engine: str
    created: str
    form: str
    resumed: bool
    resume_why: str
    instructions: list[str]


class Text(Answer):
    kind: str
    text: str


class PackTexts(Answer):
    """The sections of a pack, and the two texts that the engine got."""

    sections: list[Text]
    system: str
    user: str


class Preview(Receipt):
    """What a request would be told."""

    identity: str
    engine: str
    resume_why: str
    texts: list[Text]
    system: str
    user: str


class PackDiff(Answer):
    """How two packs differ; `text` is a unified diff."""

    same: list[str]
    only_a: list[str]
    only_b: list[str]
    changed: list[str]
    parity_equal: bool
    text: str


class Capabilities(Answer):
    splits_system: bool
    expands_at: bool
    resume: bool
    fork: bool
    system_on_resume: bool
    mcp: bool
    hooks: bool
    cumulative_usage: bool
    cost: bool
    permissions: list[str]
    prompt_chars: int | None
    window_tokens: int | None
    vendor: str
    is_model: bool


class Engine(Answer):
    """An engine as it was found on this machine."""

    name: str
    available: bool
    path: str
    version: str
    login: str
    models: list[str]
    problem: str
    fix: str
    notes: list[str]
    capabilities: Capabilities | None


class Engines(Answer):
    default: str
    engines: list[Engine]


class StoreHealth(Answer):
    problems: list[str]
    facts: dict[str, str]


class Embedding(Answer):
    """The model behind the vectors of what was said; `engine` is `none` where none is set."""

    engine: str
    model: str
    problem: str


class Doctor(Engines):
    """Everything that can be wrong with an installation."""

    platform_support: dict[str, bool]
    store: StoreHealth
    embedding: Embedding
    settings: dict[str, Any]


class Backup(Answer):
    path: str


class Event(Answer):
    """One line of the log; `id` is the cursor behind it."""

    id: str
    revision: int
    at: str
    kind: str
    subject: str
    data: dict[str, Any]


class EventPage(Answer):
    events: list[Event]
    next: str
    head: str
