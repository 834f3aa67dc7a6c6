"""Queries about vectors of what was said; every row of them can be made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import bindparam, delete, func, insert, select, update

from mufakat.core.base import ConversationId, ProjectId
from mufakat.core.knowledge import posting
from mufakat.ports.embedding import Vector
from mufakat.ports.recall import Embedded
from mufakat.storage import recall_tables as index
from mufakat.storage import vector_tables as own
from mufakat.storage.scope import Scope

WIDTH = 2
"""Bytes of one number of a vector."""
FIRST = posting.POSITIONS
"""Later turns of one conversation have no number in the index, and so no vector."""

_threads = index.recall_conversations.c
_embedded = own.recall_embedded
_vectors = own.recall_vectors.c

_done = func.coalesce(_embedded.c.talk, 0)
_STANDING = (
    select(_threads.conversation, _threads.ordinal, _threads.talk, _done)
    .outerjoin_from(
        index.recall_conversations,
        _embedded,
        (_embedded.c.conversation == _threads.conversation)
        & (_embedded.c.model == bindparam("by_model")),
    )
    .where(_threads.project == bindparam("in_project"), _threads.talk > 0)
)
_CURSOR = select(_embedded.c.model, _embedded.c.talk).where(
    _embedded.c.conversation == bindparam("of_conversation")
)
_RANGE = (_vectors.turn >= bindparam("first"), _vectors.turn < bindparam("end"))
_SOME = (
    select(_vectors.turn, _vectors.vector)
    .where(*_RANGE, _vectors.model == bindparam("by_model"))
    .order_by(_vectors.turn)
)
_DROP = delete(own.recall_vectors).where(*_RANGE)
_ADD = insert(own.recall_vectors)
_ADD_CURSOR = insert(_embedded)
_MOVE = (
    update(_embedded)
    .where(_embedded.c.conversation == bindparam("of_conversation"))
    .values(model=bindparam("to_model"), talk=bindparam("to_talk"))
)


class Vectors:
    """Vectors of turns, and how far each conversation has them."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def standing(self, project: ProjectId, model: str) -> Sequence[Embedded]:
        params = {"in_project": project, "by_model": model}
        return [
            Embedded(ConversationId(id), ordinal, min(talk, FIRST), done)
            for id, ordinal, talk, done in self._scope.rows(_STANDING, params)
        ]

    def some(self, first: int, end: int, *, model: str) -> Mapping[int, Vector]:
        params = {"first": first, "end": end, "by_model": model}
        return {turn: Vector(data) for turn, data in self._scope.rows(_SOME, params)}

    def add(self, at: Embedded, vectors: Sequence[Vector], *, model: str) -> bool:
        found = self._scope.row(_CURSOR, {"of_conversation": at.conversation})
        done = found[1] if found is not None and found[0] == model else 0
        if not vectors or done != at.done:
            return False
        first = posting.turn_of(at.ordinal, posting.TALK, position=done)
        end = first + len(vectors)
        # Those that another model has made are in the way.
        self._scope.change(_DROP, {"first": first, "end": end})
        rows = [
            {"turn": turn, "model": model, "dims": len(one) // WIDTH, "vector": one}
            for turn, one in enumerate(vectors, first)
        ]
        self._scope.change_many(_ADD, rows)
        self._move(at, done + len(vectors), model, fresh=found is None)
        return True

    def _move(self, at: Embedded, talk: int, model: str, *, fresh: bool) -> None:
        if fresh:
            row = {
                "conversation": at.conversation,
                "ordinal": at.ordinal,
                "model": model,
                "talk": talk,
            }
            self._scope.change(_ADD_CURSOR, row)
            return
        moved = {"of_conversation": at.conversation, "to_model": model, "to_talk": talk}
        self._scope.change(_MOVE, moved)
