"""What one hook costs the agent that waits for it: the client's process, against a bare server."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from bench import report
from mufakat.sdk import hook_command

RUNS = 40
CPU_LIMIT = 0.050
"""Seconds of CPU that a call may cost; the bench fails at three times that."""
CALL = json.dumps({"session_id": "bench", "hook_event_name": "Stop", "cwd": "/"}).encode()
ANSWER = json.dumps({"decision": "block", "reason": "words " * 200}).encode()


class Bare(BaseHTTPRequestHandler):
    """Answers at once."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", "0")))
        self.send_response(200)
        self.send_header("content-length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def measured(argv: Sequence[str], environ: dict[str, str], data: bytes) -> tuple[float, float]:
    """Wall and CPU seconds of one process, the median of many."""
    wall, cpu = [], []
    for _ in range(RUNS):
        began, before = time.monotonic(), os.times()
        subprocess.run(argv, input=data, env=environ, capture_output=True, check=True)
        after = os.times()
        wall.append(time.monotonic() - began)
        used = after.children_user + after.children_system
        cpu.append(used - before.children_user - before.children_system)
    return median(wall), sum(cpu) / len(cpu)


def main() -> str:
    """Measure, and answer the table."""
    words = hook_command.words()
    with tempfile.TemporaryDirectory() as folder:
        listener = ThreadingHTTPServer(("127.0.0.1", 0), Bare)
        thread = threading.Thread(target=listener.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{listener.server_address[1]}"
            home = {"MUFAKAT_HOME": str(Path(folder) / "home")}
            environ = {**home, "MUFAKAT_URL": url, "MUFAKAT_TOKEN": "bench"}
            rows = [
                ("an interpreter that does nothing", [*words[:3], "-c", "pass"], environ),
                ("a hook, answered at once", [*words, "claude", "stop"], environ),
                ("a hook without a server", [*words, "claude", "stop"], home),
            ]
            figures = [(name, *measured(argv, env, CALL)) for name, argv, env in rows]
        finally:
            listener.shutdown()
            thread.join()
            listener.server_close()
    assert figures[1][2] <= 3 * CPU_LIMIT, figures
    lines = [(name, f"{w * 1000:.0f} ms", f"{c * 1000:.0f} ms") for name, w, c in figures]
    return report.table(("what", "wall, median", "CPU, mean"), lines)
