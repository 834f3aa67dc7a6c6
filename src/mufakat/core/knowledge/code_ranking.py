"""How well code answers a question: fields with their measured weights, joined into one score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import code_scores
from mufakat.core.knowledge.code_query import Query
from mufakat.core.knowledge.code_scores import Corpus, Postings, Scores


@dataclass(frozen=True, slots=True)
class Weights:
    """What the best of every field counts; fitted on half of the benchmark's repositories, rounded.

    Every field is scaled to its best score, so that none drowns another by its mere size.
    """

    body: float = 1.0
    file_body: float = 1.6
    file_definitions: float = 0.3
    definitions: float = 0.1
    path: float = 0.15
    """How rare the words are that a path shares with the question."""
    name: float = 0.25
    """How much of a file's name the question covers."""
    coverage: float = 1.3
    """How much of a file's whole path the question covers."""
    exact: float = 0.65
    """The piece defines an identifier of the question."""
    exact_word: float = 0.3
    """It defines what has the name of a plain word."""
    exact_symbol: float = 1.3
    """It defines the one symbol that the question is."""
    again: float = 0.4
    """What a further piece of a file keeps of its score."""
    prior: float = 0.7
    """Power of what a path alone says."""


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A piece, how good it is, and why."""

    piece: int
    file: int
    score: float
    why: tuple[str, ...]


def combine(
    query: Query, corpus: Corpus, found: Scores, first_of: Sequence[int], weights: Weights = WEIGHTS
) -> list[tuple[float, int, int]]:
    """Score, piece and file of every piece that may answer, best first, files not yet damped.

    `first_of` names the first piece of every file: it stands for a file that is found by its path.
    """
    of_file, priors = _file_scores(found, weights), {}
    body = _scale(weights.body, found.body)
    names = _scale(weights.definitions, found.definitions)
    pieces = {*found.body, *found.definitions, *found.exact}
    pieces.update(first_of[file] for file in found.path)
    best: list[tuple[float, int, int]] = []
    for piece in pieces:
        file = corpus.file_of[piece]
        if file < 0:
            continue
        score = of_file.get(file, 0.0) + body * found.body.get(piece, 0.0)
        score += names * found.definitions.get(piece, 0.0)
        if piece in found.exact:
            score += _exact(query, found.exact[piece], weights)
        if file not in priors:
            priors[file] = corpus.priors[file] ** weights.prior
        best.append((score * priors[file], piece, file))
    best.sort(key=lambda one: (-one[0], one[1]))
    return best


def _exact(query: Query, identifier: bool, weights: Weights) -> float:
    if query.symbol:
        return weights.exact_symbol
    return weights.exact if identifier else weights.exact_word


def _file_scores(found: Scores, weights: Weights) -> dict[int, float]:
    scores: dict[int, float] = {}
    for weight, of_field in (
        (_scale(weights.file_body, found.file_body), found.file_body),
        (_scale(weights.file_definitions, found.file_definitions), found.file_definitions),
        (_scale(weights.path, found.path), found.path),
        (weights.name, found.name),
        (weights.coverage, found.coverage),
    ):
        for file, score in of_field.items():
            scores[file] = scores.get(file, 0.0) + weight * score
    return scores


def _scale(weight: float, scores: Mapping[int, float]) -> float:
    """The factor that makes the best score of a field count `weight`."""
    return weight / max(scores.values(), default=1.0)


def spread(
    best: Sequence[tuple[float, int, int]], *, limit: int, again: float = WEIGHTS.again
) -> list[tuple[float, int, int]]:
    """The best pieces, each further one of a file damped by `again`."""
    seen: set[int] = set()
    heap: list[tuple[float, int, int]] = []
    for score, piece, file in best:
        heap.append((score * again if file in seen else score, piece, file))
        seen.add(file)
    heap.sort(key=lambda one: (-one[0], one[1]))
    return heap[:limit]


def rank(
    query: Query,
    corpus: Corpus,
    postings: Postings,
    first_of: Sequence[int],
    *,
    limit: int,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """The best pieces for a question, best first, with the reasons."""
    found = code_scores.scores(query, corpus, postings)
    best = combine(query, corpus, found, first_of, weights)
    return [
        Ranked(piece, file, score, _why(found, piece, file))
        for score, piece, file in spread(best, limit=limit, again=weights.again)
    ]


def _why(found: Scores, piece: int, file: int) -> tuple[str, ...]:
    reasons = (
        ("defines it", piece in found.exact),
        ("defines words of it", piece in found.definitions and piece not in found.exact),
        ("its path", file in found.path),
        ("its text", piece in found.body),
    )
    return tuple(reason for reason, holds in reasons if holds)
