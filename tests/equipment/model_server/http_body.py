"""Reading a request body: sized or chunked, plain or gzip, JSON or not."""

from __future__ import annotations

import gzip
import json
from email.message import Message
from io import BufferedIOBase
from typing import Any


def read(stream: BufferedIOBase, headers: Message) -> bytes:
    """The decoded bytes of one body."""
    chunked = (headers.get("transfer-encoding") or "").lower() == "chunked"
    length = int(headers.get("content-length") or 0)
    raw = _chunked(stream) if chunked else stream.read(length)
    gzipped = (headers.get("content-encoding") or "").lower() == "gzip"
    return gzip.decompress(raw) if gzipped else raw


def _chunked(stream: BufferedIOBase) -> bytes:
    raw = b""
    while size := int(stream.readline().split(b";")[0], 16):
        raw += stream.read(size)
        stream.readline()
    stream.readline()
    return raw


def parse(raw: bytes) -> dict[str, Any]:
    """The JSON object of a body; anything else is kept under `_raw`."""
    try:
        body = json.loads(raw or b"{}")
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {"_raw": raw[:2000].decode("utf-8", "replace")}
