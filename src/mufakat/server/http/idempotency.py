"""The Idempotency-Key header: a lost answer may be asked for again without a second effect."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Request

from mufakat.core.base import InvalidInput

LONGEST = 128
_HELP = "The same key and request answer the first result again; another request is refused."


async def read(
    request: Request,
    idempotency_key: Annotated[
        str | None, Header(min_length=1, max_length=LONGEST, description=_HELP)
    ] = None,
) -> str:
    """The key, empty where none was sent; raises InvalidInput."""
    return _checked(request, idempotency_key or "")


async def demand(
    request: Request,
    idempotency_key: Annotated[str, Header(min_length=1, max_length=LONGEST, description=_HELP)],
) -> str:
    """The key of a request that must have one; raises InvalidInput."""
    return _checked(request, idempotency_key)


def _checked(request: Request, key: str) -> str:
    if len(request.headers.getlist("idempotency-key")) > 1:
        raise InvalidInput("There are two Idempotency-Key headers.", fix="Send one.")
    if not all("!" <= char <= "~" for char in key):
        raise InvalidInput(
            "The Idempotency-Key holds other than printable ASCII characters.",
            fix="Use letters, digits and hyphens, for example a UUID.",
        )
    return key


Key = Annotated[str, Depends(read)]
RequiredKey = Annotated[str, Depends(demand)]
