"""Reading a pack back: which sections an agent was told, so that the demo can show them."""

from __future__ import annotations

import re
from dataclasses import dataclass

OPEN = re.compile(r"<mufakat:([a-z-]+)\b[^>]*>")
IDENTITY = re.compile(r"\b[\w.-]+@[\w.-]+:[0-9a-z]+\b")
NONCE = re.compile(r"mufakat:([0-9a-f]{8,}):")
PROMPT_KINDS = frozenset({"prompt", "user", "user-prompt"})


@dataclass(frozen=True, slots=True)
class Section:
    """One marked part of a pack; `chars` counts its text without the markers."""

    kind: str
    text: str

    @property
    def chars(self) -> int:
        return len(self.text)


@dataclass(frozen=True, slots=True)
class Told:
    """Everything one delivery told."""

    sections: tuple[Section, ...]
    prompt: str
    """The person's own words: the text after the last section."""
    chars: int

    def section(self, kind: str) -> str:
        """The newest text of a kind, empty when it was not told."""
        texts = [section.text for section in self.sections if section.kind == kind]
        return texts[-1] if texts else ""

    def speakers(self) -> tuple[str, ...]:
        """Identities that history and participants name, each once, in order."""
        texts = (self.section("history"), self.section("participants"))
        return tuple(dict.fromkeys(IDENTITY.findall("\n".join(texts))))

    def nonce(self) -> str:
        """The mark that pull requests of this run must carry, where the pack gave one."""
        found = [hit for section in self.sections for hit in NONCE.findall(section.text)]
        return found[-1] if found else "none"


def read(text: str) -> Told:
    """Split a delivered text at its section markers; only lines that are markers count."""
    sections: list[Section] = []
    loose: list[str] = []
    kind, body = "", list[str]()
    for line in text.split("\n"):
        opened = OPEN.match(line)
        if not kind and opened:
            kind, body, loose = opened[1], [], []
        elif kind and line.startswith(f"</mufakat:{kind}"):
            sections.append(Section(kind, "\n".join(body)))
            kind = ""
        else:
            (body if kind else loose).append(line)
    if kind:
        sections.append(Section(kind, "\n".join(body)))
    return Told(_without_prompt(sections), _prompt(sections, loose), len(text))


def _without_prompt(sections: list[Section]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section.kind not in PROMPT_KINDS)


def _prompt(sections: list[Section], loose: list[str]) -> str:
    for section in reversed(sections):
        if section.kind in PROMPT_KINDS:
            return section.text.strip()
    return "\n".join(loose).strip().removeprefix("---").strip()
