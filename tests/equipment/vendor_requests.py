"""Requests as the client of each vendor sends them, for the tests of the model server."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from equipment.model_server import server

PROTOCOLS = ("anthropic", "responses", "chat", "gemini")
SHELLS = {
    "anthropic": "Bash",
    "responses": "exec_command",
    "chat": "bash",
    "gemini": "run_shell_command",
}


def schema(argument: str) -> dict[str, Any]:
    text = {"type": "string"}
    properties = {argument: text, "description": text}
    return {"type": "object", "properties": properties, "required": list(properties)}


def request(protocol: str, text: str, *, stream: bool) -> tuple[str, dict[str, Any]]:
    """Path and body of a request as each vendor's client sends it."""
    name = SHELLS[protocol]
    said = [{"role": "user", "content": text}]
    match protocol:
        case "anthropic":
            tool: dict[str, Any] = {"name": name, "input_schema": schema("command")}
            return "/v1/messages", {
                "model": "m",
                "stream": stream,
                "messages": said,
                "tools": [tool],
            }
        case "responses":
            tool = {"type": "function", "name": name, "parameters": schema("cmd")}
            return "/v1/responses", {
                "model": "m",
                "stream": stream,
                "input": [{"type": "message", **said[0]}],
                "tools": [tool],
            }
        case "chat":
            tool = {"type": "function", "function": {"name": name, "parameters": schema("command")}}
            return "/v1/chat/completions", {
                "model": "m",
                "stream": stream,
                "messages": said,
                "tools": [tool],
            }
        case _:
            verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
            tool = {"name": name, "parametersJsonSchema": schema("command")}
            return f"/v1beta/models/m:{verb}", {
                "contents": [{"role": "user", "parts": [{"text": text}]}],
                "tools": [{"functionDeclarations": [tool]}],
            }


def post(base: str, path: str, body: dict[str, Any], timeout: float = 10.0) -> str:
    headers = {"content-type": "application/json", "authorization": "Bearer dummy-key"}
    call = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(call, timeout=timeout) as answer:
        return str(answer.read().decode())


def ask(model: server.ModelServer, protocol: str, text: str = "hi", *, stream: bool = False) -> str:
    return post(model.base, *request(protocol, text, stream=stream))


def events(raw: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in raw.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]
