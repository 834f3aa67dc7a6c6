"""Secrets in text: the commonest kinds, found by shape and replaced by typed placeholders."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

_KEY = r"(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_START = r"(?<![A-Za-z0-9_-])"
"""Looks are tried at the start of a word alone, so that a long word is read once."""

SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "private-key": rf"-----BEGIN {_KEY}"
        rf"(?:(?:(?!-----)[\s\S]){{0,20000}}-----END {_KEY}"
        r"|(?:[\s\"'+,>|\\nr]{1,40}[A-Za-z0-9+/=]{16,200}){1,400})",
        "anthropic-key": rf"{_START}sk-ant-[A-Za-z0-9_-]{{20,250}}",
        "openai-key": rf"{_START}sk-(?:proj-|svcacct-|admin-)?"
        r"(?=[A-Za-z_-]{0,60}[0-9])(?=[a-z0-9_-]{0,60}[A-Z])[A-Za-z0-9_-]{20,250}",
        "github-token": rf"{_START}(?:gh[pousr]_[A-Za-z0-9]{{36,255}}"
        r"|github_pat_[A-Za-z0-9_]{22,255})",
        "google-key": rf"{_START}AIza[A-Za-z0-9_-]{{35}}",
        "aws-key-id": rf"{_START}(?:AKIA|ASIA)[A-Z0-9]{{16}}\b",
        "mufakat-token": rf"{_START}mf_[A-Za-z0-9_-]{{43}}(?![A-Za-z0-9_-])",
        "slack-token": rf"{_START}xox[abeoprs]-[A-Za-z0-9-]{{10,250}}",
        "jwt": rf"{_START}eyJ[A-Za-z0-9_-]{{8,4000}}\.eyJ[A-Za-z0-9_-]{{8,16000}}"
        r"\.[A-Za-z0-9_-]{16,2000}",
        "url-password": r"(?<=://)(?!\[secret:)[^\s:/@\"'`{}$<>%*]{0,128}:(?![$<{*%])[^\s/@\"'`{}<>]{3,256}(?=@)",
    }
)
"""Kinds that are known by their look alone."""

NAMES = (
    r"password|passwd|passphrase|secret|bearer|(?:api|access|private|secret)[_-]?key"
    r"|(?:auth|access|refresh|api|bot)[_-]?token|aws_secret_access_key"
)
"""What a secret is called where it stands as a value; any case."""

_SHAPED = re.compile(
    "|".join(f"(?P<{kind.replace('-', '_')}>{shape})" for kind, shape in SHAPES.items())
)
_SHAPED_HINT = re.compile(r"-----BEGIN|sk-|gh[pousr]_|github_pat_|mf_|AIza|AKIA|ASIA|xox|eyJ|://")
_ASSIGNED = re.compile(
    rf"(?i:{NAMES})(?P<between>[\"']?(?:\s{{0,4}}(?::=|=>|={{1,3}}|:)\s{{0,4}}|\s)(?P<quote>[\"']?))"
    r"(?P<value>[A-Za-z0-9+/_=.~!@#$%^&*-]{12,250})(?P<after>.?)"
)
_LINES_OF_CODE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{20}")


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without its secrets, and the kinds that were found."""

    text: str
    kinds: tuple[str, ...] = ()


def scrub(text: str, known: Iterable[str] = ()) -> Scrubbed:
    """Replace secrets by `[secret:kind:hash]`; `known` holds own tokens, matched exactly.

    The hash is the first eight digits of SHA-256, so that two mentions can be seen to be one.
    """
    kinds: list[str] = []
    for value in sorted(known, key=len, reverse=True):
        if len(value) >= 8 and value in text:
            kinds.append("own-token")
            text = text.replace(value, placeholder("own-token", value))

    def shaped(found: re.Match[str]) -> str:
        kind = (found.lastgroup or "").replace("_", "-")
        if kind == "private-key" and not _KEY_BODY.search(found[0]):
            return found[0]
        kinds.append(kind)
        return placeholder(kind, found[0])

    def assigned(found: re.Match[str]) -> str:
        if not _looks_secret(found):
            return found[0]
        kinds.append("assigned-secret")
        start, end = (at - found.start() for at in found.span("value"))
        return found[0][:start] + placeholder("assigned-secret", found["value"]) + found[0][end:]

    if _SHAPED_HINT.search(text):
        text = _SHAPED.sub(shaped, text)
    return Scrubbed(_ASSIGNED.sub(assigned, text), tuple(kinds))


def placeholder(kind: str, value: str) -> str:
    """The stand-in for a secret value."""
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[secret:{kind}:{digest[:8]}]"


def _looks_secret(found: re.Match[str]) -> bool:
    """Tell a value from an expression that computes one, and from words."""
    value, quoted = found["value"], bool(found["quote"])
    if not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return False
    if quoted or not _LINES_OF_CODE.fullmatch(value):
        return found["after"] not in ("(", "[") or quoted
    digits = sum(c.isdigit() for c in value)
    mixed = any(c.islower() for c in value) and any(c.isupper() for c in value)
    return found["after"] not in ("(", "[", ".") and "." not in value and mixed and digits >= 3
