"""Routes of packs: what agents were told, and what one would be told."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.core.pack import receipt
from mufakat.server.http import views
from mufakat.server.http.door import Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.routes.turns import ask_of
from mufakat.server.http.schemas import answers, requests

router = APIRouter(prefix="/packs", tags=["packs"])


@router.post("/preview", response_model=answers.Preview)
async def preview(here: Here, body: requests.NewTurn) -> Json:
    """Show what a request would be told; nothing is stored and nobody is asked."""
    seen = await here.app.turns.preview(ask_of(body))
    return Json(
        {
            **receipt.to_json(seen.receipt),
            "identity": seen.identity,
            "engine": seen.engine,
            "resume_why": seen.resume_why,
            "texts": views.texts(seen.texts),
            "system": seen.system,
            "user": seen.user,
        }
    )


@router.get("", response_model=answers.Listing[answers.Pack])
async def page(here: Here, query: Annotated[requests.ConversationPage, QueryOf()]) -> Json:
    """List packs, newest first."""
    found = await here.app.packs.list(
        conversation=query.conversation, before=query.before, limit=query.limit
    )
    items = [views.pack(stored) for stored in found]
    return Json(views.listing(items, limit=query.limit, cursor="id"))


@router.get("/{id}", response_model=answers.Pack)
async def one(here: Here, id: Id) -> Json:
    """Show a pack's receipt by its id or a unique prefix of it."""
    return Json(views.pack(await here.app.packs.get(id)))


@router.get("/{id}/texts", response_model=answers.PackTexts)
async def texts(here: Here, id: Id) -> Json:
    """Show the texts of a pack: by section, and as the engine got them."""
    packs = here.app.packs
    stored = await packs.get(id)
    system, user = await packs.sent(stored)
    sections = views.texts(await packs.texts(stored))
    return Json({"sections": sections, "system": system, "user": user})


@router.get("/{id}/diff/{other}", response_model=answers.PackDiff)
async def diff(here: Here, id: Id, other: Id) -> Json:
    """Compare two packs."""
    found = await here.app.packs.diff(id, other)
    return Json(
        {
            "same": list(found.same),
            "only_a": list(found.only_a),
            "only_b": list(found.only_b),
            "changed": list(found.changed),
            "parity_equal": found.parity_equal,
            "text": found.text,
        }
    )
