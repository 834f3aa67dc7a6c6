"""Dumps by pg_dump, and a clear word where it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipment import postgres as equipment
from equipment.store_records import talk_of
from mufakat.core import base

from .conftest import OpenHome

pytestmark = pytest.mark.anyio


async def test_b4_a_dump_is_made_and_named(
    open_home: OpenHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(equipment.programs()))
    store = await open_home()
    await store.write(talk_of(3))
    folder = tmp_path / "backups"
    folder.mkdir()
    made = await store.backup(folder)
    assert made.parent == folder and made.suffix == ".dump"
    assert made.stat().st_size > 1000
    assert made.stat().st_mode & 0o777 == 0o600
    with pytest.raises(base.Conflict):
        await store.backup(made)
    assert list(folder.iterdir()) == [made]


async def test_b4_without_pg_dump_it_is_named(
    open_home: OpenHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    store = await open_home()
    with pytest.raises(base.Unavailable, match="pg_dump") as caught:
        await store.backup(tmp_path / "x.dump")
    assert "export" in caught.value.fix


async def test_b4_a_dump_that_fails_leaves_nothing(
    open_home: OpenHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("pg_dump", "pg_restore"):
        (programs / name).write_text("#!/bin/sh\necho 'server version mismatch' >&2\nexit 1\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    store = await open_home()
    with pytest.raises(base.Unavailable, match="mismatch"):
        await store.backup(tmp_path / "x.dump")
    assert not list(tmp_path.glob("x.dump*"))
