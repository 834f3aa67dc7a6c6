"""Queries about messages: numbered here, sealed by digests, and never read in full by mistake."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Integer, bindparam, case, cast, func, insert, or_, select, update

from mufakat.core import base
from mufakat.core.base import ConversationId, MessageId
from mufakat.core.talk import message
from mufakat.core.talk.message import Draft, Kind, Message, Said
from mufakat.storage import integrity, tables
from mufakat.storage.paging import KEYS
from mufakat.storage.scope import Record, Scope

ENDS = 4000
"""Of a longer text its first 3/4 and last 1/4 of so many characters are stored beside it, so that
reading them does not mean reading all of it, and their digest can be verified."""

_messages = tables.messages
_conversations = tables.conversations
_speakers = tables.speakers
_META = (
    _messages.c.id,
    _messages.c.conversation,
    _messages.c.number,
    _messages.c.at,
    _messages.c.kind,
    _messages.c.speaker,
    _messages.c.chars,
    _messages.c.tokens,
    _messages.c.secrets,
    _messages.c.pair,
    _messages.c.label,
    _messages.c.turn,
    _messages.c.digest,
    _messages.c.ends,
    _messages.c.seal,
)
_CLIP = bindparam("clip", type_=Integer)
_CLIPPED = case(
    (_messages.c.chars <= _CLIP, _messages.c.text),
    (func.length(_messages.c.ends) >= _CLIP, ""),
    else_=func.substr(_messages.c.text, 1, bindparam("first", type_=Integer)).concat(
        func.substr(_messages.c.text, cast(_messages.c.chars - bindparam("last") + 1, Integer))
    ),
).label("text")
_WHOLE_ROWS = select(*_META, _messages.c.text)
_CLIPPED_ROWS = select(*_META, _CLIPPED)
_OF_CONVERSATION = _messages.c.conversation == bindparam("in_conversation")

_GET = _WHOLE_ROWS.where(_messages.c.id == bindparam("key"))
_SOME = KEYS.of(_WHOLE_ROWS, _messages.c.id)
_SAID = (
    select(_messages.c.id, _messages.c.kind, _messages.c.speaker)
    .where(_OF_CONVERSATION)
    .order_by(_messages.c.number.desc())
    .limit(bindparam("limit"))
)
_NEWEST = (
    _CLIPPED_ROWS.where(_OF_CONVERSATION, _messages.c.number < bindparam("before"))
    .order_by(_messages.c.number.desc())
    .limit(bindparam("limit"))
)
_PAGE = (
    _WHOLE_ROWS.where(_OF_CONVERSATION, _messages.c.number > bindparam("after"))
    .order_by(_messages.c.number)
    .limit(bindparam("limit"))
)
_TALK = (
    _CLIPPED_ROWS.where(
        _OF_CONVERSATION,
        _messages.c.number > bindparam("after"),
        or_(*(_messages.c.kind == kind.value for kind in sorted(message.TALK))),
    )
    .order_by(_messages.c.number)
    .limit(bindparam("limit"))
)
_LAST_BY_SPEAKER = (
    _CLIPPED_ROWS.join(
        _speakers,
        (_speakers.c.conversation == _messages.c.conversation)
        & (_speakers.c.number == _messages.c.number),
    )
    .where(_speakers.c.conversation == bindparam("in_conversation"))
    .order_by(_messages.c.number.desc())
)
_LAST_OF_KIND = (
    _CLIPPED_ROWS.where(_OF_CONVERSATION, _messages.c.kind == bindparam("of_kind"))
    .order_by(_messages.c.number.desc())
    .limit(bindparam("limit"))
)
SCAN = _WHOLE_ROWS.where(_messages.c.id > bindparam("after")).order_by(_messages.c.id)
"""Every message, for a check of digests; limit it."""
_INSERT = insert(_messages)
_COUNT = (
    update(_conversations)
    .where(_conversations.c.id == bindparam("in_conversation"))
    .values(
        messages=_conversations.c.messages + 1,
        talk=_conversations.c.talk + bindparam("more_talk"),
        chars=_conversations.c.chars + bindparam("more_chars"),
        updated=bindparam("now"),
    )
    .returning(_conversations.c.messages)
)
_SPOKE = (
    update(_speakers)
    .where(
        _speakers.c.conversation == bindparam("in_conversation"),
        _speakers.c.speaker == bindparam("who"),
    )
    .values(number=bindparam("to"))
)
_FIRST_SPOKE = insert(_speakers)


class Messages:
    """What was said."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def append(self, conversation: ConversationId, draft: Draft, *, id: MessageId) -> Message:
        scope = self._scope
        scope.writable()
        _check(draft)
        counted = scope.row(
            _COUNT,
            {
                "in_conversation": conversation,
                "more_talk": int(draft.kind in message.TALK),
                "more_chars": draft.chars,
                "now": scope.now,
            },
        )
        if counted is None:
            raise base.NotFound(f"There is no conversation {conversation}.")
        row = _row(conversation, draft, id=id, number=counted[0], at=scope.now)
        scope.change(_INSERT, row)
        if draft.kind is Kind.AGENT:
            self._spoke(conversation, draft.speaker, counted[0])
        return Message(
            id,
            conversation,
            counted[0],
            scope.now,
            draft.kind,
            draft.speaker,
            draft.text,
            draft.chars,
            draft.tokens,
            draft.secrets,
            draft.pair,
            draft.label,
            draft.turn,
        )

    def get(self, id: MessageId) -> Message | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else load(found)

    def some(self, ids: Sequence[MessageId]) -> Mapping[MessageId, Message]:
        rows = (row for params in KEYS.params(ids) for row in self._scope.rows(_SOME, params))
        found = (load(row) for row in rows)
        return {one.id: one for one in found}

    def said(self, conversation: ConversationId, *, limit: int) -> Sequence[Said]:
        rows = self._scope.rows(_SAID, {"in_conversation": conversation, "limit": limit})
        return [Said(id, Kind(kind), speaker) for id, kind, speaker in rows]

    def newest(
        self, conversation: ConversationId, *, before: int, limit: int, clip: int
    ) -> Sequence[Message]:
        params = {"in_conversation": conversation, "before": before, "limit": limit}
        return _load(self._scope.rows(_NEWEST, {**params, **_ends(clip)}), clip)

    def page(self, conversation: ConversationId, *, after: int, limit: int) -> Sequence[Message]:
        params = {"in_conversation": conversation, "after": after, "limit": limit}
        return _load(self._scope.rows(_PAGE, params))

    def talk(
        self, conversation: ConversationId, *, after: int, limit: int, clip: int
    ) -> Sequence[Message]:
        params = {"in_conversation": conversation, "after": after, "limit": limit}
        return _load(self._scope.rows(_TALK, {**params, **_ends(clip)}), clip)

    def last_by_speaker(self, conversation: ConversationId, *, clip: int) -> Sequence[Message]:
        params = {"in_conversation": conversation, **_ends(clip)}
        return _load(self._scope.rows(_LAST_BY_SPEAKER, params), clip)

    def last_of_kind(
        self, conversation: ConversationId, kind: Kind, *, limit: int, clip: int
    ) -> Sequence[Message]:
        params = {"in_conversation": conversation, "of_kind": kind.value, "limit": limit}
        return _load(self._scope.rows(_LAST_OF_KIND, {**params, **_ends(clip)}), clip)

    def _spoke(self, conversation: ConversationId, speaker: str, number: int) -> None:
        params = {"in_conversation": conversation, "who": speaker, "to": number}
        if not self._scope.change(_SPOKE, params):
            self._scope.change(
                _FIRST_SPOKE, {"conversation": conversation, "speaker": speaker, "number": number}
            )


