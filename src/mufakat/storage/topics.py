"""Queries about the compressed memory: topics in their order, lines by rank, worth and words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, bindparam, delete, insert, or_, select, text, update

from mufakat.core import base
from mufakat.core.base import ConversationId, MessageId
from mufakat.core.knowledge.topic import Line, Source, Topic
from mufakat.storage import integrity, topic_tables
from mufakat.storage.paging import KEYS
from mufakat.storage.scope import Record, Scope

WORDS = 8
"""Words of one search; places of its statement."""

_topics, _lines = topic_tables.topics, topic_tables.topic_lines
_t, _l = _topics.c, _lines.c
_TOPIC = select(
    _t.conversation, _t.number, _t.title, _t.first, _t.last, _t.created, _t.updated, _t.revoked,
    _t.seal,
)  # fmt: skip
_LINE = select(
    _l.conversation, _l.topic, _l.number, _l.speaker, _l.sources, _l.text, _l.at, _l.worth,
    _l.author, _l.supersedes, _l.superseded_by, _l.revoked, _l.seal, _l.rank,
)  # fmt: skip
_IN = _t.conversation == bindparam("in_conversation")
_LINE_IN = _l.conversation == bindparam("in_conversation")
_GET = _TOPIC.where(_t.key == bindparam("of_key"))
_LIST = (
    _TOPIC.where(_IN, _t.number > bindparam("after")).order_by(_t.number).limit(bindparam("limit"))
)
_SOME = KEYS.of(_TOPIC, _t.key)
_NEWEST = _TOPIC.where(_IN).order_by(_t.number.desc()).limit(1)
_BETWEEN = _LINE.where(
    _LINE_IN, _l.topic >= bindparam("first"), _l.topic <= bindparam("last")
).order_by(_l.topic, _l.number)
_ONE_LINE = _LINE.where(_l.key == bindparam("of_key"))
_RANKED = _LINE.where(_LINE_IN, text(topic_tables.RANKED)).order_by(_l.rank)
_BEST = (
    _LINE.where(_LINE_IN, text(topic_tables.LIVE))
    .order_by(_l.worth.desc(), _l.topic.desc(), _l.number.desc())
    .limit(bindparam("limit"))
)
_REVOKED = (
    _LINE.where(_LINE_IN, text(topic_tables.TAKEN))
    .order_by(_l.topic.desc(), _l.number.desc())
    .limit(bindparam("limit"))
)
SCAN_TOPICS = (
    select(_t.key, *_TOPIC.selected_columns).where(_t.key > bindparam("after")).order_by(_t.key)
)
SCAN_LINES = (
    select(_l.key, *_LINE.selected_columns).where(_l.key > bindparam("after")).order_by(_l.key)
)
_INSERT, _INSERT_LINE = insert(_topics), insert(_lines)
_DROP_LINE = delete(_lines).where(_l.key == bindparam("of_key"))
_CHANGE = (
    update(_topics)
    .where(_t.key == bindparam("of_key"))
    .values(
        title=bindparam("to_title"),
        last=bindparam("to_last"),
        updated=bindparam("to_updated"),
        revoked=bindparam("to_revoked"),
        seal=bindparam("to_seal"),
    )
)
_UNRANK = (
    update(_lines).where(_LINE_IN, text(topic_tables.RANKED)).values(rank=bindparam("to", value=0))
)
_RANK = update(_lines).where(_l.key == bindparam("of_key")).values(rank=bindparam("to"))


def _has(place: int) -> ColumnElement[bool]:
    return _l.folded.like(bindparam(f"word_{place}"), escape="\\")


_FIND = (
    _LINE.where(_LINE_IN, _l.revoked == "", or_(*(_has(place) for place in range(WORDS))))
    .order_by(_l.topic.desc(), _l.number.desc())
    .limit(bindparam("limit"))
)


class Topics:
    """What older messages were condensed to."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, conversation: ConversationId, number: int) -> Topic | None:
        row = self._scope.row(_GET, {"of_key": _key(conversation, number)})
        return None if row is None else self._filled([load(row)])[0]

    def list(
        self, conversation: ConversationId, *, after: int = 0, limit: int = 50
    ) -> Sequence[Topic]:
        params = {"in_conversation": conversation, "after": after, "limit": limit}
        return self._filled([load(row) for row in self._scope.rows(_LIST, params)])

    def newest(self, conversation: ConversationId) -> Topic | None:
        row = self._scope.row(_NEWEST, {"in_conversation": conversation})
        return None if row is None else self._filled([load(row)])[0]

    def heads(self, conversation: ConversationId, numbers: Sequence[int]) -> Sequence[Topic]:
        keys = [_key(conversation, number) for number in numbers]
        rows = (row for params in KEYS.params(keys) for row in self._scope.rows(_SOME, params))
        return [load(row) for row in rows]

    def keep(self, topic: Topic) -> None:
        """Store a topic, or what changed of it; its lines are kept one by one."""
        seal = integrity.seal(_sealed(topic))
        integrity.text_digest(topic.title + topic.revoked, "A topic")
        key = _key(topic.conversation, topic.number)
        changed = {
            "of_key": key,
            "to_title": topic.title,
            "to_last": topic.last,
            "to_updated": topic.updated,
            "to_revoked": topic.revoked,
            "to_seal": seal,
        }
        if not self._scope.change(_CHANGE, changed):
            names = ("conversation", "number", "title", "first", "last", "created", "updated")
            row = {name: getattr(topic, name) for name in names}
            self._scope.change(_INSERT, {**row, "key": key, "revoked": topic.revoked, "seal": seal})

    def line(self, conversation: ConversationId, id: str) -> Line | None:
        row = self._scope.row(_ONE_LINE, {"of_key": f"{conversation}/{id}"})
        return None if row is None else load_line(row)

    def keep_line(self, line: Line) -> None:
        self.drop_line(line)
        integrity.text_digest(line.text + line.speaker + line.author, "A line of the memory")
        self._scope.change(_INSERT_LINE, _row(line))

    def drop_line(self, line: Line) -> None:
        self._scope.change(_DROP_LINE, {"of_key": f"{line.conversation}/{line.id}"})

    def ranked(self, conversation: ConversationId) -> Sequence[Line]:
        return self._read(_RANKED, {"in_conversation": conversation})

    def best(self, conversation: ConversationId, *, limit: int) -> Sequence[Line]:
        return self._read(_BEST, {"in_conversation": conversation, "limit": limit})

    def revoked(self, conversation: ConversationId, *, limit: int) -> Sequence[Line]:
        return self._read(_REVOKED, {"in_conversation": conversation, "limit": limit})

    def rank(self, conversation: ConversationId, ids: Sequence[str]) -> None:
        self._scope.change(_UNRANK, {"in_conversation": conversation, "to": 0})
        for place, id in enumerate(ids, start=1):
            self._scope.change(_RANK, {"of_key": f"{conversation}/{id}", "to": place})

    def find(
        self, conversation: ConversationId, words: Sequence[str], *, limit: int
    ) -> Sequence[Line]:
        wanted = [_pattern(word) for word in words if word][:WORDS]
        if not wanted:
            return []
        full = [*wanted, *[wanted[-1]] * (WORDS - len(wanted))]
        places = {f"word_{at}": pattern for at, pattern in enumerate(full)}
        return self._read(_FIND, {"in_conversation": conversation, "limit": limit, **places})

    def _filled(self, topics: Sequence[Topic]) -> Sequence[Topic]:
        """Topics of one conversation, neighbours of each other, with their lines."""
        if not topics:
            return topics
        first, last = topics[0], topics[-1]
        params = {
            "in_conversation": first.conversation, "first": first.number, "last": last.number,
        }  # fmt: skip
        found = self._read(_BETWEEN, params)
        return [
            replace(one, lines=tuple(line for line in found if line.topic == one.number))
            for one in topics
        ]

    def _read(self, statement: Any, params: Mapping[str, Any]) -> Sequence[Line]:
        return [load_line(row) for row in self._scope.rows(statement, params)]


