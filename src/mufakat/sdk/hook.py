"""A hook of an agent's CLI: asks the server, prints its answer, and never stands in the way.

Stands alone: started as `python -I -S hook.py ENGINE EVENT [HOME]` with every tool call of an
agent, it may import nothing but small parts of the standard library.
"""

from __future__ import annotations

import _socket
import fcntl
import json
import os
import select
import sys
import time
import zlib
from typing import Any

CONNECT_SECONDS, SECONDS = 0.3, 1.9
INPUT_BYTES = 8 * 1024 * 1024
BODY_BYTES = 900 * 1024
ANSWER_BYTES = 256 * 1024
TEXT_CHARS = 4 * 1024
DEPTH = 24
PROBE = "mufakat-doctor-"
"""How the session of a trial begins: it is nobody's, and nothing of it is kept."""
SPOOL, WARNED, BEARERS = "skipped.jsonl", "warned", "bearers"
FILE_BYTES = 256 * 1024
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox", "env", "timeout"})
HEAVY = frozenset({"tool_response"})
"""Members of no use to the server."""
LAST_WORDS = ("prompt_response", "last_assistant_message")
LAST_CHARS = 8_000
"""Of what an agent said at its end; others are told no more of it anyway."""

Json = dict[str, Any]


class Skip(Exception):
    """Why a call has no effect."""


def main(argv: list[str]) -> None:
    """Answer one hook; whatever goes wrong, the agent's turn goes on."""
    until = time.monotonic() + SECONDS
    engine, event, home = [*argv, "", "", ""][:3]
    home = home or default_home()
    call: Json = {}
    held: list[bytes] = []
    try:
        call = read(until)
        held = take(home, call["session_id"])
        answer = ask(f"{engine}/{event}", call, home=home, skipped=len(held), until=until)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except Exception as problem:  # noqa: BLE001 - fail open: an agent must not stop for our faults
        why = str(problem) or type(problem).__name__
        session = str(call.get("session_id") or "")
        line = {"at": int(time.time()), "engine": engine, "event": event, "session": session}
        if session[: len(PROBE)] == PROBE:
            sys.stderr.write(f"{why}\n")
            return
        spool(home, [*held, json.dumps(line | {"why": why[:200]}).encode()])
        warn(home, session or f"process {os.getppid()}", why)


def read(until: float) -> Json:
    """The engine's words."""
    try:
        call = json.loads(stdin(until))
    except (ValueError, RecursionError):
        raise Skip("the input is not JSON") from None
    session = call.get("session_id") if isinstance(call, dict) else None
    if not isinstance(session, str) or not session:
        raise Skip("the input names no session")
    return dict(call)


def stdin(until: float) -> bytes:
    """All of stdin, read to its end even where it is too much, or the engine's pipe would break."""
    data, size = bytearray(), 0
    while True:
        seconds = until - time.monotonic()
        if seconds <= 0 or not select.select([0], [], [], seconds)[0]:
            raise Skip("the input did not end in time")
        part = os.read(0, 65536)
        if not part:
            break
        size += len(part)
        if size <= INPUT_BYTES:
            data += part
    if size > INPUT_BYTES:
        raise Skip("the input is too large")
    return bytes(data)


def ask(path: str, call: Json, *, home: str, skipped: int, until: float) -> bytes:
    """The server's answer: one JSON object, or nothing."""
    if not path.replace("/", "").replace("-", "").replace("_", "").isalnum():
        raise Skip("engine and event are not plain names")
    url, token = server(home, until)
    kept = {name: lean(value) for name, value in call.items() if name not in HEAVY}
    kept |= {name: str(call[name])[:LAST_CHARS] for name in LAST_WORDS if name in call}
    own = {"skipped": skipped, **process()}
    body = json.dumps({**kept, "mufakat": own}, ensure_ascii=False).encode()
    if len(body) > BODY_BYTES:
        raise Skip("the input is too large")
    status, head, answer = exchange(
        url, f"/api/v1/hooks/{path}", token=token, body=body, until=until
    )
    if status not in {200, 204}:
        raise Skip(f"the server answered {status}")
    lend(home, own, header(head, b"x-mufakat-token"))
    if status == 204 or not answer:
        return b""
    said = json.loads(answer)
    if not isinstance(said, dict):
        raise Skip("the server's answer is no JSON object")
    return answer if said else b""


