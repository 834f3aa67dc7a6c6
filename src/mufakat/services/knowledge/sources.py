"""Code and its graph as sources of packs and pulls."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.base import NotFound
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import conditions, pull
from mufakat.ports.knowledge import CodeIndex, Hit, Relation
from mufakat.services.knowledge.gathering import Source, Subject
from mufakat.services.knowledge.graph import Graphs

HITS, CODE_CHARS = 8, 8_000
SYMBOLS, PATHS, GRAPH_CHARS = 3, 8, 4_000


def code(index: CodeIndex) -> Source:
    """The best pieces of code for a request; raises NotFound with the reason for none."""

    async def source(subject: Subject) -> Sequence[Found]:
        found = await index.search(subject.root, subject.text, limit=HITS, chars=CODE_CHARS)
        if not found.hits and found.why:
            raise NotFound(f"{found.why}.")
        best = max((hit.score for hit in found.hits), default=1.0) or 1.0
        return [_hit(hit, best) for hit in found.hits]

    return source


def graph(known: Graphs) -> Source:
    """Who uses what a request names, which tests it has, and what its change may touch.

    A pull may begin with a relation: `callers NAME`.
    """

    async def source(subject: Subject) -> Sequence[Found]:
        first, _, rest = subject.text.strip().partition(" ")
        relation = next((one for one in Relation if one == first), None)
        if relation is not None and rest.strip():
            return await known.related(subject.root, relation, rest.strip())
        paths, symbols = conditions.names(subject.text)
        return await known.facts(subject.root, paths[:PATHS], symbols[:SYMBOLS], chars=GRAPH_CHARS)

    return source


def _hit(hit: Hit, best: float) -> Found:
    id = f"{hit.path}:{hit.start}-{hit.end}"
    return Found(
        id=id,
        source="code",
        head=f"{id} {hit.symbol}".strip(),
        text=hit.text,
        key=pull.key(pull.Kind.SLICE, id),
        worth=max(0.05, min(1.0, hit.score / best)),
        why=hit.why,
    )
