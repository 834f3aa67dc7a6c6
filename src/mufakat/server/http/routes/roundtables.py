"""Routes of roundtables: begin, look, pause, say, drop, go on, stop."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.core.deliberation.caps import Caps
from mufakat.core.deliberation.seat import Wanted
from mufakat.server.http import idempotency
from mufakat.server.http import roundtable_views as views
from mufakat.server.http.door import Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers, requests
from mufakat.server.http.schemas import roundtables as shapes
from mufakat.server.http.views import listing
from mufakat.services.deliberation.opening import Asked
from mufakat.services.deliberation.roundtables import View

router = APIRouter(prefix="/roundtables", tags=["roundtables"])


def asked_of(body: shapes.NewRoundtable) -> Asked:
    """A body as the service takes it."""
    given = body.model_dump()
    seats = tuple(Wanted(**one) for one in given.pop("seats"))
    return Asked(**given | {"seats": seats, "caps": Caps(**given.pop("caps"))})


@router.post("", response_model=shapes.Roundtable, status_code=202)
async def start(here: Here, body: shapes.NewRoundtable, key: idempotency.Key) -> Json:
    """Begin a roundtable; it is stored and runs, its events tell the rest."""
    view = await here.app.roundtables.start(asked_of(body), key=key)
    place = f"/api/v1/roundtables/{view.table.id}"
    return Json(views.whole(view), 202, {"location": place})


@router.post("/preflight", response_model=shapes.Preflight)
async def preflight(here: Here, body: shapes.NewRoundtable) -> Json:
    """Estimate what a roundtable takes, by seat and round; nothing is stored or asked."""
    return Json(views.preflight(await here.app.roundtables.preflight(asked_of(body))))


@router.get("", response_model=answers.Listing[shapes.Summary])
async def page(here: Here, query: Annotated[requests.ConversationPage, QueryOf()]) -> Json:
    """List roundtables, newest first."""
    found = await here.app.roundtables.list(
        conversation=query.conversation, before=query.before, limit=query.limit
    )
    return Json(listing([views.summary(one) for one in found], limit=query.limit, cursor="id"))


@router.get("/{id}", response_model=shapes.Roundtable)
async def one(here: Here, id: Id, query: Annotated[requests.Wait, QueryOf()]) -> Json:
    """Show a roundtable; `wait` waits until it has ended or is paused."""
    tables = here.app.roundtables
    if query.wait:
        return _shown(await tables.wait(id, seconds=query.wait))
    return _shown(await tables.get(id))


@router.post("/{id}/pause", response_model=shapes.Roundtable)
async def pause(here: Here, id: Id, body: shapes.Pause) -> Json:
    """Let running turns end and ask nobody more."""
    return _shown(await here.app.roundtables.pause(id, why=body.why))


@router.post("/{id}/resume", response_model=shapes.Roundtable)
async def resume(here: Here, id: Id) -> Json:
    """Go on after a pause."""
    return _shown(await here.app.roundtables.resume(id))


@router.post("/{id}/remarks", response_model=shapes.Roundtable, status_code=201)
async def say(here: Here, id: Id, body: shapes.Say) -> Json:
    """Say something to the table; every seat hears it with its next turn."""
    return Json(views.whole(await here.app.roundtables.say(id, body.text)), 201)


@router.post("/{id}/drop", response_model=shapes.Roundtable)
async def drop(here: Here, id: Id, body: shapes.Drop) -> Json:
    """Take a seat off the table, and end the turn it is in."""
    return _shown(await here.app.roundtables.drop(id, body.seat, why=body.why))


@router.post("/{id}/rounds", response_model=shapes.Roundtable, status_code=202)
async def more(here: Here, id: Id, body: shapes.More) -> Json:
    """Add rounds; a table that has ended goes on."""
    raised = Caps(**body.caps.model_dump()) if body.caps else None
    view = await here.app.roundtables.more(id, rounds=body.rounds, raised=raised)
    return Json(views.whole(view), 202)


@router.post("/{id}/stop", response_model=shapes.Roundtable)
async def stop(here: Here, id: Id) -> Json:
    """End it with what was said so far; turns that run are cancelled."""
    return _shown(await here.app.roundtables.stop(id))


def _shown(view: View) -> Json:
    return Json(views.whole(view))
