"""What a branch came to, by rule: decisions and everybody's last words, each with its message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mufakat.core import text
from mufakat.core.base import ConversationId
from mufakat.core.knowledge import statement
from mufakat.core.talk.branch import Branch
from mufakat.core.talk.message import TALK, Message

CHARS = 2_000
LINE_CHARS = 240
TITLE_CHARS = 80
LAST_SHARE = 0.6
"""Of the room, so much goes to last words at most; decisions take what is left."""
_SIGNS = (statement.SIGNS["decision"], statement.SIGNS["commitment"])


def of(branch: Branch, name: str, said: Sequence[Message], last: Sequence[Message]) -> str:
    """At most CHARS characters: where it came from, then decisions, then last words.

    `said` are messages of the branch in any order, `last` the last one of every agent.
    """
    room = CHARS - len(told(branch, name, ""))
    words = _within(_last_words(branch.conversation, last), int(room * LAST_SHARE))
    room -= sum(len(line) + 1 for line in words)
    decided = _within(_decisions(branch.conversation, said), room - len("Decided:\n"))
    return told(branch, name, "\n".join([*(("Decided:", *decided) if decided else ()), *words]))


def told(branch: Branch, name: str, words: str) -> str:
    """The words between the line that names the branch and the one that says where more is."""
    title = text.one_line(name, TITLE_CHARS)
    head = f"Adopted from the branch “{title}” ({branch.conversation}), from m:{branch.number} on."
    return f"{head}\n{words}\nMore: pull session {branch.conversation}"


def _last_words(id: ConversationId, last: Sequence[Message]) -> Iterator[str]:
    newest = sorted(last, key=lambda one: -one.number)
    if newest:
        yield "Last words:"
    for one in newest:
        yield _line(id, one, one.text)


def _decisions(id: ConversationId, said: Sequence[Message]) -> Iterator[str]:
    """The newest first: a later decision outlives an earlier one."""
    talk = [one for one in said if one.kind in TALK]
    for one in sorted(talk, key=lambda one: -one.number):
        for stated in statement.of(one):
            if any(sign.search(stated.text) for sign in _SIGNS):
                yield _line(id, one, stated.text)


def _line(id: ConversationId, one: Message, words: str) -> str:
    return f"- {one.speaker} ({id}/m:{one.number}): {text.one_line(words, LINE_CHARS)}"


def _within(lines: Iterator[str], room: int) -> list[str]:
    """Lines, each once, as long as they fit."""
    kept: list[str] = []
    for line in lines:
        if line in kept:
            continue
        if len(line) + 1 > room:
            break
        kept.append(line)
        room -= len(line) + 1
    return kept
