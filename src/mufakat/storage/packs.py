"""Queries about packs, and the texts they name by hash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, insert, select

from mufakat.core.base import ConversationId, PackId
from mufakat.core.pack import receipt
from mufakat.core.pack.receipt import StoredPack
from mufakat.storage import integrity, tables
from mufakat.storage.paging import FIRST, NEWEST, PREFIX
from mufakat.storage.scope import Record, Scope

_packs = tables.packs
_texts = tables.texts
_SELECT = select(
    _packs.c.id,
    _packs.c.conversation,
    _packs.c.turn,
    _packs.c.agent,
    _packs.c.identity,
    _packs.c.engine,
    _packs.c.created,
    _packs.c.receipt,
    _packs.c.form,
    _packs.c.resumed,
    _packs.c.resume_why,
    _packs.c.sent,
    _packs.c.system,
    _packs.c.instructions,
    _packs.c.digest,
)
_GET = _SELECT.where(_packs.c.id == bindparam("key"))
_FIND = PREFIX.of(_SELECT, _packs.c.id)
_LIST = NEWEST.of(_SELECT, _packs.c.id)
_LIST_CONVERSATION = _LIST.where(_packs.c.conversation == bindparam("in_conversation"))
SCAN = _SELECT.where(_packs.c.id > bindparam("after")).order_by(_packs.c.id)
"""Every pack, for a check of digests; limit it."""
_INSERT = insert(_packs)
SCAN_TEXTS = (
    select(_texts.c.digest, _texts.c.text)
    .where(_texts.c.digest > bindparam("after"))
    .order_by(_texts.c.digest)
)
_TEXT = select(_texts.c.text).where(_texts.c.digest == bindparam("wanted"))
_KNOWN = select(_texts.c.digest).where(_texts.c.digest == bindparam("wanted"))
_INSERT_TEXT = insert(_texts)


class Packs:
    """What each request was told."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def add(self, pack: StoredPack, texts: Sequence[str]) -> StoredPack:
        for text in texts:
            self.keep_text(text)
        self._scope.change(_INSERT, _to_row(pack))
        return pack

    def get(self, id: PackId) -> StoredPack | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else load(found)

    def list(
        self, *, conversation: ConversationId | None = None, before: str = "", limit: int = 50
    ) -> Sequence[StoredPack]:
        params = NEWEST.params(before, limit)
        if conversation is None:
            rows = self._scope.rows(_LIST, params)
        else:
            rows = self._scope.rows(_LIST_CONVERSATION, {**params, "in_conversation": conversation})
        return [load(row) for row in rows]

    def find(self, prefix: str) -> Sequence[StoredPack]:
        return [load(row) for row in self._scope.rows(_FIND, PREFIX.params(prefix, FIRST))]

    def text(self, digest: str) -> str | None:
        found = self._scope.row(_TEXT, {"wanted": digest})
        if found is None:
            return None
        return load_text(digest, found[0])

    def keep_text(self, text: str) -> str:
        self._scope.writable()
        digest = integrity.text_digest(text, "A section's text")
        if self._scope.row(_KNOWN, {"wanted": digest}) is None:
            self._scope.change(_INSERT_TEXT, {"digest": digest, "text": text})
        return digest


def load_text(digest: str, text: object) -> str:
    """Answer a stored text that still has its digest, or raise StoreCorrupt."""
    if not isinstance(text, str) or not integrity.intact(text, digest):
        raise integrity.damaged("A section's text")
    return text


def load(row: Record) -> StoredPack:
    """Build a pack of its row; a damaged receipt raises StoreCorrupt."""
    fields = row._asdict()
    if not integrity.intact(fields["receipt"], fields.pop("digest")):
        raise integrity.damaged("A pack's receipt")
    return StoredPack(
        **{
            **fields,
            "receipt": receipt.from_json(json.loads(fields["receipt"])),
            "resumed": bool(fields["resumed"]),
            "instructions": tuple(json.loads(fields["instructions"])),
        }
    )


def _to_row(pack: StoredPack) -> dict[str, Any]:
    body = json.dumps(receipt.to_json(pack.receipt), ensure_ascii=True, separators=(",", ":"))
    return {
        "id": pack.id,
        "conversation": pack.conversation,
        "turn": pack.turn,
        "agent": pack.agent,
        "identity": pack.identity,
        "engine": pack.engine,
        "created": pack.created,
        "form": pack.form,
        "resumed": int(pack.resumed),
        "resume_why": pack.resume_why,
        "sent": pack.sent,
        "system": pack.system,
        "instructions": json.dumps(list(pack.instructions)),
        "digest": integrity.text_digest(body, "A receipt"),
        "receipt": body,
    }
