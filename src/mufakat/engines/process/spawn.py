"""Start a command through the exec wrapper and hold its leader until it may be reaped.

Spawn from one thread that lives as long as the server (its event loop's): the kernel ends a child
with the thread that started it, not with the process.
"""

import asyncio
import errno
import fcntl
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

from mufakat.engines.process import launch, procfs, stream, support
from mufakat.engines.process.command import Command

_PEEK = 0.05
_WRAPPER = (sys.executable, "-I", "-S", launch.__file__)
_PIPE = 1024 * 1024
"""Bytes that a CLI can have written and not yet read; the most that Linux gives everybody."""


class Child:
    """A started leader: session, group and pid are one number, kept until `reap`.

    Its exit is seen without reaping it, so that the group's number cannot be given away while
    somebody still sends signals to it.
    """

    def __init__(
        self, popen: subprocess.Popen[bytes], status: int, *, means: support.Support
    ) -> None:
        assert popen.stdout is not None
        assert popen.stderr is not None
        self.pid = popen.pid
        self.process = procfs.read(popen.pid) if means.environ_sweep or means.subreaper else None
        _widen(popen.stdout)
        self.stdout = stream.Pipe(popen.stdout)
        self.stderr = stream.Pipe(popen.stderr)
        self.stdin = stream.Pipe(popen.stdin) if popen.stdin else None
        self._popen = popen
        self._status = status
        self._gone = asyncio.Event()
        self._pidfd = os.pidfd_open(popen.pid) if means.pidfd else -1
        if means.pidfd:
            asyncio.get_running_loop().add_reader(self._pidfd, self._note_exit)

    @property
    def exited(self) -> bool:
        """Tell whether the leader has ended, reaped or not."""
        if self._popen.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
        with suppress(ChildProcessError):
            return os.waitid(os.P_PID, self.pid, flags) is not None
        return True

    async def wait(self) -> None:
        """Wait until the leader has ended; it stays a zombie."""
        if self._pidfd >= 0:
            await self._gone.wait()
        while True:
            if self.exited:
                return
            await asyncio.sleep(_PEEK)

    def failure(self, command: Command) -> str:
        """Return why the command itself never ran, '' if it did. Ask after the leader's exit."""
        report = b""
        with suppress(BlockingIOError):
            report = os.read(self._status, 256)
        if report == launch.READY:
            return ""
        stage, _, number = report.removeprefix(launch.READY).decode().partition(" ")
        if not number:
            return "the exec wrapper ended before it could start the command"
        match stage:
            case "chdir":
                return f"cannot enter the directory {command.cwd}: {os.strerror(int(number))}"
            case "exec":
                return reason(command, int(number))
            case _:
                return f"the exec wrapper failed: {os.strerror(int(number))}"

    def reap(self) -> int | None:
        """Reap the leader and close all descriptors; None when it cannot be killed."""
        self._popen.poll()
        for pipe in (self.stdout, self.stderr, self.stdin):
            if pipe is not None:
                pipe.close()
        if self._pidfd >= 0:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
        os.close(self._status)
        return self._popen.returncode

    def _note_exit(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        self._gone.set()


def start(command: Command, means: support.Support) -> Child:
    """Start `command`; OSError or ValueError if not even the wrapper can run."""
    flags = launch.DIE_WITH_PARENT if means.pdeathsig else ""
    flags += launch.ADOPT_ORPHANS if means.subreaper else ""
    # The wrapper's interpreter adds this variable under the C locale.
    flags += "" if "LC_CTYPE" in command.env else launch.DROP_LC_CTYPE
    marks = {procfs.RUN_MARK: command.run_id, procfs.HOME_MARK: command.home_id}
    status, report = os.pipe()
    try:
        os.set_blocking(status, False)
        popen = subprocess.Popen(
            [*_WRAPPER, str(report), str(os.getpid()), flags, str(command.cwd), *command.argv],
            env={**command.env, **marks},
            stdin=subprocess.DEVNULL if command.stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            pass_fds=(report,),
        )
    except (OSError, ValueError):
        os.close(status)
        raise
    finally:
        os.close(report)
    try:
        return Child(popen, status, means=means)
    except OSError:
        os.close(status)
        popen.kill()
        popen.wait()
        raise


def reason(command: Command, number: int) -> str:
    """Return a sentence for the errno with which `command` could not be started."""
    program = command.argv[0] if command.argv else "(no command)"
    match number:
        case errno.ENOENT if "/" in program and Path(command.cwd, program).exists():
            return f"{program}: the interpreter named in its first line is missing"
        case errno.ENOENT | errno.ENOTDIR:
            return f"{program}: file not found"
        case errno.EACCES | errno.EPERM:
            return f"{program}: not executable"
        case errno.ENOEXEC:
            return f"{program}: not a program for this machine"
        case errno.E2BIG:
            return f"{program}: arguments or environment too long; pass long text by stdin"
        case _:
            return f"{program}: {os.strerror(number)}"


def _widen(pipe: IO[bytes]) -> None:
    # Some CLIs exit without waiting for their last writes, and lose what the pipe has no room for.
    with suppress(OSError, AttributeError):
        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)
