"""Gemini's private home: the user's login is neither broken nor forked, a project not obeyed."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from mufakat.engines.gemini import login, workspace


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    user, private = tmp_path / "user", tmp_path / "private"
    user.mkdir()
    (user / "oauth_creds.json").write_text("old token")
    (user / "installation_id").write_text("id")
    login.lend(user, private)
    return user, private


def renamed_over(path: Path, text: str) -> None:
    """What a careful program does: write a new file and rename it into the place."""
    new = path.with_suffix(".tmp")
    new.write_text(text)
    new.replace(path)


def test_the_login_is_lent_by_links(folders: tuple[Path, Path]) -> None:
    user, private = folders
    assert (private / "oauth_creds.json").read_text() == "old token"
    assert (private / "oauth_creds.json").is_symlink()
    assert not (private / "google_accounts.json").exists()
    assert login.settle(user, private) == ()
    assert (user / "oauth_creds.json").read_text() == "old token"


def test_writing_through_the_link_changes_the_users_own_file(folders: tuple[Path, Path]) -> None:
    user, private = folders
    (private / "oauth_creds.json").write_text("new token")
    login.settle(user, private)
    assert (user / "oauth_creds.json").read_text() == "new token"
    assert (private / "oauth_creds.json").is_symlink()


def test_a_replaced_link_is_given_back(folders: tuple[Path, Path]) -> None:
    user, private = folders
    renamed_over(private / "oauth_creds.json", "new token")
    assert login.settle(user, private) == ("oauth_creds.json",)
    theirs = user / "oauth_creds.json"
    assert theirs.read_text() == "new token"
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o600
    assert (private / "oauth_creds.json").is_symlink()
    assert [path.name for path in user.iterdir() if path.name.startswith(".oauth")] == []


def test_a_file_that_the_user_changed_meanwhile_wins(folders: tuple[Path, Path]) -> None:
    user, private = folders
    renamed_over(private / "oauth_creds.json", "ours")
    renamed_over(user / "oauth_creds.json", "theirs, newer")
    assert login.settle(user, private) == ()
    assert (user / "oauth_creds.json").read_text() == "theirs, newer"
    assert (private / "oauth_creds.json").read_text() == "theirs, newer"


def test_twin_without_the_comparison_the_users_file_would_be_lost(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    user, private = folders
    monkeypatch.setattr(login, "_stamp", lambda path: "same")
    login.lend(user, private)
    renamed_over(private / "oauth_creds.json", "ours")
    renamed_over(user / "oauth_creds.json", "theirs, newer")
    login.settle(user, private)
    assert (user / "oauth_creds.json").read_text() == "ours"


def test_what_a_crash_left_is_settled_before_the_next_run(folders: tuple[Path, Path]) -> None:
    user, private = folders
    renamed_over(private / "oauth_creds.json", "new token")
    login.lend(user, private)
    assert (user / "oauth_creds.json").read_text() == "new token"


def test_a_login_that_the_user_removed_does_not_come_back(folders: tuple[Path, Path]) -> None:
    user, private = folders
    renamed_over(private / "oauth_creds.json", "ours")
    (user / "oauth_creds.json").unlink()
    login.settle(user, private)
    assert not (user / "oauth_creds.json").exists()
    login.lend(user, private)
    assert not os.path.lexists(private / "oauth_creds.json")


def test_a_users_file_that_is_a_link_itself_stays_one(tmp_path: Path) -> None:
    user, private, vault = tmp_path / "user", tmp_path / "private", tmp_path / "vault"
    user.mkdir()
    vault.write_text("old")
    (user / "oauth_creds.json").symlink_to(vault)
    login.lend(user, private)
    renamed_over(private / "oauth_creds.json", "new")
    login.settle(user, private)
    assert (user / "oauth_creds.json").is_symlink() and vault.read_text() == "new"


@pytest.mark.parametrize(
    ("settings", "env", "file", "kind"),
    [
        ({"security": {"auth": {"selectedType": "vertex-ai"}}}, {"GEMINI_API_KEY": "k"}, 0,
         "vertex-ai"),
        ({}, {"GEMINI_API_KEY": "k"}, 1, "gemini-api-key"),
        ({"security": 7}, {"GOOGLE_GENAI_USE_VERTEXAI": "true"}, 1, "vertex-ai"),
        (None, {}, 1, "oauth-personal"),
        (None, {}, 0, "gemini-api-key"),
    ],
)  # fmt: skip
def test_the_way_to_log_in_is_the_users(
    tmp_path: Path, settings: object, env: dict[str, str], file: int, kind: str
) -> None:
    if settings is not None:
        (tmp_path / "settings.json").write_text(json.dumps(settings))
    if file:
        (tmp_path / "oauth_creds.json").touch()
    assert login.kind(tmp_path, env) == kind


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ({}, ""),
        ({"settings.json": '{"ui": {"theme": "x"}, "model": {}}'}, ""),
        ({"settings.json": '{"hooks": {}}'}, "settings.json"),
        ({"settings.json": '{"mcpServers": {}}'}, "settings.json"),
        ({"settings.json": "{ // a comment\n}"}, "settings.json"),
        ({"policies/x.toml": ""}, "policies"),
        ({"agents/x.md": ""}, "agents"),
        ({".env": "GOOGLE_GEMINI_BASE_URL=http://evil"}, ".env"),
    ],
)
def test_a_project_that_brings_its_own_orders_is_refused_until_trusted(
    tmp_path: Path, made: dict[str, str], found: str
) -> None:
    project, user = tmp_path / "project", tmp_path / "home" / ".gemini"
    user.mkdir(parents=True)
    (project / ".gemini").mkdir(parents=True)
    for name, text in made.items():
        path = project / ".gemini" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    refused = workspace.danger(project, user)
    assert refused == (str(project / ".gemini" / found) if found else "")
    (user / "trustedFolders.json").write_text(json.dumps({str(tmp_path): "TRUST_FOLDER"}))
    assert workspace.danger(project, user) == ""
    (user / "trustedFolders.json").write_text(json.dumps({str(project): "DO_NOT_TRUST"}))
    assert workspace.danger(project, user) == refused
