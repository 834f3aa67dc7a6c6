"""Queries about who takes part; the counters of an inbox never fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import bindparam, case, insert, select, text, update

from mufakat.core.base import ProjectId
from mufakat.core.coordination.instance import Binding, Instance
from mufakat.core.coordination.state import On, Standing, State
from mufakat.storage import coordination_tables as tables
from mufakat.storage.paging import FIRST, PREFIX
from mufakat.storage.scope import Record, Scope

_instances = tables.instances
_c = _instances.c
_SELECT = select(
    _c.identity,
    _c.instance,
    _c.engine,
    _c.host,
    _c.role,
    _c.alias,
    _c.project,
    _c.agent,
    _c.parent,
    _c.epoch,
    _c.session,
    _c.pid,
    _c.pid_start,
    _c.boot,
    _c.cwd,
    _c.repository,
    _c.created,
    _c.seen,
    _c.state,
    _c.since,
    _c.blocked_on,
    _c.detail,
    _c.run,
    _c.ordinal,
    _c.debt,
    _c.revision,
    _c.inbox_head,
    _c.acked,
)
_NEWEST_CALL = (_c.seen.desc(), _c.identity.desc())
_ONLINE = text(tables.ONLINE)
_IN_PROJECT = _c.project == bindparam("in_project")
_GET = _SELECT.where(_c.identity == bindparam("key"))
_FIND = PREFIX.of(_SELECT, _c.identity)
_NAMED = _SELECT.where(_c.alias == bindparam("by_alias")).order_by(_c.identity)
_BY_SESSION = (
    _SELECT.where(
        _c.session == bindparam("by_session"),
        _c.engine == bindparam("by_engine"),
        _c.host == bindparam("by_host"),
    )
    .order_by(_c.created.desc())
    .limit(1)
)
_LIST_ALL = _SELECT.order_by(*_NEWEST_CALL).limit(bindparam("limit"))
_LIST = {
    (False, False): _LIST_ALL,
    (True, False): _LIST_ALL.where(_IN_PROJECT),
    (False, True): _LIST_ALL.where(_ONLINE),
    (True, True): _LIST_ALL.where(_ONLINE, _IN_PROJECT),
}
_IN_ROLE = _SELECT.where(_ONLINE, _c.role == bindparam("by_role")).order_by(*_NEWEST_CALL)
_IN_ROLE_PROJECT = _IN_ROLE.where(_IN_PROJECT)
_CHANGED = tuple(
    column.name for column in _c if column.name not in ("identity", "inbox_head", "acked")
)
_INSERT = insert(_instances)
_UPDATE = (
    update(_instances)
    .where(_c.identity == bindparam("key"))
    .values(
        {name: bindparam(f"new_{name}") for name in _CHANGED}
        | {
            "acked": case(
                (_c.acked < bindparam("new_acked"), bindparam("new_acked")), else_=_c.acked
            )
        }
    )
)


class Instances:
    """Everybody who takes part."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, identity: str) -> Instance | None:
        found = self._scope.row(_GET, {"key": identity})
        return None if found is None else _instance(found)

    def keep(self, instance: Instance) -> None:
        row = _to_row(instance)
        # A step may hold an instance that it read before it delivered something.
        changed = {f"new_{name}": row[name] for name in (*_CHANGED, "acked")}
        if not self._scope.change(_UPDATE, {"key": instance.identity, **changed}):
            self._scope.change(_INSERT, row)

    def find(self, prefix: str) -> Sequence[Instance]:
        return self._all(self._scope.rows(_FIND, PREFIX.params(prefix, FIRST)))

    def named(self, alias: str) -> Sequence[Instance]:
        return self._all(self._scope.rows(_NAMED, {"by_alias": alias}))

    def by_session(self, engine: str, host: str, *, session: str) -> Instance | None:
        params = {"by_session": session, "by_engine": engine, "by_host": host}
        found = self._scope.row(_BY_SESSION, params)
        return None if found is None else _instance(found)

    def list(
        self, *, project: ProjectId | None = None, online: bool = False, limit: int = 200
    ) -> Sequence[Instance]:
        params: dict[str, Any] = {"limit": limit}
        if project is not None:
            params["in_project"] = project
        return self._all(self._scope.rows(_LIST[project is not None, online], params))

    def in_role(self, role: str, *, project: ProjectId | None) -> Sequence[Instance]:
        if project is None:
            return self._all(self._scope.rows(_IN_ROLE, {"by_role": role}))
        params = {"by_role": role, "in_project": project}
        return self._all(self._scope.rows(_IN_ROLE_PROJECT, params))

    def _all(self, rows: Sequence[Record]) -> Sequence[Instance]:
        return [_instance(row) for row in rows]


def _to_row(instance: Instance) -> dict[str, Any]:
    row = asdict(instance)
    binding, standing = row.pop("binding"), row.pop("standing")
    on = standing.pop("on")
    return {
        **row,
        **binding,
        **standing,
        "state": standing["state"].value,
        "online": int(standing["state"] is not State.OFFLINE),
        "blocked_on": None if on is None else on.value,
    }


def _instance(row: Record) -> Instance:
    identity, instance, engine, host, role, alias, project, agent, parent, epoch = row[:10]
    session, pid, pid_start, boot, cwd, repository, created, seen = row[10:18]
    said, since, on, detail, run, ordinal, debt, revision, head, acked = row[18:]
    standing = Standing(
        State(said),
        since,
        on=None if on is None else On(on),
        detail=detail,
        run=run,
        ordinal=ordinal,
        debt=debt,
        revision=revision,
    )
    binding = Binding(session, pid, pid_start, boot, cwd, repository)
    return Instance(
        identity,
        instance,
        engine,
        host,
        role,
        alias,
        project,
        agent,
        parent,
        epoch,
        binding,
        created,
        seen,
        standing,
        head,
        acked,
    )
