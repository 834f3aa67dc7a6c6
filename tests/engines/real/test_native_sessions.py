"""The session files of the real CLIs are read as they lie: what was said, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import running
from engines.real.conftest import Real
from equipment.model_server import server
from mufakat.core.talk.turn import Status
from mufakat.retrieval.sessions.claude import Claude
from mufakat.retrieval.sessions.codex import Codex
from mufakat.retrieval.sessions.found import Reader
from mufakat.retrieval.sessions.gemini import Gemini
from mufakat.retrieval.sessions.local import LocalSessions
from mufakat.retrieval.sessions.opencode import OpenCode

pytestmark = [pytest.mark.anyio, pytest.mark.clis]
MARKS = {"claude": "projects", "codex": "sessions", "gemini": "tmp", "opencode": "opencode.db"}
PACK = "<mufakat:platform>\nRules.\n</mufakat:platform>\n---\n"


def reader(cli: str, below: Path) -> Reader:
    """A reader of the folder that the CLI has used, wherever its private home put that."""
    folder = next(place.parent for place in sorted(below.rglob(MARKS[cli])) if fits(cli, place))
    match cli:
        case "claude":
            return Claude(folder)
        case "codex":
            return Codex(folder)
        case "gemini":
            return Gemini(folder)
        case _:
            return OpenCode(folder)


def fits(cli: str, place: Path) -> bool:
    return cli == "opencode" or any(place.rglob("*.jsonl"))


@pytest.mark.parametrize("cli", running.CLIS)
async def test_two_turns_of_a_real_cli_are_read(
    cli: str, real: Real, model: server.ModelServer, tmp_path: Path
) -> None:
    model.set_script({"default": {"text": "Yes, indeed."}})
    bench = real(cli)
    first = await bench.turn(f"{PACK}What is this?")
    again = await bench.turn("And that?", resume=first.reply.session)
    assert (first.reply.status, again.reply.status) == (Status.DONE, Status.DONE)
    sessions = LocalSessions([reader(cli, tmp_path)])
    listed, skips = await sessions.list(bench.project)
    assert not skips
    assert [(one.engine, one.id) for one in listed] == [(cli, again.reply.session)]
    read = await sessions.read(bench.project, listed[0].id)
    assert [(turn.speaker, turn.text) for turn in read.turns] == [
        ("person", "What is this?"),
        (cli, "Yes, indeed."),
        ("person", "And that?"),
        (cli, "Yes, indeed."),
    ]
    assert not (await sessions.list(tmp_path / "elsewhere"))[0]
