"""Makes index rows of files: pieces, and the postings of their terms."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
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
        lines = [line[:LONGEST_LINE] for line in content.text.split("\n")]
        pieces = code_pieces.cut("\n".join(lines), lines, ending(path))
        first, lengths = self.next_piece, array("I")
        for piece in pieces:
            lengths.append(self._piece(lines, piece))
        spans = [(piece.start, piece.end, piece.symbol) for piece in pieces]
        self.rows.append(Row(path, content.mark, first, lengths, spans))

    def skip(self, path: str, mark: Mark, why: str) -> None:
        """Know a file of which nothing is indexed."""
        self.rows.append(Row(path, mark, self.next_piece, (), (), why))

    def _piece(self, lines: list[str], piece: Piece) -> int:
        text = "\n".join(lines[piece.start : piece.end])
        counts = self._counted(text)
        self._post(counts, "")
        if piece.names:
            self._post(self._counted(" ".join(piece.names)), code_scores.DEFINITION)
            names = {_last(name) for name in piece.own} | {_bare(name) for name in piece.own}
            self._post(Counter(names), code_scores.EXACT)
        self.next_piece += 1
        return sum(counts.values())

    def _counted(self, text: str) -> Counter[str]:
        words = code_words.WORD.findall(text)
        return Counter(chain.from_iterable(map(self.terms.__getitem__, words)))

    def _post(self, counts: Counter[str], mark: str) -> None:
        number, postings = self.next_piece << COUNT_BITS, self.postings
        for term, count in counts.items():
            # Called for every term of every piece: nothing here may cost.
            postings[mark + term if mark else term].append(
                number | (count if count < MOST_COUNTED else MOST_COUNTED)
            )
        self.size += len(counts)


def _new() -> array[int]:
    return array("I")


def ending(path: str) -> str:
    """What a file's name ends with, lower case, without the dot; empty where it has none."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


def _last(name: str) -> str:
    return _bare(name.replace("::", ".").rpartition(".")[2])
