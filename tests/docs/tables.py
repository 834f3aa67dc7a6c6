"""The tables in docs/ that are made from the source. Run it to rewrite them: scripts/docs."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from mufakat.core.pack.mode import Mode
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import table
from mufakat.core.talk import turn
from mufakat.core.talk.agent import Permission
from mufakat.engines.claude import command as claude
from mufakat.engines.codex import command as codex
from mufakat.engines.gemini import command as gemini
from mufakat.engines.opencode import command as opencode
from mufakat.settings import (
    ChannelSettings,
    ChatSettings,
    EmbeddingSettings,
    EngineSettings,
    MemorySettings,
    Settings,
)

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
BEGIN = "<!-- scripts/docs writes from here: {name} -->\n"
END = "<!-- to here -->"
ENVIRONMENT = ("field", "environment")


def rows(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(cell or ' ' for cell in line)} |\n" for line in lines)


def settings() -> str:
    """Every field of the settings."""
    return _fields(
        Settings, lambda name: (f"`{name}`", f"`MUFAKAT_{name.upper()}`"), ("field", "environment")
    )


def engine_settings() -> str:
    """Every field of one engine's table."""
    return _fields(
        EngineSettings,
        lambda name: (f"`{name}`", f"`MUFAKAT_ENGINES__NAME__{name.upper()}`"),
        ("field", "environment"),
    )


def memory_settings() -> str:
    """Every field of the memory's table."""
    return _fields(
        MemorySettings, lambda name: (f"`{name}`", f"`MUFAKAT_MEMORY__{name.upper()}`"), ENVIRONMENT
    )


def embedding_settings() -> str:
    """Every field of the table of the embedding model."""
    return _fields(
        EmbeddingSettings,
        lambda name: (f"`{name}`", f"`MUFAKAT_EMBEDDING__{name.upper()}`"),
        ENVIRONMENT,
    )


def chat_settings() -> str:
    """Every field of the team chat's table."""
    return _fields(
        ChatSettings, lambda name: (f"`{name}`", f"`MUFAKAT_CHAT__{name.upper()}`"), ENVIRONMENT
    )


def channel_settings() -> str:
    """Every field of one channel's table."""
    return _fields(
        ChannelSettings,
        lambda name: (f"`{name}`", f"`MUFAKAT_CHAT__CHANNELS__NAME__{name.upper()}`"),
        ENVIRONMENT,
    )


def _fields(
    model: type[BaseModel], names: Callable[[str], tuple[str, str]], head: tuple[str, str]
) -> str:
    body = []
    for name, field in model.model_fields.items():
        default = "" if field.is_required() else f"`{json.dumps(field.default, default=_plain)}`"
        limits = ", ".join(_limit(bound) for bound in field.metadata)
        body.append((*names(name), default, limits, field.description or ""))
    return rows((*head, "default", "limits", "meaning"), body)


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {}
    return value.get_secret_value() if isinstance(value, SecretStr) else list(value)


def _limit(bound: Any) -> str:
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    found = [
        f"{sign} {getattr(bound, name):,}" for name, sign in signs.items() if hasattr(bound, name)
    ]
    return " ".join(found)


def _since(section: Section) -> str:
    if section.when is not None:
        return "a condition"
    if section.since is None:
        return "pulled"
    return "always" if section.since is Mode.LITE else section.since.label


def sections() -> str:
    """Every section of a pack, in order."""
    body = []
    for number, section in enumerate(table.SECTIONS, 1):
        share = "in full" if section.fixed else f"{section.weight:g} / {section.floor:,} / "
        if not section.fixed:
            share += "no limit" if section.ceiling is None else f"{section.ceiling:,}"
        mutable = "yes" if section.kind in table.MUTABLE else ""
        body.append(
            (
                str(number),
                f"`{section.kind}`",
                str(section.tier),
                _since(section),
                share,
                mutable,
                section.about,
            )
        )
    head = ("#", "section", "tier", "since", "weight / floor / ceiling", "`--mute`", "content")
    return rows(head, body)


