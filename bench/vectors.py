"""The same search with vectors of a model that is on this machine, for the benchmark of memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.base import ProjectId
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store
from mufakat.retrieval.embedding import onnx, wheel
from mufakat.retrieval.embedding.onnx import Files, OnnxModel
from mufakat.retrieval.embedding.space import MatrixSpace
from mufakat.services.knowledge.recall import Recall
from mufakat.services.knowledge.vectors import Vectors

WHEEL = "wheel"


@dataclass(frozen=True, slots=True)
class WithVectors:
    """A search that has them, and what making them took."""

    name: str
    recall: Recall
    vectors: Vectors
    seconds: float


async def prepare(
    store: Store, scrub: Scrub, projects: Sequence[ProjectId], model: str
) -> WithVectors:
    """Make the vectors of every turn with the model of a folder, or of the wheel."""
    files = _files(model)
    vectors = Vectors(store, OnnxModel(files), scrub, space=MatrixSpace, clock=time.monotonic)
    recall = Recall(store, scrub, clock=time.monotonic, vectors=vectors)
    start = time.perf_counter()
    for project in projects:
        while await vectors.fill(project):
            pass
    name = f"Mufakat with vectors ({files.name})"
    return WithVectors(name, recall, vectors, time.perf_counter() - start)


def _files(model: str) -> Files:
    return wheel.minilm() if model == WHEEL else onnx.of_directory(Path(model))
