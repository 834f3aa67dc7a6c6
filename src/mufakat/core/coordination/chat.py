"""The team chat: what a person wrote there, in our words, and what we say there, in its words."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mufakat.core import text
from mufakat.core.base import MessageId
from mufakat.core.coordination import identity

CHARS = 3_800
"""Of one post; chats cut longer ones, or refuse them."""
OWN = "mufakat_message"
"""Type of the metadata by which our own posts are known when they come back."""
HUMAN = f"{identity.PERSON}@chat:"
SPOKEN = frozenset({"", "thread_broadcast", "file_share", "me_message"})
"""Kinds of message events in which somebody says something; the others are news of the chat."""
_LOUD = re.compile(r"@(?=(?:channel|here|everyone|group)\b)", re.IGNORECASE)
_LINK = re.compile(r"<([^<>|]*)(?:\|([^<>]*))?>")
_MENTION = re.compile(
    r"(?<![\w@.])@(?P<name>[a-z0-9-]{1,24}@[a-z0-9.-]{1,63}:[0-9a-f]{6,32}"
    r"|(?:role:)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?)"
)
_STAMP = re.compile(r"[0-9A-Za-z._:-]{1,64}")


@dataclass(frozen=True, slots=True)
class Link:
    """A channel of the chat, or one thread in it, that is a conversation here."""

    name: str
    """As the settings call it."""
    channel: str
    conversation: str = ""
    """Id; empty for the room of the project."""
    project: str = ""
    """Folder."""
    thread: str = ""
    """Stamp of the chat's thread, where the link is one; empty for the whole channel."""


@dataclass(frozen=True, slots=True)
class Heard:
    """Something that was written in a channel."""

    channel: str
    person: str
    """The chat's own id of who wrote it."""
    text: str
    stamp: str
    """The chat's id of the message, unique in its channel."""
    thread: str = ""
    """Stamp of the message that began the thread; empty outside of threads."""
    name: str = ""
    bot: bool = False
    own: str = ""
    """Our message that this is, when one of our posts comes back."""


@dataclass(frozen=True, slots=True)
class Line:
    """A message that goes out."""

    message: MessageId
    speaker: str
    text: str
    """Without secrets."""
    label: str = ""
    """Alias or role of the speaker."""
    intent: str = ""
    to: tuple[str, ...] = ()
    thread: str = ""
    """Stamp of the thread that it belongs to."""


def hear(payload: Mapping[str, Any]) -> Heard | None:
    """Read a message event; None for every other one, and for one that says nothing."""
    event = payload.get("event")
    if payload.get("type") != "event_callback" or not isinstance(event, Mapping):
        return None
    kind, subtype = _text(event, "type"), _text(event, "subtype")
    bot = bool(_text(event, "bot_id")) or subtype == "bot_message"
    if kind not in {"message", "app_mention"} or not (bot or subtype in SPOKEN):
        return None
    stamp, thread = _text(event, "ts"), _text(event, "thread_ts")
    if not _STAMP.fullmatch(stamp) or not _STAMP.fullmatch(thread or stamp):
        return None
    team = _text(payload, "team_id") or _text(event, "team")
    return Heard(
        channel=_text(event, "channel"),
        person=f"{team}/{_text(event, 'user')}",
        text=plain(_text(event, "text")),
        stamp=stamp,
        thread="" if thread == stamp else thread,
        name=_name(event),
        bot=bot,
        own=_own(event),
    )


def plain(said: str) -> str:
    """A text without the chat's markup: links, mentions and escaped signs as they are read."""
    shown = _LINK.sub(_shown, said)
    for sign, name in (("<", "&lt;"), (">", "&gt;"), ("&", "&amp;")):
        shown = shown.replace(name, sign)
    return text.clean(shown)


def mentions(said: str) -> tuple[str, ...]:
    """Whom a text names with `@`, each once, in order."""
    return tuple(dict.fromkeys(found["name"] for found in _MENTION.finditer(said)))


def person(who: str) -> str:
    """The identity of a person in the chat: always the same for the same account."""
    return HUMAN + hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()[:12]


def post(line: Line, channel: str) -> dict[str, Any]:
    """What is sent to the chat; nothing in it can call anybody, or look like markup."""
    said = text.head_and_tail(
        text.clean(line.text), CHARS, note=f"… the whole of it is message {line.message} …"
    )
    payload: dict[str, Any] = {
        "channel": channel,
        "username": line.label or line.speaker,
        "text": f"*{escape(line.speaker)}*{escape(_about(line))}\n{escape(said)}",
        "mrkdwn": True,
        "parse": "none",
        "link_names": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "client_msg_id": dedup(line.message),
        "metadata": {"event_type": OWN, "event_payload": {"message": line.message}},
    }
    if line.thread:
        payload["thread_ts"] = line.thread
    return payload


def escape(said: str) -> str:
    """A text in which the chat finds no markup, no link and nobody to call."""
    for sign, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        said = said.replace(sign, name)
    return _LOUD.sub("@\N{WORD JOINER}", said)


def dedup(message: str) -> str:
    """The id by which a chat knows a post that is sent again, in the shape of a UUID."""
    found = hashlib.sha256(message.encode()).hexdigest()
    return f"{found[:8]}-{found[8:12]}-4{found[13:16]}-8{found[17:20]}-{found[20:32]}"


def _about(line: Line) -> str:
    parts = [f" ({line.label})" if line.label else ""]
    if line.intent not in {"", "inform"}:
        parts.append(f" · {line.intent}")
    if line.to:
        parts.append(f" → {', '.join(line.to[:4])}{' …' if len(line.to) > 4 else ''}")
    return "".join(parts)


def _shown(found: re.Match[str]) -> str:
    target, label = found[1], found[2] or ""
    if target.startswith(("@", "#", "!")):
        return f"{'#' if target[0] == '#' else '@'}{label.lstrip('@#') or target[1:]}"
    return f"{label} ({target})" if label and label != target else target


def _own(event: Mapping[str, Any]) -> str:
    metadata = event.get("metadata")
    if not isinstance(metadata, Mapping) or metadata.get("event_type") != OWN:
        return ""
    payload = metadata.get("event_payload")
    return _text(payload, "message") if isinstance(payload, Mapping) else ""


def _name(event: Mapping[str, Any]) -> str:
    profile = event.get("user_profile")
    shown = _text(profile, "display_name") if isinstance(profile, Mapping) else ""
    return shown or _text(event, "username")


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""
