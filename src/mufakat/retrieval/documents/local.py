"""All documents that a project can read up, found over one index a project."""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

from mufakat.core.base import NotFound
from mufakat.core.knowledge import document
from mufakat.ports.knowledge import Passage, Passages
from mufakat.retrieval.code import reading
from mufakat.retrieval.documents import hub, node, project, python
from mufakat.retrieval.documents.candidate import Candidate
from mufakat.retrieval.documents.chub import Chub, ChubFailed
from mufakat.retrieval.documents.index import Index, Match, Stored

HUB = ".agents/hub"
"""Content folder of a project."""
OWN_HUB = "hub"
"""Content folder of Mufakat's home."""
SECONDS = 4.0
"""For what changed since the last question; the rest is read at the next one."""
WHOLE_CHARS = 6_000
"""Of the beginning of a document, where no section is asked for."""
SECTION_CHARS = 20_000
MOST_HEADINGS = 200
NAME_CHARS = 200
"""Of a name that is not there, as it is compared with others."""


class LocalDocuments:
    """Documents of projects on this machine."""

    def __init__(self, home: Path, chub: Chub, *, seconds: float = SECONDS) -> None:
        """`home` is Mufakat's own, where the indexes lie."""
        self._home = home
        self._chub = chub
        self._seconds = seconds
        self._refreshing = asyncio.Lock()

    async def search(self, root: Path, query: str, *, limit: int = 5) -> Passages:
        """The best section of each of the best documents, best first."""
        index = self._index(root)
        async with self._refreshing:
            left = await asyncio.to_thread(self.refresh, root)
        found = await asyncio.to_thread(index.search, query, limit=limit)
        passages = [_passage(one) for one in found]
        whys = [f"{left:,} documents are not read yet; ask again"] if left else []
        more, why = await self._from_chub(query, limit=limit)
        known = {one.document for one in passages}
        passages += [one for one in more if one.document not in known]
        whys += [why] if why else []
        if not passages:
            whys.append("no document has these words")
        return Passages(tuple(passages[:limit]), "; ".join(whys))

    async def get(self, root: Path, name: str, *, section: str = "") -> Passage:
        """A section, or without one the beginning and all headings; raises NotFound."""
        index = self._index(root)
        stored = await asyncio.to_thread(index.get, name)
        if stored is None:
            async with self._refreshing:
                await asyncio.to_thread(self.refresh, root)
            stored = await asyncio.to_thread(index.get, name)
        if stored is None:
            stored, why = await self._of_chub(name)
        if stored is None:
            names = await asyncio.to_thread(index.names)
            near = difflib.get_close_matches(name[:NAME_CHARS], names, n=5, cutoff=0.4)
            raise NotFound(
                f"There is no document {name[:100]!r}{f'; {why}' if why else ''}.",
                fix=f"Nearest: {', '.join(near)}." if near else "Search: mufakat docs search.",
            )
        if not stored.sections and not stored.description:
            raise NotFound(
                f"The document {name[:NAME_CHARS]!r} has no text that can be read.",
                fix="It is empty, binary or too large.",
            )
        return _section(stored, section) if section else _beginning(stored)

    def refresh(self, root: Path) -> int:
        """Read what changed, for a bounded time; answers how many documents are still to do."""
        index, ends = self._index(root), time.monotonic() + self._seconds
        known, seen, left = dict(index.stamps()), set[tuple[str, str]](), 0
        with reading.opened(root) as folder:
            for one in self._candidates(folder):
                key = (one.source, one.name)
                if key in seen:
                    continue
                seen.add(key)
                if known.get(key) == one.stamp:
                    continue
                if time.monotonic() > ends:
                    left += 1
                    continue
                index.put(one.load(), one.stamp)
        gone = [key for key in known if key not in seen]
        if gone:
            index.drop(gone)
        return left

    def _candidates(self, folder: int) -> Iterator[Candidate]:
        yield from project.candidates(folder)
        yield from hub.candidates(folder, HUB)
        own = self._home / OWN_HUB
        if own.is_dir():
            with reading.opened(own) as below:
                yield from hub.candidates(below, "")
        yield from python.candidates(folder)
        yield from node.candidates(folder)

    def _index(self, root: Path) -> Index:
        name = hashlib.sha256(str(root).encode("utf-8", "surrogatepass")).hexdigest()[:24]
        return Index(self._home / "index" / "documents" / f"{name}.db")

    async def _from_chub(self, query: str, *, limit: int) -> tuple[list[Passage], str]:
        if not self._chub.present:
            return [], ""
        try:
            return await self._chub.search(query, limit=limit), ""
        except ChubFailed as problem:
            return [], str(problem)

    async def _of_chub(self, name: str) -> tuple[Stored | None, str]:
        if not self._chub.present:
            return None, ""
        try:
            text = await self._chub.get(name)
        except ChubFailed as problem:
            return None, str(problem)
        if text is None:
            return None, "chub has none either"
        sections = tuple((one.heading, one.text) for one in document.sections(text))
        return Stored(name, "hub", "", sections), ""


def _passage(one: Match) -> Passage:
    return Passage(one.name, one.heading, one.text, one.score, one.source)


def _beginning(stored: Stored) -> Passage:
    headings = list(dict.fromkeys(heading for heading, _ in stored.sections if heading))
    listed = "\n".join(f"- {one}" for one in headings[:MOST_HEADINGS])
    body = "\n\n".join(text for _, text in stored.sections[:20])[:WHOLE_CHARS]
    parts = [stored.description, body, f"Sections:\n{listed}" if listed else ""]
    return Passage(stored.name, "", "\n\n".join(filter(None, parts)), 1.0, stored.source)


def _section(stored: Stored, wanted: str) -> Passage:
    """Sections whose heading is the one asked for, lies below it, or at least has its words."""
    low = wanted.lower().strip()
    for fits in (
        lambda heading: (heading + document.PATH).find(low + document.PATH) == 0,
        lambda heading: heading.rpartition(document.PATH)[2] == low,
        lambda heading: low in heading,
    ):
        found = [one for one in stored.sections if fits(one[0].lower())]
        if found:
            body = "\n\n".join(text for _, text in found)[:SECTION_CHARS]
            return Passage(stored.name, found[0][0], body, 1.0, stored.source)
    headings = list(dict.fromkeys(one for one, _ in stored.sections if one))
    near = difflib.get_close_matches(wanted[:NAME_CHARS], headings, n=5, cutoff=0.2) or headings[:5]
    raise NotFound(
        f"{stored.name} has no section {wanted[:100]!r}.", fix=f"Nearest: {'; '.join(near)}."
    )
