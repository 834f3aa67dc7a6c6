"""Records as JSON data: the one place that knows how a noun looks on the wire."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from mufakat.core.base import LoggedEvent, Millis
from mufakat.core.pack import receipt
from mufakat.core.talk import conversation, message, turn
from mufakat.ports.engine import Capabilities, Probe
from mufakat.ports.store import Health

Json = dict[str, Any]


def when(at: Millis | None) -> str | None:
    """A time as ISO 8601 in UTC with milliseconds and suffix Z."""
    return None if at is None else stamp(at)


def stamp(at: Millis) -> str:
    """A time that is known, as ISO 8601."""
    text = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def project(record: conversation.Project) -> Json:
    """A project."""
    return {
        "id": record.id,
        "name": record.name,
        "path": record.path,
        "created": stamp(record.created),
    }


def thread(record: conversation.Conversation) -> Json:
    """A conversation, without its fence: a text that knew it could forge a quotation."""
    return {
        "id": record.id,
        "project": record.project,
        "title": record.title,
        "created": stamp(record.created),
        "updated": stamp(record.updated),
        "messages": record.messages,
        "talk": record.talk,
        "chars": record.chars,
    }


def said(record: message.Message) -> Json:
    """A message."""
    return {
        "id": record.id,
        "conversation": record.conversation,
        "number": record.number,
        "at": stamp(record.at),
        "kind": record.kind.value,
        "speaker": record.speaker,
        "text": record.text,
        "chars": record.chars,
        "tokens": record.tokens,
        "whole": record.whole,
        "secrets": list(record.secrets),
        "pair": record.pair,
        "label": record.label,
        "turn": record.turn,
    }


def job(record: turn.Turn, text: str | None = None) -> Json:
    """A turn; `text` is its answer's, where it was looked up."""
    return {
        "id": record.id,
        "conversation": record.conversation,
        "agent": record.identity,
        "engine": record.engine,
        "model": record.model,
        "role": record.role,
        "persona": record.persona,
        "status": record.status.value,
        "prompt": record.prompt,
        "answer": record.answer,
        "text": text,
        "pack": record.pack,
        "usage": asdict(record.usage),
        "failure": record.failure.value if record.failure else None,
        "message": record.message,
        "fix": turn.fix(record),
        "created": stamp(record.created),
        "started": when(record.started),
        "ended": when(record.ended),
    }


def pack(stored: receipt.StoredPack) -> Json:
    """A stored pack with its receipt."""
    return {
        "id": stored.id,
        "conversation": stored.conversation,
        "turn": stored.turn,
        "identity": stored.identity,
        "engine": stored.engine,
        "created": stamp(stored.created),
        "form": stored.form,
        "resumed": stored.resumed,
        "resume_why": stored.resume_why,
        "instructions": list(stored.instructions),
        **receipt.to_json(stored.receipt),
    }


def texts(pairs: tuple[tuple[str, str], ...]) -> list[Json]:
    """Section texts by kind."""
    return [{"kind": kind, "text": text} for kind, text in pairs]


def capabilities(can: Capabilities) -> Json:
    """What an engine can do."""
    return asdict(can) | {"permissions": sorted(one.value for one in can.permissions)}


def engine(probe: Probe, can: Capabilities | None) -> Json:
    """An engine as it was found."""
    row = asdict(probe) | {"models": list(probe.models), "notes": list(probe.notes)}
    return row | {"capabilities": None if can is None else capabilities(can)}


def health(found: Health) -> Json:
    """What a check of the store found."""
    return {"problems": list(found.problems), "facts": dict(found.facts)}


def event(logged: LoggedEvent, epoch: str) -> Json:
    """An event with its wire id."""
    return {
        "id": f"{epoch}-{logged.revision}",
        "revision": logged.revision,
        "at": stamp(logged.at),
        "kind": logged.kind,
        "subject": logged.subject,
        "data": dict(logged.data),
    }


def listing(items: list[Json], *, limit: int, cursor: str) -> Json:
    """One page; a full one names the member `cursor` of its last item as the way to the next."""
    last = items[-1][cursor] if len(items) == limit else None
    return {"items": items, "next": None if last is None else str(last)}
