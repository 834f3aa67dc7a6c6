"""Definitions, uses and imports of many languages, by patterns, in linear time."""

from __future__ import annotations

import time

import pytest

from mufakat.core.knowledge import outline, outline_patterns, source_name

LIGHT = "  public void light() {\n    dimmer();\n  }\n}\n"
SAMPLES = {
    "a.py": ("class Lamp:\n    def light(self):\n        return dimmer()\n", "Lamp.light"),
    "a.ts": ("export class Lamp {\n  light(): void {\n    dimmer();\n  }\n}\n", "Lamp.light"),
    "b.js": ("app.light = function (fn) {\n  dimmer(fn);\n}\n", "light"),
    "a.go": ("func (l *Lamp) Light() {\n\tdimmer()\n}\n", "Light"),
    "a.rs": ("pub(crate) async fn light() {\n    dimmer();\n}\n", "light"),
    "A.java": (f"public class Lamp {{\n{LIGHT}", "Lamp.light"),
    "a.rb": ("module Lamp\n  def self.light\n    dimmer\n  end\nend\n", "Lamp.light"),
    "a.cc": ("int Lamp::light(int x) {\n  return dimmer(x);\n}\n", "light"),
    "a.php": ("class Lamp {\n  public function light() {\n    dimmer();\n  }\n}", "Lamp.light"),
    "a.swift": ("struct Lamp {\n  func light() {\n    dimmer()\n  }\n}\n", "Lamp.light"),
    "a.ex": ("defmodule Lamp do\n  def light do\n    dimmer()\n  end\nend\n", "Lamp.light"),
    "a.hs": ("light :: Int -> Int\nlight x =\n  dimmer x\n", ""),
    "a.lua": ("function M.light()\n  dimmer()\nend\n", "light"),
    "a.sh": ("light() {\n  dimmer\n}\n", "light"),
    "a.zig": ("pub fn light() void {\n    dimmer();\n}\n", "light"),
}
"""A text, and the definition in which it uses `dimmer`."""


@pytest.mark.parametrize("path", SAMPLES)
def test_a_definition_with_its_scope_and_what_it_uses(path: str) -> None:
    text, around = SAMPLES[path]
    found = outline.read(text, source_name.language(path))
    assert "light" in [one.name.lower() for one in found.definitions]
    assert [one.scope for one in found.uses if one.name == "dimmer"] == [around]


def test_every_language_has_patterns() -> None:
    families = set(source_name.LANGUAGES.values())
    assert families == set(outline_patterns.DEFINITIONS) == set(outline_patterns.IMPORTS)


@pytest.mark.parametrize(
    ("language", "line", "module"),
    [
        ("python", "from a.b import c", "a.b"),
        ("javascript", "import { x } from './lamp'", "./lamp"),
        ("javascript", "const x = require('../lamp')", "../lamp"),
        ("go", '\t"example.org/x/lamp"', "example.org/x/lamp"),
        ("rust", "pub use crate::lamp::Lamp;", "crate::lamp::Lamp"),
        ("java", "import org.x.Lamp;", "org.x.Lamp"),
        ("ruby", "require_relative 'lamp'", "lamp"),
        ("c", '#include "x/lamp.h"', "x/lamp.h"),
        ("php", "use App\\Lamp;", "App\\Lamp"),
        ("zig", 'const lamp = @import("lamp.zig");', "lamp.zig"),
    ],
)
def test_an_import_as_it_is_written(language: str, line: str, module: str) -> None:
    assert [one.name for one in outline.read(line, language).imports] == [module]


HOSTILE = (
    "export " * 140,
    "a" * 1_000,
    "from " * 200,
    "import " * 140,
    "static " * 140,
    "a::" * 300,
    "f(" * 480,
    "public static <" * 60,
    "(" * 900,
    "x " * 480,
)


@pytest.mark.parametrize("language", sorted(outline_patterns.DEFINITIONS))
def test_lines_of_near_misses_take_no_time(language: str) -> None:
    text = "\n".join(HOSTILE * 20)
    began = time.process_time()
    outline.read(text, language)
    assert time.process_time() - began < 3


def test_a_pattern_without_bounds_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    careless = {**outline_patterns.DEFINITIONS, "zig": r"(?:[a-z]+ ?){1,12}(?P<name>!)"}
    began = time.process_time()
    outline.read("export " * 20, "zig")
    bounded = time.process_time() - began
    monkeypatch.setattr(outline_patterns, "DEFINITIONS", careless)
    began = time.process_time()
    outline.read("export " * 4, "zig")
    assert time.process_time() - began > 5 * bounded


def test_a_line_of_a_megabyte_is_cut() -> None:
    found = outline.read("call_me(" + "x" * 1_000_000 + "); late()", "javascript")
    assert [one.name for one in found.uses][0] == "call_me"
    assert "late" not in [one.name for one in found.uses]
