"""Processes as /proc shows them, named by pid and start time so that a reused pid is no danger."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
RUN_MARK = "MUFAKAT_RUN_ID"
HOME_MARK = "MUFAKAT_HOME_ID"

STAT_BYTES = 4096
"""More than any row of the process table has."""

_DEAD = "ZX"
# Anything else, such as too many open files, must not pass for an empty process table.
_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


@dataclass(frozen=True, slots=True)
class Process:
    """One row of the process table; `start` in clock ticks since boot."""

    pid: int
    start: int
    parent: int
    group: int
    session: int
    state: str

    @property
    def alive(self) -> bool:
        """Tell whether it can still do anything; a zombie cannot."""
        return self.state not in _DEAD

    @property
    def key(self) -> tuple[int, int]:
        """Return what names this process for as long as the machine is up."""
        return (self.pid, self.start)


def read(pid: int) -> Process | None:
    """Return the process `pid`, a zombie included, or None."""
    try:
        stat = _first_bytes(f"{PROC}/{pid}/stat")
    except _GONE:
        return None
    # The name in parentheses may itself hold spaces and parentheses.
    state, *numbers = stat.rpartition(b")")[2].split()
    parent, group, session = (int(number) for number in numbers[:3])
    return Process(pid, int(numbers[18]), parent, group, session, state.decode())


def _first_bytes(path: str) -> bytes:
    # A table is some hundred of these, twice a turn: a Path and a file object cost more than
    # the read.
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, STAT_BYTES)
    finally:
        os.close(handle)


def table() -> dict[int, Process]:
    """Return every process that can be seen, by pid."""
    return {process.pid: process for pid in _pids() if (process := read(pid))}


def below(roots: Iterable[int], processes: dict[int, Process]) -> set[int]:
    """Return the pids of all descendants of `roots`, without the roots."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    frontier = list(roots)
    while frontier:
        new = [child for pid in frontier for child in children.get(pid, ()) if child not in found]
        found.update(new)
        frontier = new
    return found


def above(pid: int, processes: dict[int, Process]) -> set[int]:
    """Return `pid` and the pids of its ancestors."""
    found: set[int] = set()
    while pid in processes and pid not in found:
        found.add(pid)
        pid = processes[pid].parent
    return found


def mark(pid: int, name: str) -> str | None:
    """Return the value of the environment variable `name` at the start of `pid`."""
    try:
        environ = (PROC / str(pid) / "environ").read_bytes()
    except _GONE:
        return None
    prefix = name.encode() + b"="
    if prefix not in environ:
        return None
    for entry in environ.split(b"\0"):
        if entry.startswith(prefix):
            return entry[len(prefix) :].decode(errors="replace")
    return None


def kill(process: Process, number: signal.Signals) -> None:
    """Send a signal to exactly this process; nothing happens when it is gone."""
    with suppress(ProcessLookupError, PermissionError):
        handle = _handle(process.pid)
        try:
            if not _same(process):
                return
            if handle is None:
                os.kill(process.pid, number)
            else:
                signal.pidfd_send_signal(handle, number)
        finally:
            if handle is not None:
                os.close(handle)


def adopted(processes: dict[int, Process], *, since: int) -> set[int]:
    """Return the pids that came to us from a dead leader, by what no child of our own can be.

    Our own children share our session or lead one. Not even a mark is needed to tell.
    """
    us = processes.get(os.getpid())
    return {
        process.pid
        for process in processes.values()
        if us is not None
        and process.parent == us.pid
        and process.session not in (us.session, process.pid)
        and process.start >= since
    }


def adopted_zombies() -> list[Process]:
    """Return zombies that came to us from below; a child of our own shares our session."""
    if not _a_child_has_ended():
        return []
    us = read(os.getpid())
    return [
        process
        for process in table().values()
        if us is not None
        and process.state == "Z"
        and process.parent == us.pid
        and process.session != us.session
    ]


def _a_child_has_ended() -> bool:
    """Tell whether any child is a zombie, without reaping it."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def reap_adopted(processes: Iterable[Process]) -> None:
    """Reap those of `processes` that are zombies of ours, but no run's leader.

    Always pid by pid, and never one that a pidfd of ours is held on: a wait for any child would
    steal an exit status that somebody waits for.
    """
    zombies = [process.pid for process in processes if _same(process, state="Z")]
    held = _held() if zombies else set()
    for pid in zombies:
        if pid not in held:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _held() -> set[int]:
    held = set()
    for entry in (PROC / "self" / "fdinfo").iterdir():
        with suppress(OSError):
            for line in entry.read_text().splitlines():
                if line.startswith("Pid:"):
                    held.add(int(line.split()[1]))
    return held


def _pids() -> Iterator[int]:
    return (int(name) for name in os.listdir(PROC) if name.isdigit())  # noqa: PTH208


def _handle(pid: int) -> int | None:
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        return None


def _same(process: Process, *, state: str = "") -> bool:
    now = read(process.pid)
    return now is not None and now.start == process.start and now.state.startswith(state)
