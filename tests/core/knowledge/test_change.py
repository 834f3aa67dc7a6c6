"""A diff among other words: its files and its size."""

from __future__ import annotations

import pytest

from mufakat.core.knowledge import change
from mufakat.core.knowledge.change import Change

DIFF = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


def test_a_diff_between_words() -> None:
    found = change.read(f"Look at this.\n{DIFF}What do you think?")
    assert found == Change(("src/a.py",), len(DIFF))


def test_new_gone_and_renamed_files() -> None:
    text = (
        "diff --git a/n.py b/n.py\nnew file mode 100644\n"
        "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/g.py b/g.py\ndeleted file mode 100644\n--- a/g.py\n+++ /dev/null\n"
        "diff --git a/o.py b/p.py\nsimilarity index 100%\nrename from o.py\nrename to p.py\n"
    )
    assert change.read(text).paths == ("n.py", "g.py", "o.py", "p.py")


@pytest.mark.parametrize("text", ["", "a list:\n- one\n+ two\n", "+++ b/x.py", "@@ -1 +1 @@\n+x"])
def test_what_is_no_diff(text: str) -> None:
    assert change.read(text) == Change()


def test_many_files_are_bounded() -> None:
    text = "".join(f"--- a/{n}.py\n+++ b/{n}.py\n" for n in range(100_000))
    assert len(change.read(text).paths) == change.MOST_PATHS
