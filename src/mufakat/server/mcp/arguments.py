"""What each tool takes: one model a tool, from which its schema is made."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(max_length=262_144)]
Name = Annotated[str, Field(max_length=512)]
Names = Annotated[list[Name], Field(max_length=64)]
Seconds = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]

Named = Literal["plan", "artifact", "message", "slice"]
Pulled = Literal["", "skill", "memory", "recall", "session", "docs", "code", "graph", Named]


class Arguments(BaseModel):
    """Nothing is guessed: what is not named is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Send(Arguments):
    body: Text
    to: Names = Field(default_factory=list)
    intent: Literal["request", "decision", "alert", "handoff", "inform", "ack"] = "inform"
    thread: Name = ""
    reply_to: Name = ""
    urgent: bool = False
    deadline: float | None = Field(default=None, gt=0, le=604_800, allow_inf_nan=False)
    key: Annotated[str, Field(max_length=128)] = ""


class Inbox(Arguments):
    wait: Seconds = 0
    limit: int = Field(default=20, ge=1, le=100)


class Ack(Arguments):
    numbers: Annotated[list[Annotated[int, Field(ge=1, lt=2**62)]], Field(max_length=100)]
    decline: Name = ""


class State(Arguments):
    state: Literal["working", "blocked", "idle"]
    on: Literal["", "approval", "lease", "agent", "person", "tool", "error"] = ""
    detail: Name = ""


class Lease(Arguments):
    action: Literal["acquire", "renew", "release", "check", "transfer", "defer", "list"]
    resources: Annotated[list[Name], Field(max_length=32)] = Field(default_factory=list)
    shared: bool = False
    ttl: float = Field(default=900, ge=5, le=86_400, allow_inf_nan=False)
    wait: Seconds = 0
    reason: Name = ""
    id: Name = ""
    fence: Annotated[str, Field(pattern=r"^\d{0,19}$")] = ""
    to: Name = ""


class Who(Arguments):
    name: Name = ""


class Wait(Arguments):
    conditions: Annotated[list[Name], Field(min_length=1, max_length=16)]
    any: bool = False
    seconds: Seconds = 60


class ContextPull(Arguments):
    kind: Pulled = ""
    query: Annotated[str, Field(max_length=10_000)] = ""
    form: Literal["probe", "slice", "full"] = "slice"
    budget: int = Field(default=4_000, ge=200, le=60_000)
