"""Vectors of what was said: made for indexed turns in the background, compared with a question.

Where they cannot be had the words alone decide, and the answer says why.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field

from mufakat.core.base import InvalidInput, MufakatError, ProjectId, Unavailable
from mufakat.core.knowledge import fusion, indexing, posting
from mufakat.ports.embedding import Compared, Embedder, MakeSpace, Space, Vector
from mufakat.ports.recall import Embedded
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction

BATCH = 32
"""Turns that are embedded at once."""
TEXT_CHARS = 2_000
"""Of a longer turn the vector tells the beginning."""
FILL_SECONDS = 60.0
ASK_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 600.0
"""Seconds for which a model that failed is left alone; each time twice as long."""
LOADED = 2_048
"""Vectors that are read from the store at once."""
KEPT = 200_000
"""Vectors in memory; those of the projects that were asked longest ago go first."""
NONE = Vector(b"")


@dataclass(frozen=True, slots=True)
class Near:
    """How near the turns of some projects are to a question; `why` says what is missing."""

    compared: Mapping[ProjectId, Compared] = field(default_factory=dict)
    why: str = ""

    def candidates(self, project: ProjectId, among: Container[int] | None = None) -> list[int]:
        """Turns that stand out, with their neighbours; `among` are conversations by number."""
        compared = self.compared.get(project)
        if compared is None:
            return []
        best = compared.best(fusion.NEAREST, among)
        found = fusion.candidates(best, compared.of(best), _spread(compared))
        return list(dict.fromkeys(turn + step for turn in found for step in (0, -1, 1)))

    def added(self, project: ProjectId, turns: Collection[int]) -> Mapping[int, float]:
        """What to add to the scores of these turns; nothing without vectors."""
        compared = self.compared.get(project)
        if compared is None:
            return {}
        cosines = compared.of(fusion.beside(turns))
        return fusion.added(turns, cosines, _spread(compared))


NOT_NEAR = Near()


@dataclass(slots=True)
class _Loaded:
    """The vectors of one project in memory, and how many of each conversation."""

    space: Space
    model: str
    done: dict[int, int] = field(default_factory=dict)


class Vectors:
    """Fills and compares; one failure of the model turns it off for a while."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        scrub: Scrub,
        *,
        space: MakeSpace,
        clock: Callable[[], float],
    ) -> None:
        """`clock` answers seconds; only how many pass is looked at."""
        self._store = store
        self._embedder = embedder
        self._scrub = scrub
        self._make_space = space
        self._clock = clock
        self._loaded: OrderedDict[ProjectId, _Loaded] = OrderedDict()
        self._lock = asyncio.Lock()
        self._failure = ""
        self._pause = 0.0
        self._until = 0.0

    @property
    def problem(self) -> str:
        """Why the model takes no part just now; empty where it does."""
        return self._embedder.problem or (self._failure if self.rests else "")

    @property
    def rests(self) -> float:
        """Seconds until a model that failed is asked again; 0 where none has."""
        return max(0.0, self._until - self._clock())

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._embedder.model

    async def probe(self) -> str:
        """Ask the model once; answers what is wrong with it, or nothing."""
        try:
            await self._embed(["doctor"], seconds=ASK_SECONDS)
        except MufakatError as problem:
            return str(problem)
        return ""

    async def fill(self, project: ProjectId) -> int:
        """Make the vectors of one batch of turns; answers how many turns are left without.

        Raises Unavailable with the reason where the model takes no part.
        """
        key = await self._key()
        standing = await self._store.read(lambda tx: tx.vectors.standing(project, key))
        left = sum(one.talk - one.done for one in standing)
        room = BATCH
        for one in standing:
            if one.done < one.talk and room > 0:
                room -= await self._extend(one, key, min(room, one.talk - one.done))
        return max(0, left - (BATCH - room))

    async def near(
        self, text: str, projects: Sequence[ProjectId], *, seconds: float = ASK_SECONDS
    ) -> Near:
        """Compare the turns of projects with a question; the first one's speakers are known to it.

        Failures are an answer: nothing is near then, and it says why.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self._near(text, projects)
        except TimeoutError:
            return Near(why=f"no vectors: the model took longer than {seconds * 1000:,.0f} ms")
        except MufakatError as problem:
            return Near(why=f"no vectors: {str(problem).rstrip('.')}")

    async def _near(self, text: str, projects: Sequence[ProjectId]) -> Near:
        first = projects[0]
        scope = await self._store.read(lambda tx: tx.recall.scope(first))
        stripped = fusion.without_names(text, scope.speakers)
        key = await self._key()
        (asked,) = await self._embed([self._scrub(stripped).text], seconds=FILL_SECONDS)
        compared = {}
        left = 0
        for project in projects:
            async with self._lock:
                space, missing = await self._load(project, key)
            left += missing
            found = await asyncio.to_thread(space.compare, asked)
            if found is not None:
                compared[project] = found
        return Near(compared, f"{left:,} turns have no vectors yet" if left else "")

    async def _key(self) -> str:
        """What the store knows the model by; the model is asked once for its dimensions."""
        if not self._embedder.dims:
            await self._embed(["dimensions"], seconds=FILL_SECONDS)
        return f"{self._embedder.model}/{self._embedder.dims}"

    async def _extend(self, at: Embedded, key: str, count: int) -> int:
        texts = await self._store.read(lambda tx: _texts(tx, at, count))
        vectors = await self._vectors([self._scrub(text).text[:TEXT_CHARS] for text in texts])
        await self._store.write(lambda tx: tx.vectors.add(at, vectors, model=key))
        return len(vectors)

    async def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Vectors of turns; one that has no words, or is refused, gets none."""
        wanted = [at for at, text in enumerate(texts) if text.strip()]
        made = [NONE] * len(texts)
        if not wanted:
            return made
        try:
            found = await self._embed([texts[at] for at in wanted], seconds=FILL_SECONDS)
        except InvalidInput:
            found = [await self._one(texts[at]) for at in wanted]
            if not any(found):
                raise
        for at, vector in zip(wanted, found, strict=True):
            made[at] = vector
        return made

    async def _one(self, text: str) -> Vector:
        try:
            (vector,) = await self._embed([text], seconds=FILL_SECONDS, again=True)
        except InvalidInput:
            return NONE
        return vector

    async def _embed(
        self, texts: Sequence[str], *, seconds: float, again: bool = False
    ) -> Sequence[Vector]:
        """Ask the model; a failure turns it off for a while.

        `again` asks at once for a part of what was refused.
        """
        if not again and self.problem:
            raise Unavailable(self.problem)
        try:
            async with asyncio.timeout(seconds):
                vectors = await self._embedder.embed(texts)
        except TimeoutError as problem:
            raise self._off(f"The model took longer than {seconds:g} s.") from problem
        except InvalidInput as problem:
            self._off(str(problem))
            raise
        except (MufakatError, OSError) as problem:
            raise self._off(str(problem) or type(problem).__name__) from problem
        self._pause = self._until = 0.0
        return vectors

    def _off(self, why: str) -> Unavailable:
        self._pause = min(LONGEST_PAUSE, 2 * self._pause or FIRST_PAUSE)
        self._until = self._clock() + self._pause
        self._failure = why[:200]
        return Unavailable(self._failure)

    async def _load(self, project: ProjectId, key: str) -> tuple[Space, int]:
        """The vectors of a project, brought up to date, and how many turns have none."""
        held = self._loaded.get(project)
        if held is None or held.model != key:
            held = self._loaded[project] = _Loaded(self._make_space(), key)
        self._loaded.move_to_end(project)
        standing = await self._store.read(lambda tx: tx.vectors.standing(project, key))
        for one in standing:
            while held.done.get(one.ordinal, 0) < one.done:
                await self._read(held, one)
        self._make_room()
        return held.space, sum(one.talk - one.done for one in standing)

    async def _read(self, held: _Loaded, one: Embedded) -> None:
        at = held.done.get(one.ordinal, 0)
        end = min(one.done, at + LOADED)
        base = posting.turn_of(one.ordinal, posting.TALK, position=0)
        rows = await self._store.read(
            lambda tx: tx.vectors.some(base + at, base + end, model=held.model)
        )
        held.space.add(list(rows), list(rows.values()))
        held.done[one.ordinal] = end

    def _make_room(self) -> None:
        while len(self._loaded) > 1 and sum(o.space.size for o in self._loaded.values()) > KEPT:
            self._loaded.popitem(last=False)


def _spread(compared: Compared) -> fusion.Spread:
    return fusion.Spread(compared.mean, compared.deviation)


def _texts(tx: Transaction, at: Embedded, count: int) -> list[str]:
    """What was said in the turns that have no vector yet, as it is indexed."""
    first = posting.turn_of(at.ordinal, posting.TALK, position=at.done)
    known = tx.recall.turns(range(first, first + count))
    said = tx.messages.some([one.message for one in known.values()])
    thread = tx.conversations.get(at.conversation)
    fence = thread.fence if thread is not None else ""
    texts = []
    for turn in range(first, first + count):
        message = said.get(known[turn].message) if turn in known else None
        texts.append(indexing.body(message, fence) if message is not None else "")
    return texts
