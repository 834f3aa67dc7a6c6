"""Exact texts, with and without ripgrep, and the places of rawq: all read by us."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from mufakat.core.base import Unavailable
from mufakat.ports.knowledge import Hit, Hits, Way
from mufakat.retrieval.code import finding, ripgrep
from mufakat.retrieval.code.index import LocalCodeIndex

pytestmark = pytest.mark.anyio

SHOW = """import json, os, sys
print(json.dumps([sys.argv, dict(os.environ)]), file=open({log!r}, "a"))
"""


def program(tmp_path: Path, name: str, body: str) -> dict[str, str]:
    """A stand-in on a PATH of its own that writes down how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    path = folder / name
    shown = SHOW.format(log=str(tmp_path / "log"))
    path.write_text(f"#!{sys.executable}\n{shown}{body}\n")
    path.chmod(0o755)
    return {
        "PATH": str(folder),
        "HOME": str(tmp_path),
        "RIPGREP_CONFIG_PATH": "/etc/evil",
        "LD_PRELOAD": "",
        "GIT_DIR": "/x",
        "SECRET": "s3cret",
    }


def called(tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    words, environ = json.loads((tmp_path / "log").read_text().splitlines()[-1])
    return words[1:], environ


async def find(
    root: Path,
    home: Path,
    query: str,
    *,
    way: Way = Way.EXACT,
    environ: dict[str, str] | None = None,
) -> Hits:
    index = LocalCodeIndex(home / "index" / "code", home=home, environ=environ or {})
    try:
        return await index.search(root, query, way=way)
    finally:
        await index.close()


def places(found: Hits) -> list[tuple[str, int, int]]:
    return [(hit.path, hit.start, hit.end) for hit in found.hits]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("self.table[user]", [("store.py", 6, 6)]),
        ("def open_session(self, user):\n        return", [("store.py", 5, 6)]),
        ("def ", [("cookie.py", 1, 1), ("store.py", 5, 5), ("tests/test_store.py", 1, 1)]),
        ("DEF ", []),
        ("header", [("cookie.py", 1, 1), ("cookie.py", 2, 2)]),
        (".*", []),
        ("pass\n", [("tests/test_store.py", 2, 2)]),
    ],
)
async def test_an_exact_text_is_found_line_by_line(
    root: Path, home: Path, query: str, wanted: list[tuple[str, int, int]]
) -> None:
    found = await find(root, home, query)
    assert places(found) == wanted
    assert found.why == ("" if wanted else "no file has this text")
    assert all(query.rstrip("\n") in hit.text for hit in found.hits)


async def test_it_names_what_the_line_lies_in(root: Path, home: Path) -> None:
    hit = (await find(root, home, "self.table[user]")).hits[0]
    assert (hit.symbol, hit.text) == ("SessionStore", "        return self.table[user]")


async def test_ripgrep_names_files_and_they_are_read_here(
    root: Path, home: Path, tmp_path: Path
) -> None:
    (root / ".env").write_text("def secret")
    names = ["./store.py", "./.env", "../outside.py", "/etc/passwd", "./gone.py"]
    said = "\0".join(names) + "\0"
    environ = program(tmp_path, "rg", f"sys.stdout.write({said!r})")
    assert places(await find(root, home, "def ", environ=environ)) == [("store.py", 5, 5)]
    words, _ = called(tmp_path)
    assert words[-4:] == ["-e", "def ", "--", "./"]
    assert "--no-config" in words


HOSTILE = {"RIPGREP_CONFIG_PATH", "LD_PRELOAD", "GIT_DIR", "SECRET"}


@pytest.mark.parametrize("name", ["rg", "rawq"])
async def test_row_47_only_named_variables_reach_a_program(
    root: Path, home: Path, tmp_path: Path, name: str
) -> None:
    lines = "".join(f"{variable}=/x\n" for variable in sorted(HOSTILE))
    (root / ".env").write_text(lines)
    environ = program(tmp_path, name, "print('{\"schema_version\": 1}')")
    way = Way.EXACT if name == "rg" else Way.RAWQ
    await find(root, home, "def ", way=way, environ=environ)
    assert not HOSTILE & set(called(tmp_path)[1])


