"""What a project could make Gemini CLI do: headless it trusts the folder or does not run.

In a trusted folder the project's own settings run hooks and servers, whatever the role may do.
So a project that brings such files is refused until the user has trusted it in Gemini itself.
"""

from __future__ import annotations

import json
from pathlib import Path

HARMLESS = frozenset({"$schema", "ui", "model"})
"""Settings that start nothing and load nothing."""
FOLDERS = ("policies", "agents", "extensions")
TRUST = frozenset({"TRUST_FOLDER", "TRUST_PARENT"})


def danger(cwd: Path, user: Path) -> str:
    """The file or folder for which this project is refused; empty when it may run."""
    if _trusted(cwd, user):
        return ""
    own = cwd / ".gemini"
    found = [own / name for name in FOLDERS if (own / name).is_dir()]
    if not _harmless(own / "settings.json"):
        found.append(own / "settings.json")
    found += [at / ".gemini" / ".env" for at in _inside(cwd, user)]
    return str(next((path for path in found if path.exists()), ""))


def _inside(cwd: Path, user: Path) -> list[Path]:
    """The folder and those above it, as far as they are not the user's own home."""
    home = user.parent
    return [at for at in (cwd, *cwd.parents) if at not in (home, *home.parents)]


def _harmless(settings: Path) -> bool:
    try:
        data = json.loads(settings.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and set(data) <= HARMLESS


def _trusted(cwd: Path, user: Path) -> bool:
    """Whether the user has trusted the folder, one above it, or a neighbour's parent."""
    try:
        data = json.loads((user / "trustedFolders.json").read_text(encoding="utf-8"))
        rules = {Path(path): str(level) for path, level in data.items()}
    except (OSError, ValueError, AttributeError):
        return False
    for at in (cwd, *cwd.parents):
        if at in rules:
            return rules[at] in TRUST
        if any(path.parent == at and level == "TRUST_PARENT" for path, level in rules.items()):
            return True
    return False
