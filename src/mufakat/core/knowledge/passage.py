"""Turns that were found, put together as they were said: a turn, and who spoke beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mufakat.core import text
from mufakat.core.knowledge.found import Found
from mufakat.core.talk.message import Kind, Message

SOURCE = "recall"
TITLE_CHARS = 24
LEAST_CHARS = 400
"""A long turn is cut to its two ends, but to no less."""
_SPAN_CHARS = 12
"""What a head grows by when it names the last of several turns too."""
NOTE = "… {chars:,} characters in all …"


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as it is told."""

    turn: int
    message: Message
    text: str
    """Who said it, and what; scrubbed."""
    title: str = ""
    """Of its conversation."""

    @property
    def head_chars(self) -> int:
        """Characters that a head above it takes, at most."""
        return len(_head([self.message], self.message, self.title)) + _SPAN_CHARS


def line(turn: int, message: Message, body: str, *, title: str, limit: int) -> Line:
    """Tell one turn in at most about `limit` characters; `body` is its scrubbed text."""
    if message.kind not in (Kind.PERSON, Kind.AGENT):
        body = message.label
    note = NOTE.format(chars=message.chars)
    told = text.head_and_tail(body.strip(), max(LEAST_CHARS, limit), note=note)
    return Line(turn, message, f"{speaker(message.speaker)}: {told}", title)


def speaker(identity: str) -> str:
    """Whom one calls so: the identity without its host."""
    return identity.partition("@")[0] or identity


def fill(order: Sequence[int], lines: Mapping[int, Line], *, limit: int, chars: int) -> list[int]:
    """Turns to tell, best first: at most `limit`, then their neighbours where room is left.

    A turn that does not fit is passed over for a shorter one that is not as good.
    """
    chosen: list[int] = []
    room = _Room(lines, chars)
    for turn in order:
        if len(chosen) == limit:
            break
        if turn in lines and room.takes(turn):
            chosen.append(turn)
    beside = (turn + step for turn in list(chosen) for step in (-1, 1))
    return chosen + [turn for turn in beside if turn in lines and room.takes(turn)]


class _Room:
    """Characters that are left; a turn beside one that is told needs no head of its own."""

    def __init__(self, lines: Mapping[int, Line], chars: int) -> None:
        self._lines = lines
        self._left = chars
        self._taken: set[int] = set()

    def takes(self, turn: int) -> bool:
        if turn in self._taken:
            return False
        joined = {turn - 1, turn + 1} & self._taken
        cost = len(self._lines[turn].text) + 1 + (0 if joined else self._lines[turn].head_chars + 1)
        if cost > self._left:
            return False
        self._left -= cost
        self._taken.add(turn)
        return True


def found(
    chosen: Sequence[int],
    lines: Mapping[int, Line],
    *,
    worth: Mapping[int, float],
    why: Mapping[int, str],
) -> list[Found]:
    """One answer a run of neighbouring turns, the run with the best turn first."""
    runs: list[list[int]] = []
    for turn in sorted(chosen):
        if runs and runs[-1][-1] == turn - 1:
            runs[-1].append(turn)
        else:
            runs.append([turn])
    rank = {turn: at for at, turn in enumerate(chosen)}
    ordered = sorted(runs, key=lambda run: min(rank[turn] for turn in run))
    return [_found(run, lines, rank=rank, worth=worth, why=why) for run in ordered]


def _found(
    run: Sequence[int],
    lines: Mapping[int, Line],
    *,
    rank: Mapping[int, int],
    worth: Mapping[int, float],
    why: Mapping[int, str],
) -> Found:
    best = min(run, key=lambda turn: rank[turn])
    message = lines[best].message
    return Found(
        id=f"m:{message.id}",
        source=SOURCE,
        head=_head([lines[turn].message for turn in run], message, lines[best].title),
        text="\n".join(lines[turn].text for turn in run),
        author=message.speaker,
        key=f"{message.conversation}/m:{message.number}",
        worth=worth.get(best, 0.0),
        why=why.get(best, ""),
    )


def _head(messages: Sequence[Message], best: Message, title: str) -> str:
    at = datetime.fromtimestamp(best.at / 1000, UTC)
    numbers = _numbers([one.number for one in messages])
    name = text.one_line(title, TITLE_CHARS)
    return f"{speaker(best.speaker)[:30]} {at:%Y-%m-%d %H:%M} {numbers} {name}".strip()


def _numbers(numbers: Iterable[int]) -> str:
    every = list(numbers)
    return f"m:{every[0]}" if len(every) == 1 else f"m:{every[0]}–m:{every[-1]}"