async def test_row_47_twin_a_build_that_passes_its_environment_on_is_seen(
    root: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = program(tmp_path, "rg", "")
    monkeypatch.setattr(ripgrep, "KEPT", tuple(environ))
    await find(root, home, "def ", environ=environ)
    assert set(called(tmp_path)[1]) >= HOSTILE


@pytest.mark.parametrize("query", ["--pre=/x", "-f/etc/passwd", "-O cmd", "--output=f"])
async def test_row_43_an_option_is_a_text(
    root: Path, home: Path, tmp_path: Path, query: str
) -> None:
    (root / "odd.py").write_text(f"x = '{query}'\n")
    environ = program(tmp_path, "rg", "sys.stdout.write('./odd.py\\0')")
    assert places(await find(root, home, query, environ=environ)) == [("odd.py", 1, 1)]
    words, _ = called(tmp_path)
    assert words[-4:] == ["-e", query, "--", "./"]


@pytest.mark.parametrize(
    "body", ["sys.exit(2)", "import time\ntime.sleep(60)", "sys.stdout.write('x' * 9_000_000)"]
)
async def test_a_ripgrep_that_does_not_answer_is_done_without(
    root: Path, home: Path, tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = program(tmp_path, "rg", body)
    index = LocalCodeIndex(home / "index" / "code", home=home, environ=environ)
    monkeypatch.setattr(index._ripgrep, "_seconds", 0.5)
    found = await index.search(root, "self.table", way=Way.EXACT)
    await index.close()
    # Exit code 2 without a word is a failure, and no answer that nothing has the text.
    assert places(found) == [("store.py", 6, 6)]


async def test_reading_for_an_exact_text_has_a_time_limit(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = LocalCodeIndex(home / "index" / "code", home=home)
    await index.search(root, "x")
    monkeypatch.setattr(finding.exact, "__kwdefaults__", {"seconds": -1.0})
    found = await index.search(root, "self.table", way=Way.EXACT)
    await index.close()
    assert (found.hits, found.why) == ((), "only 0 of 3 files were read in -1 seconds")


async def test_exact_places_are_limited_and_it_says_so(root: Path, home: Path) -> None:
    (root / "many.py").write_text("word = 1\n" * 50)
    found = await find(root, home, "word = ")
    assert len(found.hits) == 10
    assert found.why == "there is more; only the first places are shown"


ROWS = [
    {"file": "store.py", "lines": [5, 6], "scope": "SessionStore.open_session",
     "confidence": 0.91, "content": "not what stands there", "token_count": 12},
    {"file": "ROOT/cookie.py", "lines": [1, 2], "scope": "parse_cookie", "confidence": 0.5,
     "content": "", "token_count": 9},
    {"file": "../outside.py", "lines": [1, 2]}, {"file": "/etc/passwd", "lines": [1, 2]},
    {"file": ".env", "lines": [1, 1]}, {"file": "store.py", "lines": [9, 2]},
    {"file": "store.py", "lines": ["1", 2]}, {"file": 3}, "odd", None,
]  # fmt: skip


async def test_rawq_by_its_json(root: Path, home: Path, tmp_path: Path) -> None:
    (root / ".env").write_text("SECRET=1\n")
    said = json.dumps({"schema_version": 1, "model": "m", "results": ROWS, "query_ms": 8})
    environ = program(tmp_path, "rawq", f"print({said.replace('ROOT', str(root))!r})")
    found = await find(root, home, "where are sessions opened", way=Way.RAWQ, environ=environ)
    first, second = found.hits
    text = "    def open_session(self, user):\n        return self.table[user]"
    assert first == Hit(
        "store.py", 5, 6, "SessionStore.open_session", 0.91, "rawq is 91% sure", text, len(text)
    )
    assert (second.path, second.symbol) == ("cookie.py", "parse_cookie")
    words, passed = called(tmp_path)
    assert words == ["search", "--json", "--top", "10", "--", "where are sessions opened", "."]
    assert (passed["RAWQ_OFFLINE"], passed["RAWQ_NO_DAEMON"]) == ("1", "1")
    assert "SECRET" not in passed


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ('print(\'{"schema_version": 2, "results": []}\')', "a form that is not known"),
        ("print('no json')", "did not answer in JSON"),
        ("import time\ntime.sleep(60)", "longer than"),
    ],
)
async def test_a_rawq_that_fails_says_why(
    root: Path, home: Path, tmp_path: Path, body: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = LocalCodeIndex(
        home / "index" / "code", home=home, environ=program(tmp_path, "rawq", body)
    )
    monkeypatch.setattr(index._rawq, "_seconds", 0.5)
    with pytest.raises(Unavailable, match=why):
        await index.search(root, "sessions", way=Way.RAWQ)
    await index.close()


async def test_rawq_that_is_not_there(root: Path, home: Path) -> None:
    with pytest.raises(Unavailable, match="not on PATH"):
        await find(root, home, "sessions", way=Way.RAWQ)
