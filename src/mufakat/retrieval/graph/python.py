"""What a Python file defines, uses and imports, by its syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType

from mufakat.core.knowledge import outline, outline_patterns
from mufakat.core.knowledge.outline import Outline, Symbol

DEEPEST = 200
"""Nested nodes; what lies deeper is generated."""


class _Reader:
    """Walks one tree with the scope that it is in."""

    def __init__(self) -> None:
        self.definitions: list[Symbol] = []
        self.used: dict[tuple[str, str], int] = {}
        self.imports: list[Symbol] = []

    def walk(self, tree: ast.AST) -> None:
        todo: list[tuple[ast.AST, str, int]] = [(tree, "", 0)]
        while todo:
            node, scope, depth = todo.pop()
            take = _TAKEN.get(type(node))
            inner = take(self, node, scope) if take else scope
            if depth < DEEPEST:
                found = [(child, inner, depth + 1) for child in _children(node)]
                found.reverse()
                todo += found

    def define(self, node: ast.AST, scope: str) -> str:
        """Take a function or class; what is inside of it has its scope."""
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        self.definitions.append(Symbol(node.name, node.lineno, scope))
        return f"{scope}.{node.name}" if scope else node.name

    def assign(self, node: ast.AST, scope: str) -> str:
        """Take a name of the module that gets a value."""
        assert isinstance(node, ast.Assign | ast.AnnAssign)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not scope and isinstance(targets[0], ast.Name):
            self.definitions.append(Symbol(targets[0].id, node.lineno))
        return scope

    def name(self, node: ast.AST, scope: str) -> str:
        """Take a name that is read."""
        assert isinstance(node, ast.Name)
        if isinstance(node.ctx, ast.Load):
            self._use(node.id, node.lineno, scope)
        return scope

    def attribute(self, node: ast.AST, scope: str) -> str:
        """Take the last word of `a.b`."""
        assert isinstance(node, ast.Attribute)
        self._use(node.attr, node.lineno, scope)
        return scope

    def imported(self, node: ast.AST, scope: str) -> str:
        """Take `import a.b`."""
        assert isinstance(node, ast.Import)
        self.imports += [Symbol(alias.name, node.lineno) for alias in node.names]
        return scope

    def imported_from(self, node: ast.AST, scope: str) -> str:
        """Take `from a import b`, where `b` may be a module or a name."""
        assert isinstance(node, ast.ImportFrom)
        module = "." * node.level + (node.module or "")
        if node.module:
            self.imports.append(Symbol(module, node.lineno))
        for alias in node.names:
            joined = f"{module}.{alias.name}" if node.module else f"{module}{alias.name}"
            self.imports.append(Symbol(joined, node.lineno))
            self._use(alias.name, node.lineno, scope)
        return scope

    def _use(self, name: str, line: int, scope: str) -> None:
        if (
            len(name) > 2
            and name not in outline_patterns.KEYWORDS
            and len(self.used) < outline.MOST_USES
        ):
            self.used.setdefault((name, scope), line)


_TAKEN: Mapping[type[ast.AST], Callable[[_Reader, ast.AST, str], str]] = MappingProxyType(
    {
        ast.FunctionDef: _Reader.define,
        ast.AsyncFunctionDef: _Reader.define,
        ast.ClassDef: _Reader.define,
        ast.Assign: _Reader.assign,
        ast.AnnAssign: _Reader.assign,
        ast.Name: _Reader.name,
        ast.Attribute: _Reader.attribute,
        ast.Import: _Reader.imported,
        ast.ImportFrom: _Reader.imported_from,
    }
)
_LEAVES = (ast.expr_context, ast.operator, ast.Constant, ast.boolop, ast.cmpop, ast.alias)


def _children(node: ast.AST) -> list[ast.AST]:
    """What hangs below a node; `ast.iter_child_nodes` takes twice as long."""
    found: list[ast.AST] = []
    for value in node.__dict__.values():
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
    return [each for each in found if not isinstance(each, _LEAVES)]


def read(text: str) -> Outline:
    """The outline of a text; one that is no Python of ours is read by patterns."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return outline.read(text, "python")
    reader = _Reader()
    reader.walk(tree)
    uses = tuple(Symbol(name, line, scope) for (name, scope), line in reader.used.items())
    return Outline(tuple(reader.definitions), uses, tuple(reader.imports))
