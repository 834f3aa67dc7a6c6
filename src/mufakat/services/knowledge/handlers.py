"""Handlers of what is named exactly: a message by its number, lines of a file by their path."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mufakat.core import text
from mufakat.core.base import ConversationId, InvalidInput, MessageId, NotFound
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import pull
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Message
from mufakat.ports.knowledge import CodeIndex
from mufakat.ports.store import Store, Transaction
from mufakat.services import branch_state
from mufakat.services.knowledge.gathering import Source, Subject

_MESSAGE = re.compile(r"(?:([A-Za-z0-9_-]{1,64})[/ ])?m:(\d{1,9})")
_LINES = re.compile(r"(.{1,4096}?)(?::(\d{1,9})(?:-(\d{1,9}))?)?")
LINES = 400
"""Of a file that is named without lines."""


def message(store: Store) -> Source:
    """Reads `m:NUMBER` of the asker's conversation, or `CONVERSATION/m:NUMBER` in its sight."""

    async def source(subject: Subject) -> Sequence[Found]:
        named = _MESSAGE.fullmatch(subject.text.strip())
        if named is None:
            raise InvalidInput("That names no message.", fix="Write m:12, or ID/m:12.")
        number = int(named[2])
        return [await store.read(lambda tx: _message(tx, subject, named[1] or "", number))]

    return source


def _message(tx: Transaction, subject: Subject, id: str, number: int) -> Found:
    here = _conversation(tx, subject, id)
    found = next(iter(tx.messages.newest(here.id, before=number + 1, limit=1, clip=1)), None)
    if found is None or found.number != number or number > _until(tx, subject, here):
        raise NotFound(f"There is no message m:{number} in {here.id}.", fix="Give another number.")
    whole = tx.messages.get(MessageId(found.id)) or found
    return Found(
        id=f"m:{number}",
        source="recall",
        head=f"m:{number} {_who(whole)} in {here.id}",
        text=whole.text,
        author=whole.speaker,
        key=pull.key(pull.Kind.MESSAGE, f"{here.id}/m:{number}"),
    )


def _until(tx: Transaction, subject: Subject, here: Conversation) -> int:
    """The last message of a conversation that may be told to the asker, as branches limit it."""
    sight = branch_state.sight(tx, here.project, subject.conversation, person=subject.person)
    return sight.get(here.id, here.messages)


def _conversation(tx: Transaction, subject: Subject, id: str) -> Conversation:
    """The conversation that is meant: of the asker's project, or linked to its own."""
    wanted = ConversationId(id) if id else subject.conversation
    found = tx.conversations.get(wanted) if wanted else None
    if found is None:
        raise NotFound("There is no such conversation.", fix="Write CONVERSATION/m:12.")
    linked = subject.conversation and tx.links.get(subject.conversation, found.id)
    if found.project != subject.project and not linked:
        raise NotFound("There is no such conversation.", fix="Ask for one of your own project.")
    return found


def _who(said: Message) -> str:
    return f"{said.speaker} {said.label}".strip()


def lines(code: CodeIndex) -> Source:
    """Reads `PATH:FIRST-LAST` inside the project, or the beginning of PATH."""

    async def source(subject: Subject) -> Sequence[Found]:
        named = _LINES.fullmatch(subject.text.strip())
        if named is None:
            raise InvalidInput("That names no file.", fix="Write src/app.py:10-42.")
        first = int(named[2] or 1)
        last = int(named[3] or (first if named[2] else first + LINES - 1))
        body = await code.slice(subject.root, named[1], start=first, end=last)
        shown = first + max(0, body.count("\n") - (1 if body.endswith("\n") else 0))
        id = f"{named[1]}:{first}-{shown}"
        head = text.one_line(id, 400)
        return [Found(id, "code", head, body, key=pull.key(pull.Kind.SLICE, id))]

    return source
