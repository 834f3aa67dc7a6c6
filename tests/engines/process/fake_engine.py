"""An agent CLI that misbehaves on demand, in the event dialect of any engine.

As a script: `fake_engine.py BEHAVIOUR [--dialect D] [--size MB] [anything else is ignored]`.
As a module: `BEHAVIOURS` lists what it can do and what must come of it; `install` puts an
executable with one behaviour into a folder, for adapters that look for their CLI on PATH.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ANSWER = "It is done."
SESSION = "5f0c1a52-9d0e-4a52-8f6e-1f2d3c4b5a69"
WHOLE = "whole_tree"
LINE = 1000
MB = 1024 * 1024


@dataclass(frozen=True)
class Behaviour:
    """What the process does and what a run of it must come to.

    `exit_code` None: it never ends by itself. `results`: how many result events it sends.
    `answer`: the text that an adapter must end with. `megabytes`: of the long lane.
    `survivors`: it leaves processes behind. `held`: its pipe stays open after its exit.
    """

    name: str
    exit_code: int | None = 0
    results: int = 1
    answer: str = ANSWER
    megabytes: int = 0
    survivors: bool = False
    held: bool = False


BEHAVIOURS = (
    Behaviour("partial_line"),
    Behaviour("huge_output", megabytes=100),
    Behaviour("huge_line", megabytes=100),
    Behaviour("split_utf8", answer="naïve 汉字 😀 done"),
    Behaviour("line_separators", answer="one\u2028two\u2029three\x85four"),
    Behaviour("crlf"),
    Behaviour("nul", answer="zero \u2400 done"),
    Behaviour("bom"),
    Behaviour("garbage"),
    Behaviour("two_results", results=2),
    Behaviour("no_result", results=0),
    Behaviour("exit_137", exit_code=137, results=0),
    Behaviour("stdout_closed"),
    Behaviour("stderr_flood", megabytes=50),
    Behaviour("reads_stdin"),
    Behaviour("ignores_term", exit_code=None, results=0),
    Behaviour("setsid_grandchild", survivors=True),
    Behaviour("double_fork", survivors=True),
    Behaviour("pipe_held", survivors=True, held=True),
    Behaviour("drip", exit_code=None, results=0),
    Behaviour("silence", exit_code=None, results=0),
    Behaviour("burst"),
    Behaviour("unknown_events"),
    Behaviour("huge_numbers"),
)

DIALECTS = ("plain", "claude", "codex", "gemini", "opencode")


def install(
    folder: Path, name: str, *, behaviour: str, dialect: str = "plain", size: int = 0
) -> Path:
    """Write the executable `folder/name` that behaves so, whatever arguments it is given."""
    command = [sys.executable, "-I", "-S", str(Path(__file__).resolve()), behaviour]
    command += ["--dialect", dialect, "--size", str(size)]
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    path.chmod(0o755)
    return path


def event(dialect: str, kind: str, text: str = "") -> dict[str, object]:
    """Return the event `hello`, `text` or `result` as the engine would send it."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    tokens = {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    by = {"session_id": SESSION}
    table: dict[tuple[str, str], dict[str, object]] = {
        ("plain", "hello"): {"type": "hello"},
        ("plain", "text"): {"type": "text", "text": text},
        ("plain", "result"): {"type": "result", "usage": usage},
        ("claude", "hello"): {"type": "system", "subtype": "init", "model": "fake", **by},
        ("claude", "text"): {
            "type": "assistant",
            "message": {"id": "m1", "role": "assistant", "content": [_block(text)]},
            **by,
        },
        ("claude", "result"): {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": text,
            "usage": usage,
            "total_cost_usd": 0.01,
            "terminal_reason": "completed",
            **by,
        },
        ("codex", "hello"): {"type": "thread.started", "thread_id": SESSION},
        ("codex", "text"): {
            "type": "item.completed",
            "item": {"id": "item_0", "type": "agent_message", "text": text},
        },
        ("codex", "result"): {"type": "turn.completed", "usage": usage},
        ("gemini", "hello"): {"type": "init", "model": "fake", **by},
        ("gemini", "text"): {
            "type": "message",
            "role": "assistant",
            "content": text,
            "delta": True,
        },
        ("gemini", "result"): {"type": "result", "status": "success", "stats": usage},
        ("opencode", "hello"): {
            "type": "step_start",
            "sessionID": f"ses_{SESSION.replace('-', '')}",
            "part": {"type": "step-start"},
        },
        ("opencode", "text"): {
            "type": "text",
            "sessionID": f"ses_{SESSION.replace('-', '')}",
            "part": _block(text),
        },
        ("opencode", "result"): {
            "type": "step_finish",
            "sessionID": f"ses_{SESSION.replace('-', '')}",
            "part": {"type": "step-finish", "reason": "stop", "tokens": tokens, "cost": 0.01},
        },
    }
    return table[dialect, kind]