def server(home: str, until: float) -> tuple[str, str]:
    """Address and token: of our own run, else of the server that serves this home."""
    url, token = os.environ.get("MUFAKAT_URL", ""), os.environ.get("MUFAKAT_TOKEN", "")
    if url and token:
        return url, token
    try:
        record = json.loads(content(f"{home}/server.json"))
        url, pid = str(record["url"]), record["pid"]
        token = token or content(f"{home}/join-token").decode("ascii").strip()
    except (OSError, ValueError, KeyError, TypeError):
        raise Skip("no server runs") from None
    # Another program may listen where a killed server did: it must not see the token.
    status, _, health = exchange(url, "/api/v1/health", token="", body=b"", until=until)
    if status != 200 or json.loads(health).get("pid") != pid:
        raise Skip("no server runs")
    return url, token


def exchange(
    url: str, path: str, *, token: str, body: bytes, until: float
) -> tuple[int, bytes, bytes]:
    """Send one request; answers status, head and body. Raises Skip, OSError or ValueError."""
    scheme, _, place = url.rstrip("/").partition("://")
    host, _, port = place.rpartition(":")
    if scheme != "http" or not port.isdigit():
        raise Skip("the server's address is not http://HOST:PORT")
    lines = [f"{'POST' if body else 'GET'} {path} HTTP/1.1", f"Host: {place}", "Connection: close"]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
    family = _socket.AF_INET6 if ":" in host else _socket.AF_INET
    stream = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        stream.settimeout(min(CONNECT_SECONDS, left(until)))
        stream.connect((host.strip("[]"), int(port)))
        stream.settimeout(left(until))
        stream.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        return receive(stream, until)
    finally:
        stream.close()


def receive(stream: _socket.socket, until: float) -> tuple[int, bytes, bytes]:
    """Status, head and body of an answer that came whole."""
    data, end, length = b"", -1, 0
    while end < 0 or len(data) < end + length:
        stream.settimeout(left(until))
        part = stream.recv(65536)
        data += part
        if end < 0 and b"\r\n\r\n" in data:
            end = data.index(b"\r\n\r\n") + 4
            length = int(header(data[:end], b"content-length") or 0)
        if not part or len(data) > ANSWER_BYTES:
            break
    if end < 0 or len(data) < end + length:
        raise Skip("the server's answer was cut off")
    return int(data.split(b" ", 2)[1]), data[:end], data[end : end + length]


def header(head: bytes, wanted: bytes) -> bytes:
    """A field of an answer's head; empty where it is not there."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == wanted:
            return value.strip()
    return b""


def lend(home: str, own: Json, token: bytes) -> None:
    """Keep a session's own bearer where the commands that its agent runs look for it."""
    if not token or not own.get("pid"):
        return
    folder = private(home, "hooks", BEARERS)
    for name in os.listdir(folder):
        if not os.path.exists(f"/proc/{name.partition('-')[0]}"):
            os.unlink(f"{folder}/{name}")
    part = f"{folder}/{own['pid']}-{own['pid_start']}.{os.getpid()}"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, token)
    finally:
        os.close(handle)
    os.replace(part, part.rpartition(".")[0])


def left(until: float) -> float:
    """Seconds that remain; raises Skip where there are none."""
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise Skip("the server did not answer in time")
    return seconds


def lean(value: Any, depth: int = 0) -> Any:
    """The same data within what the server takes: its depth, its characters, its numbers."""
    if depth > DEPTH:
        return None
    match value:
        case str():
            return text(value)
        case dict():
            return {text(str(name)): lean(part, depth + 1) for name, part in value.items()}
        case list():
            return [lean(part, depth + 1) for part in value]
        case int() | float() if not -(1 << 62) < value < 1 << 62:
            return str(value)
    return value


