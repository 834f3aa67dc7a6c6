"""The tools as agents see them: name, text, schema; the texts are files, reviewed as prose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any

from mufakat.server.mcp import arguments
from mufakat.server.mcp.arguments import Arguments

MODELS: Mapping[str, type[Arguments]] = MappingProxyType(
    {
        "send": arguments.Send,
        "inbox": arguments.Inbox,
        "ack": arguments.Ack,
        "state": arguments.State,
        "lease": arguments.Lease,
        "who": arguments.Who,
        "wait": arguments.Wait,
        "context_pull": arguments.ContextPull,
    }
)
READ_ONLY = frozenset({"who", "wait", "context_pull"})
_NOISE = frozenset({"title", "default", "maxLength", "maxItems", "maximum", "minimum"})
"""Parts of a schema that cost an agent tokens and tell it nothing; the models check them."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One line of the list that an agent pays for in every request."""

    name: str
    description: str
    schema: dict[str, Any]
    read_only: bool


def listed() -> tuple[Tool, ...]:
    """All tools."""
    return tuple(
        Tool(name, text(name), _lean(model.model_json_schema()), name in READ_ONLY)
        for name, model in MODELS.items()
    )


def text(name: str) -> str:
    """The text of a tool, or of the server's `instructions`."""
    folder = resources.files("mufakat.server.mcp") / "texts"
    return (folder / f"{name}.md").read_text("utf-8").strip()


def _lean(schema: Any, *, named: bool = False) -> Any:
    """A schema without noise; members of `properties` are names and stay."""
    if isinstance(schema, dict):
        return {
            key: _lean(value, named=key == "properties")
            for key, value in schema.items()
            if named or key not in _NOISE
        }
    return [_lean(one) for one in schema] if isinstance(schema, list) else schema
