"""Sources in parallel, each in its time, and never silently empty."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mufakat.core import secrets
from mufakat.core.base import NotFound
from mufakat.core.knowledge.found import Found
from mufakat.services.knowledge.gathering import Gathering, Subject

pytestmark = pytest.mark.anyio
HERE = Subject(Path("/"), "where is it")


async def good(subject: Subject) -> Sequence[Found]:
    return [Found("a", "code", "a", subject.text)]


async def late(subject: Subject) -> Sequence[Found]:
    await asyncio.sleep(60)
    return []


async def refusing(subject: Subject) -> Sequence[Found]:
    raise NotFound("The index is being made.")


async def broken(subject: Subject) -> Sequence[Found]:
    raise ZeroDivisionError


async def test_each_source_has_its_deadline_and_its_reason() -> None:
    sources = {"code": good, "graph": late, "skills": refusing, "memory": broken, "docs": late}
    began = time.monotonic()
    known = await Gathering(sources, secrets.scrub, seconds=0.1).gather(
        HERE, {"code", "graph", "skills", "memory"}
    )
    assert time.monotonic() - began < 3
    assert [one.text for one in known.of("code")] == ["where is it"]
    assert {gap.source: gap.why for gap in known.gaps} == {
        "graph": "timed out after 100 ms",
        "skills": "The index is being made.",
        "memory": "it failed; the server's log says why",
    }
    assert known.of("graph") == ()


async def test_twin_one_after_the_other_would_add_their_times_up() -> None:
    began = time.monotonic()
    gathering = Gathering({str(n): late for n in range(20)}, secrets.scrub, seconds=0.2)
    await gathering.gather(HERE, {str(n) for n in range(20)})
    assert time.monotonic() - began < 20 * 0.2
