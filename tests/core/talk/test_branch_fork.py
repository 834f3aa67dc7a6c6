"""A session is copied into a branch only where it tells exactly what the branch may know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mufakat.core.base import AgentId
from mufakat.core.talk import branch_fork
from mufakat.core.talk.branch_fork import Fork, Source
from mufakat.core.talk.session import Fresh, Place, Session

HERE = Place("/project", "main", "c0ffee")
STORED = Session(AgentId("a1"), "claude", "s-1", "sonnet", HERE)
SOURCE = Source(STORED, 4, True)


def decide(source: Source = SOURCE, **change: Any) -> Fork | Fresh:
    facts = {"engine": "claude", "model": "sonnet", "able": True} | change
    return branch_fork.decide(source, facts.pop("here", HERE), **facts)


def test_a_session_that_ends_at_the_checkpoint_is_copied() -> None:
    assert decide() == Fork(STORED, "forked from the parent's session, which ends at m:4")


@pytest.mark.parametrize(
    ("source", "facts", "why"),
    [
        (SOURCE, {"able": False}, "claude cannot fork sessions"),
        (replace(SOURCE, session=None), {}, "its engine has no session in the parent"),
        (replace(SOURCE, ends_there=False), {}, "the parent's session does not end at m:4"),
        (SOURCE, {"model": "opus"}, "model was sonnet, is opus"),
        (SOURCE, {"here": replace(HERE, branch="topic")}, "branch was main, is topic"),
        (SOURCE, {"here": replace(HERE, cwd="/other")}, "folder was /project, is /other"),
        (
            SOURCE,
            {"here": replace(HERE, head="decade"), "head_is_ancestor": False},
            "commit c0ffee is no longer in this branch's history",
        ),
    ],
)
def test_every_refusal_says_why(source: Source, facts: dict[str, Any], why: str) -> None:
    refused = decide(source, **facts)
    assert isinstance(refused, Fresh)
    assert refused.why == f"first turn of this agent in the branch; not forked: {why}"
