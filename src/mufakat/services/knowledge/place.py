"""The project that a question about knowledge is asked in; an agent asks in its own alone."""

from __future__ import annotations

from mufakat.core.base import InvalidInput, NotAllowed
from mufakat.core.coordination.principal import Principal
from mufakat.core.talk.conversation import Project
from mufakat.ports.store import Transaction
from mufakat.services.coordination import rooms


def of(tx: Transaction, by: Principal, name: str) -> Project:
    """The project of that id or path, else the caller's own; raises NotAllowed or InvalidInput."""
    own = tx.instances.get(by.identity) if by.identity else None
    found = rooms.project_of(tx, name, own)
    if found is None:
        raise InvalidInput("No project is named.", fix="Give `project`: its id or its folder.")
    if not by.operator and (own is None or found.id != own.project):
        raise NotAllowed("An agent may read its own project alone.", fix="Ask for your own.")
    return found
