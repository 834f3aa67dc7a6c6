"""Sorting what went wrong into the classes that the product gives advice for."""

from __future__ import annotations

import re

from mufakat.core.talk.turn import Failure
from mufakat.engines.process import json_line, text

SHOWN = 2000
LOOKED = 16_000
"""Characters that are looked at for what they mean."""
_STATUS = re.compile(
    r"(?:status|error|code|http)\W{0,6}([45]\d\d)\b|(?-i:\b([45]\d\d) [A-Z][a-z])", re.I
)
_RETRY = re.compile(r"(?:retry|try again)\D{0,24}?(\d+(?:\.\d+)?) ?(ms|milli|s|m|h)?", re.I)
_UNITS = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_TOO_LONG = re.compile(
    r"(?<!took )(?<!taking )too long|too large|context (?:window|length)|maximum context"
    r"|exceeds the (?:model|maximum)",
    re.I,
)
_WORDS = (
    (
        re.compile(r"no (?:conversation|rollout|previous session)|session .*not found", re.I),
        Failure.SESSION_LOST,
    ),
    (re.compile(r"session not found|invalid session|unknown session", re.I), Failure.SESSION_LOST),
    (re.compile(r"empty response", re.I), Failure.EMPTY),
    (_TOO_LONG, Failure.TOO_LONG),
    (re.compile(r"rate.?limit|quota|too many requests|usage limit", re.I), Failure.RATE_LIMIT),
    (
        re.compile(
            r"log ?in\b|logged (?:in|out)|authenticat|unauthori[sz]ed|api.?key|credential"
            r"|auth method|/login",
            re.I,
        ),
        Failure.LOGIN,
    ),
    (re.compile(r"overloaded|high demand|unavailable|server-side|internal server", re.I),
     Failure.OVERLOADED),
    (
        re.compile(
            r"econn|network|connection|connect to|disconnected|time[ds]? ?out|socket|fetch failed"
            r"|\bterminated\b",
            re.I,
        ),
        Failure.NETWORK,
    ),
    (re.compile(r"\bparse|incomplete json|malformed|unexpected (?:token|end)|invalid json", re.I),
     Failure.MALFORMED),
)  # fmt: skip


def of_status(status: int, message: str = "") -> Failure:
    """The class of an HTTP error status."""
    if status in (400, 413, 422) and _TOO_LONG.search(message):
        return Failure.TOO_LONG
    known = {
        401: Failure.LOGIN,
        402: Failure.RATE_LIMIT,
        403: Failure.FORBIDDEN,
        408: Failure.NETWORK,
        413: Failure.TOO_LONG,
        429: Failure.RATE_LIMIT,
    }
    if status in known:
        return known[status]
    return Failure.OVERLOADED if status >= 500 else Failure.BAD_REQUEST


def of_text(message: str, otherwise: Failure) -> Failure:
    """The class that an engine's own words point to."""
    message = _ends(message)
    found = _STATUS.search(message)
    if found:
        return of_status(int(found[1] or found[2]), message)
    return next((kind for words, kind in _WORDS if words.search(message)), otherwise)


def retry_after(message: str) -> float | None:
    """Seconds to wait, where the message names them."""
    found = _RETRY.search(_ends(message))
    return float(found[1]) * _UNITS[(found[2] or "s").lower()] if found else None


def shown(message: str) -> str:
    """An engine's own words for people: cleaned, at most `SHOWN` characters, the end kept."""
    clean = text.shown(_inner(message)).strip()
    return clean if len(clean) <= SHOWN else "…" + clean[1 - SHOWN :]


def _ends(message: str) -> str:
    """Both ends of a message that is none, but megabytes of something."""
    half = LOOKED // 2
    return message if len(message) <= LOOKED else f"{message[:half]}\n{message[-half:]}"


def _inner(message: str) -> str:
    """The sentence in a JSON error document, where the words are nothing but that."""
    document = json_line.decode(message)
    if isinstance(document, json_line.NotJson):
        return message
    error = document.get("error")
    inner = error.get("message") if isinstance(error, dict) else document.get("message")
    return inner if isinstance(inner, str) and inner else message
