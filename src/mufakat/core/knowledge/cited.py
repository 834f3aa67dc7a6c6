"""Checking what a model made of messages: a sentence without its sources is not kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import sentence, statement
from mufakat.core.talk.message import Message

_IDS = re.compile(r"\bm:(\d{1,9})\b")
_MARKS = re.compile(r"\s*[\[(](?:m:\d{1,9}[,;\s]*)+[\])]|\s*\bm:\d{1,9}\b[,;]?")
_FACT = re.compile(r"\d[\w.,:/-]*|(?<=[a-z,;:] )[A-Z]\w+|`[^`\n]{1,80}`")
_ENDING = re.compile(r"([.!?。！？])\s*((?:[\[(](?:m:\d{1,9}[,;\s]*)+[\])]\s*)+)")
MOST = 40
"""Sentences of one answer; more is no summary."""
GROUND = 0.4
"""Share of a sentence's words that its messages must have."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with the messages that it names."""

    text: str
    sources: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What of an answer is kept."""

    sentences: tuple[Sentence, ...]
    dropped: int
    """Sentences without sources, with sources that are not in the part, or with facts of none."""


def check(answer: str, part: Sequence[Message]) -> Checked:
    """Keep the sentences of an answer that name existing messages of the part and are told there.

    The sources may stand inside the sentence or just behind it, as `[m:3, m:5]`.
    """
    known = {said.number: said for said in part}
    kept: list[Sentence] = []
    dropped = 0
    for text in sentence.split(_ENDING.sub(r" \2\1 ", answer)):
        found = _sentence(text, known)
        if found is None or len(kept) >= MOST:
            dropped += 1
        else:
            kept.append(found)
    return Checked(tuple(kept), dropped)


def _sentence(text: str, known: Mapping[int, Message]) -> Sentence | None:
    numbers = [int(number) for number in _IDS.findall(text)]
    if not numbers or any(number not in known for number in numbers):
        return None
    sources = tuple(known[number] for number in dict.fromkeys(numbers))
    bare = re.sub(r"\s+([.!?])", r"\1", _MARKS.sub("", text)).strip(" -–:")
    return Sentence(bare, sources) if _grounded(bare, sources) else None


def _grounded(text: str, sources: Sequence[Message]) -> bool:
    """Whether its words, and above all its names and numbers, are those of its messages."""
    terms = statement.vocabulary(text)
    if len(terms) < statement.SHORTEST:
        return False
    said = "\n".join(f"{one.speaker} {one.text}" for one in sources)
    folded = said.casefold()
    if any(fact.strip("`.,:").casefold() not in folded for fact in _FACT.findall(text)):
        return False
    return len(terms & statement.vocabulary(said)) >= GROUND * len(terms)
