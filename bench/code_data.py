"""Annotated questions about the code of pinned repositories, and how an answer is judged."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOP = 10


@dataclass(frozen=True, slots=True)
class Target:
    """A file that answers, or lines of it."""

    path: str
    start: int = 0
    """0: the whole file."""
    end: int = 0

    def matches(self, path: str, start: int = 0, end: int = 0) -> bool:
        """Whether a place lies in it; without lines, whether it is the file."""
        same = path == self.path or path.endswith(f"/{self.path}") or self.path.endswith(f"/{path}")
        lines = not self.start or not end or (end >= self.start and start <= self.end)
        return same and lines


@dataclass(frozen=True, slots=True)
class Question:
    """A question and all that answers it."""

    text: str
    kind: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Repository:
    """A checkout with its questions."""

    name: str
    root: Path
    fitted: bool
    """Weights were chosen on it; the others are reported."""
    questions: tuple[Question, ...]


Place = tuple[str, int, int]
"""Path, first and last line."""


def load(annotations: Path, repos: Path) -> list[Repository]:
    """The repositories whose checkouts are there; those with an even place by name are fitted."""
    specs = {
        one["name"]: one for one in json.loads((annotations / "repos.json").read_text("utf-8"))
    }
    names = sorted(path.stem for path in (annotations / "annotations").glob("*.json"))
    found = []
    for place, name in enumerate(names):
        root = repos / name / (specs[name].get("benchmark_root") or "")
        if not root.is_dir():
            continue
        raw = json.loads((annotations / "annotations" / f"{name}.json").read_text("utf-8"))
        found.append(Repository(name, root, place % 2 == 0, tuple(map(_question, raw))))
    return found


def _question(raw: dict[str, Any]) -> Question:
    targets = [*raw["relevant"], *raw.get("secondary", ())]
    return Question(raw["query"], raw["category"], tuple(map(_target, targets)))


def _target(raw: str | dict[str, Any]) -> Target:
    if isinstance(raw, str):
        return Target(raw)
    return Target(raw["path"], raw.get("start_line") or 0, raw.get("end_line") or 0)


def ndcg(answer: Sequence[Place], question: Question, paths: Sequence[str]) -> float:
    """NDCG@10 with equal gains; targets that the checkout does not have count nowhere."""
    wanted = [one for one in question.targets if any(one.matches(path) for path in paths)]
    if not wanted:
        return 0.0
    places = {
        next((n for n, place in enumerate(answer[:TOP]) if one.matches(*place)), TOP)
        for one in wanted
    }
    ideal = sum(1 / math.log2(n + 2) for n in range(min(TOP, len(wanted))))
    return sum(1 / math.log2(n + 2) for n in places if n < TOP) / ideal
