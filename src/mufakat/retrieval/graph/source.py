"""The outline of a source file, by whatever reads its language best."""

from __future__ import annotations

from mufakat.core.knowledge import outline, source_name
from mufakat.core.knowledge.outline import Outline
from mufakat.retrieval.graph import python


def read(path: str, text: str) -> Outline:
    """What a file defines, uses and imports; empty where its language is not known."""
    language = source_name.language(path)
    if language == "python":
        return python.read(text)
    return outline.read(text, language) if language else Outline()
