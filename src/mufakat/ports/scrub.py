"""The scrub port: secrets leave a text before it enters a pack, a log line or an event."""

from __future__ import annotations

from typing import Protocol

from mufakat.core.secrets import Scrubbed


class Scrub(Protocol):
    """Replaces secrets by typed placeholders."""

    def __call__(self, text: str) -> Scrubbed: ...
