"""The dialect of engines that start a command for a hook: Claude Code, Codex, Gemini CLI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mufakat.core.coordination.hooks import DIALECTS, Moment
from mufakat.server.hooks import call, paths
from mufakat.server.hooks.call import Answer, Call

PERMISSION_NOTICE = "ToolPermission"


def read(engine: str, moment: Moment, data: Mapping[str, Any]) -> Call:
    """A call of one of them."""
    cwd = call.text(data, "cwd")
    tasks = data.get("background_tasks")
    notice = call.text(data, "notification_type")
    return Call(
        engine,
        moment,
        session=call.text(data, "session_id"),
        turn=call.text(data, "turn_id") or call.text(data, "prompt_id"),
        prompt=call.text(data, "prompt"),
        said=call.text(data, "last_assistant_message") or call.text(data, "prompt_response"),
        cwd=cwd,
        source=call.text(data, "source"),
        within=bool(call.text(data, "agent_id")),
        paths=paths.changed(call.text(data, "tool_name"), call.table(data, "tool_input"), cwd=cwd),
        background=isinstance(tasks, list) and bool(tasks),
        asks=notice in {"", PERMISSION_NOTICE},
        process=call.process(data),
        skipped=call.number(call.table(data, "mufakat"), "skipped"),
    )


def write(asked: Call, answer: Answer) -> dict[str, Any]:
    """The answer in the engine's words; empty where it should go on as if nobody had looked."""
    if answer.block:
        return {"decision": "block", "reason": answer.block}
    if answer.deny and asked.engine == "gemini":
        return {"decision": "deny", "reason": answer.deny}
    if answer.deny:
        denied = {"permissionDecision": "deny", "permissionDecisionReason": answer.deny}
        return {"hookSpecificOutput": {"hookEventName": _event(asked), **denied}}
    if answer.context:
        added = {"hookEventName": _event(asked), "additionalContext": answer.context}
        return {"hookSpecificOutput": added}
    return {}


def _event(asked: Call) -> str:
    events = DIALECTS[asked.engine].events
    return next(name for name, moment in events.items() if moment is asked.moment)
