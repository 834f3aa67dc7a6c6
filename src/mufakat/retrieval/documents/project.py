"""The project's own documents: what lies at its top and in its folder of documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mufakat.core import text as texts
from mufakat.core.knowledge import document
from mufakat.core.knowledge.document import Document
from mufakat.retrieval.documents import candidate
from mufakat.retrieval.documents.candidate import Candidate

FOLDERS = ("docs", "doc", "documentation")
ENDINGS = (".md", ".markdown", ".rst")
SOURCE = "project"


def candidates(root: int) -> Iterator[Candidate]:
    """Every document, by its path."""
    found = list(candidate.files(root, "", endings=ENDINGS, depth=1))
    for folder in FOLDERS:
        found += candidate.files(root, folder, endings=ENDINGS)
    for path, mark in found[: candidate.MOST_FILES]:
        yield Candidate(path, SOURCE, candidate.stamp(mark), partial(_load, root, path))


def _load(root: int, path: str) -> Document:
    body = candidate.text(root, path)
    sections = document.sections(body)
    title = sections[0].heading.split(document.PATH)[0] if sections else ""
    return Document(path, texts.one_line(title, 200), SOURCE, sections)
