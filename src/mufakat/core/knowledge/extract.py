"""The compressor that needs no model: sentences of older messages become lines of topics."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mufakat.core import text as texts
from mufakat.core.base import ConversationId, Millis
from mufakat.core.knowledge import contradiction, selection, statement, words
from mufakat.core.knowledge.contradiction import Claim
from mufakat.core.knowledge.selection import Candidate
from mufakat.core.knowledge.statement import Statement
from mufakat.core.knowledge.topic import Line, Source, Topic
from mufakat.core.talk.message import Kind, Message

SHARE = 0.75
"""Of the characters of a part, so many may become lines …"""
LEAST_CHARS, MOST_CHARS = 1_600, 8_000
"""… but at least and at most so many."""
GAP = 4 * 3_600_000
"""Milliseconds of silence after which a new topic begins."""
LONGEST = 48
"""Messages of a topic; the next ones begin a new one."""
KIN = 0.12
"""Share of words that a part must have in common with a topic that it goes on with."""
RESTATED = 0.85
"""Share of its words that a known line has, so that a statement says nothing new."""
CHANGE = 4.0
"""Worth of saying that something known is no longer so."""
TITLE_WORDS, TITLE_CHARS = 3, 36
MARK_CHARS = 10
"""What a line costs beside its text and its speaker: `m:123: ` and its end."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """What came of a part: a topic with all its lines, and what of it is new or changed."""

    topic: Topic
    lines: tuple[Line, ...]
    superseded: tuple[Line, ...]
    """Earlier lines that new ones contradict, with their link."""


def condense(
    conversation: ConversationId,
    part: Sequence[Message],
    *,
    newest: Topic | None,
    known: Sequence[Line],
    now: Millis,
) -> Condensed:
    """Condense messages that belong together; `known` are lines of the conversation.

    The messages come clean: scrubbed, and without what could pass for a pack's own marks.
    """
    chosen = extract(part, known)
    goes_on = newest is not None and continues(newest, part, chosen)
    if goes_on and newest is not None:
        before = dataclasses.replace(newest, last=part[-1].number, updated=now)
    else:
        number = newest.number + 1 if newest else 1
        before = Topic(conversation, number, "", part[0].number, part[-1].number, now, now)
    fresh = lines_of(before, chosen)
    fresh, superseded = supersede(fresh, known)
    gone = {line.id: line for line in superseded}
    lines = (*(gone.get(line.id, line) for line in before.lines), *fresh)
    title = title_of(lines)
    return Condensed(dataclasses.replace(before, title=title, lines=lines), fresh, superseded)


def parts(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Messages that belong together: apart where there was a long silence."""
    start = 0
    for place in range(1, len(messages)):
        if messages[place].at - messages[place - 1].at > GAP:
            yield messages[start:place]
            start = place
    yield messages[start:]


def extract(part: Sequence[Message], known: Sequence[Line] = ()) -> list[Statement]:
    """The statements of a part that are worth their characters, in the order they were made."""
    stated = [news(one, known) for one in new(statement.all_of(part), known)]
    room = min(MOST_CHARS, max(LEAST_CHARS, round(SHARE * sum(len(one.text) for one in part))))
    chosen = selection.choose([candidate(one) for one in stated], room)
    return [stated[place] for place in sorted(chosen)]


def new(stated: Sequence[Statement], known: Sequence[Line]) -> Iterator[Statement]:
    """Statements that repeat neither a known line nor each other.

    Agents repeat what they were told; taken for news, it would come back again and again. What
    was taken back, a person alone can say anew.
    """
    seen = [_words(line.text) for line in known if not line.revoked]
    taken = [line.text for line in known if line.revoked]
    for one in stated:
        again = one.message.kind is not Kind.PERSON and _brings_back(one, taken)
        if not again and not any(_repeats(one, terms, told) for terms, told in seen):
            yield one
            seen.append(_words(one.text))


def _words(text: str) -> tuple[frozenset[str], str]:
    return statement.vocabulary(text), text.casefold()


def _repeats(one: Statement, terms: frozenset[str], told: str) -> bool:
    """Whether a text has the same words; with another number or name in it, it is news."""
    if len(one.terms & terms) < RESTATED * len(one.terms):
        return False
    return all(value in told for value in contradiction.values_of(one.text))


