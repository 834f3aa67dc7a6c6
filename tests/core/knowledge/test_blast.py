"""Which files a change may touch: each signal counts, and the same input gives the same answer."""

from __future__ import annotations

import random

import pytest

from mufakat.core.knowledge import blast, imports, source_name
from mufakat.core.knowledge.blast import Evidence, Link, Pair, Weights

FILES = ("app/a.py", "app/b.py", "lib/c.py", "lib/d.py", "tests/test_a.py")


def ranked(evidence: Evidence, **options: object) -> list[str]:
    return [one.path for one in blast.rank(evidence, limit=10, **options)]


def test_files_that_change_together_come_first() -> None:
    pairs = [Pair("lib/d.py", 2, 0), Pair("lib/d.py", 2, 5), Pair("lib/c.py", 2, 1)]
    found = blast.rank(Evidence(["app/a.py"], FILES, pairs=pairs), limit=10)
    assert [one.path for one in found][0] == "lib/d.py"
    assert found[0].why == "changed together 2 times"


def test_large_and_old_commits_count_less() -> None:
    pairs = [Pair("lib/c.py", 40, 0), Pair("lib/d.py", 2, 0), Pair("app/b.py", 2, 2_900)]
    alone = Weights(1, 0, 0, 0)
    evidence = Evidence(["app/a.py"], FILES, pairs=pairs)
    scores = {one.path: one.score for one in blast.rank(evidence, limit=10, weights=alone)}
    assert scores["lib/d.py"] > 3 * scores["lib/c.py"]
    assert scores["lib/d.py"] > 3 * scores["app/b.py"]
    huge = Evidence(["app/a.py"], FILES, pairs=[Pair("lib/c.py", blast.LARGEST_COMMIT + 1, 0)])
    assert ranked(huge, weights=alone) == []


def test_rare_names_link_more_than_common_ones() -> None:
    links = [Link("lib/c.py", "get", 1, 400), Link("lib/d.py", "renew_lease", 1, 2)]
    evidence = Evidence(["app/a.py"], FILES, links=links)
    assert ranked(evidence, weights=Weights(0, 1, 0, 0)) == ["lib/d.py", "lib/c.py"]


def test_a_test_of_the_same_name_is_found_without_any_history() -> None:
    found = blast.rank(Evidence(["app/a.py"], FILES), limit=10)
    assert found[0].path == "tests/test_a.py"
    assert "same name" in found[0].why


def test_what_changed_is_not_what_it_may_touch() -> None:
    assert set(ranked(Evidence(["app/a.py", "app/b.py"], FILES))) == {"tests/test_a.py"}


def test_the_order_of_the_evidence_does_not_matter() -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    pairs = [Pair(chance.choice(FILES), 2, chance.randrange(9)) for _ in range(50)]
    links = [Link(chance.choice(FILES), str(n), 1, 2) for n in range(50)]
    first = blast.rank(Evidence(["app/a.py"], FILES, pairs, links), limit=10)
    for _ in range(5):
        files = chance.sample(FILES, len(FILES))
        again = Evidence(
            ["app/a.py"],
            files,
            chance.sample(pairs, len(pairs)),
            chance.sample(links, len(links)),
        )
        assert blast.rank(again, limit=10) == first, f"seed {seed}"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("src/lease.py", "tests/test_lease.py", 1.0),
        ("src/Lease.java", "test/LeaseTest.java", 1.0),
        ("lib/lease.rb", "spec/lease_spec.rb", 1.0),
        ("src/lease.ts", "src/lease.spec.ts", 1.0),
        ("src/lease_views.py", "src/lease.py", 0.3),
        ("src/lease.py", "src/inbox.py", 0.0),
    ],
)
def test_likeness_of_names(one: str, other: str, alike: float) -> None:
    assert source_name.likeness(one, other) == source_name.likeness(other, one) == alike


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/a.py", True),
        ("src/latest.py", False),
        ("a_test.go", True),
        ("src/contest.py", False),
    ],
)
def test_what_is_a_test(path: str, test: bool) -> None:
    assert source_name.is_test(path) is test


@pytest.mark.parametrize(
    ("module", "importer", "path", "fits"),
    [
        ("mufakat.core.base", "src/mufakat/app.py", "src/mufakat/core/base.py", True),
        ("mufakat.core.base", "src/mufakat/app.py", "src/other/base.py", False),
        (".base", "src/a/app.py", "src/a/base.py", True),
        ("./lamp", "web/a.ts", "web/lamp.ts", True),
        ("./lamp", "web/a.ts", "other/lamp.ts", False),
        ("..base", "src/a/b/app.py", "src/a/base.py", True),
        ("..base", "src/a/b/app.py", "src/a/b/base.py", False),
        ("../core/lamp.js", "web/a/b.ts", "web/core/lamp.ts", True),
        ("example.org/x/lamp", "cmd/main.go", "lamp/light.go", True),
        ("crate::lamp", "src/main.rs", "src/lamp.rs", True),
        ("crate::lamp", "src/main.rs", "src/lamp/mod.rs", True),
        ("org.x.Lamp", "src/main/java/org/x/A.java", "src/main/java/org/x/Lamp.java", True),
        ("x/lamp.h", "src/a.cc", "include/x/lamp.h", True),
        ("os", "src/a.py", "src/b/os.py", False),
        ("a.b", "src/a/b.py", "src/a/b.py", False),
    ],
)
def test_which_file_an_import_means(module: str, importer: str, path: str, fits: bool) -> None:
    assert imports.fits(module, importer, path) is fits
