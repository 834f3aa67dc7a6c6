"""Routes of the compressed memory: what older messages of a conversation came to."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi import Query as QueryOf

from mufakat.server import sight
from mufakat.server.http import memory_views, views
from mufakat.server.http.door import By, Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import memory as shapes

router = APIRouter(prefix="/conversations", tags=["memory"])

Entry = Annotated[str, Path(pattern=r"^[0-9]{1,9}(\.[0-9]{1,9})?$")]


@router.get("/{id}/memory", response_model=answers.Listing[shapes.Topic])
async def page(here: Here, by: By, id: Id, query: Annotated[shapes.TopicPage, QueryOf()]) -> Json:
    """List the topics of a conversation, oldest first, with all their lines."""
    conversation = await sight.conversation(here.app, by, id)
    found = await here.app.knowledge.memory.topics(
        conversation.id, after=query.after, limit=query.limit
    )
    items = [memory_views.topic(one) for one in found]
    return Json(views.listing(items, limit=query.limit, cursor="number"))


@router.get("/{id}/memory/lines", response_model=answers.Listing[shapes.Line])
async def search(here: Here, by: By, id: Id, query: Annotated[shapes.Search, QueryOf()]) -> Json:
    """Find lines by their words, best first; superseded ones too, revoked ones never."""
    conversation = await sight.conversation(here.app, by, id)
    found = await here.app.knowledge.memory.search(conversation.id, query.query, limit=query.limit)
    return Json({"items": [memory_views.line(one) for one in found], "next": None})


@router.post("/{id}/memory", response_model=shapes.Refreshed)
async def refresh(here: Here, by: By, id: Id) -> Json:
    """Condense now what has become old; too little that is new is left for later."""
    conversation = await sight.conversation(here.app, by, id)
    return Json(asdict(await here.app.knowledge.memory.refresh(conversation.id)))


@router.delete("/{id}/memory/entries/{entry}", response_model=shapes.Revoked)
async def revoke(here: Here, by: By, id: Id, entry: Entry) -> Json:
    """Take a topic (`7`) or a line (`7.2`) back, with everything that was derived from it."""
    conversation = await sight.conversation(here.app, by, id)
    done = await here.app.knowledge.memory.revoke(conversation.id, entry, by=by.identity)
    return Json({"entries": list(done.ids), "restored": list(done.restored)})
