"""The map of a pack: every section in order, what changes least first."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.coordination import digest
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import coordination, identity, participants, platform, project, role

HISTORY = "history"
EARLIER = "earlier"
PROMPT = "prompt"


def _by_window(_: Facts) -> Sequence[Item]:
    """History is not a list of items: the window in core.pack.history chooses it."""
    return ()


SECTIONS: tuple[Section, ...] = (
    Section(
        "platform", 0, platform.render, fixed=True, about="the rules of the room, a reviewed file"
    ),
    Section(
        "project",
        0,
        project.render,
        fixed=True,
        about="name, path, stack, branch, convention files, and what could not be had",
    ),
    Section(
        "role", 0, role.render, weight=2.0, floor=1_500, ceiling=4_200, about="the role document"
    ),
    Section(
        "identity", 0, identity.render, fixed=True, about="who the agent is and what it may do"
    ),
    Section(
        HISTORY,
        0,
        _by_window,
        weight=3.0,
        about="the window: newest messages, every agent's last one, gaps marked",
    ),
    Section(
        "participants",
        0,
        participants.render,
        floor=200,
        ceiling=1_000,
        about="the other agents of the conversation and one line of their last message",
    ),
    Section(
        coordination.KIND,
        1,
        coordination.render,
        floor=digest.TOOL_BUDGET,
        ceiling=digest.TOOL_BUDGET,
        about="mail for the agent, news of its threads, leases and notices; where there are any",
    ),
    Section(
        EARLIER,
        0,
        _by_window,
        about="messages just before the window, in the room that is left",
    ),
)
"""The prompt comes last; it is never cut and is no section of the pack text."""

MUTABLE = frozenset({"history", "participants", "coordination", "earlier", "role"})
"""Sections that a request may leave out."""
HISTORY_FLOOR = 0.4
"""Share of what is not fixed that history gets at least."""
