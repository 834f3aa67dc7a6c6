"""Notices: shared facts of a project that expire by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.base import Event, InvalidInput, Millis, NotAllowed, NotFound
from mufakat.core.coordination import notice
from mufakat.core.coordination.notice import Notice
from mufakat.core.coordination.principal import Principal
from mufakat.core.talk.conversation import Project
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import pause, rooms


class Notices:
    """Sets, shows and takes back notices."""

    def __init__(self, store: Store, scrub: Scrub) -> None:
        self._store = store
        self._scrub = scrub

    async def set(
        self,
        by: Principal,
        key: str,
        text: str,
        *,
        ttl_seconds: float = notice.DEFAULT_TTL,
        project: str = "",
    ) -> Notice:
        """Say something under a key in place of what was said before; raises InvalidInput."""
        notice.check(key, text, ttl=ttl_seconds)
        # Everybody reads it, so it is stored without secrets from the first.
        words = self._scrub(text).text

        def step(tx: Transaction) -> Notice:
            pause.refuse(tx, by)
            place, now = _project(tx, by, project), tx.now()
            expires = Millis(now + round(ttl_seconds * 1000))
            said = Notice(place.id, key, words, by.identity, now, expires)
            tx.notices.keep(said)
            data = {"project": place.id, "author": said.author, "expires": expires}
            tx.events.record(Event("notice.set", key, data))
            return said

        return await self._store.write(step)

    async def drop(self, by: Principal, key: str, *, project: str = "") -> None:
        """Take a notice back; raises NotFound where there is none."""

        def step(tx: Transaction) -> None:
            place = _project(tx, by, project)
            if not tx.notices.drop(place.id, key):
                raise NotFound(f"There is no notice {key[:64]}.", fix="List them.")
            data = {"project": place.id, "by": by.identity}
            tx.events.record(Event("notice.dropped", key, data))

        await self._store.write(step)

    async def list(self, *, project: str = "") -> Sequence[Notice]:
        """What holds now: in a project, or in all of them."""

        def query(tx: Transaction) -> Sequence[Notice]:
            named = rooms.project_of(tx, project)
            places = [named] if named else tx.projects.list()
            return [one for place in places for one in tx.notices.live(place.id, tx.now())]

        return await self._store.read(query)


def _project(tx: Transaction, by: Principal, name: str) -> Project:
    """The project that is meant; an agent speaks in its own alone."""
    own = tx.instances.get(by.identity) if by.identity else None
    place = rooms.project_of(tx, name, own)
    if place is None:
        raise InvalidInput("The notice belongs to no project.", fix="Give `project` with it.")
    if not by.operator and (own is None or place.id != own.project):
        raise NotAllowed("An agent speaks in its own project alone.")
    return place
