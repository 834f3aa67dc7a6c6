"""Queries about idempotency keys."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select

from mufakat.core import base
from mufakat.storage import tables
from mufakat.storage.scope import Scope

_keys = tables.keys
_FIND = select(_keys.c.digest, _keys.c.result).where(_keys.c.key == bindparam("wanted"))
_INSERT = insert(_keys)


class Keys:
    """The same key and request answer the first result again."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def find(self, key: str) -> tuple[str, str] | None:
        found = self._scope.row(_FIND, {"wanted": key})
        return None if found is None else (found[0], found[1])

    def keep(self, key: str, digest: str, result: str) -> None:
        known = self.find(key)
        if known is not None and known != (digest, result):
            raise base.IdempotencyConflict
        if known is None:
            row = {"key": key, "digest": digest, "result": result, "at": self._scope.now}
            self._scope.change(_INSERT, row)
