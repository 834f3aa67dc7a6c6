"""The history window: the newest messages, and nobody's last word missing.

The window's start stays where the pack before had it while that fits, then moves on by a step:
consecutive packs so share their text up to the newest messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core import quote
from mufakat.core.pack import utterance
from mufakat.core.pack.facts import HistoryFacts
from mufakat.core.pack.item import Resolution
from mufakat.core.pack.utterance import Said
from mufakat.core.talk.message import Kind, Message

RECENT = 5
"""Tool results older than this many messages become one line."""
MIN_STEP, MAX_STEP = 4_000, 16_000
HEADER_CHARS = 40
"""Lower bound of a message's header."""
GAP_CHARS = 80
"""Upper bound of a gap mark."""


@dataclass(frozen=True, slots=True)
class Window:
    """The chosen part of a conversation, oldest first, with its gaps marked."""

    said: tuple[Said, ...]
    text: str
    start: int
    """First message of the unbroken run up to the newest."""
    dropped: int
    why: str


def step(grant: int) -> int:
    """How far the start moves at once, in characters: a quarter of the grant, 4,000 to 16,000."""
    return min(MAX_STEP, max(MIN_STEP, grant // 4)) if grant >= 2 * MIN_STEP else grant // 2


def gap(first: int, last: int) -> str:
    """The mark of messages left out between two told ones; empty where there are none."""
    if last < first:
        return ""
    count = last - first + 1
    plural = "message" if count == 1 else "messages"
    return f"… {count:,} {plural} left out (m:{first}–m:{last}), kept in the store …\n"


def guarantee(facts: HistoryFacts) -> int:
    """Characters that may not be cut: every reserved message by name, and the gaps around."""
    names = [
        len(utterance.say(message, facts.fence, resolution=Resolution.REFERENCE).text)
        for message in unique(facts.reserved)
    ]
    others = beside_the_prompt(facts)
    gaps = min(len(names) + 1, others) if others > len(names) else 0
    return sum(names) + gaps * GAP_CHARS


def need(facts: HistoryFacts, newest: Sequence[Said]) -> int:
    """Characters that all loaded messages take, and what must be told of those before them."""
    told = sum(len(said.text) for said in newest)
    complete = len(newest) >= beside_the_prompt(facts)
    return told if complete else told + guarantee(facts)


def beside_the_prompt(facts: HistoryFacts) -> int:
    """Messages of the conversation, the prompt's own not counted."""
    return facts.total - (1 if facts.asked else 0)


def unique(messages: Sequence[Message]) -> list[Message]:
    """Messages in order of their numbers, each once."""
    return [message for _, message in sorted({m.number: m for m in messages}.items())]


def pruned(message: Message, total: int) -> bool:
    """Whether a message of a conversation of `total` is told by one line: an old tool result."""
    return message.kind is Kind.TOOL_RESULT and message.number <= total - RECENT


def least_chars(message: Message, total: int) -> int:
    """Characters that a message takes in the window at least, any cleaning aside."""
    return HEADER_CHARS + (0 if pruned(message, total) else len(message.text))


def render_newest(facts: HistoryFacts) -> list[Said]:
    """Every loaded message in its window form, newest first."""
    # As in a preview, which has no prompt of its own number yet.
    newest = facts.total - (1 if facts.asked == facts.total else 0)
    return [
        utterance.prune(message, facts.fence)
        if pruned(message, newest)
        else utterance.say(message, facts.fence, resolution=Resolution.FULL)
        for message in facts.newest
    ]


def choose(facts: HistoryFacts, newest: Sequence[Said], grant: int) -> Window:
    """Choose what of the conversation fits into `grant` characters, gap marks included."""
    outside = _reserved_forms(facts, grant)
    start, why = _start(facts, newest, outside, grant)
    run = [said for said in newest if said.number >= start]
    kept = [said for said in outside if said.number < start]
    said = (*kept, *reversed(run))
    text = with_gaps(said, facts.total, asked=facts.asked)
    dropped = beside_the_prompt(facts) - len(said)
    return Window(said, text, start, dropped, why)


def with_gaps(said: Sequence[Said], total: int, *, asked: int = 0) -> str:
    """The told messages as text, every hole between them marked.

    `asked` is the number of the prompt, which leaves no hole: it is told at the end.
    """
    parts: list[str] = []
    expected = 1
    for one in said:
        parts.append(_hole(expected, one.number - 1, asked))
        parts.append(one.text)
        expected = one.number + 1
    parts.append(_hole(expected, total, asked))
    return "".join(parts)


def _hole(first: int, last: int, asked: int) -> str:
    return gap(first + (first == asked), last - (last == asked))


def _reserved_forms(facts: HistoryFacts, grant: int) -> list[Said]:
    """Reserved messages at the best resolution at which they take half the grant at most."""
    reserved = unique(facts.reserved)
    if not reserved:
        return []
    share = max(0, grant // MIN_STEP * MIN_STEP or grant) // (2 * len(reserved))
    forms = []
    for message in reserved:
        limit = min(quote.LONG, max(0, share - 40 - len(message.speaker) - GAP_CHARS))
        resolution = (
            Resolution.FULL
            if limit >= 2 * quote.DIGEST_CHARS or message.chars <= limit
            else Resolution.DIGEST
            if limit >= quote.DIGEST_CHARS // 4
            else Resolution.REFERENCE
        )
        forms.append(
            utterance.say(message, facts.fence, resolution=resolution, limit=max(limit, 1))
        )
    return forms


def _start(
    facts: HistoryFacts, newest: Sequence[Said], outside: Sequence[Said], grant: int
) -> tuple[int, str]:
    costs = _costs(newest, outside)
    if not costs:
        return 1, "nothing said yet"
    first, whole = costs[-1]
    if first <= 1 + (facts.asked == 1) and whole <= grant:
        return 1, "all of it fits"
    held = dict(costs).get(facts.window_start)
    move = step(grant)
    if held is not None and facts.window_start > 1 and grant - 3 * move <= held <= grant:
        return _unsplit(facts, facts.window_start), "start held, so that the prefix is reused"
    return _unsplit(facts, _moved(facts, costs, grant, move)), "start moved on by a step"


def _moved(facts: HistoryFacts, costs: Sequence[tuple[int, int]], grant: int, move: int) -> int:
    start = facts.total + 1
    for number, cost in costs:
        if cost > grant - move and start <= facts.total:
            break
        if cost > grant:
            break
        start = number
    return start


def _costs(newest: Sequence[Said], outside: Sequence[Said]) -> list[tuple[int, int]]:
    """For each possible start, newest first: characters of the run and all kept before it."""
    older = sorted(outside, key=lambda said: said.number)
    before = sum(len(said.text) + GAP_CHARS for said in older)
    costs: list[tuple[int, int]] = []
    run = 0
    for said in newest:
        run += len(said.text)
        while older and older[-1].number >= said.number:
            before -= len(older.pop().text) + GAP_CHARS
        lead = GAP_CHARS if said.number > 1 else 0
        costs.append((said.number, run + before + lead))
    return costs


def _unsplit(facts: HistoryFacts, start: int) -> int:
    """Move a start on until no tool result in the window has its call outside."""
    calls = {m.pair: m.number for m in facts.newest if m.kind is Kind.TOOL_CALL and m.pair}
    for message in reversed(facts.newest):
        if message.number < start or message.kind is not Kind.TOOL_RESULT or not message.pair:
            continue
        if calls.get(message.pair, 0) < start:
            start = message.number + 1
    return start


def earlier(
    facts: HistoryFacts, newest: Sequence[Said], *, start: int, shown: frozenset[int], room: int
) -> tuple[Said, ...]:
    """Messages just before the window that fit into `room`, oldest first, without a hole.

    The oldest one may be told by its two ends, so that the room is used; no tool result is
    told without its call.
    """
    chosen: list[Said] = []
    by_number = {message.number: message for message in facts.newest}
    for said in newest:
        if said.number >= start:
            continue
        if said.number in shown:
            break
        if len(said.text) > room:
            fitted = _fit(by_number[said.number], facts.fence, room)
            chosen.extend(fitted)
            break
        chosen.append(said)
        room -= len(said.text)
    first = _unsplit(facts, chosen[-1].number) if chosen else 0
    return tuple(said for said in reversed(chosen) if said.number >= first)


def _fit(message: Message, fence: str, room: int) -> list[Said]:
    limit = room - 45 - len(message.speaker) - 12
    if limit < 2 * quote.DIGEST_CHARS:
        return []
    said = utterance.say(message, fence, resolution=Resolution.TRIMMED, limit=limit)
    return [said] if len(said.text) <= room else []
