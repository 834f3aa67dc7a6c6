"""The graph for people, agents and reviews: who uses what, and what a change may touch."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mufakat.core.base import InvalidInput, NotFound, Unavailable
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge import change
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import conditions
from mufakat.ports.knowledge import Changed, Graph, Node, Reach, Relation, Review, Reviewer
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.services.knowledge import place
from mufakat.services.knowledge.gathering import Source, Subject

NODES, FILES = 50, 10
PULLED_CHARS, CHANGED_CHARS = 20_000, 4_000
MOST_PATHS = 50


class Graphs:
    """Asks the graph of a project; an agent asks in its own alone."""

    def __init__(
        self, store: Store, graph: Graph, scrub: Scrub, reviewer: Reviewer | None = None
    ) -> None:
        self._store = store
        self._reviewer = reviewer
        self._graph = graph
        self._scrub = scrub

    async def ask(
        self,
        by: Principal,
        relation: Relation,
        symbol: str,
        *,
        project: str = "",
        limit: int = NODES,
    ) -> list[Node]:
        """What stands in a relation to a symbol or file."""
        root = await self._root(by, project)
        found = await self._graph.ask(root, relation, symbol, limit=limit)
        return [Node(one.path, one.line, one.symbol, self._scrub(one.text).text) for one in found]

    async def blast(
        self, by: Principal, paths: Sequence[str], *, project: str = "", limit: int = FILES
    ) -> Sequence[Reach]:
        """Files that a change of these may touch, most likely first."""
        if not paths or len(paths) > MOST_PATHS:
            raise InvalidInput(
                f"Give 1 to {MOST_PATHS} paths, not {len(paths)}.",
                fix="Name the files that change, relative to the project's folder.",
            )
        return await self._graph.blast(await self._root(by, project), paths, limit=limit)

    def source(self, named: Source) -> Source:
        """For packs and pulls: what a diff in the request touches, else what `named` finds.

        A review without a diff is told what the changes of the branch touch, too.
        """

        async def source(subject: Subject) -> Sequence[Found]:
            given = change.read(subject.text)
            if given.paths:
                return await self.facts(subject.root, given.paths, chars=given.size)
            if subject.changed is None or not subject.changed.paths:
                return await named(subject)
            return await self._reviewable(subject, subject.changed, named)

        return source

    async def _reviewable(self, subject: Subject, changed: Changed, named: Source) -> list[Found]:
        """What the request names, the files that changed, and what they may touch."""
        found: list[Found] = []
        with suppress(NotFound):
            found += await named(subject)
        found.append(_changed(changed))
        # Changes in documents alone reach no source file; that they are there is told all the same.
        with suppress(NotFound):
            found += await self.facts(
                subject.root,
                changed.paths[:MOST_PATHS],
                chars=min(CHANGED_CHARS, changed.size),
            )
        return list({one.id: one for one in reversed(found)}.values())[::-1]

    async def facts(
        self, root: Path, paths: Sequence[str], symbols: Sequence[str] = (), *, chars: int
    ) -> list[Found]:
        """What a review of these files should know, in at most `chars` characters.

        `chars` is the size of the change where that is smaller than the budget: a small diff gets
        no graph larger than itself.
        """
        found = await self._reviewed(root) if paths else []
        if paths:
            found += _files(paths, await self._graph.blast(root, paths, limit=FILES))
        for symbol in symbols:
            for relation in (Relation.CALLERS, Relation.TESTS):
                found += _places(relation, symbol, await self._graph.ask(root, relation, symbol))
        return self._within(found, chars)

    async def related(self, root: Path, relation: Relation, symbol: str) -> list[Found]:
        """The answer to a pull that names a relation."""
        found = _places(relation, symbol, await self._graph.ask(root, relation, symbol))
        return self._within(found, PULLED_CHARS)

    async def _reviewed(self, root: Path) -> list[Found]:
        """What another program says of the changes; its failing costs nothing else."""
        try:
            said = await self._reviewer.review(root) if self._reviewer else None
        except Unavailable as problem:
            return [Found("graph:review", "graph", "no review by code-review-graph", str(problem))]
        return [_review(said)] if said else []

    def _within(self, found: Sequence[Found], chars: int) -> list[Found]:
        """The first of them that fit, whole."""
        kept = []
        for one in found:
            clean = Found(one.id, one.source, one.head, self._scrub(one.text).text, key=one.key)
            chars -= len(clean.head) + len(clean.text) + 2
            if chars < 0:
                break
            kept.append(clean)
        return kept

    async def _root(self, by: Principal, project: str) -> Path:
        return Path((await self._store.read(lambda tx: place.of(tx, by, project))).path)


def _review(said: Review) -> Found:
    gaps = [f"without a test: {one.path}:{one.line} {one.symbol}" for one in said.gaps]
    first = [f"look first at: {one.path}:{one.line} {one.symbol}" for one in said.priorities]
    return Found(
        "graph:review",
        "graph",
        f"code-review-graph: risk {said.risk:.2f}",
        "\n".join([said.summary, *first, *gaps]),
    )


def _changed(changed: Changed) -> Found:
    """The files that a review is about, by name."""
    more = len(changed.paths) - MOST_PATHS
    names = [*changed.paths[:MOST_PATHS], *([f"and {more} more"] if more > 0 else [])]
    head = conditions.changes(changed.base, len(changed.paths), complete=changed.complete)
    return Found("graph:changed", "graph", head, "\n".join(names))


def _files(paths: Sequence[str], reached: Sequence[Reach]) -> list[Found]:
    """One a file, so that a small budget keeps the likeliest."""
    named = ", ".join(paths[:3])
    return [
        Found(
            f"graph:reach:{one.path}",
            "graph",
            f"{one.path} may be touched by {named}",
            one.why,
            key=f"graph {one.path}",
        )
        for one in reached
    ]


def _places(relation: Relation, symbol: str, nodes: Sequence[Node]) -> list[Found]:
    return [
        Found(
            f"graph:{relation}:{symbol}:{one.path}:{one.line}",
            "graph",
            f"{relation} of {symbol}: {one.path}:{one.line} {one.symbol}".rstrip(),
            one.text,
            key=f"graph {relation} {symbol}",
        )
        for one in nodes
    ]
