"""What the server keeps of every request, in memory and, when asked, as files."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equipment.model_server.script import AUX

SECRET_HEADERS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request; `protocol` is None for anything that is not a model call.

    `turn` is the place in the script that answered it, `time` is seconds since the epoch.
    """

    n: int
    time: float
    method: str
    path: str
    protocol: str | None = None
    model: str | None = None
    turn: str | None = None
    stream: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def is_main(self) -> bool:
        """Whether it took a turn of the script, unlike a title or a model list."""
        return self.protocol is not None and self.turn != AUX

    def summary(self) -> dict[str, Any]:
        """Everything but headers and body, as JSON data."""
        keys = ("n", "time", "method", "path", "protocol", "model", "turn", "stream")
        values = {key: getattr(self, key) for key in keys}
        return {**values, "body_chars": len(json.dumps(self.body, ensure_ascii=False))}

    def document(self) -> dict[str, Any]:
        """The whole request, as JSON data."""
        return {**self.summary(), "headers": dict(self.headers), "body": self.body}


class Records:
    """The requests so far; waiting for the n-th is possible from any thread."""

    def __init__(self, log_dir: Path | None) -> None:
        self._changed = threading.Condition()
        self._requests: list[Request] = []
        self._log_dir = log_dir
        if log_dir:
            log_dir.mkdir(parents=True, exist_ok=True)

    def add(self, method: str, path: str, **known: Any) -> Request:
        """Number, keep and log one request."""
        with self._changed:
            number = len(self._requests) + 1
            request = Request(n=number, time=time.time(), method=method, path=path, **known)
            self._requests.append(request)
            self._log(request)
            self._changed.notify_all()
        return request

    def _log(self, request: Request) -> None:
        if self._log_dir is None:
            return
        with (self._log_dir / "requests.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(request.summary(), ensure_ascii=False) + "\n")
        document = json.dumps(request.document(), ensure_ascii=False, indent=1)
        path = self._log_dir / f"req-{request.n:04d}.json"
        path.write_text(document, encoding="utf-8")

    def all(self) -> list[Request]:
        """Every request, side requests and model lists included."""
        with self._changed:
            return list(self._requests)

    def main(self) -> list[Request]:
        """The requests that took a turn of the script."""
        return [request for request in self.all() if request.is_main]

    def wait_for(self, count: int, timeout: float) -> list[Request]:
        """Block until `count` main requests arrived; `TimeoutError` after `timeout` seconds."""
        with self._changed:
            there = self._changed.wait_for(lambda: self._count() >= count, timeout)
        if not there:
            raise TimeoutError(f"{self._count()} of {count} model requests after {timeout} s")
        return self.main()

    def _count(self) -> int:
        return sum(request.is_main for request in self._requests)


def redacted(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the value of each credential replaced by its length."""
    return {
        key.lower(): f"<{len(value)} chars>" if key.lower() in SECRET_HEADERS else value
        for key, value in headers.items()
    }
