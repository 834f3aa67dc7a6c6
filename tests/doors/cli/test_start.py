"""The command starts fast: nothing heavy is imported before it is needed."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from equipment.command import Mufakat

HEAVY = {"asyncio", "pydantic", "fastapi", "uvicorn", "sqlalchemy", "http.client", "mufakat.app"}
BUDGET = 0.060
MARGIN = 3


def imported(own: Mufakat, *words: str) -> set[str]:
    argv = [sys.executable, "-X", "importtime", *own.argv(*words)[1:]]
    ended = subprocess.run(
        argv, cwd=own.project, env=own.environment(), capture_output=True, check=True, text=True
    )
    return {line.rpartition("|")[2].strip() for line in ended.stderr.splitlines()}


@pytest.mark.parametrize("words", [("--version",), (), ("--help",), ("ask", "--help")])
def test_help_imports_nothing_heavy(own: Mufakat, words: tuple[str, ...]) -> None:
    heavy = HEAVY - ({"http.client"} if "ask" in words else set())
    assert not imported(own, *words) & heavy


def test_a_client_command_imports_no_server(shared: Mufakat) -> None:
    assert not imported(shared, "ask", "x", "-a", "scripted") & (HEAVY - {"http.client"})


def test_version_costs_little_cpu(own: Mufakat) -> None:
    own.run("--version")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(5):
        own.run("--version")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{spent / 5 * 1000:.0f} ms CPU a run")
    assert spent / 5 < BUDGET * MARGIN


def test_version_and_help(own: Mufakat) -> None:
    assert own.run("--version").out.startswith("mufakat 0.")
    alone = own.run()
    assert (alone.code, alone.err) == (0, "")
    assert alone.out == own.run("--help").out
    assert "ask " in alone.out
    assert not own.home.exists(), "help makes no home"


def test_without_stdin_nothing_is_asked(own: Mufakat) -> None:
    found = own.run("ask")
    assert found.code == 2


def test_old_locale(shared: Mufakat) -> None:
    found = shared.run(
        "ask", "Grüße €", "-a", "scripted", "--no-json", LC_ALL="C", PYTHONIOENCODING="ascii"
    )
    assert found.code == 0, found.err
    assert "scripted demo engine" in found.out


def test_nobody_reads_the_output(shared: Mufakat) -> None:
    command = " ".join(f"'{word}'" for word in shared.argv("events"))
    ended = subprocess.run(
        ["sh", "-c", f"{command} | head -n 1"],
        cwd=shared.project,
        env=shared.environment(),
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in ended.stderr
    assert Path(shared.home).exists()
