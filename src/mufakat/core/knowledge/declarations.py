"""Declarations of a TypeScript `.d.ts` file with the comments in front of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mufakat.core.knowledge.document import Section

_DECLARED = re.compile(
    r"^(?:export[ ]+)?(?:default[ ]+)?(?:declare[ ]+)?(?:abstract[ ]+)?(?:async[ ]+)?"
    r"(?:function\*?|class|interface|type|const|let|var|enum|namespace|module)[ ]+"
    r"['\"]?(?P<name>[A-Za-z_$][\w$./-]{0,100})",
    re.MULTILINE,
)
_COMMENT = re.compile(r"/\*\*(?P<inside>.*?)\*/[ \t\r\n]*\Z", re.DOTALL)
_STARS = re.compile(r"^[ \t]*\*[ \t]?", re.MULTILINE)
TEXT_CHARS = 1_600
_BEFORE = 6_000


def of(source: str) -> Iterator[Section]:
    """What stands at the left margin, each declaration under its name."""
    found = list(_DECLARED.finditer(source))
    for at, one in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(source)
        before = source[
            max(found[at - 1].start() if at else 0, one.start() - _BEFORE) : one.start()
        ]
        opened = before.rfind("/**")
        comment = _COMMENT.match(before, opened) if opened >= 0 else None
        words = _STARS.sub("", comment["inside"]).strip() if comment else ""
        declared = source[one.start() : min(end, one.start() + TEXT_CHARS)]
        declared = declared.rpartition("/**")[0] or declared
        yield Section(one["name"], f"{declared.strip()}\n{words}".strip())
