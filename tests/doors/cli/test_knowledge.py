"""Skills, documents, links and native sessions as a person has them on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from equipment.command import Mufakat

SKILL = "---\nname: release\ndescription: Cut a release. \u202egnp\n---\nTag it.\x1b[31m\n"


@pytest.fixture(scope="module")
def filled(shared: Mufakat) -> Mufakat:
    """A project with a skill, a document and a session of Claude Code."""
    folder = shared.project / ".claude/skills/release"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    (shared.project / "docs").mkdir()
    (shared.project / "docs/tax.md").write_text("# Tax\n\n## Rounding\n\nAmounts are rounded.\n")
    path = str(shared.project.resolve())
    name = "".join(char if char.isalnum() else "-" for char in path)
    sessions = shared.home.parent / ".claude/projects" / name
    sessions.mkdir(parents=True)
    record = {"type": "user", "cwd": path, "message": {"content": "Why is the cart empty?"}}
    (sessions / "aaaa-bbbb.jsonl").write_text(json.dumps(record) + "\n")
    return shared


def shown(filled: Mufakat, *words: str) -> str:
    outcome = filled.run(*words, "--no-json")
    assert outcome.code == 0, outcome.err
    assert "\x1b" not in outcome.out
    assert "\u202e" not in outcome.out
    return outcome.out


def test_a_skill_is_read_then_consented_to(filled: Mufakat) -> None:
    assert "new" in shown(filled, "skills")
    assert "Tag it." in shown(filled, "skills", "show", "release")
    digest = filled.run("skills", "show", "release").json["digest"]
    wrong = filled.run("skills", "consent", "release", "--digest", "0" * 64)
    assert (wrong.code, wrong.error["code"]) == (4, "conflict")
    assert digest[:12] in shown(filled, "skills", "consent", "release", "--digest", digest)
    assert filled.run("skills", "list").json["items"][0]["state"] == "consented"
    assert filled.run("skills", "show", "nothing").code == 5
    assert filled.run("skills", "show", "../up").code in {2, 5}


def test_documents_are_searched_read_and_noted(filled: Mufakat) -> None:
    assert "docs/tax.md" in shown(filled, "docs", "search", "rounded amounts")
    assert "Amounts" in shown(filled, "docs", "get", "docs/tax.md", "--section", "Rounding")
    assert "docs/tax.md" in shown(filled, "docs", "note", "docs/tax.md", "Half to even.")
    assert "Half to even." in shown(filled, "docs", "get", "docs/tax.md")
    empty = filled.run("docs", "search", "xylophone", "--no-json")
    assert (empty.code, empty.out) == (0, "")
    assert "no document" in empty.err
    assert filled.run("docs", "get", "nothing").code == 5


def test_a_document_named_notes_is_read_and_noted(filled: Mufakat) -> None:
    folder = filled.project / ".agents/hub/acme/docs/notes"
    folder.mkdir(parents=True)
    (folder / "DOC.md").write_text("---\nname: notes\ndescription: How.\n---\n# Notes\n\nPin.\n")
    assert "acme/notes" in shown(filled, "docs", "note", "acme/notes", "Mind the gap.")
    assert "Mind the gap." in shown(filled, "docs", "get", "acme/notes")
    assert "Mind the gap." in shown(filled, "pull", "docs", "acme/notes", "--form", "full")


def test_a_session_is_listed_and_taken_over_once(filled: Mufakat) -> None:
    assert "Why is the cart empty?" in shown(filled, "sessions")
    assert "1 new of 1" in shown(filled, "sessions", "import", "aaaa-bbbb")
    assert "0 new of 1" in shown(filled, "sessions", "import", "aaaa-bbbb", "--engine", "claude")
    listed = filled.run("sessions", "list").json["items"]
    assert [one["imported"] for one in listed] == [1]
    said = filled.run("conversations", "show", listed[0]["conversation"]).json["messages"]
    assert [one["text"] for one in said] == ["Why is the cart empty?"]
    assert filled.run("sessions", "import", "nothing").code == 5


def test_conversations_are_linked_and_the_link_is_taken_back(
    filled: Mufakat, tmp_path: Path
) -> None:
    here = filled.ask("The cart is empty").json["conversation"]
    other = filled.run("ask", "-a", "scripted", "Elsewhere", cwd=tmp_path).json["conversation"]
    assert "There are none" in filled.run("conversations", "link", other, "--no-json").err
    assert other in shown(filled, "conversations", "link", here, other)
    listed = filled.run("conversations", "link", here).json["items"]
    assert [one["other"]["id"] for one in listed] == [other]
    assert filled.run("conversations", "link", here, other, "--drop").json["items"] == []
    assert filled.run("conversations", "link", here, "c_nothing").code == 5
