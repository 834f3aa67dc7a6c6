"""Messages are measured once."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mufakat.core import tokens
from mufakat.core.base import ConversationId, MessageId, Millis
from mufakat.core.talk import message
from mufakat.core.talk.message import Kind, Message


@given(st.text(alphabet=st.characters(codec=None)))
def test_a_draft_measures_any_text(text: str) -> None:
    draft = message.draft(Kind.AGENT, "claude@box:0123ab", text=text)
    assert (draft.chars, draft.tokens) == (len(text), tokens.estimate(text))
    assert draft.digest == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def test_characters_are_counted_not_bytes() -> None:
    assert message.draft(Kind.PERSON, "human", text="안녕 👋").chars == 4


def test_a_message_knows_whether_it_is_whole() -> None:
    stored = Message(
        MessageId("m1"), ConversationId("c1"), 1, Millis(0), Kind.PERSON, "human", "abc", 3, 1
    )
    assert stored.whole
    assert not replace(stored, text="a").whole


def test_tool_traffic_is_not_talk() -> None:
    assert {Kind.PERSON, Kind.AGENT} == message.TALK
    assert {Kind.TOOL_CALL, Kind.TOOL_RESULT} == set(Kind) - message.TALK
