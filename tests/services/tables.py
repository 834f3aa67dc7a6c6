"""Seats whose words a test chooses, and short ways to hold a table."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.seat import Wanted
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.ports.engine import Capabilities, OnEvent, Run
from mufakat.services.deliberation.opening import Asked
from mufakat.services.deliberation.roundtables import View
from services.conftest import House, Puppet

ROUND = re.compile(r"Round (\d) of")
Answer = Callable[[int, str], str]
"""What a seat says in its n-th turn (from 1), given what it was told."""


def block(stance: str = "for", **fields: Any) -> str:
    """A block as an agent writes it."""
    return "```position\n" + json.dumps({"stance": stance, **fields}, indent=1) + "\n```"


@dataclass
class Member:
    """One engine at the table: what it says, and what it was told."""

    name: str
    answer: Answer
    capabilities: Capabilities
    heard: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    gate: asyncio.Event | None = None
    """Set, before it answers; until then it works."""
    started: asyncio.Event = field(default_factory=asyncio.Event)

    def puppet(self) -> Puppet:
        return Puppet(self.name, self._behave, self.capabilities)

    async def _behave(self, run: Run, on_event: OnEvent, cancel: asyncio.Event) -> Reply:
        self.runs.append(run)
        told = (
            f"{run.delivery.system}\n{run.delivery.user}" if not run.resume else run.delivery.user
        )
        self.heard.append(told)
        session = run.resume or f"{self.name}-{run.id}"
        await on_event(stream.SessionStarted(session))
        self.started.set()
        if self.gate is not None:
            waits = [asyncio.ensure_future(one.wait()) for one in (self.gate, cancel)]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for one in waits:
                one.cancel()
        if cancel.is_set():
            return Reply(Status.CANCELLED)
        text = self.answer(len(self.runs), told)
        await on_event(stream.Text(text))
        usage = Usage(fresh=len(told) // 4, output=len(text) // 4, cost=0.01)
        return Reply(Status.DONE, text=text, session=session, usage=usage)


def member(
    name: str, *answers: str, vendor: str = "", splits: bool = False, resume: bool = True
) -> Member:
    """A seat that says one answer a round, or the next one where its block is asked for again."""
    able = Capabilities(resume=resume, splits_system=splits, vendor=vendor or name, cost=True)

    def answer(turn: int, told: str) -> str:
        rounds = ROUND.findall(told)
        return answers[min(int(rounds[-1]) if rounds else turn, len(answers)) - 1]

    return Member(name, answer, able)


def asked(house: House, members: Sequence[Member], question: str, **more: Any) -> Asked:
    seats = more.pop("seats", tuple(Wanted(one.name) for one in members))
    return Asked(question, str(house.project), seats, **more)


async def begin(
    house: House, members: Sequence[Member], question: str = "Which store?", **more: Any
) -> View:
    house.seat(*(one.puppet() for one in members))
    return await house.app.roundtables.start(asked(house, members, question, **more))


async def hold(
    house: House, members: Sequence[Member], question: str = "Which store?", **more: Any
) -> View:
    """A table from its beginning to its end, or to where it waits for a person."""
    view = await begin(house, members, question, **more)
    return await house.app.roundtables.wait(view.table.id, seconds=20)


def three(**more: Any) -> list[Member]:
    """Three vendors that come to an agreement on A1, leave B1 open and fight over C1."""
    return [
        member(
            "one",
            "SQLite is enough.\n" + block(claims=[{"id": "A1", "text": "SQLite is enough."}]),
            "I still say so.\n"
            + block(agree=["A1"], open=[{"id": "B1", "why": "no figures"}], dissent=["C1"]),
            **more,
        ),
        member(
            "two",
            "It needs a test.\n" + block(claims=[{"id": "B1", "text": "It must be measured."}]),
            "Fine.\n" + block(agree=["A1", "B1"], dissent=[{"id": "C1", "why": "costs money"}]),
            **more,
        ),
        member(
            "three",
            "Use a server.\n" + block("against", claims=[{"id": "C1", "text": "Use a server."}]),
            "Convinced of A1.\n" + block("mixed", agree=["A1", "B1"]),
            **more,
        ),
    ]


NO_CAPS = Caps(None, None, None, None)
