"""Contradictions: a later statement about the same thing with another value, or its denial."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from mufakat.core.knowledge import words

SAME = 0.6
"""Share of the words beside the values that two statements must have in common."""
SAME_DENIED = 0.8
"""The same for a statement and its denial, which share their values too."""
SAME_CJK = 0.5
FEW = 2
"""Statements with no more words beside their values must have all of the shorter one's."""

_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_HEDGED = re.compile(
    r"\?\s*$|^\W*(?:if|when|whenever|unless|suppose|perhaps|maybe|what if|could|should we|"
    r"shall we|"
    r"is|are|does|do (?:we|you|i)\b|did|can)\b|\bif\b",
    re.I,
)
_POINTING = re.compile(
    r"^\W*(?:that|this|these|those|it|he|she|they|his|her|their|there|you|your|wow|so)\b", re.I
)
"""A subject that only what was said before can tell apart."""
_STANDING = re.compile(
    r"\b(?:is|are|was|were|be|=|equals?|runs?|listens?|lives?|uses?|using|use|set|sets|default\w*|"
    r"now|instead|must|should|shall|will|prefer\w*|always|never|decided|choose|chose|chosen|"
    r"switch\w*|changed?|moved?|renamed?|stays?|takes?|needs?|requires?|costs?|due|owns?|allowed|forbidden|"
    r"enabled|disabled|named?|called|adalah|ialah|pakai|menggunakan|guna)\b|[=:→]|"
    r"[是为用改]|입니다|이다|です",
    re.I,
)
_DENIAL = re.compile(
    r"\b(?:not|never|no longer|don'?t|doesn'?t|isn'?t|aren'?t|won'?t|mustn'?t|shouldn'?t|"
    r"cannot|can'?t|"
    r"stop(?:ped)?|avoid|without|disabled?|forbidden|rejected|jangan|tidak|bukan)\b|n't\b|"
    r"不|别|沒|没|않|안 ",
    re.I,
)
_VALUE = re.compile(
    r"`[^`\n]{1,80}`|[\"“][^\"”\n]{1,80}[\"”]"
    r"|(?:[\w.-]*/)+[\w.-]+"
    r"|v?\d[\w.,:%-]*\w|\d"
    r"|\b\w+\.(?:py|ts|js|go|rs|md|toml|ya?ml|json|sql|sh)\b"
    r"|\b[A-Za-z]+(?:[_-][A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]*[A-Z]\w*\b"
)
_NAME = re.compile(
    "(?<=[\\w,:] )[A-Z]\\w+|(?<=[\u3040-\u9fff\uac00-\ud7ff])[A-Za-z][A-Za-z0-9_]+"
    "|^[A-Z][A-Za-z0-9_]+(?=[\u3040-\u9fff\uac00-\ud7ff])"
)
_OBJECT = re.compile(
    r"\b(?:uses?|using|prefer|choose|chose|take|pick|run(?:s)? (?:on|with)|switch(?:ed)? to|"
    r"moved? to|"
    r"pakai|guna|menggunakan)\s+(?:the |a |an )?([\w.+#-]{2,40})",
    re.I,
)
_IS = re.compile(
    r"^(?P<what>[^.;]{2,80}?)\s+(?:is|are|=|will be|should be|must be|has changed to|changed to|"
    r"was changed to|is now|are now|adalah|ialah)\s+"
    r"(?:now |not |no longer |set to |called |the |a |an )*"
    r"(?P<value>[\w.:/#+%-]{1,60})\W*(?P<rest>.{0,40})$",
    re.I,
)
_GONE = re.compile(
    r"\b(?:instead of|rather than|replac(?:e|es|ed|ing)|"
    r"(?:switch|mov|migrat|chang)\w*(?: \w+){0,3}? from|"
    r"drop(?:s|ped)?|no longer use)\s+(?:the )?[`\"]?([\w.+#-]{2,40})",
    re.I,
)
_OWN = re.compile(r"\b(?:i|my|mine|i'm|i've)\b", re.I)
_SAYS_LITTLE = """
actual alwai becom chang choos chose correct current decid final from go instead let longer make
move must never new now pleas prefer run set sorri still switch team updat use wait
"""
_FILLER = frozenset(_SAYS_LITTLE.split())
"""Stems that say nothing of what a statement is about."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement apart: what it is about, what it says of that, whether it denies it."""

    about: frozenset[str]
    values: frozenset[str]
    gone: frozenset[str]
    """Values that it says hold no longer."""
    denies: bool
    own: bool
    """It is about its speaker, so that nobody else can contradict it."""
    cjk: bool


@lru_cache(maxsize=4_096)
def claim(text: str) -> Claim | None:
    """What a statement claims; None for a question, a condition, or what happened once."""
    cjk = bool(_CJK.search(text))
    if _HEDGED.search(text) or _POINTING.search(text) or not (cjk or _STANDING.search(text)):
        return None
    gone = frozenset(one.strip(".,:").casefold() for one in _GONE.findall(text))
    values = values_of(text) - gone
    bare = _DENIAL.sub(" ", text)
    taken = {term for value in values | gone for term in _terms(value)} | values
    about = frozenset(_terms(bare)) - taken - _FILLER
    if not (about or values or gone):
        return None
    denies, own = bool(_DENIAL.search(text)), bool(_OWN.search(text))
    return Claim(about, values, gone, denies, own, cjk)


def contradicts(later: Claim, earlier: Claim, *, same_speaker: bool) -> bool:
    """Whether the later claim leaves nothing of the earlier one."""
    if (later.own or earlier.own) and not same_speaker:
        return False
    if later.gone & earlier.values and not earlier.denies:
        return not earlier.about or bool(earlier.about & later.about)
    if later.values == earlier.values or (later.denies and later.values & earlier.values):
        return later.denies != earlier.denies and _alike(later, earlier, share=SAME_DENIED)
    if later.denies or earlier.denies or not (later.values and earlier.values):
        return False
    gone, came = earlier.values - later.values, later.values - earlier.values
    # More than one value apart: two cases of a kind, not one thing that changed.
    if len(gone) != 1 or len(came) > 2 or not came:
        return False
    return bool(later.about and earlier.about) and _alike(later, earlier)


def _alike(one: Claim, other: Claim, *, share: float = SAME) -> bool:
    if not one.about or not other.about:
        return bool(one.values & other.values) and not one.about and not other.about
    common = len(one.about & other.about)
    fewer, more = sorted((len(one.about), len(other.about)))
    if fewer <= FEW:
        return common == fewer and more <= fewer + 2
    if one.cjk and other.cjk:
        share = SAME_CJK
    return common >= share * fewer and common >= share * share * more


@lru_cache(maxsize=4_096)
def values_of(text: str) -> frozenset[str]:
    """Numbers, names, paths and the like that a text tells."""
    found = [*_VALUE.findall(text), *_NAME.findall(text)]
    found += [one for one in _OBJECT.findall(text) if one.lower() not in words.STOP]
    stated = _IS.match(text)
    if stated and not stated["rest"] and _terms(stated["what"]):
        found.append(stated["value"])
    return frozenset(one.strip('`"“”.,:').casefold() for one in found) - {""}


def _terms(text: str) -> list[str]:
    return [term for term in words.terms(text) if not words.is_gram(term)]
