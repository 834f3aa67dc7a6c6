"""LoCoMo as Mufakat would have seen it: projects, conversations, turns, and questions to them."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PLACE = "BENCH_LOCOMO"
"""Environment variable with the path of locomo10.json, where none is given."""
ADVERSARIAL = 5
"""Category of questions that nothing answers; they are left out."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: who said what, and when; `id` is LoCoMo's, such as `D1:3`."""

    id: str
    speaker: str
    text: str
    session: int
    at: int
    """Milliseconds since 1970, the session's begin."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the turns that answer it."""

    text: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    """One of the ten long conversations."""

    number: int
    speakers: tuple[str, str]
    turns: tuple[Turn, ...]
    questions: tuple[Asked, ...]

    @property
    def fitted(self) -> bool:
        """Whether the weights may have seen it: those with an even number."""
        return self.number % 2 == 0


def load(data: Path | None = None) -> list[Talk]:
    """Read the file that is given, or that the environment names; raises SystemExit without one."""
    path = data or Path(os.environ.get(PLACE, ""))
    if not path.is_file():
        raise SystemExit(f"bench: set {PLACE}, or give --data, to the path of locomo10.json")
    return [_talk(at, one) for at, one in enumerate(json.loads(path.read_text("utf-8")))]


def _talk(number: int, data: dict[str, Any]) -> Talk:
    said = data["conversation"]
    sessions = sorted(int(name[8:]) for name in said if re.fullmatch(r"session_\d+", name))
    turns = [
        Turn(one["dia_id"], one["speaker"], _text(one), session, _at(said, session))
        for session in sessions
        for one in said[f"session_{session}"]
    ]
    known = {turn.id for turn in turns}
    questions = [_asked(one, known) for one in data["qa"] if one["category"] != ADVERSARIAL]
    return Talk(
        number,
        (said["speaker_a"], said["speaker_b"]),
        tuple(turns),
        tuple(one for one in questions if one.gold),
    )


def _text(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"[photo: {caption}] {turn['text']}" if caption else str(turn["text"])


def _at(said: dict[str, Any], session: int) -> int:
    shown = said[f"session_{session}_date_time"]
    moment = datetime.strptime(shown, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return int(moment.timestamp() * 1000)


def _asked(data: dict[str, Any], known: set[str]) -> Asked:
    named = re.findall(r"D\d+:\d+", " ".join(data.get("evidence", ())))
    return Asked(data["question"], frozenset(named) & known)
