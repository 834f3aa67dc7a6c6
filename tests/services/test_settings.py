"""Settings: the home that was named, then the environment, then the file, field by field."""

from __future__ import annotations

from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput
from mufakat.settings import embedding_key, load

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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('engine = "magic"', "embedding.engine"),
        ('engine = "directory"', "needs `directory`"),
        ('engine = "endpoint"', "needs `base_url` and `model`"),
        ('engine = "endpoint"\nmodel = "m"\nbase_url = "ftp://x"', "http://"),
        ("seconds = 0", "embedding.seconds"),
        ("colour = 1", "embedding.colour"),
    ],
)
def test_an_embedding_that_is_not_whole_says_what_is_missing(
    home: Path, text: str, why: str
) -> None:
    (home / "settings.toml").write_text(f"[embedding]\n{text}\n")
    with pytest.raises(InvalidInput, match=why):
        load(home)


def test_the_key_of_an_embedding_endpoint_lies_elsewhere(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = '[embedding]\nengine = "endpoint"\nmodel = "m"\nbase_url = "http://127.0.0.1:1"\n'
    (home / "settings.toml").write_text(table)
    assert embedding_key(load(home).embedding) == ""
    (home / "settings.toml").write_text(table + 'api_key_env = "EMBEDDING_KEY"\n')
    monkeypatch.delenv("EMBEDDING_KEY", raising=False)
    with pytest.raises(InvalidInput, match="EMBEDDING_KEY"):
        embedding_key(load(home).embedding)
    monkeypatch.setenv("EMBEDDING_KEY", "secret")
    assert embedding_key(load(home).embedding) == "secret"
    (home / "key").write_text("from-file\n")
    (home / "settings.toml").write_text(table + f"api_key_file = '{home / 'key'}'\n")
    assert embedding_key(load(home).embedding) == "from-file"
    (home / "key").unlink()
    with pytest.raises(InvalidInput, match="cannot be read") as caught:
        embedding_key(load(home).embedding)
    assert "[embedding]" in caught.value.fix
