"""HTTP: which request is a model call, and how its turn of the script is sent."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol, cast

from equipment.model_server import (
    answer,
    anthropic,
    chat,
    faults,
    gemini,
    http_body,
    records,
    responses,
    script,
    tools,
    view,
    wire_out,
)

PROTOCOLS = (anthropic.PROTOCOL, responses.PROTOCOL, chat.PROTOCOL, gemini.PROTOCOL)
TOKEN_COUNTS = {"/count_tokens": "input_tokens", ":countTokens": "totalTokens"}
MODELS = {"object": "list", "data": [{"id": "stub-1", "object": "model"}]}
CONTROL = "/__model_server/"


class Owner(Protocol):
    """What a handler needs of the server it belongs to."""

    script: script.Script
    records: records.Records
    closing: threading.Event
    max_requests: int


class Handler(BaseHTTPRequestHandler):
    """One connection of one client; keep-alive."""

    protocol_version = "HTTP/1.1"
    server_version = "model-server"
    sys_version = ""

    def setup(self) -> None:
        """Prepare the connection."""
        super().setup()
        self.owner = cast(Owner, self.server)
        self.wire = wire_out.Wire(self, self.owner.closing)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the records hold every request."""

    def do_HEAD(self) -> None:
        """Answer a probe of the base address."""
        self._keep("HEAD", {})
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        """Control questions, model lists."""
        if self.path == CONTROL + "requests":
            summaries = [request.summary() for request in self.owner.records.all()]
            return self.wire.document(200, summaries)
        self._keep("GET", {})
        if re.search(r"/models(\?|$)", self.path):
            listed = self.owner.script.data.get("models") or MODELS
            return self.wire.document(200, listed)
        return self._unknown()

    def do_POST(self) -> None:
        """Model calls, token counts, and the control call that replaces the script."""
        raw = http_body.read(self.rfile, self.headers)
        body = http_body.parse(raw)
        if self.path == CONTROL + "script":
            self.owner.script = script.Script(body)
            return self.wire.document(200, {"ok": True})
        path = self.path.split("?")[0]
        for protocol in PROTOCOLS:
            if re.search(protocol.path, path):
                return self._model_call(protocol, body)
        self._keep("POST", body)
        for ending, key in TOKEN_COUNTS.items():
            if path.endswith(ending):
                return self.wire.document(200, {key: len(raw) // 4})
        return self._unknown()

    def _unknown(self) -> None:
        self.wire.document(404, {"error": {"message": f"model server: no path {self.path}"}})

    def _keep(self, method: str, body: dict[str, Any], **known: Any) -> records.Request:
        headers = records.redacted(dict(self.headers))
        return self.owner.records.add(method, self.path, headers=headers, body=body, **known)

    def _model_call(self, protocol: answer.Protocol, body: dict[str, Any]) -> None:
        seen = protocol.view(body, self.path)
        place, turn = self.owner.script.next(seen)
        request = self._keep(
            "POST",
            body,
            protocol=protocol.name,
            model=seen.model,
            turn=place,
            stream=seen.stream,
        )
        if request.n > self.owner.max_requests:
            refusal = protocol.error(500, "model server: its last request was answered")
            return self.wire.document(500, refusal)
        try:
            self._play(protocol, turn, seen, request.n)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # a client that hangs up is part of many tests

    def _play(
        self, protocol: answer.Protocol, turn: script.Turn, seen: view.View, number: int
    ) -> None:
        if faults.before_answer(turn, protocol, self.wire):
            return
        sequence = list(protocol.events(self._answer(turn, seen, number)))
        if not seen.stream:
            document = protocol.collapse(sequence)
            if not faults.instead_of_document(turn, protocol, document, self.wire):
                self.wire.document(200, document)
            return
        self.wire.open_stream()
        delay = self.owner.script.setting(turn, "delay", 0.0)
        if faults.in_stream(turn, sequence, self.wire, delay):
            return
        for name, data in sequence:
            self.wire.event(name, data)
            self.wire.pause(delay)
        if protocol.last_line:
            self.wire.chunk(protocol.last_line)
        self.wire.chunk(b"")

    def _answer(self, turn: script.Turn, seen: view.View, number: int) -> answer.Answer:
        text = script.render(turn.get("text", ""), seen, number)
        calls = tuple(tools.resolve(call, seen) for call in turn.get("tools", ()))
        if script.fault_of(turn) is script.Fault.EMPTY:
            text, calls = "", ()
        said = text + json.dumps([call.args for call in calls]) if calls else text
        return answer.Answer(
            model=seen.model,
            text=text,
            calls=calls,
            usage=self.owner.script.usage(turn, seen, said),
            thinking=turn.get("thinking", ""),
            chunk=int(self.owner.script.setting(turn, "chunk", 24)),
        )
