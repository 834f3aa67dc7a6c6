"""Finding the real CLIs: absence is a reason to skip at home and an error in CI."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipment import clis, wire


def fake(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


def test_all_four_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUFAKAT_TEST_CLIS", str(tmp_path))
    fake(tmp_path, *clis.NAMES)
    assert set(clis.available()) == set(clis.NAMES)
    assert clis.skip_reason() is None


def test_a_missing_cli_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUFAKAT_TEST_CLIS", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    fake(tmp_path, "claude", "codex")
    assert "gemini, opencode" in str(clis.skip_reason())


def test_in_ci_a_missing_cli_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUFAKAT_TEST_CLIS", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(FileNotFoundError, match="scripts/install-clis"):
        clis.skip_reason()


def test_without_a_setting_the_folder_of_the_install_script(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MUFAKAT_TEST_CLIS", raising=False)
    assert clis.folder() == clis.REPOSITORY / ".clis" / "node_modules" / ".bin"


@pytest.mark.parametrize("name", clis.NAMES)
def test_a_setup_is_private(name: str, tmp_path: Path) -> None:
    setup = clis.setup(name, "http://127.0.0.1:1", tmp_path / "home")
    assert setup.env["HOME"] == str(tmp_path / "home")
    kept = [*setup.env.values(), *setup.args, *wire.all_text(setup.config).splitlines()]
    addresses = [value for value in kept if "http" in value]
    assert addresses
    assert all("http://127.0.0.1:1" in value for value in addresses)
