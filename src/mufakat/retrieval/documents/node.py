"""Documents inside installed Node packages: README and type declarations, read as files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from mufakat.core.knowledge import declarations, document
from mufakat.core.knowledge.document import Document, Section
from mufakat.retrieval.documents import candidate
from mufakat.retrieval.documents.candidate import Candidate

FOLDER = "node_modules"
SOURCE = "package"
MOST_DECLARATIONS = 8
"""Files of declarations of one package."""


def candidates(root: int) -> Iterator[Candidate]:
    """Every package at the top of node_modules; what packages bring along themselves is theirs."""
    for name in candidate.folders(root, FOLDER):
        if name.startswith("@"):
            own = [f"{name}/{inner}" for inner in candidate.folders(root, f"{FOLDER}/{name}")]
        else:
            own = [] if name.startswith(".") else [name]
        for package in own:
            mark = candidate.mark(root, f"{FOLDER}/{package}/package.json")
            if mark is not None:
                load = partial(_load, root, package)
                yield Candidate(package, SOURCE, candidate.stamp(mark), load)


def _load(root: int, package: str) -> Document:
    own = f"{FOLDER}/{package}"
    about = _manifest(candidate.text(root, f"{own}/package.json"))
    sections: list[Section] = []
    top = [path for path, _ in candidate.files(root, own, endings=(".md", ".d.ts"), depth=1)]
    readme = next((path for path in top if path.rpartition("/")[2].lower() == "readme.md"), "")
    if readme:
        sections += document.sections(candidate.text(root, readme))
    entry = about.get("types") or about.get("typings")
    typed = [f"{own}/{entry.removeprefix('./')}"] if isinstance(entry, str) else []
    typed += [path for path in top if path.endswith(".d.ts")]
    for path in list(dict.fromkeys(typed))[:MOST_DECLARATIONS]:
        sections += declarations.of(candidate.text(root, path))
    words = [str(about.get("description") or ""), str(about.get("version") or "")]
    described = " · ".join(word for word in words if word)[:600]
    return Document(package, described, SOURCE, tuple(sections[: document.MOST_SECTIONS]))


def _manifest(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
