"""What a search needs of an index in memory: whose pieces are whose, lengths, paths, priors."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from mufakat.core.knowledge import code_prior, code_scores, code_words
from mufakat.core.knowledge.code_scores import B_FILE, B_PIECE, Corpus
from mufakat.retrieval.code.store import Store


@dataclass(frozen=True, slots=True)
class Named:
    """What the path of a file says; it is the same for as long as the path is."""

    path_terms: frozenset[str]
    name_terms: frozenset[str]
    all: frozenset[str]
    """With whole identifiers."""
    prior: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The index at one generation."""

    generation: int
    paths: tuple[str, ...]
    firsts: array[int]
    """First piece of every file."""
    corpus: Corpus
    named: Sequence[Named]
    """By file."""


def load(store: Store, last: Snapshot | None = None) -> Snapshot:
    """Read an index's outline; its postings stay on disk. `last` saves reading paths again."""
    generation = store.generation()
    size = store.next_piece()
    file_of, lengths = array("i", [-1]) * size, array("I", [0]) * size
    paths: list[str] = []
    firsts, totals = array("I"), array("I")
    for path, first, own in store.spans():
        if not own:
            continue
        number = len(paths)
        file_of[first : first + len(own)] = array("i", [number]) * len(own)
        lengths[first : first + len(own)] = own
        paths.append(path)
        firsts.append(first)
        totals.append(sum(own))
    pieces = size - file_of.count(-1)
    named = _named(paths, last)
    corpus = _corpus(named, file_of, lengths=lengths, totals=totals, pieces=pieces)
    return Snapshot(generation, tuple(paths), firsts, corpus, named)


def _named(paths: Sequence[str], last: Snapshot | None) -> list[Named]:
    terms = code_words.Terms()
    known = dict(zip(last.paths, last.named, strict=True)) if last is not None else {}
    return [known.get(path) or _of(path, terms) for path in paths]


def _of(path: str, terms: code_words.Terms) -> Named:
    return Named(
        path_terms=_terms(path, terms),
        name_terms=_terms(path.rpartition("/")[2], terms),
        all=frozenset(term for word in _words(path) for term in terms[word]),
        prior=code_prior.of(path),
    )


def _corpus(
    named: Sequence[Named],
    file_of: array[int],
    *,
    lengths: array[int],
    totals: array[int],
    pieces: int,
) -> Corpus:
    mean, file_mean = sum(totals) / max(pieces, 1), sum(totals) / max(len(totals), 1)
    index: dict[str, array[int]] = {}
    for number, one in enumerate(named):
        for term in one.all:
            index.setdefault(term, array("I")).append(number)
    return Corpus(
        file_of=file_of,
        norms=array("f", (code_scores.norm(length, mean, B_PIECE) for length in lengths)),
        file_norms=array("f", (code_scores.norm(total, file_mean, B_FILE) for total in totals)),
        pieces=pieces,
        files=len(named),
        priors=[one.prior for one in named],
        path_terms=[one.path_terms for one in named],
        name_terms=[one.name_terms for one in named],
        path_idf={term: code_scores.idf(len(files), len(named)) for term, files in index.items()},
        path_vocabulary=sorted(index),
        path_index=index,
    )


def _terms(path: str, terms: code_words.Terms) -> frozenset[str]:
    """The words of a path, without its ending and without whole identifiers."""
    return frozenset(term for word in _words(path) for term in (terms[word][:-1] or terms[word]))


def _words(path: str) -> list[str]:
    folder, slash, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return code_words.WORD.findall(f"{folder} {stem}".replace("/", " "))
