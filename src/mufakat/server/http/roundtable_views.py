"""Roundtables as JSON data."""

from __future__ import annotations

from dataclasses import asdict

from mufakat.core.deliberation import position
from mufakat.core.deliberation.decision import Decision
from mufakat.core.deliberation.merging import Point
from mufakat.core.deliberation.preflight import Preflight
from mufakat.core.deliberation.round import Word
from mufakat.core.deliberation.roundtable import Roundtable
from mufakat.server.http.views import Json, stamp
from mufakat.services.deliberation.roundtables import View


def summary(table: Roundtable) -> Json:
    """A table without what was said at it."""
    return {
        "id": table.id,
        "conversation": table.conversation,
        "status": table.status.value,
        "why": table.why,
        "round": table.round,
        "rounds": table.rounds,
        "order": table.order.value,
        "blind": table.blind,
        "anonymous": table.anonymous,
        "question": table.question,
        "seats": [_seat(asdict(one)) for one in table.seats],
        "caps": asdict(table.caps),
        "created": stamp(table.created),
        "updated": stamp(table.updated),
    }


def whole(view: View) -> Json:
    """A table with its words, points and decisions."""
    merged = view.merged
    return {
        **summary(view.table),
        "words": [_word(one) for one in view.words],
        "points": [_point(one) for one in merged.points],
        "unstated": list(merged.unstated),
        "withdrawn": list(merged.withdrawn),
        "reopened": [asdict(one) for one in merged.reopened],
        "refused": [asdict(one) for one in merged.refused],
        "decisions": [_decision(one) for one in view.decisions],
        "spent": asdict(view.spent),
        "warning": view.warning,
    }


def preflight(found: Preflight) -> Json:
    """An estimate."""
    return {
        "rows": [asdict(row) for row in found.rows],
        "chars": found.chars,
        "tokens": found.tokens,
        "naive": found.naive,
        "warning": found.warning,
    }


def _seat(fields: Json) -> Json:
    del fields["agent"]
    return fields


def _word(one: Word) -> Json:
    return {
        "round": one.round,
        "seat": one.seat,
        "standing": one.standing.value,
        "position": position.to_json(one.position) if one.position else None,
        "problem": one.problem,
        "answer": one.answer,
        "turns": list(one.turns),
        "chars": one.chars,
        "tokens": one.tokens,
        "cost": one.cost,
    }


def _point(one: Point) -> Json:
    return asdict(one) | {
        "agree": list(one.agree),
        "against": [asdict(each) for each in one.against],
        "silent": list(one.silent),
    }


def _decision(one: Decision) -> Json:
    return {
        "id": one.id,
        "claim": one.claim,
        "text": one.text,
        "outcome": one.outcome.value,
        "agree": list(one.agree),
        "against": [asdict(each) for each in one.against],
        "standing": one.standing.value,
        "reason": one.reason,
    }
