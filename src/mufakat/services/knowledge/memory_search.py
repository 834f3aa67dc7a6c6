"""Finding lines of the compressed memory by their words, and topics by their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mufakat.core.base import ConversationId
from mufakat.core.knowledge import briefing, topic, words
from mufakat.core.knowledge.found import Found
from mufakat.core.knowledge.topic import Line, Topic
from mufakat.ports.store import Transaction

LOOKED_AT = 500
"""Lines with a word of the query, the newest first."""
QUERY_CHARS = 2_000
WORDS = 8
TOPICS = 8
_NUMBER = re.compile(r"(?:memory:)?(\d{1,9})(?:\.\d{1,9})?")


def search(tx: Transaction, conversation: ConversationId, query: str, limit: int) -> Sequence[Line]:
    """Lines that have words of the query: those with most of them first, then the newest."""
    wanted = list(dict.fromkeys(_words(query)))[:WORDS]
    found = tx.topics.find(conversation, wanted, limit=LOOKED_AT)
    counts = {line.id: _held(line, wanted) for line in found}
    return sorted(found, key=lambda line: -counts[line.id])[:limit]


def pull(tx: Transaction, conversation: ConversationId, query: str) -> Sequence[Found]:
    """A topic by its number, whole; else the topics that have words of the query."""
    named = _NUMBER.fullmatch(query.strip())
    if named:
        one = tx.topics.get(conversation, int(named[1]))
        return [] if one is None or one.revoked else [_whole(one)]
    lines = search(tx, conversation, query, 4 * TOPICS)
    numbers = list(dict.fromkeys(line.topic for line in lines))[:TOPICS]
    heads = {one.number: one for one in tx.topics.heads(conversation, sorted(numbers))}
    told = [line for line in lines if line.topic in heads and not heads[line.topic].revoked]
    by_topic = {one.id: one for one in briefing.found(told, heads)}
    wanted = [f"{topic.PREFIX}{number}" for number in numbers]
    return [by_topic[id] for id in wanted if id in by_topic]


def _whole(one: Topic) -> Found:
    lines = [line for line in one.lines if not line.revoked]
    return Found(one.key, "memory", briefing.head(one), topic.show(lines))


def _words(query: str) -> Sequence[str]:
    """Words as they are written, and CJK in pairs; stop words say nothing."""
    found: list[str] = []
    for token in words.tokens(query[:QUERY_CHARS]):
        if token.isascii():
            found += [token] if token.lower() not in words.STOP else []
        else:
            found += list(words.of_token(token)) or [token]
    return found


def _held(line: Line, wanted: Sequence[str]) -> int:
    folded = line.text.casefold()
    return sum(word.casefold() in folded for word in wanted)
