"""Discovery: entry points or the built-in table, and one broken engine breaks nothing."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from mufakat.core.base import EngineError, EngineUnknown
from mufakat.engines import registry
from mufakat.ports.engine import Options


def points(*rows: tuple[str, str]) -> metadata.EntryPoints:
    return metadata.EntryPoints(
        metadata.EntryPoint(name, target, registry.GROUP) for name, target in rows
    )


def test_without_metadata_the_built_in_table_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda group: points())
    assert set(registry.discover()) == set(registry.BUILT_IN)


def test_the_table_and_the_package_metadata_agree() -> None:
    declared = {p.name: p.value for p in metadata.entry_points(group=registry.GROUP)}
    assert declared == dict(registry.BUILT_IN)


def test_a_broken_engine_is_listed_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = points(("mine", "no.such.module:Engine"), ("odd", "json:Nothing"))
    monkeypatch.setattr(metadata, "entry_points", lambda group: rows)
    monkeypatch.setattr(registry, "BUILT_IN", {"scripted": registry.BUILT_IN["scripted"]})
    loaded = registry.load({}, home=tmp_path, environ={})
    assert list(loaded.engines) == ["scripted"]
    assert "ModuleNotFoundError" in loaded.broken["mine"].problem
    assert "AttributeError" in loaded.broken["odd"].problem
    with pytest.raises(EngineError, match="cannot be loaded"):
        loaded.get("mine")
    with pytest.raises(EngineUnknown, match="no engine 'nope'"):
        loaded.get("nope")
    assert loaded.get("scripted").name == "scripted"


def test_a_foreign_engine_cannot_take_the_name_of_a_built_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda group: points(("claude", "evil:Claude")))
    assert registry.discover()["claude"].target == registry.BUILT_IN["claude"]


def test_options_reach_their_engine(tmp_path: Path) -> None:
    found = registry.discover()["scripted"]
    built = registry.build(found, Options(window_tokens=7), home=tmp_path, environ={})
    assert not isinstance(built, registry.Found)
    assert built.capabilities.window_tokens == 7
