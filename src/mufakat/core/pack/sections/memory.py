"""Section `memory`: the conversation before its window, by topic."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from mufakat.core import quote, text
from mufakat.core.knowledge.found import Found
from mufakat.core.pack.facts import Facts
from mufakat.core.pack.item import Item, Resolution
from mufakat.core.pack.sections import found

LINE_CHARS = 90
"""Of a line that is shortened: who said it, where, and how it begins."""


def render(facts: Facts) -> Sequence[Item]:
    """One item a topic, in the order in which they were given.

    Each line says who said it, so that a topic is shortened line by line and never across them.
    """
    return [_item(one, facts.history.fence) for one in facts.memory]


def _item(one: Found, fence: str) -> Item:
    whole = found.item(one, fence)
    full, reference = whole.forms[0], whole.forms[-1]
    head, _, body = full[1].partition("\n")
    lines = [text.one_line(line, LINE_CHARS) for line in body.split("\n")]
    forms = [full]
    for form in (
        (Resolution.TRIMMED, "\n".join([head, *lines])),
        (Resolution.DIGEST, f"{head}\n{text.one_line(body, quote.DIGEST_CHARS)}"),
        (Resolution.DIGEST, f"{head}\n{lines[0]}"),
        (Resolution.REFERENCE, reference[1]),
    ):
        if len(form[1]) < len(forms[-1][1]) and form[0] is not forms[-1][0]:
            forms.append(form)
    return dataclasses.replace(whole, forms=tuple(forms))
