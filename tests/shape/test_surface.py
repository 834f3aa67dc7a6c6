"""What others may build on: pinned here, so that a change of it is a decision."""

from __future__ import annotations

import importlib
from importlib import metadata

import pytest

import mufakat
from mufakat.engines import registry

PUBLIC = ("Agent", "AsyncAgent", "MufakatError", "__version__")
PROGRAMS = {"mufakat": "mufakat.cli.main:main"}
ENGINES = {
    "claude": "mufakat.engines.claude:Claude",
    "codex": "mufakat.engines.codex:Codex",
    "gemini": "mufakat.engines.gemini:Gemini",
    "opencode": "mufakat.engines.opencode:OpenCode",
    "openai_compat": "mufakat.engines.openai_compat:OpenAICompatible",
    "scripted": "mufakat.engines.scripted:Scripted",
}


def entry_points(group: str) -> dict[str, str]:
    """The entry points that the installed package declares."""
    points = metadata.distribution("mufakat").entry_points
    return {point.name: point.value for point in points if point.group == group}


def test_the_public_names_are_pinned() -> None:
    assert tuple(mufakat.__all__) == PUBLIC
    assert all(hasattr(mufakat, name) for name in PUBLIC)
    undeclared = {name for name in vars(mufakat) if not name.startswith("_")} - set(PUBLIC)
    assert undeclared <= {"core", "sdk", "cli", "app", "knowledge", "settings", "engines"} | {
        "ports",
        "services",
        "storage",
        "retrieval",
        "chat",
        "server",
    }


def test_the_entry_points_are_pinned() -> None:
    assert entry_points("console_scripts") == PROGRAMS
    assert entry_points(registry.GROUP) == ENGINES
    assert dict(registry.BUILT_IN) == ENGINES


@pytest.mark.parametrize("target", [*PROGRAMS.values(), *ENGINES.values()])
def test_every_entry_point_leads_somewhere(target: str) -> None:
    module, _, name = target.partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_the_version_is_the_installed_one() -> None:
    assert metadata.version("mufakat") == mufakat.__version__
