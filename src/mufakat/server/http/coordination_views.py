"""Agents, letters, notices and rules as JSON data."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.coordination import gate
from mufakat.core.coordination.digest import Digest
from mufakat.core.coordination.inbox import Letter
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.notice import Notice
from mufakat.core.coordination.waiting import Reaction
from mufakat.server.http.views import Json, stamp, when
from mufakat.services.coordination import act


def agent(one: Instance) -> Json:
    """An instance; neither its whole random id nor its engine's session, which others could use."""
    standing, binding = one.standing, one.binding
    return {
        "identity": one.identity,
        "engine": one.engine,
        "host": one.host,
        "role": one.role,
        "alias": one.alias,
        "project": one.project,
        "parent": one.parent,
        "epoch": one.epoch,
        "state": standing.state.value,
        "on": standing.on.value if standing.on else "",
        "detail": standing.detail,
        "since": stamp(standing.since),
        "run": standing.run,
        "ordinal": standing.ordinal,
        "debt": standing.debt,
        "revision": standing.revision,
        "created": stamp(one.created),
        "seen": stamp(one.seen),
        "pid": binding.pid,
        "cwd": binding.cwd,
        "repository": binding.repository,
        "inbox": {"head": one.inbox_head, "acked": one.acked},
    }


def letter(one: Letter) -> Json:
    """A message in an inbox."""
    envelope, delivery = one.envelope, one.delivery
    return {
        "message": envelope.message,
        "conversation": envelope.conversation,
        "recipient": delivery.recipient,
        "number": delivery.number,
        "sender": envelope.sender,
        "to": list(envelope.to),
        "intent": envelope.intent.value,
        "priority": envelope.priority,
        "requires_ack": envelope.requires_ack,
        "status": delivery.status.value,
        "sent": stamp(envelope.sent),
        "deadline": when(envelope.deadline),
        "expires": when(envelope.expires),
        "reply_to": envelope.reply_to,
        "refs": list(envelope.refs),
        "steer": envelope.steer,
        "hops": envelope.hops,
        "at": stamp(delivery.at),
        "offered_until": when(delivery.offered_until),
        "times": delivery.times,
        "note": delivery.note,
        "text": one.text,
        "chars": one.chars,
    }


def letters(found: Sequence[Letter], *, limit: int = 0) -> Json:
    """A page of an inbox, by number."""
    items = [letter(one) for one in found]
    last = str(items[-1]["number"]) if items and len(items) == limit else None
    return {"items": items, "next": last}


def notice(one: Notice) -> Json:
    """A shared fact."""
    return {
        "project": one.project,
        "key": one.key,
        "text": one.text,
        "author": one.author,
        "at": stamp(one.at),
        "expires": stamp(one.expires),
    }


def reaction(one: Reaction) -> Json:
    """A stored rule."""
    return {
        "id": one.id,
        "project": one.project,
        "owner": one.owner,
        "condition": {
            "who": one.condition.who,
            "states": sorted(state.value for state in one.condition.states),
            "seconds": float(one.condition.seconds),
        },
        "action": one.action.value,
        "data": {name: value for name, value in one.data if name != act.SECRETS},
        "once": one.once,
        "created": stamp(one.created),
        "fired": len(one.fired),
        "done": one.done,
    }


def digest(one: Digest) -> Json:
    """News as one text, and what it shows."""
    return {
        "text": one.text,
        "shown": list(one.shown),
        "begun": list(one.begun),
        "cursors": dict(one.cursors),
        "revision": one.revision,
        "left_out": one.left_out,
    }


def decision(one: gate.Decision) -> Json:
    """What the stop gate says."""
    match one:
        case gate.Hold():
            return {
                "decision": "block",
                "reason": one.reason,
                "shown": list(one.shown),
                "debt": 0,
                "gave_up": False,
                "why": "",
            }
        case gate.Go():
            return {
                "decision": "allow",
                "reason": "",
                "shown": [],
                "debt": one.debt,
                "gave_up": one.gave_up,
                "why": one.why,
            }
