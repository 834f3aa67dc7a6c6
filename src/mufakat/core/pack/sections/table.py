"""The map of a pack: every section in order, what changes least first."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.coordination import digest
from mufakat.core.pack.conditions import Conditions
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item
from mufakat.core.pack.mode import Mode
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import (
    branch,
    code,
    coordination,
    docs,
    findings,
    graph,
    identity,
    linked,
    memory,
    participants,
    platform,
    positions,
    project,
    pulling,
    retrieval,
    role,
    roundtable,
    skills,
    skills_index,
)

HISTORY = "history"
EARLIER = "earlier"
PROMPT = "prompt"


def _by_window(_: Facts) -> Sequence[Item]:
    """History is not a list of items: the window in core.pack.history chooses it."""
    return ()


def _code_question(conditions: Conditions) -> str:
    return conditions.code_question


def _review_or_code_question(conditions: Conditions) -> str:
    return conditions.review or conditions.code_question


def _in_a_branch(conditions: Conditions) -> str:
    return conditions.branch


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
        "skills-index",
        0,
        skills_index.render,
        ceiling=400,
        about="names and one line of every skill; the bodies are pulled",
    ),
    Section(
        branch.KIND,
        0,
        branch.render,
        since=None,
        when=_in_a_branch,
        weight=0.8,
        floor=300,
        ceiling=2_000,
        about="in a branch: the checkpoint and what was said before it, nothing of what came later",
    ),
    Section(
        roundtable.KIND,
        0,
        roundtable.render,
        fixed=True,
        about="for a seat: the rules of its roundtable, its place, the question, people's remarks",
    ),
    Section(
        "memory",
        1,
        memory.render,
        since=Mode.STANDARD,
        weight=1.0,
        floor=500,
        ceiling=4_000,
        about="topics of the conversation so far, attributed, with the messages they come from",
    ),
    Section(
        findings.KIND,
        1,
        findings.render,
        weight=1.0,
        floor=500,
        ceiling=3_000,
        about="what roundtables agreed on, what is open, who dissents; where there is any",
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
        "retrieval",
        1,
        retrieval.render,
        since=Mode.STANDARD,
        weight=1.2,
        floor=500,
        ceiling=5_000,
        about="what was said about it before: who, when, in which conversation",
    ),
    Section(
        "code",
        1,
        code.render,
        since=None,
        when=_code_question,
        weight=0.8,
        floor=500,
        ceiling=3_000,
        about="places in the code: path and lines, symbol, text; for a code question",
    ),
    Section(
        "graph",
        1,
        graph.render,
        since=None,
        when=_review_or_code_question,
        weight=0.8,
        floor=300,
        ceiling=2_000,
        about="callers, tests and reach of what is touched; for a review or a code question",
    ),
    Section(
        "skills",
        2,
        skills.render,
        since=Mode.FULL,
        weight=1.0,
        floor=500,
        ceiling=3_000,
        about="bodies of skills",
    ),
    Section(
        "docs",
        2,
        docs.render,
        since=None,
        weight=0.8,
        floor=500,
        ceiling=3_000,
        about="documents of libraries; always pulled",
    ),
    Section(
        "linked-sessions",
        2,
        linked.render,
        since=Mode.FULL,
        weight=0.6,
        floor=300,
        ceiling=3_000,
        about="sessions linked to this conversation",
    ),
    Section(
        positions.KIND,
        0,
        positions.render,
        weight=4.0,
        floor=2_000,
        about="for a seat: where the claims stand, and what each seat said in the rounds before",
    ),
    Section(
        pulling.KIND,
        0,
        pulling.render,
        floor=480,
        ceiling=1_200,
        about="how more is pulled, with the mark of this run's requests; sources that failed",
    ),
    Section(
        EARLIER,
        0,
        _by_window,
        about="messages just before the window, in the room that is left",
    ),
)
"""The prompt comes last; it is never cut and is no section of the pack text."""

MUTABLE = frozenset(
    {
        branch.KIND,
        "history",
        "participants",
        "coordination",
        "earlier",
        "role",
        "skills-index",
        "memory",
        "retrieval",
        "code",
        "graph",
        "skills",
        "docs",
        "linked-sessions",
        findings.KIND,
    }
)
"""Sections that a request may leave out."""
ADAPTIVE = frozenset({"memory", "retrieval", "code", "graph", "skills", "linked-sessions"})
"""Sections whose use decides whether they are pushed; documents are always pulled."""
HISTORY_FLOOR = 0.4
"""Share of what is not fixed that history gets at least."""
