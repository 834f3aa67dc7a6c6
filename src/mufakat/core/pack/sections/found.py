"""How a section tells what was found: quoted, in four resolutions, with the key of the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from mufakat.core import quote, text
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import pull
from mufakat.core.pack.item import Item, Resolution, Trust

HEAD_CHARS = 200
KINDS: Mapping[str, pull.Kind] = MappingProxyType(
    {
        "recall": pull.Kind.RECALL,
        "memory": pull.Kind.MEMORY,
        "code": pull.Kind.CODE,
        "graph": pull.Kind.GRAPH,
        "skill": pull.Kind.SKILL,
        "doc": pull.Kind.DOCS,
        "session": pull.Kind.SESSION,
    }
)
"""How more of a source is pulled."""


def items(found: Sequence[Found], fence: str) -> list[Item]:
    """One item each, in the same order."""
    return [item(one, fence) for one in found]


def item(found: Found, fence: str) -> Item:
    """All of it, both its ends, one line, or its name alone; a longer form is never kept."""
    key = key_of(found)
    line = f"{fence} {text.one_line(quote.inert(_head(found), fence), HEAD_CHARS)}"
    body = quote.inert(found.text, fence).rstrip("\n")
    more = f"… {len(found.text):,} characters in all; pull {key} …"
    candidates = (
        (Resolution.FULL, f"{line}\n{body}"),
        (
            Resolution.TRIMMED,
            f"{line}\n{text.head_and_tail(body, max(400, len(body) // 2), note=more)}",
        ),
        (Resolution.DIGEST, f"{line}\n{text.one_line(body, quote.DIGEST_CHARS)}"),
        (Resolution.REFERENCE, f"{line} [{len(found.text):,} characters; pull {key}]"),
    )
    return Item(
        id_of(found),
        f"{found.source}: {found.why}" if found.why else found.source,
        Trust.RETRIEVED,
        _shortening(candidates),
        author=found.author,
        worth=found.worth,
        key=key,
    )


def id_of(found: Found) -> str:
    """Its id in a pack; what was said is marked as found, because history tells messages too."""
    return f"{found.source}:{found.id}" if found.id.startswith("m:") else found.id


def key_of(found: Found) -> str:
    """What to pull for all of it: a kind and a query."""
    if found.key:
        return text.one_line(found.key, HEAD_CHARS)
    query = found.id.removeprefix(f"{found.source}:")
    return pull.key(KINDS.get(found.source, pull.Kind.RECALL), text.one_line(query, HEAD_CHARS))


def _head(found: Found) -> str:
    return found.head if found.id in found.head or not found.head else f"{found.id} {found.head}"


def _shortening(
    forms: Sequence[tuple[Resolution, str]],
) -> tuple[tuple[Resolution, str], ...]:
    kept = [forms[0]]
    for form in forms[1:]:
        if len(form[1]) < len(kept[-1][1]):
            kept.append(form)
    return tuple(kept)
