"""The dialect of our own plugin in OpenCode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mufakat.core.coordination.hooks import Moment
from mufakat.server.hooks import call, paths
from mufakat.server.hooks.call import Answer, Call

ENGINE = "opencode"


def read(moment: Moment, data: Mapping[str, Any]) -> Call:
    """A call of the plugin."""
    cwd = call.text(data, "cwd")
    return Call(
        ENGINE,
        moment,
        session=call.text(data, "session_id"),
        turn=call.text(data, "turn_id"),
        prompt=call.text(data, "prompt"),
        said=call.text(data, "last_assistant_message"),
        cwd=cwd,
        source=call.text(data, "source"),
        within=bool(call.text(data, "agent_id")),
        paths=paths.changed(call.text(data, "tool_name"), call.table(data, "tool_input"), cwd=cwd),
        process=call.process(data),
        skipped=call.number(call.table(data, "mufakat"), "skipped"),
    )


def write(answer: Answer) -> dict[str, Any]:
    """The answer in the plugin's words."""
    said = {"block": answer.block, "deny": answer.deny, "context": answer.context}
    return {name: words for name, words in said.items() if words}
