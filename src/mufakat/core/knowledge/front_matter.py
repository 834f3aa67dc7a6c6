"""Front matter: the head of SKILL.md and DOC.md, read as a small strict part of YAML.

No tags, anchors or aliases, so that a head can neither build objects nor grow when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LONGEST = 16_384
"""Characters of a head."""
_HEAD = re.compile(r"---[ \t]*\n(?P<head>.*?)(?:\n|(?<=\n))---[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"(?P<key>[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})[ \t]*:(?:[ \t]+(?P<value>.*))?")
_BLOCK = re.compile(r"[|>][+-]?")
_LEFT_OUT = re.compile(r"(?<!\s)\s+#.*\Z")


@dataclass(frozen=True, slots=True)
class Front:
    """A head as flat names, `metadata.versions`, and the text behind it."""

    fields: Mapping[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a head cannot be used."""

    why: str


def read(document: str) -> Front | Broken:
    """Split a document into its front matter and its body."""
    document = document.removeprefix("\ufeff").replace("\r\n", "\n")
    if not document.startswith("---"):
        return Broken("it has no front matter between two lines of ---")
    found = _HEAD.match(document[: LONGEST + 16])
    if found is None:
        return Broken(f"its front matter does not end within {LONGEST:,} characters")
    fields = _Reader(found["head"].split("\n")).mapping()
    return fields if isinstance(fields, Broken) else Front(fields, document[found.end() :])


class _Reader:
    """Goes through the lines of one head."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0

    def mapping(self) -> dict[str, str] | Broken:
        fields: dict[str, str] = {}
        parent = ""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            nested = line[0] in " \t"
            pair = _PAIR.fullmatch(line.strip())
            if pair is None or (nested and not parent):
                return Broken(f"line {self._at + 1} is not `name: value`")
            key = f"{parent}.{pair['key']}" if nested else pair["key"]
            if key in fields:
                return Broken(f"{key} is there twice")
            value = self._value(pair["value"] or "", indent=_indent(line))
            if isinstance(value, Broken):
                return value
            parent = parent if nested else pair["key"]
            fields[key] = value
        return fields

    def _value(self, text: str, *, indent: int) -> str | Broken:
        text = text.strip()
        if _BLOCK.fullmatch(text):
            return self._block(folded=text[0] == ">", indent=indent)
        if not text or text.startswith("#"):
            return self._list(indent)
        return self._continued(text, indent=indent)

    def _block(self, *, folded: bool, indent: int) -> str:
        lines = [line.strip() for line in self._deeper(indent)]
        return (" " if folded else "\n").join(lines).strip()

    def _list(self, indent: int) -> str | Broken:
        """Entries with a dash, on lines of their own; none leaves the field empty."""
        values: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if not line.lstrip().startswith("- ") or _indent(line) < indent:
                break
            self._at += 1
            value = scalar(line.lstrip()[2:].strip())
            if isinstance(value, Broken):
                return value
            values.append(value)
        return ", ".join(values)

    def _continued(self, text: str, *, indent: int) -> str | Broken:
        """A value, and the deeper lines that go on with it."""
        if text[0] not in "\"'[":
            more = [line.strip() for line in self._deeper(indent)]
            text = " ".join([text, *more]).strip()
        return scalar(text)

    def _deeper(self, indent: int) -> list[str]:
        found = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and _indent(line) <= indent:
                break
            found.append(line)
            self._at += 1
        return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def scalar(text: str) -> str | Broken:
    """One value: plain, in quotes, or a list in brackets."""
    if text[:1] in ("!", "&", "*"):
        return Broken(f"{text[:20]!r} is a tag, an anchor or an alias, which are not read")
    if text[:1] in ("{", "%", "@", "`"):
        return Broken(f"{text[:20]!r} is not a plain value")
    if text[:1] in ('"', "'"):
        return _quoted(text)
    if text[:1] == "[":
        return _brackets(text)
    return _LEFT_OUT.sub("", text).strip()


def _quoted(text: str) -> str | Broken:
    mark = text[0]
    end = text.rfind(mark)
    rest = text[end + 1 :].strip()
    if end == 0 or (rest and not rest.startswith("#")):
        return Broken("a quotation does not end on its line")
    inner = text[1:end]
    if mark == "'":
        return inner.replace("''", "'")
    return inner.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def _brackets(text: str) -> str | Broken:
    text = _LEFT_OUT.sub("", text).strip()
    if not text.endswith("]"):
        return Broken("a list in brackets does not end on its line")
    parts = [scalar(part.strip()) for part in text[1:-1].split(",") if part.strip()]
    broken = next((part for part in parts if isinstance(part, Broken)), None)
    return broken or ", ".join(str(part) for part in parts)
