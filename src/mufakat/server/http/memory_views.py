"""Topics of the compressed memory as JSON data."""

from __future__ import annotations

from mufakat.core.knowledge import topic as topics
from mufakat.server.http.views import Json, stamp


def topic(one: topics.Topic) -> Json:
    """A topic with its lines."""
    return {
        "number": one.number,
        "title": one.title,
        "first": one.first,
        "last": one.last,
        "created": stamp(one.created),
        "updated": stamp(one.updated),
        "revoked": one.revoked,
        "lines": [line(each) for each in one.lines],
    }


def line(one: topics.Line) -> Json:
    """A line with its sources."""
    return {
        "id": one.id,
        "speaker": one.speaker,
        "messages": [source.id for source in one.sources],
        "numbers": [source.number for source in one.sources],
        "text": one.text,
        "at": stamp(one.at),
        "author": one.author,
        "supersedes": one.supersedes,
        "superseded_by": one.superseded_by,
        "revoked": one.revoked,
        "rank": one.rank,
    }
