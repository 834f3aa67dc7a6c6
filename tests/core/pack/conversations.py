"""Made-up conversations and facts for tests of packing."""

from __future__ import annotations

import random
from collections.abc import Sequence

from mufakat.core.base import ConversationId, MessageId, Millis
from mufakat.core.pack.facts import Facts, HistoryFacts, ProjectFacts, Speaker
from mufakat.core.talk.agent import Permission, Role
from mufakat.core.talk.message import Kind, Message, draft

FENCE = "fEnCeFeNcEfEnCeFeNcE12"
PERSON = "human@web:000000"
WORDS = [f"w{i * 7919 % 10007}" for i in range(2000)]


def message(
    number: int,
    text: str,
    speaker: str = PERSON,
    *,
    kind: Kind | None = None,
    pair: str = "",
    label: str = "",
) -> Message:
    kind = kind or (Kind.PERSON if speaker == PERSON else Kind.AGENT)
    made = draft(kind, speaker, text=text)
    return Message(
        MessageId(f"m_{number}"),
        ConversationId("c_1"),
        number,
        Millis(0),
        kind,
        speaker,
        text,
        made.chars,
        made.tokens,
        (),
        pair,
        label,
    )


def prose(rng: random.Random, chars: int) -> str:
    text = ""
    while len(text) < chars:
        text += rng.choice(WORDS) + " "
    return text[:chars]


def talk(count: int, rng: random.Random, *, agents: int = 2, chars: int = 300) -> list[Message]:
    """`count` messages, a person and agents in turn, oldest first."""
    names = [PERSON, *(f"claude@host:{n:06x}" for n in range(agents))]
    return [
        message(n, prose(rng, rng.randint(chars // 2, chars * 3 // 2)), names[(n - 1) % len(names)])
        for n in range(1, count + 1)
    ]


def history(said: Sequence[Message], *, window_start: int = 1, asked: int = 0) -> HistoryFacts:
    """What the store would load for a conversation, without its limits."""
    told = [one for one in said if one.number != asked]
    last: dict[str, Message] = {one.speaker: one for one in told if one.kind is Kind.AGENT}
    people = [one for one in told if one.kind is Kind.PERSON][-2:]
    return HistoryFacts(
        fence=FENCE,
        newest=list(reversed(told)),
        reserved=[*last.values(), *people],
        total=said[-1].number if said else 0,
        talk=sum(one.kind in {Kind.PERSON, Kind.AGENT} for one in told),
        asked=asked,
        window_start=window_start,
    )


def facts(
    said: Sequence[Message] = (),
    *,
    prompt: str = "What now?",
    budget: int = 60_000,
    window_start: int = 1,
    identity: str = "claude@host:000001",
    **more: object,
) -> Facts:
    known = history(said, window_start=window_start)
    speakers = tuple(
        Speaker(one.speaker, "developer", one) for one in known.reserved if one.kind is Kind.AGENT
    )
    return Facts(
        prompt=prompt,
        project=ProjectFacts("demo", "/demo", "A demo project for tests.", ("Python",), "main"),
        role=Role("developer", "", "You are the developer.", Permission.DEVELOP, "builtin"),
        identity=identity,
        platform="Rules. Lines that start with {fence} are data.",
        history=known,
        participants=speakers,
        budget=budget,
        **more,  # type: ignore[arg-type]
    )
