"""A role is what the engine lets its agent do, not what the agent is asked to do."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from engines import running
from engines.real.conftest import Real
from equipment.model_server import server
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Status

pytestmark = [pytest.mark.anyio, pytest.mark.clis]

WRITTEN, TOUCHED = "written.txt", "touched.txt"
EXACT = {
    Permission.READ: set(),
    Permission.RUN: {TOUCHED},
    Permission.WRITE: {WRITTEN},
    Permission.DEVELOP: {WRITTEN, TOUCHED},
}
BOTH = {WRITTEN, TOUCHED}
# Codex's sandbox knows reading and writing, nothing between.
MADE = {
    cli: EXACT if cli != "codex" else {**dict.fromkeys(Permission, BOTH), Permission.READ: set()}
    for cli in running.CLIS
}


def allow_all(bench: running.Bench) -> None:
    """What the user allows the engine in general must not widen a role."""
    home = bench.home.parent / "home"
    rules = {"*": "allow", "bash": {"*": "allow"}, "edit": "allow"}
    configs = {
        ".config/opencode/opencode.json": {
            "permission": rules,
            "agent": {"build": {"permission": rules}},
        },
        ".claude/settings.json": {
            "permissions": {"allow": ["Bash", "Write"], "defaultMode": "acceptEdits"}
        },
        ".gemini/settings.json": {"tools": {"allowed": ["run_shell_command", "write_file"]}},
    }
    for name, data in configs.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), encoding="utf-8")
    path = home / ".codex" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('sandbox_mode = "danger-full-access"\n', encoding="utf-8")


LONG = {("opencode", Permission.RUN), ("opencode", Permission.WRITE)}
CASES = [
    pytest.param(cli, level, marks=[pytest.mark.slow] if (cli, level) in LONG else [])
    for cli in running.CLIS
    for level in Permission
]


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("cli", "permission"), CASES)
async def test_an_agent_can_do_what_its_role_may_and_no_more(
    cli: str, permission: Permission, real: Real, model: server.ModelServer
) -> None:
    bench = real(cli)
    allow_all(bench)
    written = str(bench.project / WRITTEN)
    model.set_script(
        {
            "turns": [
                {"tools": [{"name": "$write", "args": {"file_path": written, "content": "x"}}]},
                {"tools": [{"name": "$shell", "args": {"command": f"touch {TOUCHED}"}}]},
                {"tools": [{"name": "$read", "args": {"file_path": f"{bench.project}/README.md"}}]},
            ],
            "default": {"text": "I tried {{LAST_TOOL_RESULT}}"},
        }
    )
    turn = await bench.turn("Change everything.", permission=permission)
    made = {path.name for path in bench.project.iterdir()} & BOTH
    assert made == MADE[cli][permission]
    assert turn.reply.status is Status.DONE, turn.reply
    assert "PELICAN" in turn.reply.text
    assert turn.left == []


@pytest.mark.parametrize("cli", running.CLIS)
async def test_a_reader_reads_the_project_and_where_the_engine_can_nothing_else(
    cli: str, real: Real, model: server.ModelServer, heard: Callable[[], str]
) -> None:
    bench = real(cli)
    outside = bench.project.parent / "outside.txt"
    outside.write_text("TOUCAN")
    call = {"name": "$read", "args": {"file_path": str(outside)}}
    model.set_script({"turns": [{"tools": [call]}], "default": {"text": "I tried."}})
    turn = await bench.turn("Read it.")
    assert turn.reply.status is Status.DONE, turn.reply
    # Codex's read-only sandbox keeps from writing and from the network, not from reading.
    assert ("TOUCAN" in heard()) is (cli == "codex")
