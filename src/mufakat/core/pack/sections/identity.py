"""Section `identity`: who the agent is and what it may do."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution, Trust
from mufakat.core.talk.agent import Permission

MAY = {
    Permission.READ: "read files and search; you cannot change anything",
    Permission.RUN: "read files and run commands; you do not edit files",
    Permission.WRITE: "read and edit files of the project",
    Permission.DEVELOP: "read and edit files of the project and run commands",
}


def render(facts: Facts) -> Sequence[Item]:
    """One item: identity, role and permission."""
    body = (
        f"you are: {facts.identity}\nrole: {facts.role.name}\nyou may: {MAY[facts.role.permission]}"
    )
    return [Item("identity", "store", Trust.PLATFORM, ((Resolution.FULL, body),))]
