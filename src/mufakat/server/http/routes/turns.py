"""Routes of turns: ask an agent, wait, cancel, try again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.app import App
from mufakat.core.base import TurnId
from mufakat.core.talk.turn import Turn
from mufakat.server.http import idempotency, views
from mufakat.server.http.door import Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers, requests
from mufakat.services.request import Ask

router = APIRouter(prefix="/turns", tags=["turns"])


def ask_of(body: requests.NewTurn) -> Ask:
    """A body as a service takes it."""
    return Ask(**body.model_dump() | {"mute": tuple(body.mute)})


@router.post("", response_model=answers.Turn, status_code=202)
async def ask(here: Here, body: requests.NewTurn, key: idempotency.Key) -> Json:
    """Ask an agent; the turn is stored and started, its events tell the rest."""
    return _accepted(await here.app.turns.ask(ask_of(body), key=key))


@router.get("", response_model=answers.Listing[answers.Turn])
async def page(here: Here, query: Annotated[requests.ConversationPage, QueryOf()]) -> Json:
    """List turns, newest first."""
    found = await here.app.turns.list(
        conversation=query.conversation, before=query.before, limit=query.limit
    )
    items = [views.job(record) for record in found]
    return Json(views.listing(items, limit=query.limit, cursor="id"))


@router.get("/{id}", response_model=answers.Turn)
async def one(here: Here, id: Id, query: Annotated[requests.Wait, QueryOf()]) -> Json:
    """Show a turn, with its answer's text; `wait` waits for its end."""
    turns = here.app.turns
    if query.wait:
        record = await turns.wait(TurnId(id), seconds=query.wait)
    else:
        record = await turns.get(TurnId(id))
    return Json(views.job(record, await _text(here.app, record)))


@router.post("/{id}/cancel", response_model=answers.Turn)
async def cancel(here: Here, id: Id) -> Json:
    """End a turn and the processes of its engine."""
    return Json(views.job(await here.app.turns.cancel(TurnId(id))))


@router.post("/{id}/retry", response_model=answers.Turn, status_code=202)
async def retry(here: Here, id: Id, key: idempotency.Key) -> Json:
    """Ask the same again, as a new turn."""
    return _accepted(await here.app.turns.retry(TurnId(id), key=key))


def _accepted(record: Turn) -> Json:
    return Json(views.job(record), 202, {"location": f"/api/v1/turns/{record.id}"})


async def _text(app: App, record: Turn) -> str | None:
    return (await app.talk.message(record.answer)).text if record.answer else None
