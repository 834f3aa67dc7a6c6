"""Routes of waiting: until agents are in a state, or a rule that acts when they are."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request

from mufakat.core.coordination.state import On
from mufakat.core.coordination.waiting import Condition
from mufakat.server.http import coordination_views as views
from mufakat.server.http.door import By, Here, Id, patiently
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import waiting as shapes

router = APIRouter(tags=["waiting"])


@router.post("/wait", response_model=shapes.Met)
async def wait(request: Request, here: Here, by: By, body: shapes.WaitFor) -> Json:
    """Wait until every one of the conditions holds, or any."""
    conditions = [_condition(one) for one in body.conditions]

    async def work() -> Json:
        waiting = partial(
            here.app.waiting.wait, by, conditions, every=body.every, seconds=body.seconds
        )
        who = ", ".join(condition.who for condition in conditions)
        found = await here.app.states.blocking(by, On.AGENT, waiting, detail=who)
        return Json({"met": found.met, "agents": [views.agent(one) for one in found.instances]})

    return await patiently(request, here, by, wait=body.seconds, work=work)


@router.post("/reactions", response_model=shapes.Reaction, status_code=201)
async def react(here: Here, by: By, body: shapes.NewReaction) -> Json:
    """Keep a rule: what is done when agents come into a state."""
    made = await here.app.waiting.react(
        by, _condition(body.condition), body.action, tuple(body.data.items()), once=body.once
    )
    return Json(views.reaction(made), 201, {"location": f"/api/v1/reactions/{made.id}"})


@router.get("/reactions", response_model=answers.Listing[shapes.Reaction])
async def every(here: Here, by: By) -> Json:
    """List the rules that are kept; an agent sees its own."""
    items = [views.reaction(one) for one in await here.app.waiting.list(by)]
    return Json({"items": items, "next": None})


@router.delete("/reactions/{id}", response_model=shapes.Reaction)
async def remove(here: Here, by: By, id: Id) -> Json:
    """Take a rule back."""
    return Json(views.reaction(await here.app.waiting.remove(by, id)))


def _condition(body: shapes.Condition) -> Condition:
    return Condition(body.who, frozenset(body.states), body.seconds)
