"""Compressed memory on LoCoMo: how many turns that answer questions are left in a few characters.

Fitted on the conversations with an even place in the file, reported on the odd ones. The data are
CC BY-NC and never part of this repository: --data names the file `locomo10.json`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from bench import report
from mufakat.core.base import ConversationId, MessageId, Millis
from mufakat.core.knowledge import briefing, extract, hysteresis, sentence, statement
from mufakat.core.knowledge.topic import Line, Topic
from mufakat.core.talk.message import Kind, Message

BUDGETS = (2_000, 4_000, 8_000, 16_000)
HALF = 0.5
"""Share of a turn's words that must be left, so that it counts as kept."""
DAY = 24 * 3_600_000
TALK = ConversationId("c")
ADVERSARIAL = 5
"""Category of questions that no turn answers."""
FENCE = 25
"""Characters in front of a topic and behind it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation, and the turns that answer its questions: as often as they do."""

    messages: tuple[Message, ...]
    gold: tuple[int, ...]


Kept = Mapping[int, str]
"""What is left of messages, by their numbers."""


def main(data: Path) -> str:
    """Measure; answers the tables as Markdown."""
    cases = load(data)
    parts = []
    for name, some in (("odd, reported", cases[1::2]), ("even, fitted", cases[0::2])):
        parts.append(f"### Conversations {name}\n\n{table(some)}")
    return "\n\n".join(parts)


def load(path: Path) -> list[Case]:
    """The conversations of a LoCoMo file, in its order."""
    return [_case(one) for one in json.loads(path.read_text("utf-8"))]


def _case(one: Mapping[str, Any]) -> Case:
    talk = one["conversation"]
    messages: list[Message] = []
    numbers: dict[str, int] = {}
    session = 1
    while f"session_{session}" in talk:
        for turn in talk[f"session_{session}"]:
            number = len(messages) + 1
            numbers[turn["dia_id"]] = number
            messages.append(_message(turn, number, session))
        session += 1
    asked = [qa for qa in one["qa"] if qa.get("category") != ADVERSARIAL]
    gold = [numbers[id] for qa in asked for id in qa["evidence"] if id in numbers]
    return Case(tuple(messages), tuple(gold))


def _message(turn: Mapping[str, str], number: int, session: int) -> Message:
    caption = turn.get("blip_caption")
    text = f"{turn['text']} [image: {caption}]" if caption else turn["text"]
    at = Millis(session * DAY + number)
    id = MessageId(f"m_{number}")
    return Message(id, TALK, number, at, Kind.PERSON, turn["speaker"], text, len(text), 0)


def recency(case: Case, room: int) -> Kept:
    """The newest turns, whole, until one does not fit."""
    kept: dict[int, str] = {}
    for said in reversed(case.messages):
        room -= extract.price(said.speaker, said.text)
        if room < 0:
            break
        kept[said.number] = said.text
    return kept


def first_sentences(order: Callable[[Sequence[Message]], Sequence[Message]]) -> Way:
    """First sentences of turns in an order, while they fit."""

    def way(case: Case, room: int) -> Kept:
        kept: dict[int, str] = {}
        for said in order(case.messages):
            first = next(sentence.split(said.text), "")
            cost = extract.price(said.speaker, first)
            if first and cost <= room:
                room -= cost
                kept[said.number] = first
        return kept

    return way


def evenly(messages: Sequence[Message]) -> Sequence[Message]:
    """Every fifteenth turn, then those between."""
    return [one for start in range(15) for one in messages[start::15]]


def memory(case: Case, room: int) -> Kept:
    """What Mufakat's memory tells, made as the conversation went on."""
    lines, topics = condensed(case)
    titles = {number: one.title for number, one in topics.items()}
    ranked = briefing.rank(lines, max(room, briefing.RESERVE))
    told = briefing.within(ranked, titles, before=len(case.messages) + 1, room=room)
    kept: dict[int, str] = {}
    for line in told:
        for source in line.sources:
            kept[source.number] = f"{kept.get(source.number, '')} {line.text}"
    told_chars = sum(FENCE + len(one.head) + len(one.text) for one in briefing.found(told, topics))
    assert told_chars + briefing.FRAME_CHARS <= room, (told_chars, room)
    return kept


@cache
def condensed(case: Case) -> tuple[list[Line], dict[int, Topic]]:
    """All live lines, as they come to be six turns at a time."""
    lines: dict[str, Line] = {}
    topics: dict[int, Topic] = {}
    newest: Topic | None = None
    for part in _steps(case.messages):
        for some in extract.parts(part):
            known = sorted(lines.values(), key=lambda line: -line.worth)[: briefing.POOL]
            made = extract.condense(TALK, some, newest=newest, known=known, now=some[-1].at)
            newest = topics[made.topic.number] = made.topic
            lines |= {line.id: line for line in made.lines}
            for line in made.superseded:
                lines.pop(line.id, None)
    return [line for line in lines.values() if line.live], topics


def _steps(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    done = 0
    for heard in range(len(messages) + 1):
        part = hysteresis.due(messages[done:heard])
        if part:
            done += len(part)
            yield part


Way = Callable[[Case, int], Kept]
WAYS: Mapping[str, Way] = {
    "newest turns, whole": recency,
    "first sentences, oldest first": first_sentences(lambda messages: messages),
    "first sentences, newest first": first_sentences(lambda messages: messages[::-1]),
    "first sentences, spread evenly": first_sentences(evenly),
    "Mufakat's memory": memory,
}


def share(case: Case, kept: Kept) -> float:
    """Gold turns of which at least half of the words are left, of all."""
    whole = {said.number: statement.vocabulary(said.text) for said in case.messages}
    left = {number: statement.vocabulary(text) for number, text in kept.items()}
    held = [
        len(left[number] & whole[number]) >= HALF * len(whole[number])
        for number in case.gold
        if number in left
    ]
    return sum(held) / len(case.gold)


def table(cases: Sequence[Case]) -> str:
    """Kept gold turns by way and budget."""
    columns = ("gold turns kept within", *(f"{room:,} characters" for room in BUDGETS), "seconds")
    return report.table(columns, [_row(name, way, cases) for name, way in WAYS.items()])


def _row(name: str, way: Way, cases: Sequence[Case]) -> list[str]:
    started = time.perf_counter()
    found = [sum(share(one, way(one, room)) for one in cases) / len(cases) for room in BUDGETS]
    seconds = time.perf_counter() - started
    return [name, *(f"{value:.3f}" for value in found), f"{seconds:.1f}"]
