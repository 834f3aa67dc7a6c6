"""Whom a kept message is meant for."""

from __future__ import annotations

import pytest

from mufakat.core.coordination.newcomer import Newcomer, Topic, meant

NAME = "codex@box:abcdef"
ONE = Newcomer(NAME, alias="Nora", role="tester", topics=(Topic("c_1", "Release 2"),))
BARE = Newcomer(NAME)


@pytest.mark.parametrize(
    "name",
    ["Nora", "role:tester", "topic:c_1", "topic:release 2", NAME, "codex@box:ab", "codex@", "c"],
)
def test_a_name_that_fits(name: str) -> None:
    assert meant(name, ONE)


@pytest.mark.parametrize(
    "name",
    ["", "nora", "Nor", "role:", "role:test", "topic:", "topic:c_", "topic:release", "odex@box"]
    + [f"{NAME}0", "tester", "Release 2", "c_1"],
)
def test_a_name_that_does_not(name: str) -> None:
    assert not meant(name, ONE)
    assert not meant(name, BARE)


@pytest.mark.parametrize("name", ["Nora", "role:tester", "role:", "topic:c_1"])
def test_who_has_no_alias_role_or_topic_is_meant_by_none(name: str) -> None:
    assert not meant(name, BARE)
