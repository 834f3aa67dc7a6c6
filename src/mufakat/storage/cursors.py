"""Queries about how far readers of something have come."""

from __future__ import annotations

from sqlalchemy import bindparam, insert, select, update

from mufakat.storage import tables
from mufakat.storage.scope import Scope

_c = tables.cursors.c
_ONE = _c.name == bindparam("wanted")
_GET = select(_c.position).where(_ONE)
_INSERT = insert(tables.cursors)
_MOVE = (
    update(tables.cursors)
    .where(_ONE, _c.position < bindparam("to"))
    .values(position=bindparam("to"))
)


class Cursors:
    """Named positions that only go forward."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, name: str) -> int | None:
        found = self._scope.row(_GET, {"wanted": name})
        return None if found is None else int(found[0])

    def keep(self, name: str, position: int) -> None:
        if self.get(name) is None:
            self._scope.change(_INSERT, {"name": name, "position": position})
        else:
            self._scope.change(_MOVE, {"wanted": name, "to": position})
