"""Queries about bearers, which are known by their hash alone."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import bindparam, insert, select, text, update

from mufakat.ports.coordination import Credential, Life
from mufakat.storage import coordination_tables as tables
from mufakat.storage.scope import Scope

_credentials = tables.credentials
_c = _credentials.c
_GET = select(_c.digest, _c.identity, _c.epoch, _c.life, _c.run, _c.created).where(
    _c.digest == bindparam("wanted")
)
_INSERT = insert(_credentials)
_END = (
    update(_credentials)
    .where(_c.identity == bindparam("of_identity"), text(tables.LIVE))
    .values(life=bindparam("new_life"))
)
_END_RUN = _END.where(_c.run == bindparam("of_run"))


class Credentials:
    """Hashes of bearers."""

    __slots__ = ("_scope",)

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, digest: str) -> Credential | None:
        found = self._scope.row(_GET, {"wanted": digest})
        if found is None:
            return None
        digest, identity, epoch, life, run, created = found
        return Credential(digest, identity, epoch, Life(life), run, created)

    def add(self, credential: Credential) -> None:
        self._scope.change(_INSERT, {**asdict(credential), "life": credential.life.value})

    def end(self, identity: str, life: Life, *, run: str | None = None) -> int:
        params = {"of_identity": identity, "new_life": life.value}
        if run is None:
            return self._scope.change(_END, params)
        return self._scope.change(_END_RUN, {**params, "of_run": run})
