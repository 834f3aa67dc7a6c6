"""Routes of messages between agents: send, read, take, and say that they are done with."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi import Query as QueryOf

from mufakat.core.coordination.sending import Sending
from mufakat.server.http import coordination_views as views
from mufakat.server.http import idempotency
from mufakat.server.http.door import By, Here, Name, itself, patiently
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import mail as shapes

router = APIRouter(tags=["messages"])


AGAIN: dict[int | str, dict[str, Any]] = {
    200: {"model": shapes.Sent, "description": "It was sent before under this key."}
}


@router.post("/messages", response_model=shapes.Sent, status_code=201, responses=AGAIN)
async def send(here: Here, by: By, body: shapes.Sending, key: idempotency.RequiredKey) -> Json:
    """Send a message to agents, roles or topics, or into a conversation."""
    sending = Sending(
        to=tuple(body.to),
        thread=body.thread,
        intent=body.intent.value,
        body=body.body,
        refs=tuple(body.refs),
        reply_to=body.reply_to,
        deadline_seconds=body.deadline,
        ttl_seconds=body.ttl,
        priority=body.priority,
        steer=body.steer,
        hold=body.hold,
        project=body.project,
    )
    sent = await here.app.inbox.send(by, sending, key=key)
    record = {
        "message": sent.message,
        "conversation": sent.conversation,
        "number": sent.number,
        "recipients": list(sent.recipients),
        "offline": list(sent.offline),
        "held": list(sent.held),
        "duplicate": sent.duplicate,
    }
    return Json(record, 200 if sent.duplicate else 201)


@router.get("/inbox", response_model=answers.Listing[shapes.Letter])
async def read(here: Here, by: By, query: Annotated[shapes.OwnInboxPage, QueryOf()]) -> Json:
    """Read one's own inbox; it changes nothing."""
    found = await here.app.inbox.read(
        by,
        after=query.after,
        open_only=query.open == "1",
        limit=query.limit,
        due_only=query.due == "1",
    )
    return Json(views.letters(found, limit=query.limit))


@router.post("/inbox/claim", response_model=answers.Listing[shapes.Letter])
async def claim(request: Request, here: Here, by: By, body: shapes.Claim) -> Json:
    """Take messages to work on, and wait for some where there are none."""

    async def work() -> Json:
        found = await here.app.inbox.claim(by, limit=body.limit, wait_seconds=body.wait)
        return Json(views.letters(found))

    return await patiently(request, here, by, wait=body.wait, work=work)


@router.post("/inbox/shown", response_model=shapes.Counted)
async def shown(here: Here, by: By, body: shapes.Shown) -> Json:
    """Say that the agent was given messages."""
    return Json({"count": await here.app.inbox.shown(by, body.numbers)})


@router.post("/inbox/ack", response_model=shapes.Acked)
async def ack(here: Here, by: By, body: shapes.Ack) -> Json:
    """Say that messages are done with, or why they will not be done."""
    acked = await here.app.inbox.ack(by, upto=body.upto, numbers=body.numbers, decline=body.decline)
    return Json({"acked": acked})


@router.get("/agents/{name:agent}/inbox", response_model=answers.Listing[shapes.Letter])
async def inbox_of(
    here: Here, by: By, name: Name, query: Annotated[shapes.InboxPage, QueryOf()]
) -> Json:
    """Show the inbox of an agent."""
    found = await here.app.inbox.of(
        by, itself(name, by), after=query.after, open_only=query.open == "1", limit=query.limit
    )
    return Json(views.letters(found, limit=query.limit))


@router.get("/dead-letters", response_model=answers.Listing[shapes.Letter])
async def dead(here: Here) -> Json:
    """List messages that could not be delivered or were given up."""
    return Json(views.letters(await here.app.inbox.dead()))


@router.post("/dead-letters/redeliver", response_model=shapes.Letter)
async def redeliver(here: Here, by: By, body: shapes.Redelivery) -> Json:
    """Deliver a dead letter once more."""
    return Json(views.letter(await here.app.inbox.redeliver(by, body.message, body.recipient)))
