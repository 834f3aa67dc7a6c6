"""Mufakat's table of sections, filled up to twenty with the made ones."""

from __future__ import annotations

from collections.abc import Sequence

from bench.case import Case
from mufakat.core.pack import resolution
from mufakat.core.pack.facts import Facts, HistoryFacts, ProjectFacts, Speaker
from mufakat.core.pack.item import Item, Trust
from mufakat.core.pack.mode import Mode
from mufakat.core.pack.section import Section
from mufakat.core.pack.sections import table
from mufakat.core.talk.agent import Permission, Role

BEFORE_HISTORY = {
    "skills-index": (1.0, 0, 400),
    "inheritance": (0.8, 300, 2_000),
    "memory": (1.0, 500, 4_000),
    "plan": (1.0, 500, 4_000),
    "plan-document": (2.0, 1_000, 6_000),
    "findings": (1.0, 500, 3_000),
    "artifacts": (1.0, 300, 2_000),
}
"""Weight, floor and ceiling of each, as the design of the pack has them."""
AFTER_PARTICIPANTS = {
    "coordination": (1.0, 0, 1_500),
    "retrieval": (1.2, 500, 5_000),
    "code": (0.8, 500, 3_000),
    "graph": (0.8, 300, 2_000),
    "docs": (0.8, 500, 3_000),
    "linked-sessions": (0.6, 300, 3_000),
}
KNOWLEDGE = table.ADAPTIVE | {"skills-index", "docs"}
"""Sections of the product in whose place the made ones stand."""


def twenty(given: Case) -> tuple[Section, ...]:
    """Twenty sections, history and all, in the order of the design."""
    texts = dict(given.sections)
    rows: list[Section] = []
    for row in (row for row in table.SECTIONS if row.kind not in KNOWLEDGE):
        if row.kind == table.EARLIER:
            rows += [
                _row(kind, texts[kind], *AFTER_PARTICIPANTS[kind]) for kind in AFTER_PARTICIPANTS
            ]
        if row.kind == table.HISTORY:
            rows += [_row(kind, texts[kind], *BEFORE_HISTORY[kind]) for kind in BEFORE_HISTORY]
        rows.append(row)
    return tuple(rows)


def _row(kind: str, texts: Sequence[str], weight: float, floor: int, ceiling: int) -> Section:
    found = tuple(
        Item(
            f"{kind}:{n}",
            kind,
            Trust.RETRIEVED,
            resolution.forms(text, reference=f"[{kind}:{n}, {len(text)} characters]"),
        )
        for n, text in enumerate(texts)
    )
    return Section(
        kind, 1, lambda _: found, since=Mode.STANDARD, weight=weight, floor=floor, ceiling=ceiling
    )


def facts(given: Case, history: HistoryFacts, speakers: Sequence[Speaker]) -> Facts:
    """What assembly takes, with the case's own texts in the fixed sections."""
    texts = {kind: items[0] for kind, items in given.sections}
    return Facts(
        prompt=given.prompt,
        project=ProjectFacts("made", "/made", texts["project"]),
        role=Role("developer", "", texts["role"], Permission.DEVELOP, "builtin"),
        identity="claude@host:000001",
        persona=texts["identity"],
        platform=texts["platform"],
        history=history,
        participants=tuple(speakers),
        budget=given.budget,
    )
