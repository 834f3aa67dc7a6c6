"""The server's log: one JSON object a line, without secrets, in a file of bounded size."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from mufakat.core import secrets
from mufakat.core.base import InvalidInput
from mufakat.sdk import home as homes

NAMES = ("mufakat", "uvicorn.error", "asyncio")
"""asyncio tells of tasks that failed while nobody waited for them."""

BYTES, FILES = 8 * 1024 * 1024, 3
LEVELS = ("debug", "info", "warning", "error")


class Formatter(logging.Formatter):
    """Writes a record as one line; `known` are own tokens, scrubbed by their exact value."""

    def __init__(self, known: Sequence[str] = ()) -> None:
        super().__init__()
        self.known = tuple(known)

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "at": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._clean(record.getMessage()),
        }
        if record.exc_info:
            line["exception"] = self._clean(self.formatException(record.exc_info))
        if record.stack_info:
            line["stack"] = self._clean(record.stack_info)
        return json.dumps(line)

    def _clean(self, text: str) -> str:
        return secrets.scrub(text, self.known).text


class PrivateFile(RotatingFileHandler):
    """A file, and its older parts, that only the owner can read."""

    def _open(self):  # type: ignore[no-untyped-def] # noqa: ANN202 - the base's type is private
        opened = super()._open()
        os.fchmod(opened.fileno(), 0o600)
        return opened


@contextmanager
def to_file(home: Path, level: str, known: Sequence[str]) -> Iterator[Path]:
    """Log into the home for a while; raises InvalidInput for an unknown level."""
    if level.lower() not in LEVELS:
        raise InvalidInput(
            f"There is no log level {level!r}.", fix=f"Use one of: {', '.join(LEVELS)}."
        )
    path = home / homes.SERVER_LOG
    homes.private_folder(path.parent)
    handler = PrivateFile(path, maxBytes=BYTES, backupCount=FILES, encoding="utf-8")
    handler.setFormatter(Formatter(known))
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(level.upper())
        logger.propagate = False
    try:
        yield path
    finally:
        for logger, (old, propagates) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old)
            logger.propagate = propagates
        handler.close()
