"""Skills, documents, links and native sessions as JSON data."""

from __future__ import annotations

from collections.abc import Iterable

from mufakat.core.base import Millis
from mufakat.core.knowledge.document import Note
from mufakat.ports.knowledge import Passage, Skip
from mufakat.server.http.views import Json, stamp, thread
from mufakat.services.knowledge.links import Alike, Linked
from mufakat.services.knowledge.native_sessions import Listed, Result
from mufakat.services.knowledge.skills import Shown


def skipped(skips: Iterable[Skip]) -> list[Json]:
    """What was left out."""
    return [{"path": one.path, "why": one.why} for one in skips]


def skill(shown: Shown) -> Json:
    """A skill without its body."""
    one = shown.skill
    return {
        "name": one.name,
        "description": one.description,
        "origin": one.origin,
        "path": one.path,
        "digest": one.digest,
        "state": shown.state.value,
        "files": list(one.files),
    }


def whole_skill(shown: Shown) -> Json:
    """A skill with its body."""
    return {**skill(shown), "body": shown.skill.body}


def passage(one: Passage) -> Json:
    """A section of a document."""
    return {
        "document": one.document,
        "section": one.section,
        "text": one.text,
        "score": round(one.score, 4),
        "source": one.source,
    }


def note(one: Note) -> Json:
    """A note on a document."""
    return {
        "id": one.id,
        "document": one.document,
        "author": one.author,
        "at": stamp(one.at),
        "text": one.text,
    }


def linked(one: Linked) -> Json:
    """A link."""
    return {
        "other": thread(one.conversation),
        "author": one.link.author,
        "at": stamp(one.link.at),
        "weight": round(one.weight, 4),
    }


def alike(one: Alike) -> Json:
    """A suggestion."""
    return {"other": thread(one.conversation), "score": round(one.score, 4)}


def native(listed: Listed) -> Json:
    """A session of a CLI."""
    one, known = listed.session, listed.imported
    return {
        "engine": one.engine,
        "id": one.id,
        "folder": one.folder,
        "at": stamp(Millis(one.at)),
        "summary": one.summary,
        "conversation": known.conversation if known else None,
        "imported": known.turns if known else 0,
    }


def imported(result: Result) -> Json:
    """What taking over a session has done."""
    one = result.imported
    return {
        "engine": one.engine,
        "id": one.session,
        "conversation": one.conversation,
        "turns": one.turns,
        "added": result.added,
    }
