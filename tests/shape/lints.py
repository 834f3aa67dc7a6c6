"""House rules that no tool knows: each takes a source and answers what breaks the rule."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from shape.sources import Source

MUTABLE_CALLS = frozenset(
    {"dict", "list", "set", "bytearray", "defaultdict", "deque", "Counter", "OrderedDict"}
)
CHANGING = frozenset(
    {"append", "add", "update", "setdefault", "pop", "popitem", "clear", "extend", "insert"}
    | {"remove", "discard", "sort", "reverse", "appendleft", "popleft"}
)
READ_ONLY = re.compile(r"\b(Mapping|Sequence|Set|AbstractSet|Collection|Iterable)\b")
PATH_NAME = re.compile(r"(^|_)(path|root|folder|dir|directory|cwd|parent|home)s?$", re.IGNORECASE)
PATH_CALLS = frozenset({"normpath", "abspath", "realpath", "resolve", "as_posix", "fspath"})
STREAM_FILE = re.compile(r"(^|/)(engines/(?!process/procfs)|.*(stream|sse|events|follow|spool))")
CLOCKS = frozenset({"time.time", "time.time_ns", "datetime.now", "datetime.utcnow"})
CLOCKLESS_ROOMS = frozenset({"core", "ports", "services", "storage"})
SHELLS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
VAGUE = re.compile(r"(^|[_/])(utils?|helpers?|common|managers?|misc|shared)([_/.]|$)")
LATE_IMPORTS = re.compile(r"^(cli/.*|engines/registry\.py)$")


def calls(source: Source) -> Iterator[tuple[ast.Call, str]]:
    """Every call with its dotted name as written."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


def shell(source: Source) -> list[str]:
    """A command line that a shell reads."""
    return [
        f"{source.name}:{call.lineno} {name}"
        for call, name in calls(source)
        if name in SHELLS
        or any(
            key.arg == "shell" and not (isinstance(key.value, ast.Constant) and not key.value.value)
            for key in call.keywords
        )
    ]


def path_prefix(source: Source) -> list[str]:
    """`startswith` where a path is meant: it lets `/project-evil` into `/project`."""
    found = []
    for call, name in calls(source):
        if not name.endswith((".startswith", ".removeprefix")):
            continue
        for node in ast.walk(call):
            word = getattr(node, "id", None) or getattr(node, "attr", None) or ""
            if PATH_NAME.search(word) or word in PATH_CALLS or word == "sep":
                found.append(f"{source.name}:{call.lineno} {name}")
                break
    return found


def splitlines_in_streams(source: Source) -> list[str]:
    """`splitlines` breaks JSON lines at U+2028 and its like."""
    if not STREAM_FILE.search(source.name):
        return []
    return [
        f"{source.name}:{call.lineno}"
        for call, name in calls(source)
        if name.endswith(".splitlines")
    ]


def wall_clock(source: Source) -> list[str]:
    """The wall clock where time must be an argument or the store's own."""
    if source.room not in CLOCKLESS_ROOMS:
        return []
    return [
        f"{source.name}:{call.lineno} {name}"
        for call, name in calls(source)
        if name in CLOCKS or name.split(".", 1)[-1] in CLOCKS
    ]


def printing(source: Source) -> list[str]:
    """`print` outside the command line."""
    return [
        f"{source.name}:{call.lineno}"
        for call, name in calls(source)
        if name == "print" and source.room != "cli"
    ]


def late_imports(source: Source) -> list[str]:
    """An import inside a function."""
    if LATE_IMPORTS.match(source.name):
        return []
    return sorted(
        {
            f"{source.name}:{node.lineno}"
            for function in ast.walk(source.tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
    )


def mutable_state(source: Source) -> list[str]:
    """A module or class variable that changes; a filled table in capitals may stay if none does."""
    found = [
        f"{source.name}:{node.lineno} global"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Global)
    ]
    bodies = [source.tree.body]
    bodies += [node.body for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
    for statement in (statement for body in bodies for statement in body):
        match statement:
            case ast.AnnAssign(target=target, annotation=annotation, value=ast.expr() as value):
                if READ_ONLY.search(ast.unparse(annotation)):
                    continue
            case ast.Assign(targets=[target, *_], value=value):
                pass
            case _:
                continue
        if ast.unparse(target) != "__all__" and _is_mutable(value):
            if _is_table(target, value) and not _changes(source, ast.unparse(target)):
                continue
            found.append(f"{source.name}:{statement.lineno} {ast.unparse(target)}")
    return found


def _is_mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func).split(".")[-1].split("[")[0] in MUTABLE_CALLS
    return isinstance(
        value, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp
    )


def _is_table(target: ast.expr, value: ast.expr) -> bool:
    filled = bool(getattr(value, "keys", None) or getattr(value, "elts", None))
    comprehended = isinstance(value, ast.DictComp | ast.ListComp | ast.SetComp)
    return ast.unparse(target).isupper() and (filled or comprehended)


def _changes(source: Source, name: str) -> bool:
    """Whether any statement writes into the object that `name` holds."""
    for node in ast.walk(source.tree):
        match node:
            case ast.Subscript(value=held, ctx=ast.Store() | ast.Del()) if (
                ast.unparse(held) == name
            ):
                return True
            case ast.AugAssign(target=held) if ast.unparse(held) == name:
                return True
            case ast.Call(func=ast.Attribute(value=held, attr=method)) if (
                ast.unparse(held) == name and method in CHANGING
            ):
                return True
    return False


def vague_name(source: Source) -> list[str]:
    """A file name that says nothing about its subject."""
    return [source.name] if VAGUE.search(source.name) else []


def reexports(source: Source) -> list[str]:
    """A module that only passes names on."""
    body = [node for node in source.tree.body if not isinstance(node, ast.Expr)]
    body = [node for node in body if getattr(node, "module", "") != "__future__"]
    shim = bool(body) and all(
        isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        for node in body
    )
    return [source.name] if shim else []


def no_docstring(source: Source) -> list[str]:
    """A module that does not say why it exists."""
    return [] if ast.get_docstring(source.tree) else [source.name]


def broad_excepts(source: Source) -> list[str]:
    """Handlers that take every error and do not raise it again."""
    return [
        f"{source.name}:{node.lineno}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises_again(node)
    ]


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = re.findall(r"\w+", ast.unparse(handler.type))
    return bool({"Exception", "BaseException"} & set(names))


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def long_functions(source: Source, limit: int) -> dict[str, int]:
    """Functions over `limit` lines, as `file::name`, with their length."""
    return {
        f"{source.name}::{node.name}": length
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > limit
    }
