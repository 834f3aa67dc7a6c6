"""Role documents and personas: Markdown files, the user's own before the built-in ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from mufakat.core.base import InvalidInput, NotFound
from mufakat.core.talk.agent import Permission, Role

LARGEST = 64 * 1024
"""Bytes of a role or persona file."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_FRONT = re.compile(r"\A---\n(?P<head>.*?)\n---\n(?P<body>.*)\Z", re.DOTALL)


@cache
def builtin(folder: str) -> Mapping[str, str]:
    """The files that ship with the package, by name without ending."""
    root = resources.files(__package__) / folder
    return MappingProxyType(
        {
            entry.name.removesuffix(".md"): entry.read_text("utf-8")
            for entry in root.iterdir()
            if entry.name.endswith(".md")
        }
    )


def own(folder: Path) -> dict[str, tuple[str, Path]]:
    """The user's files by name; raises InvalidInput for one that cannot be used."""
    found: dict[str, tuple[str, Path]] = {}
    for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        if not _NAME.fullmatch(path.stem):
            raise InvalidInput(
                f"{path.name} is no usable name.", fix="Use lower-case letters, digits, hyphens."
            )
        if not path.is_file():
            raise InvalidInput(f"{path} is not a file.", fix="Remove it, or mend the link.")
        if path.stat().st_size > LARGEST:
            raise InvalidInput(f"{path} is larger than 64 KiB.", fix="Shorten it.")
        found[path.stem] = (path.read_text("utf-8", errors="replace"), path)
    return found


def role(name: str, document: str, *, source: str) -> Role:
    """Read a role document: front matter with `description` and `permission`, then prose."""
    matched = _FRONT.match(document.replace("\r\n", "\n"))
    head = _fields(matched["head"]) if matched else {}
    body = matched["body"] if matched else document
    wanted = head.get("permission", Permission.READ.value)
    if wanted not in set(Permission):
        raise InvalidInput(
            f"{source}: permission {wanted!r} is unknown.",
            fix=f"Use one of {', '.join(Permission)}.",
        )
    return Role(name, head.get("description", ""), body.strip(), Permission(wanted), source)


def _fields(head: str) -> dict[str, str]:
    pairs = (line.split(":", 1) for line in head.split("\n") if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def roles(home: Path) -> tuple[Role, ...]:
    """Every role; a user's own replaces the built-in one of the same name."""
    known = {name: role(name, text, source="builtin") for name, text in builtin("roles").items()}
    for name, (text, path) in own(home / "roles").items():
        known[name] = role(name, text, source=str(path))
    return tuple(known[name] for name in sorted(known))


def persona(home: Path, name: str) -> str:
    """The text of a persona; raises NotFound with the names there are."""
    known = {**builtin("personas")}
    known |= {own_name: text for own_name, (text, _) in own(home / "personas").items()}
    if name not in known:
        raise NotFound(
            f"There is no persona {name!r}.",
            fix=f"Choose one of {', '.join(sorted(known))}, or write personas/{name}.md.",
        )
    return known[name].strip()
