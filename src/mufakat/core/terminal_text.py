"""Makes an agent's text safe for a terminal: it can neither act nor hide anything there."""

from __future__ import annotations

import re

STRING_LIMIT = 4096
"""A control string (title, clipboard, …) ends within so many characters or is shown as text."""
SEQUENCE_LIMIT = 64

_CSI = r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
_STRING = (
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])"
    rf"[^\x07\x18\x1a\x1b\x90\x98\x9c-\x9f\n\r]{{0,{STRING_LIMIT}}}(?:\x07|\x1b\\|\x9c)"
)
_ESCAPE = r"\x1b[ -/]{0,8}[0-OQ-WYZ\\`-~]"
_LINE_END = r"\r\n?|[\x0b\x0c\x85\u2028\u2029]"
_INVISIBLE = (
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_ALL = re.compile(
    rf"(?P<sequence>{_CSI}|{_STRING}|{_ESCAPE})|(?P<line>{_LINE_END})"
    rf"|(?P<surrogate>[\ud800-\udfff])|(?P<invisible>{_INVISIBLE})"
)
_UNFINISHED = re.compile(
    r"(?:(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])"
    rf"[^\x07\x18\x1a\x1b\x90\x98\x9c-\x9f\n\r]{{0,{STRING_LIMIT}}}\x1b?"
    r"|\x1b[ -/]{0,8}|\r)\Z"
)


def clean(text: str) -> str:
    """Take control sequences out and show what else is invisible as `<U+202E>`.

    Line feeds and tabs stay; a carriage return becomes a line end, so that nothing is
    overwritten. Cleaning twice changes nothing.
    """
    return _ALL.sub(_replace, text)


def clean_piece(held: str, piece: str) -> tuple[str, str]:
    """Clean the next piece of a stream: what may be shown now, and what must be held back.

    The held part is the beginning of a sequence that the next piece may finish; at the end of the
    stream, `clean(held)` is what remains to be shown.
    """
    text = held + piece
    found = _UNFINISHED.search(text)
    if not found:
        return clean(text), ""
    return clean(text[: found.start()]), text[found.start() :]


def _replace(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "sequence":
            return ""
        case "line":
            return "\n"
        case "surrogate":
            return "\ufffd"
    return f"<U+{ord(found[0]):04X}>"
