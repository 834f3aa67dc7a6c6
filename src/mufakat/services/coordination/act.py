"""What a rule does when it fires: within the step, or outside the store and then for certain."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mufakat.core.base import Event, InvalidInput, MufakatError, NotAllowed, NotFound
from mufakat.core.coordination import sending, waiting
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.sending import Sending
from mufakat.core.coordination.waiting import Action, Reaction
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services.coordination import agents, inbox, leases
from mufakat.services.coordination.inbox import Post
from mufakat.services.request import Ask

FIELDS: Mapping[Action, frozenset[str]] = MappingProxyType(
    {
        Action.SEND: frozenset({"to", "body", "intent", "priority", "thread"}),
        Action.ENQUEUE: frozenset(
            {"to", "prompt", "project", "conversation", "engine", "model", "role", "persona"}
        ),
        Action.RELEASE: frozenset({"lease"}),
        Action.WEBHOOK: frozenset({"url"}),
    }
)
NEEDED: Mapping[Action, frozenset[str]] = MappingProxyType(
    {
        Action.SEND: frozenset({"body"}),
        Action.ENQUEUE: frozenset({"prompt"}),
        Action.RELEASE: frozenset({"lease"}),
        Action.WEBHOOK: frozenset({"url"}),
    }
)
OPERATORS = frozenset({Action.ENQUEUE, Action.WEBHOOK})
"""Acts that cost money or leave this machine; an agent's credential does not order them."""
CHARS = 256 * 1024
SECRETS = "secrets"
"""Which kinds of secrets stand in the body of a message; no argument has that name."""


@dataclass(frozen=True, slots=True)
class Outside:
    """Who does the acts that are outside the store; each is handed a key that repeats with it."""

    enqueue: Callable[[Ask, str], Awaitable[object]]
    webhook: Callable[[str, Mapping[str, str], str], Awaitable[object]] | None = None
    """Takes the URL, what to tell, and the key."""


def checked(
    tx: Transaction,
    by: Principal,
    action: Action,
    data: Sequence[tuple[str, str]],
    *,
    scrub: Scrub,
) -> tuple[tuple[str, str], ...]:
    """The arguments of an act, with its names resolved; raises InvalidInput, NotAllowed."""
    if action in OPERATORS and not by.operator:
        raise NotAllowed(f"Only the person of this home may order `{action}`.")
    given = dict(data)
    unknown, missing = given.keys() - FIELDS[action], NEEDED[action] - given.keys()
    if unknown or missing:
        raise InvalidInput(
            f"`{action}` takes {', '.join(sorted(FIELDS[action]))}.",
            fix=f"It needs {', '.join(sorted(NEEDED[action]))}.",
        )
    if sum(len(value) for value in given.values()) > CHARS:
        raise InvalidInput("The arguments of this rule are too long.")
    given = _meaning(tx, action, given)
    if action is Action.SEND:
        # Found now, kept with the rule: the step in which it fires has no time to look.
        given[SECRETS] = " ".join(scrub(given["body"]).kinds)
    return tuple(sorted(given.items()))


def _meaning(tx: Transaction, action: Action, given: dict[str, str]) -> dict[str, str]:
    match action:
        case Action.SEND:
            sending.check(_letter(given), key="checked")
        case Action.ENQUEUE if given.get("to"):
            given["to"] = agents.resolve(tx, given["to"]).identity
            _ask(tx, given)
        case Action.ENQUEUE if not given.get("project"):
            raise InvalidInput("`enqueue` needs `to` or `project`.")
        case Action.WEBHOOK if not given["url"].startswith(("http://", "https://")):
            raise InvalidInput("`url` must begin with http:// or https://.")
    return given


def now(tx: Transaction, rule: Reaction, one: Instance) -> None:
    """Do what can be done in the step itself; what fails there is told, and fails nothing else."""
    data = dict(rule.data)
    try:
        match rule.action:
            case Action.SEND:
                _send(tx, rule, data)
            case Action.RELEASE:
                leases.free(tx, rule.owner, data["lease"])
            case Action.ENQUEUE | Action.WEBHOOK:
                return
    except MufakatError as problem:
        _failed(tx, rule, waiting.key(one), problem)


def _send(tx: Transaction, rule: Reaction, data: Mapping[str, str]) -> None:
    if data.get("to") == rule.owner:
        # Nobody writes to itself: what it wanted to be told comes from Mufakat.
        inbox.tell(tx, rule.owner, data["body"])
        return
    kinds = tuple(data.get(SECRETS, "").split())
    inbox.post(tx, Post(rule.owner, _letter(data), secrets=kinds))


async def later(store: Store, rule: Reaction, key: str, *, outside: Outside) -> bool:
    """Do the act that waits outside the store; False where it is to be tried again later."""
    try:
        await _outside(store, rule, key, outside=outside)
    except MufakatError as problem:
        if problem.retryable:
            return False
        failure = problem
        await store.write(lambda tx: _failed(tx, rule, key, failure))
    await store.write(lambda tx: _settle(tx, rule.id, key))
    return True


def _settle(tx: Transaction, id: str, key: str) -> None:
    rule = tx.reactions.get(id)
    if rule is not None:
        tx.reactions.keep(waiting.done(rule, key))


async def _outside(store: Store, rule: Reaction, key: str, *, outside: Outside) -> None:
    data = dict(rule.data)
    # The same key for the same firing: a server that died in between does nothing twice.
    once = f"{rule.id}/{key}"
    if rule.action is Action.ENQUEUE:
        await outside.enqueue(await store.read(lambda tx: _ask(tx, data)), once)
    elif outside.webhook is None:
        raise InvalidInput("This server calls no webhooks.")
    else:
        identity, run, revision = key.rsplit("/", 2)
        told = {"reaction": rule.id, "identity": identity, "run": run, "revision": revision}
        await outside.webhook(data["url"], told, once)


def _ask(tx: Transaction, data: Mapping[str, str]) -> Ask:
    """The request that a rule makes: of one agent, or as its arguments say."""
    if not data.get("to"):
        return Ask(
            data["prompt"],
            data["project"],
            conversation=data.get("conversation", ""),
            engine=data.get("engine", ""),
            model=data.get("model", ""),
            role=data.get("role", "general"),
            persona=data.get("persona", ""),
        )
    seat = agents.known(tx, data["to"])
    agent = tx.agents.get(seat.agent) if seat.agent else None
    conversation = tx.conversations.get(agent.conversation) if agent else None
    project = tx.projects.get(conversation.project) if conversation else None
    if agent is None or conversation is None or project is None:
        raise NotFound(
            f"{seat.identity} is run by somebody else: Mufakat cannot start a turn of it.",
            fix="Send it a message, or name an agent of a conversation.",
        )
    return Ask(
        data["prompt"],
        project.path,
        conversation=conversation.id,
        engine=agent.engine,
        model=data.get("model", ""),
        role=agent.role,
        persona=agent.persona,
    )


def _letter(data: Mapping[str, str]) -> Sending:
    priority = data.get("priority", "1")
    if not priority.isdecimal():
        raise InvalidInput(f"There is no priority {priority[:20]!r}.", fix="Give 0 to 3.")
    return Sending(
        tuple(data.get("to", "").split()),
        thread=data.get("thread", ""),
        intent=data.get("intent", "inform"),
        body=data["body"],
        priority=int(priority[:4]),
    )


def _failed(tx: Transaction, rule: Reaction, key: str, problem: MufakatError) -> None:
    data = {"key": key, "code": problem.code, "message": str(problem)}
    tx.events.record(Event("reaction.failed", rule.id, data))
