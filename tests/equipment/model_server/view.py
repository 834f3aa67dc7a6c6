"""One protocol-independent look at a request body: what was asked, with which tools."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class View:
    """A request as the script and the tool aliases see it.

    `tools` maps callable name to JSON schema; `namespaces` and `code_mode` exist because Codex
    groups MCP tools and may offer a single JavaScript tool instead of functions.
    """

    protocol: str
    body: dict[str, Any]
    model: str = "?"
    stream: bool = False
    system: str = ""
    last_user: str = ""
    last_tool: str = ""
    messages: int = 0
    code_mode: bool = False
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    namespaces: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The whole body as one string, for lane patterns and size counts."""
        return json.dumps(self.body, ensure_ascii=False)

    @property
    def json_schema(self) -> dict[str, Any] | None:
        """The schema when the request wants a JSON answer, else None."""
        config = self.body.get("generationConfig") or {}
        if config.get("responseMimeType") == "application/json":
            return config.get("responseJsonSchema") or config.get("responseSchema") or {}
        wanted = (
            self.body.get("response_format")
            or (self.body.get("text") or {}).get("format")
            or (self.body.get("output_config") or {}).get("format")
        )
        if not wanted or wanted.get("type") == "text":
            return None
        return wanted.get("schema") or (wanted.get("json_schema") or {}).get("schema") or {}


def model_in_path(path: str) -> str:
    """The model name of a `/models/NAME:verb` path, else `?`."""
    found = re.search(r"models/([^:/?]+)", path)
    return found[1] if found else "?"


def text_of(content: Any) -> str:
    """Flatten the content of any of the four protocols into plain text."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(text_of(part) for part in content)
        case {"parts": parts}:
            return text_of(parts)
        case {"functionResponse": response}:
            return json.dumps(response.get("response"), ensure_ascii=False)
        case {"text": inner} | {"output": inner} | {"content": inner}:
            return text_of(inner)
        case _:
            return ""
