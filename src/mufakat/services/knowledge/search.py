"""Searching the code of a project, and the state of the index that it is searched in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mufakat.core.coordination.principal import Principal
from mufakat.core.talk.conversation import Project
from mufakat.ports.knowledge import CodeIndex, Hit, Hits, Standing
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.services.knowledge import place


class Search:
    """Asks the code index on behalf of people and agents; what leaves is scrubbed."""

    def __init__(self, store: Store, index: CodeIndex, scrub: Scrub) -> None:
        self._store = store
        self._index = index
        self._scrub = scrub

    async def search(
        self,
        by: Principal,
        query: str,
        *,
        project: str = "",
        limit: int = 10,
        chars: int | None = None,
    ) -> Hits:
        """The best pieces of the project's code; raises NotAllowed for another's project."""
        here = await self._place(by, project)
        found = await self._index.search(Path(here.path), query, limit=limit, chars=chars)
        return replace(found, hits=tuple(map(self._clean, found.hits)))

    async def begin(self, by: Principal, project: str) -> Standing:
        """Begin to bring the index up to date, and do not wait for it."""
        return await self._index.begin(Path((await self._place(by, project)).path))

    async def standing(self, by: Principal, project: str) -> Standing:
        """How far the index is."""
        return await self._index.standing(Path((await self._place(by, project)).path))

    async def _place(self, by: Principal, project: str) -> Project:
        return await self._store.read(lambda tx: place.of(tx, by, project))

    def _clean(self, hit: Hit) -> Hit:
        text = self._scrub(hit.text).text
        return replace(hit, text=text, size=len(text), symbol=self._scrub(hit.symbol).text)