def _block(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


class Engine:
    """The process side: one method for each behaviour."""

    def __init__(self, dialect: str, size: int) -> None:
        self.dialect = dialect
        self.size = size * MB

    def raw(self, data: bytes, fd: int = 1) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    def line(self, kind: str, text: str = "", *, end: str = "\n") -> None:
        found = json.dumps(event(self.dialect, kind, text), ensure_ascii=False)
        self.raw((found + end).encode())

    def noise(self, data: str, fd: int = 1) -> None:
        self.raw(b'{"type":"noise","data":"' + data.encode() + b'"}\n', fd)

    def finish(self, text: str = ANSWER, *, end: str = "\n") -> None:
        self.line("text", text)
        self.line("result", text, end=end)

    def sleep(self) -> None:
        while True:
            time.sleep(60)

    def partial_line(self) -> None:
        self.finish(end="")

    def huge_output(self) -> None:
        block = (b'{"type":"noise","data":"' + b"x" * (LINE - 27) + b'"}\n') * 64
        for _ in range(self.size // len(block)):
            self.raw(block)
        self.finish()

    def huge_line(self) -> None:
        self.raw(b'{"type":"noise","data":"')
        for _ in range(self.size // MB):
            self.raw(b"x" * MB)
        self.raw(b'"}\n')
        self.finish()

    def split_utf8(self) -> None:
        self.raw(b'{"type":"noise","data":"\xff\xc3\xed\xa0\x80"}\n')
        text = json.dumps(event(self.dialect, "text", "naïve 汉字 😀 done"), ensure_ascii=False)
        for byte in text.encode():
            self.raw(bytes([byte]))
            if byte > 127:
                time.sleep(0.002)
        self.raw(b"\n")
        self.line("result", "naïve 汉字 😀 done")

    def line_separators(self) -> None:
        self.finish("one\u2028two\u2029three\x85four")

    def crlf(self) -> None:
        self.line("text", ANSWER, end="\r\n")
        self.line("result", ANSWER, end="\r\n")

    def nul(self) -> None:
        self.raw(b"\0\0\0\n")
        self.finish("zero \0 done")

    def bom(self) -> None:
        self.finish()

    def garbage(self) -> None:
        self.raw(
            b'Debugger listening on ws://127.0.0.1\n{"type":"noise"} and more\n[1,2]\n"x"\n7\n'
        )
        self.finish()
        self.raw(b"{\n}\n{{{{\nTraceback (most recent call last):\n")

    def two_results(self) -> None:
        self.finish()
        self.line("result", "another")

    def no_result(self) -> None:
        self.noise("nothing to say")

    def exit_137(self) -> None:
        self.raw(b'{"type":"text","te')
        os._exit(137)

    def stdout_closed(self) -> None:
        self.finish()
        os.close(1)
        time.sleep(0.3)

    def stderr_flood(self) -> None:
        for number in range(self.size // (64 * LINE)):
            self.raw((f"{number} " + "e" * LINE)[: LINE - 1].encode() * 64 + b"\n", 2)
        self.finish()

    def reads_stdin(self) -> None:
        while os.read(0, 65536):
            pass
        self.finish()

    def ignores_term(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.line("hello")
        self.sleep()

    def setsid_grandchild(self) -> None:
        if os.fork() == 0:
            os.setsid()
            self.detach()
            self.sleep()
        self.finish()

    def double_fork(self) -> None:
        between = os.fork()
        if between == 0:
            os.setsid()
            if os.fork() == 0:
                self.detach()
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                self.sleep()
            os._exit(0)
        os.waitpid(between, 0)
        self.finish()

    def pipe_held(self) -> None:
        if os.fork() == 0:
            self.sleep()
        self.finish()

    def drip(self) -> None:
        while True:
            self.raw(b"x")
            time.sleep(1)

    def silence(self) -> None:
        self.sleep()

    def burst(self) -> None:
        for number in range(10_000):
            self.noise(str(number))
        self.finish()

    def unknown_events(self) -> None:
        for strange in ({"type": "from.the.future"}, {"no": "type"}, {"type": 7}, {"type": None}):
            self.raw(json.dumps(strange).encode() + b"\n")
        self.finish()

    def huge_numbers(self) -> None:
        for strange in ("9" * 5000, "1e999", "NaN", "-Infinity", "[" * 100_000, "{" * 5000):
            self.raw(b'{"type":"noise","data":' + strange.encode() + b"}\n")
        self.finish()

    def whole_tree(self) -> None:
        """Start one of each kind that escapes a group kill, then wait; not in `BEHAVIOURS`.

        The file `WHOLE` in the working folder tells that exactly three processes are there.
        """
        self.setsid_grandchild()
        self.double_fork()
        Path(WHOLE).touch()
        self.sleep()

    def detach(self) -> None:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)


def main(arguments: list[str]) -> None:
    """Behave as the first argument says."""
    options = dict(zip(arguments[1::2], arguments[2::2], strict=False))
    engine = Engine(options.get("--dialect", "plain"), int(options.get("--size", "0")))
    name = arguments[0]
    if name == "bom":
        engine.raw(b"\xef\xbb\xbf")
    if name != "ignores_term":
        engine.line("hello")
    getattr(engine, name)()


if __name__ == "__main__":
    main(sys.argv[1:])
