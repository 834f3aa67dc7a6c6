"""What engines do not tell with every call: which turn it is, and who ran in a process before.

It is gone when the server starts anew: then a turn goes by its prompt, and is held no more often.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from mufakat.core.coordination.hooks import Moment
from mufakat.server.hooks.call import Call, Process

SESSIONS = 2000


@dataclass(slots=True)
class Memory:
    """Bounded: the oldest is forgotten first."""

    _turns: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _started: int = 0
    _processes: OrderedDict[Process, str] = field(default_factory=OrderedDict)

    def turn(self, call: Call) -> str:
        """Name the turn of a call: the engine's own id, else one that its prompt begins."""
        if call.turn:
            return call.turn
        mark = _mark(call)
        if call.moment is Moment.PROMPT:
            self._started += 1
            for key in (f"{call.session} {mark}", f"{call.session} "):
                _put(self._turns, key, f"{mark} {self._started}")
        # A held turn of Gemini starts with a prompt of ours but ends with the person's.
        known = self._turns.get(f"{call.session} {mark if call.prompt else ''}")
        return known or mark

    def ran(self, process: Process) -> str:
        """Identity of the session that ran in a process before."""
        return self._processes.get(process, "") if process.pid else ""

    def runs(self, process: Process, identity: str) -> None:
        """Remember who runs in a process."""
        if process.pid:
            _put(self._processes, process, identity)


def _mark(call: Call) -> str:
    return hashlib.sha256(call.prompt.encode("utf-8", "replace")).hexdigest()[:16]


def _put(table: OrderedDict[Any, str], key: object, value: str) -> None:
    table[key] = value
    table.move_to_end(key)
    while len(table) > SESSIONS:
        table.popitem(last=False)
