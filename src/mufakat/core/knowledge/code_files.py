"""Which files a described change touches: their text, their path, and what earlier changes tell.

A change touches tests, settings and texts as often as code, so these are hardly put behind here.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import code_past
from mufakat.core.knowledge.code_past import Past
from mufakat.core.knowledge.code_query import Query
from mufakat.core.knowledge.code_scores import Corpus, Scores

SEEDS = 8
"""The best files, whose company counts."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the best of every field counts; fitted on the even repositories of the benchmark."""

    body: float = 1.0
    """The best piece of the file."""
    file_body: float = 1.6
    definitions: float = 0.3
    path: float = 0.3
    name: float = 0.4
    coverage: float = 0.8
    exact: float = 0.5
    """It defines an identifier of the description."""
    named: float = 3.0
    """The description has its path, or the end of it."""
    alike: float = 3.0
    """Changes with like messages touched it."""
    often: float = 1.0
    """It changes often; so much a file counts of which the description has no word."""
    together: float = 1.0
    """It changes where the best files do."""
    prior: float = 0.2
    """Power of what a path alone says."""


WEIGHTS = Weights()


def rank(
    query: Query,
    corpus: Corpus,
    found: Scores,
    *,
    paths: Sequence[str],
    past: Past = code_past.NONE,
    weights: Weights = WEIGHTS,
) -> list[tuple[float, int]]:
    """Score and number of every file that may be touched, best first."""
    numbers = {path: number for number, path in enumerate(paths)}
    scores = _by_text(corpus, found, weights)
    for file in scores:
        scores[file] *= corpus.priors[file] ** weights.prior
    _add(scores, weights.named, _named(query, paths))
    _add(scores, weights.alike, _numbered(code_past.alike(query, past), numbers))
    _add(scores, weights.often, _numbered(past.often, numbers))
    best = heapq.nlargest(SEEDS, scores.items(), key=lambda one: (one[1], -one[0]))
    seeds = {paths[file]: score for file, score in best}
    _add(scores, weights.together, _numbered(code_past.together(seeds, past), numbers))
    ranked = [(score, file) for file, score in scores.items()]
    return sorted(ranked, key=lambda one: (-one[0], one[1]))


def pieces(found: Scores, corpus: Corpus, files: frozenset[int]) -> dict[int, int]:
    """The piece of each of these files whose text answers best."""
    best: dict[int, tuple[float, int]] = {}
    for piece, score in found.body.items():
        file = corpus.file_of[piece]
        if file in files:
            best[file] = max(best.get(file, (0.0, piece)), (score, piece))
    return {file: piece for file, (_, piece) in best.items()}


def _by_text(corpus: Corpus, found: Scores, weights: Weights) -> dict[int, float]:
    scores: dict[int, float] = {}
    exact = {piece: 1.0 for piece, identifier in found.exact.items() if identifier}
    for weight, of_field in (
        (weights.body, _best(found.body, corpus)),
        (weights.exact, _best(exact, corpus)),
        (weights.file_body, found.file_body),
        (weights.definitions, found.file_definitions),
        (weights.path, found.path),
        (weights.name, found.name),
        (weights.coverage, found.coverage),
    ):
        _add(scores, weight, of_field)
    return scores


def _best(pieces: Mapping[int, float], corpus: Corpus) -> dict[int, float]:
    """The best score of a piece of every file."""
    best: dict[int, float] = {}
    for piece, score in pieces.items():
        file = corpus.file_of[piece]
        if file >= 0 and score > best.get(file, 0.0):
            best[file] = score
    return best


def _add(scores: dict[int, float], weight: float, of_field: Mapping[int, float]) -> None:
    """Add a field, scaled to its best score."""
    most = max(of_field.values(), default=0.0)
    if most > 0 and weight > 0:
        for file, score in of_field.items():
            scores[file] = scores.get(file, 0.0) + weight * score / most


def _numbered(by_path: Mapping[str, float], numbers: Mapping[str, int]) -> dict[int, float]:
    return {numbers[path]: score for path, score in by_path.items() if path in numbers}


def _named(query: Query, paths: Sequence[str]) -> dict[int, float]:
    """Files whose path, or the end of it, the description has."""
    if not query.paths:
        return {}
    ends = tuple(f"/{one}" for one in query.paths)
    return {number: 1.0 for number, path in enumerate(paths) if f"/{path}".endswith(ends)}