def _brings_back(one: Statement, taken: Sequence[str]) -> bool:
    """Whether a statement says what was taken back, whatever else it says."""
    folded = one.text.casefold()
    for text in taken:
        terms = statement.vocabulary(text)
        same = len(one.terms & terms) >= RESTATED * len(terms)
        if same and all(value in folded for value in contradiction.values_of(text)):
            return True
    return False


def news(one: Statement, known: Sequence[Line]) -> Statement:
    """A statement; one that ends what was known until then is never left out for its length."""
    claim = contradiction.claim(one.text)
    if claim is None:
        return one
    speaker = one.message.speaker
    for line in known:
        earlier = contradiction.claim(line.text) if line.live else None
        same = line.speaker == speaker
        if earlier and contradiction.contradicts(claim, earlier, same_speaker=same):
            return dataclasses.replace(one, worth=one.worth + CHANGE)
    return one


def candidate(one: Statement) -> Candidate:
    """A statement with its price as a line."""
    return Candidate(one.terms, one.worth, price("", one.text))


def price(speaker: str, said: str) -> int:
    """Characters that a line costs where it is told."""
    return len(speaker) + MARK_CHARS + len(said)


def continues(topic: Topic, part: Sequence[Message], chosen: Sequence[Statement]) -> bool:
    """Whether a part goes on with a topic: no long silence between, and some of the same words."""
    if topic.revoked or part[-1].number - topic.first >= LONGEST:
        return False
    last = max((line.at for line in topic.lines), default=topic.updated)
    if part[0].at - last > GAP:
        return False
    old = frozenset(t for line in topic.lines for t in statement.vocabulary(line.text))
    came = frozenset(t for one in chosen for t in one.terms)
    return len(old & came) >= KIN * min(len(old), len(came))


def lines_of(topic: Topic, chosen: Sequence[Statement]) -> tuple[Line, ...]:
    """Statements as the next lines of a topic."""
    start = 1 + max((line.number for line in topic.lines), default=0)
    return tuple(
        Line(
            conversation=topic.conversation,
            topic=topic.number,
            number=number,
            speaker=one.message.speaker,
            sources=(Source(one.message.id, one.message.number),),
            text=one.text,
            at=one.message.at,
            worth=round(one.worth, 3),
        )
        for number, one in enumerate(chosen, start=start)
    )


def supersede(
    fresh: Sequence[Line], known: Sequence[Line]
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Link lines that contradict earlier ones, the new ones with each other too.

    Answers the new lines and the earlier ones that changed; nothing is taken away.
    """
    lines = {line.id: line for line in (*known, *fresh)}
    claims = [(line.id, claim) for line in known if (claim := contradiction.claim(line.text))]
    changed: set[str] = set()
    for line in fresh:
        claim = contradiction.claim(line.text)
        if claim is None:
            continue
        for old in [id for id, earlier in claims if _ends(lines[id], earlier, line, claim)]:
            lines[old] = dataclasses.replace(lines[old], superseded_by=line.id)
            lines[line.id] = dataclasses.replace(lines[line.id], supersedes=old)
            changed.add(old)
        claims.append((line.id, claim))
    own = {line.id for line in fresh}
    return (
        tuple(lines[line.id] for line in fresh),
        tuple(lines[id] for id in sorted(changed - own)),
    )


def _ends(old: Line, earlier: Claim, line: Line, claim: Claim) -> bool:
    if not old.live or old.sources[-1].number > line.sources[-1].number:
        return False
    return contradiction.contradicts(claim, earlier, same_speaker=old.speaker == line.speaker)


def title_of(lines: Sequence[Line]) -> str:
    """The words that stand for a topic: those of most of its lines."""
    counts: Counter[str] = Counter()
    shown: dict[str, str] = {}
    for line in lines:
        for token in words.tokens(line.text):
            if len(token) < 3 or token.isdigit():
                continue
            for term in tuple(words.of_token(token))[:1]:
                shown.setdefault(term, token)
                counts[term] += 1
    best = sorted(counts, key=lambda term: (-counts[term], -len(shown[term]), term))
    return texts.one_line(", ".join(shown[term] for term in best[:TITLE_WORDS]), TITLE_CHARS)
