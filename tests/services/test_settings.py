"""Settings: the home that was named, then the environment, then the file, field by field."""

from __future__ import annotations

from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput
from mufakat.settings import load

FILE = """
budget = 9000
idle_seconds = 77
[engines.claude]
model = "from-file"
command = "from-file"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MUFAKAT_BUDGET", "MUFAKAT_HOME", "MUFAKAT_PORT"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "settings.toml").write_text(FILE)
    return tmp_path


def test_the_file_is_read(home: Path) -> None:
    settings = load(home)
    assert (settings.budget, settings.idle_seconds, settings.home) == (9_000, 77, home)
    assert settings.engines["claude"].model == "from-file"


def test_the_environment_wins_field_by_field(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUFAKAT_BUDGET", "8000")
    monkeypatch.setenv("MUFAKAT_ENGINES__CLAUDE__MODEL", "from-env")
    settings = load(home)
    assert (settings.budget, settings.idle_seconds) == (8_000, 77)
    assert settings.engines["claude"].model == "from-env"
    assert settings.engines["claude"].command == "from-file"


def test_the_named_home_wins_over_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUFAKAT_HOME", "/somewhere/else")
    assert load(home).home == home


@pytest.mark.parametrize(
    "text", ["budget = 10", "nonsense = 1", "[engines.x]\nbudget = 1", "budget = ", "port = 99999"]
)
def test_a_wrong_setting_names_its_field_and_the_fix(home: Path, text: str) -> None:
    (home / "settings.toml").write_text(text)
    with pytest.raises(InvalidInput) as caught:
        load(home)
    assert caught.value.fix
