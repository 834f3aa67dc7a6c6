"""Which file an import means: by the words of both, without asking any build system."""

from __future__ import annotations

import re

from mufakat.core.knowledge import source_name

_PARTS = re.compile(r"::|[./\\]")
_NOTHING = frozenset({"", "crate", "self", "super", "src", "lib", "@", "~"})
_ENDING = re.compile(
    r"\.(?:py|[cm]?[jt]sx?|go|rs|java|rb|hh?|hpp|c|cc|cpp|php|lua|sh|bash|zig|vue)$"
)


def parts(module: str) -> tuple[str, ...]:
    """The words of an import, from the outermost, without what only says where to begin."""
    bare = _ENDING.sub("", module.strip())
    found = tuple(part for part in _PARTS.split(bare) if part not in _NOTHING)
    return found[:-1] if found and found[-1] in source_name.INDEX and len(found) > 1 else found


def tail(module: str) -> str:
    """The last word, by which candidates are looked up; beside `source_name.key`."""
    found = parts(module)
    return found[-1] if found else ""


def fits(module: str, importer: str, path: str) -> bool:
    """Whether an import in `importer` may mean the file `path`."""
    if path == importer:
        return False
    wanted = parts(module)
    if not wanted or wanted[-1].lower() != source_name.key(path).lower():
        return False
    names = [name.lower() for name in _names(path)]
    given = [part.lower() for part in wanted]
    if module.startswith("."):
        return names == [part.lower() for part in _from_here(module, importer)] + given
    near = source_name.folder(importer) == source_name.folder(path)
    if len(given) == 1:
        return near or len(names) <= 2
    length = min(len(given), len(names))
    return names[-length:] == given[-length:] or (near and names[-1] == given[-1])


def _from_here(module: str, importer: str) -> list[str]:
    """The folders where a relative import begins: `..a` of Python, `../a` of everybody else."""
    folders = [name for name in source_name.folder(importer).split("/") if name]
    if module.startswith(("./", "../")):
        up = module.count("../")
    else:
        up = len(module) - len(module.lstrip(".")) - 1
    return folders[: len(folders) - up] if up else folders


def _names(path: str) -> list[str]:
    """The words by which a file is imported: its folders and its stem, unless that says nothing."""
    folders = [name for name in source_name.folder(path).split("/") if name]
    if source_name.key(path) == source_name.stem(path):
        return [*folders, source_name.stem(path)]
    return folders
