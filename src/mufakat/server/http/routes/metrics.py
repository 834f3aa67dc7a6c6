"""The route that Prometheus scrapes; it lies outside the API, where scrapers look for it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from mufakat.server import metrics
from mufakat.server.http.door import Here

router = APIRouter(tags=["system"])
PATH = "/metrics"


@router.get(
    PATH,
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def scrape(here: Here) -> Response:
    """Tell the figures of coordination, for Prometheus."""
    figures = await here.app.metrics.read()
    return Response(metrics.render(figures), headers={"content-type": metrics.MEDIA})
