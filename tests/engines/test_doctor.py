"""Probing a CLI: no model, no secret, once per program, and probes do not end each other."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from engines import running
from mufakat.engines.cli import program
from mufakat.ports.engine import Options

pytestmark = pytest.mark.anyio

CREDENTIALS = {
    "claude": ".claude/.credentials.json",
    "codex": ".codex/auth.json",
    "gemini": ".gemini/oauth_creds.json",
    "opencode": ".local/share/opencode/auth.json",
}
KEYS = {
    "claude": "ANTHROPIC_API_KEY",
    "codex": "CODEX_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "opencode": "OPENROUTER_API_KEY",
}


def fake(place: Path, name: str, body: str = "echo 'tool 1.2.3 (x)'") -> Path:
    path = place / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\necho called >> {place}/calls\n{body}\n")
    path.chmod(0o755)
    return path


def bench(place: Path, cli: str, **environ: str) -> running.Bench:
    path = f"{place}/bin{os.pathsep}{os.environ['PATH']}"
    return running.bench(cli, place, Options(), PATH=path, **environ)


@pytest.mark.parametrize("cli", running.CLIS)
async def test_path_version_and_login_are_found(cli: str, tmp_path: Path) -> None:
    path = fake(tmp_path, cli)
    probe = await bench(tmp_path, cli).engine.probe()
    assert (probe.available, probe.path, probe.version) == (True, str(path), "1.2.3")
    assert probe.login == "missing" and probe.problem and probe.fix
    assert (await bench(tmp_path, cli, **{KEYS[cli]: "k"}).engine.probe()).login == "ok"


@pytest.mark.parametrize("cli", running.CLIS)
async def test_a_login_is_seen_without_being_read(cli: str, tmp_path: Path) -> None:
    """The credential is a pipe without a writer: whoever opened it would wait for ever."""
    fake(tmp_path, cli)
    credential = tmp_path / "home" / CREDENTIALS[cli]
    credential.parent.mkdir(parents=True)
    os.mkfifo(credential)
    probe = await asyncio.wait_for(bench(tmp_path, cli).engine.probe(), 30)
    assert probe.login == "ok" and not probe.problem


async def test_a_program_is_asked_again_only_when_it_has_changed(tmp_path: Path) -> None:
    path = fake(tmp_path, "codex")
    for _ in range(3):
        assert (await bench(tmp_path, "codex").engine.probe()).version == "1.2.3"
    assert (tmp_path / "calls").read_text().count("called") == 1
    fake(tmp_path, "codex", "echo codex 22.0.0")
    os.utime(path, (1, 1))
    assert (await bench(tmp_path, "codex").engine.probe()).version == "22.0.0"


async def test_a_program_that_says_nothing_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "SECONDS", 0.5)
    fake(tmp_path, "codex", "sleep 60")
    probe = await bench(tmp_path, "codex").engine.probe()
    assert not probe.available and probe.problem and probe.fix


async def test_probes_at_the_same_time_do_not_end_each_other(tmp_path: Path) -> None:
    for number, cli in enumerate(running.CLIS):
        fake(tmp_path, cli, f"sleep 0.{number}; echo {cli} 1.2.{number}; echo ' --tools'")
    probes = await asyncio.gather(*(bench(tmp_path, cli).engine.probe() for cli in running.CLIS))
    assert [probe.version for probe in probes] == [f"1.2.{n}" for n in range(4)]


async def test_twin_with_one_mark_for_all_they_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Same:
        hex = "same"

    monkeypatch.setattr(program.uuid, "uuid4", lambda: Same)
    for number, cli in enumerate(running.CLIS):
        fake(tmp_path, cli, f"sleep {number * 1.5} && echo {cli} 1.2.{number} --tools")
    probes = await asyncio.gather(*(bench(tmp_path, cli).engine.probe() for cli in running.CLIS))
    assert [probe.version for probe in probes] != [f"1.2.{n}" for n in range(4)]


async def test_claudes_options_are_those_its_help_names(tmp_path: Path) -> None:
    path = fake(tmp_path, "claude", "echo 'claude 2.0.0  --tools <x>  --not-a---flag'")
    asker = program.Asker(tmp_path / "kept", home_mark="h", help=("--help",))
    about = await asker.about(str(path), {"PATH": os.environ["PATH"]})
    assert "--tools" in about.flags and about.version == "2.0.0"
    assert await asker.about(str(path), {}) == about
