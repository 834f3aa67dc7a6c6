"""Asking an agent again in the same turn, with what it asked for in its answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from mufakat.core import quote, text
from mufakat.core.pack import pull
from mufakat.core.pack.pull import Answer, FollowUp, Progress, Want
from mufakat.core.talk import usage as usages
from mufakat.core.talk.turn import Reply
from mufakat.ports.engine import Capabilities
from mufakat.services import packing, turn_record
from mufakat.services.job import Job
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.knowledge.pulls import Asker
from mufakat.services.packing import Packed

NAMED = 20
"""Requests in vain that are named one by one."""
GO_ON = "This is what you asked for. Go on with your answer to the request; do not repeat yourself."
LAST = "No further request of this turn is answered."
SAID = "said"
"""Section that tells a fresh session what its predecessor has answered."""


def asker(job: Job) -> Asker:
    """Who asks, in a turn of ours."""
    conversation = job.conversation
    subject = Subject(
        Path(job.ask.project), "", project=conversation.project, conversation=conversation.id
    )
    return Asker(subject, conversation.fence, run=job.turn.id)


def again(
    job: Job,
    packed: Packed,
    reply: Reply,
    *,
    capabilities: Capabilities,
    answers: Sequence[Answer],
    step: FollowUp,
) -> Packed:
    """What the agent is asked again with: in its own session, or anew with the whole pack."""
    fence, limit = job.conversation.fence, capabilities.prompt_chars or packed.facts.budget
    note = GO_ON if not step.last else f"{GO_ON} {LAST}"
    told = pull.told(fitting(answers, limit), fence, note=note)
    if not (capabilities.resume and reply.session):
        return anew(packed, reply, told, fence=fence, capabilities=capabilities)
    user = text.neutralise_at(told) if capabilities.expands_at else told
    session = turn_record.session(job, packed, reply.session)
    return dataclasses.replace(
        packed,
        delivery=dataclasses.replace(packed.delivery, user=user),
        session=dataclasses.replace(
            session,
            told=packed.delivery.told,
            running_total=reply.running_total or session.running_total,
        ),
        resume_why="a follow-up of the same turn",
        fork=False,
    )


def anew(
    packed: Packed, reply: Reply, told: str, *, fence: str, capabilities: Capabilities
) -> Packed:
    """The whole pack again, what was answered so far, and the answers, before the prompt."""
    so_far = quote.inert(pull.without_markers(reply.text, packed.facts.nonce), fence)
    said = quote.open_section(SAID) + so_far + quote.close_section(SAID)
    pack = packed.pack
    whole = dataclasses.replace(pack, prompt=quote.DIVIDER.join([said, told, pack.prompt]))
    return dataclasses.replace(
        packed,
        delivery=packing.fresh(whole, capabilities, nonce=packed.facts.nonce),
        session=None,
        resume_why="a follow-up of the same turn; the engine cannot resume",
        fork=False,
    )


def fitting(answers: Sequence[Answer], limit: int) -> list[Answer]:
    """Answers that fit into a prompt of `limit` characters together; the others say why not."""
    kept: list[Answer] = []
    left = limit // 2
    for answer in answers:
        fits = len(answer.text) <= left
        left -= len(answer.text) if fits else 0
        why = f"its {len(answer.text):,} characters do not fit beside the other answers"
        kept.append(answer if fits else pull.refused(answer.want, why))
    return kept


def joined(first: Reply, then: Reply, nonce: str) -> Reply:
    """One reply of two runs: what was said in both, what both cost, how the last one ended."""
    said = pull.without_markers(first.text, nonce).strip()
    return dataclasses.replace(
        then,
        text="\n\n".join(part for part in (said, then.text) if part),
        session=then.session or first.session,
        usage=usages.plus(first.usage, then.usage),
        running_total=then.running_total or first.running_total,
        leftovers=(*first.leftovers, *then.leftovers),
    )


def event(answers: Sequence[Answer], refused: Sequence[Want]) -> dict[str, object]:
    """The data of the event that tells of it."""
    wants = [
        {
            "kind": one.want.kind,
            "query": text.one_line(one.want.query, 200),
            "form": one.want.form.value,
            "chars": len(one.text),
            "why": one.why,
        }
        for one in answers
    ]
    return {"way": "marker", "wants": wants, "refused": len(refused)}


def used_up(progress: Progress) -> str:
    """Why a turn that has come so far is given nothing more."""
    if progress.requests >= pull.PER_RUN:
        return f"the {pull.PER_RUN} requests of this turn are used up"
    return f"the {pull.FOLLOW_UPS} follow-ups of this turn are used up"


def in_vain(wants: Sequence[Want], progress: Progress) -> tuple[Answer, ...]:
    """Answers that say why there is none, to as many requests as are named."""
    return tuple(pull.refused(one, used_up(progress)) for one in wants[:NAMED])


def not_given(wants: Sequence[Want], progress: Progress) -> str:
    """What a person is told of requests in vain; empty where there are none."""
    if not wants:
        return ""
    names = [f"{one.kind} {text.one_line(one.query, 100)}" for one in wants[:NAMED]]
    more = f" and {len(wants) - NAMED:,} more" if len(wants) > NAMED else ""
    return f"asked for {', '.join(names)}{more}, not given: {used_up(progress)}"
