"""Queries about how often each turn was held."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import bindparam, insert, select, update

from mufakat.core.coordination.gate import Turn
from mufakat.storage import coordination_tables as tables
from mufakat.storage.scope import Scope

_gates = tables.gates
_c = _gates.c
_ONE = (
    _c.identity == bindparam("of_identity"),
    _c.session == bindparam("of_session"),
    _c.turn == bindparam("of_turn"),
)
_GET = select(_c.identity, _c.session, _c.turn, _c.blocks, _c.seen, _c.at).where(*_ONE)
_INSERT = insert(_gates)
_UPDATE = (
    update(_gates)
    .where(*_ONE)
    .values({name: bindparam(f"new_{name}") for name in ("blocks", "seen", "at")})
)


class Gates:
    """How often each turn was held."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, identity: str, *, session: str, turn: str) -> Turn | None:
        found = self._scope.row(_GET, _one(identity, session, turn))
        return None if found is None else Turn(*found)

    def keep(self, turn: Turn) -> None:
        changed = {"new_blocks": turn.blocks, "new_seen": turn.seen, "new_at": turn.at}
        one = _one(turn.identity, turn.session, turn.turn)
        if not self._scope.change(_UPDATE, {**one, **changed}):
            self._scope.change(_INSERT, asdict(turn))


def _one(identity: str, session: str, turn: str) -> dict[str, str]:
    return {"of_identity": identity, "of_session": session, "of_turn": turn}
