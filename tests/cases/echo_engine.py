"""An agent CLI that answers with the last line of what it was told, in any engine's dialect.

`echo_engine.py DIALECT …`: bytes in, bytes out, so that no locale comes between. With `--crash`
it names its session and dies.
"""

import json
import os
import sys

SESSION = "8df2a63a-0000-4000-8000-000000000001"


def said(dialect: str, text: str, session: str) -> list[dict[str, object]]:
    """The events of an answer, the first of which names the session."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    if dialect == "codex":
        item = {"id": "i", "type": "agent_message", "text": text}
        return [
            {"type": "thread.started", "thread_id": session},
            {"type": "item.completed", "item": item},
            {"type": "turn.completed", "usage": usage},
        ]
    if dialect == "gemini":
        return [
            {"type": "init", "session_id": session},
            {"type": "message", "role": "assistant", "content": text, "delta": True},
            {"type": "result", "status": "success", "stats": usage},
        ]
    if dialect == "opencode":
        by = {"sessionID": "ses_dd30c6ddeffeT6dz7YFGHuBBnd"}
        done = {"type": "step-finish", "reason": "stop", "tokens": {"input": 10, "output": 5}}
        return [
            {"type": "step_start", "part": {}, **by},
            {"type": "text", "part": {"type": "text", "text": text}, **by},
            {"type": "step_finish", "part": done, **by},
        ]
    return [
        {"type": "system", "subtype": "init", "session_id": session},
        {"type": "result", "subtype": "success", "result": text, "usage": usage},
    ]


def session_of(arguments: list[str]) -> str:
    """The session that the command line names, as far as it names one."""
    for option in ("--session-id", "--resume"):
        if option in arguments:
            return arguments[arguments.index(option) + 1]
    return SESSION


def main(dialect: str, arguments: list[str]) -> None:
    """Answer questions about the program, else read all of stdin and repeat its last line."""
    if "--version" in arguments or "--help" in arguments:
        print("9.9.9")
        return
    told = sys.stdin.buffer.read()
    last = told.decode("utf-8").rstrip("\n").rpartition("\n")[2]
    for event in said(dialect, last, session_of(arguments)):
        sys.stdout.buffer.write(json.dumps(event, ensure_ascii=False).encode() + b"\n")
        sys.stdout.buffer.flush()
        if "--crash" in arguments:
            os._exit(137)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
