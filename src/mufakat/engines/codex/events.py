"""Reading Codex's stream: whole items, warnings that are no errors, and running totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from mufakat.core.talk import stream
from mufakat.core.talk import usage as usages
from mufakat.core.talk.usage import Usage
from mufakat.engines import failure, fields
from mufakat.engines.cli import session_id, verdict
from mufakat.engines.transcript import Transcript

Event = Mapping[str, object]
Events = list[stream.StreamEvent]

SILENT = frozenset({"turn.started", "item.updated"})
BEGUN, DONE = "item.started", "item.completed"
TOOLS = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"}
)
FAILED = frozenset({"failed", "declined"})


def count(usage: Event) -> Usage:
    """Four buckets: input includes what the cache gave or took, output includes reasoning."""
    read = fields.count(usage, "cached_input_tokens")
    written = fields.count(usage, "cache_write_input_tokens")
    fresh = max(0, fields.count(usage, "input_tokens") - read - written)
    return Usage(fresh, read, written, fields.count(usage, "output_tokens"))


@dataclass(slots=True)
class Codex:
    """The state of one stream; `expected` is the thread that is resumed, empty for a new one."""

    expected: str = ""
    before: Usage = field(default_factory=Usage)
    """The thread's total before this turn."""
    session: str = ""
    script: Transcript = field(default_factory=Transcript)
    total: Usage | None = None
    error: str | None = None
    warning: str = ""

    def feed(self, event: Event) -> Events:
        """Take the next object of the stream."""
        kind = fields.text(event, "type")
        if kind in SILENT:
            return []
        handlers: Mapping[str, Callable[[Event], Events]] = {
            "thread.started": self._started,
            BEGUN: self._item,
            DONE: self._item,
            "error": self._warned,
            "turn.completed": self._completed,
            "turn.failed": self._failed,
        }
        handle = handlers.get(kind)
        return handle(event) if handle else [stream.Unknown(kind or "untyped", event)]

    def stray(self, line: str) -> Events:
        """A text line between the objects is only worth a notice."""
        return [stream.Notice(failure.shown(line), "debug")]

    def _started(self, event: Event) -> Events:
        found = event.get("thread_id")
        self.session = session_id.accepted(found, session_id.UUID, self.expected)
        if not self.session:
            return [stream.Notice("Codex named an unexpected thread; not kept.", "warning")]
        return [stream.SessionStarted(self.session)]

    def _item(self, event: Event) -> Events:
        item = fields.table(event, "item")
        kind, begun = fields.text(item, "type"), event.get("type") == BEGUN
        if kind in TOOLS:
            return [_tool(item, kind, begun=begun)]
        if begun or kind == "todo_list":
            return []
        match kind:
            case "agent_message":
                return self.script.whole(fields.text(item, "text"))
            case "reasoning":
                return [stream.Thought(fields.text(item, "text"))]
            case "error":
                return self._warned(item)
            case _:
                return [stream.Unknown(f"item/{kind}", event)]

    def _warned(self, event: Event) -> Events:
        """Most errors of the stream are only warnings: the turn goes on until it failed."""
        self.warning = fields.text(event, "message")
        return [stream.Notice(failure.shown(self.warning), "warning")]

    def _completed(self, event: Event) -> Events:
        if self.total is not None or self.error is not None:
            return [stream.Unknown("turn.completed/second", event)]
        self.total = count(fields.table(event, "usage"))
        return [stream.UsageSeen(usages.since(self.before, self.total))]

    def _failed(self, event: Event) -> Events:
        if self.total is not None or self.error is not None:
            return [stream.Unknown("turn.failed/second", event)]
        self.error = fields.text(event, "error", "message") or "The turn failed."
        return []

    def said(self, exit_code: int | None) -> verdict.Said:
        """What it all came to."""
        del exit_code
        total = self.total or self.before
        return verdict.Said(
            finished=self.total is not None,
            error=self.error,
            text=self.script.answer,
            session=self.session,
            usage=usages.since(self.before, total),
            running_total=total,
            last_warning=self.warning,
        )


def _tool(item: Event, kind: str, *, begun: bool) -> stream.Tool:
    status = stream.ToolStatus.RUNNING
    if not begun:
        code = fields.number(item, "exit_code")
        bad = fields.text(item, "status") in FAILED or bool(code) or bool(item.get("error"))
        status = stream.ToolStatus.FAILED if bad else stream.ToolStatus.OK
    name = kind
    if kind == "mcp_tool_call":
        name = f"{fields.text(item, 'server')}.{fields.text(item, 'tool')}"
    return stream.Tool(
        fields.text(item, "id"), name, status, input=_input(item), output=_output(item)
    )


def _input(item: Event) -> str:
    changes = fields.rows(item, "changes")
    if changes:
        return fields.line(", ".join(fields.text(change, "path") for change in changes))
    for key in ("command", "query", "arguments", "tool"):
        if item.get(key):
            return fields.line(item[key])
    return ""


def _output(item: Event) -> str:
    said = fields.text(item, "aggregated_output")
    content = fields.flat(fields.table(item, "result").get("content"))
    return said or content or fields.text(item, "error", "message")
