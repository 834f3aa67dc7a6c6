"""The route that hooks of agents' CLIs call: their own JSON comes in, their own JSON goes out."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path

from mufakat.server.hooks import translate
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json

router = APIRouter(prefix="/hooks", tags=["hooks"])
BEARER = "x-mufakat-token"
"""Header with the bearer of a session that has just joined; the hook client keeps it."""

Word = Annotated[str, Path(pattern=r"^[a-z][a-z_-]{0,39}$")]
Input = Annotated[
    dict[str, Any],
    Body(description="What the engine gives its hook; `session_id` names the session."),
]


@router.post("/{engine}/{event}", response_model=dict[str, Any])
async def hear(here: Here, by: By, engine: Word, event: Word, body: Input) -> Json:
    """Hear one moment of an agent's session, and answer in its engine's words.

    An empty object lets the engine go on; so does every engine and event that is not known.
    """
    if probed := translate.probed(body):
        return Json(probed)
    call = translate.read(engine, event, body)
    if call is None:
        return Json({})
    began = asyncio.get_running_loop().time()
    answer = await here.hooks.hear(by, call)
    seconds = asyncio.get_running_loop().time() - began
    here.app.metrics.note("iacp_hook_seconds", seconds, call.moment.value)
    headers = {BEARER: answer.bearer} if answer.bearer else None
    return Json(translate.write(call, answer), headers=headers)
