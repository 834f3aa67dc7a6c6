"""Routes of conversations and their messages."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.core.base import InvalidInput
from mufakat.server import sight
from mufakat.server.http import idempotency, views
from mufakat.server.http.door import By, Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers, requests

router = APIRouter(prefix="/conversations", tags=["conversations"])


@router.get("", response_model=answers.Listing[answers.Conversation])
async def page(here: Here, by: By, query: Annotated[requests.ProjectPage, QueryOf()]) -> Json:
    """List conversations, newest first."""
    view = await sight.of(here.app, by)
    found = await here.app.talk.conversations(
        project=view.choose(query.project), before=query.before, limit=query.limit
    )
    items = [views.thread(record) for record in found if view.within(record.project)]
    return Json(views.listing(items, limit=query.limit, cursor="id"))


@router.post("", response_model=answers.Conversation, status_code=201)
async def start(here: Here, body: requests.NewConversation, key: idempotency.Key) -> Json:
    """Start a conversation in a project."""
    record = await here.app.talk.start(body.project, body.title, key=key)
    return Json(views.thread(record), 201, {"location": f"/api/v1/conversations/{record.id}"})


@router.get("/{id}", response_model=answers.Conversation)
async def one(here: Here, by: By, id: Id) -> Json:
    """Show a conversation by its id or a unique prefix of it."""
    return Json(views.thread(await sight.conversation(here.app, by, id)))


@router.get("/{id}/messages", response_model=answers.Listing[answers.Message])
async def messages(
    here: Here, by: By, id: Id, query: Annotated[requests.MessagePage, QueryOf()]
) -> Json:
    """List messages: above `after` oldest first, or below `before` newest first."""
    if query.after and query.before:
        raise InvalidInput("Both `after` and `before` are given.", fix="Give one of them.")
    talk = here.app.talk
    conversation = (await sight.conversation(here.app, by, id)).id
    if query.before:
        found = await talk.newest(conversation, before=query.before, limit=query.limit)
    else:
        found = await talk.messages(conversation, after=query.after, limit=query.limit)
    items = [views.said(record) for record in found]
    return Json(views.listing(items, limit=query.limit, cursor="number"))


@router.post("/{id}/messages", response_model=answers.Message, status_code=201)
async def say(here: Here, id: Id, body: requests.NewMessage, key: idempotency.Key) -> Json:
    """Say something in a conversation without asking an agent."""
    conversation = await here.app.talk.conversation(id)
    return Json(views.said(await here.app.talk.say(conversation.id, body.text, key=key)), 201)
