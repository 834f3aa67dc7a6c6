"""Session files of the four CLIs: read tolerantly, of one project alone, what was said alone."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mufakat.core.base import NotFound
from mufakat.core.knowledge import native_session
from mufakat.retrieval.sessions import claude, files, found, local
from mufakat.retrieval.sessions.local import LocalSessions

pytestmark = pytest.mark.anyio
PACK = (
    "<mufakat:platform>\nYou work in Mufakat.\n</mufakat:platform>\n---\n"
    "<mufakat:history quoted>\nsecret of an earlier pack\n</mufakat:history>\n---\nThe request."
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "work" / "shop").mkdir(parents=True)
    return tmp_path / "work" / "shop"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def sessions(home: Path) -> LocalSessions:
    return local.of(home, {})


def jsonl(path: Path, records: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def claude_file(home: Path, root: Path, name: str = "aaaa", **more: Any) -> Path:
    folder = "".join(char if char.isalnum() else "-" for char in str(root))

    def said(kind: str, content: Any, **beside: Any) -> dict[str, Any]:
        stamp = "2026-11-30T16:33:31.394Z"
        base = {"type": kind, "cwd": str(root), "timestamp": stamp, **more}
        return base | {"message": {"role": kind, "content": content}} | beside

    return jsonl(
        home / ".claude/projects" / folder / f"{name}.jsonl",
        [
            {"type": "queue-operation", "content": "not said"},
            said("user", "<command-name>/clear</command-name>"),
            said("user", "Why is the cart empty?"),
            said("assistant", [{"type": "tool_use", "input": {"command": "rm -rf /"}}]),
            said("user", [{"type": "tool_result", "content": "tool output"}]),
            said("user", "meta", isMeta=True),
            said("assistant", "of a sub-agent", isSidechain=True),
            said("assistant", [{"type": "text", "text": "The session expired."}]),
        ],
    )


def codex_file(home: Path, root: Path) -> Path:
    def item(kind: str, block: str, text: str) -> dict[str, Any]:
        inner = {"type": kind, "id": text[:8], "content": [{"type": block, "text": text}]}
        return {"type": "event_msg", "payload": {"type": "item_completed", "item": inner}}

    return jsonl(
        home / ".codex/sessions/2026/11/30/rollout-2026-11-30T16-33-32-bbbb.jsonl",
        [
            {"type": "session_meta", "payload": {"id": "bbbb", "cwd": str(root)}},
            {
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "# AGENTS.md instructions for x"}],
                },
            },
            item("UserMessage", "text", PACK),
            item("AgentMessage", "Text", "Done."),
        ],
    )


def gemini_file(home: Path, root: Path) -> Path:
    own = home / ".gemini/tmp/shop"
    jsonl(
        own / "chats/session-2026-11-30T16-33-cccc.jsonl",
        [
            {"sessionId": "cccc", "projectHash": "ff"},
            {"$set": {"messages": [{"id": "1", "type": "user", "content": "<session_context>x"}]}},
            {"id": "2", "type": "user", "content": [{"text": "Which tax?"}]},
            {"id": "3", "type": "gemini", "content": "Ten"},
            {"id": "3", "type": "gemini", "content": "Ten percent."},
            {"$set": {"lastUpdated": "x"}},
        ],
    )
    (own / ".project_root").write_text(str(root))
    return own


def opencode_database(home: Path, root: Path) -> Path:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(
            "CREATE TABLE session (id, parent_id, directory, title, time_updated);"
            "CREATE TABLE message (id, session_id, time_created, data);"
            "CREATE TABLE part (id, message_id, data);"
        )
        db.execute(
            "INSERT INTO session VALUES ('ses_d', NULL, ?, 'The title', 1796056419649)", [str(root)]
        )
        db.execute("INSERT INTO session VALUES ('ses_c', 'ses_d', ?, 'A child', 5)", [str(root)])
        db.execute("INSERT INTO session VALUES ('ses_o', NULL, '/elsewhere', 'Other', 5)")
        for n, (role, text) in enumerate((("user", "Start it."), ("assistant", "It runs."))):
            about = json.dumps({"role": role})
            db.execute("INSERT INTO message VALUES (?, 'ses_d', ?, ?)", [f"m{n}", 1000 + n, about])
            for m, part in enumerate(({"type": "step-start"}, {"type": "text", "text": text})):
                db.execute(
                    "INSERT INTO part VALUES (?, ?, ?)", [f"p{n}{m}", f"m{n}", json.dumps(part)]
                )
    return path


def opencode_files(home: Path, root: Path) -> None:
    storage = home / ".local/share/opencode/storage"
    for path, record in {
        "session/p1/ses_e.json": {"directory": str(root), "title": "Old", "time": {"updated": 9}},
        "message/ses_e/m1.json": {"role": "user", "time": {"created": 7}},
        "message/ses_e/m2.json": {"role": "assistant"},
        "part/m1/p1.json": {"type": "text", "text": "Hello."},
        "part/m2/p2.json": {"type": "text", "text": "Good day."},
    }.items():
        jsonl(storage / path, [record])


Write = Callable[[Path, Path], object]
CASES: list[tuple[Write, str, str, list[tuple[str, str]]]] = [
    (
        claude_file,
        "claude",
        "aaaa",
        [("person", "Why is the cart empty?"), ("claude", "The session expired.")],
    ),
    (codex_file, "codex", "bbbb", [("person", "The request."), ("codex", "Done.")]),
    (gemini_file, "gemini", "cccc", [("person", "Which tax?"), ("gemini", "Ten percent.")]),
    (opencode_database, "opencode", "ses_d", [("person", "Start it."), ("opencode", "It runs.")]),
    (opencode_files, "opencode", "ses_e", [("person", "Hello."), ("opencode", "Good day.")]),
]


@pytest.mark.parametrize(("write", "engine", "id", "said"), CASES, ids=[one[2] for one in CASES])
async def test_each_cli_is_read_and_only_what_was_said_is_taken(
    write: Write,
    engine: str,
    id: str,
    said: list[tuple[str, str]],
    home: Path,
    root: Path,
    sessions: LocalSessions,
) -> None:
    write(home, root)
    listed, skips = await sessions.list(root)
    assert [(one.engine, one.id) for one in listed] == [(engine, id)]
    assert not skips
    assert listed[0].summary
    assert "mufakat:" not in listed[0].summary
    assert not listed[0].turns
    read = await sessions.read(root, id)
    assert [(turn.speaker, turn.text) for turn in read.turns] == said
    with pytest.raises(NotFound):
        await sessions.read(root, id, engine="other")


@pytest.mark.parametrize("write", [case[0] for case in CASES], ids=[one[2] for one in CASES])
async def test_another_folder_is_another_project(
    write: Write, home: Path, root: Path, sessions: LocalSessions, tmp_path: Path
) -> None:
    write(home, root)
    sibling = root.parent / "shop-two"
    for other in (sibling, root / "inner", tmp_path / "elsewhere"):
        assert not (await sessions.list(other))[0]
        with pytest.raises(NotFound):
            await sessions.read(other, "aaaa")
    above = (await sessions.list(root.parent))[0]
    assert len(above) == 1


async def test_gemini_knows_its_project_by_the_hash_too(
    home: Path, root: Path, sessions: LocalSessions
) -> None:
    own = gemini_file(home, root)
    (own / ".project_root").unlink()
    (own / "chats/session-2026-11-30T16-33-cccc.jsonl").unlink()
    digest = hashlib.sha256(str(root).encode()).hexdigest()
    messages = [{"type": "user", "content": "Old form?"}, {"type": "gemini", "content": "Yes."}]
    record = {"sessionId": "old", "projectHash": digest, "messages": messages}
    (own / "chats/session-2025-01-01.json").write_text(json.dumps(record))
    assert [turn.text for turn in (await sessions.read(root, "old")).turns] == ["Old form?", "Yes."]


async def test_missing_broken_and_special_files_cost_nothing(
    home: Path, root: Path, sessions: LocalSessions
) -> None:
    assert (await sessions.list(root)) == ([], [])
    good = claude_file(home, root)
    folder = good.parent
    (folder / "empty.jsonl").touch()
    (folder / "binary.jsonl").write_bytes(b"\0\xff\n" * 1000)
    (folder / "deep.jsonl").write_text("[" * 100_000)
    (folder / "link.jsonl").symlink_to("/etc/passwd")
    os.mkfifo(folder / "fifo.jsonl")
    with (folder / "sparse.jsonl").open("wb") as sparse:
        sparse.truncate(5 << 30)
    text = good.read_text()
    good.write_text('{"type": "user", "mess\n' + "[1, 2]\n" + text + '{"type": "assist')
    broken = home / ".local/share/opencode/opencode.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    listed, skips = await sessions.list(root)
    assert [one.id for one in listed] == ["aaaa"]
    named = {Path(skip.path).name: skip.why for skip in skips}
    assert {"empty.jsonl", "binary.jsonl", "sparse.jsonl", "opencode.db"} <= set(named)
    assert all(named.values())
    assert len((await sessions.read(root, "aaaa")).turns) == 2


async def test_a_huge_session_is_read_within_limits(
    home: Path, root: Path, sessions: LocalSessions
) -> None:
    path = claude_file(home, root)
    line = json.dumps({"type": "user", "cwd": str(root), "message": {"content": "word " * 100_000}})
    with path.open("a") as file:
        file.write(
            json.dumps({"type": "user", "message": {"content": "x" * files.LONGEST_LINE}}) + "\n"
        )
        for _ in range(20):
            file.write(line + "\n")
        for n in range(found.MOST_TURNS):
            file.write(json.dumps({"type": "user", "message": {"content": f"turn {n}"}}) + "\n")
    turns = (await sessions.read(root, "aaaa")).turns
    assert found.MOST_TURNS - 10 < len(turns) <= found.MOST_TURNS
    assert max(len(turn.text) for turn in turns) <= native_session.TURN_CHARS


def test_the_environment_moves_the_files(tmp_path: Path) -> None:
    made = local.of(tmp_path, {"CLAUDE_CONFIG_DIR": str(tmp_path / "c"), "CODEX_HOME": "relative"})
    kinds = {reader.engine: reader for reader in made._readers}
    assert isinstance(kinds["claude"], claude.Claude)
    assert kinds["claude"]._projects == tmp_path / "c" / "projects"


def test_own_pack_text_is_taken_out_and_what_a_person_wrote_stays() -> None:
    assert native_session.said("person", PACK) == "The request."
    assert native_session.said("person", "plain") == "plain"
    about = "What does `<mufakat:history>` mean?"
    assert "mean?" in native_session.said("person", about)
    assert native_session.said("claude", "a\0b\ud800") == "a\u2400b?"
