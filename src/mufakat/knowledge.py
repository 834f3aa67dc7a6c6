"""The part of the composition root that names what agents may look up."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.pack.pull import Kind
from mufakat.ports.embedding import Embedder
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.retrieval.branch import LocalChanges
from mufakat.retrieval.code.index import LocalCodeIndex
from mufakat.retrieval.documents.chub import Chub
from mufakat.retrieval.documents.local import LocalDocuments
from mufakat.retrieval.embedding import onnx, wheel
from mufakat.retrieval.embedding.endpoint import Endpoint
from mufakat.retrieval.embedding.space import MatrixSpace
from mufakat.retrieval.graph.local import LocalGraph
from mufakat.retrieval.graph.reviewer import CodeReviewGraph
from mufakat.retrieval.library import LocalLibrary
from mufakat.retrieval.sessions import local as sessions
from mufakat.retrieval.skills import LocalSkills
from mufakat.services.knowledge import handlers, sources
from mufakat.services.knowledge.asking import Asking
from mufakat.services.knowledge.compressor import Compressor
from mufakat.services.knowledge.documents import Documents
from mufakat.services.knowledge.gathering import Gathering, Pushed, Source
from mufakat.services.knowledge.graph import Graphs
from mufakat.services.knowledge.links import Links
from mufakat.services.knowledge.memory import Memory
from mufakat.services.knowledge.memory_job import MemoryJob
from mufakat.services.knowledge.native_sessions import Sessions
from mufakat.services.knowledge.pulls import Pulls
from mufakat.services.knowledge.recall import Recall
from mufakat.services.knowledge.recall_job import RecallJob
from mufakat.services.knowledge.reviewing import Reviewing
from mufakat.services.knowledge.search import Search
from mufakat.services.knowledge.skills import Skills
from mufakat.services.knowledge.vectors import Vectors
from mufakat.services.knowledge.vectors_job import VectorsJob
from mufakat.services.roster import Roster
from mufakat.settings import EmbeddingSettings, Settings, embedding_key

INDEXES = "index"
"""Folder of the home for what is derived and may be thrown away."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Everything that agents may look up, and the ways in which they do."""

    scrub: Scrub
    pulls: Pulls
    asking: Asking
    gathering: Gathering
    reviewing: Reviewing
    skills: Skills
    documents: Documents
    links: Links
    native: Sessions
    search: Search
    graphs: Graphs
    memory: Memory
    recall: Recall
    vectors: Vectors | None
    """None where no model is set."""
    vectors_job: VectorsJob | None
    memory_job: MemoryJob
    recall_job: RecallJob
    code: LocalCodeIndex

    def start(self) -> None:
        """Begin what is kept up to date in the background."""
        self.memory_job.start()
        self.recall_job.start()
        if self.vectors_job is not None:
            self.vectors_job.start()

    async def close(self) -> None:
        """Stop what runs in the background."""
        await self.recall_job.close()
        await self.memory_job.close()
        if self.vectors_job is not None:
            await self.vectors_job.close()
        await self.search.close()
        await self.code.close()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What packs and pulls are answered from."""

    code: LocalCodeIndex
    graphs: Graphs
    skills: Skills
    documents: Documents
    links: Links
    memory: Memory
    recall: Recall


def build(
    settings: Settings, store: Store, scrub: Scrub, *, roster: Roster, person: str, host: str
) -> Knowledge:
    """Put everything together; nothing is read before it is asked for."""
    own = _own_home()
    native = sessions.of(own or settings.home, os.environ)
    vectors = _vectors(settings.embedding, store, scrub)
    graph = LocalGraph(settings.home)
    parts = _Parts(
        code=LocalCodeIndex(
            settings.home / INDEXES / "code", home=settings.home, environ=os.environ
        ),
        graphs=Graphs(store, graph, scrub, CodeReviewGraph(os.environ)),
        skills=Skills(store, LocalSkills(own), scrub),
        documents=Documents(store, LocalDocuments(settings.home, Chub(os.environ)), scrub),
        links=Links(store, scrub),
        memory=_memory(settings, store, scrub, roster),
        recall=_recall(settings, store, scrub, vectors),
    )
    pulls = Pulls(_handlers(parts, store), scrub)
    return Knowledge(
        scrub=scrub,
        pulls=pulls,
        asking=Asking(store, pulls, scrub),
        gathering=Gathering(_told(parts), scrub, seconds=settings.gather_seconds),
        reviewing=Reviewing(LocalChanges(), seconds=settings.gather_seconds),
        skills=parts.skills,
        documents=parts.documents,
        links=parts.links,
        native=Sessions(store, native, scrub, person=person, host=host),
        search=Search(store, parts.code, scrub),
        graphs=parts.graphs,
        memory=parts.memory,
        recall=parts.recall,
        vectors=vectors,
        vectors_job=VectorsJob(store, parts.recall, vectors) if vectors else None,
        memory_job=MemoryJob(store, parts.memory),
        recall_job=RecallJob(store, parts.recall),
        code=parts.code,
    )


def _handlers(parts: _Parts, store: Store) -> Mapping[Kind, Source]:
    """Who answers pulls, by what is asked for."""
    return {
        Kind.SKILL: parts.skills.bodies,
        Kind.MEMORY: parts.memory.find,
        Kind.RECALL: parts.recall.pulled,
        Kind.SESSION: parts.links.source,
        Kind.DOCS: parts.documents.source,
        Kind.CODE: sources.code(parts.code),
        Kind.GRAPH: parts.graphs.source(sources.graph(parts.graphs)),
        Kind.MESSAGE: handlers.message(store),
        Kind.SLICE: handlers.lines(parts.code),
    }


def _told(parts: _Parts) -> Mapping[str, Pushed]:
    """Who is asked for a pack, by the section that tells it."""
    return {
        "skills-index": parts.skills.index,
        "skills": parts.skills.bodies,
        "retrieval": parts.recall.pushed,
        "code": sources.code(parts.code),
        "graph": parts.graphs.source(sources.graph(parts.graphs)),
        "linked-sessions": parts.links.source,
    }


def _memory(settings: Settings, store: Store, scrub: Scrub, roster: Roster) -> Memory:
    """The memory by rule, refined by an engine where the settings name one."""
    chosen = settings.memory
    if not chosen.engine:
        return Memory(store, scrub)
    compressor = Compressor(
        store,
        roster,
        LocalLibrary(settings.home),
        scrub,
        engine=chosen.engine,
        model=chosen.model,
        workspaces=settings.home / "agents" / "memory",
    )
    return Memory(store, scrub, compressor=compressor)


def _recall(settings: Settings, store: Store, scrub: Scrub, vectors: Vectors | None) -> Recall:
    return Recall(
        store,
        scrub,
        clock=time.monotonic,
        vectors=vectors,
        push_seconds=settings.gather_seconds / 2,
    )


def _vectors(chosen: EmbeddingSettings, store: Store, scrub: Scrub) -> Vectors | None:
    """Vectors of what was said, where the settings name a model."""
    embedder = _embedder(chosen)
    if embedder is None:
        return None
    return Vectors(store, embedder, scrub, space=MatrixSpace, clock=time.monotonic)


def _embedder(chosen: EmbeddingSettings) -> Embedder | None:
    folder = Path(chosen.directory).expanduser()
    match chosen.engine:
        case "none":
            return None
        case "minilm":
            return onnx.OnnxModel(wheel.minilm())
        case "directory":
            return onnx.OnnxModel(onnx.of_directory(folder, sha256=chosen.sha256))
        case "endpoint":
            return Endpoint(
                chosen.base_url,
                chosen.model,
                key=embedding_key(chosen),
                seconds=chosen.seconds,
            )


def _own_home() -> Path | None:
    """The folder of the person, where they have one."""
    try:
        return Path.home()
    except RuntimeError:
        return None
