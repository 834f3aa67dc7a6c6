"""What of the memory is told: the lines of most worth beside each other, by topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mufakat.core.knowledge import extract, selection, statement, topic
from mufakat.core.knowledge.found import Found
from mufakat.core.knowledge.selection import Candidate
from mufakat.core.knowledge.topic import Line, Topic

POOL = 800
"""Lines that are looked at, those of most worth first."""
RESERVE = 12_000
"""Characters of the lines that are ranked: more than are told, as the window tells some of them."""
CHARS = 4_000
"""Characters that are told at most, with what the section itself costs."""
FRAME_CHARS = 44
"""Of these, the section's marks."""
LINK_CHARS = 28
"""What it costs to say which line another one replaces."""
HEAD_CHARS = 48
"""What the line above a topic costs beside its title: fence, key, messages."""


def rank(lines: Sequence[Line], room: int = RESERVE) -> list[Line]:
    """The lines that are worth telling together, the best first."""
    live = [line for line in lines if line.live]
    candidates = [
        Candidate(statement.vocabulary(line.text), line.worth, price(line)) for line in live
    ]
    return [live[place] for place in selection.choose(candidates, room)]


def price(line: Line) -> int:
    """Characters of a line where it is told."""
    return extract.price(line.speaker, line.text) + (LINK_CHARS if line.supersedes else 0)


def within(
    ranked: Iterable[Line], titles: dict[int, str], *, before: int, room: int = CHARS
) -> list[Line]:
    """The best lines of messages below `before` that have room with the heads of their topics."""
    room -= FRAME_CHARS
    chosen: list[Line] = []
    headed: set[int] = set()
    for line in ranked:
        if line.sources[0].number >= before:
            continue
        head = 0 if line.topic in headed else HEAD_CHARS + len(titles.get(line.topic, ""))
        cost = price(line) + head
        if cost > room:
            continue
        room -= cost
        headed.add(line.topic)
        chosen.append(line)
    return chosen


def found(lines: Sequence[Line], topics: dict[int, Topic]) -> list[Found]:
    """One item a topic, the newest first: where room is short, the oldest are left out."""
    by_topic: dict[int, list[Line]] = {}
    for line in sorted(lines, key=lambda one: (one.topic, one.sources[0].number, one.number)):
        by_topic.setdefault(line.topic, []).append(line)
    most = max((sum(one.worth for one in some) for some in by_topic.values()), default=1.0)
    return [
        Found(
            id=f"{topic.PREFIX}{number}",
            source="memory",
            head=head(topics[number]),
            text=topic.show(some),
            key=f"{topic.PREFIX}{number}",
            worth=round(max(0.1, sum(one.worth for one in some) / most), 3) if most > 0 else 1.0,
        )
        for number, some in reversed(by_topic.items())
    ]


def head(one: Topic) -> str:
    """The line above a topic: its key, the messages that it is made of, its title."""
    return f"{one.key} m:{one.first}–m:{one.last} {one.title}"
