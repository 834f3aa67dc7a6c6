"""OpenAI chat completions: POST /v1/chat/completions, spoken by OpenCode and local models."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from equipment.model_server import openai_error
from equipment.model_server.answer import Answer, Event, Protocol, new_id
from equipment.model_server.view import View, text_of


def view(body: dict[str, Any], path: str) -> View:
    """Read a request body."""
    del path
    seen = View("chat", body, model=body.get("model", "?"), stream=bool(body.get("stream")))
    for tool in body.get("tools") or []:
        function = tool.get("function") or {}
        seen.tools[function.get("name", "?")] = function.get("parameters") or {}
    messages = body.get("messages") or []
    seen.messages = len(messages)
    for message in messages:
        text = text_of(message.get("content"))
        match message.get("role"):
            case "system" | "developer":
                seen.system += text
            case "user":
                seen.last_user = text
            case "tool":
                seen.last_tool = text
    return seen


def events(answer: Answer) -> Iterator[Event]:
    """The chunk sequence of a streamed answer."""
    head = {
        "id": new_id("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": answer.model,
    }
    for delta in _deltas(answer):
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        yield Event(None, {**head, "choices": [choice]})
    finish = "tool_calls" if answer.calls else "stop"
    last = {"index": 0, "delta": {}, "finish_reason": finish}
    yield Event(None, {**head, "choices": [last]})
    yield Event(None, {**head, "choices": [], "usage": _usage(answer)})


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    if answer.thinking:
        yield {"reasoning_content": answer.thinking}
    for piece in answer.pieces():
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": json.dumps(call.args)}
        tool = {"index": index, "id": new_id("call_"), "type": "function", "function": function}
        yield {"tool_calls": [tool]}


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def collapse(sequence: list[Event]) -> dict[str, Any]:
    """The same answer as one JSON document."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    finish = None
    for _, data in sequence:
        for choice in data["choices"]:
            _extend(message, choice["delta"])
            finish = choice["finish_reason"] or finish
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {**sequence[-1].data, "object": "chat.completion", "choices": [choice]}


def _extend(message: dict[str, Any], delta: dict[str, Any]) -> None:
    message["content"] += delta.get("content") or ""
    if "reasoning_content" in delta:
        message["reasoning_content"] = delta["reasoning_content"]
    for call in delta.get("tool_calls") or []:
        message.setdefault("tool_calls", []).append(call)


PROTOCOL = Protocol(
    name="chat",
    path=r"/chat/completions$",
    view=view,
    events=events,
    collapse=collapse,
    error=openai_error.error,
    last_line=b"data: [DONE]\n\n",
)
