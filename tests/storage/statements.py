"""Every module of storage whose statements run on records, for tests that look at all of them."""

from __future__ import annotations

from types import ModuleType

from mufakat.storage import (
    agents,
    conversations,
    credentials,
    cursors,
    envelopes,
    events,
    gates,
    inbox,
    instances,
    keys,
    leases,
    members,
    messages,
    notices,
    packs,
    projects,
    reactions,
    rooms,
    turns,
    waiters,
)

MODULES: tuple[ModuleType, ...] = (
    agents,
    conversations,
    credentials,
    cursors,
    envelopes,
    events,
    gates,
    inbox,
    instances,
    keys,
    leases,
    members,
    messages,
    notices,
    packs,
    projects,
    reactions,
    rooms,
    turns,
    waiters,
)
