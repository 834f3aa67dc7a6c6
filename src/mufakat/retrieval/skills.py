"""Skills on this machine: SKILL.md folders of a project and of the person's home.

A folder is read without following a single link, so that its digest covers all that it holds.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from mufakat.core.base import NotFound
from mufakat.core.knowledge import skill
from mufakat.core.knowledge.front_matter import Broken
from mufakat.ports.knowledge import Skill, Skip
from mufakat.retrieval.code import reading
from mufakat.retrieval.code.reading import Refused

FOLDERS = (
    ".claude/skills",
    ".agents/skills",
    ".codex/skills",
    ".gemini/skills",
    ".opencode/skills",
    ".github/skills",
)
"""Where skills lie, below a project and below the home; of two of one name the first counts."""
FILE = "SKILL.md"
MOST = 200
"""Skills of one folder."""
MOST_FILES = 200
LARGEST = 4 * 1024 * 1024
"""Bytes of a skill's folder."""
MOST_BYTES = 32 * 1024 * 1024
"""Of all skills together: every pack has the index, and the digests need every byte."""
LARGEST_FILE = 256 * 1024
"""Bytes of SKILL.md."""
DEEPEST = 6
NAME_CHARS = 200
"""Of a name that is not there, as it is compared with others."""


@dataclass(slots=True)
class _Scan:
    """One look at all folders; the first skill of a name is the one that counts."""

    found: dict[str, Skill] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)
    left: int = MOST_BYTES

    def look(self, root: Path, origin: str) -> None:
        for place in FOLDERS:
            try:
                with (
                    reading.opened(root) as base,
                    reading.folder_in(base, tuple(place.split("/"))) as folder,
                ):
                    self._folder(folder, root / place, origin)
            except Refused as problem:
                if str(problem) != "gone":
                    self.skips.append(Skip(str(root / place), str(problem)))

    def _folder(self, folder: int, place: Path, origin: str) -> None:
        names = _names(folder)
        if len(names) > MOST:
            self.skips.append(Skip(str(place), f"only the first {MOST} of {len(names)} are read"))
        for name in names[:MOST]:
            try:
                one = self._skill(folder, name, str(place / name), origin)
            except Refused as problem:
                self.skips.append(Skip(str(place / name), str(problem)))
                continue
            if one is not None and one.name in self.found:
                other = self.found[one.name].path
                self.skips.append(Skip(one.path, f"{other} has the same name"))
            elif one is not None:
                self.found[one.name] = one

    def _skill(self, folder: int, name: str, path: str, origin: str) -> Skill | None:
        """The skill in one folder, None where it is none; raises Refused for a broken one."""
        with reading.folder_in(folder, (name,)) as own:
            if FILE not in _names(own):
                return None
            files = dict(_files(own, min(LARGEST, self.left)))
        self.left -= sum(map(len, files.values()))
        if len(files.get(FILE, b"")) > LARGEST_FILE:
            raise Refused(reading.too_large(len(files[FILE]), LARGEST_FILE))
        if b"\0" in files.get(FILE, b""):
            raise Refused(f"its {FILE} is binary")
        # What is given out must be what the digest covers: both are made from the same bytes.
        manifest = skill.read(files.get(FILE, b"").decode("utf-8", "replace"))
        if isinstance(manifest, Broken):
            raise Refused(manifest.why)
        return Skill(
            name=manifest.name,
            description=manifest.description,
            path=path,
            digest=skill.digest(files.items()),
            body=manifest.body,
            files=tuple(sorted(name for name in files if name != FILE)),
            origin=origin,
        )


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def _files(folder: int, limit: int) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder; raises Refused for a link, a device, or more than is read."""
    count = size = 0
    for name, content in _below(folder, "", DEEPEST):
        count, size = count + 1, size + len(content)
        if count > MOST_FILES or size > limit:
            raise Refused(f"its folder has more than {MOST_FILES} files or {limit:,} bytes")
        yield name, content


def _below(folder: int, above: str, depth: int) -> Iterator[tuple[str, bytes]]:
    if not depth:
        raise Refused(f"its folders go deeper than {DEEPEST}")
    for name in _names(folder)[: MOST_FILES + 1]:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        path = f"{above}{name}"
        if stat.S_ISDIR(found.st_mode):
            with reading.folder_in(folder, (name,)) as inner:
                yield from _below(inner, f"{path}/", depth - 1)
        elif stat.S_ISREG(found.st_mode):
            yield path, reading.bytes_at(folder, name, largest=LARGEST)
        else:
            raise Refused(f"it holds {path}, which is a link or no file")


def scan(root: Path, home: Path | None) -> tuple[dict[str, Skill], tuple[Skip, ...]]:
    """All skills by name, bodies included, and what was left out."""
    found = _Scan()
    found.look(root, "project")
    if home is not None and home != root and home.is_dir():
        found.look(home, "user")
    return found.found, tuple(found.skips)


class LocalSkills:
    """Skills of projects on this machine and of one person."""

    def __init__(self, home: Path | None) -> None:
        """`home` is the person's; None leaves their own skills out."""
        self._home = home

    async def list(self, root: Path) -> tuple[Sequence[Skill], Sequence[Skip]]:
        """All, without bodies; broken ones with the reason."""
        found, skips = await asyncio.to_thread(scan, root, self._home)
        return [replace(found[name], body="") for name in sorted(found)], skips

    async def get(self, root: Path, name: str) -> Skill:
        """One with its body; raises NotFound with the nearest names."""
        found, skips = await asyncio.to_thread(scan, root, self._home)
        if name in found:
            return found[name]
        broken = next((skip for skip in skips if Path(skip.path).name == name), None)
        if broken is not None:
            raise NotFound(f"The skill {name} cannot be used: {broken.why}.", fix="Mend it.")
        near = (
            difflib.get_close_matches(name[:NAME_CHARS], found, n=5, cutoff=0.3)
            or sorted(found)[:5]
        )
        raise NotFound(
            f"There is no skill {name[:64]!r}.",
            fix=f"Nearest: {', '.join(near)}." if near else "This project has no skills.",
        )
