"""The script of the model: which turn answers which request.

A script is a JSON document with `turns` (one per main request), `lanes` (`match` pattern with
its own turns, first match wins: one per agent), `default`, `aux`, and the settings `chunk`,
`delay` and `usage`.  A turn combines `text`, `thinking`, `tools`, `usage`, `chunk`, `delay`,
`repeat`, or fails by `status`, `fault` or `sse_error`.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from equipment.model_server.answer import Usage
from equipment.model_server.view import View

Turn = dict[str, Any]


class Fault(StrEnum):
    """How an answer goes wrong."""

    RESET = "reset"  # TCP reset before any byte
    HANG = "hang"  # no byte at all for `seconds`
    HANG_MID = "hang_mid"  # half an answer, then silence for `seconds`
    TRUNCATE = "truncate"  # half an answer, then the connection ends
    MALFORMED = "malformed"  # half an answer, then bytes that are no event
    EMPTY = "empty"  # a correct answer without any content


KEYS = frozenset(
    [
        "text",
        "thinking",
        "tools",
        "usage",
        "chunk",
        "delay",
        "repeat",
        "status",
        "retry_after",
        "message",
        "body",
        "fault",
        "seconds",
        "sse_error",
    ]
)

EXHAUSTED: Turn = {"text": "MODEL SERVER: script exhausted"}
AUX = "aux"
# Codex and OpenCode ask for a session title with the tools still attached.
# By which a run's own requests are known, as its pack tells it.
NONCE = re.compile(r"mufakat:([0-9a-f]{16}):KIND")
SIDE_REQUEST = re.compile(r"generate a very short title|You are a title generator")


@dataclass(slots=True)
class Lane:
    """One agent's turns and how many of them are used up."""

    name: str
    match: re.Pattern[str] | None
    turns: list[Turn]
    default: Turn | None
    used: int = 0

    def takes(self, body: str) -> bool:
        """Whether a request with this body belongs to the lane."""
        return self.match is None or self.match.search(body) is not None


class Script:
    """A thread-safe cursor over scripted turns, one cursor per lane."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._lock = threading.Lock()
        self.data = data
        check(data.get("default") or {})
        lanes = [*data.get("lanes", ()), {"turns": data.get("turns", ())}]
        self._lanes = [_lane(index, lane) for index, lane in enumerate(lanes)]

    def next(self, view: View) -> tuple[str, Turn]:
        """The place (`lane0:2`, `lane0:default`, `aux`) and the turn for one request."""
        if self.is_side_request(view):
            return AUX, self._side_answer(view)
        body = view.text()
        with self._lock:
            lane = next(lane for lane in self._lanes if lane.takes(body))
            place, lane.used = lane.used, lane.used + 1
        if place < len(lane.turns):
            return f"{lane.name}:{place}", lane.turns[place]
        default = lane.default or self.data.get("default") or EXHAUSTED
        return f"{lane.name}:default", default

    def is_side_request(self, view: View) -> bool:
        """Titles and routing questions must not use up a turn; `"aux": false` turns this off."""
        if self.data.get("aux") is False:
            return False
        return not view.tools or SIDE_REQUEST.search(view.system + view.last_user) is not None

    def _side_answer(self, view: View) -> Turn:
        schema = view.json_schema
        if schema is None:
            answer: Turn = self.data.get("aux") or {"text": "a title"}
            return answer
        return {"text": json.dumps(self.data.get("aux_json") or fill(schema))}

    def setting(self, turn: Turn, key: str, default: float) -> float:
        """A streaming setting of the turn, else of the script."""
        return float(turn.get(key, self.data.get(key, default)))

    def usage(self, turn: Turn, view: View, said: str) -> Usage:
        """Token counts: as scripted, else a quarter of the characters."""
        wanted = {**(self.data.get("usage") or {}), **(turn.get("usage") or {})}
        counted = {"input": len(view.text()) // 4, "output": len(said) // 4}
        for key, characters in counted.items():
            if wanted.get(key) is None:
                wanted[key] = max(1, characters)
        return Usage(**{**wanted, "cached": wanted.get("cached") or 0})


def fault_of(turn: Turn) -> Fault | None:
    """The fault of a turn; an unknown name is a `ValueError`."""
    return Fault(turn["fault"]) if turn.get("fault") else None


def check(turn: Turn) -> Turn:
    """Refuse a turn that this server would silently misunderstand."""
    unknown = set(turn) - KEYS
    if unknown:
        raise ValueError(f"a turn has no {', '.join(sorted(unknown))}; known: {sorted(KEYS)}")
    fault_of(turn)
    return turn


def _lane(index: int, data: dict[str, Any]) -> Lane:
    for turn in (*data.get("turns", ()), data.get("default") or {}):
        check(turn)
    turns = [turn for turn in data.get("turns", ()) for _ in range(turn.get("repeat", 1))]
    pattern = data.get("match")
    match = re.compile(pattern, re.DOTALL) if pattern else None
    return Lane(f"lane{index}", match, turns, data.get("default"))


def fill(schema: dict[str, Any]) -> Any:
    """The smallest value that satisfies a JSON schema."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type") or "object"
    kind = (kind[0] if isinstance(kind, list) else kind).lower()
    if kind == "object":
        return {key: fill(part) for key, part in (schema.get("properties") or {}).items()}
    empty = {"array": [], "boolean": False, "number": 0.1, "integer": 1, "null": None}
    return empty.get(kind, "scripted")


def render(text: str, view: View, number: int) -> str:
    """Fill the templates of a scripted text."""
    values = {
        "LAST_USER": view.last_user,
        "LAST_TOOL_RESULT": view.last_tool,
        "TOOL_NAMES": " ".join(sorted(view.tools)),
        "MODEL": view.model,
        "N": str(number),
        "NONCE": (NONCE.findall(view.text()) or ["none"])[-1],
    }
    return re.sub(r"\{\{([A-Z_]+)\}\}", lambda found: values.get(found[1], found[0]), text)
