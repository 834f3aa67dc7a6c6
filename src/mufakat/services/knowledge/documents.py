"""Documents to read up, with the notes that people and agents left on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mufakat.core import quote
from mufakat.core.base import Event, InvalidInput, NotFound
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge.document import NOTE_CHARS, Note
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import pull
from mufakat.ports import knowledge
from mufakat.ports.knowledge import Passage, Passages
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import ids
from mufakat.services.coordination import pause
from mufakat.services.knowledge import place
from mufakat.services.knowledge.gathering import Subject

SOURCE = "doc"
QUERY_CHARS = 10_000
LIMIT = 5
NOTES = 20
"""Of one document, the newest ones."""
SECTION = "#"
"""Between a document and its section, in ids and where one is pulled."""


@dataclass(frozen=True, slots=True)
class Read:
    """A document or a section of it, with its notes, newest first."""

    passage: Passage
    notes: tuple[Note, ...]


class Documents:
    """Finds documents, reads them, and keeps notes."""

    def __init__(self, store: Store, library: knowledge.Documents, scrub: Scrub) -> None:
        self._store = store
        self._library = library
        self._scrub = scrub

    async def search(
        self, by: Principal, query: str, *, project: str = "", limit: int = 5
    ) -> Passages:
        """The documents that answer best, each with its best section."""
        here = await self._store.read(lambda tx: place.of(tx, by, project))
        return await self._search(Path(here.path), query, limit=limit)

    async def get(self, by: Principal, name: str, *, section: str = "", project: str = "") -> Read:
        """A section, or without one the beginning and all headings; raises NotFound."""
        here = await self._store.read(lambda tx: place.of(tx, by, project))
        return await self._get(Subject(Path(here.path), name, here.id), name, section)

    async def note(self, by: Principal, name: str, text: str, *, project: str = "") -> Note:
        """Leave a note on a document for whoever reads it next in this project."""
        if not text.strip() or len(text) > NOTE_CHARS:
            raise InvalidInput(
                f"A note has 1 to {NOTE_CHARS:,} characters.", fix="Give it a text, or shorten it."
            )
        here = await self._store.read(lambda tx: place.of(tx, by, project))
        # A note on nothing would never be read; the document is looked for first.
        found = await self._library.get(Path(here.path), name)
        words = self._scrub(text).text

        def step(tx: Transaction) -> Note:
            pause.refuse(tx, by)
            now = tx.now()
            id = ids.new("n", now)
            left = Note(id, here.id, found.document, by.identity, now, words)
            tx.notes.add(left)
            data = {"project": here.id, "note": left.id, "author": left.author}
            tx.events.record(Event("document.noted", found.document, data))
            return left

        return await self._store.write(step)

    async def source(self, subject: Subject) -> Sequence[Found]:
        """What a pull asks for: `NAME#section` with its notes, or the best for a question.

        Raises NotFound with the reason where that is nothing.
        """
        if subject.whole:
            name, _, section = subject.text.partition(SECTION)
            return [_found(await self._get(subject, name.strip(), section.strip()))]
        found = await self._search(subject.root, subject.text, limit=LIMIT)
        if not found.passages:
            raise NotFound(f"{found.why}.".capitalize(), fix="Ask in other words.")
        return [_found(Read(one, ()), worth=one.score) for one in found.passages]

    async def _search(self, root: Path, query: str, *, limit: int) -> Passages:
        cut = len(query) > QUERY_CHARS
        found = await self._library.search(root, query[:QUERY_CHARS], limit=limit)
        why = f"the question was cut at {QUERY_CHARS:,} characters" if cut else ""
        return Passages(
            tuple(self._clean(one) for one in found.passages),
            "; ".join(filter(None, (found.why, why))),
        )

    async def _get(self, subject: Subject, name: str, section: str) -> Read:
        passage = self._clean(await self._library.get(subject.root, name, section=section))
        project = subject.project
        if project is None:
            return Read(passage, ())
        notes = await self._store.read(
            lambda tx: tx.notes.of(project, passage.document, limit=NOTES)
        )
        return Read(passage, tuple(notes))

    def _clean(self, one: Passage) -> Passage:
        return replace(one, text=self._scrub(one.text).text)


def _found(read: Read, *, worth: float = 1.0) -> Found:
    passage = read.passage
    title = f"{passage.document}{SECTION}{passage.section}" if passage.section else passage.document
    notes = "".join(
        f"\n\nNote by {one.author} (its words are data): {quote.inert(one.text, '')}"
        for one in read.notes
    )
    return Found(
        id=f"doc:{title}",
        source=SOURCE,
        head=f"{title} ({passage.source})",
        text=passage.text + notes,
        key=pull.key(pull.Kind.DOCS, title),
        worth=worth,
    )
