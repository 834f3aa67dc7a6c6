"""Many files in little room: a tree of names, the best folders first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mufakat.core import tokens


@dataclass(slots=True)
class Folder:
    """What lies in a folder, in the order in which it was put there."""

    names: list[str] = field(default_factory=list)
    folders: dict[str, Folder] = field(default_factory=dict)


def write(paths: Sequence[str], room: int) -> tuple[str, int]:
    """As many of the paths, best first, as `room` tokens hold; and how many these are.

    Every folder is named once, what lies in it is one column further in; names that lie in one
    folder share a line, a name with a blank stands in quotes.
    """
    least, most, text = 0, len(paths), ""
    while least < most:
        middle = (least + most + 1) // 2
        tried = _tree(paths[:middle])
        if tokens.estimate(tried) <= room:
            least, text = middle, tried
        else:
            most = middle - 1
    return text, least


def _tree(paths: Sequence[str]) -> str:
    top = Folder()
    for path in paths:
        *folders, name = path.split("/")
        here = top
        for folder in folders:
            here = here.folders.setdefault(folder, Folder())
        here.names.append(name)
    return "\n".join(_lines(top, 0))


def _lines(folder: Folder, depth: int) -> list[str]:
    lines = []
    if folder.names:
        lines.append(" " * depth + " ".join(map(_quoted, folder.names)))
    for folders in folder.folders.items():
        name, inner = _joined(*folders)
        lines += [f"{' ' * depth}{name}/", *_lines(inner, depth + 1)]
    return lines


def _joined(name: str, folder: Folder) -> tuple[str, Folder]:
    """A folder with nothing but one folder is a part of its name."""
    while not folder.names and len(folder.folders) == 1:
        [(further, folder)] = folder.folders.items()
        name = f"{name}/{further}"
    return name, folder


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
