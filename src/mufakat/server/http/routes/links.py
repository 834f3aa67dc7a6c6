"""Routes of links between conversations, and of reading through them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.server.http import document_views as views
from mufakat.server.http.door import By, Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import links as shapes
from mufakat.server.http.views import listing, said

router = APIRouter(prefix="/conversations", tags=["links"])


@router.get("/{id}/links", response_model=shapes.Links)
async def every(here: Here, by: By, id: Id, query: Annotated[shapes.LinkPage, QueryOf()]) -> Json:
    """List what is linked to a conversation; with `suggest=1` also what is alike."""
    links = here.app.knowledge.links
    items = [views.linked(one) for one in await links.of(by, id)]
    alike = await links.suggest(by, id) if query.suggest == "1" else ()
    suggestions = [views.alike(one) for one in alike]
    return Json({"items": items, "next": None, "suggestions": suggestions})


@router.post("/{id}/links", response_model=shapes.Link, status_code=201)
async def add(here: Here, by: By, id: Id, body: shapes.NewLink) -> Json:
    """Let those of this conversation read another one; across projects only a person may."""
    return Json(views.linked(await here.app.knowledge.links.add(by, id, body.other)), 201)


@router.delete("/{id}/links/{other}", response_model=shapes.Dropped)
async def drop(here: Here, by: By, id: Id, other: Id) -> Json:
    """Take a link back."""
    await here.app.knowledge.links.drop(by, id, other)
    return Json({"dropped": True})


@router.get("/{id}/links/{other}/messages", response_model=answers.Listing[answers.Message])
async def messages(
    here: Here, by: By, id: Id, other: Id, query: Annotated[shapes.LinkedPage, QueryOf()]
) -> Json:
    """Read a linked conversation, of another project too; without a link it is not found."""
    found = await here.app.knowledge.links.messages(
        by, id, other, after=query.after, limit=query.limit
    )
    items = [said(one) for one in found]
    return Json(listing(items, limit=query.limit, cursor="number"))
