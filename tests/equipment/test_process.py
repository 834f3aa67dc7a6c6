"""Running a foreign program: its deadline holds, and nothing of it stays behind."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from equipment import process

# A tool that a CLI started in a session of its own, out of reach of the group's signals.
ORPHAN = f"""
import os, subprocess, sys, time
subprocess.Popen(["sleep", "60"], start_new_session=True,
                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(os.environ["{process.MARK}"], flush=True)
time.sleep(float(sys.argv[1]))
"""

linux_only = pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc")


def orphan(tmp_path: Path, seconds: str, timeout: float) -> process.Finished:
    argv = [sys.executable, "-c", ORPHAN, seconds]
    return process.run(argv, env={}, cwd=tmp_path, timeout=timeout)


def test_input_output_and_exit_code(tmp_path: Path) -> None:
    argv = ["sh", "-c", "cat; echo bad >&2; exit 7"]
    finished = process.run(argv, env={}, cwd=tmp_path, stdin="hi")
    assert (finished.exit_code, finished.stdout, finished.stderr) == (7, "hi", "bad\n")


def test_no_environment_of_the_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert "secret" not in process.run(["env"], env={}, cwd=tmp_path).stdout


@linux_only
def test_the_deadline_ends_the_program_and_its_orphan(tmp_path: Path) -> None:
    finished = orphan(tmp_path, "60", timeout=2.0)
    assert finished.exit_code is None
    assert nothing_marked(finished.stdout.strip())


@linux_only
def test_an_orphan_of_a_program_that_ended_is_ended(tmp_path: Path) -> None:
    finished = orphan(tmp_path, "0", timeout=30.0)
    assert finished.exit_code == 0
    assert nothing_marked(finished.stdout.strip())


@linux_only
def test_twin_without_the_mark_the_orphan_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(process, "end_marked", lambda mark: None)
        mark = orphan(tmp_path, "0", timeout=30.0).stdout.strip()
    assert process.marked(mark)
    process.end_marked(mark)
    assert nothing_marked(mark)


def nothing_marked(mark: str) -> bool:
    assert mark
    for _ in range(100):
        if not process.marked(mark):
            return True
        time.sleep(0.05)
    return False
