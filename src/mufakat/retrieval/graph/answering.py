"""Answers about one symbol or file, from the outlines that are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from mufakat.core.knowledge import source_name
from mufakat.ports.knowledge import Node, Relation
from mufakat.retrieval.graph.database import Database


def answer(db: Database, relation: Relation, symbol: str, limit: int) -> list[Node]:
    """What stands in `relation` to `name`, `Class.method` or a path; lines without text."""
    match relation:
        case Relation.DEFINITION:
            found = db.definitions(*_split(symbol))
        case Relation.CALLERS:
            found = _callers(db, symbol)
        case Relation.CALLEES:
            found = db.callees(*_split(symbol))
        case Relation.IMPORTERS:
            found = _importers(db, symbol)
        case Relation.TESTS:
            found = _tests(db, symbol)
        case _:
            assert_never(relation)
    return sorted(set(found), key=lambda node: (node.path, node.line, node.symbol))[:limit]


def _split(symbol: str) -> tuple[str, str]:
    """Name and scope; `::` and `#` part them in some languages."""
    scope, _, name = symbol.replace("::", ".").replace("#", ".").rpartition(".")
    return name, scope


def _callers(db: Database, symbol: str) -> list[Node]:
    name, _ = _split(symbol)
    return db.users(name)


def _importers(db: Database, symbol: str) -> list[Node]:
    """Files that import the file, or the files that define the symbol."""
    return [
        Node(path, line, module, "")
        for file in _files(db, symbol)
        for path, line, module in db.importers(file)
    ]


def _tests(db: Database, symbol: str) -> list[Node]:
    """Tests that use the symbol, and tests that are called like the file it is defined in."""
    files = _files(db, symbol)
    used = [] if symbol in files else _callers(db, symbol)
    found = [node for node in used if source_name.is_test(node.path)]
    known: Sequence[str] = sorted(db.marks())
    named = [
        Node(path, 1, "", "")
        for path in known
        if source_name.is_test(path)
        and any(path != file and source_name.likeness(path, file) == 1.0 for file in files)
    ]
    seen = {node.path for node in found}
    return [*found, *(node for node in named if node.path not in seen)]


def _files(db: Database, symbol: str) -> list[str]:
    if db.has(symbol):
        return [symbol]
    return sorted({node.path for node in db.definitions(*_split(symbol))})
