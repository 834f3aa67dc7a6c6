"""A small project to search, and short ways to ask for it."""

from __future__ import annotations

from pathlib import Path

from mufakat.ports.knowledge import Hits
from mufakat.retrieval.code.index import LocalCodeIndex

SESSION = '''"""Sessions."""


class SessionStore:
    def open_session(self, user):
        return self.table[user]
'''


def paths(found: Hits) -> list[str]:
    return [hit.path for hit in found.hits]


async def fresh(index: LocalCodeIndex, root: Path, query: str) -> list[str]:
    await index.refresh(root)
    return paths(await index.search(root, query))
