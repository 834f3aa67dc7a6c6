"""Resource keys: one spelling, inside a root, and what overlaps what."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as some

from mufakat.core.coordination import resource
from mufakat.core.coordination.resource import Key, Kind, Refused

ROOTS = ("/home/me/demo", "/srv/[app]")
SEED = 20261130


def read(text: str) -> str:
    found = resource.parse(text, roots=ROOTS)
    assert isinstance(found, Key), found
    return str(found)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("file:/home/me/demo/a.py", "file:/home/me/demo/a.py"),
        ("file:/home/me/demo//./a.py", "file:/home/me/demo/a.py"),
        ("file:/home/me/demo/**", "file:/home/me/demo/**"),
        ("file:/home/me/demo/[[]id].tsx", "file:/home/me/demo/[[]id].tsx"),
        ("file:/srv/[[]app]/x", "file:/srv/[[]app]/x"),
        ("file:/home/me/demo/cafe\u0301", "file:/home/me/demo/caf\u00e9"),
        ("repo:/home/me/demo", "repo:/home/me/demo"),
        ("repo:api", "repo:api"),
        ("branch:feature/x", "branch:feature/x"),
        ("task:weekly report", "task:weekly report"),
        ("api:example.org/v1/users", "api:example.org/v1/users"),
        ("node:gpu-1", "node:gpu-1"),
        ("port:8080", "port:8080"),
        ("port:db-host:5432", "port:db-host:5432"),
        ("custom:a:b*", "custom:a:b*"),
    ],
)
def test_l1_a_resource_has_one_spelling(text: str, key: str) -> None:
    assert read(text) == key
    assert read(read(text)) == key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "../../x",
        "x",
        "disk:x",
        "FILE:/home/me/demo/x",
        "file:",
        "file:a.py",
        "file:/etc/passwd",
        "file:/home/me/demo/../other",
        "file:/home/me/demo-evil/x",
        "file:/home/me",
        "file:/home/*/demo/x",
        "file:/**",
        "file:/home/me/demo/",
        "file:/home/me/demo/[a",
        "file:/srv/[app]/x",
        "repo:/home/me/demo/*",
        "repo:/etc",
        "custom:a/../b",
        "custom: x",
        "custom:a\nb",
        "custom:a\u202eb",
        "custom:a\u200bb",
        "custom:\ud800",
        "port:0",
        "port:65536",
        "port:08",
        "port:http",
        "custom:" + "x" * 2048,
        "custom:" + "é" * 253,
    ],
)
def test_row_23_what_is_no_resource_is_refused_with_a_fix(text: str) -> None:
    found = resource.parse(text, roots=ROOTS)
    assert isinstance(found, Refused)
    assert found.why
    assert found.fix


def test_l1_512_bytes_are_the_limit() -> None:
    assert len(read("custom:" + "x" * 505)) == 512


@seed(SEED)
@settings(max_examples=400)
@given(some.sampled_from(list(Kind)), some.text(max_size=60))
def test_l1_any_text_is_refused_or_a_key_that_reads_back(kind: Kind, name: str) -> None:
    print(f"seed={SEED} {kind} {name!r}")
    found = resource.parse(f"{kind}:{name}", roots=("/",))
    if isinstance(found, Key):
        assert resource.parse(str(found), roots=("/",)) == found
        assert len(str(found).encode()) <= 512


def test_only_files_have_patterns_and_only_they_overlap() -> None:
    assert resource.overlap("file:/home/me/demo/**", "file:/home/me/demo/a")
    assert not resource.overlap("custom:**", "custom:a")
    assert resource.overlap("custom:a", "custom:a")
    assert not resource.overlap("repo:/home/me/demo", "file:/home/me/demo/a")


def test_a_file_named_like_a_pattern_is_that_file() -> None:
    key = resource.of_path("/home/me/demo/[id].tsx")
    assert resource.overlap(key, "file:/home/me/demo/*.tsx")
    assert not resource.overlap(key, "file:/home/me/demo/i.tsx")
    assert read(key) == key


def test_l9_which_kinds_have_a_fence() -> None:
    fenced = {kind for kind in Kind if resource.fenced(f"{kind}:x")}
    assert fenced == {Kind.FILE, Kind.REPO, Kind.BRANCH, Kind.TASK}


def test_how_broad_a_pattern_is() -> None:
    def breadth(name: str) -> int | None:
        return resource.breadth(f"file:{name}", roots=ROOTS)

    assert breadth("/home/me/demo/**") == 0
    assert breadth("/home/me/demo/*/**") == 0
    assert breadth("/home/me/demo/src/**/*.py") == 1
    assert breadth("/home/me/demo/*.py") is None
    assert breadth("/home/me/demo/a.py") is None
