"""Gemini generateContent, streamed and not, spoken by Gemini CLI."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from equipment.model_server.answer import Answer, Event, Protocol, new_id
from equipment.model_server.view import View, model_in_path, text_of

STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def view(body: dict[str, Any], path: str) -> View:
    """Read a request body; the model and the streaming mode are in the path."""
    seen = View("gemini", body, model=model_in_path(path))
    seen.stream = "streamGenerateContent" in path
    seen.system = text_of(body.get("systemInstruction"))
    for group in body.get("tools") or []:
        for tool in group.get("functionDeclarations") or []:
            schema = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
            seen.tools[tool["name"]] = schema
    contents = body.get("contents") or []
    seen.messages = len(contents)
    for content in contents:
        if content.get("role", "user") == "user":
            _read_user(seen, content.get("parts") or [])
    return seen


def _read_user(seen: View, parts: list[dict[str, Any]]) -> None:
    for part in parts:
        if "functionResponse" in part:
            response = part["functionResponse"].get("response")
            seen.last_tool = json.dumps(response, ensure_ascii=False)
        elif "text" in part:
            seen.last_user = part["text"]


def events(answer: Answer) -> Iterator[Event]:
    """The chunk sequence of a streamed answer."""
    head = {"modelVersion": answer.model, "responseId": new_id("")}
    for part in _parts(answer):
        yield Event(None, {"candidates": [_candidate(part)], **head})
    last = {**_candidate({"text": ""}), "finishReason": "STOP"}
    yield Event(None, {"candidates": [last], **head, "usageMetadata": _usage(answer)})


def _candidate(part: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"role": "model", "parts": [part]}, "index": 0}


def _parts(answer: Answer) -> Iterator[dict[str, Any]]:
    if answer.thinking:
        yield {"text": answer.thinking, "thought": True}
    for piece in answer.pieces():
        yield {"text": piece}
    for call in answer.calls:
        yield {"functionCall": {"name": call.name, "args": call.args, "id": new_id("fc_")}}


def _usage(answer: Answer) -> dict[str, Any]:
    usage = answer.usage
    return {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.input + usage.output,
    }


def collapse(sequence: list[Event]) -> dict[str, Any]:
    """The same answer as one JSON document: neighbouring text pieces become one part."""
    parts: list[dict[str, Any]] = []
    for _, data in sequence:
        part = dict(data["candidates"][0]["content"]["parts"][0])
        if parts and _same_kind(parts[-1], part):
            parts[-1]["text"] += part["text"]
        elif part.get("text") != "":
            parts.append(part)
    document = sequence[-1].data
    document["candidates"][0]["content"]["parts"] = parts or [{"text": ""}]
    return document


def _same_kind(one: dict[str, Any], other: dict[str, Any]) -> bool:
    both_text = "text" in one and "text" in other
    return both_text and one.get("thought") == other.get("thought")


def error(status: int, message: str) -> dict[str, Any]:
    """The body of an HTTP error."""
    name = STATUS_NAMES.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": name}}


PROTOCOL = Protocol(
    name="gemini",
    path=r":(generate|streamGenerate)Content$",
    view=view,
    events=events,
    collapse=collapse,
    error=error,
)
