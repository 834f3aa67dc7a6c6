"""Bearers of instances: given out once, stored as a hash, and the only source of who calls."""

from __future__ import annotations

import hashlib
import secrets

from mufakat.core.base import Superseded, Unauthenticated
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.ports.coordination import Credential, Life
from mufakat.ports.store import Transaction

PREFIX = "mf_"
LONGEST = 256
"""Characters; a longer bearer is none of ours and is not even hashed."""


def new() -> str:
    """A fresh token: 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(token: str) -> str:
    """What of a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def issue(tx: Transaction, instance: Instance, *, run: str = "") -> str:
    """Give an instance a bearer; with `run` it ends with that run."""
    token = new()
    tx.credentials.add(
        Credential(
            digest(token), instance.identity, instance.epoch, Life.LIVE, run=run, created=tx.now()
        )
    )
    return token


def principal(tx: Transaction, token: str) -> Principal:
    """Who calls with a bearer; raises Superseded, and Unauthenticated for all that is unknown."""
    found = tx.credentials.get(digest(token)) if len(token) <= LONGEST else None
    if found is None or found.life is Life.REVOKED:
        raise Unauthenticated()
    if found.life is Life.SUPERSEDED:
        raise Superseded()
    return Principal(Right.AGENT, found.identity, epoch=found.epoch, run=found.run)
