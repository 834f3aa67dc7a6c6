"""Routes of agents: join, look around, report, leave, and the switch that stops all of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.core.coordination.state import Report
from mufakat.server import sight
from mufakat.server.http import coordination_views as views
from mufakat.server.http.door import By, Here, Name, itself
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import agents as shapes
from mufakat.server.http.schemas import answers, requests
from mufakat.services.coordination.agents import Joining

router = APIRouter(prefix="/agents", tags=["agents"])


AGAIN: dict[int | str, dict[str, Any]] = {
    200: {"model": shapes.Joined, "description": "The session was known: it is here again."}
}


@router.post("", response_model=shapes.Joined, status_code=201, responses=AGAIN)
async def join(here: Here, by: By, body: shapes.NewAgent) -> Json:
    """Join as an agent; the answer holds its token, shown this once."""
    joining = Joining(**body.model_dump() | {"threads": tuple(body.threads)})
    found = await here.app.agents.join(by, joining)
    record = views.agent(found.instance) | {"token": found.token, "resumed": found.resumed}
    return Json(record, 200 if found.resumed else 201)


@router.get("", response_model=answers.Listing[shapes.Agent])
async def every(here: Here, by: By, query: Annotated[shapes.AgentPage, QueryOf()]) -> Json:
    """List agents, those that called last first."""
    view = await sight.of(here.app, by)
    found = await here.app.agents.list(
        project=view.choose(query.project), online=query.online == "1"
    )
    return Json({"items": [views.agent(one) for one in found if view.sees(one)], "next": None})


@router.post("/pause", response_model=shapes.Paused)
async def pause(here: Here, by: By, body: requests.Nothing) -> Json:
    """Stop all agents: no new turns, no messages of theirs, and the tokens of runs end."""
    return Json({"paused": await here.app.agents.pause(by)})


@router.post("/unpause", response_model=shapes.Paused)
async def unpause(here: Here, by: By, body: requests.Nothing) -> Json:
    """Let agents go on."""
    return Json({"paused": await here.app.agents.unpause(by)})


@router.get("/{name:agent}", response_model=shapes.Agent)
async def one(here: Here, by: By, name: Name) -> Json:
    """Show an agent."""
    return Json(views.agent(await sight.agent(here.app, by, itself(name, by))))


@router.delete("/{name:agent}", response_model=shapes.Agent)
async def leave(
    here: Here, by: By, name: Name, query: Annotated[shapes.Leaving, QueryOf()]
) -> Json:
    """Go offline: leases are released and the token ends."""
    return Json(views.agent(await here.app.agents.leave(by, itself(name, by), cause=query.cause)))


@router.put("/{name:agent}/state", response_model=shapes.Agent)
async def report(here: Here, by: By, name: Name, body: shapes.StateReport) -> Json:
    """Report what an agent does now; late and disordered reports are refused."""
    whom = await here.app.agents.get(itself(name, by))
    moved = await here.app.states.report(by, whom.identity, Report(**body.model_dump()))
    return Json(views.agent(moved))
