"""The terms that a text is found by: words by stems, names whole and in parts, CJK in pairs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mufakat.core.knowledge import stem

LONGEST = 64
"""Characters of a term; what is longer is told apart by its beginning alone."""
GRAM = 3
_GRAM_MARK = "~"
"""In front of a part of a name: no word has it."""
_GRAMMED = 40
"""Characters of a name that are found by their parts."""

_CJK = (
    "\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30ff\u3130-\u318f\u31a0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
)
_TOKEN = re.compile(f"[{_CJK}]+|[^\\W{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_NAME = re.compile(r"_|[a-z][A-Z]|[A-Za-z][0-9]|[0-9][A-Za-z]")

_STOP = """
a about after again all also am an and any are as at be because been before being but by can
cannot could did do does doing don during each either for from had has have having he her here hers
herself him himself his how i if in into is it its itself just ll me might more most my myself no
nor not of off on once only or other our ours ourselves out over own re s same shall she should so
some such t than that the their theirs them themselves then there these they this those through to
too under until up ve very was we were what when where which while who whom why will with would yes
you your yours yourself yourselves m d o let us
"""
STOP = frozenset(_STOP.split())
"""Words that say too little to find anything by; they are neither kept nor asked for."""


def terms(text: str) -> Iterator[str]:
    """Every term of a text, in its order and as often as it occurs."""
    for found in _TOKEN.finditer(_plain(text)):
        yield from of_token(found[0])


def tokens(text: str) -> Iterator[str]:
    """The words of a text as they stand there, accents aside."""
    return (found[0] for found in _TOKEN.finditer(_plain(text)))


def of_token(token: str) -> Iterator[str]:
    """The terms of one word: none for a stop word, several for a name that has parts."""
    if not token.isascii() and _IS_CJK.match(token):
        yield from _pairs(token)
    elif _NAME.search(token):
        yield from _name(token)
    else:
        word = token.lower()
        if word not in STOP:
            yield stem.stem(word)[:LONGEST]


def is_name(token: str) -> bool:
    """Whether a word looks like one out of code: `snake_case`, `camelCase`, `utf8`."""
    return bool(_NAME.search(token))


def grams(token: str) -> Iterator[str]:
    """The parts by which a name is found of which only a piece is known."""
    folded = token.lower()[:_GRAMMED]
    for at in range(len(folded) - GRAM + 1):
        yield _GRAM_MARK + folded[at : at + GRAM]


def is_gram(term: str) -> bool:
    """Whether a term is only a part of a name."""
    return term.startswith(_GRAM_MARK)


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


def _name(token: str) -> Iterator[str]:
    yield token.lower()[:LONGEST]
    parts = _PARTS.findall(token[: 4 * LONGEST])
    if len(parts) > 1:
        for part in parts:
            word = part.lower()
            if word not in STOP:
                yield stem.stem(word)
    yield from grams(token)


def _plain(text: str) -> str:
    """Accents and forms of the same letter aside."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(c for c in apart if not _accent(c)))


def _accent(char: str) -> bool:
    return "\u0300" <= char <= "\u036f"
