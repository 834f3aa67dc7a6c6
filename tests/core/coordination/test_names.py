"""Names: prefixes, sub-agents, near misses, and names that only look like another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mufakat.core.coordination import identity
from mufakat.core.coordination.principal import Principal, Right

ONE, OTHER = "claude@box:8f3a2c", "claude@box:8f3b00"
SUB = f"{ONE}/explorer-1"
EVERYBODY = (ONE, OTHER, SUB, "codex@box:8f3a2c")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (ONE, ONE),
        ("claude@box:8f3a", ONE),
        ("claude@box:8f3", None),
        ("codex", "codex@box:8f3a2c"),
        (SUB, SUB),
        (f"{ONE}/e", SUB),
        ("", None),
        ("gemini", None),
    ],
)
def test_any_unique_prefix_means_its_instance(name: str, meant: str | None) -> None:
    assert identity.choose(name, EVERYBODY) == meant


def test_an_identity_that_another_one_begins_with_is_still_itself() -> None:
    assert identity.choose(ONE, (ONE, f"{ONE}0")) == ONE


def test_a_sub_agent_belongs_to_its_instance() -> None:
    assert identity.sub(ONE, "explorer-1") == SUB
    assert identity.owner(SUB) == ONE and identity.owner(ONE) == ONE


@pytest.mark.parametrize("agent", ["", "a/b", "a b", "..\n", "x" * 65, "\u0435xplorer", "a\u200bb"])
def test_an_unfit_sub_agent_has_no_name(agent: str) -> None:
    assert identity.sub(ONE, agent) is None


def test_no_sub_agent_hangs_below_another_or_below_no_identity() -> None:
    assert identity.sub(SUB, "x") is None
    assert identity.sub("claude", "x") is None


def test_the_nearest_names_come_first() -> None:
    names = ("claude@box:8f3a2c", "codex@box:11aa22", "builder", "reviewer")
    assert identity.nearest("reviwer", names) == ("reviewer",)
    assert identity.nearest("Claude@box:8f3a2d", names)[0] == "claude@box:8f3a2c"
    assert identity.nearest("zzz", names) == ()


@pytest.mark.parametrize("name", ["builder", "Code reviewer", "a", "v1.2_x-y", "x" * 64])
def test_plain_names_are_fit(name: str) -> None:
    assert identity.unfit(name) == ""


@pytest.mark.parametrize(
    "name",
    [
        "",
        " builder",
        "builder ",
        "x" * 65,
        "b\u0443ilder",
        "\uff42uilder",
        "buil\u200bder",
        "buil\u202eder",
        "bu\u0308ilder",
        "builder\n",
        "build\0er",
        "claude@box:8f3a2c",
        "role:builder",
        "a/b",
        "me",
        "HUMAN",
        "<b>x</b>",
    ],
)
def test_row_16_names_that_could_deceive_are_not_fit(name: str) -> None:
    assert identity.unfit(name)


@given(st.text(max_size=70))
def test_row_16_a_fit_name_is_ascii_and_visible(name: str) -> None:
    if not identity.unfit(name):
        assert name.isascii() and name.isprintable() and name == name.strip()


@pytest.mark.parametrize("name", ["bui1der", "BUILDER", "buiIder", "build-er", "b u i l d e r"])
def test_a_look_alike_is_found(name: str) -> None:
    assert identity.look_alike(name, ("reviewer", "builder")) == "builder"


def test_rn_can_be_taken_for_m() -> None:
    assert identity.look_alike("adrnin", ("admin",)) == "admin"


def test_the_same_name_and_another_name_are_no_look_alikes() -> None:
    assert identity.look_alike("builder", ("builder", "builder2")) == ""


def test_row_18_an_agent_acts_for_itself_and_its_sub_agents_alone() -> None:
    agent = Principal(Right.AGENT, ONE)
    assert agent.acts_for(ONE) and agent.acts_for(SUB)
    assert not agent.acts_for(OTHER) and not agent.acts_for(f"{ONE}0")
    assert not agent.acts_for("") and not Principal(Right.AGENT).acts_for("")


def test_a_sub_agents_own_credential_does_not_reach_its_instance() -> None:
    assert Principal(Right.AGENT, SUB).acts_for(SUB)
    assert not Principal(Right.AGENT, SUB).acts_for(ONE)


def test_the_operator_acts_for_anybody_and_a_joiner_for_nobody() -> None:
    assert Principal(Right.OPERATOR).acts_for(ONE)
    assert not Principal(Right.JOIN, ONE).acts_for(ONE)
