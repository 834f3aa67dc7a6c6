"""The made conversation that every contender packs: the same texts for all of them."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass
from pathlib import Path

BUDGET = 60_000
"""Characters, the prompt included."""
PROMPT = "Which of the open findings should we mend first, and what would it touch?"
PERSON = "human@web:000000"
EARLY = "codex@host:000003"
"""An agent whose last word is far back in the conversation."""
REGULARS = ("claude@host:000001", "gemini@host:000002")
EARLY_NUMBER = 40

FIXED = (("platform", 900), ("project", 300), ("role", 1_100), ("identity", 200))
"""Kinds of sections with one text each, and its characters."""
LISTS = (
    ("skills-index", 4, 90),
    ("inheritance", 4, 300),
    ("memory", 12, 220),
    ("plan", 8, 180),
    ("plan-document", 5, 500),
    ("findings", 9, 200),
    ("artifacts", 6, 90),
    ("coordination", 6, 160),
    ("retrieval", 7, 420),
    ("code", 5, 500),
    ("graph", 5, 240),
    ("docs", 4, 450),
    ("linked-sessions", 4, 350),
)
"""Kinds of sections made of items: how many, and the characters of each."""

_WORDS = [f"w{i * 7919 % 10007}" for i in range(2000)]


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the conversation."""

    number: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """What a contender is given; sections in the order in which Mufakat tells them."""

    prompt: str
    budget: int
    sections: tuple[tuple[str, tuple[str, ...]], ...]
    messages: tuple[Said, ...]

    def save(self, path: Path) -> None:
        """Write it as JSON, which every contender reads."""
        path.write_text(json.dumps(asdict(self)), "utf-8")


def load(path: Path) -> Case:
    """Read what `save` wrote."""
    data = json.loads(path.read_text("utf-8"))
    return Case(
        data["prompt"],
        data["budget"],
        tuple((kind, tuple(items)) for kind, items in data["sections"]),
        tuple(Said(**said) for said in data["messages"]),
    )


def make(count: int, *, seed: int = 1) -> Case:
    """A conversation of `count` messages and 18 sections beside history and earlier."""
    rng = random.Random(seed)
    return Case(PROMPT, BUDGET, sections(rng), tuple(message(n, rng) for n in range(1, count + 1)))


def sections(rng: random.Random) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The texts of all sections that are not made of messages."""
    fixed = [(kind, (prose(rng, chars),)) for kind, chars in FIXED]
    lists = [(kind, items(rng, count, chars)) for kind, count, chars in LISTS]
    return (*fixed, *lists)


def items(rng: random.Random, count: int, chars: int) -> tuple[str, ...]:
    """Texts of one section."""
    return tuple(prose(rng, chars) for _ in range(count))


def message(number: int, rng: random.Random) -> Said:
    """A message: people and agents in turn, most of them short, a few long."""
    speaker = EARLY if number == EARLY_NUMBER else (PERSON, *REGULARS)[(number - 1) % 3]
    chars = min(3_000, int(rng.lognormvariate(5.4, 0.8)) + 20)
    return Said(number, speaker, prose(rng, chars))


def prose(rng: random.Random, chars: int) -> str:
    """Words that occur nowhere else in this order, `chars` characters of them."""
    return " ".join(rng.choices(_WORDS, k=chars // 4 + 1))[:chars]
