"""The words of the chat: what comes in is read as it was meant, what goes out calls nobody."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.base import MessageId
from mufakat.core.coordination import chat, identity
from mufakat.core.coordination.chat import Line


def event(**more: Any) -> dict[str, Any]:
    said = {"type": "message", "channel": "C1", "user": "U1", "text": "Hello.", "ts": "1.2"}
    return {"type": "event_callback", "team_id": "T1", "event": said | more}


def test_a_message_is_heard() -> None:
    heard = chat.hear(event(thread_ts="1.0"))
    assert heard is not None
    assert (heard.channel, heard.person, heard.text) == ("C1", "T1/U1", "Hello.")
    assert (heard.stamp, heard.thread, heard.bot, heard.own) == ("1.2", "1.0", False, "")


def test_the_first_message_of_a_thread_is_in_none() -> None:
    heard = chat.hear(event(thread_ts="1.2"))
    assert heard is not None and heard.thread == ""


@pytest.mark.parametrize("subtype", ["message_changed", "message_deleted", "channel_join"])
def test_news_of_the_chat_says_nothing(subtype: str) -> None:
    assert chat.hear(event(subtype=subtype)) is None


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "event_callback"},
        {"type": "event_callback", "event": []},
        event(type="reaction_added"),
        event(ts=""),
        event(ts=None),
        event(ts="1" * 100),
        event(thread_ts="a\nb"),
    ],
)
def test_what_is_no_message_is_not_heard(payload: dict[str, Any]) -> None:
    assert chat.hear(payload) is None


def test_bots_and_our_own_posts_are_known() -> None:
    bot = chat.hear(event(bot_id="B1"))
    assert bot is not None and bot.bot
    posted = chat.post(Line(MessageId("m_1"), "codex@box:abcdef", "Hi."), "C1")
    own = chat.hear(event(bot_id="B1", metadata=posted["metadata"]))
    assert own is not None and own.own == "m_1"


def test_markup_becomes_plain_text() -> None:
    said = "<@U1|ana> see <https://a.example/x|the page>, <#C1|dev> &amp; <!here> 1 &lt; 2 &amp;lt;"
    assert chat.plain(said) == "@ana see the page (https://a.example/x), #dev & @here 1 < 2 &lt;"


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("@reviewer, please", ("reviewer",)),
        (
            "@role:tester and @anna.b. And @reviewer @reviewer",
            ("role:tester", "anna.b", "reviewer"),
        ),
        ("@codex@box:abc123 look", ("codex@box:abc123",)),
        ("mail bob@example.com", ()),
        ("a lone @ sign, @@ two", ()),
    ],
)
def test_mentions(said: str, names: tuple[str, ...]) -> None:
    assert chat.mentions(said) == names


def test_a_person_has_one_identity() -> None:
    name = chat.person("T1/U1")
    assert name == chat.person("T1/U1") != chat.person("T2/U1")
    assert identity.parse(name) is not None
    assert name.startswith("human@chat:")


def test_a_post_shows_who_speaks_and_to_whom() -> None:
    line = Line(
        MessageId("m_1"),
        "codex@box:abcdef",
        "Use PostgreSQL.",
        label="architect",
        intent="decision",
        to=("role:tester",),
        thread="1.0",
    )
    posted = chat.post(line, "C1")
    head, said = posted["text"].split("\n", 1)
    assert head == "*codex@box:abcdef* (architect) · decision → role:tester"
    assert (said, posted["thread_ts"], posted["username"]) == (
        "Use PostgreSQL.",
        "1.0",
        "architect",
    )


@given(st.text(alphabet="<>&@!|heranclvyo#U1 \n*`", max_size=60))
def test_a_post_calls_nobody_and_has_no_markup(said: str) -> None:
    shown = chat.escape(said)
    assert "<" not in shown and ">" not in shown
    for loud in ("@here", "@channel", "@everyone"):
        assert loud not in shown.lower()
    if "\N{WORD JOINER}" not in shown:
        assert chat.plain(shown) == chat.plain(chat.escape(said))


@given(st.text(max_size=80))
def test_what_is_posted_is_read_back_as_it_was(said: str) -> None:
    posted = chat.escape(chat.text.clean(said))
    assert chat.plain(posted).replace("\N{WORD JOINER}", "") == chat.text.clean(said).replace(
        "\N{WORD JOINER}", ""
    )


def test_twin_a_post_without_escaping_calls_the_channel() -> None:
    said = "<!channel> @here"
    assert "<!channel>" in said
    assert "<!channel>" not in chat.escape(said) and "@here" not in chat.escape(said)


def test_a_long_text_is_cut_and_says_where_the_rest_is() -> None:
    posted = chat.post(Line(MessageId("m_9"), "a@b:123456", "x" * 50_000), "C1")
    assert len(posted["text"]) < 4_000
    assert "m_9" in posted["text"]


def test_the_same_message_has_the_same_dedup_id() -> None:
    one, other = chat.dedup("m_1"), chat.dedup("m_2")
    assert one == chat.dedup("m_1") != other
    assert [len(part) for part in one.split("-")] == [8, 4, 4, 4, 12]
    json.dumps(chat.post(Line(MessageId("m_1"), "a@b:123456", "é"), "C1"))
