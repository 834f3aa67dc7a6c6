"""The rooms import what chapter and contract allow; a fault in each contract breaks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shape import sources

CONTRACTS = sources.REPOSITORY / ".importlinter"

FAULTS: dict[str, tuple[tuple[str, str], ...]] = {
    "rooms": (("new_room.py", ""), ("core/x.py", "import mufakat.ports.store")),
    "subjects": (("core/talk/x.py", "from mufakat.core.pack import budget"),),
    "core": (
        ("core/pack/x.py", "import time"),
        ("core/pack/x.py", "import random"),
        ("core/pack/x.py", "import os"),
        ("core/pack/x.py", "import socket"),
        ("core/pack/x.py", "import asyncio"),
        ("core/pack/x.py", "import pydantic"),
    ),
    "ports": (("ports/x.py", "import sqlalchemy"),),
    "services": (
        ("services/x.py", "import httpx"),
        ("services/x.py", "from mufakat.engines import registry"),
        ("services/x.py", "import mufakat.chat.webhook"),
        ("services/x.py", "import prometheus_client"),
    ),
    "engines": (
        ("engines/gemini/x.py", "import mufakat.engines.codex"),
        ("engines/new_engine.py", ""),
    ),
    "workers": (("storage/x.py", "from mufakat import settings"),),
    "storage": (("server/x.py", "import sqlite3"),),
    "indexes": (("retrieval/x.py", "import sqlalchemy"),),
    "doors": (
        ("cli/x.py", "from mufakat.engines import registry"),
        ("server/x.py", "import mufakat.storage"),
        ("cli/x.py", "import mufakat.retrieval"),
        ("server/x.py", "import mufakat.chat.webhook"),
    ),
    "cli": (("cli/x.py", "import mufakat.server.main"),),
    "sdk": (("core/x.py", "from mufakat.sdk import home"),),
    "sdk-itself": (
        ("sdk/x.py", "import httpx"),
        ("sdk/x.py", "from mufakat.core import tokens"),
    ),
}


def lint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the contracts over the package in `folder`/src."""
    program = "from importlinter.cli import lint_imports_command as run; run()"
    return subprocess.run(
        [sys.executable, "-c", program, "--no-cache", "--no-logo", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_rooms_keep_their_contracts() -> None:
    done = lint(sources.REPOSITORY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warnings" not in done.stdout, done.stdout


def test_every_contract_has_a_fault_to_catch() -> None:
    named = {
        line.removeprefix("[importlinter:contract:").rstrip("]\n")
        for line in CONTRACTS.read_text().split("\n")
        if line.startswith("[importlinter:contract:")
    }
    assert named == set(FAULTS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(sources.PACKAGE, folder / "src" / "mufakat", ignore=ignore)
    shutil.copy(CONTRACTS, folder)
    return folder


@pytest.mark.parametrize(
    ("contract", "name", "text"),
    [(contract, name, text) for contract, cases in FAULTS.items() for name, text in cases],
)
def test_a_fault_breaks_its_contract(copy: Path, contract: str, name: str, text: str) -> None:
    fault = copy / "src" / "mufakat" / name
    assert not fault.exists()
    fault.write_text(text + "\n")
    try:
        done = lint(copy, "--contract", contract)
    finally:
        fault.unlink()
    assert done.returncode == 1, done.stdout
    assert "1 broken" in done.stdout
