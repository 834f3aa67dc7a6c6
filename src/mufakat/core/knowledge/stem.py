"""English words by their stems, so that a question finds other forms of its words."""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST = 3
"""Shorter words are their own stems."""
LONGEST = 32
"""Longer ones are names of something."""

_ONSET = "(?:[^aeiou][^aeiouy]*)"
_VOWELS = "(?:[aeiouy][aeiou]*)"
_SOME = re.compile(f"^{_ONSET}?{_VOWELS}{_ONSET}")
_ONE = re.compile(f"^{_ONSET}?{_VOWELS}{_ONSET}{_VOWELS}?$")
_MORE = re.compile(f"^{_ONSET}?{_VOWELS}{_ONSET}{_VOWELS}{_ONSET}")
_VOWEL = re.compile(f"^{_ONSET}?[aeiouy]")
_SHORT = re.compile(f"^{_ONSET}[aeiouy][^aeiouwxy]$")
_DOUBLE = re.compile(r"([^aeioulsz])\1$")

_STEP_2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def _ending(endings: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(f"^(.+?)({'|'.join(sorted(endings, key=len, reverse=True))})$")


_ENDS_2 = _ending(tuple(_STEP_2))
_ENDS_3 = _ending(tuple(_STEP_3))
_ENDS_4 = _ending(_STEP_4)
_ENDS_ION = re.compile(r"^(.+?[st])ion$")

_FORMS = """
be am is are was were been being; go went gone goes; do did done does; have had has; say said;
make made; take took taken; come came; see saw seen; know knew known; get got gotten; give gave
given; find found; think thought; tell told; become became; show shown; leave left; feel felt;
bring brought; begin began begun; keep kept; hold held; write wrote written; stand stood; hear
heard; mean meant; meet met; run ran; pay paid; sit sat; speak spoke spoken; lead led; grow grew
grown; lose lost; fall fell fallen; send sent; build built; understand understood; draw drew drawn;
break broke broken; spend spent; rise rose risen; drive drove driven; buy bought; wear wore worn;
choose chose chosen; seek sought; throw threw thrown; catch caught; deal dealt; win won; forget
forgot forgotten; teach taught; eat ate eaten; sing sang sung; fly flew flown; sell sold; swim swam
swum; steal stole stolen; hide hid hidden; ride rode ridden; sleep slept; drink drank drunk; fight
fought; shoot shot; stick stuck; freeze froze frozen; wake woke woken; shake shook shaken; hang
hung; strike struck; dig dug; bite bit bitten; blow blew blown; feed fed; light lit; bind bound;
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; life
lives; wife wives; knife knives; leaf leaves; mom mum mother; dad father; kid kids; photo photos
picture pictures; good better best; bad worse worst
"""


def _forms() -> dict[str, str]:
    groups = [group.split() for group in _FORMS.split(";")]
    return {form: group[0] for group in groups for form in group[1:]}


_BASE = _forms()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a lower-case word; what is no English word comes back as it is."""
    word = _BASE.get(word, word)
    if not SHORTEST <= len(word) <= LONGEST or not (word.isascii() and word.isalpha()):
        return word
    # An initial y is a consonant, which the patterns take for a vowel.
    first = word[0]
    if first == "y":
        word = "Y" + word[1:]
    word = _past(_plural(word))
    if word.endswith("y") and _VOWEL.match(word[:-1]):
        word = word[:-1] + "i"
    word = _mapped(_mapped(word, _ENDS_2, _STEP_2), _ENDS_3, _STEP_3)
    word = _silent(_suffix(word))
    return "y" + word[1:] if first == "y" else word


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _SOME.match(word[:-3]) else word
    for end in ("ed", "ing"):
        if word.endswith(end):
            rest = word[: -len(end)]
            return _mended(rest) if _VOWEL.match(rest) else word
    return word


def _mended(rest: str) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _DOUBLE.search(rest):
        return rest[:-1]
    return rest + "e" if _SHORT.match(rest) else rest


def _mapped(word: str, ends: re.Pattern[str], to: dict[str, str]) -> str:
    found = ends.match(word)
    if found and _SOME.match(found[1]):
        return found[1] + to[found[2]]
    return word


def _suffix(word: str) -> str:
    found = _ENDS_4.match(word) or _ENDS_ION.match(word)
    return found[1] if found and _MORE.match(found[1]) else word


def _silent(word: str) -> str:
    rest = word[:-1]
    if word.endswith("e") and (_MORE.match(rest) or (_ONE.match(rest) and not _SHORT.match(rest))):
        word = rest
    return word[:-1] if word.endswith("ll") and _MORE.match(word) else word