def text(value: str) -> str:
    """A text that can be stored; of a long patch the lines that name files, else a beginning."""
    value = value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    if len(value) <= TEXT_CHARS:
        return value
    if "*** Begin Patch" in value:
        return "\n".join(line for line in value.split("\n") if line[:4] == "*** ")
    return f"{value[:TEXT_CHARS]}… {len(value)} {zlib.crc32(value.encode()):08x}"


def process() -> Json:
    """The process that the agent is: the nearest one above us that is no shell."""
    pid = os.getppid()
    try:
        for _ in range(6):
            name, _, rest = content(f"/proc/{pid}/stat").rpartition(b")")
            fields = rest.split()
            if name.partition(b"(")[2].decode("utf-8", "replace") not in SHELLS:
                boot = content("/proc/sys/kernel/random/boot_id").decode("ascii").strip()
                return {"pid": pid, "pid_start": int(fields[19]), "boot": boot}
            pid = int(fields[1])
    except (OSError, ValueError, IndexError):
        pass
    return {}


def default_home() -> str:
    """The folder of the person's Mufakat, as every other part of it finds it."""
    if chosen := os.environ.get("MUFAKAT_HOME", ""):
        return os.path.abspath(os.path.expanduser(chosen))
    user = os.environ.get("HOME") or os.path.expanduser("~")
    if sys.platform == "darwin":
        return f"{user}/Library/Application Support/mufakat"
    data = os.environ.get("XDG_DATA_HOME", "")
    return f"{data if os.path.isabs(data) else user + '/.local/share'}/mufakat"


def content(path: str) -> bytes:
    """A small file."""
    with open(path, "rb") as file:
        return file.read(FILE_BYTES)


def take(home: str, session: str) -> list[bytes]:
    """Take the skipped calls of a session, and those of nobody, out of the spool."""
    path = f"{home}/hooks/{SPOOL}"
    try:
        if not os.path.getsize(path):
            return []
        with open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            lines = [line for line in file.read().split(b"\n") if line]
            ours = [line for line in lines if _tells(line, session)]
            file.seek(0)
            file.truncate()
            file.write(b"".join(line + b"\n" for line in lines if line not in ours))
        return ours
    except OSError:
        return []


def _tells(line: bytes, session: str) -> bool:
    """Whether a line of the spool is this session's or nobody's; broken ones are nobody's."""
    try:
        return json.loads(line).get("session", "") in {"", session}
    except (ValueError, AttributeError, TypeError):
        return True


def spool(home: str, lines: list[bytes]) -> None:
    """Keep skipped calls until the server is back."""
    try:
        private(home, "hooks")
        append(f"{home}/hooks/{SPOOL}", b"".join(line + b"\n" for line in lines))
    except OSError:
        return


def private(*parts: str) -> str:
    """A folder that only its owner may enter, and each of these above it."""
    folder = parts[0]
    for part in ("", *parts[1:]):
        folder = f"{folder}/{part}" if part else folder
        os.makedirs(folder, 0o700, exist_ok=True)
    return folder


def append(path: str, data: bytes) -> None:
    """Add to a file for the owner alone, unless it has grown too large."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_size < FILE_BYTES:
            os.write(handle, data)
    finally:
        os.close(handle)


def warn(home: str, session: str, why: str) -> None:
    """Tell the person, once a session."""
    mark = f"{zlib.crc32(session.encode('utf-8', 'replace')):08x}\n".encode()
    path = f"{home}/hooks/{WARNED}"
    try:
        if os.path.exists(path) and mark in content(path):
            return
        if os.path.exists(path) and os.path.getsize(path) >= FILE_BYTES // 2:
            os.unlink(path)
        append(path, mark)
    except OSError:
        pass
    sys.stderr.write(f"mufakat: {why}; the agent works without its messages (`mufakat up`).\n")


if __name__ == "__main__":
    main(sys.argv[1:])
