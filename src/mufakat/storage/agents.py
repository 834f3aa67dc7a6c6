"""Queries about agents and their engines' sessions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import bindparam, delete, insert, select

from mufakat.core.base import AgentId, ConversationId
from mufakat.core.talk.agent import Agent
from mufakat.core.talk.session import Place, Session
from mufakat.core.talk.usage import Usage
from mufakat.storage import tables
from mufakat.storage.paging import LAST
from mufakat.storage.scope import Record, Scope

_agents = tables.agents
_sessions = tables.sessions
_SELECT = select(
    _agents.c.id,
    _agents.c.conversation,
    _agents.c.identity,
    _agents.c.engine,
    _agents.c.role,
    _agents.c.persona,
    _agents.c.created,
)
_GET = _SELECT.where(_agents.c.id == bindparam("key"))
_FIND = _SELECT.where(
    _agents.c.conversation == bindparam("in_conversation"),
    _agents.c.engine == bindparam("by_engine"),
    _agents.c.role == bindparam("by_role"),
    _agents.c.persona == bindparam("by_persona"),
)
_LIST = _SELECT.where(_agents.c.conversation == bindparam("in_conversation")).order_by(
    _agents.c.created, _agents.c.id
)
_IDENTITIES = select(_agents.c.identity).where(
    _agents.c.identity >= bindparam("low"), _agents.c.identity < bindparam("high")
)
_INSERT = insert(_agents)
_SESSION = select(
    _sessions.c.agent,
    _sessions.c.engine,
    _sessions.c.session,
    _sessions.c.model,
    _sessions.c.cwd,
    _sessions.c.branch,
    _sessions.c.head,
    _sessions.c.told,
    _sessions.c.system,
    _sessions.c.running_total,
).where(_sessions.c.agent == bindparam("of_agent"))
_DROP = delete(_sessions).where(_sessions.c.agent == bindparam("of_agent"))
_KEEP = insert(_sessions)


class Agents:
    """Agents of conversations."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def find(
        self, conversation: ConversationId, *, engine: str, role: str, persona: str
    ) -> Agent | None:
        found = self._scope.row(
            _FIND,
            {
                "in_conversation": conversation,
                "by_engine": engine,
                "by_role": role,
                "by_persona": persona,
            },
        )
        return None if found is None else Agent(*found)

    def add(self, agent: Agent) -> Agent:
        self._scope.change(_INSERT, asdict(agent))
        return agent

    def get(self, id: AgentId) -> Agent | None:
        found = self._scope.row(_GET, {"key": id})
        return None if found is None else Agent(*found)

    def list(self, conversation: ConversationId) -> Sequence[Agent]:
        return [Agent(*row) for row in self._scope.rows(_LIST, {"in_conversation": conversation})]

    def identities(self, prefix: str) -> frozenset[str]:
        rows = self._scope.rows(_IDENTITIES, {"low": prefix, "high": prefix + LAST})
        return frozenset(row[0] for row in rows)

    def session(self, agent: AgentId) -> Session | None:
        found = self._scope.row(_SESSION, {"of_agent": agent})
        return None if found is None else _session(found)

    def keep_session(self, session: Session) -> None:
        self.drop_session(session.agent)
        self._scope.change(
            _KEEP,
            {
                "agent": session.agent,
                "engine": session.engine,
                "session": session.id,
                "model": session.model,
                "cwd": session.place.cwd,
                "branch": session.place.branch,
                "head": session.place.head,
                "told": json.dumps(sorted(session.told)),
                "system": session.system,
                "running_total": json.dumps(asdict(session.running_total)),
            },
        )

    def drop_session(self, agent: AgentId) -> None:
        self._scope.change(_DROP, {"of_agent": agent})


def _session(row: Record) -> Session:
    agent, engine, id, model, cwd, branch, head, told, system, running_total = row
    return Session(
        agent,
        engine,
        id,
        model,
        Place(cwd, branch, head),
        frozenset(json.loads(told)),
        system,
        Usage(**json.loads(running_total)),
    )
