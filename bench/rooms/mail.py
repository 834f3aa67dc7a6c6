"""mcp-agent-mail under measure, through its MCP server: each operation is a call of a tool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.rooms.load import Refused, Steps
from bench.rooms.room import ACK, BODY, CLIENTS, CONTEND, LEASE, PEERS, READ, SEND, UNREAD, Room
from bench.rooms.wire import Answer, request
from equipment.postgres import free_port

COLOURS = ("Blue", "Green", "Red")
PLACES = ("Lake", "Stone", "Castle", "Forest", "River", "Mountain", "Hill", "Snow")
SERVE = "from mcp_agent_mail.cli import app; app()"


class Mail(Room):
    """A server, a project, and agents registered in it; its names are of two words."""

    name = "mcp-agent-mail"
    version = "0.1.0"
    knows = frozenset({SEND, READ, ACK, LEASE, CONTEND})

    def __init__(self) -> None:
        super().__init__()
        self._project: dict[str, Any] = {}
        self._names: dict[str, str] = {}

    def open(self, folder: Path) -> None:
        project = folder / "project"
        project.mkdir()
        self._project = {"project_key": str(project)}
        self.port = free_port()
        env = {
            "HOME": str(folder),
            "STORAGE_ROOT": str(folder / "store"),
            "DATABASE_URL": f"sqlite+aiosqlite:///{folder / 'mail.db'}",
            "LLM_ENABLED": "false",
            "TOOLS_LOG_ENABLED": "false",
            "LOG_RICH_ENABLED": "false",
            # The shorter list has neither reservations nor acknowledgements.
            "MCP_TOOLS_MODE": "extended",
            "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        }
        python = str(PEERS / "mail" / "bin" / "python")
        argv = [python, "-c", SERVE, "serve-http", "--port", str(self.port)]
        self.start(argv, folder, env)
        self.connect()
        self._told("ensure_project", human_key=str(project))
        for kind, colour in zip("srt", COLOURS, strict=True):
            for client, place in zip(range(CLIENTS), PLACES, strict=True):
                found = self._told(
                    "register_agent",
                    **self._project,
                    program="bench",
                    model="none",
                    name=colour + place,
                )
                self._names[f"{kind}{client}"] = found["name"]
        for client in range(CLIENTS):
            for _ in range(UNREAD):
                self._told("send_message", **self._letter(client, "r"))

    def _letter(self, client: int, kind: str) -> dict[str, Any]:
        return self._project | {
            "sender_name": self._names[f"s{client}"],
            "to": [self._names[f"{kind}{client}"]],
            "subject": f"letter {self.number()}",
            "body_md": BODY,
            "ack_required": True,
        }

    def _told(self, tool: str, **arguments: Any) -> Any:
        """Call a tool outside the measure."""
        return result(self._lines[0].ask(call(tool, arguments)))

    def steps(self, what: str, client: int) -> Steps:
        if what == LEASE:
            return (yield from self._pair(client))
        result((yield self._request(what, client)))
        return True

    def _request(self, what: str, client: int) -> bytes:
        if what == SEND:
            return call("send_message", self._letter(client, "t"))
        if what == READ:
            who = {"agent_name": self._names[f"r{client}"]}
            more = {"limit": UNREAD, "include_bodies": True}
            return call("fetch_inbox", self._project | who | more)
        assert what == ACK
        number = self.stock[client].popleft()
        who = {"agent_name": self._names[f"t{client}"], "message_id": number}
        return call("acknowledge_message", self._project | who)

    def _pair(self, client: int) -> Steps:
        path = f"src/m{self.number()}.py"
        who = self._project | {"agent_name": self._names[f"s{client}"], "paths": [path]}
        result((yield call("file_reservation_paths", who | {"ttl_seconds": 60})))
        result((yield call("release_file_reservations", who)))
        return True

    def claim(self, client: int, name: str) -> Steps:
        who = {"agent_name": self._names[f"s{client}"], "paths": [f"src/{name}.py"]}
        answer = yield call("file_reservation_paths", self._project | who)
        return bool(result(answer)["granted"])

    def unread(self, client: int) -> Sequence[int]:
        who = {"agent_name": self._names[f"t{client}"], "limit": 1000}
        return [one["id"] for one in self._told("fetch_inbox", **self._project, **who)["result"]]

    def listed(self) -> str:
        answer = self._lines[0].ask(asked("tools/list", {}))
        return json.dumps(answer.json()["result"]["tools"])


def asked(method: str, params: dict[str, Any]) -> bytes:
    """One message to the MCP server."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    more = {"Accept": "application/json, text/event-stream"}
    return request("POST", "/mcp/", message, more=more)


def call(tool: str, arguments: dict[str, Any]) -> bytes:
    """One call of a tool."""
    return asked("tools/call", {"name": tool, "arguments": arguments})


def result(answer: Answer) -> Any:
    """What a tool answered; raises Refused."""
    Refused.unless(answer.status == 200, answer)
    found = answer.json().get("result", {"isError": True})
    Refused.unless(not found["isError"], answer)
    return found["structuredContent"]
