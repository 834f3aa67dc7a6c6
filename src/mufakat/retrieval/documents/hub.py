"""Content folders in the layout of Context Hub: AUTHOR/docs/ENTRY[/VERSION][/LANGUAGE]/DOC.md."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mufakat.core.knowledge import document, front_matter
from mufakat.core.knowledge.document import Document, Section
from mufakat.core.knowledge.front_matter import Broken
from mufakat.retrieval.documents import candidate
from mufakat.retrieval.documents.candidate import Candidate

FILE = "DOC.md"
SOURCE = "hub"
ENDINGS = (".md",)


def candidates(root: int, folder: str) -> Iterator[Candidate]:
    """Every DOC.md below a content folder, with the files beside it."""
    for author in candidate.folders(root, folder):
        below = f"{folder}/{author}/docs" if folder else f"{author}/docs"
        known = dict(candidate.files(root, below, endings=ENDINGS))
        for path, mark in known.items():
            own, _, name = path.rpartition("/")
            if name != FILE:
                continue
            beside = sorted(one for one in known if one.startswith(f"{own}/references/"))
            marks = [mark, *(known[one] for one in beside)]
            title = f"{author}/{own.removeprefix(below).strip('/')}"
            yield Candidate(
                title, SOURCE, candidate.stamp(*marks), partial(_load, root, title, [path, *beside])
            )


def _load(root: int, title: str, paths: list[str]) -> Document:
    front = front_matter.read(candidate.text(root, paths[0]))
    if isinstance(front, Broken):
        # Its words can still be found; that its head is broken stands in the description.
        whole = document.sections(candidate.text(root, paths[0]))
        return Document(title, f"(front matter is broken: {front.why})", SOURCE, whole)
    sections = [*document.sections(front.body)]
    for path in paths[1:]:
        name = path.rpartition("/references/")[2]
        sections += [
            Section(document.PATH.join(filter(None, (name, one.heading))), one.text)
            for one in document.sections(candidate.text(root, path))
        ]
    kept = tuple(sections[: document.MOST_SECTIONS])
    return Document(title, _about(front), SOURCE, kept)


def _about(front: front_matter.Front) -> str:
    parts = [front.fields.get("description", "")]
    for name in ("languages", "versions", "tags"):
        value = front.fields.get(f"metadata.{name}", "")
        parts += [f"{name}: {value}"] if value else []
    return " · ".join(part for part in parts if part)[:600]
