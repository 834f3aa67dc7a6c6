"""Queries about the index of what was said; every row of it can be made again from messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, select, update

from mufakat.core.base import ConversationId, MessageId, Millis, ProjectId
from mufakat.core.knowledge import posting
from mufakat.core.knowledge.indexing import Behind, IndexedTurn, Turn
from mufakat.ports.recall import IndexScope, Thread
from mufakat.storage import recall_tables as own
from mufakat.storage import tables
from mufakat.storage.paging import Keys
from mufakat.storage.scope import Record, Scope

SEGMENT = 4096
"""Turns of a project after which its terms go on in new rows, so that none grows for ever."""
_KEYS = Keys(64)
_MANY = Keys(256)

_conversations = tables.conversations.c
_projects = own.recall_projects
_threads = own.recall_conversations
_speakers = own.recall_speakers
_turns = own.recall_turns
_terms = own.recall_terms

_indexed = func.coalesce(_threads.c.number, 0)
_BEHIND = (
    select(
        _conversations.id,
        _conversations.project,
        _conversations.fence,
        _indexed,
        _conversations.messages,
    )
    .outerjoin_from(tables.conversations, _threads, _threads.c.conversation == _conversations.id)
    .where(
        _conversations.project == bindparam("in_project"),
        _conversations.messages > _indexed,
    )
    .order_by(_conversations.id)
    .limit(bindparam("limit"))
)
_SCOPE = select(_projects.c.turns, _projects.c.terms).where(
    _projects.c.project == bindparam("in_project")
)
_SPEAKERS = select(_speakers.c.speaker).where(_speakers.c.project == bindparam("in_project"))
_THREAD = select(_threads.c.ordinal, _threads.c.number, _threads.c.talk, _threads.c.tools).where(
    _threads.c.conversation == bindparam("of_conversation")
)
_NEXT_ORDINAL = select(func.coalesce(func.max(_threads.c.ordinal), 0) + 1)
_ORDINALS = _KEYS.of(select(_threads.c.conversation, _threads.c.ordinal), _threads.c.conversation)
_OWNERS = _KEYS.of(
    select(_threads.c.ordinal, _threads.c.conversation, _threads.c.talk), _threads.c.ordinal
)
_ROWS = _MANY.of(
    select(
        _turns.c.turn,
        _turns.c.message,
        _turns.c.number,
        _turns.c.at,
        _turns.c.speaker,
        _turns.c.marks,
    ),
    _turns.c.turn,
)
_ENTRIES = _KEYS.of(
    select(_terms.c.term, _terms.c.entries).where(_terms.c.project == bindparam("in_project")),
    _terms.c.term,
).order_by(_terms.c.term, _terms.c.segment)
_LAST_ENTRIES = _KEYS.of(
    select(_terms.c.term, _terms.c.entries).where(
        _terms.c.project == bindparam("in_project"), _terms.c.segment == bindparam("in_segment")
    ),
    _terms.c.term,
)
_BETWEEN = (
    select(_threads.c.ordinal, _threads.c.conversation, _threads.c.talk)
    .where(
        _threads.c.project == bindparam("in_project"),
        _threads.c.since <= bindparam("end"),
        _threads.c.until >= bindparam("begin"),
    )
    .order_by(_threads.c.since.desc())
    .limit(bindparam("limit"))
)
_ADD_PROJECT = insert(_projects)
_COUNT_PROJECT = (
    update(_projects)
    .where(_projects.c.project == bindparam("in_project"))
    .values(
        turns=_projects.c.turns + bindparam("more_turns"),
        terms=_projects.c.terms + bindparam("more_terms"),
    )
)
_ADD_THREAD = insert(_threads)
_MOVE_THREAD = (
    update(_threads)
    .where(_threads.c.conversation == bindparam("of_conversation"))
    .values(
        number=bindparam("to_number"),
        talk=bindparam("to_talk"),
        tools=bindparam("to_tools"),
        until=bindparam("to_until"),
    )
)
_ADD_SPEAKER = insert(_speakers)
_ADD_TURNS = insert(_turns)
_ADD_TERMS = insert(_terms)
_MORE_ENTRIES = (
    update(_terms)
    .where(
        _terms.c.project == bindparam("in_project"),
        _terms.c.term == bindparam("of_term"),
        _terms.c.segment == bindparam("in_segment"),
    )
    .values(entries=bindparam("all_entries"))
)


class Recall:
    """Full text over what was said, a project at a time."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def behind(self, project: ProjectId, *, limit: int) -> Sequence[Behind]:
        rows = self._scope.rows(_BEHIND, {"in_project": project, "limit": limit})
        return [
            Behind(ConversationId(id), ProjectId(of), fence, indexed, messages)
            for id, of, fence, indexed, messages in rows
        ]

    def add(self, behind: Behind, turns: Sequence[Turn]) -> bool:
        if not turns:
            return False
        thread = self._thread(behind, turns[0])
        if thread["number"] != behind.indexed:
            return False
        project = behind.project
        numbers = self._place(thread, turns)
        placed = [(at, one) for at, one in zip(numbers, turns, strict=True) if at is not None]
        self._scope.change_many(_ADD_TURNS, [_row(at, one) for at, one in placed])
        known = self.scope(project)
        self._keep_terms(project, placed, segment=known.turns // SEGMENT)
        self._count(project, placed)
        fresh = {one.speaker for _, one in placed} - set(known.speakers)
        for speaker in sorted(fresh):
            self._scope.change(_ADD_SPEAKER, {"project": project, "speaker": speaker})
        return True

    def scope(self, project: ProjectId) -> IndexScope:
        found = self._scope.row(_SCOPE, {"in_project": project})
        speakers = self._scope.rows(_SPEAKERS, {"in_project": project})
        turns, terms = (found[0], found[1]) if found else (0, 0)
        return IndexScope(turns, terms, tuple(name for (name,) in speakers))

    def entries(self, project: ProjectId, terms: Sequence[str]) -> Mapping[str, Sequence[int]]:
        parts: dict[str, bytes] = defaultdict(bytes)
        for params in _KEYS.params(terms):
            for term, data in self._scope.rows(_ENTRIES, {"in_project": project, **params}):
                parts[term] += data
        return {term: posting.unpack(data) for term, data in parts.items()}

    def turns(self, numbers: Sequence[int]) -> Mapping[int, IndexedTurn]:
        rows = (row for params in _MANY.params(numbers) for row in self._scope.rows(_ROWS, params))
        return {
            turn: IndexedTurn(MessageId(message), number, Millis(at), speaker, marks)
            for turn, message, number, at, speaker, marks in rows
        }

    def ordinals(self, conversations: Sequence[ConversationId]) -> Mapping[ConversationId, int]:
        pages = _KEYS.params(conversations)
        rows = (row for params in pages for row in self._scope.rows(_ORDINALS, params))
        return {ConversationId(id): ordinal for id, ordinal in rows}

    def threads(self, ordinals: Sequence[int]) -> Mapping[int, Thread]:
        pages = _KEYS.params(ordinals)
        rows = (row for params in pages for row in self._scope.rows(_OWNERS, params))
        return _by_ordinal(rows)

    def between(
        self, project: ProjectId, begin: int, *, end: int, limit: int
    ) -> Mapping[int, Thread]:
        params = {"in_project": project, "begin": begin, "end": end, "limit": limit}
        return _by_ordinal(self._scope.rows(_BETWEEN, params))

    def _thread(self, behind: Behind, first: Turn) -> dict[str, Any]:
        found = self._scope.row(_THREAD, {"of_conversation": behind.conversation})
        if found is not None:
            names = ("ordinal", "number", "talk", "tools")
            return {"conversation": behind.conversation, **dict(zip(names, found, strict=True))}
        next_one = self._scope.row(_NEXT_ORDINAL)
        assert next_one is not None
        thread = {
            "conversation": behind.conversation,
            "project": behind.project,
            "ordinal": next_one[0],
            "number": 0,
            "talk": 0,
            "tools": 0,
            "since": first.at,
            "until": first.at,
        }
        self._scope.change(_ADD_THREAD, thread)
        return thread

    def _place(self, thread: dict[str, Any], turns: Sequence[Turn]) -> list[int | None]:
        """Give each turn its number, and move the conversation's cursor behind them."""
        used = [thread["talk"], thread["tools"]]
        numbers: list[int | None] = []
        for one in turns:
            at, used[one.lane] = used[one.lane], used[one.lane] + 1
            fits = at < posting.POSITIONS
            turn = posting.turn_of(thread["ordinal"], one.lane, position=at) if fits else None
            numbers.append(turn)
        self._scope.change(
            _MOVE_THREAD,
            {
                "of_conversation": thread["conversation"],
                "to_number": turns[-1].number,
                "to_talk": used[posting.TALK],
                "to_tools": used[posting.TOOLS],
                "to_until": turns[-1].at,
            },
        )
        return numbers

    def _keep_terms(
        self, project: ProjectId, placed: Sequence[tuple[int, Turn]], *, segment: int
    ) -> None:
        more: dict[str, list[int]] = defaultdict(list)
        for at, one in placed:
            for term, count in one.terms.items():
                more[term].append(posting.entry(at, count))
        where = {"in_project": project, "in_segment": segment}
        known = {
            term: data
            for params in _KEYS.params(list(more))
            for term, data in self._scope.rows(_LAST_ENTRIES, {**where, **params})
        }
        fresh = [
            {"project": project, "term": term, "segment": segment, "entries": posting.pack(some)}
            for term, some in more.items()
            if term not in known
        ]
        grown = [
            {**where, "of_term": term, "all_entries": data + posting.pack(more[term])}
            for term, data in known.items()
        ]
        for statement, rows in ((_ADD_TERMS, fresh), (_MORE_ENTRIES, grown)):
            if rows:
                self._scope.change_many(statement, rows)

    def _count(self, project: ProjectId, placed: Sequence[tuple[int, Turn]]) -> None:
        turns, terms = len(placed), sum(one.length for _, one in placed)
        counts = {"in_project": project, "more_turns": turns, "more_terms": terms}
        if not self._scope.change(_COUNT_PROJECT, counts):
            row = {"project": project, "turns": turns, "terms": terms}
            self._scope.change(_ADD_PROJECT, row)


def _by_ordinal(rows: Iterable[Record]) -> dict[int, Thread]:
    return {ordinal: Thread(ConversationId(id), talk) for ordinal, id, talk in rows}


def _row(turn: int, one: Turn) -> dict[str, Any]:
    return {
        "turn": turn,
        "message": one.message,
        "number": one.number,
        "at": one.at,
        "speaker": one.speaker,
        "marks": one.marks,
    }
