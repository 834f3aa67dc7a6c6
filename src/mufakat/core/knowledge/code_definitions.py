"""Which line of code defines what: by pattern, for many languages, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


def _either(words: str) -> str:
    """A pattern of words, told apart by their first letters at once: most lines have none."""
    grouped: dict[str, list[str]] = {}
    for word in words.split("|"):
        grouped.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in grouped.items())


_S = r"[ \t]"
_BEFORE = _either(
    "abstract|actual|async|attached|case|const|constexpr|data|declare|default|defer|expect|export|"
    "extern|external|fileprivate|final|forward|friend|implicit|indirect|infix|inline|inner|"
    "internal|lateinit|lazy|local|mutating|native|new|nonisolated|open|operator|opaque|override|"
    "partial|private|protected|pub|public|readonly|sealed|static|suspend|synchronized|tailrec|"
    "transient|unsafe|value|virtual|volatile"
)
_KEYWORD = _either(
    "class|struct|enum|interface|trait|type|protocol|module|namespace|object|record|union|impl|"
    "def|fn|func|function|fun|sub|macro|macro_rules!|defmodule|defp|defmacrop|defmacro|defstruct|"
    "defprotocol|defimpl|defguard|defdelegate|newtype|instance|typealias|typedef|extension|actor|"
    "mixin|given|proc|concept|alias|companion object|annotation class|enum class|data"
)
# Possessive where two parts could take the same characters: a hostile line stays cheap.
_DEFINITION = (
    rf"(?:@\w++{_S}++)?(?:(?:{_BEFORE})(?:\([^)\s]*+\))?{_S}++){{0,6}}"
    rf"(?P<keyword>{_KEYWORD}){_S}++(?:\*{_S}*+)?"
    rf"(?:\([^)\n]*+\){_S}*+|<[^>\n]*+>{_S}*+|abstract{_S}++)?"
    r"(?P<defined>[A-Za-z_$~][\w$.:?!]*+)"
)
_DEFINE = rf"\#{_S}*+define{_S}++(?P<macro>\w++)"
_BOUND = (
    rf"(?:(?:{_BEFORE}){_S}++){{0,4}}(?:const|let|var|val|static|local){_S}++(?:mut{_S}++)?"
    r"(?P<bound>[A-Za-z_$][\w$]*+)(?=[ \t]*+(?:[:=;,]|$))"
)
_ASSIGNED = (
    r"(?:[A-Za-z_$][\w$]*+[.:]){1,3}(?P<assigned>[A-Za-z_$][\w$]*+)"
    rf"{_S}*+={_S}*+(?:async{_S}++)?(?:function|\()"
)
_CALLABLE = (
    rf"(?>[A-Za-z_][\w:<>,\[\]?.~]*+[ \t*&]++){{0,6}}"
    rf"(?P<callable>[A-Za-z_~][\w:~]*+){_S}*+\([^;\n]*+$"
)
_CONSTANT = rf"(?P<constant>[A-Z_]\w*+){_S}*+(?::[^=\n]{{0,80}})?=(?=[^=])"
_SIGNATURE = rf"(?P<signature>[a-z_][\w']*+){_S}++::{_S}"
_SHELL = rf"(?P<shell>[A-Za-z_][\w:.-]*+){_S}*+\(\){_S}*+(?:\{{|$)"
_HEADING = r"#{1,4}[ \t]++(?P<heading>\S[^\n]{0,80})"
_STATEMENTS = """
if for while switch return else do try catch match when case throw new await yield in of not
sizeof assert require print with elif unless until end begin then super this self is as
static_cast typeof delete and or foreach lock using fixed guard where extends implements
"""
_NO_NAME = frozenset(_STATEMENTS.split())
# What begins so is a statement, whatever follows; `new` and `case` may stand before a definition.
_STATEMENT = rf"(?:{_either('|'.join(sorted(_NO_NAME - {'new', 'case'})))})[ \t(]"
_PROSE = frozenset(("md", "markdown", "rst", "txt", "adoc"))
_BRACED = """
c h cc cpp cxx hh hpp hxx java kt kts cs js jsx ts tsx mjs cjs mts cts vue svelte dart scala php
swift groovy m mm zig rs go
"""
_BRACES = frozenset(_BRACED.split())
_SCOPED = """
class struct enum interface trait module namespace object protocol impl extension actor defmodule
record union mixin
"""
_SCOPES = frozenset(_SCOPED.split())
_EXTENDS = frozenset(("impl", "extension", "instance", "defimpl", "namespace", "package"))


@dataclass(frozen=True, slots=True)
class Definition:
    """A name that a line defines."""

    line: int
    """From 0."""
    indent: int
    name: str
    scope: bool
    """Whether others can lie in it: a class, a module."""
    extends: bool = False
    """Whether it but adds to what is defined elsewhere."""


def find(text: str, ending: str) -> Iterator[Definition]:
    """The definitions of a file, in order; `ending` of its name says which patterns may apply."""
    line = at = 0
    # A pattern that begins with a fixed letter is looked for many times as fast as one with `^`.
    text = f"\n{text}"
    for matched in _pattern(ending).finditer(text):
        line += text.count("\n", at, matched.start())
        at = matched.start()
        kind = matched.lastgroup or ""
        name = matched[kind].rstrip(":. ")
        if not name or not _is_definition(matched, kind, name):
            continue
        keyword = matched["keyword"] if kind == "defined" else ""
        scope = keyword in _SCOPES or kind == "heading"
        extends = keyword in _EXTENDS or kind == "heading"
        yield Definition(line, len(matched["indent"]), name, scope, extends)


@cache
def _pattern(ending: str) -> re.Pattern[str]:
    either = _HEADING if ending in _PROSE else "|".join((_DEFINITION, *_others(ending)))
    begin = rf"\n(?P<indent>{_S}*+)(?=[A-Za-z_@#~$])(?!{_STATEMENT})"
    return re.compile(rf"{begin}(?:{either})", re.MULTILINE)


def _others(ending: str) -> tuple[str, ...]:
    if ending in {"py", "pyi", "rb"}:
        return (_CONSTANT,)
    if ending in {"hs", "lhs", "elm", "purs"}:
        return (_SIGNATURE,)
    if ending in {"sh", "bash", "zsh", "bats", "ksh", ""}:
        return (_SHELL,)
    if ending in _BRACES:
        return (_BOUND, _ASSIGNED, _DEFINE, _CALLABLE)
    return (_BOUND, _ASSIGNED)


def _is_definition(matched: re.Match[str], kind: str, name: str) -> bool:
    """Whether what looks like a definition is no statement, and what looks like a head no call.

    The head of a function opens a body, or is not indented.
    """
    if kind == "defined":
        return True
    if kind != "callable" or name in _NO_NAME:
        return name not in _NO_NAME
    words = matched[0].split(None, 1)
    indent = len(matched["indent"])
    opens = matched[0].rstrip().endswith("{")
    return words[0] not in _NO_NAME and (opens if indent else True) and indent <= 8


def scopes(definitions: list[Definition]) -> list[str]:
    """The full name of every definition, `Class.method`, by what it is indented below."""
    full: list[str] = []
    open_: list[Definition] = []
    for one in definitions:
        while open_ and open_[-1].indent >= one.indent:
            open_.pop()
        full.append(".".join([*(above.name for above in open_[-3:]), one.name]))
        if one.scope:
            open_.append(one)
    return full
