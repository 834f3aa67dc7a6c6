"""What the index tells of a question: BM25 of pieces and files, covered paths, exact names."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mufakat.core.knowledge.code_query import Query

COUNT_BITS = 6
"""A posting is a piece's number and, in its lowest bits, how often the term is in it."""
MOST_COUNTED = (1 << COUNT_BITS) - 1
K1 = 1.2
B_PIECE = 0.5
B_FILE = 0.75
MOST_POSTINGS = 400_000
"""Beyond so many, the commonest terms of a question are left out."""

DEFINITION = ":"
"""Before a term: its postings among what pieces define."""
EXACT = "!"
"""Before a whole name: the postings of the pieces that define it."""

Postings = Mapping[str, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What is known of all pieces and files; a piece of no file any more belongs to file -1."""

    file_of: Sequence[int]
    norms: Sequence[float]
    """By piece: what its length adds to the count of a term."""
    file_norms: Sequence[float]
    pieces: int
    """Pieces that are there."""
    files: int
    priors: Sequence[float]
    """By file: 1 for a project's own code, less for tests, examples, generated files."""
    path_terms: Sequence[frozenset[str]]
    """By file: the words of its whole path."""
    name_terms: Sequence[frozenset[str]]
    """By file: the words of its name alone."""
    path_idf: Mapping[str, float]
    path_vocabulary: Sequence[str]
    """All words of paths, sorted."""
    path_index: Mapping[str, Sequence[int]]
    """Files by a term of their path."""


@dataclass(slots=True)
class Scores:
    """Every field's own score, by piece or by file."""

    body: dict[int, float] = field(default_factory=dict)
    file_body: dict[int, float] = field(default_factory=dict)
    definitions: dict[int, float] = field(default_factory=dict)
    file_definitions: dict[int, float] = field(default_factory=dict)
    path: dict[int, float] = field(default_factory=dict)
    name: dict[int, float] = field(default_factory=dict)
    coverage: dict[int, float] = field(default_factory=dict)
    exact: dict[int, bool] = field(default_factory=dict)


def norm(length: int, average: float, b: float) -> float:
    """What a text's length adds to the count of a term, by BM25."""
    return K1 * (1 - b + b * length / max(average, 1.0))


def scores(query: Query, corpus: Corpus, postings: Postings) -> Scores:
    """Score every piece that has any of the question's terms, field by field."""
    found = Scores()
    for term, weight in _affordable(query, postings):
        _add(found.body, found.file_body, postings.get(term, ()), corpus, weight)
    for term, weight in query.terms:
        _add(
            found.definitions,
            found.file_definitions,
            postings.get(DEFINITION + term, ()),
            corpus,
            weight,
        )
    for name, identifier in query.names:
        for packed in postings.get(EXACT + name, ()):
            piece = packed >> COUNT_BITS
            if corpus.file_of[piece] >= 0:
                found.exact[piece] = identifier or found.exact.get(piece, False)
    _paths(found, query, corpus)
    return found


def keys(query: Query) -> list[str]:
    """The keys of all postings that a question needs."""
    terms = [term for term, _ in query.terms]
    return [
        *terms,
        *(DEFINITION + term for term in terms),
        *(EXACT + name for name, _ in query.names),
    ]


def _affordable(query: Query, postings: Postings) -> Iterable[tuple[str, float]]:
    """The terms, rare ones first, as long as their postings can be afforded."""
    left = MOST_POSTINGS
    for term, weight in sorted(query.terms, key=lambda one: len(postings.get(one[0], ()))):
        left -= len(postings.get(term, ()))
        if left < 0:
            return
        yield term, weight


def _add(
    by_piece: dict[int, float],
    by_file: dict[int, float],
    packed: Sequence[int],
    corpus: Corpus,
    weight: float,
) -> None:
    """Add one term's BM25 to pieces, and to the files that they make up."""
    if not packed:
        return
    file_of, norms = corpus.file_of, corpus.norms
    counts: dict[int, int] = {}
    factor = weight * idf(len(packed), corpus.pieces) * (K1 + 1)
    for one in packed:
        piece, count = one >> COUNT_BITS, one & MOST_COUNTED
        file = file_of[piece]
        if file < 0:
            continue
        by_piece[piece] = by_piece.get(piece, 0.0) + factor * count / (count + norms[piece])
        counts[file] = counts.get(file, 0) + count
    factor = weight * idf(len(counts), corpus.files) * (K1 + 1)
    for file, count in counts.items():
        by_file[file] = by_file.get(file, 0.0) + factor * count / (count + corpus.file_norms[file])


def idf(having: int, all_: int) -> float:
    """How much a term tells that `having` of `all_` texts have."""
    return math.log(1 + (max(all_ - having, 0) + 0.5) / (having + 0.5))


def _paths(found: Scores, query: Query, corpus: Corpus) -> None:
    """Score files by their path: how rare the words are, and how much of the path they cover."""
    hits: dict[int, dict[str, float]] = {}
    for term, _ in query.terms:
        for word, factor in _like(term, corpus):
            worth = factor * corpus.path_idf[word]
            for file in corpus.path_index[word]:
                own = hits.setdefault(file, {})
                own[word] = max(own.get(word, 0.0), worth)
    for file, words in hits.items():
        found.path[file] = sum(words.values())
        found.name[file] = _covered(words, corpus.name_terms[file], corpus)
        found.coverage[file] = _covered(words, corpus.path_terms[file], corpus)


def _covered(words: Mapping[str, float], of: frozenset[str], corpus: Corpus) -> float:
    """The share of a path that the words are, its own words weighed by how rare they are."""
    total = sum(corpus.path_idf[word] for word in of)
    return sum(words.get(word, 0.0) for word in of) / total if total else 0.0


def _like(term: str, corpus: Corpus) -> list[tuple[str, float]]:
    """The path's words that are the term, or begin alike."""
    found = [(term, 1.0)] if term in corpus.path_index else []
    if len(term) < 4:
        return found
    vocabulary = corpus.path_vocabulary
    at = bisect_left(vocabulary, term)
    while at < len(vocabulary) and vocabulary[at].startswith(term):
        if vocabulary[at] != term:
            found.append((vocabulary[at], 0.6))
        at += 1
    for size in range(4, len(term)):
        if term[:size] in corpus.path_index:
            found.append((term[:size], 0.6))
    return found
