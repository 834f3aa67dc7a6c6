"""What the path of a source file tells: its language, its subject, whether it is a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

LANGUAGES: Mapping[str, str] = MappingProxyType(
    {
        ending: language
        for language, endings in {
            "python": "py pyi pyx",
            "javascript": "js jsx mjs cjs ts tsx mts cts vue svelte",
            "go": "go",
            "rust": "rs",
            "java": "java kt kts scala groovy cs dart",
            "ruby": "rb rake",
            "c": "c h cc cpp cxx hpp hh hxx m mm",
            "php": "php",
            "swift": "swift",
            "elixir": "ex exs",
            "haskell": "hs",
            "lua": "lua",
            "shell": "sh bash zsh bats",
            "zig": "zig",
        }.items()
        for ending in endings.split()
    }
)
"""Ending of a file to the family of languages whose patterns it is read by."""
INDEX = frozenset({"__init__", "index", "mod", "lib", "main", "init"})
"""Stems that say nothing; the folder above them is the subject."""
_TEST_WORDS = frozenset({"test", "tests", "spec", "specs"})
_TEST_FOLDERS = frozenset({"test", "tests", "spec", "specs", "__tests__", "testing"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def language(path: str) -> str:
    """The family of a source file; empty for everything else."""
    return LANGUAGES.get(path.rpartition("/")[2].rpartition(".")[2].lower(), "")


def folder(path: str) -> str:
    """The folder of a path; empty at the top."""
    return path.rpartition("/")[0]


def stem(path: str) -> str:
    """The name of a file before its first dot."""
    name = path.rpartition("/")[2]
    return name.split(".")[0] or name


def key(path: str) -> str:
    """The last word by which others import a file: its stem, or its folder's name."""
    name = stem(path)
    if name in INDEX or language(path) == "go":
        return folder(path).rpartition("/")[2] or name
    return name


@lru_cache(maxsize=65_536)
def words(path: str) -> frozenset[str]:
    """Words of the file's subject, in small letters, without those that only say `test`."""
    name = path.rpartition("/")[2].rpartition(".")[0] or stem(path)
    if stem(path) in INDEX:
        name = folder(path).rpartition("/")[2]
    found = {word.lower() for word in _WORD.findall(name)}
    return frozenset(found - _TEST_WORDS) or frozenset(found)


@lru_cache(maxsize=65_536)
def is_test(path: str) -> bool:
    """Whether a file tests others, by its name or its folders."""
    names = path.split("/")
    if any(name.lower() in _TEST_FOLDERS for name in names[:-1]):
        return True
    return bool({word.lower() for word in _WORD.findall(names[-1])} & _TEST_WORDS)


def likeness(one: str, other: str) -> float:
    """How much two files are called alike, 0 to 1; a test and what it tests are alike."""
    mine, theirs = words(one), words(other)
    shared = len(mine & theirs)
    if not shared:
        return 0.0
    alike = shared / len(mine | theirs)
    return alike if alike == 1.0 else 0.6 * alike


def nearness(one: str, other: str) -> float:
    """1 in the same folder, less the more folders lie between, 0 where none is shared."""
    mine, theirs = folder(one).split("/"), folder(other).split("/")
    shared = 0
    for left, right in zip(mine, theirs, strict=False):
        if left != right:
            break
        shared += 1
    return shared / max(len(mine), len(theirs)) if shared else 0.0
