"""What a branch came to: decisions and last words, with their messages, within its bounds."""

from __future__ import annotations

import random

from mufakat.core.base import ConversationId, MessageId, Millis, ProjectId
from mufakat.core.knowledge import branch_summary
from mufakat.core.talk.branch import Branch
from mufakat.core.talk.message import Kind, Message

HERE = ConversationId("c_2")
ONE = Branch(
    HERE,
    ConversationId("c_1"),
    MessageId("m_4"),
    4,
    1,
    ProjectId("p_1"),
    "person@h:aaaaaa",
    Millis(1),
    Millis(1),
)


def said(number: int, text: str, speaker: str = "claude@h:aaaaaa") -> Message:
    kind = Kind.PERSON if speaker.startswith("person") else Kind.AGENT
    id = MessageId(f"m_{number}")
    return Message(id, HERE, number, Millis(number), kind, speaker, text, len(text), 1)


TALK = [
    said(1, "Shall we look at it?", "person@h:aaaaaa"),
    said(2, "It is sunny. We decided to use a queue instead of a lock."),
    said(3, "Fine weather.", "codex@h:bbbbbb"),
    said(4, "We decided to keep the lock after all. Bye."),
]


def summary(messages: list[Message], last: list[Message] | None = None) -> str:
    return branch_summary.of(ONE, "Try it", messages, messages[-2:] if last is None else last)


def test_it_tells_decisions_and_last_words_with_their_messages() -> None:
    text = summary(TALK)
    lines = text.splitlines()
    assert lines[0] == "Adopted from the branch “Try it” (c_2), from m:4 on."
    assert lines[-1] == "More: pull session c_2"
    queue = "- claude@h:aaaaaa (c_2/m:2): We decided to use a queue instead of a lock."
    kept = "- claude@h:aaaaaa (c_2/m:4): We decided to keep the lock after all."
    assert lines.index(kept) < lines.index(queue) < lines.index("Last words:")
    assert "- codex@h:bbbbbb (c_2/m:3): Fine weather." in lines
    assert "sunny" not in text


def test_the_same_messages_give_the_same_text_in_any_order() -> None:
    assert summary(TALK, TALK[-2:]) == summary(TALK[::-1], TALK[-2:][::-1])


def test_without_anything_to_tell_there_are_still_its_ends() -> None:
    assert len(summary([], []).splitlines()) == 3


def test_it_keeps_within_its_characters_whatever_was_said() -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    alphabet = [
        "decided to ",
        "决定改用缓存。",
        "👨‍👩‍👧‍👦",
        "مرحبا ",
        "word ",
        "\n",
        "x" * 50,
        "🇮🇩",
    ]
    for _ in range(100):
        messages = [
            said(
                number,
                "".join(chance.choices(alphabet, k=chance.randint(1, 120))),
                f"a{chance.randint(1, 30)}@h:cccccc",
            )
            for number in range(1, chance.randint(2, 60))
        ]
        text = summary(messages, messages[-40:])
        assert len(text) <= branch_summary.CHARS
        assert text.splitlines()[-1] == "More: pull session c_2"
