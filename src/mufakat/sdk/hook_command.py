"""The command line that starts the hook client."""

from __future__ import annotations

import sys
from pathlib import Path


def words() -> tuple[str, ...]:
    """This very Python, without its site, and one file; engine and moment follow.

    It stays the same in every version: Codex trusts a hook by its text.
    """
    return (sys.executable, "-I", "-S", str(Path(__file__).with_name("hook.py")))
