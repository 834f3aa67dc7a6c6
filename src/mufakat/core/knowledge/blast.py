"""Which files a change may touch: co-change, references, names and folders in one score.

The weights were fitted on half of the repositories of `scripts/bench graph`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import source_name

WINDOW = 3_000
"""Commits that count, the newest ones."""
LARGEST_COMMIT = 60
"""A commit of more files says nothing about any two of them."""
ENOUGH = 0.35
"""Weight of common commits that counts in full: one large commit alone says little."""
HALF_LIFE = 600
"""Commits after which one counts half."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts; every signal lies between 0 and 1."""

    together: float = 1.5
    linked: float = 0.5
    name: float = 0.4
    folder: float = 0.1


SHIPPED = Weights()


@dataclass(frozen=True, slots=True)
class Pair:
    """A commit that changed a given file and another one."""

    path: str
    files: int
    """How many files the commit changed."""
    age: int
    """How many commits are newer."""


@dataclass(frozen=True, slots=True)
class Link:
    """A name that is defined on one side and used on the other."""

    path: str
    """The file that is not given."""
    name: str
    definers: int
    """Files that define the name."""
    users: int
    """Files that use it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that is known about the files beside those that changed."""

    changed: Sequence[str]
    candidates: Sequence[str]
    pairs: Sequence[Pair] = ()
    links: Sequence[Link] = ()
    imports: Sequence[str] = ()
    """Files that import a given one, or are imported by it; once a time."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A file, how likely it is touched, and why."""

    path: str
    score: float
    why: str


def rank(evidence: Evidence, *, limit: int, weights: Weights = SHIPPED) -> list[Scored]:
    """The files that a change may touch, most likely first; ties by path."""
    together, times = _together(evidence.pairs)
    linked, names = _linked(evidence.links, evidence.imports)
    changed = set(evidence.changed)
    scored = []
    for path in sorted(set(evidence.candidates) - changed):
        name = max((source_name.likeness(one, path) for one in changed), default=0.0)
        folder = max((source_name.nearness(one, path) for one in changed), default=0.0)
        score = (
            weights.together * together.get(path, 0.0)
            + weights.linked * linked.get(path, 0.0)
            + weights.name * name
            + weights.folder * folder
        )
        if score > 0:
            why = _why(times.get(path, 0), names.get(path, 0), name=name, folder=folder)
            scored.append(Scored(path, round(score, 6), why))
    scored.sort(key=lambda one: (-one.score, one.path))
    return scored[:limit]


def _together(pairs: Iterable[Pair]) -> tuple[Mapping[str, float], Mapping[str, int]]:
    """How much each file changed with the given ones, beside the most; and how often."""
    sums: dict[str, float] = {}
    times: dict[str, int] = {}
    for pair in pairs:
        if pair.files > LARGEST_COMMIT:
            continue
        weight = math.exp2(-pair.age / HALF_LIFE) / pair.files
        sums[pair.path] = sums.get(pair.path, 0.0) + weight
        times[pair.path] = times.get(pair.path, 0) + 1
    most = max(ENOUGH, *sums.values(), 0.0)
    return {path: math.sqrt(total / most) for path, total in sums.items()}, times


def _linked(
    links: Iterable[Link], imports: Iterable[str]
) -> tuple[Mapping[str, float], Mapping[str, int]]:
    """How much each file refers to the given ones or they to it; and by how many names."""
    sums: dict[str, float] = {}
    names: dict[str, int] = {}
    for link in links:
        weight = 1 / (link.definers * math.sqrt(1 + link.users))
        sums[link.path] = sums.get(link.path, 0.0) + weight
        names[link.path] = names.get(link.path, 0) + 1
    for path in imports:
        sums[path] = sums.get(path, 0.0) + 0.5
    return _scaled({path: math.log1p(total) for path, total in sums.items()}), names


def _scaled(sums: Mapping[str, float]) -> Mapping[str, float]:
    most = max(sums.values(), default=0.0)
    return {path: total / most for path, total in sums.items()} if most else {}


def _why(times: int, names: int, *, name: float, folder: float) -> str:
    reasons = []
    if times:
        reasons.append(f"changed together {times} time{'s' if times > 1 else ''}")
    if names:
        reasons.append(f"shares {names} symbol{'s' if names > 1 else ''}")
    if name == 1.0:
        reasons.append("same name")
    if folder == 1.0:
        reasons.append("same folder")
    return ", ".join(reasons) or ("similar name" if name else "near folder")
