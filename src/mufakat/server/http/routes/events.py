"""The route of the event log: pages for polling, and a stream to follow."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header
from fastapi import Query as QueryOf
from starlette.responses import Response

from mufakat.core.base import InvalidInput, MufakatError, Revision
from mufakat.core.coordination.principal import Principal, Right
from mufakat.server import sight
from mufakat.server.http import cursor, sse, tail, views
from mufakat.server.http.door import By, Door, Here, credential
from mufakat.server.http.refusal import UnknownEpoch
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers, requests
from mufakat.services.feed import Feed

router = APIRouter(prefix="/events", tags=["events"])

FOUND: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "A page of events, or the stream of them. In the stream, `event` is the "
        "kind, `id` the cursor and `data` the same object as in a page; `progress` only moves "
        "the cursor, `reset` says that the cursor belonged to another life of the database.",
        "content": {sse.MEDIA: {"schema": {"type": "string"}}},
    }
}


@router.get("", response_model=answers.EventPage, responses=FOUND)
async def events(
    here: Here,
    by: By,
    query: Annotated[requests.Events, QueryOf()],
    accept: Annotated[str, Header(include_in_schema=False)] = "",
    last_event_id: Annotated[str, Header(max_length=128)] = "",
) -> Response:
    """Read the event log behind a cursor, or follow it; an agent sees its own project's part."""
    feed, holds = here.app.feed, query.presence in {"1", "true"}
    if holds and (by.right is not Right.AGENT or query.follow == "0"):
        raise InvalidInput(
            "`presence` is for the stream of an agent that has joined.",
            fix="Join, and follow the events with the token of the answer.",
        )
    epoch, head = await feed.head()
    log = cursor.Log(epoch, head, await feed.oldest())
    place = cursor.place(last_event_id or query.after, log)
    wanted = tail.Wanted(
        query.subject,
        query.conversation,
        tuple(kind for kind in query.kinds.split(",") if kind),
        await sight.sieve(here.app, by),
    )
    if holds or query.follow == "1" or (sse.MEDIA in accept and query.follow != "0"):
        return _stream(here, log, place, wanted=wanted, by=by, holds=holds)
    if isinstance(place, MufakatError):
        raise place
    return Json(await _page(feed, log, place, wanted=wanted, query=query))


def _stream(
    here: Door,
    log: cursor.Log,
    place: Revision | MufakatError,
    *,
    wanted: tail.Wanted,
    by: Principal,
    holds: bool,
) -> sse.EventStream:
    reset = isinstance(place, UnknownEpoch)
    if isinstance(place, MufakatError) and not reset:
        raise place
    after = log.head if isinstance(place, MufakatError) else place
    return sse.EventStream(
        here.app.feed,
        after,
        log=log,
        wanted=wanted,
        streams=here.streams,
        limits=here.limits,
        credential=credential(by),
        reset=reset,
        while_open=here.app.presence.hold(by, closing=here.streams.closing.is_set)
        if holds
        else None,
    )


async def _page(
    feed: Feed, log: cursor.Log, after: Revision, *, wanted: tail.Wanted, query: requests.Events
) -> dict[str, Any]:
    head = log.head
    if query.wait and after >= head:
        head = await feed.wait(after, seconds=query.wait)
    read = await tail.read(feed, after, head=head, wanted=wanted, limit=query.limit)
    return {
        "events": [views.event(event, log.epoch) for event in read.events],
        "next": log.wire(read.reached),
        "head": log.wire(max(head, read.reached)),
    }
