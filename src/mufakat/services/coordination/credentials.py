"""Bearers of instances, the only source of who calls; and which roles were granted with them."""

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


def grant_role(tx: Transaction, instance: Instance) -> None:
    """Keep that the operator gave an instance its role: true as long as this epoch's bearer is."""
    tx.credentials.add(
        Credential(_grant(instance), instance.identity, instance.epoch, Life.LIVE, created=tx.now())
    )


def role_granted(tx: Transaction, instance: Instance) -> bool:
    """Whether the role that an instance has now was given to it by the operator."""
    found = tx.credentials.get(_grant(instance)) if instance.role else None
    return found is not None and found.life is Life.LIVE


def _grant(instance: Instance) -> str:
    # No token opens a door by it: what is stored of a token is 64 hexadecimal digits.
    return f"role {instance.role} of {instance.identity} in epoch {instance.epoch}"


def principal(tx: Transaction, token: str) -> Principal:
    """Who calls with a bearer; raises Superseded, and Unauthenticated for all that is unknown."""
    found = tx.credentials.get(digest(token)) if len(token) <= LONGEST else None
    if found is None or found.life is Life.REVOKED:
        raise Unauthenticated()
    if found.life is Life.SUPERSEDED:
        raise Superseded()
    return Principal(Right.AGENT, found.identity, epoch=found.epoch, run=found.run)
