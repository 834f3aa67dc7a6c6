"""Makes index rows of files: pieces, and the postings of their terms."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from mufakat.core.knowledge import code_pieces, code_scores, code_words
from mufakat.core.knowledge.code_pieces import Piece
from mufakat.core.knowledge.code_scores import COUNT_BITS, MOST_COUNTED
from mufakat.retrieval.code.reading import Content, Mark
from mufakat.retrieval.code.store import Row

LONGEST_LINE = 2_000
"""Characters of a line that are looked at: what is longer was made by a program."""
PACKED = 1_500_000
"""Postings that are gathered before they are written."""


@dataclass(slots=True)
class Batch:
    """Files on their way into the index."""

    next_piece: int
    terms: code_words.Terms
    rows: list[Row] = field(default_factory=list)
    postings: defaultdict[str, array[int]] = field(default_factory=lambda: defaultdict(_new))
    size: int = 0

    @property
    def full(self) -> bool:
        return self.size >= PACKED

    def add(self, path: str, content: Content) -> None:
        """Cut a file into pieces and count the terms of each."""
        text, lines = _shortened(content.text)
        pieces = code_pieces.cut(text, lines, ending(path))
        first, lengths = self.next_piece, array("I")
        for words, piece in zip(_words(text, lines, pieces), pieces, strict=True):
            lengths.append(self._piece(words, piece))
        spans = [(piece.start, piece.end, piece.symbol) for piece in pieces]
        self.rows.append(Row(path, content.mark, first, lengths, spans))

    def skip(self, path: str, mark: Mark, why: str) -> None:
        """Know a file of which nothing is indexed."""
        self.rows.append(Row(path, mark, self.next_piece, (), (), why))

    def _piece(self, words: Sequence[str], piece: Piece) -> int:
        counts = self._counted(words)
        self._post(counts)
        if piece.names:
            self._post(self._defined(piece.names))
            own = {_last(name) for name in piece.own} | {_bare(name) for name in piece.own}
            self._post(dict.fromkeys(map(code_scores.EXACT.__add__, own), 1))
        self.next_piece += 1
        return counts.total()

    def _counted(self, words: Sequence[str]) -> Counter[str]:
        return Counter(chain.from_iterable(map(self.terms.__getitem__, words)))

    def _defined(self, names: Sequence[str]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for name in names:
            whole = name.isascii() and name.isidentifier()
            for word in (name,) if whole else code_words.WORD.findall(name):
                for term in self.terms[word]:
                    key = code_scores.DEFINITION + term
                    counts[key] = counts.get(key, 0) + 1
        return counts

    def _post(self, counts: Mapping[str, int]) -> None:
        number, postings = self.next_piece << COUNT_BITS, self.postings
        for term, count in counts.items():
            # Called for every term of every piece: nothing here may cost.
            postings[term].append(number + (count if count < MOST_COUNTED else MOST_COUNTED))
        self.size += len(counts)


def _shortened(text: str) -> tuple[str, list[str]]:
    """A text and its lines, without the ends of lines that are too long."""
    lines = text.split("\n")
    if max(map(len, lines)) <= LONGEST_LINE:
        return text, lines
    lines = [line[:LONGEST_LINE] for line in lines]
    return "\n".join(lines), lines


def _words(text: str, lines: Sequence[str], pieces: Sequence[Piece]) -> Iterator[list[str]]:
    """The words of every piece."""
    spaced = code_words.spaced(text) if text.isascii() else ""
    end = 0
    for piece in pieces:
        own = lines[piece.start : piece.end]
        begin, end = end, end + sum(map(len, own)) + len(own)
        if spaced:
            yield spaced[begin:end].split()
        else:
            yield code_words.WORD.findall(text, begin, end)


def _new() -> array[int]:
    return array("I")


def ending(path: str) -> str:
    """What a file's name ends with, lower case, without the dot; empty where it has none."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _bare(name: str) -> str:
    low = name.lower()
    return low if low.isalnum() else "".join(filter(str.isalnum, low))


def _last(name: str) -> str:
    return _bare(name.replace("::", ".").rpartition(".")[2])
