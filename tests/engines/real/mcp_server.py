"""A tiny MCP server on stdin and stdout, standard library alone: one tool that answers."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

TOOL = {
    "name": "whoami",
    "description": "Say who the agent is.",
    "inputSchema": {"type": "object", "properties": {"note": {"type": "string"}}},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result for a request; None for a method that is not known."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "tiny", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            note = params.get("arguments", {}).get("note")
            text = f"TINY-RESULT agent={os.environ.get('TINY_AGENT')} note={note}"
            return {"content": [{"type": "text", "text": text}]}
        case "ping":
            return {}
        case _:
            return None


def main() -> None:
    """Serve until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        result = answer(request["method"], request.get("params") or {})
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        if result is None:
            reply["error"] = {"code": -32601, "message": "unknown method"}
        else:
            reply["result"] = result
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