def load(row: Record | Sequence[Any], *, clip: int | None = None) -> Message:
    """Build a message of its row; a damaged row raises StoreCorrupt.

    Letters go unchecked only where more than ENDS of a longer text are asked for, but not all.
    """
    *meta, digest, ends, seal, text = row
    (id, conversation, number, at, kind, speaker, chars, tokens, secrets, pair, label, turn) = meta
    if seal != integrity.seal((*meta, digest, ends)) or not isinstance(text, str):
        raise integrity.damaged("A message")
    clipped = clip is not None and chars > clip
    if clip is not None and clipped and len(ends) >= clip:
        text = _both_ends(ends, clip)
    if len(text) != (clip if clipped else chars):
        raise integrity.damaged(f"Message {id}")
    if not clipped and not integrity.intact(text, digest):
        raise integrity.damaged(f"Message {id}")
    return Message(
        id,
        conversation,
        number,
        at,
        Kind(kind),
        speaker,
        text,
        chars,
        tokens,
        tuple(secrets.split()),
        pair,
        label,
        turn,
    )


def _both_ends(text: str, clip: int) -> str:
    first = clip * 3 // 4
    return text[:first] + text[len(text) - (clip - first) :]


def _load(rows: Iterable[Record], clip: int | None = None) -> list[Message]:
    return [load(row, clip=clip) for row in rows]


def _ends(clip: int) -> dict[str, int]:
    first = clip * 3 // 4
    return {"clip": clip, "first": first, "last": clip - first}


def _check(draft: Draft) -> None:
    for name, value in (("The speaker", draft.speaker), ("A label", draft.label + draft.pair)):
        integrity.text_digest(value, name)
    if integrity.text_digest(draft.text, "The message") != draft.digest:
        raise base.InvalidInput("The digest of the draft is not its text's; use message.draft.")


def _row(
    conversation: ConversationId, draft: Draft, *, id: MessageId, number: int, at: int
) -> dict[str, Any]:
    meta = {
        "id": id,
        "conversation": conversation,
        "number": number,
        "at": at,
        "kind": draft.kind.value,
        "speaker": draft.speaker,
        "chars": draft.chars,
        "tokens": draft.tokens,
        "secrets": " ".join(draft.secrets),
        "pair": draft.pair,
        "label": draft.label,
        "turn": draft.turn,
        "digest": draft.digest,
        "ends": _both_ends(draft.text, ENDS) if draft.chars > ENDS else "",
    }
    return {**meta, "seal": integrity.seal(meta.values()), "text": draft.text}
