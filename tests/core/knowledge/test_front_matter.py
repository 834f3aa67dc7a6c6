"""Front matter: a strict small part of YAML, in bounded time, that builds nothing."""

from __future__ import annotations

import time

import pytest

from mufakat.core.knowledge import front_matter, skill
from mufakat.core.knowledge.front_matter import Broken, Front

BOMB = "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b]\n"


def fields(head: str) -> dict[str, str]:
    found = front_matter.read(f"---\n{head}\n---\nBody.\n")
    assert isinstance(found, Front), found
    assert found.body == "Body.\n"
    return dict(found.fields)


def test_the_forms_that_people_write_are_read() -> None:
    assert fields(
        'name: widgets\ndescription: "An API: for \\"widgets\\""\n# a comment\n'
        "metadata:\n  versions: '2.0.0'\n  tags: [a, 'b c', d]  # more\nlicense:  MIT # why\n"
        "allowed-tools:\n  - Read\n  - Bash\nlong: >\n  one\n  two\n"
        "kept: |\n  a\n  b\nplain: x\n  y"
    ) == {
        "name": "widgets",
        "description": 'An API: for "widgets"',
        "metadata": "",
        "metadata.versions": "2.0.0",
        "metadata.tags": "a, b c, d",
        "license": "MIT",
        "allowed-tools": "Read, Bash",
        "long": "one two",
        "kept": "a\nb",
        "plain": "x y",
    }


@pytest.mark.parametrize(
    "head",
    [
        "name: !!python/object/apply:os.system ['true']",
        "name: !!python/name:os.system",
        BOMB,
        "name: *anchor",
        "name: {a: 1}",
        "just words",
        "name: a\nname: b",
        'name: "open',
        "name: [open",
        "  name: nested under nothing",
    ],
)
def test_row_59_tags_anchors_and_broken_heads_are_refused_with_the_reason(head: str) -> None:
    found = front_matter.read(f"---\n{head}\n---\nx")
    assert isinstance(found, Broken)
    assert found.why


@pytest.mark.parametrize("text", ["", "no head", "---\nname: x\n", "---\n" + "a: b\n" * 100_000])
def test_a_head_that_does_not_end_is_no_head(text: str) -> None:
    assert isinstance(front_matter.read(text), Broken)


def test_hostile_heads_take_no_time() -> None:
    began = time.process_time()
    for hostile in (
        "---\n" + "a: " + "\\" * 15_000 + "\n---\n",
        "---\n" + "-" * 2_000_000,
        "---\nname: " + "\u200b" * 1_000_000 + "\n---\n",
        "---\n" + "x:\n" * 4_000 + "---\n",
        "---\nname: " + " #" * 7_000 + "\n---\n",
        "---\nname: x" + " " * 16_000 + "y\n---\n",
    ):
        front_matter.read(hostile)
    assert time.process_time() - began < 3


def test_a_skill_needs_a_name_and_a_description() -> None:
    good = skill.read("---\nname: release\ndescription: Cut a\n  release.\n---\n# Steps\n")
    assert good == skill.Manifest("release", "Cut a release.", "# Steps")
    for head in (
        "name: release",
        "description: x",
        "name: ../up\ndescription: x",
        "name: A\ndescription: x",
    ):
        assert isinstance(skill.read(f"---\n{head}\n---\n"), Broken)


def test_the_digest_covers_names_and_contents_and_no_order() -> None:
    files = [("SKILL.md", b"a"), ("run.sh", b"b")]
    known = skill.digest(files)
    assert skill.digest(reversed(files)) == known
    others = [
        [("SKILL.md", b"a"), ("run.sh", b"c")],
        [("SKILL.md", b"a"), ("run2.sh", b"b")],
        [("SKILL.md", b"a")],
        [("SKILL.md", b"a"), ("run.sh", b"b"), ("x", b"")],
        [("SKILL.md", b"a1 run.shb")],
    ]
    assert known not in {skill.digest(one) for one in others}
    assert len({skill.digest(one) for one in others}) == len(others)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("please use /release now", True),
        ("use $release", True),
        ("use the skill release", True),
        ("the skill: `release`", True),
        ("make a release", False),
        ("/release-notes", False),
        ("skills release", False),
    ],
)
def test_a_request_names_a_skill(text: str, named: bool) -> None:
    assert skill.mentions(text, "release") is named
