"""What a caller asks for when it wants a lease, and the limits that need no look at the store."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import InvalidInput
from mufakat.core.coordination.lease import DEFAULT_TTL, MAX_TTL, MAX_WAIT, MIN_TTL, RESOURCES, Mode

REASON_CHARS = 1_000
NEXT_STEP_CHARS = 4_000
SLOTS = 1_024
TTL_SECONDS = DEFAULT_TTL / 1000


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it comes in; times in seconds."""

    resources: tuple[str, ...]
    """Keys `kind:name`."""
    mode: str = Mode.EXCLUSIVE
    slots: int = 1
    ttl_seconds: float = TTL_SECONDS
    wait_seconds: float = 0
    """How long to stand in the queue."""
    reason: str = ""
    next_step: str = ""
    deputy: str = ""
    """Who gets it first when the holder is gone."""
    rank: int | None = None
    """The class to ask in; the policy's own may be lower."""


def check(request: Request) -> None:
    """Refuse what can never be granted; raises InvalidInput that names the member."""
    if not 0 < len(request.resources) <= RESOURCES:
        raise InvalidInput(f"Give 1 to {RESOURCES} resources.")
    if request.mode not in set(Mode):
        raise InvalidInput(f"There is no mode {request.mode!r}.", fix=f"Use {', '.join(Mode)}.")
    most = SLOTS if request.mode == Mode.EXCLUSIVE else 1
    if not 1 <= request.slots <= most:
        raise InvalidInput(
            f"{request.slots} slots are out of range.",
            fix=f"Give 1 to {SLOTS}, and none together with mode shared.",
        )
    milliseconds(request.ttl_seconds)
    # A comparison that NaN fails.
    if not 0 <= request.wait_seconds <= MAX_WAIT / 1000:
        raise InvalidInput(f"A wait is 0 to {MAX_WAIT // 1000} seconds.")
    if request.rank is not None and not 0 <= request.rank <= 3:
        raise InvalidInput(f"There is no class {request.rank}.", fix="Give 0 to 3.")
    if len(request.reason) > REASON_CHARS or len(request.next_step) > NEXT_STEP_CHARS:
        raise InvalidInput(
            "The reason or the next step is too long.",
            fix=f"Give at most {REASON_CHARS} and {NEXT_STEP_CHARS} characters.",
        )


def milliseconds(ttl_seconds: float) -> int:
    """A ttl in milliseconds; raises InvalidInput where it is out of range."""
    if not MIN_TTL / 1000 <= ttl_seconds <= MAX_TTL / 1000:
        raise InvalidInput(f"A ttl is {MIN_TTL // 1000} to {MAX_TTL // 1000} seconds.")
    return round(ttl_seconds * 1000)
