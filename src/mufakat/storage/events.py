"""The append-only log: revisions are counted in the head row, so they follow commit order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, func, insert, select

from mufakat.core.audit import Anchor, Sealed
from mufakat.core.base import Event, LoggedEvent, Millis, Revision
from mufakat.storage import integrity, tables
from mufakat.storage.scope import Record, Scope

_events = tables.events
_head = tables.head
SCAN = (
    select(
        _events.c.revision,
        _events.c.at,
        _events.c.kind,
        _events.c.subject,
        _events.c.data,
        _events.c.seal,
    )
    .where(_events.c.revision > bindparam("after"))
    .order_by(_events.c.revision)
)
"""Every event, for a check of digests; limit it."""
_SELECT = SCAN.limit(bindparam("limit"))
_ABOUT = _events.c.subject == bindparam("about")
_OF_KINDS = _events.c.kind.in_(bindparam("of_kinds", expanding=True))
_AFTER = {
    (False, False): _SELECT,
    (True, False): _SELECT.where(_ABOUT),
    (False, True): _SELECT.where(_OF_KINDS),
    (True, True): _SELECT.where(_ABOUT, _OF_KINDS),
}
_INSERT = insert(_events)
SEALED = select(*_events.c).where(_events.c.revision > bindparam("after"))
SEALED = SEALED.order_by(_events.c.revision).limit(bindparam("limit"))
_HEAD = select(_head.c.revision, _head.c.chain)
_REVISION = select(_head.c.revision)
_EPOCH = select(_head.c.epoch)
_OLDEST = select(func.coalesce(func.min(_events.c.revision), 1))


class Events:
    """What happened, in order."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def record(self, event: Event) -> Revision:
        head = self._scope.writable()
        revision = head.revision + 1
        data = json.dumps(dict(event.data), ensure_ascii=True, separators=(",", ":"))
        row = {
            "revision": revision,
            "at": self._scope.now,
            "kind": event.kind,
            "subject": event.subject,
            "data": data,
        }
        seal = integrity.seal(row.values())
        chain = integrity.link(head.chain, seal)
        self._scope.change(_INSERT, {**row, "seal": seal, "chain": chain})
        self._scope.head = replace(head, revision=revision, chain=chain)
        return Revision(revision)

    def after(
        self, revision: Revision, *, limit: int, subject: str = "", kinds: Sequence[str] = ()
    ) -> Sequence[LoggedEvent]:
        params: dict[str, Any] = {"after": revision, "limit": limit}
        if subject:
            params["about"] = subject
        if kinds:
            params["of_kinds"] = list(kinds)
        rows = self._scope.rows(_AFTER[bool(subject), bool(kinds)], params)
        return [load(row) for row in rows]

    def sealed(self, revision: Revision, *, limit: int) -> Sequence[Sealed]:
        rows = self._scope.rows(SEALED, {"after": revision, "limit": limit})
        return [sealed(row) for row in rows]

    def anchor(self) -> Anchor:
        revision, chain = self._scope.rows(_HEAD)[0]
        return Anchor(Revision(revision), chain)

    def head(self) -> Revision:
        if self._scope.head is not None:
            return Revision(self._scope.head.revision)
        return Revision(self._scope.rows(_REVISION)[0][0])

    def oldest(self) -> Revision:
        return Revision(self._scope.rows(_OLDEST)[0][0])

    def epoch(self) -> str:
        if self._scope.head is not None:
            return self._scope.head.epoch
        return str(self._scope.rows(_EPOCH)[0][0])


def sealed(row: Record) -> Sealed:
    """An event as it lies there, whether it is whole or not."""
    revision, at, kind, subject, data, seal, chain = row
    return Sealed(revision, at, kind, subject, data, seal=seal, chain=chain)


def load(row: Record) -> LoggedEvent:
    """Build an event of its row; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("An event")
    revision, at, kind, subject, data = fields
    return LoggedEvent(Revision(revision), Millis(at), kind, subject, json.loads(data))
