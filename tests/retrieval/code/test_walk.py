"""Which files a walk finds, in one order, and what it leaves out and why."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from mufakat.retrieval.code import ignore, reading, walk


def make(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x = 1\n")
    return root


def walked(root: Path, **more: int) -> tuple[list[str], dict[str, str]]:
    with reading.opened(root) as folder:
        found = walk.Walk(folder, **more)  # type: ignore[arg-type]
        paths = [entry.path for entry in found.files()]
    return paths, {skip.path: skip.why for skip in found.skips}


def test_one_order_whatever_the_disk_says(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a/z.py", "a/b/c.py", "a.py", "Z.py", "ä.py")
    assert walked(tmp_path)[0] == ["Z.py", "a/b/c.py", "a/z.py", "a.py", "b.py", "ä.py"]


def test_ignore_rules_of_every_folder(tmp_path: Path) -> None:
    make(tmp_path, "keep.log", "a.log", "sub/b.log", "sub/keep.log", "build/x.py", "sub/build/y.py")
    make(tmp_path, "only/here.py", "sub/only/here.py")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n/only\n# no\n\n")
    (tmp_path / "sub" / ".gitignore").write_text("keep.log\n!build/\n")
    assert walked(tmp_path)[0] == [
        ".gitignore", "keep.log", "sub/.gitignore", "sub/build/y.py", "sub/only/here.py",
    ]  # fmt: skip


def test_what_git_keeps_beside_the_tree(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", ".git/info/exclude")
    (tmp_path / ".git" / "info" / "exclude").write_text("b.py\n")
    assert walked(tmp_path)[0] == ["a.py"]


def test_row_45_every_odd_file_is_left_out_with_a_reason(tmp_path: Path) -> None:
    root = make(tmp_path / "root", "a.py", "node_modules/x.js", ".env", "id_rsa", "server.pem")
    make(root, ".env.example")
    outside = make(tmp_path / "outside", "secret.py")
    os.mkfifo(root / "fifo")
    (root / "zero").symlink_to("/dev/zero")
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root)
    with (root / "sparse.txt").open("wb") as file:
        file.truncate(5 * 1024**3)
    (root / "image.png").write_bytes(b"\x89PNG")
    (root / "new\nline.py").write_text("")
    (Path(os.fsdecode(os.fsencode(root) + b"/bad-\xff.py"))).write_text("")
    began = time.monotonic()
    paths, skips = walked(root)
    assert time.monotonic() - began < 3
    assert paths == [".env.example", "a.py"]
    assert skips["fifo"] == "no regular file"
    assert skips["zero"] == skips["out"] == skips["loop"] == "a link"
    assert skips["sparse.txt"].startswith("larger than 1,024 KiB")
    assert skips["image.png"] == "binary"
    assert skips["node_modules/"] == "not the project's own code"
    assert {skips[name] for name in (".env", "id_rsa", "server.pem")} == {"may hold secrets"}
    assert skips["new\nline.py"] == skips["bad-?.py"] == "a name that cannot be shown"


def test_a_folder_that_may_not_be_entered(tmp_path: Path) -> None:
    make(tmp_path, "home/token.py", "a.py")
    with reading.opened(tmp_path) as folder:
        found = walk.Walk(folder, walk.identity(tmp_path / "home"))
        assert [entry.path for entry in found.files()] == ["a.py"]
    assert [skip.why for skip in found.skips] == ["Mufakat's own home"]


def test_it_ends_at_its_bounds(tmp_path: Path) -> None:
    make(tmp_path, *(f"f{number:03}.py" for number in range(50)))
    deep = tmp_path / "/".join("d" * 80)
    deep.mkdir(parents=True)
    paths, skips = walked(tmp_path, most=10)
    assert len(paths) == 10
    assert "more than 10 files" in skips.values()
    assert "too deep" in walked(tmp_path)[1].values()


def open_now() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    make(tmp_path, *(f"a/b{number}/c.py" for number in range(20)))
    before = open_now()
    walked(tmp_path)
    walked(tmp_path, most=3)
    assert open_now() == before


PIECES = ["*", "**", "a", "b", "ab", "a*", "*b", "?", "[ab]", "a?b", "\\*", "c.py", "*.py"]


def rule(rng: random.Random) -> str:
    body = "/".join(rng.choice(PIECES) for _ in range(rng.randint(1, 3)))
    return rng.choice(["", "", "!"]) + rng.choice(["", "", "/"]) + body + rng.choice(["", "", "/"])


def test_the_same_as_git_on_random_rules(tmp_path: Path) -> None:
    seed = int(os.environ.get("SEED", "7"))
    print(f"seed {seed}")
    rng = random.Random(seed)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    names = ["a", "b", "ab", "abb", "c.py"]
    paths = {"/".join(rng.choice(names) for _ in range(rng.randint(1, 3))) for _ in range(60)}
    for _ in range(40):
        text = "".join(rule(rng) + "\n" for _ in range(rng.randint(1, 4)))
        (tmp_path / ".gitignore").write_text(text)
        rules = ignore.parse(text, 0)
        done = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin"],
            check=False, cwd=tmp_path,
            input="\n".join(sorted(paths)), capture_output=True, text=True,
        )  # fmt: skip
        theirs = set(done.stdout.split())
        ours = {path for path in paths if left_out(path, rules)}
        assert ours == theirs, text


def left_out(path: str, rules: ignore.Rules) -> bool:
    names = path.split("/")
    return any(
        ignore.ignored(names[:size], (rules,), folder=size < len(names))
        for size in range(1, len(names) + 1)
    )


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "a**" * 60, "[" * 400, "**/" * 90 + "b"])
def test_a_hostile_pattern_is_cheap(pattern: str) -> None:
    rules = ignore.parse(pattern, 0)
    began = time.monotonic()
    ignore.ignored(["a" * 250] * 60, (rules,), folder=False)
    assert time.monotonic() - began < 3
