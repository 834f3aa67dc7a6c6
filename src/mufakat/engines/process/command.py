"""What one run of an agent CLI is given, and what it comes back with."""

import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

MIB = 1024 * 1024


class Ended(StrEnum):
    """Why a run is over; decided by our own flags, never guessed from an exit code."""

    EXITED = "exited"
    CANCELLED = "cancelled"
    IDLE = "idle"
    DEADLINE = "deadline"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class Command:
    """One process to run. `env` is the child's complete environment; the two marks are added.

    `stdin=None` means the null device. Otherwise the bytes are written while the output is read,
    and the pipe is closed after them; a child that never reads does not hold up the run.
    `first_signal` is what the engine likes to be asked with before SIGTERM.
    """

    argv: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    run_id: str
    home_id: str
    spool: Path
    stdin: bytes | None = None
    first_signal: signal.Signals = signal.SIGTERM


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, sizes in bytes.

    `idle`: no byte on either pipe (the clock stands still while a line is being handled).
    `grace`: all the time between the first signal and SIGKILL.
    `drain`: how long the pipes may stay open after the child itself has exited.
    """

    idle: float
    total: float
    grace: float = 5.0
    line: int = 8 * MIB
    spool: int = 200 * MIB
    drain: float = 2.0


@dataclass(frozen=True, slots=True)
class Oversize:
    """What remains of a line longer than `Limits.line`: length and sha256 without the LF."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end. Of an oversize line, `text` holds the first 4 KiB only.

    Lines of stderr are best effort: when the handler is slow, the older ones are left out.
    """

    text: str
    oversize: Oversize | None = None
    stderr: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended. `exit_code` is negative for a signal; `leftovers` should be empty.

    `why` explains NOT_STARTED, and names what went wrong on our side in any other state.
    """

    ended: Ended
    exit_code: int | None
    leftovers: tuple[int, ...]
    stderr_tail: str
    stdout_bytes: int
    spool: Path
    why: str = ""


OnLine = Callable[[Line], Awaitable[None]]


def environment(
    base: Mapping[str, str], allow: Iterable[str], extra: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables of `base` that `allow` names, then `extra` over them.

    Whatever is not named stays out, so that loader, interpreter, Git and search-tool variables of
    the server or of a project can never steer a child.
    """
    return {name: base[name] for name in allow if name in base} | dict(extra)
