"""Running one foreign program with a deadline, and leaving nothing of it behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "MUFAKAT_TEST_RUN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What a program left: `exit_code` is None when the deadline ended it."""

    exit_code: int | None
    stdout: str
    stderr: str


def run(
    argv: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdin: str = "",
    timeout: float = 60.0,
) -> Finished:
    """Run in an own process group; after `timeout` seconds the group is killed.

    The environment is `env` plus PATH and a few fixed names: nothing of the caller's leaks in.
    """
    mark = uuid.uuid4().hex
    full = {**base_env(), **env, MARK: mark}
    with subprocess.Popen(
        [str(word) for word in argv],
        env=full,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        late = False
        try:
            out, err = process.communicate(stdin.encode(), timeout)
        except subprocess.TimeoutExpired:
            late = True
            _kill_group(process.pid)
            end_marked(mark)
            out, err = process.communicate()
    end_marked(mark)
    return Finished(
        exit_code=None if late else process.returncode,
        stdout=out.decode("utf-8", "replace"),
        stderr=err.decode("utf-8", "replace"),
    )


def base_env() -> dict[str, str]:
    """The environment every program gets."""
    path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    return {"PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def end_marked(mark: str) -> None:
    """Kill what still carries the mark: some CLIs run tools in sessions of their own."""
    for pid in marked(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> list[int]:
    """Living processes that inherited the mark; none where there is no /proc."""
    needle = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if needle in (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found
