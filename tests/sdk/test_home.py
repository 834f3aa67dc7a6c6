"""Where a home is, by platform and environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from mufakat.sdk import home


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {"HOME": "/h/u"}, "/h/u/.local/share/mufakat"),
        ("linux", {"HOME": "/h/u", "XDG_DATA_HOME": "/data"}, "/data/mufakat"),
        ("linux", {"HOME": "/h/u", "XDG_DATA_HOME": "data"}, "/h/u/.local/share/mufakat"),
        ("linux", {"HOME": "/h/u", "XDG_DATA_HOME": ""}, "/h/u/.local/share/mufakat"),
        ("darwin", {"HOME": "/Users/u"}, "/Users/u/Library/Application Support/mufakat"),
        ("darwin", {"HOME": "/Users/u", "MUFAKAT_HOME": "/m"}, "/m"),
        ("linux", {"HOME": "/h/u", "MUFAKAT_HOME": "/m"}, "/m"),
    ],
)
def test_default_home(
    monkeypatch: pytest.MonkeyPatch, platform: str, environ: dict[str, str], expected: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    assert home.default_home(environ) == Path(expected)


def test_a_relative_choice_is_made_absolute() -> None:
    assert home.default_home({"MUFAKAT_HOME": "here"}) == Path("here").absolute()


def test_private_folder_is_private(tmp_path: Path) -> None:
    made = home.private_folder(tmp_path / "a" / "b")
    assert made.stat().st_mode & 0o777 == 0o700
    assert home.private_folder(made) == made
