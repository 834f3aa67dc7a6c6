"""How long to wait before another try: 50 ms to 5 s with full jitter, at most five tries."""

from __future__ import annotations

from collections.abc import Callable

TRIES = 5
BASE = 0.05
CAP = 5.0


def pause(failures: int, draw: Callable[[], float], *, asked: float | None = None) -> float:
    """Seconds to wait after the given number of failures (1 or more).

    `draw` answers a number from 0 to 1. `asked` is the server's own wish (`Retry-After`); it is
    kept up to the cap.
    """
    if asked is not None:
        return min(CAP, max(0.0, asked))
    return draw() * min(CAP, BASE * 2.0 ** max(0, failures - 1))
