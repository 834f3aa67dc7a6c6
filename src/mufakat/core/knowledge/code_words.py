"""Words of code and of questions about it, brought to one form: split, unabbreviated, stemmed."""

from __future__ import annotations

import re
from types import MappingProxyType

WORD = re.compile(r"\w+")
"""An identifier, a word of prose, a number."""
_SPACES = "".join(chr(code) if chr(code).isalnum() or code == 95 else " " for code in range(128))
LONGEST_WORD = 80
"""A longer one is a hash or encoded data."""
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_SHORT = """
alloc=allocate arg=argument args=arguments attr=attribute attrs=attributes auth=authenticate
bg=background bool=boolean btn=button buf=buffer calc=calculate cb=callback cfg=config
char=character chk=check cls=class cmd=command cnt=count cond=condition conf=config
configuration=config conn=connection ctrl=control ctx=context cur=current db=database
decl=declaration def=definition defn=definition del=delete deps=dependencies desc=description
dest=destination dev=development dict=dictionary diff=difference dir=directory dirs=directories
dist=distribution doc=document docs=documents dst=destination elem=element env=environment
err=error errs=errors eval=evaluate evt=event ex=exception exc=exception exec=execute
expr=expression ext=extension fmt=format fn=function fns=functions func=function funcs=functions
gen=generate hdr=header hdrs=headers id=identifier idx=index impl=implementation info=information
init=initialize int=integer intf=interface iter=iterate lang=language len=length lib=library
libs=libraries loc=location mem=memory mgr=manager mgmt=management mod=module msg=message
msgs=messages mut=mutable ns=namespace num=number obj=object op=operation ops=operations
opt=option opts=options orig=original param=parameter params=parameters perf=performance
pkg=package pos=position pred=predicate pref=preference prev=previous proc=process prod=production
prop=property props=properties proto=protocol ptr=pointer pwd=password qty=quantity recv=receive
ref=reference refs=references regexp=regex reg=register rel=relation repo=repository req=request
reqs=requests res=response resp=response ret=return rm=remove sec=second sel=select sep=separator
seq=sequence sess=session sig=signal spec=specification specs=specifications src=source srv=server
stmt=statement str=string sub=subscribe svc=service sync=synchronize sys=system tbl=table
temp=temporary tmp=temporary tok=token trans=transaction tx=transaction txn=transaction typ=type
usr=user util=utility utils=utilities val=value vals=values var=variable vars=variables
ver=version win=window ws=websocket
"""
LONG = MappingProxyType(dict(pair.split("=") for pair in _SHORT.split()))
"""What common abbreviations stand for."""
_ENDINGS = frozenset(
    (
        *("izations", "ization", "izing", "izers", "izer", "ized", "izes", "ize"),
        *("ifications", "ification", "ifying", "ifier", "ified", "ifies", "ify"),
        *("ations", "ation", "ators", "ator", "ating", "ated", "ates", "ative", "ate", "able"),
        *("encies", "ency", "ences", "ence", "ents", "ent", "ances", "ance", "ants", "ant"),
        *("ments", "ment", "nesses", "ness", "ities", "ity", "ically", "ical", "ally"),
        *("ions", "ion", "ings", "ing", "ors", "or", "ers", "er", "ed", "ies", "ly", "y"),
        *("als", "al", "ive", "es", "e", "s"),
    )
)
_SHORTEST = 3
_VOWEL = re.compile("[aeiouy]")


def _lengths() -> dict[str, tuple[int, ...]]:
    """How long the endings are that a word with such last two letters, or last one, may have."""
    found: dict[str, set[int]] = {}
    for ending in _ENDINGS:
        found.setdefault(ending[-2:], set()).add(len(ending))
    return {
        last: tuple(sorted(own | found.get(last[-1], set()), reverse=True))
        for last, own in found.items()
    }


_LENGTHS = MappingProxyType(_lengths())


def spaced(text: str) -> str:
    """An ASCII text with a space for whatever is in no word: `split` finds the same words as WORD.

    Several times as fast as the pattern, which a text of other letters needs.
    """
    return text.translate(_SPACES)


def stem(word: str) -> str:
    """The stem of a lower-case word; what is no English word, or short, stays as it is."""
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    once = _cut(word)
    return once if once is word else _cut(once)


def _cut(word: str) -> str:
    lengths = _LENGTHS.get(word[-2:]) or _LENGTHS.get(word[-1])
    if lengths is None or word.endswith(("ss", "us", "is")):
        return word
    size = len(word)
    for length in lengths:
        left = size - length
        if left >= _SHORTEST and word[left:] in _ENDINGS and _VOWEL.search(word, 0, left):
            return _single(word[:left])
    return word


def _single(left: str) -> str:
    """`mapp` is `map`; but `process` keeps what belongs to it."""
    doubled = len(left) > _SHORTEST and left[-1] == left[-2] and left[-1] not in "aeiouls"
    return left[:-1] if doubled else left


def parts(word: str) -> list[str]:
    """The lower-case words that an identifier is made of, by case, underscore and digits."""
    return [part.lower() for part in _PART.findall(word)]


def normal(part: str) -> str:
    """The one form of a part: its abbreviation written out, its ending cut."""
    return stem(LONG.get(part, part))


def whole(word: str) -> str:
    """A word as one term, the same for `open_api`, `OpenAPI` and `openapi`."""
    return normal(word.replace("_", "").lower())


class Terms(dict[str, tuple[str, ...]]):
    """What words are found by, each made once: code says few words many times.

    A word's parts in their one form, and the whole of it where it has several; nothing for what is
    too long to be a word.
    """

    def __init__(self) -> None:
        super().__init__()
        self._normal: dict[str, str] = {}

    def __missing__(self, word: str) -> tuple[str, ...]:
        # Called for every other identifier of a project: nothing here may cost.
        known = self._normal
        if word[1:].islower() and word.isascii() and word.isalpha() and len(word) <= LONGEST_WORD:
            # One part, as most words are: no pattern is needed to tell.
            found: tuple[str, ...] = (known.get(word) or self._form(word),)
        elif len(word) > LONGEST_WORD:
            found = ()
        else:
            found = tuple([known.get(part) or self._form(part) for part in _PART.findall(word)])
            if len(found) > 1:
                found = (*found, whole(word))
        self[word] = found
        return found

    def _form(self, part: str) -> str:
        form = self._normal[part] = normal(part.lower())
        return form
