"""Make text from a foreign process safe to store, and a piece of its stderr safe to show."""

import re

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPES = re.compile(
    r"""
    (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?                    # CSI: colours, cursor, modes
  | (?: \x1b[\]PX^_] | [\x90\x98\x9d\x9e\x9f] )                 # OSC, DCS, SOS, PM, APC up to
    [^\x07\x1b\x9c\n]* (?: \x07 | \x1b\\ | \x9c )?              # their end, or to the line's
  | \x1b [ -/]* [0-~]?                                          # all other escapes
    """,
    re.VERBOSE,
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def storable(text: str) -> str:
    """Replace what a database or UTF-8 refuses: lone surrogates by U+FFFD, NUL by U+2400."""
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub(lambda found: "\u2400" if found[0] == "\0" else "\ufffd", text)


def shown(text: str) -> str:
    """Return `text` without escape sequences, control and direction characters; lines stay."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _CONTROLS.sub("", storable(text))
