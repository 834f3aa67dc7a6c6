"""Session ids come from a foreign process: only well-formed, expected ones go any further."""

from __future__ import annotations

import re
import uuid

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
OPENCODE = re.compile(r"ses_[0-9A-Za-z]{10,40}")


def accepted(found: object, pattern: re.Pattern[str], expected: str) -> str:
    """The id as it may be stored and resumed; empty for a malformed or another session's."""
    if not isinstance(found, str) or not pattern.fullmatch(found):
        return ""
    return found if expected in ("", found) else ""


def named_for(run_id: str) -> str:
    """A new session id for engines that take ours; the same run gives the same id."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"mufakat:{run_id}"))
