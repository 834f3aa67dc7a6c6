"""What definitions and imports look like, by families of languages, and words that are no names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_NAME = r"(?P<name>[A-Za-z_$][\w$]*[?!]?)"
_WORDS = r"(?:[a-z]{2,12}(?:\([a-z]{1,10}\))?\s{1,4}){0,5}"
"""Words before a definition: public, static, async, pub(crate)."""
_ACCESS = r"(?:static|async|get|set|public|private|protected|readonly)"
_MEMBER = (
    r"(?:public|private|protected|internal|static|final|abstract|override|virtual|async"
    r"|synchronized|default)"
)

_DEFINITIONS: Mapping[str, tuple[str, ...]] = {
    "python": (rf"(?:async\s+)?(?:def|class)\s+{_NAME}",),
    "javascript": (
        rf"{_WORDS}(?:function\s*\*?\s*|(?:class|interface|type|enum|const|let|var)\s+){_NAME}",
        r"[A-Za-z_$][\w$.]{0,60}\.(?P<assigned>[A-Za-z_$][\w$]*)\s*=\s*(?:async\s*)?"
        r"(?:function\b|\()",
        rf"(?:{_ACCESS}\s+){{0,3}}(?P<method>[A-Za-z_$][\w$]*)\([^;]{{0,200}}\)[^;]{{0,100}}\{{\s*$",
    ),
    "go": (rf"(?:func\s+(?:\([^)]{{0,80}}\)\s*)?|type\s+|var\s+|const\s+){_NAME}",),
    "rust": (
        rf"{_WORDS}(?:fn|struct|enum|trait|type|const|static|mod|union|macro_rules!)\s+{_NAME}",
    ),
    "java": (
        rf"{_WORDS}(?:class|interface|enum|record|object|fun|trait|struct|def|val)\s+{_NAME}",
        rf"(?:{_MEMBER}\s+){{1,5}}[\w<>\[\],.?]{{1,80}}\s+(?P<method>[A-Za-z_]\w*)\s*[(;={{]",
    ),
    "ruby": (
        rf"(?:private\s+)?(?:def\s+(?:self\.)?|class\s+|module\s+)(?:[A-Z]\w*::){{0,4}}{_NAME}",
    ),
    "c": (
        rf"#\s*define\s+{_NAME}",
        rf"{_WORDS}(?:class|struct|enum|union|namespace|typedef\s+struct)\s+(?:\w+_API\s+)?"
        r"(?P<type>\w+)",
        r"[A-Za-z_][\w:<>,*&~\s]{1,80}[\s*&](?:\w+::){0,3}(?P<method>~?[A-Za-z_]\w*)"
        r"\s*\([^;]{0,300}$",
    ),
    "php": (rf"{_WORDS}(?:function|class|interface|trait|enum)\s+&?{_NAME}",),
    "swift": (
        rf"(?:@\w+\s+)?{_WORDS}(?:func|class|struct|enum|protocol|extension|actor|typealias|let|var)"
        rf"\s+{_NAME}",
    ),
    "elixir": (
        r"(?:def|defp|defmacro|defmacrop|defguard|defmodule|defprotocol)\s+(?:[A-Z]\w*\.){0,6}"
        rf"{_NAME}",
    ),
    "haskell": (
        r"(?:data|newtype|type|class)\s+(?P<name>[A-Z]\w*)",
        r"(?P<method>[a-z_][\w']*)\s+::",
    ),
    "lua": (
        rf"(?:local\s+)?function\s+(?:\w+[.:]){{0,4}}{_NAME}",
        r"(?:\w+\.){1,3}(?P<assigned>\w+)\s*=\s*function",
    ),
    "shell": (
        r"(?:function\s+)?(?P<name>[A-Za-z_][\w-]*)\s*\(\)",
        r"@test\s+(?P<method>\S+)",
    ),
    "zig": (rf"(?:pub\s+)?(?:export\s+)?(?:inline\s+)?(?:fn|const|var)\s+{_NAME}",),
}
DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {language: "|".join(looks) for language, looks in _DEFINITIONS.items()}
)
"""What a line begins with, behind its indentation, where it defines something."""

IMPORTS: Mapping[str, str] = MappingProxyType(
    {
        "python": r"(?:from\s+([\w.]+)\s+import|import\s+([\w.]+))",
        "javascript": r"(?:.{0,300}?\bfrom\s+|import\s+|.{0,200}?\b(?:require|import)\()\s*"
        r"[\"']([^\"']+)[\"']",
        "go": r"(?:import\s+)?(?:[\w.]+\s+)?\"([\w./-]+)\"\s*$",
        "rust": r"(?:pub(?:\([a-z]+\))?\s+)?(?:use\s+([\w:]+)|mod\s+(\w+)\s*;)",
        "java": r"(?:import|using)\s+(?:static\s+)?([\w.]+)",
        "ruby": r"(?:require_relative|require|autoload\s+:\w+,)\s*\(?[\"']([^\"']+)[\"']",
        "c": r"#\s*(?:include|import)\s*[<\"]([^>\"]+)[>\"]",
        "php": r"(?:use\s+([\w\\]+)|(?:require|include)(?:_once)?\b[^\"']{0,60}"
        r"[\"']([^\"']+)[\"'])",
        "swift": r"(?:@testable\s+)?import\s+(\w+)",
        "elixir": r"(?:alias|import|use|require)\s+([\w.]+)",
        "haskell": r"import\s+(?:qualified\s+)?([\w.]+)",
        "lua": r".{0,200}?\brequire\s*\(?\s*[\"']([^\"']+)[\"']",
        "shell": r"(?:source|\.|load)\s+[\"']?([^\s\"']+)",
        "zig": r".{0,200}?@import\(\"([^\"]+)\"\)",
    }
)
"""A line that imports; one of the groups is what is imported."""

_WORDS_OF_LANGUAGES = """
and any are async await bool boolean break byte case catch chan char class const continue crate
def default defer del delete describe do double dyn elif else end enum except export extends
extern false final finally float for foreach from func function get global goto has if impl
implements import include inline instanceof int interface internal into lambda let local long loop
map match mod module move mut namespace new nil none not null object of override package pass
private protected pub public raise range readonly ref require rescue ret return self set short
sizeof static str string struct super switch template then this throw throws trait true try type
typedef typeof undefined union unless unsafe unsigned until use using val var virtual void when
where while with yield None True False Self String Some Ok Err Vec
"""
KEYWORDS = frozenset(_WORDS_OF_LANGUAGES.split())
