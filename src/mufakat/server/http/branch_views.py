"""Branches as JSON data."""

from __future__ import annotations

from mufakat.server.http.views import Json, stamp, thread
from mufakat.services.branches import Shown


def branch(shown: Shown) -> Json:
    """A branch with its conversation."""
    one = shown.branch
    return {
        "id": one.conversation,
        "parent": one.parent,
        "checkpoint": one.checkpoint,
        "number": one.number,
        "depth": one.depth,
        "status": one.status.value,
        "author": one.author,
        "changed": stamp(one.changed),
        "summary": one.summary or None,
        "summary_number": one.summary_number or None,
        "conversation": thread(shown.conversation),
    }
