"""The server as a process: `python -m equipment.model_server --script f.json --port 0`.

The first line of its output is a JSON object with `port`, `pid` and `base`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from equipment.model_server.server import ModelServer

ECHO = {"default": {"text": "echo: {{LAST_USER}}"}}


def main(argv: list[str] | None = None) -> int:
    """Serve until SIGTERM, SIGINT or `--max-seconds`."""
    options = _parser().parse_args(argv)
    data = json.loads(options.script.read_text(encoding="utf-8")) if options.script else ECHO
    signal.signal(signal.SIGTERM, _interrupt)
    server = ModelServer(
        data,
        log_dir=options.log,
        port=options.port,
        max_seconds=options.max_seconds,
        max_requests=options.max_requests,
    )
    with server:
        hello = {"port": server.port, "pid": os.getpid(), "base": server.base}
        print(json.dumps(hello), flush=True)
        try:
            server.closed.wait()
        except KeyboardInterrupt:
            return 0
    return 3


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A scripted model server on loopback.")
    parser.add_argument("--script", type=Path, help="JSON script; without it, an echo")
    parser.add_argument("--log", type=Path, help="directory for the request files")
    parser.add_argument("--port", type=int, default=0, help="0 = any free port")
    parser.add_argument("--max-seconds", type=float, default=900.0)
    parser.add_argument("--max-requests", type=int, default=2000)
    return parser


if __name__ == "__main__":
    sys.exit(main())
