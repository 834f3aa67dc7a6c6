"""OpenAI Responses: POST /v1/responses, spoken by Codex, with and without its code mode."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from equipment.model_server import openai_error
from equipment.model_server.answer import Answer, Call, Event, Protocol, new_id
from equipment.model_server.view import View, text_of


def view(body: dict[str, Any], path: str) -> View:
    """Read a request body."""
    del path
    seen = View("responses", body, model=body.get("model", "?"), stream=bool(body.get("stream")))
    seen.system = body.get("instructions") or ""
    _read_tools(seen, body.get("tools") or [])
    items = body.get("input") or []
    if isinstance(items, str):
        items = [{"type": "message", "role": "user", "content": items}]
    seen.messages = len(items)
    for item in items:
        _read_item(seen, item)
    return seen


def _read_item(seen: View, item: dict[str, Any]) -> None:
    match item.get("type", "message"), item.get("role"):
        case "message", "user":
            seen.last_user = text_of(item.get("content"))
        case "message", "developer" | "system":
            seen.system += "\n" + text_of(item.get("content"))
        case "additional_tools", _:  # code mode declares its tools inside the input
            _read_tools(seen, item.get("tools") or [])
        case kind, _ if kind.endswith("_output"):
            seen.last_tool = text_of(item.get("output"))


def _read_tools(seen: View, tools: list[dict[str, Any]], namespace: str | None = None) -> None:
    for tool in tools:
        name = tool.get("name") or tool.get("type") or "?"
        if tool.get("type") == "namespace":
            _read_tools(seen, tool.get("tools") or [], name)
            continue
        seen.tools[name] = tool.get("parameters") or {}
        if tool.get("type") == "custom" and name == "exec":
            seen.code_mode |= "JavaScript" in tool.get("description", "")
        if namespace:
            seen.namespaces[name] = namespace


def events(answer: Answer) -> Iterator[Event]:
    """The event sequence of a streamed answer."""
    for number, (kind, fields) in enumerate(_sequence(answer), start=1):
        yield Event(kind, {"type": kind, "sequence_number": number, **fields})


def _sequence(answer: Answer) -> Iterator[tuple[str, dict[str, Any]]]:
    response: dict[str, Any] = {
        "id": new_id("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "model": answer.model,
        "status": "in_progress",
        "output": [],
    }
    yield "response.created", {"response": response}
    yield "response.in_progress", {"response": response}
    output: list[dict[str, Any]] = []
    for item in _items(answer):
        place = {"output_index": len(output)}
        yield "response.output_item.added", {**place, "item": _started(item)}
        for kind, fields in _deltas(item, answer):
            yield kind, {"item_id": item["id"], **place, **fields}
        yield "response.output_item.done", {**place, "item": item}
        output.append(item)
    done = {**response, "status": "completed", "output": output, "usage": _usage(answer)}
    yield "response.completed", {"response": done}


def _items(answer: Answer) -> Iterator[dict[str, Any]]:
    if answer.thinking:
        yield {
            "type": "reasoning",
            "id": new_id("rs_"),
            "summary": [{"type": "summary_text", "text": answer.thinking}],
            "encrypted_content": "c3R1Yg==",
        }
    if answer.text:
        yield {
            "type": "message",
            "id": new_id("msg_"),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
        }
    for call in answer.calls:
        yield _call_item(call)


def _call_item(call: Call) -> dict[str, Any]:
    item = {"call_id": new_id("call_"), "name": call.name, "status": "completed"}
    if call.namespace:
        item["namespace"] = call.namespace
    if call.raw is not None:
        return {"type": "custom_tool_call", "id": new_id("ctc_"), "input": call.raw, **item}
    arguments = json.dumps(call.args)
    return {"type": "function_call", "id": new_id("fc_"), "arguments": arguments, **item}


def _started(item: dict[str, Any]) -> dict[str, Any]:
    match item["type"]:
        case "reasoning":
            return {**item, "summary": []}
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case _:
            return item


def _deltas(item: dict[str, Any], answer: Answer) -> Iterator[tuple[str, dict[str, Any]]]:
    if item["type"] == "reasoning":
        empty = {"type": "summary_text", "text": ""}
        yield "response.reasoning_summary_part.added", {"summary_index": 0, "part": empty}
        yield (
            "response.reasoning_summary_text.delta",
            {"summary_index": 0, "delta": answer.thinking},
        )
    if item["type"] == "message":
        part = {"type": "output_text", "text": "", "annotations": []}
        yield "response.content_part.added", {"content_index": 0, "part": part}
        for piece in answer.pieces():
            yield "response.output_text.delta", {"content_index": 0, "delta": piece}
        yield "response.output_text.done", {"content_index": 0, "text": answer.text}


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input + usage.output,
    }


def collapse(sequence: list[Event]) -> dict[str, Any]:
    """The same answer as one JSON document."""
    response: dict[str, Any] = sequence[-1].data["response"]
    return response


PROTOCOL = Protocol(
    name="responses",
    path=r"/responses$",
    view=view,
    events=events,
    collapse=collapse,
    error=openai_error.error,
)
