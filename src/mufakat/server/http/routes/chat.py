"""The route that a team chat calls; it signs its calls, or bears a token kept for it alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request
from pydantic import ValidationError

from mufakat.core.base import InvalidInput, MufakatError, NotFound
from mufakat.core.coordination import chat
from mufakat.core.coordination.chat import Heard
from mufakat.server.http import chat_keys
from mufakat.server.http.door import Door, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import chat as shapes
from mufakat.services import ids

router = APIRouter(prefix="/chat", tags=["chat"])

Channel = Annotated[str, Path(pattern=r"^[0-9A-Za-z._-]{1,64}$")]
Payload = Annotated[
    dict[str, Any],
    Body(description="A signed event of the chat, or `text` and `user` with a bearer."),
]


@router.post("/{channel}", response_model=shapes.Taken, response_model_exclude_none=True)
async def hear(request: Request, here: Here, channel: Channel, body: Payload) -> Json:
    """Take what somebody said in the team chat; the same event is taken once."""
    raw = await request.body()
    signed = chat_keys.check(here.app.chat_secrets, request.headers, raw, now=time.time())
    id = here.app.chat.channel(channel)
    if not signed:
        return await _take(here, _plain(body, id))
    if body.get("type") == "url_verification":
        return Json({"taken": False, "challenge": str(body.get("challenge", ""))[:200]})
    heard = chat.hear(body)
    if heard is None:
        return Json({"taken": False})
    try:
        return await _take(here, heard)
    except MufakatError as refused:
        # The chat sends again what is not answered well; this it can never send better.
        if refused.retryable or not isinstance(refused, InvalidInput | NotFound):
            raise
        return Json({"taken": False})


async def _take(here: Door, heard: Heard) -> Json:
    taken = await here.app.chat.take(heard)
    return Json(
        {"taken": bool(taken.message), "message": taken.message, "duplicate": taken.duplicate}
    )


def _plain(body: Mapping[str, Any], channel: str) -> Heard:
    try:
        said = shapes.Said.model_validate(body, strict=True)
    except ValidationError as wrong:
        first = wrong.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{field}: {first['msg']}.", fix="Send `text` and `user`.") from wrong
    return Heard(
        channel=channel,
        person=said.user,
        text=chat.plain(said.text),
        stamp=said.id or f"p.{ids.instance()}",
        thread=said.thread if said.thread != said.id else "",
        name=said.name,
    )
