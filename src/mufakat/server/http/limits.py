"""How much one client may send and hold; arguments, so that tests need not wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes, times in seconds."""

    body_bytes: int = 1024 * 1024
    body_seconds: float = 30
    """For the whole body, and for the whole head of a request."""
    header_bytes: int = 16 * 1024
    url_bytes: int = 8 * 1024
    streams: int = 32
    """Open event streams of one token."""
    waits: int = 64
    """Requests of one token that wait: for a lease, for mail, for agents."""
    stuck_seconds: float = 60
    """A stream whose reader takes nothing for so long is cut."""
    ping_seconds: float = 15
    progress_seconds: float = 5
    progress_events: int = 1000
    """Events skipped by a filter after which the reader is told a newer cursor."""
