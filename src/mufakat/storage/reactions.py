"""Queries about stored rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, insert, select, text, update

from mufakat.core.coordination.state import State
from mufakat.core.coordination.waiting import Action, Condition, Reaction
from mufakat.storage import coordination_tables as tables
from mufakat.storage.scope import Record, Scope

_reactions = tables.reactions
_c = _reactions.c
_SELECT = select(
    _c.id,
    _c.project,
    _c.owner,
    _c.who,
    _c.states,
    _c.seconds,
    _c.action,
    _c.data,
    _c.once,
    _c.created,
    _c.fired,
    _c.pending,
    _c.done,
)
_GET = _SELECT.where(_c.id == bindparam("key"))
_ACTIVE = _SELECT.where(text(tables.ACTIVE)).order_by(_c.created, _c.id)
_INSERT = insert(_reactions)
_CHANGED = tuple(column.name for column in _c if column.name != "id")
_UPDATE = (
    update(_reactions)
    .where(_c.id == bindparam("key"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGED})
)


class Reactions:
    """Stored rules."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def keep(self, reaction: Reaction) -> None:
        row = _to_row(reaction)
        changed = {f"new_{name}": row[name] for name in _CHANGED}
        if not self._scope.change(_UPDATE, {"key": reaction.id, **changed}):
            self._scope.change(_INSERT, row)

    def get(self, id: str) -> Reaction | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else _reaction(found)

    def active(self) -> Sequence[Reaction]:
        return [_reaction(row) for row in self._scope.rows(_ACTIVE)]


def _to_row(reaction: Reaction) -> dict[str, Any]:
    condition = reaction.condition
    return {
        "id": reaction.id,
        "project": reaction.project,
        "owner": reaction.owner,
        "who": condition.who,
        "states": json.dumps(sorted(state.value for state in condition.states)),
        "seconds": float(condition.seconds),
        "action": reaction.action.value,
        "data": json.dumps(reaction.data),
        "once": int(reaction.once),
        "created": reaction.created,
        "fired": json.dumps(reaction.fired),
        "pending": json.dumps(reaction.pending),
        "done": int(reaction.done),
    }


def _reaction(row: Record) -> Reaction:
    id, project, owner, who, states, seconds, action, data, once, created, *rest = row
    fired, pending, done = rest
    return Reaction(
        id,
        project,
        owner,
        Condition(who, frozenset(map(State, json.loads(states))), seconds),
        Action(action),
        tuple((name, value) for name, value in json.loads(data)),
        bool(once),
        created,
        tuple(json.loads(fired)),
        tuple(json.loads(pending)),
        bool(done),
    )
