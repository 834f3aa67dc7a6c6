"""Anthropic Messages: POST /v1/messages, spoken by Claude Code (and OpenCode)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from equipment.model_server.answer import Answer, Call, Event, Protocol, cut, new_id
from equipment.model_server.view import View, text_of

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


def view(body: dict[str, Any], path: str) -> View:
    """Read a request body."""
    del path
    seen = View("anthropic", body, model=body.get("model", "?"), stream=bool(body.get("stream")))
    seen.system = text_of(body.get("system"))
    for tool in body.get("tools") or []:
        seen.tools[tool.get("name", "?")] = tool.get("input_schema") or {}
    messages = body.get("messages") or []
    seen.messages = len(messages)
    for message in messages:
        if message["role"] == "user":
            _read_user(seen, message["content"])
    return seen


def _read_user(seen: View, content: str | list[dict[str, Any]]) -> None:
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    for part in parts:
        if part.get("type") == "tool_result":
            seen.last_tool = text_of(part.get("content"))
        elif part.get("type") == "text":
            seen.last_user = part["text"]


def events(answer: Answer) -> Iterator[Event]:
    """The event sequence of a streamed answer."""
    usage = {
        "input_tokens": answer.usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.usage.cached,
        "output_tokens": 1,
    }
    message: dict[str, Any] = {
        "id": new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield _event("message_start", message=message)
    for index, (start, deltas) in enumerate(_blocks(answer)):
        yield _event("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = "tool_use" if answer.calls else "end_turn"
    yield _event(
        "message_delta",
        delta={"stop_reason": stop, "stop_sequence": None},
        usage={"output_tokens": answer.usage.output},
    )
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> Event:
    return Event(kind, {"type": kind, **fields})


def _blocks(answer: Answer) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    if answer.thinking:
        yield (
            {"type": "thinking", "thinking": "", "signature": ""},
            [
                {"type": "thinking_delta", "thinking": answer.thinking},
                {"type": "signature_delta", "signature": "c3R1Yg=="},
            ],
        )
    if answer.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in answer.pieces()]
        yield {"type": "text", "text": ""}, deltas
    for call in answer.calls:
        yield _tool_block(call)


def _tool_block(call: Call) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    start = {"type": "tool_use", "id": new_id("toolu_"), "name": call.name, "input": {}}
    return start, [
        {"type": "input_json_delta", "partial_json": piece}
        for piece in cut(json.dumps(call.args), 60)
    ]


def collapse(sequence: list[Event]) -> dict[str, Any]:
    """The same answer as one JSON document."""
    message: dict[str, Any] = {}
    arguments: list[str] = []
    for _, data in sequence:
        match data["type"]:
            case "message_start":
                message = data["message"]
            case "content_block_start":
                message["content"].append(dict(data["content_block"]))
                arguments.append("")
            case "content_block_delta":
                arguments[-1] += data["delta"].get("partial_json", "")
                _extend(message["content"][-1], data["delta"])
            case "message_delta":
                message["stop_reason"] = data["delta"]["stop_reason"]
                message["usage"]["output_tokens"] = data["usage"]["output_tokens"]
    for block, text in zip(message["content"], arguments, strict=True):
        if block["type"] == "tool_use":
            block["input"] = json.loads(text or "{}")
    return message


def _extend(block: dict[str, Any], delta: dict[str, Any]) -> None:
    for key in ("text", "thinking", "signature"):
        if key in delta:
            block[key] += delta[key]


def error(status: int, message: str) -> dict[str, Any]:
    """The body of an HTTP error."""
    kind = ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


PROTOCOL = Protocol(
    name="anthropic",
    path=r"/messages$",
    view=view,
    events=events,
    collapse=collapse,
    error=error,
)
