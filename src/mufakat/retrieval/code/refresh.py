"""Brings an index up to date: walks the root, reads what is new, forgets what is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.knowledge import code_words
from mufakat.ports.knowledge import Indexed, Progress
from mufakat.retrieval.code import reading
from mufakat.retrieval.code.making import Batch
from mufakat.retrieval.code.reading import Refused
from mufakat.retrieval.code.store import Store
from mufakat.retrieval.code.walk import Entry, FolderFound, Walk

JOIN_AT = 12
"""Segments that are joined into one: a search reads each of them."""
STEP = 50
"""Files between two reports of progress."""
MOST_WORDS = 500_000
"""Words whose terms are kept in memory."""
LONGEST_MEAN = 400
"""Characters a line: a file above it was made by a program."""


@dataclass(frozen=True, slots=True)
class Among:
    """What a watch told since the last look."""

    changed: frozenset[str]
    """Folders of changed files."""
    folders: frozenset[str]
    """All folders that the last look at everything entered."""


@dataclass(slots=True)
class Refresh:
    """One refresh of one index; runs in a thread of its own and may be stopped between files."""

    root: Path
    store: Store
    beyond: frozenset[tuple[int, int]]
    progress: Progress | None = None
    stop: threading.Event | None = None
    largest: int = reading.LARGEST
    among: Among | None = None
    """Where alone something changed; None looks at all files."""
    entered: frozenset[str] = frozenset()
    """The folders that a look at all files entered; empty after another."""

    def run(self) -> Indexed:
        """Do it; raises InvalidInput for a root that is no folder."""
        began = time.monotonic()
        with reading.opened(self.root) as folder:
            found = Walk(folder, self.beyond, largest=self.largest)
            known, fresh = self._looked(found)
            changed, whole = 0, not self._stopped()
            if whole:
                self.store.remove(known)
                changed, whole = self._read(folder, fresh)
        if whole:
            self.store.finish()
        # Every joining reads all postings, so a few changed files do not ask for it.
        if self.store.segments() > JOIN_AT:
            self.store.join()
        return Indexed(
            files=self.store.files(),
            changed=changed,
            seconds=time.monotonic() - began,
            skipped=(*found.skips, *self.store.skipped()),
            complete=whole,
        )

    def _looked(self, found: Walk) -> tuple[dict[str, reading.Mark], list[Entry]]:
        """What is not there any more, and the files that are new or changed."""
        if self.among is not None:
            try:
                return self._changed(found, self.among)
            except (FolderFound, Refused):
                found.forget()
        known = self.store.marks()
        fresh = self._new(found.files(), known)
        self.entered = frozenset(found.entered)
        return known, fresh

    def _changed(self, found: Walk, among: Among) -> tuple[dict[str, reading.Mark], list[Entry]]:
        gone: dict[str, reading.Mark] = {}
        fresh: list[Entry] = []
        for folder in sorted(among.changed):
            known = self.store.marks_in(folder)
            fresh += self._new(found.inside(folder, among.folders), known)
            gone |= known
        return gone, fresh

    def _new(self, found: Iterable[Entry], known: dict[str, reading.Mark]) -> list[Entry]:
        """The files that are new or changed; `known` keeps what is not there any more."""
        fresh = []
        for one in found:
            if self._stopped():
                break
            if known.pop(one.path, None) != one.mark:
                fresh.append(one)
        return fresh

    def _stopped(self) -> bool:
        return self.stop is not None and self.stop.is_set()

    def _read(self, folder: int, fresh: list[Entry]) -> tuple[int, bool]:
        """Read files until all are done or it is stopped; answers how many, and whether all."""
        batch = Batch(self.store.next_piece(), code_words.Terms())
        for number, entry in enumerate(fresh):
            if self._stopped():
                self._write(batch)
                return number, False
            if number % STEP == 0:
                self._tell(number, len(fresh))
            self._take(folder, entry, batch)
            if batch.full:
                self._write(batch)
                batch = Batch(batch.next_piece, _bounded(batch.terms))
        self._write(batch)
        self._tell(len(fresh), len(fresh))
        return len(fresh), True

    def _tell(self, done: int, of: int) -> None:
        if self.progress is not None:
            self.progress(done, of)

    def _take(self, folder: int, entry: Entry, batch: Batch) -> None:
        try:
            content = reading.read(folder, entry.path, largest=self.largest)
            if len(content.text) > LONGEST_MEAN * (content.text.count("\n") + 5):
                raise Refused("its lines are too long for a person's code")
        except Refused as refused:
            batch.skip(entry.path, entry.mark, str(refused))
        else:
            batch.add(entry.path, content)

    def _write(self, batch: Batch) -> None:
        if batch.rows:
            self.store.add(batch.rows, batch.postings, next_piece=batch.next_piece)


def _bounded(terms: code_words.Terms) -> code_words.Terms:
    return terms if len(terms) < MOST_WORDS else code_words.Terms()
