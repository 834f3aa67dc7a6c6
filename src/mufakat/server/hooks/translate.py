"""Picks the dialect of an engine; what no dialect knows is answered with nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mufakat.core.coordination.hooks import DIALECTS, PROBE, Moment
from mufakat.server.hooks import commands, plugin
from mufakat.server.hooks.call import Answer, Call


def read(engine: str, event: str, data: Mapping[str, Any]) -> Call | None:
    """A hook's call; None where engine, event or session are nothing that is known."""
    if event not in set(Moment):
        return None
    if engine in DIALECTS:
        call = commands.read(engine, Moment(event), data)
    elif engine == plugin.ENGINE:
        call = plugin.read(Moment(event), data)
    else:
        return None
    return call if call.session else None


def probed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to a call that only asks whether it arrives; empty for every other."""
    session = data.get("session_id")
    asked = isinstance(session, str) and session[: len(PROBE)] == PROBE
    return {"mufakat": session} if asked else {}


def write(call: Call, answer: Answer) -> dict[str, Any]:
    """The answer in the engine's words."""
    if call.engine == plugin.ENGINE:
        return plugin.write(answer)
    return commands.write(call, answer)
