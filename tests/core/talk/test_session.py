"""A session is resumed only where it belongs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mufakat.core.base import AgentId
from mufakat.core.talk import session
from mufakat.core.talk.session import Fresh, Place, Resume, Session

HERE = Place("/project", "main", "c0ffee")
STORED = Session(AgentId("a1"), "claude", "s-1", "sonnet", HERE)


def decide(stored: Session | None = STORED, here: Place = HERE, **change: Any) -> Resume | Fresh:
    facts = {"engine": "claude", "model": "sonnet", "can_resume": True} | change
    return session.decide(stored, here, **facts)


def test_a_session_that_belongs_here_is_resumed() -> None:
    assert decide() == Resume(STORED)


def test_new_commits_on_top_are_fine() -> None:
    assert decide(here=replace(HERE, head="decade")) == Resume(STORED)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"stored": None}, "first turn of this agent"),
        ({"stored": replace(STORED, id="")}, "first turn of this agent"),
        ({"wanted": False}, "a fresh session was asked for"),
        ({"can_resume": False}, "claude cannot resume sessions"),
        ({"engine": "codex"}, "engine was claude, is codex"),
        ({"model": ""}, "model was sonnet, is none"),
        ({"here": replace(HERE, cwd="/other")}, "folder was /project, is /other"),
        ({"here": replace(HERE, branch="dev")}, "branch was main, is dev"),
        (
            {"here": replace(HERE, head="decade"), "head_is_ancestor": False},
            "commit c0ffee is no longer in this branch's history",
        ),
    ],
)
def test_every_refusal_says_why(facts: dict[str, Any], why: str) -> None:
    assert decide(**facts) == Fresh(why)


def test_a_folder_without_git_is_a_place_too() -> None:
    bare = Place("/project")
    assert decide(replace(STORED, place=bare), bare) == Resume(replace(STORED, place=bare))
