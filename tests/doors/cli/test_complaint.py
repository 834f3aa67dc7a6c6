"""Errors as the command line tells them."""

from __future__ import annotations

from pathlib import Path

from mufakat.cli import complaint
from mufakat.cli.session import Session

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


def test_row_62_a_token_in_a_fault_reaches_neither_screen_nor_log(tmp_path: Path) -> None:
    told = complaint.read(Session(tmp_path), ValueError(f"not a header: {TOKEN}"))
    assert told.code == "internal" and TOKEN not in told.message
    log = (tmp_path / "logs" / "cli.log").read_text()
    assert "ValueError" in log and TOKEN not in log
