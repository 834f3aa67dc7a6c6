"""What earlier changes tell: what those with like messages touched, and what changes together."""

from __future__ import annotations

import heapq
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import code_scores
from mufakat.core.knowledge.code_query import Query

WINDOW = 3_000
"""Changes that count, the newest ones."""
LARGEST = 40
"""A change of more files says little about each of them."""
NEAREST = 60
"""Changes with like messages that are asked."""
HALF_LIFE = 800
"""Changes after which one counts half."""
B = 0.4


@dataclass(frozen=True, slots=True)
class Past:
    """The changes of a project, the newest one first."""

    messages: Mapping[str, Sequence[int]]
    """Changes by a term of their message."""
    norms: Sequence[float]
    """By change: what the length of its message adds to the count of a term."""
    files: Sequence[tuple[str, ...]]
    """By change: what it touched."""
    touching: Mapping[str, Sequence[int]]
    """Changes by the path of a file."""
    often: Mapping[str, float]
    """How often a file changes, the newest changes first."""


NONE = Past({}, (), (), {}, {})


def of(changes: Iterable[tuple[Sequence[str], tuple[str, ...]]]) -> Past:
    """Make it from the terms of every message and the paths that it touched, newest first."""
    messages: dict[str, array[int]] = {}
    touching: dict[str, array[int]] = {}
    lengths, files = array("I"), list[tuple[str, ...]]()
    for terms, paths in changes:
        number = len(files)
        lengths.append(len(terms))
        files.append(paths)
        for term in set(terms):
            messages.setdefault(term, array("I")).append(number)
        for path in paths:
            touching.setdefault(path, array("I")).append(number)
    mean = sum(lengths) / max(len(lengths), 1)
    norms = array("f", (code_scores.norm(length, mean, B) for length in lengths))
    often = {path: math.log1p(sum(map(_fading, numbers))) for path, numbers in touching.items()}
    return Past(messages, norms, files, touching, often)


def alike(query: Query, past: Past) -> dict[str, float]:
    """Files by how like the question the messages are of the changes that touched them."""
    scores: dict[int, float] = {}
    for term, weight in query.terms:
        having = past.messages.get(term, ())
        factor = min(weight, 3.0) * code_scores.idf(len(having), len(past.files))
        for change in having:
            scores[change] = scores.get(change, 0.0) + factor / (1 + past.norms[change])
    found: dict[str, float] = {}
    for change, score in heapq.nlargest(NEAREST, scores.items(), key=lambda one: (one[1], -one[0])):
        paths = past.files[change]
        share = score * score * _fading(change) / math.sqrt(len(paths))
        for path in paths:
            found[path] = found.get(path, 0.0) + share
    return found


def together(seeds: Mapping[str, float], past: Past) -> dict[str, float]:
    """Files by how often they change where the seeds do, each seed as much as it is worth."""
    found: dict[str, float] = {}
    for seed, worth in seeds.items():
        shares: dict[str, float] = {}
        total = 1.0
        for change in past.touching.get(seed, ()):
            weight = _fading(change) / math.sqrt(len(past.files[change]))
            total += weight
            for path in past.files[change]:
                shares[path] = shares.get(path, 0.0) + weight
        for path, share in shares.items():
            if path != seed:
                found[path] = found.get(path, 0.0) + worth * share / total
    return found


def _fading(change: int) -> float:
    return math.exp2(-change / HALF_LIFE)
