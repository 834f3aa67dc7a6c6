"""End a whole process tree, also what has left its group, its session or its parents."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress

from mufakat.engines.process import procfs, spawn, support
from mufakat.engines.process.command import Command

SETTLE = 0.5
KILL_WITHIN = 3.0
_STEP = 0.04


class Tree:
    """The processes of one run: its leader, its group and session, its descendants, its mark.

    While the leader lives, orphans below it come back to it and a walk from it is complete. Those
    once seen are remembered, because a leader's end moves them elsewhere.
    Out of reach, when the leader ends by itself: one that leads a session of its own, has emptied
    its environment and was never seen before.
    """

    def __init__(self, child: spawn.Child, command: Command, *, means: support.Support) -> None:
        self.child = child
        self._marks = ((procfs.RUN_MARK, command.run_id), (procfs.HOME_MARK, command.home_id))
        self._means = means
        self._seen: dict[tuple[int, int], procfs.Process] = {}

    def survivors(self) -> list[procfs.Process]:
        """Return all that is alive of the tree besides the leader; empty where nobody can know."""
        leader = self.child.process
        if leader is None:
            return []
        processes = procfs.table()
        roots = {pid for pid, process in processes.items() if self._ours(process, leader)}
        if self._means.subreaper:
            if self.child.exited:
                roots |= procfs.adopted(processes, since=leader.start)
            roots |= procfs.below(roots | {leader.pid}, processes)
        found = [processes[pid] for pid in roots - {leader.pid, os.getpid()}]
        self._seen |= {process.key: process for process in found}
        return [process for process in found if process.alive]

    def signal_all(self, number: signal.Signals) -> None:
        """Signal the group, and one by one what has left it."""
        survivors = self.survivors()
        self.signal_group(number)
        for process in survivors:
            if process.group != self.child.pid:
                procfs.kill(process, number)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the leader's process group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, number)

    def kill_round(self) -> bool:
        """Kill what is alive, the leader last; True when nothing was left to kill.

        The leader is only stopped until then: it starts nothing new, yet keeps adopting.
        """
        if self.child.process is not None and not self.child.exited:
            procfs.kill(self.child.process, signal.SIGSTOP)
        left = self.survivors()
        for process in left:
            procfs.kill(process, signal.SIGKILL)
        if left:
            return False
        self.signal_group(signal.SIGKILL)
        return self.child.exited

    def leftovers(self) -> tuple[int, ...]:
        """Return the pids that nothing could end."""
        leader = () if self.child.exited else (self.child.pid,)
        return (*leader, *(process.pid for process in self.survivors()))

    def reap(self) -> None:
        """Reap what this process has adopted from the tree."""
        procfs.reap_adopted(self._seen.values())
        if self._means.subreaper and self._means.pidfd:
            procfs.reap_adopted(procfs.adopted_zombies())

    def _ours(self, process: procfs.Process, leader: procfs.Process) -> bool:
        if process.key in self._seen or leader.pid in (process.session, process.group):
            return True
        if not self._means.environ_sweep or process.start < leader.start or not process.alive:
            return False
        return all(procfs.mark(process.pid, name) == value for name, value in self._marks)


async def end(tree: Tree, first: signal.Signals, *, grace: float) -> tuple[int, ...]:
    """Climb the ladder: `first` to the group, SIGTERM to all, SIGKILL until none is left.

    Returns the pids that nothing could end, after `grace` plus three seconds at most. Survivors of
    a leader that has already exited get the settling time only. A cancelled task kills at once.
    """
    try:
        if await _asked(tree, first, grace=grace):
            return ()
        return await _kill(tree)
    except BaseException:
        end_now(tree)
        raise


async def _asked(tree: Tree, first: signal.Signals, *, grace: float) -> bool:
    now = asyncio.get_running_loop().time
    until = now() + grace
    # Also while the leader lives: its end would move what it had adopted out of sight.
    survivors = tree.survivors()
    if tree.child.exited:
        if not survivors:
            return True
        until = now() + min(grace, SETTLE)
    elif first != signal.SIGTERM:
        tree.signal_group(first)
        if await _gone(tree, now() + grace / 2):
            return True
    tree.signal_all(signal.SIGTERM)
    return await _gone(tree, until)


def end_now(tree: Tree) -> None:
    """Kill the tree without any grace and without the event loop, within about a second."""
    until = time.monotonic() + 1.0
    try:
        while not tree.kill_round() and time.monotonic() < until:
            time.sleep(_STEP)
    finally:
        tree.signal_group(signal.SIGKILL)


async def _gone(tree: Tree, until: float) -> bool:
    loop = asyncio.get_running_loop()
    with suppress(TimeoutError):
        await asyncio.wait_for(tree.child.wait(), max(0.0, until - loop.time()))
    if not tree.child.exited:
        return False
    until = min(until, loop.time() + SETTLE)
    while tree.survivors():
        if loop.time() >= until:
            return False
        await asyncio.sleep(_STEP)
    return True


async def _kill(tree: Tree) -> tuple[int, ...]:
    loop = asyncio.get_running_loop()
    until = loop.time() + KILL_WITHIN
    clear = _twice(tree.kill_round)
    while not clear():
        if loop.time() >= until:
            # The leader is still only stopped, because something below it cannot be ended.
            tree.signal_group(signal.SIGKILL)
            await asyncio.sleep(_STEP)
            return tree.leftovers()
        await asyncio.sleep(_STEP)
    return ()


def _twice(check: Callable[[], bool]) -> Callable[[], bool]:
    # One look at the process table is not atomic: a child born during it may be missed.
    before = False

    def clear() -> bool:
        nonlocal before
        now = check()
        sure, before = now and before, now
        return sure

    return clear
