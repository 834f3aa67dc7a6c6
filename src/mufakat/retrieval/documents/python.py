"""Documents inside installed Python packages: description and docstrings, read as files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import partial

from mufakat.core.knowledge import docstrings, document
from mufakat.core.knowledge.document import Document, Section
from mufakat.retrieval.documents import candidate
from mufakat.retrieval.documents.candidate import Candidate

ENVIRONMENTS = (".venv", "venv", "env")
SOURCE = "package"
MOST_MODULES = 80
MOST_CHARS = 1_500_000
"""Of the modules of one package."""
_LEFT_OUT = re.compile(
    r"(?:(?:^|/)(?:tests?|testing|[^/]*_test|test_[^/]*|conftest)|/_[^/]*)(?:/|\.py\Z|\Z)"
)
_INIT = "/__init__.py"


def candidates(root: int) -> Iterator[Candidate]:
    """Every distribution of the environments in the project's folder."""
    for place in _places(root):
        for name in candidate.folders(root, place):
            if not name.endswith(".dist-info"):
                continue
            own = f"{place}/{name}"
            marks = [candidate.mark(root, f"{own}/{file}") for file in ("METADATA", "RECORD")]
            if marks[0] is None:
                continue
            title = re.sub(r"[-_.]+", "-", name.split("-")[0]).lower()
            stamp = candidate.stamp(*(mark for mark in marks if mark))
            yield Candidate(title, SOURCE, stamp, partial(_load, root, place, own, title))


def _places(root: int) -> Iterator[str]:
    for environment in ENVIRONMENTS:
        for library in ("lib", "lib64"):
            for version in candidate.folders(root, f"{environment}/{library}"):
                if version.startswith(("python", "pypy")):
                    yield f"{environment}/{library}/{version}/site-packages"
        yield f"{environment}/Lib/site-packages"


def _load(root: int, place: str, own: str, title: str) -> Document:
    head, body = _metadata(candidate.text(root, f"{own}/METADATA"))
    sections: list[Section] = list(document.sections(body))
    sections += _docstrings(root, place, _modules(candidate.text(root, f"{own}/RECORD")))
    version = head.get("version", "")
    about = " · ".join(part for part in (head.get("summary", ""), version) if part)
    return Document(title, about[:600], SOURCE, tuple(sections[: document.MOST_SECTIONS]))


def _metadata(text: str) -> tuple[dict[str, str], str]:
    head, _, body = text.replace("\r\n", "\n").partition("\n\n")
    fields: dict[str, str] = {}
    for line in head.split("\n"):
        name, found, value = line.partition(": ")
        if found and name.lower() not in fields:
            fields[name.lower()] = value.strip()
    return fields, body


def _modules(record: str) -> list[str]:
    """The package's modules, those near its top first; what is private or a test is left out."""
    paths = [row[0] for row in csv.reader(record.splitlines()) if row]
    kept = [
        path
        for path in paths
        if path.endswith(".py")
        and path[:1] != "/"
        and path[:2] != ".."
        and not _LEFT_OUT.search(path.removesuffix(_INIT))
    ]
    return sorted(kept, key=lambda path: (path.removesuffix(_INIT).count("/"), path))[:MOST_MODULES]


def _docstrings(root: int, place: str, paths: list[str]) -> list[Section]:
    found: list[Section] = []
    left = MOST_CHARS
    for path in paths:
        source = candidate.text(root, f"{place}/{path}")
        left -= len(source)
        if left < 0:
            break
        module = path.removesuffix(_INIT).removesuffix(".py").replace("/", ".")
        found += docstrings.of(source, module)
    return found
