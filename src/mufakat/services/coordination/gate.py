"""The stop gate: one step decides, marks what was shown, and lets the agent go idle."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from mufakat.core.base import Event, StaleState
from mufakat.core.coordination import gate
from mufakat.core.coordination.gate import Decision, Go, Hold, Rule, Stop, Turn
from mufakat.core.coordination.inbox import Delivery, Path, Status
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.state import Report, State
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import ids
from mufakat.services.coordination import escalation, inbox, letters, mailbox, marks, states

OPEN, OPEN_CHOSEN = 200, 2_000
"""Open messages that one stop looks at, and where a rule chooses among them."""
COUNTED = 10_000


def _no_rules() -> Mapping[str, Rule]:
    return MappingProxyType({})


class Gate:
    """Answers the stop hooks of all engines."""

    def __init__(
        self,
        store: Store,
        scrub: Scrub,
        *,
        rules: Callable[[], Mapping[str, Rule]] = _no_rules,
        person: str = "",
    ) -> None:
        self._store = store
        self._scrub = scrub
        self._person = person
        self._rules = rules
        """By role, as the policy of the moment has them."""

    async def stop(
        self,
        by: Principal,
        *,
        session: str,
        turn: str,
        prompt: str = "",
        background: bool = False,
    ) -> Decision:
        """Decide whether a turn may end; with Go the agent is idle in the same step.

        Whatever the engine claims, the store counts how often a turn was held. Raises NotFound or
        Superseded.
        """

        def step(tx: Transaction) -> Decision:
            agent = mailbox.reader(tx, by)
            name = turn or _turn(agent, prompt)
            held = tx.gates.get(agent.identity, session=session, turn=name)
            asked = self._asked(
                tx, agent, held or Turn(agent.identity, session, name), background=background
            )
            decision = _counted(tx, asked, gate.decide(asked))
            _apply(tx, agent, asked, decision)
            if isinstance(decision, Go) and decision.gave_up:
                left = [one for one in asked.open if one.delivery.number in decision.left]
                escalation.escalate(tx, self._person, agent, turn=asked.turn, left=left)
            return decision

        return await self._store.write(step)

    def _asked(self, tx: Transaction, agent: Instance, turn: Turn, *, background: bool) -> Stop:
        rule = self._rules().get(agent.role, Rule.ALL)
        limit = OPEN if rule is Rule.ALL else OPEN_CHOSEN
        rows = tx.inbox.page(agent.identity, open_only=True, limit=limit)
        fence = ids.fence()
        bare = letters.load(tx, rows, scrub=self._scrub, texts=())
        holding = gate.waiting(Stop(bare, turn, rule, background, fence))[: gate.LETTERS]
        numbers = frozenset(one.delivery.number for one in holding)
        open = letters.with_texts(tx, bare, numbers, scrub=self._scrub)
        return Stop(open, turn, rule, background, fence)

    async def skipped(self, by: Principal, count: int) -> None:
        """Count stops that a hook let through because no answer came."""

        def step(tx: Transaction) -> None:
            agent = mailbox.reader(tx, by)
            tx.events.record(Event("gate.skipped", agent.identity, {"count": max(0, count)}))

        await self._store.write(step)


def _counted(tx: Transaction, asked: Stop, decision: Decision) -> Decision:
    """Count what lies beyond the messages that were looked at as left behind too."""
    if isinstance(decision, Hold) or len(asked.open) < OPEN:
        return decision
    all = tx.inbox.page(asked.turn.identity, open_only=True, limit=COUNTED)
    return dataclasses.replace(decision, debt=decision.debt + len(all) - len(asked.open))


def _turn(agent: Instance, prompt: str) -> str:
    """A name for a turn whose engine gives it none: its prompt, else when its work began."""
    if prompt:
        return "prompt:" + hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()[:24]
    return f"since:{agent.standing.since}"


def _apply(tx: Transaction, agent: Instance, asked: Stop, decision: Decision) -> None:
    rows = {one.delivery.number: one.delivery for one in asked.open}
    read = [rows[number] for number in decision.acked]
    marks.move(tx, read, Status.ACKED, note="shown by the gate")
    for number in decision.dead:
        inbox.bury(tx, rows[number], why=f"shown {rows[number].times} times without an answer")
    if read:
        marks.advance(tx, agent.identity)
    match decision:
        case Hold():
            _hold(tx, agent, asked, decision, rows)
        case Go():
            _go(tx, agent, asked, decision, rows)


def _hold(
    tx: Transaction, agent: Instance, asked: Stop, hold: Hold, rows: Mapping[int, Delivery]
) -> None:
    shown = [rows[number] for number in hold.shown]
    marks.show(tx, shown, epoch=agent.epoch, turn=asked.turn.turn, path=Path.GATE)
    turn = gate.after(asked.turn, hold, at=tx.now())
    tx.gates.keep(turn)
    data = {"session": turn.session, "turn": turn.turn, "blocks": turn.blocks}
    data |= {"shown": list(hold.shown), "acked": list(hold.acked), "chars": len(hold.reason)}
    tx.events.record(Event("gate.blocked", agent.identity, data))


def _go(
    tx: Transaction, agent: Instance, asked: Stop, go: Go, rows: Mapping[int, Delivery]
) -> None:
    turn = asked.turn
    data = {"session": turn.session, "turn": turn.turn, "blocks": turn.blocks, "debt": go.debt}
    kind = "gate.gave_up" if go.gave_up else "gate.allowed"
    tx.events.record(Event(kind, agent.identity, {**data, "why": go.why}))
    for number in go.unanswered:
        envelope = tx.inbox.envelope(rows[number].message)
        if envelope is not None and not envelope.watched:
            inbox.watched(
                tx,
                envelope,
                f"{agent.identity} ended its turn with your {envelope.intent} {envelope.message} "
                f"unanswered, after it was held {turn.blocks} times for it.",
            )
    if not asked.background:
        _go_idle(tx, agent, go.debt)


def _go_idle(tx: Transaction, agent: Instance, debt: int) -> None:
    try:
        states.move(tx, agent.identity, Report(State.IDLE, debt=debt))
    except StaleState:
        # Its end was reported before its stop: it is gone, and the gate holds nobody for that.
        return
