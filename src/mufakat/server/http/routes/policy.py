"""Routes of the lease policy: what is in force, and what it would say."""

from __future__ import annotations

from fastapi import APIRouter

from mufakat.server.http import policy_views as views
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.routes.leases import wanted
from mufakat.server.http.schemas import leases, requests
from mufakat.server.http.schemas import policy as shapes

router = APIRouter(prefix="/policy", tags=["leases"])


@router.get("", response_model=shapes.Policy)
async def current(here: Here) -> Json:
    """Show the policy in force."""
    return Json(views.edition(await here.app.policy.current()))


@router.post("/reload", response_model=shapes.Policy)
async def reload(here: Here, body: requests.Nothing) -> Json:
    """Read the policy's file again; a wrong one changes nothing."""
    return Json(views.edition(await here.app.policy.reload()))


@router.post("/explain", response_model=shapes.Explained)
async def explain(here: Here, by: By, body: leases.NewLease) -> Json:
    """Tell what asking for a lease would give, and by which rule, without asking for it."""
    return Json(views.explained(await here.app.policy.explain(by, wanted(body))))