def routes() -> str:
    """Every route of the HTTP door."""
    document = json.loads((DOCS / "openapi.json").read_text(encoding="utf-8"))
    body = []
    for path, methods in sorted(document["paths"].items()):
        for method, operation in methods.items():
            query = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "query"]
            options = ", ".join(f"`{name}`" for name in query)
            text = (operation.get("description") or operation.get("summary", "")).split("\n")[0]
            rights = [name for one in operation["security"] for name in one]
            tokens = ", ".join(name for name in rights if name != "operator")
            body.append((f"`{method.upper()} {path}`", options, tokens, text))
    return rows(("route", "query", "also for", "what it does"), body)


def failures() -> str:
    """Every way in which a turn can fail."""
    body = [
        (f"`{failure}`", "yes" if turn.ADVICE[failure].retryable else "", turn.ADVICE[failure].fix)
        for failure in turn.Failure
    ]
    return rows(("failure", "retry may help", "what to do"), body)


def roles() -> str:
    """Every built-in role and what it may do."""
    body = []
    for file in sorted((REPOSITORY / "src/mufakat/retrieval/roles").glob("*.md")):
        front = dict(re.findall(r"^(\w+): (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE))
        body.append((f"`{file.stem}`", f"`{front['permission']}`", front["description"]))
    return rows(("role", "permission", "what for"), body)


def permissions() -> str:
    """What each permission becomes on the command line of each engine."""
    flags = frozenset({"--tools"})
    body = []
    for level in Permission:
        policy = tomllib.loads(gemini.policy(level))["rule"]
        rules = opencode.permission(level, ())
        allowed = ", ".join(tool for tool, rule in rules.items() if rule == "allow")
        body.append(
            (
                f"`{level}`",
                f"`{' '.join(claude.permission(level, (), flags))}`",
                f"`sandbox_mode={codex.SANDBOX[level]}`, `approval_policy=never`",
                "; ".join(f"{rule['decision']} `{', '.join(rule['toolName'])}`" for rule in policy),
                f"allow `{allowed}`; deny the rest",
            )
        )
    return rows(("permission", "claude", "codex", "gemini", "opencode"), body)


def decisions() -> str:
    """Every decision note."""
    notes = sorted(DOCS.glob("decisions/[0-9]*.md"))
    titles = [
        note.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ") for note in notes
    ]
    links = (f"[{note.stem}]({note.name})" for note in notes)
    return rows(("note", "decision"), zip(links, titles, strict=True))


MADE: dict[str, dict[str, Callable[[], str]]] = {
    "settings.md": {
        "settings": settings,
        "engine settings": engine_settings,
        "memory settings": memory_settings,
        "embedding settings": embedding_settings,
        "chat settings": chat_settings,
        "channel settings": channel_settings,
    },
    "pack.md": {"sections": sections},
    "http.md": {"routes": routes},
    "events.md": {"failures": failures},
    "engines.md": {"roles": roles, "permissions": permissions},
    "decisions/README.md": {"decisions": decisions},
}


def rendered(text: str, made: dict[str, Callable[[], str]]) -> str:
    """`text` with every marked table made anew; raises ValueError where a mark is missing."""
    for name, make in made.items():
        begin = BEGIN.format(name=name)
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(END), re.DOTALL)
        block = f"{begin}{make()}{END}"
        text, count = pattern.subn(lambda _, block=block: block, text)
        if count != 1:
            raise ValueError(f"the marks of table {name!r} stand {count} times")
    return text


def main() -> None:
    """Rewrite every table that is stale."""
    for name, made in MADE.items():
        file = DOCS / name
        old = file.read_text(encoding="utf-8")
        new = rendered(old, made)
        if new != old:
            file.write_text(new, encoding="utf-8")
            print(f"docs: {name} rewritten", file=sys.stderr)


if __name__ == "__main__":
    main()