def load(row: Record) -> Topic:
    """Build a topic of its row, without lines; a damaged row raises StoreCorrupt."""
    *fields, seal = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A topic of the memory")
    return Topic(*fields)


def load_line(row: Record) -> Line:
    """Build a line of its row; a damaged row raises StoreCorrupt."""
    *fields, seal, rank = row
    if seal != integrity.seal(fields):
        raise integrity.damaged("A line of the memory")
    (conversation, topic, number, speaker, sources, said, at, worth, *links) = fields
    found = tuple(Source(MessageId(id), place) for id, place in json.loads(sources))
    author, supersedes, superseded_by, revoked = links
    return Line(
        conversation,
        topic,
        number,
        speaker,
        found,
        said,
        at,
        worth,
        author,
        supersedes,
        superseded_by,
        revoked,
        rank,
    )


def _key(conversation: ConversationId, number: int) -> str:
    return f"{conversation}/{number}"


def _sealed(topic: Topic) -> Iterable[object]:
    return (
        topic.conversation, topic.number, topic.title, topic.first, topic.last, topic.created,
        topic.updated, topic.revoked,
    )  # fmt: skip


def _row(line: Line) -> dict[str, Any]:
    if line.worth != line.worth:
        raise base.InvalidInput("The worth of a line is no number.")
    fields: dict[str, Any] = {
        "conversation": line.conversation,
        "topic": line.topic,
        "number": line.number,
        "speaker": line.speaker,
        "sources": json.dumps([[one.id, one.number] for one in line.sources]),
        "text": line.text,
        "at": line.at,
        "worth": float(line.worth),
        "author": line.author,
        "supersedes": line.supersedes,
        "superseded_by": line.superseded_by,
        "revoked": line.revoked,
    }
    return {
        **fields,
        "key": f"{line.conversation}/{line.id}",
        "seal": integrity.seal(fields.values()),
        "rank": line.rank,
        "folded": line.text.casefold(),
    }


def _pattern(word: str) -> str:
    quoted = word.casefold().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{quoted}%"
