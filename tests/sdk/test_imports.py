"""The SDK can be vendored: it needs the standard library and nothing else."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

import mufakat.sdk

FILES = sorted(Path(mufakat.sdk.__file__).parent.glob("*.py"))


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_the_standard_library(path: Path) -> None:
    for name in imported(path):
        inside = name.startswith(("mufakat.sdk", "mufakat.core.coordination"))
        assert inside or name.partition(".")[0] in sys.stdlib_module_names, name
