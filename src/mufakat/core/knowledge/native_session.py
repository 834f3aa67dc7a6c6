"""Sessions as the CLIs keep them: which of their records a person or an agent has said."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mufakat.core import quote
from mufakat.core.base import ConversationId, Millis, ProjectId

TURN_CHARS = 200_000
PERSON = "person"
_OWN = re.compile(r"<mufakat:[a-z-]{1,32}[ >]")
_NOT_SAID = re.compile(
    r"\s*(?:<(?:command-name|command-message|command-args|local-command-std(?:out|err)|"
    r"system-reminder|session_context|environment_context|user_instructions|INSTRUCTIONS|"
    r"hook_context|turn_aborted|user-prompt-submit-hook|bash-(?:input|stdout|stderr))\b"
    r"|Caveat: The messages below|\[Request interrupted|# AGENTS\.md instructions)"
)
"""How texts begin that a CLI put into the person's place by itself."""


@dataclass(frozen=True, slots=True)
class Line:
    """One thing said, as a record of a session file has it."""

    speaker: str
    text: str
    at: int = 0
    """Milliseconds since 1970; 0 where the file does not say."""
    key: str = ""
    """Of the record; a later one with the same key takes its place."""


@dataclass(frozen=True, slots=True)
class Imported:
    """How far a session was taken over, and into which conversation."""

    project: ProjectId
    engine: str
    session: str
    conversation: ConversationId
    turns: int
    digest: str
    """Of those turns."""
    at: Millis


def said(speaker: str, text: str) -> str:
    """What is left of a text without what the CLI and Mufakat's own packs put into it."""
    if speaker == PERSON and _NOT_SAID.match(text):
        return ""
    if _OWN.search(text):
        text = _without_pack(text)
    return clean(text)[:TURN_CHARS].strip()


def _without_pack(text: str) -> str:
    """Take our own sections out; the person's words stand behind the last of them."""
    body = quote.inert(text, "")
    kept = body.rpartition(quote.LEFT_OUT)[2] if quote.LEFT_OUT in body else body
    return kept.strip().removeprefix(quote.DIVIDER.strip()).strip()


def clean(text: str) -> str:
    """A text that a store can hold."""
    return text.replace("\0", "\u2400").encode("utf-8", "replace").decode("utf-8")


def digest(turns: Iterable[tuple[str, str]]) -> str:
    """SHA-256 over who said what, hex."""
    whole = hashlib.sha256()
    for speaker, text in turns:
        whole.update(f"{speaker} {len(text)} {text}\n".encode("utf-8", "replace"))
    return whole.hexdigest()


def texts(content: object, kinds: Sequence[str] = ("text",)) -> str:
    """The plain text of a message: a text, or those of its blocks that are one."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = [
        block["text"]
        for block in content
        if isinstance(block, Mapping)
        and block.get("type", kinds[0]) in kinds
        and isinstance(block.get("text"), str)
    ]
    return "\n\n".join(found)


def text_of(record: Mapping[str, Any], *path: str) -> str:
    """A text within a record, or nothing."""
    found: object = record
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""


def part(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A record within a record, or an empty one."""
    found = record.get(name)
    return found if isinstance(found, Mapping) else {}
