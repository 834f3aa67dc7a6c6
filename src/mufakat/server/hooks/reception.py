"""What happens at each moment of an agent's session: who it is, what it is told, what it may."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from mufakat.app import App
from mufakat.core.base import MufakatError, StaleState
from mufakat.core.coordination import digest, gate
from mufakat.core.coordination.hooks import Moment
from mufakat.core.coordination.inbox import Path as ShownBy
from mufakat.core.coordination.lease import Holder
from mufakat.core.coordination.principal import Principal
from mufakat.core.coordination.state import On, Report, State
from mufakat.server.hooks.call import Answer, Call
from mufakat.server.hooks.memory import Memory
from mufakat.services.coordination.agents import Joining
from mufakat.services.coordination.context import Context
from mufakat.services.coordination.gate import Gate
from mufakat.services.coordination.joining import Agents
from mufakat.services.coordination.leases import Leases
from mufakat.services.coordination.mailbox import Inbox
from mufakat.services.coordination.sessions import Known, Sessions
from mufakat.services.coordination.states import States

BUDGETS: Mapping[Moment, int] = MappingProxyType(
    {
        Moment.SESSION_START: digest.PROMPT_BUDGET,
        Moment.PROMPT: digest.PROMPT_BUDGET,
        Moment.POST_TOOL: digest.TOOL_BUDGET,
    }
)
"""Where an agent can be told what is new, and in how many characters."""
REPORTS: Mapping[Moment, Report] = MappingProxyType(
    {
        Moment.PROMPT: Report(State.WORKING),
        Moment.POST_TOOL: Report(State.WORKING),
        Moment.PERMISSION: Report(State.BLOCKED, on=On.APPROVAL),
    }
)


@dataclass(frozen=True, slots=True)
class Reception:
    """Takes hooks' calls; every refusal and fault is the caller's to show."""

    agents: Agents
    sessions: Sessions
    states: States
    gate: Gate
    context: Context
    leases: Leases
    inbox: Inbox
    memory: Memory = field(default_factory=Memory)

    async def hear(self, by: Principal, call: Call) -> Answer:
        """Answer one moment of a session."""
        known = await self._known(by, call)
        if known is None:
            return Answer()
        if call.within:
            guarded = call.moment is Moment.PRE_TOOL
            return await self._guard(known.by, call) if guarded else Answer()
        turn = known.by.run or self.memory.turn(call)
        if call.skipped:
            await self.gate.skipped(known.by, call.skipped)
        await self._report(known, call)
        return replace(await self._answer(known.by, call, turn), bearer=known.token)

    async def _answer(self, by: Principal, call: Call, turn: str) -> Answer:
        match call.moment:
            case Moment.PRE_TOOL:
                return await self._guard(by, call)
            case Moment.STOP:
                return await self._stop(by, call, turn)
            case Moment.IDLE:
                await self._say(by, call, turn)
            case Moment.SESSION_END:
                await self._say(by, call, turn)
                return await self._leave(by)
        budget = BUDGETS.get(call.moment, 0)
        return await self._news(by, budget) if budget else Answer()

    async def _known(self, by: Principal, call: Call) -> Known | None:
        begins = call.moment is Moment.SESSION_START and call.source != "compact"
        starts = begins and not call.within
        parent = self.memory.ran(call.process) if call.source == "clear" else ""
        tree = await asyncio.to_thread(working_tree, call.cwd)
        joining = Joining(
            engine=call.engine,
            project=tree,
            session=call.session,
            pid=call.process.pid,
            pid_start=call.process.start,
            boot=call.process.boot,
            cwd=call.cwd,
            repository=tree,
            parent=parent,
        )
        known = await self.sessions.known(by, joining, starts=starts)
        if known is not None:
            self.memory.runs(call.process, known.by.identity)
        return known

    async def _news(self, by: Principal, budget: int) -> Answer:
        told = await self.context.digest(by, budget=budget)
        if told.text:
            # The hook's output with it is as good as accepted; nothing new costs no write.
            await self.context.confirm(by, told, path=ShownBy.HOOK)
        return Answer(context=told.text)

    async def _report(self, known: Known, call: Call) -> None:
        report = REPORTS.get(call.moment)
        # With every tool call the same would be news to nobody, and a write to the disk.
        if report is None or not call.asks or known.state is report.state:
            return
        try:
            await self.states.report(known.by, known.by.identity, report)
        except StaleState:
            # The engine's own stream has told something newer.
            return

    async def _guard(self, by: Principal, call: Call) -> Answer:
        holder = await self.leases.guard(by, call.paths) if call.paths else None
        return Answer(deny=denial(holder)) if holder is not None else Answer()

    async def _say(self, by: Principal, call: Call, turn: str) -> None:
        """Let others know what an agent said last; of one of Mufakat's own its turn tells it."""
        if call.said and not by.run:
            with suppress(MufakatError):
                await self.inbox.say(by, call.said, key=_key(call, turn))

    async def _stop(self, by: Principal, call: Call, turn: str) -> Answer:
        await self._say(by, call, turn)
        decision = await self.gate.stop(
            by, session=call.session, turn=turn, prompt=call.prompt, background=call.background
        )
        return Answer(block=decision.reason) if isinstance(decision, gate.Hold) else Answer()

    async def _leave(self, by: Principal) -> Answer:
        # A run of Mufakat's own ends when its process does; the agent stays.
        if not by.run:
            await self.agents.leave(by, by.identity)
        return Answer()


def of(app: App) -> Reception:
    """What hears the hooks of an application's agents."""
    return Reception(
        app.agents, app.sessions, app.states, app.gate, app.context, app.leases, app.inbox
    )


def _key(call: Call, turn: str) -> str:
    """The same for the same words at the end of the same turn, however often a hook tells them."""
    words = f"{call.session}\n{turn}\n{call.said}"
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()


def working_tree(cwd: str) -> str:
    """The repository's root above a folder, else the folder itself: the project of a session."""
    here = Path(cwd)
    if not here.is_absolute():
        return ""
    return str(next((one for one in (here, *here.parents) if (one / ".git").exists()), here))


def denial(held: Holder) -> str:
    """Why an edit may not be made now, and what to do instead."""
    reason = f" for: {json.dumps(held.reason, ensure_ascii=False)}" if held.reason else ""
    return (
        f"{held.resource} is leased to {held.holder}{reason}; the lease ends in "
        f"{max(1, held.remaining // 1000)} s unless it is renewed. Nothing was changed. Work on "
        f"something else, or queue for it: `mufakat lease acquire '{held.resource}' --wait 600`."
    )
