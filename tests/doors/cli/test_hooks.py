"""`mufakat hooks` as a person uses it, on files of a temporary home."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from equipment import command, hook_server
from equipment.command import Mufakat

ENGINES = ("claude", "codex", "gemini", "opencode")


@pytest.fixture
def mufakat(tmp_path: Path) -> Mufakat:
    return command.fresh(tmp_path)


def run(mufakat: Mufakat, *words: str, **environ: str) -> list[dict[str, Any]]:
    outcome = mufakat.run("hooks", *words, "--json", **environ)
    assert outcome.code == 0, outcome.err
    return outcome.json["items"]


def test_install_list_and_remove(mufakat: Mufakat, tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model":"opus"}')
    assert [row["state"] for row in run(mufakat, "install", "claude")] == ["installed"]
    assert [row["state"] for row in run(mufakat, "install", "claude")] == ["unchanged"]
    listed = {(row["engine"], row["scope"]): row for row in run(mufakat, "list")}
    assert len(listed) == 8
    assert listed["claude", "user"]["state"] == "installed"
    assert listed["claude", "user"]["path"] == str(settings)
    assert "Stop" in listed["claude", "user"]["events"]
    assert [row["state"] for row in run(mufakat, "remove")].count("removed") == 1
    assert settings.read_text() == '{"model":"opus"}'


def test_a_project_of_its_own(mufakat: Mufakat) -> None:
    for engine in ENGINES:
        assert [row["scope"] for row in run(mufakat, "install", engine, "--project")] == ["project"]
    made = {
        path.relative_to(mufakat.project).as_posix()
        for path in mufakat.project.rglob("*")
        if path.is_file()
    }
    assert made == {
        "README.md",
        ".claude/settings.local.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".opencode/plugin/mufakat.js",
    }
    run(mufakat, "remove", "--project")
    assert [path.name for path in mufakat.project.iterdir()] == ["README.md"]


def test_without_a_name_every_engine_on_path(mufakat: Mufakat, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("codex", "gemini"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    rows = run(mufakat, "install", PATH=str(folder))
    assert [row["engine"] for row in rows] == ["codex", "gemini"]
    outcome = mufakat.run("hooks", "install", "--json", PATH=str(tmp_path))
    assert outcome.code == 5


def test_a_broken_file_is_named(mufakat: Mufakat, tmp_path: Path) -> None:
    settings = tmp_path / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"a": 1,\n  oops}')
    outcome = mufakat.run("hooks", "install", "gemini", "--json")
    assert outcome.code == 2
    assert str(settings) in outcome.error["message"]
    assert "line 2" in outcome.error["message"]


def test_the_installed_command_works(mufakat: Mufakat, tmp_path: Path) -> None:
    run(mufakat, "install", "claude")
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    line = hooks["Stop"][0]["hooks"][0]["command"]
    words = shlex.split(line)
    assert words[:3] == [sys.executable, "-I", "-S"]
    assert words[4:] == ["claude", "stop", str(mufakat.home)]
    with hook_server.running() as server:
        server.settle(mufakat.home)
        server.answer = b'{"decision":"block","reason":"x"}'
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            input=b'{"session_id":"s"}',
            env={"HOME": str(tmp_path)},
            capture_output=True,
            check=True,
        )
    assert done.stdout == server.answer


def test_the_usual_home_is_not_told(mufakat: Mufakat, tmp_path: Path) -> None:
    usual = Mufakat(tmp_path / ".local" / "share" / "mufakat", mufakat.project)
    environ = {"HOME": str(tmp_path)}
    assert usual.run("hooks", "install", "claude", "--json", **environ).code == 0
    text = (tmp_path / ".claude" / "settings.json").read_text()
    assert 'claude stop"' in text


def test_guards_of_a_repository(mufakat: Mufakat) -> None:
    subprocess.run(["git", "init", "-q", str(mufakat.project)], check=True)
    assert {Path(row["path"]).name for row in run(mufakat, "install", "git")} == {
        "pre-commit",
        "pre-push",
    }
    assert len(run(mufakat, "list", "git")) == 2
    assert len(run(mufakat, "remove", "git")) == 2
    assert run(mufakat, "list", "git") == []


def test_doctor_fires_what_is_installed(mufakat: Mufakat, tmp_path: Path) -> None:
    for engine in ("claude", "opencode"):
        run(mufakat, "install", engine)
    run(mufakat, "install", "codex", "--project")
    try:
        found = mufakat.run("doctor", "--json")
        assert found.code == 0, found.out
        rows = {row["engine"]: row for row in found.json["hooks"]}
        assert set(rows) == {"claude", "opencode", "codex"}
        assert [row["problem"] for row in rows.values()] == ["", "", ""]
        assert "claude (user): arrive" in mufakat.run("doctor", "--no-json").out
        settings = tmp_path / ".claude" / "settings.json"
        settings.write_text(settings.read_text().replace("-I -S", "-I -S /nowhere", 1))
        broken = mufakat.run("doctor", "--json")
        assert broken.code == 1
        assert [row["what"] for row in broken.json["broken"]] == ["hooks of claude"]
        assert broken.json["broken"][0]["fix"] == "mufakat hooks install claude"
        # A trial joins nobody, and leaves nothing behind.
        assert not any(one["engine"] == "claude" for one in mufakat.client.get("/agents")["items"])
        assert not (mufakat.home / "hooks" / "skipped.jsonl").exists()
    finally:
        mufakat.kill()
