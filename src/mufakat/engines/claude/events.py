"""Reading Claude Code's stream: pieces of text, tools, retries, and the one result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure
from mufakat.core.talk.usage import Usage
from mufakat.engines import failure, fields
from mufakat.engines.claude import counting
from mufakat.engines.cli import session_id, verdict
from mufakat.engines.transcript import Transcript

Event = Mapping[str, object]
Events = list[stream.StreamEvent]

SILENT_TYPES = frozenset({"rate_limit_event", "keep_alive", "control_response"})
SILENT = frozenset(
    {
        "status",
        "thinking_tokens",
        "ui_invalidate",
        "task_started",
        "task_updated",
        "task_progress",
        "task_notification",
        "hook_started",
        "hook_progress",
        "hook_response",
        "files_persisted",
    }
)
"""Subtypes of `system` that say nothing a person needs."""
SILENT_DELTAS = frozenset({"signature_delta", "input_json_delta", "citations_delta"})
SILENT_FRAMES = frozenset(
    {"content_block_start", "content_block_stop", "message_stop", "ping", "error"}
)
STOPS = {
    "error_max_turns": Failure.LIMIT,
    "error_max_budget_usd": Failure.LIMIT,
    "prompt_too_long": Failure.TOO_LONG,
}


@dataclass(slots=True)
class Claude:
    """The state of one stream; `expected` is the only session id it may report."""

    expected: str
    before: Usage = field(default_factory=Usage)
    """The session's counters before this turn."""
    session: str = ""
    script: Transcript = field(default_factory=Transcript)
    meter: counting.Meter = field(default_factory=counting.Meter)
    tools: dict[str, stream.Tool] = field(default_factory=dict)
    result: Event | None = None
    error: str = ""
    error_status: int = 0
    warning: str = ""
    thought_streamed: bool = False

    def feed(self, event: Event) -> Events:
        """Take the next object of the stream."""
        kind = fields.text(event, "type")
        if kind in SILENT_TYPES:
            return []
        handlers: Mapping[str, Callable[[Event], Events]] = {
            "system": self._system,
            "stream_event": self._frame,
            "assistant": self._assistant,
            "user": self._tool_results,
            "result": self._result,
        }
        handle = handlers.get(kind)
        return handle(event) if handle else [stream.Unknown(kind or "untyped", event)]

    def stray(self, line: str) -> Events:
        """A text line between the objects is only worth a notice."""
        return [stream.Notice(failure.shown(line), "debug")]

    def _system(self, event: Event) -> Events:
        subtype = fields.text(event, "subtype")
        if subtype in SILENT:
            return []
        handlers: Mapping[str, Callable[[Event], Events]] = {
            "init": self._init,
            "api_retry": self._retry,
            "permission_denied": self._denied,
            "compact_boundary": _compacted,
            "notification": _informed,
            "informational": _informed,
        }
        handle = handlers.get(subtype)
        return handle(event) if handle else [stream.Unknown(f"system/{subtype}", event)]

    def _denied(self, event: Event) -> Events:
        id_ = fields.text(event, "tool_use_id")
        call = self.tools.get(id_)
        request = f"{call.name}: {call.input}" if call else fields.text(event, "tool_name")
        return [stream.PermissionAsked(id_, request, granted=False)]

    def _init(self, event: Event) -> Events:
        found = event.get("session_id")
        self.session = session_id.accepted(found, session_id.UUID, self.expected)
        if not self.session:
            return [stream.Notice("Claude named an unexpected session; not kept.", "warning")]
        version = fields.text(event, "claude_code_version")
        broken = [
            stream.Notice(f"MCP server {fields.text(row, 'name')} did not start.", "warning")
            for row in fields.rows(event, "mcp_servers")
            if fields.text(row, "status") == "failed"
        ]
        return [stream.SessionStarted(self.session, fields.text(event, "model"), version), *broken]

    def _retry(self, event: Event) -> Events:
        status, why = fields.count(event, "error_status"), fields.text(event, "error")
        self.warning = f"attempt {fields.count(event, 'attempt')} failed: {status or ''} {why}"
        voided = self.script.void("the model's server broke off")
        return [*voided, stream.Notice(f"Claude tries again: {self.warning}", "warning")]

    def _frame(self, event: Event) -> Events:
        if self._is_sub_agent(event):
            return []
        frame = fields.table(event, "event")
        match fields.text(frame, "type"):
            case "message_start":
                self.meter.start(fields.table(frame, "message"))
                self.thought_streamed = False
                return self.script.void("the model began anew")
            case "message_delta":
                self.meter.grow(fields.table(frame, "usage"))
                return [stream.UsageSeen(self.meter.so_far)]
            case "content_block_delta":
                return self._delta(fields.table(frame, "delta"), event)
            case kind if kind in SILENT_FRAMES:
                return []
            case kind:
                return [stream.Unknown(f"stream_event/{kind}", event)]

    def _delta(self, delta: Event, event: Event) -> Events:
        match fields.text(delta, "type"):
            case "text_delta":
                return self.script.piece(fields.text(delta, "text"))
            case "thinking_delta":
                self.thought_streamed = True
                return [stream.Thought(fields.text(delta, "thinking"))]
            case kind if kind in SILENT_DELTAS:
                return []
            case kind:
                return [stream.Unknown(f"stream_event/{kind}", event)]

    def _assistant(self, event: Event) -> Events:
        message = fields.table(event, "message")
        blocks = fields.rows(message, "content")
        if event.get("is_api_error_message") or fields.text(message, "model") == "<synthetic>":
            self.error = fields.flat(message.get("content"))
            self.error_status = fields.count(event, "api_error_status")
            return self.script.void("the model's server broke off")
        if self._is_sub_agent(event):
            blocks = [block for block in blocks if fields.text(block, "type") == "tool_use"]
        self.meter.seen(message)
        return [told for block in blocks for told in self._block(block)]

    def _block(self, block: Event) -> Events:
        match fields.text(block, "type"):
            case "text":
                return self.script.whole(fields.text(block, "text"))
            case "thinking" | "redacted_thinking":
                words = "" if self.thought_streamed else fields.text(block, "thinking")
                return [stream.Thought(words)] if words else []
            case "tool_use" | "server_tool_use" | "mcp_tool_use":
                call = stream.Tool(
                    fields.text(block, "id"),
                    fields.text(block, "name"),
                    stream.ToolStatus.RUNNING,
                    input=fields.line(block.get("input")),
                )
                self.tools[call.id] = call
                return [call]
            case kind:
                return [stream.Unknown(f"assistant/{kind}", block)]

    def _tool_results(self, event: Event) -> Events:
        message = fields.table(event, "message")
        return [
            self._tool_ended(block)
            for block in fields.rows(message, "content")
            if fields.text(block, "type") == "tool_result"
        ]

    def _tool_ended(self, block: Event) -> stream.Tool:
        id_ = fields.text(block, "tool_use_id")
        begun = self.tools.pop(id_, None)
        failed = block.get("is_error") is True
        return stream.Tool(
            id_,
            begun.name if begun else "",
            stream.ToolStatus.FAILED if failed else stream.ToolStatus.OK,
            input=begun.input if begun else "",
            output=fields.flat(block.get("content")),
        )

    def _result(self, event: Event) -> Events:
        if self.result is not None:
            return [stream.Unknown("result/second", event)]
        self.result = event
        usage, _ = self.meter.settle(event, self.before)
        return [stream.UsageSeen(usage)]

    def _is_sub_agent(self, event: Event) -> bool:
        return bool(event.get("parent_tool_use_id"))

    def said(self, exit_code: int | None) -> verdict.Said:
        """What it all came to; `is_error` counts, not the subtype."""
        del exit_code
        usage, total = self.meter.settle(self.result, self.before)
        told = verdict.Said(
            text=self.script.answer,
            session=self.session,
            usage=usage,
            running_total=total,
            last_warning=self.warning,
        )
        result = self.result
        if result is None:
            if not self.error:
                return told
            return replace(told, error=self.error, error_class=self._class(self.error))
        subtype = fields.text(result, "subtype")
        if result.get("is_error") is True or subtype.startswith("error"):
            words = self._words(result)
            return replace(told, error=words, error_class=self._class(words))
        text = fields.text(result, "result") or self.script.answer
        return replace(told, finished=True, text=text)

    def _words(self, result: Event) -> str:
        errors = result.get("errors")
        listed = "\n".join(str(error) for error in errors) if isinstance(errors, list) else ""
        said = fields.text(result, "result") or listed or self.error
        return said or fields.text(result, "subtype")

    def _class(self, words: str) -> Failure:
        result = self.result or {}
        for key in ("subtype", "terminal_reason"):
            if fields.text(result, key) in STOPS:
                return STOPS[fields.text(result, key)]
        status = fields.count(result, "api_error_status") or self.error_status
        if status:
            return failure.of_status(status, words)
        return failure.of_text(words, Failure.INTERNAL)


def _compacted(event: Event) -> Events:
    told = fields.table(event, "compact_metadata")
    return [stream.Compacted(fields.count(told, "pre_tokens"), fields.count(told, "post_tokens"))]


def _informed(event: Event) -> Events:
    words = fields.text(event, "message") or fields.text(event, "content")
    return [stream.Notice(failure.shown(words))] if words else []
