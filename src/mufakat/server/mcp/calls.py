"""What each tool does: takes its arguments apart, asks a service, answers plain data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from pydantic import ValidationError

from mufakat.app import App
from mufakat.core.base import InvalidInput
from mufakat.core.coordination.asking import Request
from mufakat.core.coordination.inbox import UNREAD
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.sending import Sending
from mufakat.core.coordination.state import On, Report, State
from mufakat.core.coordination.waiting import Condition
from mufakat.core.pack import pull
from mufakat.core.pack.pull import Form, Want
from mufakat.sdk.agent import condition
from mufakat.server import sight
from mufakat.server.mcp import answers, arguments, tools
from mufakat.server.mcp.arguments import Arguments

Call = Callable[[App, Principal, Any], Awaitable[Any]]


def parse(name: str, given: Mapping[str, Any] | None) -> Arguments:
    """Check the arguments of a tool; raises InvalidInput that names the first fault."""
    try:
        return tools.MODELS[name].model_validate(given or {})
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "arguments"
        raise InvalidInput(f"{where}: {first['msg']}.", fix="Correct the named argument.") from None


async def send(app: App, by: Principal, asked: arguments.Send) -> Any:
    sending = Sending(
        to=tuple(asked.to),
        thread=asked.thread,
        intent=asked.intent,
        body=asked.body,
        reply_to=asked.reply_to,
        deadline_seconds=asked.deadline,
        priority=3 if asked.urgent else 1,
    )
    return answers.sent(await app.inbox.send(by, sending, key=asked.key or uuid4().hex))


async def inbox(app: App, by: Principal, asked: arguments.Inbox) -> Any:
    found = await app.inbox.read(by, limit=asked.limit, due_only=True)
    found = found or await app.inbox.claim(by, limit=asked.limit, wait_seconds=asked.wait)
    fresh = [one.delivery.number for one in found if one.delivery.status in UNREAD]
    await app.inbox.shown(by, fresh)
    return answers.letters(found)


async def ack(app: App, by: Principal, asked: arguments.Ack) -> Any:
    done = await app.inbox.ack(by, numbers=tuple(asked.numbers), decline=asked.decline)
    return {"done_up_to": done}


async def state(app: App, by: Principal, asked: arguments.State) -> Any:
    on = On(asked.on) if asked.on else None
    report = Report(State(asked.state), on=on, detail=asked.detail)
    return answers.agent(await app.states.report(by, by.identity, report))


async def lease(app: App, by: Principal, asked: arguments.Lease) -> Any:
    leases = app.leases
    match asked.action:
        case "list":
            return [answers.lease(one) for one in await leases.list()]
        case "acquire":
            return answers.lease(await _acquire(app, by, asked))
        case "check":
            if len(asked.resources) != 1:
                raise InvalidInput("check takes one resource.", fix="Give it in `resources`.")
            valid, holder = await leases.check(asked.resources[0], _fence(asked))
            return {"valid": valid, "holder": holder}
        case "release":
            return {"answer": await leases.release(by, asked.id, _fence(asked))}
    return answers.lease(await _kept(app, by, asked))


async def who(app: App, by: Principal, asked: arguments.Who) -> Any:
    if asked.name:
        return answers.agent(await sight.agent(app, by, asked.name))
    view = await sight.of(app, by)
    found = await app.agents.list(project=view.choose(""), online=True)
    return [answers.agent(one) for one in found if view.sees(one)]


async def wait(app: App, by: Principal, asked: arguments.Wait) -> Any:
    conditions = [_condition(text) for text in asked.conditions]
    waiting = partial(app.waiting.wait, by, conditions, every=not asked.any, seconds=asked.seconds)
    who_ = ", ".join(asked.conditions)
    met = await app.states.blocking(by, On.AGENT, waiting, detail=who_)
    return {"met": met.met, "agents": [answers.agent(one) for one in met.instances]}


async def context_pull(app: App, by: Principal, asked: arguments.ContextPull) -> Any:
    if asked.kind:
        return await _pulled(app, by, asked)
    digest = await app.context.digest(by, budget=asked.budget)
    await app.context.confirm(by, digest)
    return digest.text or "Nothing is new."


async def _pulled(app: App, by: Principal, asked: arguments.ContextPull) -> str:
    want = Want(asked.kind, asked.query, Form(asked.form))
    answer = await app.knowledge.asking.pull(by, want)
    return pull.quoted(answer, "")


CALLS: Mapping[str, Call] = MappingProxyType(
    {
        "send": send,
        "inbox": inbox,
        "ack": ack,
        "state": state,
        "lease": lease,
        "who": who,
        "wait": wait,
        "context_pull": context_pull,
    }
)


async def _acquire(app: App, by: Principal, asked: arguments.Lease) -> Lease:
    ask = partial(app.leases.acquire, by, _request(asked), key=uuid4().hex)
    what = ", ".join(asked.resources)
    return await (app.states.blocking(by, On.LEASE, ask, detail=what) if asked.wait else ask())


async def _kept(app: App, by: Principal, asked: arguments.Lease) -> Lease:
    """A lease that its holder keeps, puts off or hands on."""
    leases, fence = app.leases, _fence(asked)
    match asked.action:
        case "transfer":
            return await leases.transfer(by, asked.id, fence, to=asked.to)
        case "defer":
            return await leases.defer(by, asked.id, fence)
    return await leases.renew(by, asked.id, fence, ttl_seconds=asked.ttl)


def _request(asked: arguments.Lease) -> Request:
    return Request(
        resources=tuple(asked.resources),
        mode="shared" if asked.shared else "exclusive",
        ttl_seconds=asked.ttl,
        wait_seconds=asked.wait,
        reason=asked.reason,
    )


def _fence(asked: arguments.Lease) -> int:
    if not asked.fence:
        raise InvalidInput("`fence` is missing.", fix="Give the fence that `acquire` answered.")
    return int(asked.fence)


def _condition(text: str) -> Condition:
    try:
        read = condition(text)
        states = frozenset(State(name.strip()) for name in read["states"])
    except ValueError:
        raise InvalidInput(
            f"{text!r} is not a condition.", fix="Write it like `role:tester=idle for 2s`."
        ) from None
    return Condition(read["who"], states, read["seconds"])
