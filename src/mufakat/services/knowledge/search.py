"""Searching the code of a project, and the state of the index that it is searched in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mufakat.core.base import NotAllowed
from mufakat.core.coordination.principal import Principal
from mufakat.core.talk.conversation import Project
from mufakat.ports.knowledge import CodeIndex, Hit, Hits, Standing, Way
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.services.knowledge import place
from mufakat.services.knowledge.index_news import IndexNews


class Search:
    """Asks the code index on behalf of people and agents; what leaves is scrubbed."""

    def __init__(self, store: Store, index: CodeIndex, scrub: Scrub) -> None:
        self._store = store
        self._index = index
        self._scrub = scrub
        self._news = IndexNews(store, index, scrub)

    async def close(self) -> None:
        """Tell no more of indexes that are being made."""
        await self._news.close()

    async def search(
        self,
        by: Principal,
        query: str,
        *,
        project: str = "",
        limit: int = 10,
        chars: int | None = None,
        way: Way = Way.WORDS,
    ) -> Hits:
        """The best pieces of the project's code; raises NotAllowed for another's project.

        Raises Unavailable for a way whose program is not there or fails.
        """
        here = await self._place(by, project)
        root = Path(here.path)
        found = await self._index.search(root, query, limit=limit, chars=chars, way=way)
        self._news.follow(here.id, root, await self._index.standing(root))
        hits, listing = tuple(map(self._clean, found.hits)), self._scrub(found.listing).text
        return replace(found, hits=hits, listing=listing)

    async def begin(self, by: Principal, project: str, *, anew: bool = False) -> Standing:
        """Begin to bring the index up to date, and do not wait for it.

        With `anew` what there is is thrown away, which no agent may do: NotAllowed.
        """
        if anew and not by.operator:
            raise NotAllowed(
                "Only a person has an index made anew.", fix="Begin a refresh without it."
            )
        here = await self._place(by, project)
        state = await self._index.begin(Path(here.path), anew=anew)
        self._news.follow(here.id, Path(here.path), state)
        return state

    async def cancel(self, by: Principal, project: str) -> Standing:
        """Stop the refresh that is under way; what it has read is kept."""
        return await self._index.cancel(Path((await self._place(by, project)).path))

    async def standing(self, by: Principal, project: str) -> Standing:
        """How far the index is."""
        return await self._index.standing(Path((await self._place(by, project)).path))

    async def _place(self, by: Principal, project: str) -> Project:
        return await self._store.read(lambda tx: place.of(tx, by, project))

    def _clean(self, hit: Hit) -> Hit:
        text = self._scrub(hit.text).text
        return replace(hit, text=text, size=len(text), symbol=self._scrub(hit.symbol).text)
